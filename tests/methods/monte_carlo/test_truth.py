"""MonteCarlo against the truth while bodies move and deform: rows under budgets, what `complete` and `reached` say, self-collision.

The truth is that of `wide_tree`, which the contract tests hold against rational arithmetic. Budgets are in operations, so that a
test that fails here fails everywhere.
"""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.moving_shells import check_bound, start_of_bound_check
from jostle.methods.monte_carlo.packed import ALWAYS
from jostle.methods.monte_carlo.shape import prepare
from jostle.methods.monte_carlo.update import HYSTERESIS, coarsen, parents_of
from jostle.methods.monte_carlo.work import FacetPair, open_work
from jostle.shapes import build
from tests.tiny import random_pose

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")


def rows_of(report):
    return set(zip(*(getattr(report.contacts, name).tolist() for name in COLUMNS), strict=True))


def passing(frame, frames=60):
    """The pose of a body that comes nearer, dives in a little and goes on, turning."""
    place = 2.0 * frame / frames - 1.0
    return translation((1.25 + 0.5 * place**2, 0.8 * place, 0.1)) @ rotation_about((0.3, 1, 0.2), 1.2 * place)


def worlds(meshes, method="monte_carlo", **bodies):
    made = [jostle.World(method), jostle.World("wide_tree")]
    for world in made:
        for mesh in meshes:
            world.add(mesh, **bodies)
    return made


BLOBS = (build.blob(3000, seed=1, roughness=0.4), build.blob(3000, seed=2, roughness=0.4))


def followed(operations, frames=60, method="monte_carlo"):
    """[(report, rows of the truth)] of a motion, each frame with so many operations; 0 for all."""
    tested, true = worlds(BLOBS, method)
    found = []
    for frame in range(frames):
        for world in (tested, true):
            world[1].pose = passing(frame, frames)
        budget = jostle.Budget(operations=operations) if operations else None
        found.append((tested.detect(budget=budget), rows_of(true.detect())))
    return found


def recall(frames):
    return sum(len(report.contacts) for report, _ in frames) / sum(len(expected) for _, expected in frames)


def test_whole_searches_find_everything_along_a_motion():
    frames = followed(0, 20)
    assert sum(bool(expected) for _, expected in frames) > 8
    for report, expected in frames:
        assert report.complete
        assert rows_of(report) == expected


def test_under_a_budget_rows_are_true_and_more_operations_find_more():
    recalls = []
    for operations in (300, 3_000, 30_000, 300_000):
        frames = followed(operations)
        for report, expected in frames:
            assert rows_of(report) <= expected
            assert report.reached.operations <= operations + 2_000
            if report.complete:
                assert rows_of(report) == expected
        recalls.append(recall(frames))
    assert recalls[-1] > 0.999
    assert recalls[0] < 0.9  # or the budgets of this test are no budgets
    assert all(later > earlier - 0.02 for earlier, later in itertools.pairwise(recalls)), recalls


def places(rows, shapes):
    """The pairs of facets, two levels up, that stand for the rows of bodies 0 and 1."""
    up = [shape.parent[shape.parent[: shape.level_first[1]]] for shape in shapes]
    return {(int(up[0][face_a]), int(up[1][face_b])) for _, _, face_a, face_b, *_ in rows}


def test_the_list_is_worth_its_keep():
    """The same few operations find more places of contact when pairs are kept from frame to frame than from seeds alone."""
    found = {}
    for keeping in (True, False):
        tested, true = worlds(BLOBS)
        hits = total = 0
        for frame in range(60):
            for world in (tested, true):
                world[1].pose = passing(frame)
            tested.prepare()
            if not keeping:
                tested._detector._search = None
            shapes = tested._detector._shapes
            report, expected = tested.detect(budget=jostle.Budget(operations=1_000)), places(rows_of(true.detect()), shapes)
            hits, total = hits + len(places(rows_of(report), shapes)), total + len(expected)
        found[keeping] = hits / total
    assert found[True] > 1.5 * found[False]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_need_not():
    def columns(seed):
        frames = followed(3_000, 30, jostle.MonteCarlo(seed=seed))
        return [
            (*(getattr(report.contacts, name).tobytes() for name in COLUMNS), report.complete, report.reached, report.counters)
            for report, _ in frames
        ]

    assert columns(1) == columns(1)
    assert columns(1) != columns(2)


def test_what_is_reached_is_sane_and_grows():
    few, many = (followed(operations, 30) for operations in (1_000, 200_000))
    for report, _ in few + many:
        reached = report.reached
        assert reached.operations > 0
        assert reached.samples >= 0
        assert 0.0 <= reached.updated <= 1.0
        assert 0.0 <= reached.undiscovered <= 1.0
        assert reached.broken == 0
        assert reached.worst == 0.0
        assert reached.regions >= bool(report.contacts)
        assert report.counters.samples == reached.samples
    assert sum(report.reached.samples for report, _ in many) > sum(report.reached.samples for report, _ in few)
    assert np.mean([report.complete for report, _ in few]) < 0.5 < np.mean([report.complete for report, _ in many])


