"""Closest features against brute force over all faces: long motions, the cases in which walks run in circles, penetration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.gjk import hull_distance
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import pose_at
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import length, minus, point_from, write_point_from
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.traits import Need
from jostle.kernels.jit import kernel
from jostle.methods.brute_force.closest_faces import find_closest_faces
from jostle.methods.closest_features import fallback, method
from jostle.methods.closest_features.certificate import Body, proven_gap, world_points
from jostle.methods.closest_features.method import ClosestFeatures
from jostle.methods.closest_features.pairs import DONE, UNPROVEN, PolytopePoses, SettledPairs
from jostle.methods.closest_features.polyhedron import FACE, VERTEX, Polytope, open_polytope, polytope_arrays
from jostle.methods.closest_features.regions import Feature
from jostle.methods.closest_features.walk import Side
from jostle.report.report import Kind
from jostle.shapes import build
from jostle.shapes.hull import hull
from jostle.shapes.mesh import Mesh
from tests.oracle import rational
from tests.tiny import box, random_pose, relative_pose, tetrahedron

SMALL = pytest.mark.small
FINE = ClosestFeatures(resolution=1e-9)


def is_inside(points, corners):
    """Which points are behind all faces, with corners (m,3,3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return ((points[:, None] - corners[None, :, 0]) * normal[None]).sum(axis=2).max(axis=1) <= 0.0


def true_distance(body_a, body_b):
    """Of two solids with convex surfaces: by all pairs of faces, and 0 where a vertex of one is inside the other."""
    a, b = np.array(body_a.world_vertices), np.array(body_b.world_vertices)
    if is_inside(a, b[body_b.mesh.faces]).any() or is_inside(b, a[body_a.mesh.faces]).any():
        return 0.0
    return find_closest_faces(a, body_a.mesh.faces, b, body_b.mesh.faces).distance


def world_of(method, *bodies):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def check(world, clearance=np.inf, resolution=1e-9):
    """Compare every pair of a world with the truth; returns the distances."""
    report = world.detect(rows="pairs", clearance=min(clearance, 1e6))
    found = {
        pair: (d, k) for pair, d, k in zip(report.pairs, report.pairs.distance.tolist(), report.pairs.kind.tolist(), strict=True)
    }
    for a, b in itertools.combinations(world, 2):
        true = true_distance(a, b)
        if (a.id, b.id) not in found:
            assert true > clearance - resolution
            continue
        distance, kind = found[a.id, b.id]
        assert abs(distance - true) <= resolution, (a, b)
        assert (kind == Kind.NEAR) == (distance > 0.5 * resolution)
        assert true < clearance + resolution
    return report


SHAPES = {
    "sphere 48": build.sphere(48, 0.6),
    "sphere 168": build.sphere(168, 0.6),
    "box": build.box(),
    "polytope": build.polytope36(1),
    "cone": build.cone(),
    "capsule": build.capsule(),
    "plate": hull(np.random.default_rng(1).normal(size=(30, 3)) * [0.6, 0.6, 1e-3]),
    "needle": hull(np.random.default_rng(2).normal(size=(20, 3)) * [0.8, 1e-3, 1e-3]),
    "grid hull": hull(np.random.default_rng(3).integers(-2, 3, (30, 3)) * 0.25),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_long_motion_of_one_shape_among_all_others(name):
    random = np.random.default_rng(list(name.encode()))
    meshes = [SHAPES[name], *SHAPES.values()]
    world = world_of(FINE, *((mesh, None) for mesh in meshes))
    for body in world.bodies[1:]:
        for other in world.bodies[1:]:
            if body.id < other.id:
                world.ignore(body, other)
    n = len(meshes)
    place, turn = random.normal(size=(n, 3)) * 0.5, [rotation_about(random.normal(size=3), 0.08) for _ in range(n)]
    velocity, poses = random.normal(size=(n, 3)) * 0.03, np.array([random_pose(random) for _ in range(n)])
    fallbacks, seen = 0, set()
    for _ in range(40):
        place += velocity
        velocity -= 0.01 * place
        poses = np.array([pose @ t for pose, t in zip(poses, turn, strict=True)])
        poses[:, :3, 3] = place
        world.set_poses(poses)
        report = world.detect(rows="pairs", clearance=100.0)
        fallbacks += report.counters.look_ups
        assert list(report.pairs) == [(0, k) for k in range(1, n)]
        for other, distance in zip(world.bodies[1:], report.pairs.distance, strict=True):
            assert abs(distance - true_distance(world[0], other)) <= 1e-9, other
            seen.add(distance == 0.0)
    assert seen == {True, False}
    assert fallbacks <= 4  # of 360 pairs: the walk settles nearly all


@pytest.mark.parametrize("faces", [48, 80, 360, 960])
def test_spheres_of_the_paper_meet_and_part(faces):
    mesh = build.sphere(faces)
    random = np.random.default_rng(faces)
    world = world_of(ClosestFeatures(), (mesh, None), (mesh, translation((3.0, 0.1, 0.2))))
    spin = [rotation_about(random.normal(size=3), np.pi / 18) for _ in range(2)]
    poses, kinds = world.poses.copy(), []
    for step in np.cos(np.linspace(0.0, 2.0 * np.pi, 60)):
        poses = poses @ np.array(spin)
        poses[1, :3, 3] = (2.0 + step, 0.1, 0.2)
        world.set_poses(poses)
        report = check(world, resolution=1e-6)
        kinds.append(int(report.pairs.kind[0]))
    assert {Kind.NEAR, Kind.CROSSING} <= set(kinds)


def turns_of_a_cube():
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            pose = np.zeros((4, 4))
            pose[axes, range(3)], pose[3, 3] = signs, 1.0
            if np.linalg.det(pose) > 0:
                yield pose


def test_cubes_face_to_face_edge_to_edge_and_corner_to_corner_in_all_turns():
    """Parallel faces and edges, where closest points are many: the walk must end all the same, without help."""
    cube = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    world = world_of(FINE, (cube, None), (cube, None))
    fallbacks = 0
    for turn, shift in itertools.product(turns_of_a_cube(), itertools.product((0.0, 0.5, 1.0, 1.5, -1.25), repeat=3)):
        world.set_poses(np.stack([np.eye(4), translation(shift) @ turn]))
        report = world.detect(rows="pairs", clearance=10.0)
        gap = np.maximum(np.abs(shift) - 1.0, 0.0)
        assert report.pairs.distance[0] == pytest.approx(np.linalg.norm(gap), abs=1e-12)
        overlap = np.max(np.abs(shift) - 1.0)
        assert report.pairs.kind[0] == (Kind.NEAR if overlap > 0 else Kind.TOUCHING if overlap == 0 else Kind.CROSSING), shift
        fallbacks += report.counters.look_ups
    assert fallbacks == 0


def test_parallel_bodies_under_common_rotations_and_offsets():
    """The same cases after rounding: what was parallel is so but for some bits."""
    random = np.random.default_rng(5)
    cube = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    world = world_of(ClosestFeatures(resolution=1e-6), (cube, None), (cube, None))
    fallbacks = cases = 0
    for offset, shift in itertools.product((0.0, 10.0, 1e4), itertools.product((0.0, 0.5, 1.0, 1.5), repeat=3)):
        pose = translation(np.full(3, offset)) @ random_pose(random)
        world.set_poses(np.stack([pose, pose @ translation(shift)]))
        report = world.detect(rows="pairs", clearance=10.0)
        gap = np.linalg.norm(np.maximum(np.abs(shift) - 1.0, 0.0))
        assert report.pairs.distance[0] == pytest.approx(gap, abs=1e-6)
        assert (report.pairs.distance[0] == 0.0) == (gap == 0.0)
        overlap = np.max(np.abs(shift) - 1.0)
        assert report.pairs.kind[0] == (Kind.NEAR if overlap > 0 else Kind.TOUCHING if overlap == 0 else Kind.CROSSING), shift
        fallbacks += report.counters.look_ups
        cases += 1
    assert fallbacks < 0.05 * cases


@SMALL
@pytest.mark.parametrize(("gap", "kind"), [(0.0, Kind.TOUCHING), (-0.01, Kind.CROSSING), (0.01, Kind.NEAR)])
def test_edges_and_corners_that_meet_crosswise(gap, kind):
    """No face parts such bodies: only the plane along an edge of each."""
    cube = box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    height = 2.0 * 2.0**0.5 + gap
    edge_below, edge_above = rotation_about((1, 0, 0), np.pi / 4), rotation_about((0, 1, 0), np.pi / 4)
    for turn in np.linspace(0.0, 0.6, 5):
        world = world_of(
            ClosestFeatures(),
            (cube, edge_below),
            (cube, translation((0, 0, height)) @ rotation_about((0, 0, 1), turn) @ edge_above),
        )
        report = world.detect(rows="pairs", clearance=1.0)
        assert report.pairs.distance[0] == pytest.approx(max(gap, 0.0), abs=1e-9)
        assert report.pairs.kind[0] == kind
    # Two tetrahedra tip to tip, each leaning by as much as its own faces: the plane between them belongs to no face.
    tip = Mesh([[0, 0, 0], [3, 1, 1], [1, 3, 1], [-1, -1, 1]], tetrahedron().faces[:, ::-1]).vertices
    up, down = hull(tip), hull(-tip @ rotation_about((0, 0, 1), 0.5)[:3, :3])
    report = world_of(ClosestFeatures(), (down, None), (up, translation((0, 0, gap)))).detect(rows="pairs", clearance=1.0)
    assert report.pairs.kind[0] == kind


@kernel
def bodies_and_sides(shapes, poses, move):
    one, other = open_polytope(shapes, 0), open_polytope(shapes, 1)
    a, b = Body(one, pose_at(poses, 0)), Body(other, pose_at(poses, 1))
    return a, b, Side(one, pose_at(move, 1)), Side(other, pose_at(move, 0))


@kernel
def points_of_features(shapes, poses, move, kind_a, index_a, kind_b, index_b, points):
    """Write the closest points (6,) of two features, and return their distance."""
    a, b, side_a, side_b = bodies_and_sides(shapes, poses, move)
    closest = world_points(a, b, side_a, side_b, Feature(kind_a, index_a), Feature(kind_b, index_b))
    write_point_from(points, 0, closest.p)
    write_point_from(points, 3, closest.q)
    return length(minus(closest.q, closest.p))


@kernel
def gap_of_features(shapes, poses, move, kind_a, index_a, kind_b, index_b, points, distance, error):
    """Return the gap that is proven for two features and their closest points (6,)."""
    a, b, _, _ = bodies_and_sides(shapes, poses, move)
    closest = Segment(point_from(points, 0), point_from(points, 3))
    return proven_gap(a, b, Feature(kind_a, index_a), Feature(kind_b, index_b), closest, distance, error)


@SMALL
def test_the_certificate_proves_the_closest_features_and_no_others():
    shapes = Polytope.tables([polytope_arrays(FINE.prepare_shape(mesh)) for mesh in (box(), build.icosahedron(0.5))])
    poses = np.array([np.eye(4), translation((1.7, 0.5, 0.45))])
    move = np.array([relative_pose(*poses), relative_pose(*poses[::-1])])
    points, bodies = np.empty(6), (shapes.table, poses, move)
    true = true_distance(*world_of(FINE, (box(), poses[0]), (build.icosahedron(0.5), poses[1])))
    proofs = 0
    for v, e in itertools.product(range(8), range(12)):
        distance = points_of_features(*bodies, VERTEX, v, VERTEX, e, points)
        gap = gap_of_features(*bodies, VERTEX, v, VERTEX, e, points, distance, 1e-9)
        assert gap <= true + 1e-12
        assert (gap >= distance - 1e-9) == (distance <= true + 1e-9)
    for v, f in itertools.product(range(12), range(6)):
        distance = points_of_features(*bodies, FACE, f, VERTEX, v, points)
        gap = gap_of_features(*bodies, FACE, f, VERTEX, v, points, distance, 1e-9)
        assert gap <= true + 1e-12
        proofs += gap >= distance - 1e-9 and distance >= true - 1e-9
    assert proofs == 1
    # So near that the points give no direction, the face does.
    poses[1, 0, 3] += 1e-13 - true
    move[:] = relative_pose(*poses), relative_pose(*poses[::-1])
    found = [(points_of_features(*bodies, FACE, f, VERTEX, v, points), f, v) for v, f in itertools.product(range(12), range(6))]
    gaps = []
    for distance, f, v in found:
        points_of_features(*bodies, FACE, f, VERTEX, v, points)
        points[3:] += (0.0, 1e-13, 0.0)
        gaps.append(gap_of_features(*bodies, FACE, f, VERTEX, v, points, distance + 1e-13, 1e-15))
    assert max(gaps) == pytest.approx(1e-13, abs=1e-15)


@SMALL
def test_one_inside_the_other_and_identical_bodies():
    outer, inner = build.icosahedron(1.0), tetrahedron().scaled(0.1)
    for bodies in ((outer, inner), (inner, outer), (outer, outer)):
        report = world_of(FINE, *((mesh, None) for mesh in bodies)).detect(rows="pairs")
        assert report.pairs.kind.tolist() == [Kind.CROSSING]
        assert report.pairs.distance.tolist() == [0.0]
    # Deep inside, frame after frame, and out again.
    world = world_of(FINE, (outer, None), (inner, None))
    for x in (0.0, 0.3, 0.5, 0.9, 1.5, 0.2, 3.0):
        world.set_poses(np.stack([np.eye(4), translation((x, 0.0, 0.0))]))
        check(world)


@SMALL
def test_distances_of_small_bodies_equal_fractions():
    random = np.random.default_rng(8)
    for mesh_a, mesh_b in itertools.product((tetrahedron(), box()), repeat=2):
        pose_a, pose_b = random_pose(random, 0.3), random_pose(random, 1.8)
        world = world_of(FINE, (mesh_a, pose_a), (mesh_b, pose_b))
        corners = [np.array(body.world_vertices)[body.mesh.faces].tolist() for body in world]
        true = float(min(rational.squared_distance(s, t) for s, t in itertools.product(*corners))) ** 0.5
        closest = world.distance(0, 1)
        if true > 0.0:
            assert closest.distance == pytest.approx(true, abs=1e-14)


def feature_points(mesh, pose, feature):
    return np.array([pose[:3, :3] @ mesh.vertices[v] + pose[:3, 3] for v in feature[1]])


@SMALL
def test_closest_points_lie_on_the_features_and_faces_that_are_named():
    random = np.random.default_rng(2)
    meshes = (box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)), build.icosahedron(0.5), tetrahedron(-0.2))
    seen = set()
    for _ in range(25):
        chosen = [meshes[k] for k in random.integers(0, 3, 2)]
        world = world_of(FINE, *((mesh, random_pose(random, 1.5)) for mesh in chosen))
        for first, second in ((0, 1), (1, 0)):
            closest = world.distance(first, second)
            if closest.distance == 0.0:
                np.testing.assert_array_equal(closest.point_a, closest.point_b)
                continue
            assert np.linalg.norm(closest.point_b - closest.point_a) == pytest.approx(closest.distance, abs=1e-15)
            ends = ((world[first], closest.point_a, closest.face_a, closest.feature_a),)
            ends += ((world[second], closest.point_b, closest.face_b, closest.feature_b),)
            for body, point, face, feature in ends:
                name, vertices = feature
                seen.add(name)
                assert len(vertices) == {"vertex": 1, "edge": 2}.get(name, len(vertices))
                corners = feature_points(body.mesh, body.pose, feature)
                across = np.linalg.svd(corners - corners.mean(axis=0))[2][len(corners) - 1 if name != "face" else 2 :]
                assert np.abs((point - corners[0]) @ across.T).max() < 1e-12  # in the point, line or plane of the feature
                assert (point >= corners.min(axis=0) - 1e-12).all()
                assert (point <= corners.max(axis=0) + 1e-12).all()
                triangle = np.array(body.world_vertices)[body.mesh.faces[face]]
                weights = np.linalg.lstsq(np.vstack([triangle.T, np.ones(3)]), np.append(point, 1.0), rcond=None)[0]
                assert weights.min() > -1e-9
                assert np.linalg.norm(weights @ triangle - point) < 1e-9
    assert seen == {"vertex", "edge", "face"}


