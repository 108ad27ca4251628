"""The scenarios: what is timed, on meshes and poses made from fixed seeds.

Blobs (roughness 0.6) are strongly concave. Their poses along one line give 454 (shallow) and 2,619 (deep) touching face
pairs for 50,000 × 70,000 faces; shallow icospheres of 20,480 faces give 268. The near miss is 0.1 % of the size (the diagonal
of the first mesh's box), the distance scenes 5 %. The continuous scenes start near and move straight into each other, by 1 %
of the size (small step) or a fifth of it (fast). Bodies of the n-body scenes drift and turn, filling 2.5 to 6 % of the volume.
`QUICK` has small meshes in the same poses, so counts and gaps differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.shapes.mesh import Mesh

DIRECTION = np.array([1.0, 0.37, 0.21]) / np.linalg.norm([1.0, 0.37, 0.21])
ROUGHNESS = 0.6
BLOB_SHALLOW, BLOB_DEEP, BLOB_NEAR_MISS, BLOB_APART = 1.037, 0.3, 1.2241, 1.33875
BALL_SHALLOW, BALL_NEAR_MISS, BALL_APART = 1.861, 2.003, 2.173


@dataclass(frozen=True)
class Sizes:
    """The sizes of the scenes."""

    blob_a: int = 50_000  # faces
    blob_b: int = 70_000
    ball: int = 5  # subdivisions of the icosphere: 20 · 4⁵ faces
    batch_blob: int = 10_000
    batch: int = 1_000  # poses
    shuttles: int = 15
    cones: int = 100
    small_meshes: tuple[int, ...] = (1_000, 10_000)
    frames: int = 6
    moving_blob: int = 5_000  # faces


FULL = Sizes()
QUICK = Sizes(5_000, 7_000, 4, 2_000, 100, 8, 20, (200, 1_000), 3, 2_000)


def make_cases(scenario: str, sizes: Sizes = FULL) -> list[Case]:
    """Return the cases of a scenario."""
    if scenario not in SCENARIOS:
        raise InputError(f"there is no scenario {scenario!r}; choose among {', '.join(SCENARIOS)}")
    return SCENARIOS[scenario](sizes)


def _pair_all(sizes: Sizes) -> list[Case]:
    blobs = _blobs(sizes)
    ball = build.icosphere(sizes.ball)
    return [
        _pair("pair-all", "blobs, shallow", "faces", blobs, BLOB_SHALLOW),
        _pair("pair-all", "blobs, deep", "faces", blobs, BLOB_DEEP),
        _pair("pair-all", "icospheres, shallow", "faces", (ball, ball), BALL_SHALLOW),
    ]


def _pair_first(sizes: Sizes) -> list[Case]:
    blobs = _blobs(sizes)
    return [
        _pair("pair-first", "blobs, shallow: first hit", "any", blobs, BLOB_SHALLOW),
        _pair("pair-first", "blobs, near miss at 0.1 % of the size", "any", blobs, BLOB_NEAR_MISS),
    ]


def _build(sizes: Sizes) -> list[Case]:
    return [_pair("build", "both blobs: mesh and tree", "faces", _blobs(sizes), BLOB_SHALLOW)]


def _distance(sizes: Sizes) -> list[Case]:
    ball = build.icosphere(sizes.ball)
    return [
        _pair("distance", "icospheres, 5 % of the size apart", "distance", (ball, ball), BALL_APART),
        _pair("distance", "blobs, 5 % of the size apart", "distance", _blobs(sizes), BLOB_APART),
    ]


def _deform(sizes: Sizes) -> list[Case]:
    a, b = _blobs(sizes)
    b = b.moved(_turned_and_moved(BLOB_SHALLOW))
    frames = tuple((_wobbled(a.vertices, k, 0.0), _wobbled(b.vertices, k, 1.0)) for k in range(sizes.frames))
    name = "both blobs, every vertex moves: update and all face pairs"
    return [_case("deform", name, "faces", (a, b), (0, 1), np.eye(4)[None, None].repeat(2, axis=1), frames)]


def _self(sizes: Sizes) -> list[Case]:
    blob = _blobs(sizes)[0]
    # Travelling waves this strong fold the surface through itself: 728 face pairs at 50,000 faces.
    frames = tuple(
        (np.ascontiguousarray(blob.vertices + 0.4 * np.sin(4.0 * blob.vertices[:, [1, 2, 0]] + 0.02 * k)),)
        for k in range(sizes.frames)
    )
    name = "one blob, every vertex moves: update and all its own face pairs"
    return [_case("self", name, "faces", (blob,), (0,), np.eye(4)[None, None], frames)]


def _batch_poses(sizes: Sizes) -> list[Case]:
    blobs = _two_blobs(sizes.batch_blob, sizes.batch_blob, seed=3)
    rng = np.random.default_rng(3)
    poses = np.tile(np.eye(4), (sizes.batch, 2, 1, 1))
    for k in range(sizes.batch):
        direction = rng.normal(size=3)
        turned = rotation_about(rng.normal(size=3), rng.uniform(0.0, np.pi))
        poses[k, 1] = translation(direction / np.linalg.norm(direction) * rng.uniform(0.7, 1.7)) @ turned  # half of them touch
    return [_case("batch-poses", f"{sizes.batch:,} poses of two blobs, yes or no for each", "any", blobs, (0, 1), poses)]


def _n_body(sizes: Sizes) -> list[Case]:
    shuttle, cone, small = build.shuttle(), build.cone(face_count=300), build.icosphere(1)
    cases = [
        _crowd(f"{sizes.shuttles} shuttles", "faces", shuttle, sizes.shuttles, 0.06, sizes.frames),
        _crowd(f"{sizes.cones} cones", "faces", cone, sizes.cones, 0.05, sizes.frames),
        _crowd(f"{sizes.cones} cones", "bodies", cone, sizes.cones, 0.05, sizes.frames),
    ]
    for count in sizes.small_meshes:
        cases.append(_crowd(f"{count:,} small meshes", "faces", small, count, 0.025, sizes.frames))
    cases.append(_crowd(f"{count:,} small meshes", "bodies", small, count, 0.025, sizes.frames))
    return cases


def _continuous(sizes: Sizes) -> list[Case]:
    ball = build.icosphere(sizes.ball)
    blobs = _two_blobs(sizes.moving_blob, sizes.moving_blob)
    cases = []
    for name, meshes, offset in (("blobs", blobs, BLOB_NEAR_MISS), ("icospheres", (ball, ball), BALL_NEAR_MISS)):
        for speed, share in (("small step", 0.01), ("fast", 0.2)):
            start = np.stack([np.eye(4), _turned_and_moved(offset)])
            end = start.copy()
            end[1, :3, 3] -= DIRECTION * share * meshes[0].size
            title = f"{name}, {speed} of {share:g} times the size"
            cases.append(_case("continuous", title, "time", meshes, (0, 1), np.stack([start, end])))
    return cases


SCENARIOS: dict[str, Callable[[Sizes], list[Case]]] = {
    "pair-all": _pair_all,
    "pair-first": _pair_first,
    "build": _build,
    "deform": _deform,
    "self": _self,
    "distance": _distance,
    "batch-poses": _batch_poses,
    "n-body": _n_body,
    "continuous": _continuous,
}


def _blobs(sizes: Sizes) -> tuple[Mesh, Mesh]:
    return _two_blobs(sizes.blob_a, sizes.blob_b)


def _two_blobs(faces_a: int, faces_b: int, seed: int = 1) -> tuple[Mesh, Mesh]:
    return build.blob(faces_a, seed=seed, roughness=ROUGHNESS), build.blob(faces_b, seed=seed + 1, roughness=ROUGHNESS)


def _turned_and_moved(offset: float) -> Floats:
    pose: Floats = translation(DIRECTION * offset) @ rotation_about((0.3, -0.7, 0.5), 0.9)
    return pose


def _pair(scenario: str, name: str, question: str, meshes: tuple[Mesh, Mesh], offset: float) -> Case:
    poses = np.stack([np.eye(4), _turned_and_moved(offset)])[None]
    return _case(scenario, name, question, meshes, (0, 1), poses)


def _wobbled(vertices: Floats, frame: int, phase: float) -> Floats:
    amplitude = 0.08 * np.sin(0.25 * frame + phase)
    return np.ascontiguousarray(vertices + amplitude * np.sin(2.5 * vertices[:, [1, 2, 0]] + 0.3 * frame + phase))


def _crowd(name: str, question: str, mesh: Mesh, count: int, density: float, frames: int) -> Case:
    """Return drifting, turning copies of a mesh that fill a share of a cube."""
    rng = np.random.default_rng(7)
    edge = (count * mesh.volume / density) ** (1.0 / 3.0)
    place = rng.uniform(0.0, edge, (count, 3))
    velocity = rng.normal(size=(count, 3)) * 0.02 * mesh.size
    axis, angle, spin = rng.normal(size=(count, 3)), rng.uniform(0.0, np.pi, count), 0.05 * rng.normal(size=count)
    poses = np.empty((frames, count, 4, 4))
    for frame in range(frames):
        for body in range(count):
            poses[frame, body] = rotation_about(axis[body], angle[body] + frame * spin[body])
        poses[frame, :, :3, 3] = place + frame * velocity
    name += f" of {len(mesh.faces)} faces, per frame: " + ("all face pairs" if question == "faces" else "which bodies touch")
    return _case("n-body", name, question, (mesh,), (0,) * count, poses)


def _case(
    scenario: str,
    name: str,
    question: str,
    meshes: tuple[Mesh, ...],
    mesh_of_body: tuple[int, ...],
    poses: Floats,
    deformed: tuple[tuple[Floats, ...], ...] | None = None,
) -> Case:
    arrays: list[tuple[Floats, Ints]] = [(np.array(mesh.vertices), np.array(mesh.faces)) for mesh in meshes]
    if scenario != "n-body":
        name += f" ({' × '.join(f'{len(mesh.faces):,}' for mesh in meshes)} faces)"
    return Case(scenario, name, question, tuple(arrays), mesh_of_body, np.ascontiguousarray(poses), deformed)
