"""Hull distances against analysis and all faces; support points against fractions."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.geometry.gjk import (
    APART,
    INSIDE,
    MEET,
    ROUNDING,
    UNDECIDED,
    empty_search,
    found_by,
    hull_distance,
    hulls_of,
    search_hulls,
)
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.support import (
    across_flat_sides,
    farthest_by_climbing,
    farthest_by_scan,
    farthest_point,
    neighbours_of_vertices,
    welded_points,
)
from jostle.geometry.vector import Vec3
from jostle.kernels.arrays import read_only_view
from jostle.shapes import build
from jostle.shapes.hull import hull_faces
from tests.oracle import solids
from tests.tiny import box, random_pose

NONE = read_only_view(np.empty(0, np.int32))


def search(points_a, points_b, wanted, share, vertex=(), direction=(1.0, 0.0, 0.0)):
    """Search from a simplex or along a direction; return (status, found, simplex)."""
    hulls, made = hulls_of(points_a, points_b), empty_search()
    found, corners = found_by(made), made.array(0, 0)
    found["normal"], found["count"] = direction, len(vertex)
    for corner, (i, j) in zip(corners, vertex, strict=False):
        corner["vertex_a"], corner["vertex_b"] = i, j
    status = search_hulls(hulls.table, np.array([np.eye(4)] * 2), wanted, share, 1e-14, made.table[0])
    return status, found, [(int(c["vertex_a"]), int(c["vertex_b"])) for c in corners[: found["count"]]]


@pytest.mark.small
def test_boxes_on_a_grid_have_the_distance_of_analysis():
    for steps in itertools.product((-2, 0, 1, 2), repeat=3):
        gaps = [max(0, abs(step) - 1) for step in steps]
        distance, point_a, point_b, error = hull_distance(box().vertices, box().vertices + np.array(steps, float))
        assert distance == pytest.approx(np.linalg.norm(gaps), abs=1e-14)
        assert error <= 1e-14
        assert np.linalg.norm(point_b - point_a) == pytest.approx(distance, abs=1e-14)
        assert ((point_a >= -1e-14) & (point_a <= 1 + 1e-14)).all()


@pytest.mark.small
def test_points_segments_and_triangles_are_hulls_too():
    point, segment = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, -1.0, 0.0], [1.0, 3.0, 0.0]])
    triangle = np.array([[-1.0, -1.0, 2.0], [4.0, -1.0, 2.0], [-1.0, 4.0, 2.0]])
    assert hull_distance(point, point)[0] == 0.0
    assert hull_distance(point, point + 3.0)[0] == pytest.approx(3 * np.sqrt(3), rel=1e-15)
    assert hull_distance(point, segment)[0] == 1.0
    assert hull_distance(point, triangle)[0] == 2.0
    assert hull_distance(segment, triangle)[0] == 2.0
    assert hull_distance(segment, np.array([[0.0, 0.5, 0.0], [2.0, 0.5, 0.0]]))[0] == 0.0  # they cross
    assert hull_distance(segment, segment + np.array([0.0, 5.0, 0.0]))[0] == pytest.approx(1.0, abs=1e-15)  # on one line
    assert hull_distance(triangle, triangle[::-1])[0] == 0.0
    doubled = np.repeat(triangle, 3, axis=0)
    assert hull_distance(doubled, point)[0] == 2.0


@pytest.mark.small
def test_a_common_point_is_in_both_hulls():
    rng = np.random.default_rng(4)
    for _ in range(10):
        shift = rng.uniform(-0.9, 0.9, 3)
        distance, point_a, point_b, _ = hull_distance(box().vertices, box().vertices, None, translation(shift))
        assert distance == 0.0
        assert (point_a == point_b).all()
        assert (point_a >= np.maximum(shift, 0) - 1e-14).all()
        assert (point_a <= np.minimum(shift, 0) + 1 + 1e-14).all()


def hulls(kind, rng):
    """Two sets of points of which not all are corners."""
    if kind == "flat":
        return rng.normal(size=(20, 3)) * [1, 1, 1e-7], rng.normal(size=(20, 3)) * [1, 1, 1e-9]
    if kind == "plane":
        return rng.normal(size=(20, 3)) * [1, 1, 0], rng.normal(size=(20, 3)) * [1, 1, 0]
    if kind == "needle":
        return rng.normal(size=(20, 3)) * [1, 1e-7, 1e-5], rng.normal(size=(20, 3)) * [1, 1e-9, 1e-6]
    if kind == "box":
        return box(upper=rng.uniform(0.1, 1, 3)).vertices, box(upper=rng.uniform(0.1, 1, 3)).vertices
    if kind == "large and small":
        return rng.normal(size=(20, 3)), 1e-3 * rng.normal(size=(20, 3))
    if kind == "smooth":
        points = rng.normal(size=(1500, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
        return points * [1, 0.5, 0.1], points * [0.3, 1, 0.01]
    return rng.normal(size=(20, 3)), rng.normal(size=(20, 3))


@pytest.mark.parametrize("kind", ["general", "flat", "plane", "needle", "box", "large and small", "smooth"])
def test_a_shift_along_the_line_between_the_closest_points_changes_the_distance_by_its_length(kind):
    """Closest points stay closest when one hull moves along their line.

    It holds down to 1e-10 of the size.
    """
    rng = np.random.default_rng(2)
    for scale, gap in itertools.product((1e-3, 1.0, 1e4), (1e-1, 1e-6, 1e-10)):
        for _ in range(8):
            points_a, points_b = (scale * points for points in hulls(kind, rng))
            pose_a, pose_b = random_pose(rng, scale), random_pose(rng, scale)
            pose_b[:3, 3] += 12 * scale * np.array([1, 0.3, 0.2])
            distance, a, b, error = hull_distance(points_a, points_b, pose_a, pose_b)
            assert error <= 1e-13 * scale
            normal = (b - a) / distance
            for _ in range(2):  # twice, because the translation itself is rounded
                pose_b[:3, 3] += (gap * scale - distance) * normal
                distance, a, b, error = hull_distance(points_a, points_b, pose_a, pose_b)
            assert abs(distance - gap * scale) <= 4e-15 * 15 * scale
            assert error <= 4e-15 * 15 * scale


def test_polytopes_have_the_distance_of_all_their_faces():
    rng = np.random.default_rng(8)
    apart = 0
    for k in range(40):
        mesh_a, mesh_b = build.polytope36(k % 5), build.polytope36(k % 7 + 10)
        pose_a, pose_b = random_pose(rng, 0.7), random_pose(rng, 0.7)
        corners = [(m.vertices @ p[:3, :3].T + p[:3, 3])[m.faces] for m, p in ((mesh_a, pose_a), (mesh_b, pose_b))]
        distance = hull_distance(mesh_a.vertices, mesh_b.vertices, pose_a, pose_b)[0]
        if distance > 0:
            assert distance == pytest.approx(solids.distance(*corners), abs=1e-14)
            apart += 1
        else:
            assert solids.largest_erosion(*(c.tolist() for c in corners)) >= 0
    assert 10 < apart < 35


@pytest.mark.small
def test_a_search_ends_with_a_plane_that_separates_or_a_proof_that_none_does():
    cube = box().vertices
    status, found, _ = search(cube, cube + np.array([1.5, 0.2, 0.1]), 0.1, 0.5)
    assert status == APART
    assert 0.25 <= found["lower"] <= 0.5 + 1e-15
    normal = found["normal"]
    assert (cube @ normal).max() < ((cube + np.array([1.5, 0.2, 0.1])) @ normal).min()
    assert search(cube, cube + np.array([1.5, 0.2, 0.1]), 0.6, 0.5)[0] == MEET  # nearer than wanted
    status, found, vertex = search(cube, cube + np.array([0.5, 0.2, 0.1]), 1e-9, 0.5)
    assert (status, found["count"]) == (INSIDE, 4)
    assert found["upper"] == 0.0
    # The simplex of the last search answers the next one in no step at all.
    status, found, _ = search(cube, cube + np.array([0.51, 0.21, 0.11]), 1e-9, 0.5, vertex)
    assert (status, found["steps"]) == (INSIDE, 0)
    status, found, _ = search(cube, cube + np.array([1.0, 0.2, 0.1]), 1e-9, 0.5)
    assert status == MEET
    assert found["lower"] == pytest.approx(0.0, abs=1e-14)  # the plane of the touching faces


def lump_in_needle(seed):
    """Points of a needle 1e5 long and of a lump about one of its points.

    The middle of the lump is in both hulls.
    """
    rng = np.random.default_rng(seed)
    needle, lump = rng.normal(size=(8, 3)) * [1e5, 4e-3, 8e-2], rng.normal(size=(8, 3)) * 0.02
    lump += rng.dirichlet(np.ones(8)) @ needle - lump.mean(axis=0)
    turn = random_pose(rng)[:3, :3].T
    return needle @ turn, lump @ turn


@pytest.mark.small
def test_a_search_that_gives_up_says_so():
    """Such hulls overlap by construction: no plane may separate them."""
    seen = []
    for seed in range(60):
        needle, lump = lump_in_needle(seed)
        for a, b in ((needle, lump), (lump, needle)):
            status, found, _ = search(a, b, 5e-7, 0.5)
            assert status != APART
            assert status != UNDECIDED or (found["lower"] <= 5e-7 and found["upper"] > 1e-6)
            seen.append(status)
        distance, _, _, error = hull_distance(needle, lump)
        assert distance - error <= 0.0
    assert {INSIDE, UNDECIDED} <= set(seen)


def test_all_triangles_settle_what_a_search_gives_up_on():
    for seed in range(30):
        needle, lump = lump_in_needle(seed)
        surfaces = needle, hull_faces(needle), lump, hull_faces(lump)
        distance, point_a, point_b = closest_of_all_triangles(*surfaces)
        assert distance <= 1e-9
        assert np.linalg.norm(point_b - point_a) == pytest.approx(distance, abs=1e-9)


@pytest.mark.small
def test_all_triangles_know_what_is_inside_and_how_far_apart_the_rest_is():
    outer, inner, faces = box().vertices, 0.2 * box().vertices + 0.4, box().faces
    for a, b in ((outer, inner), (inner, outer), (outer, outer)):
        distance, point_a, point_b = closest_of_all_triangles(a, faces, b, faces)
        assert distance == 0.0
        assert (point_a == point_b).all()
    for shift in ((2.0, 0.0, 0.0), (2.0, 2.5, 0.3), (-3.0, 1.0, 4.0)):
        distance, point_a, point_b = closest_of_all_triangles(outer, faces, outer + np.array(shift), faces)
        assert distance == pytest.approx(np.linalg.norm(np.maximum(np.abs(shift) - 1.0, 0.0)), abs=1e-15)
        assert np.linalg.norm(point_b - point_a) == pytest.approx(distance, abs=1e-15)


@pytest.mark.small
def test_every_start_leads_to_the_same_distance():
    rng = np.random.default_rng(6)
    points_a, points_b = rng.normal(size=(12, 3)), rng.normal(size=(12, 3)) + np.array([5.0, 1.0, 0.0])
    expected = hull_distance(points_a, points_b)[0]
    for _ in range(20):
        vertex = rng.integers(0, 12, (4, 2))
        for count in range(5):
            status, found, _ = search(points_a, points_b, 1e-12, 1.0, vertex[:count], rng.normal(size=3))
            assert status == APART
            assert found["upper"] == pytest.approx(expected, abs=1e-14)
            assert found["lower"] == pytest.approx(expected, abs=1e-14)


def test_the_error_that_is_stated_is_not_exceeded_where_rounding_is_worst():
    """Far from the origin, the answer is right for the rounded world vertices."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        pose = translation(rng.uniform(-1e7, 1e7, 3)) @ rotation_about(rng.normal(size=3), rng.uniform(0, 6))
        gap = 1e-3
        distance, _, _, error = hull_distance(box().vertices, box().vertices, pose, pose @ translation((1 + gap, 0.3, 0.2)))
        assert abs(distance - gap) <= ROUNDING * 2e7
        assert error <= ROUNDING * 2e7