@SMALL
def test_clearance_adds_near_pairs_with_their_distance_and_removes_nothing():
    random = np.random.default_rng(4)
    meshes = (box((-0.3, -0.3, -0.3), (0.3, 0.3, 0.3)), build.icosahedron(0.3))
    world = world_of(FINE, *((meshes[k % 2], random_pose(random, 1.0)) for k in range(8)))
    sizes = []
    for clearance in (0.0, 0.05, 0.2, 0.6, 5.0):
        report = check(world, clearance)
        touching = set(world.detect(rows="pairs").pairs)
        assert touching <= set(report.pairs)
        assert {pair for pair, kind in zip(report.pairs, report.pairs.kind, strict=True) if kind != Kind.NEAR} == touching
        sizes.append(len(report.pairs))
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] < sizes[3] < sizes[4] == 28
    assert len(world.detect(rows="any", clearance=5.0).pairs) == 1


@pytest.mark.parametrize("broad", ["brute_force", "uniform_grid", "coherent_aabb"])
@pytest.mark.parametrize("warm_start", [True, False])
def test_settings_change_no_answer(broad, warm_start):
    random = np.random.default_rng(6)
    meshes = [build.icosphere(1, 0.4), box((-0.3, -0.3, -0.3), (0.3, 0.3, 0.3)), build.polytope36(1, 0.7)]
    bodies = [(meshes[k % 3], random_pose(random, 1.0)) for k in range(12)]
    world, plain = world_of(ClosestFeatures(broad=broad, warm_start=warm_start), *bodies), world_of(ClosestFeatures(), *bodies)
    steps = 0
    for _ in range(10):
        poses = np.array([pose @ rotation_about(random.normal(size=3), 0.05) for pose in world.poses])
        poses[:, :3, 3] += random.normal(size=(12, 3)) * 0.02
        world.set_poses(poses)
        plain.set_poses(poses)
        found, expected = world.detect(rows="pairs", clearance=0.1), plain.detect(rows="pairs", clearance=0.1)
        assert list(found.pairs) == list(expected.pairs)
        np.testing.assert_allclose(found.pairs.distance, expected.pairs.distance, atol=1e-6)
        steps += found.counters.distance_tests - expected.counters.distance_tests
    assert (steps > 0) == (not warm_start)


