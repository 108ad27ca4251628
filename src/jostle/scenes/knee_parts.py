"""Parts of the scene `knee`, in mm: bones, menisci, a capsule, a probe.

x points to the outer (lateral) side, y to the back, z up along the thigh; z = 0 is the top of the tibia. A bone is an implicit
solid, negative inside: ellipsoids, cylinders and hollows blended into each other. Its mesh has rings of directions from an inner
point, each followed out to the last zero. The joint is held open by some millimetres, as in surgery.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jostle._types import Floats
from jostle.scenes.turned import Fineness, angles_round, in_mm, oblong
from jostle.shapes.build.rings import skin
from jostle.shapes.mesh import Mesh

Solid = Callable[[Floats], Floats]  # of points (…, 3); negative inside, roughly a distance

OPENED = 7.0  # gap between the bones
CONDYLE = 23.0  # from the middle of the joint to the middle of each condyle
BACK = 4.0  # the condyles and the plateau lie behind the axis of the shafts
PROBE_RADIUS, HOOK, PROBE_LENGTH = 0.75, 4.0, 130.0
PORTAL, PORTAL_ANGLE, PORTAL_HEIGHT = 6.0, 0.5, 10.0  # radius, angle from the front in radians, height
WALL = 3.0  # of the capsule


# ---------------------------------------------------------------------- bones


def femur_solid(points: Floats) -> Floats:
    """Return the implicit function of the femur: condyles, trochlea, shaft."""
    up = 22.0 + OPENED
    inner = _ellipsoid(points, (-CONDYLE, BACK, up), (13.0, 30.0, 22.0))
    outer = _ellipsoid(points, (CONDYLE, BACK, up), (14.0, 28.0, 22.0))
    middle = _ellipsoid(points, (0.0, BACK - 10.0, up + 11.0), (27.0, 23.0, 18.0))
    shaft = _cylinder(points, 15.0, up + 10.0, up + 75.0)
    return _blended(_blended(_blended(inner, outer, 5.0), middle, 9.0), shaft, 12.0)


def tibia_solid(points: Floats) -> Floats:
    """Return the implicit function of the tibia: a hollowed plateau, the shaft."""
    x, y, z = points[..., 0] / 39.0, (points[..., 1] - BACK) / 27.0, (points[..., 2] + 9.0) / 9.0
    plateau = 9.0 * ((x**4 + y**4 + z**4) ** 0.25 - 1.0)
    for side in (-1.0, 1.0):
        hollow = np.sqrt(_squared(points - (side * CONDYLE, BACK, 46.0))) - 48.0
        plateau = -_blended(-plateau, hollow, 3.0)
    for side in (-1.0, 1.0):
        plateau = _blended(plateau, _ellipsoid(points, (side * 4.0, BACK + 1.0, -3.0), (3.5, 9.0, 7.0)), 4.0)
    return _blended(plateau, _cylinder(points, 17.0, -75.0, -10.0), 12.0)


def bone(solid: Solid, centre: tuple[float, float, float], reach: float, rings: int, segments: int, name: str) -> Mesh:
    """Return the mesh of a solid, with rings of directions from a centre within it.

    It has 2 · rings · segments faces, none farther than `reach`.
    """
    lean = np.pi * np.arange(1, rings + 1) / (rings + 1)
    around = 2.0 * np.pi * np.arange(segments) / segments
    flat, height = np.sin(lean)[:, None], -np.cos(lean)[:, None]
    directions = np.stack([flat * np.cos(around), flat * np.sin(around), np.broadcast_to(height, (rings, segments))], axis=2)
    every = np.vstack([directions.reshape(-1, 3), [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]])
    radii = _last_zero(lambda far: solid(np.array(centre) + far[:, None] * every), len(every), reach)
    points = np.array(centre) + radii[:, None] * every
    return in_mm(skin(list(points[:-2].reshape(rings, segments, 3)), points[-2], points[-1], name))


def _last_zero(value: Callable[[Floats], Floats], count: int, reach: float) -> Floats:
    """Return (count,) the last sign change below `reach` of each function."""
    low, high = np.zeros(count), np.full(count, reach)
    found = np.zeros(count, bool)
    for far in np.linspace(reach, 0.0, 80):
        inside = (value(np.full(count, far)) < 0.0) & ~found
        low[inside] = far
        found |= inside
        high[~found] = far
    return _bisected(value, low, high, 30)


def _bisected(value: Callable[[Floats], Floats], inside: Floats, outside: Floats, halvings: int) -> Floats:
    """Return where functions turn from negative `inside` to positive `outside`."""
    for _ in range(halvings):
        middle = 0.5 * (inside + outside)
        within = value(middle) < 0.0
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    return 0.5 * (inside + outside)


def top_of_tibia(x: Floats, y: Floats) -> Floats:
    """Return heights of the plateau at places (n,)."""
    return _height(tibia_solid, x, y, -9.0, 9.0)


def bottom_of_femur(x: Floats, y: Floats) -> Floats:
    """Return heights of the undersides of the condyles at places (n,)."""
    return _height(femur_solid, x, y, 22.0 + OPENED, -9.0)


def _height(solid: Solid, x: Floats, y: Floats, inside: float, outside: float) -> Floats:
    x, y = np.broadcast_arrays(np.atleast_1d(np.asarray(x, float)), np.asarray(y, float))
    return _bisected(lambda z: solid(np.stack([x, y, z], axis=-1)), np.full(x.shape, inside), np.full(x.shape, outside), 35)


def _squared(offset: Floats) -> Floats:
    return (offset**2).sum(axis=-1)


def _ellipsoid(points: Floats, centre: tuple[float, float, float], radii: tuple[float, float, float]) -> Floats:
    scaled = (points - centre) / radii
    size, slope = np.sqrt(_squared(scaled)), np.sqrt(_squared(scaled / radii))
    return size * (size - 1.0) / np.maximum(slope, 1e-9)


def _cylinder(points: Floats, radius: float, lower: float, upper: float) -> Floats:
    away = np.sqrt(_squared(points[..., :2])) - radius
    return np.maximum(away, np.maximum(points[..., 2] - upper, lower - points[..., 2]))


def _blended(a: Floats, b: Floats, width: float) -> Floats:
    """Return the union of two solids, rounded where both are closer than a width."""
    near = np.maximum(width - np.abs(a - b), 0.0) / width
    return np.minimum(a, b) - near * near * (0.25 * width)


# ---------------------------------------------------------------------- menisci


def meniscus_place(side: float, angle: Floats, across: Floats, height: float) -> Floats:
    """Return (…, 3) a place in a meniscus.

    `angle` is along the arc, 0 at the outside of the joint and rising to the back; `across` is 0 … 1 from the inner edge to the
    rim, `height` 0 … 1 from below to above.
    """
    angle, across = np.broadcast_arrays(np.asarray(angle, float), np.asarray(across, float))
    taper = 0.35 + 0.65 * np.sqrt(np.clip(1.0 - (np.abs(angle) / arc_of(side)) ** 6, 0.0, 1.0))
    rim_x, rim_y = 12.5, 19.0 if side < 0.0 else 16.5
    share = 1.0 - (0.58 if side < 0.0 else 0.66) * taper * (1.0 - across)
    x = side * (CONDYLE - 0.5 + rim_x * share * np.cos(angle))
    y = BACK + rim_y * share * np.sin(angle)
    thickness = 0.8 + 3.4 * taper * across**1.4
    z = top_of_tibia(x, y).reshape(x.shape) + 0.4 + height * thickness
    return np.stack([x, y, z], axis=-1)


def arc_of(side: float) -> float:
    """Return half the arc of a meniscus: inner (-1) a C, outer (1) nearly closed."""
    return float(np.radians(125.0 if side < 0.0 else 150.0))


def meniscus(fine: Fineness, side: float, name: str) -> Mesh:
    """Return a meniscus: a wedge along an arc on the plateau, thin at its inner edge."""
    stations, pieces = fine.along(70), fine.along(10)
    inner_out, up = np.linspace(0.0, 1.0, pieces + 1), np.linspace(0.0, 1.0, fine.along(4) + 1)
    # Around a section: below from the inner edge to the rim, up the rim, back above, down the inner edge.
    across = np.concatenate([inner_out, np.ones(len(up) - 2), inner_out[::-1]])
    height = np.concatenate([np.zeros(pieces + 1), up[1:-1], np.ones(pieces + 1)])
    angles = np.linspace(-arc_of(side), arc_of(side), stations + 1)[:, None]
    below, above = (meniscus_place(side, angles, across, end) for end in (0.0, 1.0))
    rings = list(below + height[:, None] * (above - below))
    return _outward(skin(rings, rings[0].mean(axis=0), rings[-1].mean(axis=0), name))


# ---------------------------------------------------------------------- capsule


def capsule_radius(angles: Floats, heights: Floats) -> Floats:
    """Return radii of the capsule's inner side about the z axis."""
    return oblong(angles, 47.0, 42.0, 3.0) * (1.0 - 0.26 * ((heights - 14.0) / 40.0) ** 2)


