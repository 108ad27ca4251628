"""The contract of all methods that test motion, gated by their traits: one file for all of them.

Truth shares no code with what it judges: on straight motions, Sturm's theorem in rational arithmetic over every face pair
(`tests/oracle/moving_rows.py`); on screws, dense sampling and bisection with a rational test (`tests/oracle/sampled.py`); and
scenes with known answers. Beyond that, certified methods equal brute force to the byte on straight motions: times, faces, features.
"""

import functools
import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import EXACT, NO_MISS, Answer, Serve
from jostle.registry import METHODS
from jostle.shapes import build
from tests.contract.motion_scenes import DEFORMING, FREE, SCENES, STRAIGHT, TURNING
from tests.oracle import moving_rows, sampled
from tests.oracle.kept_proofs import kept
from tests.oracle.rows import world_vertices
from tests.tiny import box

MOVING = {name: made() for name, made in METHODS.items() if Serve.MOTION in made().traits.serves}
MOVING |= {
    "bounding_tree of spheres": jostle.BoundingTree(volume="sphere", splitting="insertion", broad="brute_force"),
    "bounding_tree of boxes that enclose": jostle.BoundingTree(volume="aabb", degree=2, sweep="enclosing", time_splits=2),
}
CERTIFIED = {name: method for name, method in MOVING.items() if method.traits.answers.get(Answer.TIME) in (EXACT, NO_MISS)}
every_method = pytest.mark.parametrize("method", CERTIFIED.values(), ids=CERTIFIED)
TOLERANCE = 1e-6


def fill(scene, method, seed, workers=1):
    world = jostle.World(method, workers=workers)
    SCENES[scene](world, seed)
    return world


def rows_of(report):
    contacts = report.contacts
    columns = [contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind, contacts.time]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    features = contacts.features
    return [(*row, features.of_a(k), features.of_b(k)) for k, row in enumerate(rows)]


@functools.cache
def brute_force(scene, seed, **options):
    return rows_of(fill(scene, "brute_force", seed).detect(motion=True, **options))


@kept
def truth(scene, seed):
    """{(body_a, body_b, face_a, face_b): times of contact} of a scene of straight motions."""
    world = fill(scene, "brute_force", seed)
    frame = world._frame()
    ends = []
    for k, body in enumerate(world):
        for pose, vertices in ((frame.poses_t0[k], frame.vertices_t0[k]), (frame.poses[k], frame.vertices[k])):
            points = world_vertices(pose, vertices)
            ends.append([[points[corner] for corner in face] for face in body.mesh.faces.tolist()])
    pairs = itertools.combinations(range(len(world)), 2)
    return {
        (a, b, *faces): times
        for a, b in pairs
        for faces, times in moving_rows.contact_times(ends[2 * a], ends[2 * a + 1], ends[2 * b], ends[2 * b + 1]).items()
    }


def every_method_in(scenes):
    """Every certified method in each of these scenes that it serves."""
    served = [
        pytest.param(method, scene, id=f"{scene}-{name}")
        for scene in scenes
        for name, method in CERTIFIED.items()
        if scene not in DEFORMING or Serve.DEFORM in method.traits.serves
    ]
    return pytest.mark.parametrize(("method", "scene"), served)


@every_method_in(STRAIGHT)
def test_straight_motions_have_every_contact_of_the_rational_oracle_in_time_and_no_other(method, scene):
    for seed in range(2):
        expected = truth(scene, seed)
        rows = rows_of(fill(scene, method, seed).detect(motion=True, all_contacts=True))
        assert sorted(row[:4] for row in rows) == sorted(expected)
        for row in rows:
            assert moving_rows.judge_time(expected[row[:4]], row[5], TOLERANCE) == "", row
    assert bool(rows) == (scene not in FREE)