def test_the_number_of_steps_does_not_grow_with_the_number_of_faces():
    steps = []
    for faces in (48, 168, 960, 3968):
        mesh = build.sphere(faces)
        world = world_of(ClosestFeatures(), (mesh, None), (mesh, translation((2.0, 0.5, 0.3))))
        world.detect(rows="pairs")
        turn, walked = rotation_about((1.0, 2.0, 3.0), 0.005), 0
        for _ in range(50):
            world.set_poses(world.poses @ turn)
            walked += world.detect(rows="pairs", clearance=1.0).counters.distance_tests
        steps.append(walked / 50)
    assert max(steps) < 3.0


def test_coherence_outlives_bodies_that_come_and_go():
    random = np.random.default_rng(9)
    mesh = build.sphere(960, 0.5)
    world = world_of(ClosestFeatures(), *((mesh, translation(random.uniform(-1.0, 1.0, 3))) for _ in range(6)))
    first = world.detect(rows="pairs").counters
    world.remove(world.bodies[2])
    body = world.add(box((9.0, 9.0, 9.0), (10.0, 10.0, 10.0)))
    after = world.detect(rows="pairs").counters
    assert after.distance_tests <= 2 * after.body_pairs < first.distance_tests
    check(world, 0.0, 1e-6)
    body.pose = translation((-9.5, -9.5, -9.5))
    check(world, 0.0, 1e-6)