def capsule_lattice(fine: Fineness) -> tuple[Floats, Floats, list[tuple[slice, slice]]]:
    """Return angles and heights (i, j) of the capsule's wall, and portal cells.

    The lattice is bent towards each portal, so that the square of cells becomes a round opening.
    """
    count, rows = fine.around(104, 40), fine.along(38)
    angles, heights = np.meshgrid(angles_round(count), np.linspace(-26.0, 52.0, rows + 1), indexing="ij")
    step, rise = 2.0 * np.pi / count, 78.0 / rows
    bent_angles, bent_heights, holes = angles.copy(), heights.copy(), []
    for side in (-1.0, 1.0):
        middle, up, radius = 1.5 * np.pi + side * PORTAL_ANGLE, PORTAL_HEIGHT, 44.0
        half_i, half_j = (max(1, round(PORTAL / length)) for length in (step * radius, rise))
        i, j = round(middle / step), round((up + 26.0) / rise)
        holes.append((slice(i - half_i, i + half_i), slice(j - half_j, j + half_j)))
        a, b = (angles - angles[i, j]) / (half_i * step), (heights - heights[i, j]) / (half_j * rise)
        square, circle = np.maximum(np.abs(a), np.abs(b)), np.sqrt(a * a + b * b)
        pull = np.clip(2.0 - square, 0.0, 1.0)
        shrink = 1.0 - pull + pull * square / np.maximum(circle, 1e-9)
        # In portal lengths, not cells, so that it is round for any cell size.
        wide, high = 1.0 + pull * (PORTAL / (half_i * step * radius) - 1.0), 1.0 + pull * (PORTAL / (half_j * rise) - 1.0)
        bent_angles += a * (shrink * wide - 1.0) * (half_i * step) + pull * (middle - angles[i, j])
        bent_heights += b * (shrink * high - 1.0) * (half_j * rise) + pull * (up - heights[i, j])
    return bent_angles, bent_heights, holes


