"""The mikoshi (Kitamura et al. 1998, front cover): a shrine of 5,263 faces.

Every part is a separate mesh at its place in the finished shrine. No two parts touch: neighbours are `GAP` apart, so the assembled
shrine is free of contacts and every part can be taken out. A closed triangle mesh has an even number of faces (three sides per
face, two faces per edge), so an odd total needs an open part: the banner, a sheet of cloth with a pointed end. All other parts are
closed.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.shapes.build.blocks import blocks
from jostle.shapes.build.primitives import box, torus
from jostle.shapes.build.rings import joined, lathe, placed, skin, tube
from jostle.shapes.mesh import Mesh

GAP = 0.002
FACES = 5263


_QUARTERS = tuple(np.pi / 2.0 * k for k in range(4))


def mikoshi() -> list[Mesh]:
    """Return the parts of a shrine, from the ground up: exactly 5,263 faces.

    It is about 1 wide and 0.9 high; its poles are 1.5 long, along x. All parts are closed but the last, the banner.
    """
    parts = [*_poles(), *_base(), *_railing(), *_walls(), *_gates(), *_brackets(), *_roofs(), *_curls(), *_bells(), *_crown()]
    return [*parts, _banner(FACES - sum(len(part.faces) for part in parts))]


def mikoshi_mesh() -> Mesh:
    """Return all parts of `mikoshi` as one mesh of 5,263 faces, in order."""
    return joined(mikoshi(), "mikoshi")


def _poles() -> list[Mesh]:
    """Return two long poles, and two cross poles that carry them from below."""
    profile = [(0.022, -0.75), (0.026, -0.74), (0.026, -0.25), (0.026, 0.25), (0.026, 0.74), (0.022, 0.75)]
    upright = lathe(profile, 12, -0.75, 0.75, "pole")
    x, y, z = upright.vertices.T
    along_x = Mesh(np.stack([z, x, y], axis=1), upright.faces, name="pole")
    along_y = Mesh(np.stack([y, z, x], axis=1) * (0.9, 0.62, 0.9), upright.faces, name="cross pole")
    height = 0.10
    under = height - 0.026 - 0.9 * 0.026 - GAP
    long_poles = [placed(along_x, (0.0, y, height), name=f"mikoshi: pole {k}") for k, y in enumerate((-0.2, 0.2))]
    cross_poles = [placed(along_y, (x, 0.0, under), name=f"mikoshi: cross pole {k}") for k, x in enumerate((-0.42, 0.42))]
    return long_poles + cross_poles


def _square(half: float, z: float, count: int = 4, lift: float = 0.0) -> Floats:
    """Return `count` points around a square; `lift` raises the corners smoothly."""
    per_side = count // 4
    t = 2.0 * np.arange(per_side) / per_side - 1.0
    sides = [(np.ones(per_side), t), (-t, np.ones(per_side)), (-np.ones(per_side), -t), (t, -np.ones(per_side))]
    x, y = (np.concatenate([side[k] for side in sides]) for k in range(2))
    corner = np.minimum(np.abs(x), np.abs(y)) ** 3
    stretch = half * (1.0 + 0.06 * corner * (lift > 0.0))
    return np.stack([stretch * x, stretch * y, z + lift * corner], axis=1)


def _stack(levels: list[tuple[float, float]], name: str) -> Mesh:
    """Return a stepped square solid from (half width, height) pairs, bottom up."""
    rings = [_square(half, z) for half, z in levels]
    return skin(rings, (0.0, 0.0, levels[0][1]), (0.0, 0.0, levels[-1][1]), f"mikoshi: {name}")


def _base() -> list[Mesh]:
    """Return a stepped plinth on the poles, its rope, and a floor on the plinth."""
    low = 0.126 + GAP
    plinth = [(0.30, low), (0.30, low + 0.03), (0.26, low + 0.04), (0.25, low + 0.07), (0.29, low + 0.08), (0.29, low + 0.10)]
    floor = low + 0.10 + GAP
    rope = torus(0.335, 0.02, 24, 6)
    x, y, z = rope.vertices.T
    # A rope around the plinth: a ring deformed towards a square with round corners.
    angle = np.arctan2(y, x)
    press = (np.abs(np.cos(angle)) ** 6 + np.abs(np.sin(angle)) ** 6) ** (-1.0 / 6.0)
    rope = Mesh(np.stack([x * press, y * press, z + low + 0.055], axis=1), rope.faces, name="mikoshi: rope")
    return [_stack(plinth, "plinth"), rope, _stack([(0.32, floor), (0.33, floor + 0.012), (0.32, floor + 0.024)], "floor")]


FLOOR = 0.126 + GAP + 0.10 + GAP + 0.024  # top of the floor


def _railing() -> list[Mesh]:
    """Return eight turned posts around the floor, and a rail above each pair."""
    low = FLOOR + GAP
    profile = [(0.012, low), (0.012, low + 0.02), (0.008, low + 0.035), (0.012, low + 0.05), (0.012, low + 0.065)]
    post = lathe(profile, 8, low, low + 0.065, "post")
    rail = box((0.50, 0.022, 0.014), (0.0, 0.0, low + 0.065 + GAP + 0.007))
    parts: list[Mesh] = []
    for k, turn in enumerate(_QUARTERS):
        at = np.array([np.sin(turn), -np.cos(turn)]) * 0.29
        along = np.array([np.cos(turn), np.sin(turn)]) * 0.2
        for side in (-1.0, 1.0):
            x, y = at + side * along
            parts.append(placed(post, (x, y, 0.0), turn, f"mikoshi: post {len(parts)}"))
        parts.append(placed(rail, (at[0], at[1], 0.0), turn, f"mikoshi: rail {k}"))
    return parts


def _walls() -> list[Mesh]:
    """Return the shrine's body with a door in each side, and four corner pillars."""
    low = FLOOR + GAP
    xs = (-0.15, -0.13, -0.07, 0.07, 0.13, 0.15)
    zs = (low, low + 0.02, low + 0.16, low + 0.20)
    filled = np.ones((5, 5, 3), dtype=bool)
    for end in (0, 4):
        filled[2, end, 1] = filled[end, 2, 1] = False
    body = blocks(xs, xs, zs, filled, "mikoshi: body")
    door = box((0.13, 0.012, 0.135), (0.0, -0.14, low + 0.09))
    doors = [placed(door, turned=turn, name=f"mikoshi: door {k}") for k, turn in enumerate(_QUARTERS)]
    shaft = [(0.024, low), (0.024, low + 0.015), (0.016, low + 0.025), (0.016, low + 0.18), (0.022, low + 0.20)]
    pillar = lathe(shaft, 10, low, low + 0.20, "pillar")
    corners = [(x, y, 0.0) for x in (-0.185, 0.185) for y in (-0.185, 0.185)]
    pillars = [placed(pillar, corner, name=f"mikoshi: pillar {k}") for k, corner in enumerate(corners)]
    return [body, *doors, *pillars]