@SMALL
def test_poses_that_are_not_quite_rigid_are_taken_as_they_are():
    """Faces are parallel before such a pose and not after it, by 1e-5: more than the resolution."""
    random = np.random.default_rng(10)
    cube = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    for _ in range(6):
        poses = np.array([np.eye(4), translation((1.5, 0.2, 0.1))])
        poses[:, :3, :3] += 3e-6 * random.uniform(-1.0, 1.0, (2, 3, 3))
        check(world_of(ClosestFeatures(resolution=1e-7), (cube, poses[0]), (cube, poses[1])), resolution=1e-7)


@SMALL
@pytest.mark.parametrize("scale", [1e-9, 1e6, 1e20])
def test_any_scale_with_a_resolution_to_match(scale):
    random = np.random.default_rng(11)
    meshes = [mesh.scaled(scale) for mesh in (build.icosahedron(0.5), box())]
    for _ in range(4):
        pose = random_pose(random, 1.2)
        pose[:3, 3] *= scale
        world = world_of(ClosestFeatures(resolution=1e-9 * scale), (meshes[0], None), (meshes[1], pose))
        assert abs(world.distance(0, 1).distance - true_distance(*world)) <= 1e-9 * scale


@SMALL
def test_concave_bodies_are_refused_or_stood_for_by_their_hulls():
    ring = build.torus(1.0, 0.3, segments=8, sides=6)
    with pytest.raises(jostle.Unsupported, match=r"not convex; ClosestFeatures\(concave='hull'\)"):
        world_of(ClosestFeatures(), (ring, None))
    assert ClosestFeatures(concave="hull").traits.needs == {Need.RIGID}
    bolt = build.icosahedron(0.2)
    assert not world_of("wide_tree", (ring, None), (bolt, None)).detect(rows="pairs", solid=True)
    assert world_of(ClosestFeatures(concave="hull"), (ring, None), (bolt, None)).detect(rows="pairs")
    # Above the hole the nearest face is one of the hull, which the mesh does not have.
    closest = world_of(ClosestFeatures(concave="hull"), (ring, None), (bolt, translation((0.0, 0.0, 1.0)))).distance(0, 1)
    distance, *_ = hull_distance(ring.vertices, bolt.vertices, None, translation((0.0, 0.0, 1.0)))
    assert closest.distance == pytest.approx(distance, abs=1e-6)
    assert closest.face_a == -1
    assert closest.face_b >= 0


