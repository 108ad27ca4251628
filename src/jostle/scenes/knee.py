"""A knee joint and a probe, as in arthroscopy: thin parts and narrow spaces.

No paper: it represents present uses of voxels and haptics. Shapes have about the size of an adult's, built from ellipsoids
(`knee_parts.py`). The probe enters through the inner portal, is pressed on the inner meniscus, drawn along it, then along the
cartilage of tibia and femur, and leaves. Its rod always passes through the portal.
"""

from __future__ import annotations

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.fitting.path import RecordedPath
from jostle.scenes import knee_parts as parts
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.scenes.turned import Fineness
from jostle.shapes.mesh import Mesh

FEWEST_FACES = 6_000  # with fewer, the corners of menisci and femur would meet
AS_DRAWN = 55_000  # faces at fineness 1
DOWN, UP = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])
PIECE = 0.2  # mm between points of the path
TREMBLE = 0.03  # mm


def knee(*, faces: int = 50_000, press: float = 0.4, frames: int = 600, seed: int = 0) -> Scene:
    """Return a knee of bones, menisci and a capsule, and a probe that feels them.

    No paper: all of it is ours. Lengths are millimetres. Bones, menisci and capsule are static; the probe (`probe`) is kinematic
    and follows the path `feel`, which a press above 0 blocks.

    Parameters
    ----------
    faces : int
        Total face count, about; 6,000 or more.
    press : float
        Depth of the tip where it is pressed, mm.
    frames : int
        Number of steps of about equal length.
    seed : int
        Of the trembling of the hand, 0.03 mm.
    """
    faces = cast.as_count(faces, "faces")
    if faces < FEWEST_FACES:
        raise InputError(f"faces is {faces}; the scene needs at least {FEWEST_FACES} for its narrow spaces")
    press = cast.as_length(press, "press")
    if press > 2.0:
        raise InputError(f"press is {press}; the probe goes at most 2 mm in")
    frames = cast.as_count(frames, "frames", lowest=1)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    track, fine = _poses(_path(press), frames, rng), Fineness((faces / AS_DRAWN) ** 0.5)
    still = [MovingBody(mesh.name, mesh, static=True) for mesh in _still_parts(fine)]
    moved = MovingBody("probe", parts.probe(fine), track[0], track=track)
    feel = RecordedPath(track, body="probe", title="the probe feels along meniscus, tibia and femur")
    total = sum(len(body.mesh.faces) for body in [*still, moved])
    return Scene(
        name="knee",
        title=f"a knee of {total:,} faces, felt with a probe",
        bodies=(*still, moved),
        frames=frames,
        paths={"feel": feel},
    )


def _still_parts(fine: Fineness) -> list[Mesh]:
    femur = parts.bone(parts.femur_solid, (0.0, 0.0, 34.0), 80.0, fine.along(70), fine.around(128), "femur")
    tibia = parts.bone(parts.tibia_solid, (0.0, 3.0, -13.0), 70.0, fine.along(60), fine.around(112), "tibia")
    menisci = parts.meniscus(fine, -1.0, "inner meniscus"), parts.meniscus(fine, 1.0, "outer meniscus")
    return [femur, tibia, *menisci, parts.capsule(fine)]


def _path(press: float) -> Floats:
    """Return (n, 9) tip, hook direction and rod direction, in steps of about PIECE."""
    portal = parts.portal_place(-1.0)
    inside = np.array([-15.0, -24.0, 4.0])
    out = (portal - inside) / np.linalg.norm(portal - inside)
    share = np.linspace(0.0, 1.0, 120)
    meniscus = parts.meniscus_place(-1.0, np.radians(-85.0 + 45.0 * share), np.full(120, 0.45), 1.0) - press * UP
    x, y = -14.0 - 6.0 * share, -3.0 + 9.0 * share
    tibia = np.stack([x, y, parts.top_of_tibia(x, y) - press], axis=1)
    x, y = -20.0 - 4.0 * share, -6.0 - 11.0 * share
    femur = np.stack([x, y, parts.bottom_of_femur(x, y) + press], axis=1)
    stations: list[tuple[Floats, Floats]] = [
        (portal + 25.0 * out, DOWN),
        (inside, DOWN),
        (meniscus[0] + 3.0 * UP, DOWN),
        *((place, DOWN) for place in meniscus),
        (meniscus[-1] + 3.0 * UP, DOWN),
        (tibia[0] + 3.0 * UP, DOWN),
        *((place, DOWN) for place in tibia),
        (tibia[-1] + 2.0 * UP, DOWN),
        (femur[0] - 1.5 * UP, UP),
        *((place, UP) for place in femur),
        (femur[-1] - 2.0 * UP, UP),
        (inside, DOWN),
        (portal + 25.0 * out, DOWN),
    ]
    tips, hooks = (np.array(column) for column in zip(*stations, strict=True))
    # The hook turns sideways; straight from down to up it would have no direction half-way.
    rows = []
    for k in range(len(tips) - 1):
        pieces = max(1, int(np.ceil(np.linalg.norm(tips[k + 1] - tips[k]) / PIECE)))
        turns = float(hooks[k] @ hooks[k + 1]) < 0.0
        for t in np.arange(pieces) / pieces:
            tip = tips[k] + t * (tips[k + 1] - tips[k])
            hook = hooks[k] * np.cos(np.pi * t) + np.array([1.0, 0.0, 0.0]) * np.sin(np.pi * t) if turns else hooks[k]
            # The rod passes through the portal; while the tip does too, it follows the line to the first place inside.
            outside = k in (0, len(tips) - 2)
            rows.append(np.concatenate([tip, hook, out if outside else _unit(portal - (tip - parts.HOOK * hook))]))
    rows.append(np.concatenate([tips[-1], hooks[-1], out]))
    return np.array(rows)


def _poses(path: Floats, frames: int, rng: np.random.Generator) -> Floats:
    """Return poses (frames, 4, 4) of the probe at equal steps, with a tremor."""
    length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(path[:, :6], axis=0), axis=1)))
    at = np.linspace(0.0, length[-1], frames)
    placed = np.stack([np.interp(at, length, column) for column in path.T], axis=1)
    shake = np.arange(20.0, 60.0, 8.0)
    phase, size = rng.uniform(0.0, 2.0 * np.pi, (3, len(shake))), rng.normal(size=(3, len(shake)))
    size *= TREMBLE / np.sqrt((size**2).sum(axis=1, keepdims=True))
    share = np.linspace(0.0, 1.0, frames)
    tremble = (size * np.sin(2.0 * np.pi * shake * share[:, None, None] + phase)).sum(axis=2)
    poses = np.tile(np.eye(4), (frames, 1, 1))
    for pose, row, shift in zip(poses, placed, tremble, strict=True):
        rod = _unit(row[6:])
        hook = _unit(row[3:6] - (row[3:6] * rod).sum() * rod)
        pose[:3, :3] = np.stack([hook, np.cross(rod, hook), rod], axis=1)
        pose[:3, 3] = row[:3] + shift - parts.HOOK * hook
    return poses


def _unit(vector: Floats) -> Floats:
    return vector / np.sqrt((vector**2).sum())
