"""The contract of solids within a resolution for concave bodies, and of surfaces within one; gated by traits.

What is farther apart is told by the distance of all faces (wide_tree, which is exact) and containment. That bodies meet though
eroded by r is proved by a point that is deeper than r in both: points are sampled in one body, and their depth in each is measured
against all faces in floats, by solid angles and distances. Methods that state "no miss" report all that wide_tree does. Surfaces
that share a point are those of wide_tree.
"""

import functools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.interface.traits import Need, Semantics
from jostle.registry import METHODS
from jostle.shapes import build
from tests.methods.voxmap.prepared_once import prepare_each_mesh_once
from tests.tiny import box, random_pose

CANDIDATES = {name: made() for name, made in METHODS.items()} | {
    "voxmap, an accuracy": jostle.Voxmap(accuracy=0.06),
    "voxmap as in the paper": jostle.Voxmap(across=48, grouped=False, axis=0, broad=None),
    "voxmap, both ways": jostle.Voxmap(across=40, both=True),
    "image_space by stencil": jostle.ImageSpace(test="stencil", view="z"),
    "image_space along three axes": jostle.ImageSpace(resolution=50, view="axes"),
    "image_space, an accuracy": jostle.ImageSpace(accuracy=0.05, view="separating"),
    "image_space, shared depths": jostle.ImageSpace(accuracy=0.05, view="x", share_depth=True),
    "image_space, conservative": jostle.ImageSpace(conservative=True),
    "image_space, conservative, three axes": jostle.ImageSpace(conservative=True, resolution=40, view="axes"),
    "voxmap of surfaces": jostle.Voxmap(across=48, surface_only=True),
    "voxmap of surfaces, an accuracy": jostle.Voxmap(accuracy=0.15, surface_only=True),
}


def within_of(method):
    found = [guarantee for guarantee in method.traits.answers.values() if guarantee.name.endswith(("within", "within share"))]
    return found[0] if found and Need.CONVEX not in method.traits.needs else None


def resolution_of(method, *meshes):
    within = within_of(method)
    return within.value * (
        1.0 if within.name.endswith("within") else max(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in meshes)
    )


def those(semantics):
    found = {name: method for name, method in CANDIDATES.items() if within_of(method) and method.traits.semantics is semantics}
    return pytest.mark.parametrize("method", found.values(), ids=found)


@pytest.fixture(autouse=True)
def _once(monkeypatch):
    prepare_each_mesh_once(monkeypatch)


def inverted(mesh):
    return jostle.Mesh(mesh.vertices, mesh.faces[:, ::-1], name=f"inverted {mesh.name}")


def hollow():
    outer, cavity = build.icosphere(1, 1.0), build.icosphere(1, 0.6)
    faces = np.vstack([outer.faces, cavity.faces[:, ::-1] + len(outer.vertices)])
    return jostle.Mesh(np.vstack([outer.vertices, cavity.vertices]), faces, name="hollow")


BODIES = [
    build.torus(0.7, 0.3, 20, 12),
    build.stellated_dodecahedron(1.0),
    hollow(),
    inverted(build.torus(0.6, 0.35, 16, 10)),
    box(upper=(0.5, 0.8, 0.6)),
]