@SMALL
@pytest.mark.parametrize("size", [1.0, 1e4, 1e7])
def test_corners_that_the_resolution_can_tell_from_a_face_are_kept(size):
    """A pyramid of 5 resolutions on a box, and a speck 3 resolutions above its tip: no part of it may be taken as flat."""
    r = max(1e-6, 2.0**-45 * size)
    tip = np.array([[0.5 * size, 0.5 * size, size + 5 * r]])
    tent = hull(np.vstack([box().vertices * size, tip]))
    speck = tetrahedron().scaled(0.1 * size)
    place = tip[0] + (0.0, 0.0, 3 * r)
    world = world_of(ClosestFeatures(resolution=r), (tent, None), (speck, translation(place)))
    true = place[2] - tip[0, 2]
    assert abs(world.distance(0, 1).distance - true) <= r
    assert not world.detect(rows="pairs")
    world[1].pose = translation(tip[0] - (0.0, 0.0, 2 * r))
    assert world.detect(rows="pairs")


@SMALL
@pytest.mark.parametrize("concave", ["refuse", "hull"])
def test_a_flat_body_is_refused_by_name_and_with_a_cure(concave):
    sheet = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], name="leaf")
    with pytest.raises(jostle.InputError, match=r"mesh 'leaf': all points lie in one plane.*separating_plane takes flat ones"):
        world_of(ClosestFeatures(concave=concave), (sheet, None), (box(), None)).detect(rows="pairs")
    assert world_of(jostle.SeparatingPlane(concave=concave), (sheet, None), (box(), None)).detect(rows="pairs")