@every_method_in(STRAIGHT)
def test_straight_motions_equal_brute_force_to_the_byte(method, scene):
    for seed in range(2):
        first, whole = brute_force(scene, seed), brute_force(scene, seed, all_contacts=True)
        assert rows_of(fill(scene, method, seed).detect(motion=True)) == first
        assert rows_of(fill(scene, method, seed).detect(motion=True, all_contacts=True)) == whole
        least = {}
        for row in whole:
            key = row[:2]
            least[key] = min(least.get(key, (2.0,)), (row[5], row[2], row[3]))
        assert {row[:2]: (row[5], row[2], row[3]) for row in first} == least
    assert bool(first) == (scene not in FREE)


@every_method
@pytest.mark.parametrize("scene", TURNING)
def test_turning_bodies_meet_when_brute_force_says(method, scene):
    for seed in range(2):
        found, expected = fill(scene, method, seed).detect(motion=True), fill(scene, "brute_force", seed).detect(motion=True)
        assert list(found.pairs) == list(expected.pairs)
        assert len(found.pairs)
        assert np.allclose(found.pairs.time, expected.pairs.time, rtol=0, atol=TOLERANCE)
        whole = fill(scene, method, seed).detect(motion=True, all_contacts=True)
        assert np.array_equal(whole.pairs.time, found.pairs.time)


def motion_of(world, body, ends):
    """World vertices of a body as a function of time, by the independent formulas of the tests."""
    start, end, first, last = ends[body.id]
    if body.deformable:
        return sampled.straight(sampled.placed(start, first), sampled.placed(end, last))
    return sampled.rigid(body.mesh, start, end)


@every_method_in([*TURNING, "shifted soups", "deforming spheres", "deforming and rigid"])
def test_no_time_is_later_than_dense_sampling_or_early_by_more_than_the_tolerance(method, scene):
    for seed in range(2):
        world = fill(scene, method, seed)
        frame = world._frame()
        ends = {
            body.id: (frame.poses_t0[k], frame.poses[k], frame.vertices_t0[k], frame.vertices[k]) for k, body in enumerate(world)
        }
        times = dict.fromkeys(itertools.combinations([body.id for body in world], 2), np.inf)
        report = world.detect(motion=True)
        times |= dict(zip(report.pairs, report.pairs.time.tolist(), strict=True))
        for (a, b), time in times.items():
            one, other = motion_of(world, world[a], ends), motion_of(world, world[b], ends)
            faces = world[a].mesh.faces, world[b].mesh.faces
            free, touching = sampled.first_touch(one, faces[0], other, faces[1], samples=60)
            assert time <= touching + 1e-12, (scene, seed, a, b)
            if time < free - TOLERANCE:
                # A contact too short for the samples: the faces are no farther apart then than they move within a tolerance.
                assert sampled.nearer_than(10 * TOLERANCE, one(time)[faces[0]], other(time)[faces[1]]), (scene, seed, a, b)


@every_method
@pytest.mark.parametrize("scene", ["shifted soups", "boxes on a grid", "turning tori"])
def test_swapping_the_bodies_swaps_the_rows(method, scene):
    world = fill(scene, method, 1)
    frame = world._frame()
    swapped = jostle.World(method)
    for k, body in reversed(list(enumerate(world.bodies))):
        swapped.add(body.mesh, frame.poses_t0[k]).pose = frame.poses[k]
    last = len(world) - 1
    whole, mirrored = world.detect(motion=True, all_contacts=True), swapped.detect(motion=True, all_contacts=True)
    found = {(last - b, last - a, j, i): time for a, b, i, j, _, time, *_ in rows_of(mirrored)}
    expected = {row[:4]: row[5] for row in rows_of(whole)}
    assert found.keys() == expected.keys()
    assert len(found)
    for key, time in expected.items():
        assert abs(found[key] - time) <= TOLERANCE


@every_method
def test_workers_change_nothing(method):
    for scene in ("shifted soups", "turning tori"):
        assert rows_of(fill(scene, method, 1, workers=2).detect(motion=True)) == rows_of(fill(scene, method, 1).detect(motion=True))