def _gates() -> list[Mesh]:
    """Return a torii before each door: two legs, a tie beam and a wide lintel."""
    low = FLOOR + GAP
    xs = (-0.085, -0.06, -0.045, 0.045, 0.06, 0.085)
    ys = (-0.008, 0.008)
    zs = (low, low + 0.095, low + 0.105, low + 0.125, low + 0.145)
    filled = np.zeros((5, 1, 4), dtype=bool)
    filled[[1, 3], 0, :] = True  # legs
    filled[1:4, 0, 1] = True  # tie beam
    filled[:, 0, 3] = True  # lintel
    gate = blocks(xs, ys, zs, filled, "gate")
    places = [(np.sin(turn) * 0.235, -np.cos(turn) * 0.235, 0.0) for turn in _QUARTERS]
    return [placed(gate, at, turn, f"mikoshi: gate {k}") for k, (at, turn) in enumerate(zip(places, _QUARTERS, strict=True))]


WALL_TOP = FLOOR + GAP + 0.20


def _brackets() -> list[Mesh]:
    """Return a tie plate on the walls and three stepped brackets per side."""
    low = WALL_TOP + GAP
    plate = _stack([(0.21, low), (0.21, low + 0.03)], "tie plate")
    step = 0.015
    filled = np.array([[[False, True]], [[True, True]]])
    bracket = blocks((-0.240, -0.225, -0.212), (-0.012, 0.012), (low, low + step, low + 2 * step), filled, "bracket")
    parts = [plate]
    for turn in _QUARTERS:
        for shift in (-0.14, 0.0, 0.14):
            at = (-np.sin(turn) * shift, np.cos(turn) * shift, 0.0)
            parts.append(placed(bracket, at, turn, f"mikoshi: bracket {len(parts) - 1}"))
    return parts