def settled(shape, bodies, poses, codes, operations):
    """Settle a pair of bodies of one shape; returns (why it stopped, kind, (next pair, steps, operations))."""
    table, state = Polytope.tables([polytope_arrays(shape)]), np.zeros(3, np.int64)
    pairs = CandidatePairs(*np.array(bodies, np.int32).reshape(2, 1))
    out = SettledPairs(np.zeros(1, np.uint8), np.empty(1), np.empty((1, 6)), np.array([codes]))
    placed = PolytopePoses(np.zeros(len(poses), np.int32), poses)
    why = method.settle_pairs(pairs, placed, table.table, 1e-6, 0.0, False, operations, state, np.empty((2, 4, 4)), out)
    return why, out.kind[0], state.tolist()


@SMALL
def test_operations_count_the_faces_that_a_step_may_look_at():
    used = []
    for mesh in (box(), build.sphere(960)):
        shape = FINE.prepare_shape(mesh)
        poses = np.array([np.eye(4), translation((0.3, 0.2, 0.1))])
        _, _, (_, steps, operations) = settled(shape, (0, 1), poses, (np.nan, np.nan), 10)
        used.append(operations / steps)
    assert used[0] == 1
    assert used[1] > 1


@SMALL
def test_settings_are_checked():
    for wrong in (
        {"resolution": 0.0},
        {"resolution": -1.0},
        {"resolution": "fine"},
        {"concave": "cut"},
        {"broad": "none"},
        {"broad": 3},
    ):
        with pytest.raises(jostle.InputError, match=next(iter(wrong)).replace("broad", "broad phase")):
            ClosestFeatures(**wrong)
    with pytest.raises(jostle.InputError, match="warm_start"):
        ClosestFeatures(warm_start=1)
    assert repr(ClosestFeatures()).startswith("ClosestFeatures(resolution=1e-06")


