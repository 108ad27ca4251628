"""The three pairs of Guy, Debunne 2004 (table 1), one body pressed against the other.

The paper recorded motions of bodies that a user held against each other, and prints no more of them than numbers of triangles. Here
one body goes round the other on a closed way, turning, and is pressed against it several times: each time it comes near, touches,
is moved along the surface and leaves. In each frame the outermost place is searched for at which the two touch on the line of that
frame; the body goes towards a little beyond it, not faster than a hand would. Surfaces are concave, and those of the large bodies
knobbly: contacts come up in several regions at once, and elsewhere from one frame to the next. After `LOOP` frames the way is
closed and begins again.

Deforming bodies carry waves that run over them; `deform` bounds the gradient of the displacement, so that no edge becomes longer or
shorter, or turns, by more than that share.
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
from jostle.shapes import build
from jostle.shapes.load import load
from jostle.shapes.mesh import Mesh

LOOP = 300  # frames of the whole way
VISITS = 4  # times that the bodies are pressed together on it
PRESSED = 0.65  # of a visit; the rest is coming and leaving
STEP, LEAVE = 0.02, 0.04  # of the smaller body: how far it may come nearer in a frame, and how far leave
GAP = 0.04  # of the smaller body, between visits
STEPS_INWARDS, HALVINGS = 96, 16
WAVES, PERIOD = 3, 30
MOST_DEFORM = 0.5
KNOB, KNOB_WAVES, KNOB_HEIGHT = 0.15, 6, 0.03  # length of waves, in radii; how many; how high, as a share of the radius


class Way(NamedTuple):
    """How one body moves around another; lengths are shares of the smaller body's radius."""

    axis: Floats  # (3,) it goes round this direction, seen from the other body
    lean: float  # radians between the axis and the line from body to body: a quarter turn goes right round
    wobble: float  # radians by which it leans more and less
    turns: int  # of the body about itself, whole ones in a loop
    turn_axis: Floats  # (3,)
    depth: float  # how far beyond the first touch it is pressed


def sphere_and_torus(*, deform: float = 0.0, frames: int = LOOP, seed: int = 0) -> Scene:
    """Return a torus of 2,300 faces and a sphere of 980 that is pressed into its hole.

    After Guy, Debunne 2004, §6.1, table 1.

    From the paper: numbers of faces. Ours: shapes and ways.

    Parameters
    ----------
    deform : float
        Largest gradient of the displacement by which both bodies deform, 0 … 0.5; 0 leaves them rigid.
    frames : int
        The way is closed after 300.
    seed : int
        Of where on its way the body begins, and of the waves.
    """
    torus, sphere = build.torus(0.7, 0.3, 50, 23), build.sphere(980, 0.5)
    way = Way(np.array([0.0, 0.0, 1.0]), 0.05, 0.05, 1, np.array([1.0, 0.4, 0.3]), 0.05)
    return _scene("sphere_and_torus", ("torus", torus), ("sphere", sphere), way, deform, frames, seed)


