"""MonteCarlo in a world: settings, files, interrupts, bodies that come and go, the list that is kept from frame to frame."""

import pickle

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer, Serve
from jostle.methods.monte_carlo import search as search_module
from jostle.shapes import build
from tests.tiny import box, random_pose

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")


def same_rows(one, other):
    return list(one.pairs) == list(other.pairs) and all(
        np.array_equal(getattr(one.contacts, name), getattr(other.contacts, name)) for name in COLUMNS
    )


def rows_of(report):
    return set(zip(*(getattr(report.contacts, name).tolist() for name in COLUMNS[:5]), strict=True))


@pytest.mark.small
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": 0}, "MonteCarlo: levels is 0; it must be at least 1 and at most 16"),
        ({"levels": 2.0}, "MonteCarlo: levels is 2.0; pass a whole number"),
        ({"k": 0.9}, "MonteCarlo: k is 0.9; it must be at least 1 and at most 100"),
        ({"k": "1.2"}, "MonteCarlo: k is '1.2'; pass a number"),
        ({"epsilon": -0.1}, "MonteCarlo: epsilon is -0.1; it must be at least 0 and at most 1"),
        ({"epsilon": float("nan")}, "MonteCarlo: epsilon is nan"),
        ({"seeds": 0}, "MonteCarlo: seeds is 0; it must be at least 1"),
        ({"seeds": 2**63}, "it must be at least 1 and at most 1000000"),
        ({"thorough": 1}, "MonteCarlo: thorough is 1; pass True or False"),
        ({"most_pairs": 0}, "MonteCarlo: most_pairs is 0; it must be at least 1"),
        ({"order": "near"}, "MonteCarlo: order is 'near'; choose one of far, motion, camera"),
        ({"order": "camera"}, "pass camera=(x, y, z)"),
        ({"camera": (0, 0, 1)}, "pass order='camera', or leave it out"),
        ({"order": "camera", "camera": (0, 1)}, "pass three numbers"),
        ({"order": "camera", "camera": "far"}, "pass three numbers"),
        ({"order": "camera", "camera": (0, 0, float("inf"))}, "MonteCarlo: camera[2] is inf; pass finite coordinates"),
        ({"deformation": 2}, "MonteCarlo: deformation is 2.0; it must be at least 0 and at most 1"),
        ({"seed": -1}, "MonteCarlo: seed is -1; it must be at least 0"),
        ({"seed": 2**64}, "at most 18446744073709551615"),
        ({"broad": "quadtree"}, "MonteCarlo: there is no broad phase 'quadtree'"),
    ],
)
def test_bad_settings_are_refused_with_a_cure(settings, message):
    with pytest.raises(jostle.InputError) as refused:
        jostle.MonteCarlo(**settings)
    assert message in str(refused.value)


@pytest.mark.small
def test_traits_and_what_is_not_served():
    traits = jostle.MonteCarlo().traits
    assert str(traits.answers[Answer.FACES]).startswith("recall ")
    assert traits.serves == {Serve.BUDGET, Serve.CLEARANCE, Serve.SELF, Serve.DEFORM}
    assert not traits.needs
    world = jostle.World("monte_carlo")
    for wish in ({"solid": True}, {"motion": True}, {"itself": True, "adjacent": True}):
        with pytest.raises(jostle.Unsupported, match="monte_carlo does not serve"):
            world.detect(**wish)
    assert jostle.MonteCarlo(order="camera", camera=[1, 2, 3]).camera == (1.0, 2.0, 3.0)


def two_blobs(method="monte_carlo", faces=1500, **settings):
    world = jostle.World(method, **settings)
    world.add(build.blob(faces, seed=1, roughness=0.5), name="one")
    world.add(build.blob(faces, seed=2, roughness=0.5), translation((1.0, 0.2, 0.1)), name="other")
    return world


def test_a_world_that_was_saved_answers_the_same(tmp_path):
    method = jostle.MonteCarlo(levels=3, order="camera", camera=(5, 0, 0), seed=3)
    world = two_blobs(method)
    world.save(tmp_path / "world.npz")
    loaded = jostle.World.load(tmp_path / "world.npz")
    assert loaded.method == method
    one, other = world.detect(), loaded.detect()
    assert len(one.contacts) > 50
    assert same_rows(one, other)
    assert one.reached == other.reached


def test_worlds_and_reports_pickle():
    world = two_blobs(faces=400)
    report = world.detect()
    again = pickle.loads(pickle.dumps(world))
    assert rows_of(again.detect()) == rows_of(report)
    assert pickle.loads(pickle.dumps(report)).reached == report.reached