def never_proven(*arguments):
    """The kernel as if every walk had gone astray."""
    pairs, state = arguments[0], arguments[7]
    return DONE if state[0] == len(pairs.body_a) else UNPROVEN


@SMALL
def test_pairs_that_the_walk_does_not_settle_are_settled_all_the_same(monkeypatch):
    random = np.random.default_rng(12)
    meshes = (box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)), build.icosahedron(0.5))
    world = world_of(FINE, *((meshes[k % 2], random_pose(random, 1.0)) for k in range(5)))
    monkeypatch.setattr(method, "settle_pairs", never_proven)
    report = check(world)
    assert report.counters.look_ups == 10
    assert {Kind.NEAR, Kind.CROSSING} <= set(report.pairs.kind.tolist())
    check(world, 0.0)
    closest = world.distance(0, 1)
    monkeypatch.undo()
    again = world.distance(0, 1)  # from the features that the fallback found
    assert again.distance == pytest.approx(closest.distance, abs=1e-12)
    assert (again.distance == 0.0) == (closest.distance == 0.0)
    check(world)


@pytest.mark.parametrize("sharp", [True, False])
def test_the_fallback_is_right_by_gjk_and_by_all_pairs_of_triangles(monkeypatch, sharp):
    random = np.random.default_rng(13)
    if not sharp:
        monkeypatch.setattr(fallback, "hull_distance", lambda a, b, pose_a, pose_b: (7.0, np.zeros(3), np.zeros(3), 1.0))
    for _ in range(30):
        meshes = [hull(random.normal(size=(12, 3))) for _ in range(2)]
        poses = [random_pose(random, 0.1), random_pose(random, 3.0)]
        world = world_of(FINE, *zip(meshes, poses, strict=True))
        shapes = [FINE.prepare_shape(mesh) for mesh in meshes]
        distance, point_a, point_b = fallback.fallback_distance(*shapes, *poses, 1e-10)
        assert abs(distance - true_distance(*world)) <= 1e-10
        assert np.linalg.norm(point_b - point_a) == pytest.approx(distance, abs=1e-12)
    small = tetrahedron().scaled(0.01)
    shapes = [FINE.prepare_shape(mesh) for mesh in (small, meshes[0])]
    inside = translation(meshes[0].vertices.mean(axis=0))
    assert fallback.fallback_distance(*shapes, inside, np.eye(4), 1e-10)[0] == 0.0


