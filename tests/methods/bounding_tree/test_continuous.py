"""Contacts along the motion equal the oracle's and known answers."""

import functools

import numpy as np
import pytest

import jostle
from jostle.continuous.face_pairs import slack
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.bounding_tree import dynamic
from jostle.shapes import build as shapes
from tests.tiny import box, random_pose, random_soup

METHODS = {
    "obb": jostle.BoundingTree(),
    "aabb": jostle.BoundingTree(volume="aabb", splitting="insertion", degree=4),
    "sphere": jostle.BoundingTree(volume="sphere", splitting="without_optimisation", quality="surface"),
    "binary": jostle.BoundingTree(splitting="binary_gottschalk", leaf_faces=1),
    "enclosing": jostle.BoundingTree(sweep="enclosing"),
    "the paper's plain sweep": jostle.BoundingTree(sweep="enclosing", time_splits=0),
    "relative without halving": jostle.BoundingTree(time_splits=0, volume="aabb"),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def rows_of(report):
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind, contacts.time)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    features = contacts.features
    return [(*row, features.of_a(k), features.of_b(k)) for k, row in enumerate(rows)]


def moved(method, seed, turning, **options):
    """Return the rows of three bodies, some deforming, that move much or little."""
    rng = np.random.default_rng(seed)
    made = (lambda: random_soup(rng, 24), lambda: shapes.icosphere(1), lambda: shapes.torus(1.0, 0.3, 12, 8), box)
    world = jostle.World(method)
    size = 10.0 ** rng.uniform(-1.5, 0.8)
    for k in rng.integers(0, 4, 3):
        mesh, pose, deforms = made[k](), random_pose(rng, 1.5), rng.random() < 0.3
        body = world.add(mesh, pose, deformable=bool(deforms))
        end = rotation_about(rng.normal(size=3), rng.uniform(0.0, 2.9)) @ pose if turning else pose.copy()
        end[:3, 3] = pose[:3, 3] + size * rng.normal(size=3)
        vertices = mesh.vertices + 0.3 * rng.normal(size=mesh.vertices.shape)
        body.pose = end
        if deforms:
            body.vertices = vertices
    return rows_of(world.detect(motion=True, **options))


def agree(found, expected):
    """Return whether first contacts have equal bodies and times; faces may differ."""
    times = [{row[:2]: row[5] for row in rows} for rows in (found, expected)]
    return times[0].keys() == times[1].keys() and all(abs(time - times[1][pair]) < 1e-6 for pair, time in times[0].items())


@functools.cache
def truth(seed, turning, **options):
    return moved("brute_force", seed, turning, **options)


@every_method
def test_straight_motions_equal_the_oracle(method):
    found = 0
    for seed in range(6):
        for options in ({}, {"all_contacts": True}, {"separation": 0.1}, {"itself": True}):
            expected, given = truth(seed, False, **options), moved(method, seed, False, **options)
            assert given == expected or ("separation" in options and agree(given, expected)), (seed, options)
            found += len(expected)
    assert found > 500


@every_method
def test_turning_bodies_equal_the_oracle(method):
    found = 0
    for seed in range(4):
        for options in ({}, {"separation": 0.1}):
            expected = truth(seed, True, **options)
            assert agree(moved(method, seed, True, **options), expected), (seed, options)
            found += len(expected)
    assert found >= 8


def test_all_contacts_of_turning_bodies_equal_those_of_the_oracle():
    found = 0
    for seed in range(4):
        expected = truth(seed, True, all_contacts=True)
        for name in ("obb", "sphere", "enclosing"):
            assert moved(METHODS[name], seed, True, all_contacts=True) == expected
        found += len(expected)
    assert found > 50


@pytest.mark.parametrize("turning", [False, True])
def test_the_first_contact_does_not_depend_on_when_candidates_are_processed(turning, monkeypatch):
    expected = [truth(seed, turning) for seed in range(4)]
    for batch, operations in ((1, 1), (3, 50), (100_000, 1 << 18)):
        monkeypatch.setattr(dynamic, "FIRST_BATCH", batch)
        monkeypatch.setattr(dynamic, "LARGEST_BATCH", max(8, batch))
        monkeypatch.setattr(dynamic, "OPERATIONS", operations)
        found = [moved(METHODS["obb"], seed, turning) for seed in range(4)]
        assert found == expected or (turning and all(map(agree, found, expected)))


