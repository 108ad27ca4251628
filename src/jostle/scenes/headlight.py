"""A headlight, to take covers and bulbs out (Eckstein, Schömer 1999, §5, fig. 3).

The paper names a scene of about 60,000 faces in which two covers, then the two light bulbs behind them, are removed; shapes, sizes
and paths are ours (`headlight_parts.py`). Lengths are millimetres; x points ahead, y to the left, z up. Most faces are at the two
openings, where parts are half a millimetre apart. At the start all bodies are at least 0.2 apart.

A path is written as steps of one part about the axis of its opening, and becomes one pose every 1.5 mm or 2.5 degrees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.fitting.path import RecordedPath
from jostle.geometry.pose import rotation_about, translation
from jostle.scenes import headlight_parts as parts
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.scenes.turned import Fineness
from jostle.shapes.mesh import Mesh

FEWEST_FACES = 14_000  # with fewer, corners of polygonal circles would use up the clearances
STEP, TURN = 1.5, 2.5  # largest step between two poses of a path: mm, degrees


def _facing_back(x: float, y: float, z: float) -> Floats:
    """Return the pose whose z axis points to the back, its y axis up."""
    pose = np.eye(4)
    pose[:3, :3] = [(0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    pose[:3, 3] = x, y, z
    return pose


OPENINGS = (parts.Opening(36.0, 61.0, 27.0), parts.Opening(32.0, 61.0, 24.0))
PLACES = (_facing_back(0.0, 62.0, 0.0), _facing_back(0.0, -62.0, 0.0))
EARS = tuple(_facing_back(96.0, y, z) for y in (62.0, -62.0) for z in (76.0, -76.0))
BATTERY = translation((-98.5, 65.0, 0.0))
PIPE_KNEES = np.array([(-24.0, 175.0, 78.0), (-24.0, 25.0, 78.0), (-60.0, -32.0, 30.0), (-60.0, -44.0, -120.0)])
BULB_TIPS = (-62.0, -74.0)

# Steps about the axis of an opening: right, up, back (mm), then degrees of tilt (top to the back), yaw (left to the back) and
# twist. A cover is turned out of its ledges, drawn out of the collar, and tilted past the battery or the pipe.
UNLOCKED = (0.0, 0.0, 0.0, 0.0, 0.0, 60.0)
PATHS: dict[str, tuple[str, tuple[str, ...], str, tuple[tuple[float, ...], ...]]] = {
    "remove_cover_1": (
        "cover_1",
        (),
        "turn cover 1, draw it out, tilt it over the battery",
        (
            UNLOCKED,
            (0.0, 0.0, 13.5, 0.0, 0.0, 60.0),
            (0.0, 14.0, 29.5, 30.0, 0.0, 60.0),
            (0.0, 18.0, 35.5, 45.0, 0.0, 60.0),
            (0.0, 20.4, 43.5, 60.0, 0.0, 60.0),
            (0.0, 20.4, 51.5, 80.0, 0.0, 60.0),
            (0.0, 20.4, 67.5, 90.0, 0.0, 60.0),
            (0.0, 22.0, 108.0, 90.0, 0.0, 60.0),
            (0.0, 120.0, 150.0, 90.0, 0.0, 60.0),
        ),
    ),
    "remove_cover_2": (
        "cover_2",
        (),
        "turn cover 2, draw it out, tilt it through between pipe and fender",
        (
            UNLOCKED,
            (0.0, 0.0, 13.5, 0.0, 0.0, 60.0),
            (6.0, 0.0, 23.5, 0.0, 20.0, 60.0),
            (8.0, 0.0, 25.5, 0.0, 25.0, 60.0),
            (8.2, 0.0, 29.5, 0.0, 30.0, 60.0),
            (8.2, 0.0, 105.0, 0.0, 30.0, 60.0),
            (0.0, -60.0, 200.0, 0.0, 0.0, 60.0),
        ),
    ),
    "remove_bulb_1": (
        "bulb_1",
        ("cover_1",),
        "turn bulb 1 out of its reflector, draw it out over the battery",
        (
            UNLOCKED,
            (0.0, 0.0, 33.0, 0.0, 0.0, 60.0),
            (0.0, 3.6, 45.0, 0.0, 0.0, 60.0),
            (0.0, 5.4, 61.0, 5.0, 0.0, 60.0),
            (0.0, 6.0, 66.0, 7.5, 0.0, 60.0),
            (0.0, 8.0, 101.0, 7.5, 0.0, 60.0),
            (0.0, 60.0, 190.0, 0.0, 0.0, 60.0),
        ),
    ),
    "remove_bulb_2": (
        "bulb_2",
        ("cover_2",),
        "draw bulb 2 out past the pipe",
        (
            (0.0, 0.0, 75.0, 0.0, 0.0, 0.0),
            (3.0, 2.0, 95.0, 0.0, 10.0, 0.0),
            (3.0, 25.0, 140.0, -20.0, 10.0, 0.0),
            (0.0, 40.0, 235.0, -20.0, 0.0, 0.0),
        ),
    ),
    "pull_cover_1": (
        "cover_1",
        (),
        "draw cover 1 out without turning it: ledges hold it",
        ((0.0, 0.0, 60.0, 0.0, 0.0, 0.0),),
    ),
    "cover_1_straight_back": (
        "cover_1",
        (),
        "turn cover 1 and draw it straight back: the battery is behind it",
        (UNLOCKED, (0.0, 0.0, 120.0, 0.0, 0.0, 60.0)),
    ),
    "bulb_1_under_cover": (
        "bulb_1",
        (),
        "turn bulb 1 and draw it out while its cover is on",
        (UNLOCKED, (0.0, 0.0, 100.0, 0.0, 0.0, 60.0)),
    ),
}
TASKS = {
    "remove": ("remove_cover_1", "remove_cover_2", "remove_bulb_1", "remove_bulb_2"),
    "pull_cover_1": ("pull_cover_1",),
    "cover_1_straight_back": ("cover_1_straight_back",),
    "bulb_1_under_cover": ("bulb_1_under_cover",),
}


def headlight(*, faces: int = 60_000, task: str = "remove", frames: int | None = None, seed: int = 0) -> Scene:
    """Return a headlight with covers and bulbs to take out through a narrow passage.

    A battery, a pipe and a fender leave little room.

    From the paper (§5): circa 60,000 faces; the two covers are removed, then the two bulbs. Ours: everything else.
    `scene.paths` has the paths: `remove_cover_1`, `remove_cover_2`, `remove_bulb_1`, `remove_bulb_2` are free with 0.3 mm to spare;
    `pull_cover_1`, `cover_1_straight_back` and `bulb_1_under_cover` are blocked.

    Parameters
    ----------
    faces : int
        Total face count, within a few per cent; 14,000 or more.
    task : {"remove", "pull_cover_1", "cover_1_straight_back", "bulb_1_under_cover"}
        The recorded motion: covers and bulbs removed one after the other, or one of the blocked paths.
    frames : int, optional
        By default the number of poses of the task's paths.
    seed : int
        Of the screws' angles.
    """
    faces = cast.as_count(faces, "faces")
    if faces < FEWEST_FACES:
        raise InputError(f"faces is {faces}; the scene needs at least {FEWEST_FACES} for its clearances")
    cast.as_choice(task, tuple(TASKS), "task")
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    screws = rng.uniform(0.0, np.pi / 3.0, len(EARS))
    paths = {name: _path(*entry) for name, entry in PATHS.items()}
    tracks = _tracks([paths[name] for name in TASKS[task]])
    bodies = []
    for name, mesh, pose in _bodies_of(faces, screws):
        moves = name in ("cover_1", "cover_2", "bulb_1", "bulb_2")
        bodies.append(MovingBody(name, mesh, pose, track=tracks.get(name), static=not moves))
    total = sum(len(body.mesh.faces) for body in bodies)
    wanted = max(len(track) for track in tracks.values()) if frames is None else cast.as_count(frames, "frames", lowest=1)
    title = f"a headlight of {total:,} faces, {task.replace('_', ' ')}"
    return Scene(name="headlight", title=title, bodies=tuple(bodies), frames=wanted, paths=paths)


def _bodies_of(faces: int, screws: Floats) -> list[tuple[str, Mesh, Floats]]:
    """Return the bodies at the largest fineness, to 0.005, with at most `faces` faces."""
    low, high = 0.2, 0.2 + (faces / 50_000) ** 0.5
    bodies = _bodies(Fineness(low), screws)
    while high - low > 0.005:
        middle = 0.5 * (low + high)
        finer = _bodies(Fineness(middle), screws)
        if sum(len(mesh.faces) for _, mesh, _ in finer) <= faces:
            low, bodies = middle, finer
        else:
            high = middle
    return bodies


def _bodies(fine: Fineness, screws: Floats) -> list[tuple[str, Mesh, Floats]]:
    here = np.eye(4)
    bodies = [("housing", parts.housing(fine, OPENINGS, PLACES, EARS), here), ("lens", parts.lens(fine), here)]
    for k, (opening, place, tip) in enumerate(zip(OPENINGS, PLACES, BULB_TIPS, strict=True)):
        bodies.append((f"reflector_{k + 1}", parts.reflector(fine, locks=k == 0), place))
        bodies.append((f"cover_{k + 1}", parts.cover(fine, opening), place))
        bodies.append((f"bulb_{k + 1}", parts.bulb(fine, k == 0, tip), place))
    bodies += [(f"screw_{k + 1}", parts.screw(fine, turn), ear) for k, (turn, ear) in enumerate(zip(screws, EARS, strict=True))]
    bodies.append(("bracket", parts.bracket(fine, EARS), here))
    bodies.append(("battery", parts.battery(fine), BATTERY))
    bodies.append(("pipe", parts.pipe(fine, PIPE_KNEES, 8.0, 30.0), here))
    bodies.append(("fender", parts.fender(fine), here))
    return bodies


def _path(body: str, without: tuple[str, ...], title: str, corners: Sequence[Sequence[float]]) -> RecordedPath:
    """Return the path through corners, from where the part sits."""
    place = PLACES[int(body[-1]) - 1]
    steps = [np.zeros(6)]
    for end in corners:
        begin, target = steps[-1], np.array(end)
        change = np.abs(target - begin)
        pieces = int(np.ceil(max(np.linalg.norm(change[:3]) / STEP, change[3:].max() / TURN)))
        steps += [begin + (target - begin) * (k / pieces) for k in range(1, pieces + 1)]
    return RecordedPath(np.stack([place @ _step(step) for step in steps]), body=body, without=without, title=title)


def _step(step: Floats) -> Floats:
    tilt, yaw, twist = np.radians(step[3:])
    turned = rotation_about((1.0, 0.0, 0.0), tilt) @ rotation_about((0.0, 1.0, 0.0), yaw) @ rotation_about((0.0, 0.0, 1.0), twist)
    return translation(step[:3]) @ turned


def _tracks(paths: Sequence[RecordedPath]) -> dict[str, Floats]:
    """Return each body's poses for all frames, path after path."""
    frames = sum(len(path) for path in paths)
    tracks, done = {}, 0
    for path in paths:
        before, after = done, frames - done - len(path)
        tracks[path.body] = np.concatenate([np.repeat(path.poses[:1], before, 0), path.poses, np.repeat(path.poses[-1:], after, 0)])
        done += len(path)
    return tracks