EAVES = WALL_TOP + GAP + 0.03 + GAP


def _roofs() -> list[Mesh]:
    """Return the great roof with upturned corners, a neck, and a small roof."""
    low = EAVES + 0.004
    great = _roof(low, 0.36, 0.115, 0.06, 0.17, 0.055, 24, "great roof")
    neck_low = low + 0.17 + GAP
    neck = _stack([(0.085, neck_low), (0.095, neck_low + 0.01), (0.08, neck_low + 0.02), (0.08, neck_low + 0.05)], "neck")
    small = _roof(neck_low + 0.05 + GAP, 0.19, 0.07, 0.03, 0.12, 0.03, 16, "small roof")
    return [great, neck, small]


def _roof(low: float, eaves: float, top: float, sag: float, height: float, lift: float, count: int, name: str) -> Mesh:
    """Return a square roof that sags from eaves to top, with a flat underside."""
    rings = [
        _square(0.62 * eaves, low, count),
        _square(0.97 * eaves, low + 0.012, count, lift),
        _square(eaves, low + 0.022, count, lift),
    ]
    for t in (0.06, 0.25, 0.5, 0.75, 1.0):
        half = eaves + (top - eaves) * t
        z = low + 0.03 + (height - 0.03) * t - sag * np.sin(np.pi * t) * 0.6
        rings.append(_square(half, z, count, lift * (1.0 - t) ** 2))
    return skin(rings, (0.0, 0.0, low), (0.0, 0.0, low + height), f"mikoshi: {name}")


def _curls() -> list[Mesh]:
    """Return four warabite: fronds that rise above the roof's corners and curl."""
    rings = 12
    t = np.linspace(0.0, 1.0, rings)
    # Outwards, upwards, then over: the radius shrinks from 0.2 to 0.03, above the frond's thickness.
    heading = np.radians(20.0 + 200.0 * t**1.6)
    step = 0.26 / rings * (1.0 - 0.45 * t)
    out = np.concatenate([[0.0], np.cumsum((np.cos(heading) * step)[:-1])])
    up = np.concatenate([[0.0], np.cumsum((np.sin(heading) * step)[:-1])])
    zero = np.zeros(rings)
    radius = 0.013 - 0.006 * t
    angle = 2.0 * np.pi * np.arange(8) / 8
    sections = [r * np.stack([np.cos(angle), np.sin(angle)], axis=1) for r in radius]
    frond = tube(
        np.stack([out, zero, up], axis=1),
        np.tile([0.0, 1.0, 0.0], (rings, 1)),
        np.stack([-np.sin(heading), zero, np.cos(heading)], axis=1),
        sections,
        "frond",
    )
    turns = [np.pi / 4.0 + turn for turn in _QUARTERS]
    places = [(0.335 * np.cos(turn), 0.335 * np.sin(turn), EAVES + 0.105) for turn in turns]
    return [placed(frond, at, turn, f"mikoshi: frond {k}") for k, (at, turn) in enumerate(zip(places, turns, strict=True))]