@SMALL
def test_pauses_change_no_answer(monkeypatch):
    random = np.random.default_rng(14)
    world = world_of(FINE, *((build.icosahedron(0.4), random_pose(random, 0.8)) for _ in range(6)))
    whole = world.detect(rows="pairs", clearance=1.0)
    monkeypatch.setattr(method, "FIRST_SLICE", 1)
    again = world.detect(rows="pairs", clearance=1.0)
    assert list(whole.pairs) == list(again.pairs)
    np.testing.assert_array_equal(whole.pairs.distance, again.pairs.distance)
    assert again.counters.distance_tests >= again.counters.body_pairs > 0


@SMALL
def test_remembered_features_that_make_no_sense_are_forgotten():
    shape = FINE.prepare_shape(box())
    for codes in ((np.nan, 0.0), (0.0, np.nan), (4e6, 0.0), (-8.0, 0.0), (3.0, 3.0), (2.0, 2.0), (1.0, 2.0)):
        done, kind, _ = settled(shape, (0, 0), np.eye(4)[None], codes, 1000)
        assert done == DONE
        assert kind == Kind.CROSSING


@SMALL
def test_the_overlay_shows_features_and_the_segments_between_closest_points():
    world = world_of(ClosestFeatures(), (box(), None), (build.icosahedron(0.5), translation((1.6, 0.5, 0.5))))
    overlay = world.overlay()
    closest = world.distance(0, 1)
    np.testing.assert_allclose(overlay.segments[0], [closest.point_a, closest.point_b], atol=1e-12)
    assert overlay.title == "closest features"
    assert len(overlay.points) >= 4
    assert len(jostle.World(ClosestFeatures()).overlay().segments) == 0


@SMALL
def test_shapes_are_saved_and_loaded_with_a_world(tmp_path):
    world = world_of(ClosestFeatures(), (box(), None), (box(), translation((1.5, 0.2, 0.1))))
    before = world.detect(rows="pairs", clearance=1.0).pairs
    world.save(tmp_path / "world.npz")
    after = jostle.World.load(tmp_path / "world.npz").detect(rows="pairs", clearance=1.0).pairs
    assert after.distance.tolist() == before.distance.tolist() == [0.5]


def test_meshes_with_repeated_vertices_and_faces_without_area_are_convex_bodies_too():
    mesh = box()
    soup = Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    extra = Mesh(mesh.vertices, np.vstack([mesh.faces, [[0, 1, 1], [0, 0, 0]]]))
    for body in (soup, extra):
        assert body.is_convex
        world = world_of(FINE, (body, None), (mesh, translation((1.25, 0.3, 0.0))))
        assert world.distance(0, 1).distance == 0.25
