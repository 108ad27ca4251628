"""The naive baseline beyond the contract: edges, exact test, slices and rows."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.methods.edge_face import edge_face_tests
from jostle.methods.edge_face.edges import EdgeShape, edges_with_their_faces
from jostle.shapes import build
from tests.oracle import rational
from tests.tiny import box, random_pose, random_soup, tetrahedron
from tests.values import segments, triangles


@pytest.mark.small
def test_every_side_of_every_face_is_an_edge_that_knows_its_faces():
    rng = np.random.default_rng(0)
    for mesh in (box(), tetrahedron(), random_soup(rng, 5), jostle.Mesh(np.eye(3), [[0, 0, 0], [0, 1, 1], [0, 1, 2], [2, 1, 0]])):
        shape = edges_with_their_faces(mesh.faces)
        expected: dict = {}
        for number, face in enumerate(mesh.faces.tolist()):
            for side in itertools.pairwise([*face, face[0]]):
                expected.setdefault(tuple(sorted(side)), set()).add(number)
        found = {
            tuple(edge): shape.edge_faces[shape.edge_start[k] : shape.edge_start[k + 1]].tolist()
            for k, edge in enumerate(shape.edges.tolist())
        }
        assert len(found) == len(shape.edges)
        assert found == {edge: sorted(faces) for edge, faces in expected.items()}
    assert len(edges_with_their_faces(box().faces).edges) == 18


@pytest.mark.small
@pytest.mark.parametrize("kind", ["grid", "flat", "random", "degenerate"])
def test_an_edge_meets_a_face_exactly_when_they_share_a_point(kind):
    rng = np.random.default_rng(1)
    met = 0
    for _ in range(200):
        reach = 1 if kind == "degenerate" else 2
        points = rng.integers(-reach, reach + 1, (5, 3)).astype(float) if kind != "random" else rng.normal(size=(5, 3))
        if kind == "flat":
            points[:, 2] = 1.0
        if kind == "degenerate":
            points[4] = points[rng.integers(2, 4)]
            points[1] = points[rng.integers(2)]
        p, q, *face = points.tolist()
        truth = rational.kind([p, q, q], face) != 0
        assert bool(edge_face_tests.edge_meets_face(*segments(points[:2]), *triangles(points[2:]))) == truth, points
        met += truth
    assert 10 < met < 190


@pytest.mark.small
def test_slices_of_one_test_and_no_room_give_the_same_rows():
    rng = np.random.default_rng(2)
    a, b = random_soup(rng, 4), random_soup(rng, 3)
    shape_a, shape_b = edges_with_their_faces(a.faces), edges_with_their_faces(b.faces)
    whole, tests = edge_face_tests.contacts_of_edges(shape_a, a.vertices, shape_b, b.vertices)
    state, rows = np.zeros(edge_face_tests.PROGRESS, np.int64), np.empty((1, 3), np.int32)
    edges = EdgeShape(*(read_only_view(array) for array in shape_a))
    arrays = [read_only_view(array) for array in (a.vertices, b.faces, b.vertices)]
    stops = 0
    while True:
        why = edge_face_tests.scan_edges(edges, *arrays, 1, state, rows)
        if why == edge_face_tests.DONE:
            break
        if why == edge_face_tests.FULL:
            rows = doubled(rows)
        stops += 1
    assert stops >= len(shape_a.edges) * len(b.faces) - 1
    assert len(whole) > 1
    assert rows[: state.view(edge_face_tests.Progress.dtype)["rows"][0]].tolist() == whole.tolist()
    assert tests == len(shape_a.edges) * len(b.faces) + len(whole)


def same_rows(a, b, pose_a=None, pose_b=None, **options):
    found = jostle.collide(a, b, pose_a, pose_b, method="edge_face", **options)
    truth = jostle.collide(a, b, pose_a, pose_b, method="brute_force", **options)
    assert found.to_array().tobytes() == truth.to_array().tobytes()
    return found


def test_spheres_that_cross_and_one_inside_the_other():
    rng = np.random.default_rng(3)
    sphere = build.sphere(168)
    for _ in range(3):
        assert same_rows(sphere, sphere, random_pose(rng, 0.5), random_pose(rng, 0.5)).touching
    assert not same_rows(sphere, sphere.scaled(0.5))
    assert same_rows(sphere, sphere.scaled(0.5), solid=True).pairs.kind.tolist() == [jostle.Kind.B_IN_A]


@pytest.mark.small
def test_the_work_is_edges_times_faces_both_ways_and_nothing_else():
    counters = jostle.collide(box(), tetrahedron(5.0), method="edge_face").counters
    assert counters == jostle.Counters(body_pairs=1, triangle_tests=18 * 4 + 6 * 12)


def test_vertices_at_one_place_may_be_pulled_apart():
    sphere = build.icosphere(1)
    torn = jostle.Mesh(sphere.vertices[sphere.faces].reshape(-1, 3), np.arange(3 * len(sphere.faces)).reshape(-1, 3))
    rows = {}
    for method in ("edge_face", "brute_force"):
        world = jostle.World(method)
        body = world.add(torn, deformable=True)
        world.add(build.icosphere(1), translation((1.2, 0.1, 0.2)))
        world.detect()
        shift = np.random.default_rng(4).normal(size=(len(sphere.faces), 1, 3)) * 0.3
        body.vertices = (torn.vertices.reshape(-1, 3, 3) + shift).reshape(-1, 3)
        rows[method] = world.detect().to_array().tobytes()
    assert rows["edge_face"] == rows["brute_force"]


@pytest.mark.small
def test_any_ends_at_the_first_pair_that_touches():
    world = jostle.World("edge_face")
    for _ in range(3):
        world.add(box())
    world.ignore(0, 1)
    report = world.detect(rows="any")
    assert list(report.pairs) == [(0, 2)]
    assert report.counters.body_pairs == 1


@pytest.mark.small
def test_the_overlay_has_all_edges():
    world = jostle.World("edge_face")
    world.add(box())
    world.add(tetrahedron(3.0))
    segments = world.overlay().segments
    assert segments.shape == (24, 2, 3)
    assert np.array_equal(segments[18:].min(axis=(0, 1)), [3.0, 3.0, 3.0])
    assert np.array_equal(world.overlay("edges").segments, segments)
    with pytest.raises(jostle.InputError, match="what is 'nonsense'; choose one of edges"):
        world.overlay("nonsense")
