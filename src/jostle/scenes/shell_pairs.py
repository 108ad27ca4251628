"""The three pairs of Guy, Debunne 2004 (table 1), pressed together.

The paper recorded motions of bodies that a user held against each other, and prints only their triangle counts. Here one body
orbits the other on a closed path, turning, and is pressed against it several times: it approaches, touches, moves along the surface
and leaves. In each frame the outermost touching position on that frame's line is searched; the body moves a little beyond it, no
faster than a hand would. Surfaces are concave, and those of the large bodies knobbly: contacts appear in several regions at once,
and move from frame to frame. The path closes after `LOOP` frames.

Travelling waves deform the bodies; `deform` bounds the gradient of the displacement, and so the relative change of every edge.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.scenes.scene import Scene
from jostle.scenes.touch_search import outermost_touch
from jostle.shapes import build
from jostle.shapes.load import load
from jostle.shapes.mesh import Mesh

LOOP = 300  # frames of the closed path
VISITS = 4  # times that the bodies are pressed together per loop
PRESSED = 0.65  # share of a visit; the rest is approach and departure
STEP, LEAVE = 0.02, 0.04  # most approach and departure per frame, in radii of the smaller body
GAP = 0.04  # between visits, in radii of the smaller body
STEPS_INWARDS, HALVINGS = 96, 16
WAVES, PERIOD = 3, 30
MOST_DEFORM = 0.5
KNOB, KNOB_WAVES, KNOB_HEIGHT = 0.15, 6, 0.03  # wavelength in radii, number, height in radii


class Orbit(NamedTuple):
    """How one body moves around another, in radii of the smaller one."""

    axis: Floats  # (3,) of the orbit, in coordinates of the other body
    lean: float  # radians between the axis and the line from body to body
    wobble: float  # amplitude of the lean, radians
    turns: int  # of the body about its own axis per loop
    turn_axis: Floats  # (3,)
    depth: float  # of the press beyond first contact


def sphere_and_torus(*, deform: float = 0.0, frames: int = LOOP, seed: int = 0) -> Scene:
    """Return a torus of 2,300 faces and a sphere of 980 that is pressed into its hole.

    After Guy, Debunne 2004, §6.1, table 1.

    From the paper: face counts. Ours: shapes and paths.

    Parameters
    ----------
    deform : float
        Largest gradient of the displacement by which both bodies deform, 0 … 0.5; 0 leaves them rigid.
    frames : int
        The path closes after 300.
    seed : int
        Of the start on the path, and of the waves.
    """
    torus, sphere = build.torus(0.7, 0.3, 50, 23), build.sphere(980, 0.5)
    orbit = Orbit(np.array([0.0, 0.0, 1.0]), 0.05, 0.05, 1, np.array([1.0, 0.4, 0.3]), 0.05)
    return _scene("sphere_and_torus", ("torus", torus), ("sphere", sphere), orbit, deform, frames, seed)


def horseshoe_and_clover(*, deform: float = 0.0, frames: int = LOOP, seed: int = 0) -> Scene:
    """Return a clover of 10,000 faces and a horseshoe of 2,000 that is pressed on it.

    After Guy, Debunne 2004, §6.1, table 1.

    From the paper: face counts. Ours: shapes and paths.

    Parameters
    ----------
    deform, frames, seed
        As for `sphere_and_torus`.
    """
    bodies = ("clover", build.clover()), ("horseshoe", build.horseshoe())
    orbit = Orbit(np.array([0.0, 0.0, 1.0]), 0.5, 0.3, 1, np.array([0.1, 0.05, 1.0]), 0.05)
    return _scene("horseshoe_and_clover", *bodies, orbit, deform, frames, seed)


def dragon_and_bunny(
    *,
    faces: int = 50_000,
    faces_b: int = 70_000,
    bunny: str | None = None,
    deform: float = 0.0,
    frames: int = LOOP,
    seed: int = 0,
) -> Scene:
    """Return two concave, knobbly blobs instead of dragon and bunny.

    After Guy, Debunne 2004, §6.1, fig. 1, table 1.

    From the paper: face counts. Ours: shapes and paths.

    Parameters
    ----------
    faces, faces_b : int
        Of the two, even.
    bunny : str, optional
        A mesh file to use as the second body: a Stanford bunny has 69,451 faces.
    deform, frames, seed
        As for `sphere_and_torus`.
    """
    dragon = knobbly(build.blob(faces, seed=11, roughness=0.7), 1)
    other = knobbly(build.blob(faces_b, seed=12, roughness=0.7), 2) if bunny is None else _of_radius_one(bunny)
    orbit = Orbit(np.array([0.1, 0.2, 1.0]), 0.5 * np.pi, 0.4, 1, np.array([0.5, 1.0, 0.3]), 0.12)
    return _scene("dragon_and_bunny", ("dragon", dragon), ("bunny", other), orbit, deform, frames, seed)


def knobbly(mesh: Mesh, seed: int) -> Mesh:
    """Return a blob with knobs: vertices move along rays, so nothing crosses."""
    rng = np.random.default_rng(seed)
    wave = rng.normal(size=(KNOB_WAVES, 3))
    wave *= 2.0 * np.pi / KNOB / np.linalg.norm(wave, axis=1)[:, None]
    directions = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None]
    height = np.cos(directions @ wave.T + rng.uniform(0.0, 2.0 * np.pi, KNOB_WAVES)).sum(axis=1) / np.sqrt(KNOB_WAVES)
    return Mesh(mesh.vertices * (1.0 + KNOB_HEIGHT * height)[:, None], mesh.faces, name=f"knobbly {mesh.name}")


def _of_radius_one(file: str) -> Mesh:
    """Return the mesh of a file, centred and scaled to fit a ball of radius 1."""
    if not Path(file).is_file():
        raise InputError(f"bunny is {file!r}; there is no such file")
    mesh = load(file)
    points = mesh.vertices - mesh.bounds.mean(axis=0)
    return Mesh(points / np.linalg.norm(points, axis=1).max(), mesh.faces, name=mesh.name)


def _scene(
    name: str, resting: tuple[str, Mesh], other: tuple[str, Mesh], orbit: Orbit, deform: float, frames: int, seed: int
) -> Scene:
    """Return the scene of a body at rest and one that moves around it."""
    strain = cast.as_number_between(deform, "deform", 0.0, MOST_DEFORM)
    frames = cast.as_count(frames, "frames", lowest=1)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    begin = float(rng.uniform(0.0, 2.0 * np.pi))
    (name_a, a), (name_b, b) = resting, other
    loop = track_round(a, b, orbit, begin, min(frames, LOOP))
    track = np.tile(loop, (-(-frames // len(loop)), 1, 1))[:frames]
    cycles = [Cycle(waves_over(mesh, strain, rng)) if strain > 0.0 else None for mesh in (a, b)]
    kind = f"deforming by {strain:g}" if strain > 0.0 else "rigid"
    return Scene(
        name=name,
        title=f"{name_a} and {name_b}, {len(a.faces):,} and {len(b.faces):,} faces, {kind}, pressed together {VISITS} times",
        bodies=(MovingBody(name_a, a, cycle=cycles[0]), MovingBody(name_b, b, track[0], cycle=cycles[1], track=track)),
        frames=frames,
    )


def track_round(a: Mesh, b: Mesh, orbit: Orbit, begin: float, frames: int) -> Floats:
    """Return poses (frames, 4, 4) of b on its path around a, starting apart."""
    pair = Pair(a, b)
    radii = [float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in (a, b)]
    reach, length = sum(radii), min(radii)
    first, second = _across(orbit.axis)
    poses: list[Floats] = []
    place = np.inf
    for frame in range(frames):
        share = frame / LOOP
        angle = begin + 2.0 * np.pi * share
        lean = orbit.lean + orbit.wobble * np.sin(2.0 * angle)
        outward = np.cos(angle) * first + np.sin(angle) * second
        line = np.cos(lean) * orbit.axis / np.linalg.norm(orbit.axis) + np.sin(lean) * outward
        turned = rotation_about(orbit.turn_axis, orbit.turns * angle)
        touch = _outermost_touch(pair, line, turned, reach)
        wanted = touch + length * (-orbit.depth if _is_pressed(share) else GAP)
        # No frame precedes the first: its place is not limited.
        place = wanted if frame == 0 else place + float(np.clip(wanted - place, -STEP * length, LEAVE * length))
        poses.append(translation(place * line) @ turned)
    return np.stack(poses)


def _is_pressed(share: float) -> bool:
    """Return whether the bodies are pressed together: the middle of each visit."""
    in_visit = (share * VISITS) % 1.0
    return 0.5 * (1.0 - PRESSED) <= in_visit < 0.5 * (1.0 + PRESSED)


def _outermost_touch(pair: Pair, line: Floats, turned: Floats, reach: float) -> float:
    """Return how far out on a line b touches a, about; 0 if it never does."""

    def touches(distance: float) -> bool:
        return bool(pair.touches(None, translation(distance * line) @ turned))

    return outermost_touch(touches, reach, 0.0, STEPS_INWARDS, HALVINGS) or 0.0


def _across(axis: Floats) -> tuple[Floats, Floats]:
    """Return two unit vectors perpendicular to an axis and to each other."""
    first = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 * np.linalg.norm(axis) else (0.0, 1.0, 0.0))
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    return first, second / np.linalg.norm(second)


def waves_over(mesh: Mesh, strain: float, rng: np.random.Generator) -> Floats:
    """Return (PERIOD, n, 3) shapes of a mesh with running waves.

    The gradient of the displacement is at most `strain`.

    Waves are 1 to 2 times as long as the body: small features move but hardly bend.
    """
    wave = rng.normal(size=(WAVES, 3))
    wave *= (2.0 * np.pi / rng.uniform(1.0, 2.0, WAVES) / mesh.size / np.linalg.norm(wave, axis=1))[:, None]
    swing = rng.normal(size=(WAVES, 3))
    swing *= (strain / WAVES / np.linalg.norm(wave, axis=1) / np.linalg.norm(swing, axis=1))[:, None]
    phase = mesh.vertices @ wave.T + rng.uniform(0.0, 2.0 * np.pi, WAVES)
    shapes = []
    for k in range(PERIOD):
        moved = mesh.vertices.copy()
        for number in range(WAVES):
            moved += np.sin(phase[:, number] + 2.0 * np.pi * k / PERIOD)[:, None] * swing[number]
        shapes.append(moved)
    return np.stack(shapes)