def portal_place(side: float) -> Floats:
    """Return (3,) the centre of the inner (-1) or outer (1) portal, in front."""
    angle, height = 1.5 * np.pi + side * PORTAL_ANGLE, np.array([PORTAL_HEIGHT])
    radius = float(capsule_radius(np.array([angle]), height)[0]) + 0.5 * WALL
    return np.array([radius * np.cos(angle), radius * np.sin(angle), PORTAL_HEIGHT])


def capsule(fine: Fineness) -> Mesh:
    """Return the capsule: a closed barrel around the joint with two portals."""
    angles, heights, holes = capsule_lattice(fine)
    count, rows = angles.shape[0], angles.shape[1] - 1
    inner = capsule_radius(angles, heights)
    points = [np.stack([r * np.cos(angles), r * np.sin(angles), heights], axis=2) for r in (inner + WALL, inner)]
    kept = np.ones((count, rows), bool)
    for hole in holes:
        kept[hole] = False
    number = np.arange(count * (rows + 1)).reshape(count, rows + 1)
    beside = np.roll(number, -1, axis=0)
    a, b, c, d = number[:, :-1], beside[:, :-1], beside[:, 1:], number[:, 1:]
    inside = number.size  # the same point of the inner side
    quads = [np.stack([a, b, c, d], axis=2)[kept], np.stack([d, c, b, a], axis=2)[kept] + inside]
    # Walls from the outer to the inner side: along both ends, and around the holes.
    walls = [np.stack([beside[:, 0], number[:, 0]], axis=1), np.stack([number[:, -1], beside[:, -1]], axis=1)]
    left_out = ~kept
    for begin, end, neighbour in (
        (a, b, np.roll(left_out, 1, axis=1)),
        (c, d, np.roll(left_out, -1, axis=1)),
        (b, c, np.roll(left_out, -1, axis=0)),
        (d, a, np.roll(left_out, 1, axis=0)),
    ):
        edge = left_out & ~neighbour
        walls.append(np.stack([begin[edge], end[edge]], axis=1))
    outer = np.vstack(walls)
    quads.append(np.stack([outer[:, 0], outer[:, 1], outer[:, 1] + inside, outer[:, 0] + inside], axis=1))
    faces = np.vstack(quads)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    vertices = np.vstack([side.reshape(-1, 3) for side in points])
    used, renumbered = np.unique(faces, return_inverse=True)
    return in_mm(Mesh(vertices[used], renumbered.reshape(-1, 3), name="capsule"))