@pytest.mark.small
def test_climbing_ends_as_high_as_a_scan():
    rng = np.random.default_rng(0)
    for mesh in (build.icosphere(2), build.polytope36(2), build.sphere(120)):
        first, near = neighbours_of_vertices(mesh.edges, len(mesh.vertices))
        points = read_only_view(mesh.vertices.reshape(-1))
        for _ in range(40):
            direction = rng.normal(size=3)
            heights = mesh.vertices @ direction
            start = int(rng.integers(len(mesh.vertices)))
            climbed = farthest_by_climbing(points, first, near, Vec3(*direction), start)
            assert heights[climbed] >= heights.max() - 1e-15
            assert heights[farthest_by_scan(points, Vec3(*direction))] >= heights.max() - 1e-15
            assert farthest_point(points, first, near, Vec3(*direction), start) == climbed
            assert farthest_point(points, NONE, NONE, Vec3(*direction), start) == farthest_by_scan(points, Vec3(*direction))


@pytest.mark.small
def test_climbing_leaves_a_flat_side_along_whose_normal_it_looks():
    """All neighbours of a vertex within the side are level with it.

    Yet half of the body may be higher.
    """
    cone = build.cone(90)
    cube = jostle.Mesh(*finely_cut_cube(6))
    for mesh in (cone, cube):
        links = across_flat_sides(mesh.vertices, mesh.faces, mesh.face_normals)
        first, near = neighbours_of_vertices(mesh.edges, len(mesh.vertices), links)
        assert len(links) > 0
        for direction in np.vstack([np.eye(3), -np.eye(3), np.eye(3) + 1e-17]):
            heights = mesh.vertices @ direction
            for start in range(len(mesh.vertices)):
                climbed = farthest_by_climbing(read_only_view(mesh.vertices.reshape(-1)), first, near, Vec3(*direction), start)
                assert heights[climbed] >= heights.max() - 1e-15


def finely_cut_cube(cuts):
    """Vertices and faces of a cube whose sides have vertices within them."""
    at = {}
    faces = []
    for axis in range(3):
        for side in (0, cuts):
            for i, j in itertools.product(range(cuts), repeat=2):
                quad = []
                for u, v in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    place = [u, v]
                    place.insert(axis, side)
                    quad.append(at.setdefault(tuple(place), len(at)))
                if (side == 0) != (axis == 1):
                    quad.reverse()
                faces += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return np.array(list(at), float) / cuts, np.array(faces)


@pytest.mark.small
def test_neighbours_and_welded_points():
    mesh = box()
    first, near = neighbours_of_vertices(mesh.edges, 8)
    for k in range(8):
        expected = sorted({int(e) for edge in mesh.edges.tolist() for e in edge if k in edge} - {k})
        assert near[first[k] : first[k + 1]].tolist() == expected
    points = np.array([[0.0, 1.0, 2.0], [-0.0, 1.0, 2.0], [3.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    assert welded_points(points).tolist() == [0.0, 1.0, 2.0, 3.0, 1.0, 2.0]