def test_the_list_is_bounded_and_what_is_followed_is_near():
    for most in (30, 20_000):
        method = jostle.MonteCarlo(most_pairs=most)
        frames = followed(20_000, 30, method)
        assert max(report.reached.pairs for report, _ in frames) <= most
    tested, _ = worlds(BLOBS)
    tested[1].pose = passing(0)
    tested.detect()
    pairs = tested._detector.sample_pairs()
    assert (pairs.distance >= 0.0).all()
    assert not pairs.touching.any()
    size = max(shape.size for shape in tested._detector._shapes)
    assert 0.0 < pairs.gap.min() <= pairs.gap.max() < 1.2 * pairs.gap.min() + 0.01 * size


@kernel
def gap_at(addresses, pair):
    """The gap of a pair of facets."""
    return gap_of_facets(open_work(addresses), pair)


@kernel
def parents_at(addresses, pair):
    """The pair above a pair."""
    return parents_of(open_work(addresses), pair)


@kernel
def coarsened_at(addresses, pair, gap):
    """The pair that takes the place of one that is apart by a gap."""
    return coarsen(open_work(addresses), pair, gap)[0]


def test_what_was_refined_is_merged_only_where_it_would_not_be_refined_soon():
    """Hysteresis: parents that are apart by less than a share of their radius are neither refined nor replace their children."""
    tested, _ = worlds((build.icosphere(3), build.icosphere(3)))
    tested.detect()
    work = tested._detector._ready_search()._work
    facets, addresses = work["facets"], work.addresses
    pair = FacetPair(0, 7, 400)  # any two faces
    parents = parents_at(addresses, pair)
    radius = min(facets["radius"][parents.a], facets["radius"][parents.b])
    direction = facets["axis"][parents.a]
    relative = work["relative"][0]
    decisions = []
    for way in np.linspace(0.0, 3.0, 600):
        shift = facets["middle"][pair.a] - facets["middle"][pair.b] + way * direction
        for row, coordinate, unit in zip("xyz", shift, np.eye(3), strict=True):
            relative[row] = (*unit, coordinate)
        relative["eta"] = relative["slack"] = 0.0
        wider, gap = gap_at(addresses, parents), gap_at(addresses, pair)
        if gap > 0.0:
            to = coarsened_at(addresses, pair, gap)
            decisions.append((wider > 0.0, to != pair))
            assert (to != pair) == (wider > HYSTERESIS * radius)
    assert {(False, False), (True, False), (True, True)} == set(decisions)


def test_near_rows_have_the_exact_distance():
    tested, true = worlds(BLOBS)
    for frame in (21, 30, 51):
        for world in (tested, true):
            world[1].pose = passing(frame)
        found, expected = tested.detect(clearance=0.03), true.detect(clearance=0.03)
        assert (expected.contacts.kind == jostle.Kind.NEAR).any()
        assert rows_of(found) == rows_of(expected)


def bent(vertices, strength):
    """Vertices twisted and bulged smoothly; 1 is far."""
    x, y, z = vertices.T
    angle = strength * z
    return np.stack(
        [x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), z * (1 + 0.3 * strength * x)], axis=1
    )


def test_deforming_bodies_within_the_bound_lose_nothing():
    tested, true = worlds(BLOBS, deformable=True)
    touching = 0
    for frame in range(24):
        for world in (tested, true):
            world[1].pose = passing(frame, 24)
            for body in world:
                body.vertices = bent(body.mesh.vertices, 0.15 * np.sin(0.5 * frame))
        report, expected = tested.detect(), rows_of(true.detect())
        assert report.reached.broken == 0
        assert rows_of(report) == expected
        touching += bool(expected)
    assert touching > 8


def test_a_bound_that_is_broken_is_told():
    tested, true = worlds(BLOBS, deformable=True)
    rng = np.random.default_rng(0)
    broken = []
    for world in (tested, true):
        world[1].pose = passing(30)
    for _ in range(6):
        noise = 0.15 * rng.normal(size=BLOBS[0].vertices.shape)
        for world in (tested, true):
            world[0].vertices = BLOBS[0].vertices + noise
        report = tested.detect()
        assert rows_of(report) <= rows_of(true.detect())
        broken.append(report.reached)
    assert broken[-1].broken > 0
    assert broken[-1].worst > 0.0
    assert not report.complete