# ---------------------------------------------------------------------- probe


def probe(fine: Fineness) -> Mesh:
    """Return the probe: a rod along z, a hook along x, its tip at (HOOK, 0, 0)."""
    bend = 1.2
    rounding = np.linspace(0.0, 0.5 * np.pi, fine.along(6) + 1)[1:-1]
    turns = np.linspace(0.0, 0.5 * np.pi, fine.along(8) + 1)
    begin = HOOK - PROBE_RADIUS
    tip = [np.array([begin + PROBE_RADIUS * np.cos(lean), 0.0, 0.0]) for lean in rounding]
    hook = tip + [np.array([x, 0.0, 0.0]) for x in np.linspace(begin, bend, fine.along(4), endpoint=False)]
    corner = [np.array([bend - bend * np.sin(turn), 0.0, bend - bend * np.cos(turn)]) for turn in turns]
    rod = [np.array([0.0, 0.0, z]) for z in np.linspace(bend, PROBE_LENGTH, fine.along(60) + 1)[1:]]
    centres = np.array([*hook, *corner, *rod])
    lean = np.concatenate([np.zeros(len(hook)), turns, np.full(len(rod), 0.5 * np.pi)])
    around = 2.0 * np.pi * np.arange(fine.around(24, 12)) / fine.around(24, 12)
    section = PROBE_RADIUS * np.stack([np.cos(around), np.sin(around)], axis=1)
    # Along -x and then up; sides along y, ups to their right.
    sides = np.tile([0.0, 1.0, 0.0], (len(centres), 1))
    ups = np.stack([-np.sin(lean), np.zeros(len(lean)), -np.cos(lean)], axis=1)
    sections = [section * share for share in (*np.sin(rounding), *np.ones(len(centres) - len(rounding)))]
    rings = [c + s[:, :1] * u + s[:, 1:] * v for c, u, v, s in zip(centres, sides, ups, sections, strict=True)]
    return _outward(skin(rings, (HOOK, 0.0, 0.0), centres[-1], "probe"))


def _outward(mesh: Mesh) -> Mesh:
    return in_mm(mesh if mesh.volume > 0.0 else Mesh(mesh.vertices, mesh.faces[:, ::-1], name=mesh.name))