@every_method_in(SCENES)
def test_rows_first_pairs_and_any_agree_with_all_rows(method, scene):
    whole = fill(scene, method, 0).detect(motion=True)
    everything = fill(scene, method, 0).detect(motion=True, all_contacts=True)
    assert list(everything.pairs) == list(whole.pairs)
    assert np.array_equal(everything.pairs.time, whole.pairs.time)
    first = fill(scene, method, 0).detect(motion=True, all_contacts=True, rows="first")
    assert rows_of(first) == rows_of(whole)
    pairs = fill(scene, method, 0).detect(motion=True, rows="pairs")
    assert list(pairs.pairs) == list(whole.pairs)
    assert np.array_equal(pairs.pairs.time, whole.pairs.time)
    assert len(pairs.contacts) == 0
    anything = fill(scene, method, 0).detect(motion=True, rows="any")
    earliest = np.argsort(whole.pairs.time, kind="stable")[:1]
    assert list(anything.pairs) == list(whole.pairs.select(earliest))
    assert np.array_equal(anything.pairs.time, whole.pairs.time[earliest])
    free = fill(scene, method, 0)
    assert free.safe_step() == min([1.0, *whole.pairs.time.tolist()])


# ------------------------------------------------------------------ scenes with known answers


def first(method, a, b, to_a=None, to_b=None, **others):
    return jostle.first_contact(a, b, to_a, to_b, method=method, **others)


@every_method
def test_a_sphere_falls_on_a_plate(method):
    plate = jostle.Mesh([[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]], [[0, 1, 2], [0, 2, 3]])
    ball = build.icosphere(2)
    lowest = int(np.argmin(ball.vertices[:, 2]))
    fall = first(method, ball, plate, translation((0.3, 0.2, -1)), pose_a=translation((0.3, 0.2, 3)))
    expected = (3 + ball.vertices[lowest, 2]) / 4
    assert expected - TOLERANCE <= fall.time <= expected
    assert fall.feature_a == ("vertex", (lowest,))
    assert fall.feature_b[0] == "face"
    assert np.allclose(fall.normal, (0, 0, -1), atol=1e-9)
    assert np.allclose(fall.point, ball.vertices[lowest] * (1, 1, 0) + (0.3, 0.2, 0), atol=1e-5)
    assert not first(method, ball, plate, translation((0.3, 0.2, 1.5)), pose_a=translation((0.3, 0.2, 3)))


@every_method
def test_a_cube_lands_flat_and_with_an_edge_on_an_edge_and_with_a_corner_in_a_corner(method):
    landing = first(method, box(), box(), translation((0.25, 0.25, 0.5)), pose_a=translation((0.25, 0.25, 2)))
    assert 2 / 3 - TOLERANCE <= landing.time <= 2 / 3
    assert np.allclose(landing.normal, (0, 0, -1))
    assert (landing.feature_a[0], landing.feature_b[0]) == ("vertex", "face")
    # Two cubes stood on their edges, one turned by a quarter: edge on edge.
    upper = rotation_about((0, 1, 0), np.pi / 4)
    lower = rotation_about((1, 0, 0), np.pi / 4)
    half = np.sqrt(2) / 2
    cube = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    on_edge = first(
        method, cube, cube, translation((0.1, 0.05, -2)) @ upper, pose_a=translation((0.1, 0.05, 4)) @ upper, pose_b=lower
    )
    expected = (4 - 2 * half) / 6
    assert expected - TOLERANCE <= on_edge.time <= expected + 1e-12
    assert (on_edge.feature_a[0], on_edge.feature_b[0]) == ("edge", "edge")
    assert np.allclose(np.abs(on_edge.normal), (0, 0, 1), atol=1e-6)
    assert on_edge.normal[2] < 0
    # Into the corner of a room, all three walls at once.
    corner = jostle.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 1, 2], [0, 2, 3], [0, 3, 1]])
    into = first(method, box(), corner, translation((-1, -1, -1)), pose_a=translation((1, 1, 1)))
    assert 0.5 - TOLERANCE <= into.time <= 0.5
    assert not first(method, box(), corner, translation((1, 2, 0.5)), pose_a=translation((1, 1, 1)))