def test_bodies_against_themselves_with_a_clearance_that_comes_and_goes():
    """Places that were near, and are lost when the clearance is gone, must not hide what is below the same coarsest facets."""
    tested, true = worlds((build.blob(1500, seed=1, roughness=0.5), build.blob(1500, seed=2, roughness=0.5)))
    for frame, clearance in enumerate((0.1, 0.0, 0.05, 0.1, 0.0, 0.02)):
        for world in (tested, true):
            world[1].pose = passing(20 + 4 * frame)
        report, expected = (world.detect(itself=True, clearance=clearance) for world in (tested, true))
        assert report.complete
        assert rows_of(report) == rows_of(expected)


@pytest.mark.parametrize(
    "mesh", [build.shuttle(), build.horseshoe(), build.hand(), build.comb()], ids=["shuttle", "horseshoe", "hand", "comb"]
)
def test_a_deforming_body_that_only_turns_breaks_no_bound(mesh):
    """Discs are carried along with frames of vertices; four vertices can have corners in a line, which is no frame."""
    shape = prepare(mesh)
    rng = np.random.default_rng(0)
    for _ in range(10):
        turned = np.ascontiguousarray(mesh.vertices @ rotation_about(rng.normal(size=3), rng.uniform(0, 6.0))[:3, :3].T)
        told = check_bound(start_of_bound_check(shape), shape, turned, 1e-6, 40 * (len(shape.under) + len(shape.radius)))
        assert told.rounds > 0
        assert told.broken == 0


def test_few_rows_asked_for_leave_the_list_as_it_was():
    followed_pairs = []
    for rows in ("faces", "first", "pairs", "any"):
        tested, _ = worlds(BLOBS)
        tested[1].pose = passing(30)
        tested.detect()
        tested.detect(rows=rows)
        followed_pairs.append(len(tested._detector.sample_pairs().gap))
    assert min(followed_pairs) > 0.5 * followed_pairs[0] > 10


def test_frame_number_two_to_the_31_is_like_any_other():
    """Stamps of frames and of deformations begin again before they are taken for something else."""
    tested, true = worlds(BLOBS, deformable=True)
    for frame in range(6):
        if frame == 2:
            search = tested._detector._search
            search._work.carried.stamp = 2**31 - 3
            search._packed.bodies["epoch"] = ALWAYS - 2
        for world in (tested, true):
            world[1].pose = passing(28 + frame)
            world[0].vertices = bent(BLOBS[0].vertices, 0.02 * frame)
        report, expected = tested.detect(), rows_of(true.detect())
        assert report.complete
        assert rows_of(report) == expected


def folded_sheet(turn):
    """A sheet of 24 × 24 squares, rolled up about the y axis; from a turn of 1 on its ends pass through each other."""
    mesh = build.plate(24, 24)
    u, v = mesh.vertices[:, 0] - mesh.vertices[:, 0].min(), mesh.vertices[:, 1]
    angle = 2.0 * np.pi * turn * u
    radius = (1.0 + 0.05 * (u - 0.5) * np.sin(6.0 * v)) / (2.0 * np.pi * turn)  # no stretching, but for 5 %
    return mesh, np.stack([radius * np.cos(angle), v, radius * np.sin(angle)], axis=1)


def test_a_sheet_that_folds_meets_itself():
    mesh, _ = folded_sheet(0.5)
    tested, true = worlds([mesh], jostle.MonteCarlo(deformation=0.5), deformable=True)
    total = 0
    for turn in np.linspace(0.8, 1.25, 10):
        for world in (tested, true):
            world[0].vertices = folded_sheet(turn)[1]
        report, expected = tested.detect(itself=True), rows_of(true.detect(itself=True))
        assert report.reached.broken == 0
        assert rows_of(report) == expected
        total += len(expected)
    assert total > 100


@pytest.mark.parametrize(
    "settings", [{"order": "motion"}, {"order": "camera", "camera": (4, 0, 0)}, {"levels": 2}, {"k": 2.0, "epsilon": 0.05}]
)
def test_other_settings_find_the_same(settings):
    for report, expected in followed(0, 5, jostle.MonteCarlo(**settings)):
        assert rows_of(report) == expected


def test_frames_without_thoroughness_are_cheaper_and_say_so():
    whole = followed(0, 10)
    amortised = followed(0, 10, jostle.MonteCarlo(thorough=False))
    for (report, expected), (thorough, _) in zip(amortised, whole, strict=True):
        assert rows_of(report) <= expected
        assert report.reached.operations <= thorough.reached.operations
        assert not report.complete or rows_of(report) == expected
    assert not all(report.complete for report, _ in amortised)


def test_random_soups_degenerate_faces_and_one_face():
    rng = np.random.default_rng(4)
    for count in (1, 2, 40):
        mesh = jostle.Mesh(rng.integers(-2, 3, (3 * count, 3)).astype(float), np.arange(3 * count).reshape(-1, 3))
        tested, true = worlds([mesh, mesh])
        for world in (tested, true):
            world[1].pose = random_pose(np.random.default_rng(count), 0.5)
        for _ in range(2):
            assert rows_of(tested.detect()) == rows_of(true.detect())
