"""Rows within a clearance, and closest faces, by columns: those of comparing every face with every face, to the byte."""

import math

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.methods.plain.closest import ClosestSearch, closest_faces
from jostle.methods.plain.face_table import FaceTable
from jostle.methods.plain.rows import PlacedBodies
from jostle.methods.plain.tree import face_order, fit_boxes, plan_trees
from jostle.shapes import build
from tests.oracle import rational
from tests.oracle import rows as oracle
from tests.tiny import box, random_pose, random_soup


def plain(world):
    """Return a plain world with the bodies of another."""
    made = jostle.World("plain")
    for body in world:
        made.add(body.mesh, body.pose)
    return made


def placed(world):
    """Return the bodies of a world in columns."""
    table = FaceTable.of([body.mesh for body in world])
    plan = plan_trees([face_order(body.vertices, body.mesh.faces) for body in world])
    points = np.concatenate([body.world_vertices for body in world]).T
    boxes = fit_boxes(plan, points, table.corners)
    return PlacedBodies(points, table, boxes, float((boxes.upper - boxes.lower)[:, plan.leaf].max()))


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
        assert rows_of(plain(world).detect(clearance=clearance).contacts) == expected
        found += sum(kind == jostle.Kind.NEAR for _, _, kind, _ in expected)
    assert found


@meshes
@places
def test_closest_faces_equal_those_of_all_faces(mesh, place):
    apart = 0
    for world, _ in worlds(mesh, place, 12):
        expected = world.distance(*world.bodies)
        found = plain(world).distance(*range(2))
        assert found.distance == expected.distance
        if found.distance > 0.0:
            assert (found.face_a, found.face_b) == (expected.face_a, expected.face_b)
            assert (found.point_a.tobytes(), found.point_b.tobytes()) == (expected.point_a.tobytes(), expected.point_b.tobytes())
            apart += 1
        else:
            a, b = (oracle.triangles(body) for body in world)
            assert rational.triangles_touch(a[found.face_a], b[found.face_b])
        assert plain(world).distance(1, 0).distance == world.distance(1, 0).distance
    assert apart


def test_closest_faces_are_right_by_rational_arithmetic():
    for world, _ in worlds("soups", "here", 3):
        found, _ = closest_faces(placed(world), 0, 1)
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
    assert closest_faces(placed(world), 0, 1)[0] == (2.0, *min(ties))


@pytest.mark.parametrize("shift", [(2.3, 0.4, 0.1), (2.0 + 1e-9, 0, 0), (30.0, 0, 0)])
def test_a_search_compares_few_of_the_faces(shift):
    """Of 20,480 faces each, and so 420 million pairs."""
    world = jostle.World()
    for number in range(2):
        world.add(build.icosphere(5), number * translation(shift) + (1 - number) * np.eye(4))
    search = ClosestSearch(placed(world), 0, 1)
    search.walk(search.most_promising)
    assert 0 < search.face_tests < 500
    guess = search.best.distance
    search.walk(search.near_enough)
    expected = world.distance(*world.bodies)
    assert search.best == (expected.distance, expected.face_a, expected.face_b)
    assert search.face_tests < 1000
    assert search.node_tests < 30_000
    assert guess < 1.01 * expected.distance + 0.01