@every_method
def test_a_bullet_does_not_pass_through_a_plate(method):
    plate = jostle.Mesh([[0, -5, -5], [0, 5, -5], [0, 5, 5], [0, -5, 5]], [[0, 1, 2], [0, 2, 3]])
    bullet = build.icosphere(1, 0.1)
    assert len(bullet.faces) == 80
    for angle in (0.0, 2.0):
        end = translation((100, 0.3, 0.2)) @ rotation_about((1, 0, 0), angle)
        shot = first(method, bullet, plate, end, pose_a=translation((-100, 0.3, 0.2)))
        assert shot
        assert abs(shot.time - 0.5) < 0.001
        assert np.allclose(shot.normal, (1, 0, 0), atol=1e-6)
    assert not first(method, bullet, plate, translation((100, 5.2, 0.2)), pose_a=translation((-100, 5.2, 0.2)))


@every_method
def test_a_propeller_that_turns_through_between_two_instants_is_caught(method):
    blade = box((-2, -0.05, -0.05), (2, 0.05, 0.05))
    post = box((1.3, 0.9, -1), (1.5, 1.1, 1))
    end = rotation_about((0, 0, 1), 2.0)
    assert not jostle.collide(blade, post)
    assert not jostle.collide(blade, post, end)
    turn = first(method, blade, post, end)
    # The corner of the post nearest to the blade meets its flank: a point at angle φ and radius r, the flank 0.05 above the middle.
    radius, angle = np.hypot(1.5, 0.9), np.arctan2(0.9, 1.5)
    expected = (angle - np.arcsin(0.05 / radius)) / 2.0
    assert expected - TOLERANCE <= turn.time <= expected + 1e-12
    with pytest.raises(jostle.InputError, match=r"body 'a'.*half a turn"):
        first(method, blade, post, rotation_about((0, 0, 1), np.pi))


@every_method
def test_with_a_separation_what_slides_or_leaves_is_free_and_what_approaches_stops(method):
    plate, cube = box((-5, -5, -1), (5, 5, 0)), box()
    for gap in (0.01, 0.005):
        near = translation((0, 0, gap))
        assert not first(method, cube, plate, translation((2, 1, gap)), pose_a=near, separation=0.01)
        assert not first(method, cube, plate, translation((0, 0, 1)), pose_a=near, separation=0.01)
        stopped = first(method, cube, plate, translation((0, 0, -gap)), pose_a=near, separation=0.01)
        assert stopped.time <= 0.01
    fall = first(method, cube, plate, translation((0.5, 0, -1)), pose_a=translation((0, 0, 1)), separation=0.01)
    assert 0.99 / 2 - TOLERANCE <= fall.time <= 0.99 / 2
    # Touching at the start: leaving is free with a separation, and time 0 without.
    assert not first(method, cube, plate, translation((0, 0, 1)), separation=0.01)
    assert first(method, cube, plate, translation((0, 0, 1))).time == 0.0
    assert first(method, cube, plate, translation((0, 0, -0.5)), separation=0.01).time == 0.0
    assert first(method, cube, plate, translation((0, 0, 1)), pose_a=translation((0, 0, -0.5)), separation=0.01).time == 0.0
    report = _moved(method, cube, plate, translation((0, 0, 1)), translation((0.5, 0, -1))).detect(motion=True, separation=0.01)
    assert report.pairs.kind.tolist() == [jostle.Kind.NEAR]
    assert not report.touching
    assert abs(report.contacts.distance[0] - 0.01) < 1e-6
    assert np.allclose(report.contacts.normal, (0, 0, -1))


