"""Rows within a clearance, and closest faces, by columns: those of comparing every face with every face, to the byte."""

import math

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import Vec3
from jostle.methods.plain.closest import ClosestSearch, closest_faces
from jostle.methods.plain.near import WorldFaces, near_kinds, within
from jostle.methods.plain.tree import face_order, fit_boxes, plan_trees, walk
from jostle.shapes import build
from tests.oracle import rational
from tests.oracle import rows as oracle
from tests.tiny import box, random_pose, random_soup


def kinds(a, b):
    """Return the kinds of triangles (corner, coordinate, pair) by the kernel."""
    made = [[Triangle(*(Vec3(*corner) for corner in t)) for t in np.moveaxis(side, 2, 0).tolist()] for side in (a, b)]
    return np.array([triangles_touch(*pair) for pair in zip(*made, strict=True)], np.uint8)


def placed(world):
    """Return the boxes and the faces of a world."""
    bodies = world.bodies
    starts = np.cumsum([0, *(len(body.vertices) for body in bodies)])
    faces = WorldFaces(
        np.concatenate([body.world_vertices for body in bodies]).T.copy(),
        np.concatenate([body.mesh.faces + start for body, start in zip(bodies, starts, strict=False)]).T.astype(np.int64),
    )
    plan = plan_trees([face_order(body.vertices, body.mesh.faces) for body in bodies])
    return fit_boxes(plan, *faces), faces


def near_rows(world, clearance):
    """Return face_a, face_b, kind and distance of the first two bodies of a world, sorted."""
    boxes, faces = placed(world)
    found = []
    for pairs in walk(boxes.plan, np.array([0]), np.array([1]), within(boxes, clearance)):
        kind, distance = near_kinds(faces.triangles(pairs.face_a), faces.triangles(pairs.face_b), clearance, kinds)
        found += zip(pairs.face_a.tolist(), pairs.face_b.tolist(), kind.tolist(), distance.tolist(), strict=True)
    count = len(world.bodies[0].mesh.faces)
    return sorted((i, j - count, kind, distance) for i, j, kind, distance in found if kind)


def rows_of(contacts):
    return list(zip(*(getattr(contacts, name).tolist() for name in ("face_a", "face_b", "kind", "distance")), strict=True))


def on_a_grid(rng):
    points = rng.integers(-2, 3, (12, 3)).astype(float)
    return jostle.Mesh(points, rng.integers(0, 12, (17, 3)))


def flat(rng):
    points = rng.integers(-3, 4, (12, 3)) * [1.0, 1.0, 0.0]
    return jostle.Mesh(points, rng.integers(0, 12, (17, 3)))


def nothing_but_lines(rng):
    return jostle.Mesh(rng.integers(-2, 3, (6, 3)) * 0.1, [[i, j, j] for i in range(6) for j in range(i)] + [[0, 0, 0]])


MESHES = {
    "soups": lambda rng: random_soup(rng, 21),
    "grid": on_a_grid,
    "coplanar": flat,
    "lines and points": nothing_but_lines,
    "boxes": lambda rng: box(),
    "blobs": lambda rng: build.icosphere(1),
    "one face": lambda rng: random_soup(rng, 1),
    "shared corners": lambda rng: build.icosphere(1).scaled(2.0),
}
PLACES = {"here": (1.0, 0.0), "1e7 away": (1.0, 1e7), "1e-9 small": (1e-9, 0.0), "mixed": (None, 0.0)}
meshes = pytest.mark.parametrize("mesh", MESHES)
places = pytest.mark.parametrize("place", PLACES)


def worlds(mesh, place, count, method="brute_force"):
    """Yield worlds of two bodies, and a length of their size."""
    rng = np.random.default_rng([*mesh.encode(), *place.encode()])
    scale, offset = PLACES[place]
    for k in range(count):
        world = jostle.World(method)
        size = 10.0 ** rng.uniform(-9, 9) if scale is None else scale
        shift = rng.integers(-4, 5, 3) / 2.0 if k % 2 else 3.0 * rng.normal(size=3)
        for number in range(2):
            other = size * 10.0 ** rng.uniform(-6, 0) if scale is None and number else size
            pose = np.eye(4) if k % 2 else random_pose(rng, 0.0)
            pose[:3, 3] = size * number * shift + offset
            world.add(MESHES[mesh](rng).scaled(other), pose)
        yield world, size


@meshes
@places
def test_rows_within_a_clearance_equal_those_of_all_faces(mesh, place):
    found = 0
    for k, (world, size) in enumerate(worlds(mesh, place, 12)):
        clearance = size * (0.3, 1.0, 2.5)[k % 3]
        expected = rows_of(world.detect(clearance=clearance).contacts)
        assert near_rows(world, clearance) == expected
        found += sum(kind == jostle.Kind.NEAR for _, _, kind, _ in expected)
    assert found


@meshes
@places
def test_closest_faces_equal_those_of_all_faces(mesh, place):
    apart = 0
    for world, _ in worlds(mesh, place, 12):
        expected = world.distance(*world.bodies)
        boxes, faces = placed(world)
        found = closest_faces(boxes, faces, 0, 1, kinds)
        count = len(world.bodies[0].mesh.faces)
        assert found.distance == expected.distance
        if found.distance > 0.0:
            assert (found.face_a, found.face_b - count) == (expected.face_a, expected.face_b)
            apart += 1
        else:
            a, b = (oracle.triangles(body) for body in world)
            assert rational.triangles_touch(a[found.face_a], b[found.face_b - count])
    assert apart


def test_closest_faces_are_right_by_rational_arithmetic():
    for world, _ in worlds("soups", "here", 3):
        found = closest_faces(*placed(world), 0, 1, kinds)
        a, b = (oracle.triangles(body) for body in world)
        least = min(rational.squared_distance(one, other) for one in a for other in b)
        assert math.isclose(found.distance, math.sqrt(least), rel_tol=1e-13, abs_tol=0.0)


def test_ties_go_to_the_lowest_faces():
    world = jostle.World("brute_force")
    world.add(box())
    world.add(box(), translation((3.0, 0.25, 0.0)))
    a, b = (oracle.triangles(body) for body in world)
    ties = [(i, j) for i, one in enumerate(a) for j, other in enumerate(b) if rational.squared_distance(one, other) == 4]
    assert len(ties) > 4
    assert closest_faces(*placed(world), 0, 1, kinds) == (2.0, min(ties)[0], min(ties)[1] + len(a))


@pytest.mark.parametrize("shift", [(2.3, 0.4, 0.1), (2.0 + 1e-9, 0, 0), (30.0, 0, 0)])
def test_a_search_compares_few_of_the_faces(shift):
    """Of 20,480 faces each, and so 420 million pairs."""
    world = jostle.World()
    for number in range(2):
        world.add(build.icosphere(5), number * translation(shift) + (1 - number) * np.eye(4))
    boxes, faces = placed(world)
    search = ClosestSearch(boxes, faces, 0, 1, kinds)
    one, other = np.array([0]), np.array([1])
    for pairs in walk(boxes.plan, one, other, search.most_promising):
        search.compare(pairs)
    assert 0 < search.face_tests < 500
    guess = search.best.distance
    for pairs in walk(boxes.plan, one, other, search.near_enough):
        search.compare(pairs)
    expected = world.distance(*world.bodies)
    assert search.best == (expected.distance, expected.face_a, expected.face_b + 20480)
    assert search.face_tests < 5000
    assert guess < 1.01 * expected.distance + 0.01