def horseshoe_and_clover(*, deform: float = 0.0, frames: int = LOOP, seed: int = 0) -> Scene:
    """Return a clover of 10,000 faces and a horseshoe of 2,000 that is pressed on it.

    After Guy, Debunne 2004, §6.1, table 1.

    From the paper: numbers of faces. Ours: shapes and ways.

    Parameters
    ----------
    deform, frames, seed
        As for `sphere_and_torus`.
    """
    way = Way(np.array([0.0, 0.0, 1.0]), 0.5, 0.3, 1, np.array([0.1, 0.05, 1.0]), 0.05)
    return _scene("horseshoe_and_clover", ("clover", build.clover()), ("horseshoe", build.horseshoe()), way, deform, frames, seed)


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

    From the paper: numbers of faces. Ours: shapes and ways.

    Parameters
    ----------
    faces, faces_b : int
        Of the two, even.
    bunny : str, optional
        A file with a mesh in the place of the second: a Stanford bunny has 69,451 faces.
    deform, frames, seed
        As for `sphere_and_torus`.
    """
    dragon = knobbly(build.blob(faces, seed=11, roughness=0.7), 1)
    other = knobbly(build.blob(faces_b, seed=12, roughness=0.7), 2) if bunny is None else _of_radius_one(bunny)
    way = Way(np.array([0.1, 0.2, 1.0]), 0.5 * np.pi, 0.4, 1, np.array([0.5, 1.0, 0.3]), 0.12)
    return _scene("dragon_and_bunny", ("dragon", dragon), ("bunny", other), way, deform, frames, seed)


def knobbly(mesh: Mesh, seed: int) -> Mesh:
    """Return a blob with knobs: each vertex is moved along its ray from the origin, so nothing crosses."""
    rng = np.random.default_rng(seed)
    wave = rng.normal(size=(KNOB_WAVES, 3))
    wave *= 2.0 * np.pi / KNOB / np.linalg.norm(wave, axis=1)[:, None]
    ways = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None]
    height = np.cos(ways @ wave.T + rng.uniform(0.0, 2.0 * np.pi, KNOB_WAVES)).sum(axis=1) / np.sqrt(KNOB_WAVES)
    return Mesh(mesh.vertices * (1.0 + KNOB_HEIGHT * height)[:, None], mesh.faces, name=f"knobbly {mesh.name}")


def _of_radius_one(file: str) -> Mesh:
    """Return the mesh of a file, centred and scaled to fit a ball of radius 1."""
    if not Path(file).is_file():
        raise InputError(f"bunny is {file!r}; there is no such file")
    mesh = load(file)
    points = mesh.vertices - mesh.bounds.mean(axis=0)
    return Mesh(points / np.linalg.norm(points, axis=1).max(), mesh.faces, name=mesh.name)


def _scene(name: str, resting: tuple[str, Mesh], other: tuple[str, Mesh], way: Way, deform: float, frames: int, seed: int) -> Scene:
    """Return the scene of a body at rest and one that moves around it."""
    strain = cast.as_number(deform, "deform")
    if not 0.0 <= strain <= MOST_DEFORM:
        raise InputError(f"deform is {strain}; it must be between 0 and {MOST_DEFORM}")
    frames = cast.as_count(frames, "frames", lowest=1)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    begin = float(rng.uniform(0.0, 2.0 * np.pi))
    (name_a, a), (name_b, b) = resting, other
    loop = track_round(a, b, way, begin, min(frames, LOOP))
    track = np.tile(loop, (-(-frames // len(loop)), 1, 1))[:frames]
    cycles = [Cycle(waves_over(mesh, strain, rng)) if strain > 0.0 else None for mesh in (a, b)]
    kind = f"deforming by {strain:g}" if strain > 0.0 else "rigid"
    return Scene(
        name=name,
        title=f"{name_a} and {name_b}, {len(a.faces):,} and {len(b.faces):,} faces, {kind}, pressed together {VISITS} times",
        bodies=(MovingBody(name_a, a, cycle=cycles[0]), MovingBody(name_b, b, track[0], cycle=cycles[1], track=track)),
        frames=frames,
    )


def track_round(a: Mesh, b: Mesh, way: Way, begin: float, frames: int) -> Floats:
    """Return poses (frames, 4, 4) of b on its path around a, starting apart at an angle (radians)."""
    pair = Pair(a, b)
    reach = sum(float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in (a, b))
    length = min(float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in (a, b))
    first, second = _across(way.axis)
    poses: list[Floats] = []
    place = np.inf
    for frame in range(frames):
        share = frame / LOOP
        angle = begin + 2.0 * np.pi * share
        lean = way.lean + way.wobble * np.sin(2.0 * angle)
        line = np.cos(lean) * way.axis / np.linalg.norm(way.axis) + np.sin(lean) * (np.cos(angle) * first + np.sin(angle) * second)
        turned = rotation_about(way.turn_axis, way.turns * angle)
        touch = _outermost_touch(pair, line, turned, reach)
        wanted = touch + length * (-way.depth if _is_pressed(share) else GAP)
        # The first place is free of it: there is no frame before.
        place = wanted if frame == 0 else place + float(np.clip(wanted - place, -STEP * length, LEAVE * length))
        poses.append(translation(place * line) @ turned)
    return np.stack(poses)


def _is_pressed(share: float) -> bool:
    """Return whether the bodies are pressed together at this part of the loop: the middle of each visit."""
    in_visit = (share * VISITS) % 1.0
    return 0.5 * (1.0 - PRESSED) <= in_visit < 0.5 * (1.0 + PRESSED)


def _outermost_touch(pair: Pair, line: Floats, turned: Floats, reach: float) -> float:
    """Return how far out on a line the second body touches the first, about; 0 if it never does."""
    distances = np.linspace(reach, 0.0, STEPS_INWARDS + 1)
    apart = reach
    for touching in distances.tolist():
        if pair.touches(None, translation(touching * line) @ turned):
            break
        apart = touching
    else:
        return 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (touching + apart)
        if pair.touches(None, translation(middle * line) @ turned):
            touching = middle
        else:
            apart = middle
    return float(touching)


def _across(axis: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors across an axis and each other."""
    first = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 * np.linalg.norm(axis) else (0.0, 1.0, 0.0))
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    return first, second / np.linalg.norm(second)


def waves_over(mesh: Mesh, strain: float, rng: np.random.Generator) -> Floats:
    """Return (PERIOD, n, 3) shapes of a mesh with running waves.

    The gradient of the displacement is at most `strain`.

    Waves are 1 to 2 times as long as the body: what is small on it is carried along and hardly bent.
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