@every_method
def test_within_the_separation_a_round_body_slides_from_face_to_face(method):
    """Faces ahead come nearer while the bodies do not; those of the floor are smaller than the step."""
    floor, ball = _floor(), build.icosphere(2, 0.4)
    for gap in (0.019, 0.005, 1e-5):
        height = gap - ball.vertices[:, 2].min()
        world = _moved(method, ball, floor, translation((-0.5, 0.03, height)), translation((0.5, 0.1, height)))
        assert world.safe_step(separation=0.02) == 1.0
        world["a"].pose = translation((0.5, 0.1, height - gap / 2))
        stopped = world.safe_step(separation=0.02)  # where it has come nearer by a hundredth
        assert 0.02 - TOLERANCE <= stopped <= 0.02 + 1e-12


@every_method
def test_what_was_stopped_at_the_separation_slides_on(method):
    floor, ball = _floor(), build.icosphere(2, 0.4)
    world = _moved(method, ball, floor, translation((-0.5, 0.03, 1.0)), translation((-0.4, 0.03, 0.1)))
    fraction = world.safe_step(separation=0.02)
    assert 0.0 < fraction < 1.0
    world.move_to(fraction)
    world.detect(motion=True)
    place = world["a"].pose[:3, 3]
    world["a"].pose = translation(place + np.array([0.7, 0.1, 0.0]))
    assert world.safe_step(separation=0.02) == 1.0


def _floor():
    places = np.linspace(-1, 1, 7)
    faces = [face for i in range(6) for j in range(6) for k in [7 * i + j] for face in ([k, k + 7, k + 1], [k + 1, k + 7, k + 8])]
    return jostle.Mesh([[x, y, 0.0] for x in places for y in places], faces)


def _moved(method, a, b, start, end):
    world = jostle.World(method)
    world.add(a, start, "a").pose = end
    world.add(b, name="b")
    return world


@every_method_in(["shifted soups", "turning tori", "deforming spheres"])
def test_with_a_separation_bodies_stop_where_their_distance_falls_to_it(method, scene):
    separation = 0.05
    for seed in range(2):
        world = fill(scene, method, seed)
        frame = world._frame()
        ends = {
            body.id: (frame.poses_t0[k], frame.poses[k], frame.vertices_t0[k], frame.vertices[k]) for k, body in enumerate(world)
        }
        assert world.safe_step(separation) <= world.safe_step() + TOLERANCE
        report = world.detect(motion=True, separation=separation)
        assert len(report.pairs)
        for (a, b), time in zip(report.pairs, report.pairs.time.tolist(), strict=True):
            one, other = motion_of(world, world[a], ends), motion_of(world, world[b], ends)
            faces = world[a].mesh.faces, world[b].mesh.faces

            def gap(t, one=one, other=other, faces=faces):
                return jostle.distance((one(t), faces[0]), (other(t), faces[1])).distance

            if gap(0.0) > separation:
                assert abs(gap(time) - separation) < 1e-6
                assert min(gap(t) for t in np.linspace(0, time, 30)) > separation - 1e-9


@every_method
def test_leaving_bodies_have_time_0_without_a_separation(method):
    world = _moved(method, box(), box(), translation((1, 0, 0)), translation((3, 0, 0)))
    report = world.detect(motion=True)
    assert report.pairs.time.tolist() == [0.0]
    assert report.pairs.kind.tolist() == [jostle.Kind.TOUCHING]
    crossing = _moved(method, box(), box(), translation((0.5, 0.25, 0.125)), translation((3, 0, 0))).detect(motion=True)
    assert crossing.pairs.time.tolist() == [0.0]
    assert crossing.pairs.kind.tolist() == [jostle.Kind.CROSSING]
    assert crossing.contacts.features.of_a(0)[0] == crossing.contacts.features.of_b(0)[0] == "face"