def test_the_list_is_kept_from_frame_to_frame_and_by_bodies_that_stay():
    world = two_blobs()
    world.add(build.icosphere(2), translation((0, 5, 0)), name="far away")
    world.detect()
    before = world._detector.sample_pairs()
    assert len(before.body_a) > 20
    assert (before.body_a <= before.body_b).all()
    world.remove("one")
    world.add(build.icosphere(2), translation((0, 6.5, 0)), name="new")
    detector = world._ready_detector()
    kept = detector.sample_pairs()
    assert len(kept.body_a) == 0  # all pairs were of the blob that is gone
    assert not world.detect(budget=jostle.Budget(operations=2000)).between("other", "far away").body_a.size
    world = two_blobs()
    world.add(build.icosphere(2), translation((0, 5, 0)), name="far away")
    world.detect()
    before = world._detector.sample_pairs()
    world.remove("far away")
    after = world._ready_detector().sample_pairs()
    for name in ("body_a", "body_b", "facet_a", "facet_b", "age", "touching"):
        assert np.array_equal(getattr(before, name), getattr(after, name)), name


def test_the_age_of_pairs_is_in_seconds_of_the_world():
    world = two_blobs(faces=400)
    world.dt = 0.25
    for frame in range(4):
        world.detect()
        world.in_collision()  # no step
        assert world._detector.sample_pairs().age.max() == pytest.approx(0.25 * frame)


def test_faces_of_samples_are_those_below_near_young_samples_that_are_small_enough():
    world = two_blobs()
    world.dt = 0.25
    for _ in range(2):
        world.detect(budget=jostle.Budget(operations=3000))
    detector = world._ready_detector()
    pairs, shape = detector.sample_pairs(), detector._shapes[1]

    def faces_below(facet):
        children = shape.child[shape.child_first[facet] : shape.child_first[facet + 1]]
        return {int(facet)} if len(children) == 0 else set().union(*(faces_below(child) for child in children))

    sizes = []
    for radius, gap, age in ((np.inf, np.inf, np.inf), (np.median(shape.radius), 0.05, np.inf), (np.inf, 0.05, 0.2)):
        wanted = set()
        for body, facet in ((pairs.body_a, pairs.facet_a), (pairs.body_b, pairs.facet_b)):
            taken = (body == 1) & (shape.radius[np.where(body == 1, facet, 0)] <= radius) & (pairs.gap <= gap) & (pairs.age < age)
            wanted = wanted.union(*(faces_below(row) for row in np.unique(facet[taken])))
        found = detector.faces_of_samples(1, radius, gap, age)
        assert len(found) == len(world[1].mesh.faces)
        assert set(np.flatnonzero(found)) == wanted
        sizes.append(len(wanted))
    assert 0 < sizes[1] < sizes[0]
    assert 0 < sizes[2] < sizes[0]


def test_an_interrupt_in_a_frame_leaves_a_usable_world(monkeypatch):
    world = two_blobs()
    expected = rows_of(two_blobs("wide_tree").detect())
    world.detect()
    whole = search_module.Search.advance
    calls = []

    def interrupted(self, operations):
        calls.append(whole(self, operations))
        raise KeyboardInterrupt

    monkeypatch.setattr(search_module.Search, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        world.detect(budget=jostle.Budget(operations=500))
    assert len(calls) == 1
    monkeypatch.undo()
    time = world.time
    report = world.detect()
    assert rows_of(report) <= expected
    assert len(report.contacts) > 0.99 * len(expected)
    assert world.time == time + world.dt


def test_filters_and_several_bodies_are_heeded():
    rng = np.random.default_rng(0)
    worlds = [jostle.World(method) for method in ("monte_carlo", "wide_tree")]
    ball = build.icosphere(2, 0.4)
    places = [random_pose(rng, 0.8) for _ in range(14)]
    for world in worlds:
        for k, pose in enumerate(places):
            world.add(ball, pose, group=0 if k < 4 else None, static=k > 11)
        world.ignore(5, 6)
    found, expected = (world.detect() for world in worlds)
    assert len(expected.pairs) > 10
    assert rows_of(found) <= rows_of(expected)
    assert len(found.contacts) >= 0.99 * len(expected.contacts)


@pytest.mark.parametrize("broad", ["brute_force", "bounding_spheres", "coherent_aabb", "uniform_grid(cell=0.5)"])
def test_any_broad_phase_chooses_the_body_pairs(broad):
    rows = []
    for method in (jostle.MonteCarlo(broad=broad), "wide_tree"):
        world = two_blobs(method, faces=400)
        world.add(box(), translation((0.2, 0.9, 0)) @ rotation_about((1, 2, 3), 1.0))
        rows.append(rows_of(world.detect()))
    found, expected = rows
    assert found <= expected
    assert len(found) >= 0.99 * len(expected)


def test_hundreds_of_bodies_and_back():
    """More bodies than all boxes are compared of, and fewer again."""
    world = jostle.World("monte_carlo")
    ball = build.icosphere(1, 0.3)
    bodies = [world.add(ball, translation((0.55 * (k % 15), 0.7 * (k // 15), 0.0))) for k in range(210)]
    report = world.detect(rows="pairs")
    assert len(report.pairs) == 14 * 14
    for body in bodies[15:]:
        world.remove(body)
    assert list(world.detect(rows="pairs").pairs) == [(k, k + 1) for k in range(14)]
    assert not jostle.World("monte_carlo").detect()