def depths(mesh, points):
    """How deep points (n,3) are in a closed mesh: the distance from its faces, negative outside; in floats."""
    corners = mesh.vertices[mesh.faces]
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(each, axis=2) for each in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=2)
    below = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
    winding = np.arctan2(volume, below).sum(axis=1) / (2 * np.pi)
    u, v = b - a, c - a
    normal = np.cross(u, v)
    square = np.maximum((normal**2).sum(axis=2), 1e-300)
    s = -(np.cross(a, v) * normal).sum(axis=2) / square
    t = -(np.cross(u, a) * normal).sum(axis=2) / square
    gap = np.where((s >= 0) & (t >= 0) & (s + t <= 1), np.abs((a * normal).sum(axis=2)) / np.sqrt(square), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        along = q - p
        share = np.clip(-(p * along).sum(axis=2) / np.maximum((along**2).sum(axis=2), 1e-300), 0, 1)
        gap = np.minimum(gap, np.linalg.norm(p + share[..., None] * along, axis=2))
    return np.where(np.abs(winding) > 0.5, 1.0, -1.0) * gap.min(axis=1)


@functools.cache
def inner_points(number):
    """Points in a body with their depths, sampled once."""
    mesh = BODIES[number]
    points = np.random.default_rng(number).uniform(*mesh.bounds, (300, 3))
    deep = depths(mesh, points)
    return points[deep > 0], deep[deep > 0]


def meet_though_eroded(a, pose_a, b, pose_b, r):
    """Whether a sampled point of body a is deeper than r in both."""
    points, deep = inner_points(a)
    points = points[deep > r * 1.000001] @ pose_a[:3, :3].T + pose_a[:3, 3]
    local = (points - pose_b[:3, 3]) @ pose_b[:3, :3]
    lower, upper = BODIES[b].bounds
    local = local[((local > lower + r) & (local < upper - r)).all(axis=1)]
    return len(local) > 0 and bool(depths(BODIES[b], local[:60]).max() > r * 1.000001)


def distance(world, exact):
    """The distance of the solids of a world: 0 where faces touch or one contains the other."""
    return 0.0 if len(exact.detect(rows="pairs", solid=True).pairs) else exact.distance(0, 1).distance


@functools.cache
def placings():
    """(numbers and poses of two bodies), from deep in each other to apart, most of them about the first touch."""
    rng = np.random.default_rng(12)
    made = []
    for _ in range(40):
        a, b = rng.integers(len(BODIES), size=2)
        pose_a, pose_b = random_pose(rng, 0.2), random_pose(rng, 0.0)
        away = rng.normal(size=3)
        away *= rng.uniform(0.0, 2.2) / np.linalg.norm(away)
        made.append((int(a), pose_a, int(b), translation(pose_a[:3, 3] + away) @ pose_b))
    # In the cavity, in the hole of the ring, and inside its tube.
    small = len(BODIES) - 1
    made += [(2, np.eye(4), small, translation((-0.25, -0.4, -0.3))), (0, np.eye(4), 2, translation((3.0, 0, 0)))]
    return made


@those(Semantics.SOLID)
def test_concave_solids_are_reported_when_eroded_ones_meet_and_not_when_they_are_apart(method):
    meeting = apart = 0
    for a, pose_a, b, pose_b in placings():
        world, exact = jostle.World(method), jostle.World()
        for each in (world, exact):
            each.add(BODIES[a], pose_a)
            each.add(BODIES[b], pose_b)
        r = resolution_of(method, BODIES[a], BODIES[b])
        reported = len(world.detect(rows="pairs").pairs) > 0
        gap = distance(world, exact)
        far = gap > r
        if within_of(method).name.startswith("no miss"):
            met = gap == 0.0
        else:
            met = not far and (meet_though_eroded(a, pose_a, b, pose_b, r) or meet_though_eroded(b, pose_b, a, pose_a, r))
        meeting, apart = meeting + met, apart + far
        if far or met:
            assert reported == met, f"{BODIES[a].name} and {BODIES[b].name}"
    assert meeting >= 6
    assert apart >= 6


@those(Semantics.SOLID)
def test_a_body_in_a_hole_or_cavity_is_free_and_one_in_the_wall_is_not(method):
    ring, shell, small = build.torus(1.0, 0.4), hollow(), build.icosphere(2, 0.25)
    for other, pose, expected in (
        (ring, None, False),
        (ring, translation((1.0, 0, 0)), True),
        (shell, None, False),
        (shell, translation((0.8, 0, 0)), True),
        (inverted(build.icosphere(2, 1.0)), None, True),
    ):
        for small_first in (False, True):
            world = jostle.World(method)
            bodies = [(other, None), (small, pose)]
            for mesh, place in bodies[::-1] if small_first else bodies:
                world.add(mesh, place)
            assert bool(world.detect()) == expected


@those(Semantics.SURFACE)
def test_surfaces_that_share_a_point_are_reported_and_those_farther_apart_are_not(method):
    rng = np.random.default_rng(3)
    opened = [jostle.Mesh(mesh.vertices, mesh.faces[: 2 * len(mesh.faces) // 3]) for mesh in BODIES]
    sheet = jostle.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.2]], [[0, 1, 2], [0, 2, 3]])
    touching = apart = 0
    for _ in range(40):
        meshes = [[*opened, sheet][int(k)] for k in rng.integers(6, size=2)]
        away = rng.normal(size=3)
        poses = random_pose(rng, 0.1), translation(away * rng.uniform(0.2, 1.6) / np.linalg.norm(away)) @ random_pose(rng, 0.0)
        world, exact = jostle.World(method), jostle.World()
        for each in (world, exact):
            for mesh, pose in zip(meshes, poses, strict=True):
                each.add(mesh, pose)
        gap = 0.0 if exact.detect(rows="pairs") else exact.distance(0, 1).distance
        reported = bool(world.detect())
        touching, apart = touching + (gap == 0.0), apart + (gap > resolution_of(method, *meshes))
        if gap == 0.0 or gap > resolution_of(method, *meshes):
            assert reported == (gap == 0.0)
    assert touching > 5
    assert apart > 5