def test_little_room_changes_nothing(monkeypatch):
    monkeypatch.setattr(dynamic, "FIRST_QUEUE", 41)
    monkeypatch.setattr(dynamic, "FIRST_CANDIDATES", 1)
    for seed in range(3):
        assert moved(METHODS["obb"], seed, False, all_contacts=True) == truth(seed, False, all_contacts=True)
        assert agree(moved(METHODS["sphere"], seed, True), truth(seed, True))


@every_method
def test_a_bullet_through_a_plate_at_a_thousand_times_its_size_is_caught(method):
    bullet = shapes.icosphere(1, 0.01)
    plate = jostle.Mesh([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert len(bullet.faces) == 80
    world = jostle.World(method)
    world.add(plate)
    body = world.add(bullet, translation((0.1, 0.2, 5.0)))
    assert not world.detect()
    body.pose = translation((0.1, 0.2, -15.0))
    report = world.detect(motion=True)
    lowest = -bullet.vertices[:, 2].min()
    assert np.allclose(report.pairs.time, (5.0 - lowest) / 20.0, rtol=0, atol=1e-6)
    assert not world.detect()  # it is beyond the plate


@every_method
def test_a_propeller_that_turns_through_between_two_instants_is_caught(method):
    blade = box((-2.0, -0.05, -0.01), (2.0, 0.05, 0.01))
    pin = box((-0.01, -0.01, -0.5), (0.01, 0.01, 0.5))
    world = jostle.World(method)
    propeller = world.add(blade)
    world.add(pin, translation((0.0, 1.5, 0.0)))
    for angle in (100, 170):
        propeller.teleport(rotation_about((0, 0, 1), np.radians(angle)))
        assert not world.detect()
        propeller.teleport(np.eye(4))
        assert not world.detect()
        propeller.pose = rotation_about((0, 0, 1), np.radians(angle))
        time = float(world.detect(motion=True).pairs.time[0])
        # The face of the blade at y = 0.05 comes to the corner of the pin at (0.01, 1.49).
        expected = np.arctan2(1.49, 0.01) - np.arcsin(0.05 / np.hypot(1.49, 0.01))
        assert time <= expected / np.radians(angle) <= time + 1e-6


def test_a_sphere_falls_on_a_plate_as_known():
    ball, plate = shapes.icosphere(3), box((-3.0, -3.0, -1.0), (3.0, 3.0, 0.0))
    lowest = -float(ball.vertices[:, 2].min())
    for method in METHODS.values():
        first = jostle.first_contact(ball, plate, translation((0.3, 0.0, -2.0)), pose_a=translation((0, 0, 3.0)), method=method)
        expected = (3.0 - lowest) / 5.0
        assert expected - 1e-6 <= first.time <= expected
        assert not jostle.first_contact(ball, plate, translation((9.0, 0, 3.0)), pose_a=translation((0, 0, 3.0)), method=method)


def test_pseudo_dynamic_finds_the_first_of_its_instants_and_misses_what_is_in_between():
    method = jostle.BoundingTree(mode="pseudo_dynamic", instants=10)
    for deformable in (False, True):
        world = jostle.World(method)
        world.add(box())
        body = world.add(box(), translation((0, 0, 3.0)), deformable=deformable)
        world.detect()
        body.pose = translation((0, 0, -7.0))
        report = world.detect(motion=True)
        assert np.allclose(report.pairs.time, 0.2)  # they meet at exactly 0.2, and that is an instant
        assert report.contacts.features.of_a(0) is None
        body.teleport(translation((0, 0, 3.0)))
        world.detect()
        body.pose = translation((0, 0, -97.0))
        assert not world.detect(motion=True)  # at 0.1 it is beyond
        body.teleport(translation((0, 0, 0.5)))
        world.detect()
        body.pose = translation((0, 0, 9.0))
        assert world.detect(motion=True, all_contacts=True).contacts.time.max() == 0.0
    turning = jostle.World(method)
    turning.add(shapes.torus(1.0, 0.3, 12, 8))
    body = turning.add(box(), translation((2.5, 0, 0)))
    body.pose = rotation_about((0, 0, 1), 2.0) @ translation((1.0, 0, 0))
    exact = jostle.first_contact(
        shapes.torus(1.0, 0.3, 12, 8), box(), None, body.pose, pose_b=translation((2.5, 0, 0)), method=METHODS["obb"]
    )
    time = float(turning.detect(motion=True).pairs.time[0])
    assert exact.time <= time <= exact.time + 0.1


def test_the_papers_root_finders_find_most_contacts():
    found, expected = 0, 0
    for roots in ("regula_falsi", "linear_interpolation"):
        method = jostle.BoundingTree(roots=roots)
        for seed in range(6):
            for turning in (False, True):
                exact = {row[:2]: row[5] for row in truth(seed, turning)}
                other = {row[:2]: row[5] for row in moved(method, seed, turning)}
                expected += len(exact)
                found += sum(abs(other.get(pair, 9.0) - time) < 0.05 for pair, time in exact.items())
    assert found > 0.5 * expected > 5


def test_the_traversal_looks_farther_than_the_basic_tests():
    """The traversal keeps all contacts within the slack of the basic tests."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        world = jostle.World(METHODS["obb"])
        for _ in range(2):
            world.add(random_soup(rng), random_pose(rng, 10.0 ** rng.uniform(-1, 4))).pose = random_pose(rng, 100.0)
        frame = world._frame()
        trees = world._ready_detector()._trees
        a, b = trees.mover(frame, 0), trees.mover(frame, 1)
        size = a.tree.motion["largest"][0] + b.tree.motion["largest"][0]
        for tolerance in (1e-9, 1e-6, 1e-3):
            assert max(4e-6 * tolerance, dynamic.NOT_EXACT) * size > slack(a.surface, b.surface, tolerance)


@pytest.mark.parametrize("stretch", [-4e-6, 0.0, 4e-6])
def test_the_top_of_a_low_arc_is_not_missed_where_poses_are_not_quite_orthonormal(stretch):
    """A tip rises 1e-7 above its chord during a small turn and meets a needle there."""
    tip = jostle.Mesh([[0.0, 0, -0.1], [0, 0, 0.1], [0, 1, 0]], [[0, 1, 2]])
    for turned in (1e-3, 3e-3, 6e-3, 1e-2, 0.1, 1.0):
        start, end = (rotation_about((0, 0, 1), angle) for angle in (-0.5 * turned, 0.5 * turned))
        for pose in (start, end):
            pose[:3, :3] *= 1.0 + stretch
        for share in (0.1, 0.9):
            height = (1.0 + stretch) * (np.cos(0.5 * turned) * (1.0 - share) + share)
            needle = jostle.Mesh([[0, height, -1.0], [0, height, 1], [0, 3, 0]], [[0, 1, 2]])
            first = jostle.first_contact(tip, needle, end, pose_a=start, method=METHODS["obb"])
            assert first, (turned, share)
            assert 0.0 < first.time <= 0.5


@pytest.mark.parametrize("name", ["obb", "aabb", "sphere"])
def test_world_coordinates_that_are_taken_as_zero_are_not_missed(name):
    """Coordinates below 1e-30 are 0: a body 0.9e-30 above another touches it."""
    flat = random_soup(np.random.default_rng(5), 20)
    for size in (1e-27, 1e-20):
        corners = np.round(flat.vertices * 1000.0) * size * np.array([1.0, 1.0, 0.0])
        upper = jostle.Mesh(corners + np.array([0.0, 0.0, 1e-30]), flat.faces)
        found = []
        for method in (METHODS[name], "brute_force"):
            world = jostle.World(method)
            world.add(jostle.Mesh(corners, flat.faces))
            body = world.add(upper, translation((0, 0, -1.9e-30)))
            body.pose = translation((300.0 * size, 0, -1.9e-30))
            found.append(rows_of(world.detect(motion=True, all_contacts=True)))
        assert found[0] == found[1]
        assert found[0]


def test_bodies_that_never_come_within_the_separation_are_walked_once(monkeypatch):
    def asked(*_):
        raise AssertionError("what they keep does not matter")

    monkeypatch.setattr(dynamic.DynamicSearch, "_kept_separation", asked)
    world = jostle.World(METHODS["obb"])
    world.add(shapes.icosphere(2))
    body = world.add(shapes.icosphere(2), translation((-3.0, 1.5, 1.5)))
    body.pose = translation((3.0, 1.5, 1.5))
    report = world.detect(motion=True, separation=0.1)  # they pass at 0.12
    assert not report
    assert report.counters.box_tests > 20
    body.pose = translation((-3.0, 1.4, 1.4))
    with pytest.raises(AssertionError, match="does not matter"):
        world.detect(motion=True, separation=0.1)