def _bells() -> list[Mesh]:
    """Return a bell under each corner of the great roof."""
    bell = lathe([(0.024, 0.0), (0.019, 0.012), (0.017, 0.03), (0.008, 0.043)], 8, 0.012, 0.046, "bell")
    corners = [(x, y, EAVES - 0.015) for x in (-0.325, 0.325) for y in (-0.325, 0.325)]
    return [placed(bell, corner, name=f"mikoshi: bell {k}") for k, corner in enumerate(corners)]


ROOF_TOP = EAVES + 0.004 + 0.17 + GAP + 0.05 + GAP + 0.12


def _crown() -> list[Mesh]:
    """Return the dew basin with its jewel on the roof, and the phoenix."""
    low = ROOF_TOP + GAP
    profile = [
        (0.05, low),
        (0.055, low + 0.01),
        (0.03, low + 0.02),
        (0.02, low + 0.03),
        (0.032, low + 0.045),
        (0.032, low + 0.058),
        (0.018, low + 0.07),
    ]
    jewel = lathe(profile, 15, low, low + 0.075, "mikoshi: jewel")
    return [jewel, placed(_phoenix(), (0.0, 0.0, low + 0.075 + GAP), name="mikoshi: phoenix")]


def _phoenix() -> Mesh:
    """Return a bird with raised wings and tail, facing -x.

    Its sections have 12 points at fixed angles.
    """
    angle = np.radians([-90, -55, -15, 25, 38, 51, 90, 129, 142, 155, 195, 235])
    wings, crest = (4, 8), 6
    # x, body half width, height above and below the axis, wing reach, crest or tail reach, axis height
    sections = (
        (-0.105, 0.006, 0.005, 0.005, 0.0, 0.0, 0.135),
        (-0.085, 0.015, 0.014, 0.012, 0.0, 0.035, 0.135),
        (-0.065, 0.012, 0.014, 0.014, 0.0, 0.020, 0.120),
        (-0.045, 0.016, 0.020, 0.022, 0.030, 0.0, 0.075),
        (-0.015, 0.026, 0.024, 0.030, 0.130, 0.0, 0.050),
        (0.020, 0.026, 0.024, 0.050, 0.170, 0.0, 0.050),
        (0.050, 0.016, 0.018, 0.020, 0.060, 0.040, 0.055),
        (0.080, 0.010, 0.012, 0.012, 0.0, 0.110, 0.060),
        (0.115, 0.008, 0.010, 0.010, 0.0, 0.160, 0.070),
    )
    rings = []
    for x, width, above, below, wing, top, axis in sections:
        c, s = np.cos(angle), np.sin(angle)
        distance = ((c / width) ** 2 + (s / np.where(s > 0.0, above, below)) ** 2) ** -0.5
        for column in wings:
            distance[column] = max(distance[column], wing)
        distance[crest] = max(distance[crest], top)
        rings.append(np.stack([np.full(12, x), distance * c, axis + distance * s], axis=1))
    return skin(rings, (-0.125, 0.0, 0.130), (0.135, 0.0, 0.075), "phoenix")


def _banner(face_count: int) -> Mesh:
    """Return a hanging cloth with an odd number of faces, ending in one triangle."""
    assert face_count % 4 == 1, "two cells of two triangles a row, and the point"
    rows = face_count // 4
    down = np.arange(rows + 1) / rows
    across = np.array([-1.0, 0.0, 1.0]) * 0.05
    wave = 0.018 * np.sin(2.0 * np.pi * (1.3 * down[:, None] + 2.0 * across)) * down[:, None]
    x = 0.47 + wave
    vertices = np.stack([x, np.broadcast_to(across, x.shape), np.broadcast_to(0.62 - 0.30 * down[:, None], x.shape)], axis=2)
    points = np.vstack([vertices.reshape(-1, 3), [(0.47, 0.0, 0.27)]])
    corner = (3 * np.arange(rows)[:, None] + np.arange(2)).ravel()
    a, b, c, d = corner, corner + 3, corner + 4, corner + 1
    faces = np.vstack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1), [(3 * rows, len(points) - 1, 3 * rows + 2)]])
    return Mesh(points, faces, name="mikoshi: banner")