@every_method
def test_a_deforming_body_meets_itself_and_a_rigid_one_does_not(method):
    if Serve.SELF not in method.traits.serves or Serve.DEFORM not in method.traits.serves:
        pytest.skip("the method does not serve this")
    strip = jostle.Mesh(
        [[x, y, 0.0] for x in range(6) for y in (0.0, 1.0)],
        [face for k in range(0, 10, 2) for face in ([k, k + 2, k + 1], [k + 1, k + 2, k + 3])],
    )
    folded = np.array(strip.vertices)
    # The last two columns of vertices go through the first two from above.
    folded[8:10] = [[1.2, 0.0, 1.0], [1.2, 1.0, 1.0]]
    folded[10:12] = [[0.5, 0.25, -1.0], [0.5, 0.75, -1.0]]
    start = np.array(strip.vertices)
    start[8:10] = [[3.0, 0.0, 1.0], [3.0, 1.0, 1.0]]
    start[10:12] = [[0.5, 0.25, 1.0], [0.5, 0.75, 1.0]]
    world = jostle.World(method)
    body = world.add(strip, deformable=True)
    body.vertices = start
    assert not world.detect(itself=True)
    body.vertices = folded
    free = world.safe_step(itself=True)
    report = world.detect(motion=True, itself=True)
    assert list(report.pairs) == [(0, 0)]
    assert 0.5 - TOLERANCE <= report.pairs.time[0] <= 0.5
    assert free == report.pairs.time[0]
    assert (report.contacts.face_a < report.contacts.face_b).all()
    rigid = jostle.World(method)
    rigid.add((folded, strip.faces)).pose = translation((1, 0, 0))
    assert rigid.detect(itself=True)
    assert not rigid.detect(motion=True, itself=True)


@every_method
def test_filters_hold(method):
    def moved(**filters):
        world = jostle.World(method)
        world.add(box(), name="a", **filters).pose = translation((3, 0.1, 0.2))
        world.add(box(), translation((2, 0, 0)), "b", **filters)
        return world

    assert moved().detect(motion=True)
    for filters in ({"static": True}, {"group": 1}, {"category": 2, "mask": 1}):
        assert not moved(**filters).detect(motion=True)
        assert moved(**filters).safe_step() == 1.0
    ignoring = moved()
    ignoring.ignore("a", "b")
    assert not ignoring.detect(motion=True)


@every_method
def test_steps_follow_each_other_and_pairs_begin_and_end(method):
    world = jostle.World(method)
    moving = world.add(box(), translation((0, 0, 5)), "moving")
    world.add(box(), name="resting")
    assert not world.detect(motion=True)
    moving.pose = translation((0.1, 0.1, 3))
    assert not world.detect(motion=True)
    moving.pose = translation((0.1, 0.1, -5))
    report = world.detect(motion=True)
    assert 2 / 8 - TOLERANCE <= report.pairs.time[0] <= 2 / 8
    assert list(report.began) == [(0, 1)]
    moving.pose = translation((0.1, 0.1, -8))
    report = world.detect(motion=True)
    assert not report
    assert list(report.ended) == [(0, 1)]
    moving.teleport(translation((0, 0, 9)))
    assert not world.detect(motion=True)  # no motion is left behind


@every_method
def test_scale_and_place_do_not_matter(method):
    scenes = [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e5)]
    expected = first(method, build.icosphere(1), box(), translation((0.4, 0.3, -1)), pose_a=translation((0.4, 0.3, 3))).time
    for size, place in scenes:
        ball, cube = build.icosphere(1).scaled(size), box().scaled(size)
        shift = np.full(3, place)
        found = first(
            method,
            ball,
            cube,
            translation(size * np.array((0.4, 0.3, -1)) + shift),
            pose_a=translation(size * np.array((0.4, 0.3, 3)) + shift),
            pose_b=translation(shift),
        )
        assert abs(found.time - expected) <= TOLERANCE
