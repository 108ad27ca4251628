"""The contract of methods whose recall is statistical: what they report is true, and over fixed seeds they find the share stated.

The truth is what `wide_tree` finds, which the contract of the exact methods holds against rational arithmetic. No single report has
to reach the stated share; all of a scene together do. A check that cannot fail is worth nothing: the last tests break recall and
truth on purpose and see that it is noticed.
"""

import functools
import itertools
import math

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer, Serve
from jostle.registry import METHODS
from jostle.shapes import build
from tests.contract.scenes import SCENES
from tests.oracle import rational
from tests.oracle import rows as oracle
from tests.tiny import random_pose

CANDIDATES = {name: made() for name, made in METHODS.items()} | {
    "monte_carlo on the mesh alone": jostle.MonteCarlo(levels=1),
    "monte_carlo with other numbers": jostle.MonteCarlo(levels=2, seed=7, epsilon=0.0, most_pairs=50),
}
STATISTICAL = {
    name: method for name, method in CANDIDATES.items() if getattr(method.traits.answers.get(Answer.FACES), "name", "") == "recall"
}
DEFAULTS = [made() for made in METHODS.values()]  # other settings get fewer seeds
statistical_methods = pytest.mark.parametrize("method", STATISTICAL.values(), ids=STATISTICAL)
OUR_ORDER = ("body_a", "body_b", "face_a", "face_b")


def concave(world, seed):
    """Blobs that meet in several places."""
    rng = np.random.default_rng(seed)
    for k in range(2):
        world.add(build.blob(1200, seed=2 * seed + k, roughness=0.6), translation((0.8 * k, 0, 0)) @ random_pose(rng, 0.1))


def linked_rings(world, seed):
    rng = np.random.default_rng(seed)
    ring = build.torus(1.0, 0.35, 40, 20)
    world.add(ring)
    world.add(ring, translation((1.0, 0.0, 0.0)) @ rotation_about((1, 0, 0), np.pi / 2 + rng.uniform(-0.4, 0.4)))
    world.add(build.blob(800, seed=seed, roughness=0.3), random_pose(rng, 0.6))


def barely_touching(world, seed):
    """Balls that share a few faces only: small regions are the hard ones."""
    rng = np.random.default_rng(seed)
    ball = build.icosphere(3)
    world.add(ball, random_pose(rng, 0.0))
    direction = rng.normal(size=3)
    world.add(ball, translation(1.985 * direction / np.linalg.norm(direction)) @ random_pose(rng, 0.0))


def combs(world, seed):
    """Teeth between teeth: many small regions at once."""
    rng = np.random.default_rng(seed)
    comb = build.comb()
    lower, upper = comb.bounds
    world.add(comb)
    world.add(comb, translation(0.5 * (upper - lower) * rng.uniform(0.2, 0.8, 3)) @ rotation_about(rng.normal(size=3), 0.15))


def balls_apart(world, seed):
    rng = np.random.default_rng(seed)
    for number in range(2):
        world.add(build.icosphere(1), translation((2.5 * number, 0, 0)) @ random_pose(rng, 0.0))


LARGER = {"concave": concave, "linked rings": linked_rings, "barely touching": barely_touching, "combs": combs}
SEEDS = {**dict.fromkeys(SCENES, 3), **dict.fromkeys(LARGER, 4)}


def fill(scene, method, seed, **settings):
    world = jostle.World(method, **settings)
    (SCENES | LARGER | {"balls apart": balls_apart})[scene](world, seed)
    return world


def rows_of(report):
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@functools.cache
def truth(scene, seed, clearance=0.0):
    return rows_of(fill(scene, "wide_tree", seed).detect(clearance=clearance))


def stated(method):
    return method.traits.answers[Answer.FACES].value


def check(reports, recall, what):
    """Every row of [(found, expected)] is true, in order and told once; all together are the stated share of the truth."""
    hits = total = 0
    for found, expected in reports:
        assert found == sorted(set(found)), f"{what}: rows are not sorted, or told twice"
        extra = set(found) - set(expected)
        assert not extra, f"{what}: {sorted(extra)[:5]} ({len(extra)}) are not true"
        hits, total = hits + len(found), total + len(expected)
    assert hits >= recall * total, f"{what}: {hits} of {total} rows found, {recall:.1%} are stated"


@statistical_methods
@pytest.mark.parametrize("scene", SEEDS)
def test_rows_are_true_and_the_stated_share_is_found(method, scene):
    seeds = SEEDS[scene] if method in DEFAULTS else 1
    reports = [(rows_of(fill(scene, method, seed).detect()), truth(scene, seed)) for seed in range(seeds)]
    assert scene in ("far apart", "nothing") or all(expected for _, expected in reports)
    check(reports, stated(method), scene)


@statistical_methods
@pytest.mark.parametrize(
    ("scene", "clearance"), [("random soups", 0.05), ("far apart", 9.5), ("barely touching", 0.02), ("concave", 0.01)]
)
def test_clearance_adds_what_is_near_and_removes_nothing(method, scene, clearance):
    if Serve.CLEARANCE not in method.traits.serves:
        pytest.skip("the method does not serve clearance")
    reports = []
    for seed in range(2 if method in DEFAULTS else 1):
        report = fill(scene, method, seed).detect(clearance=clearance)
        reports.append((rows_of(report), truth(scene, seed, clearance)))
        near = report.contacts.kind == jostle.Kind.NEAR
        assert near.any()
        assert ((report.contacts.distance > 0) == near).all()
        assert (report.contacts.distance[near] < clearance).all()
    check(reports, stated(method), f"{scene} within {clearance}")


@statistical_methods
def test_the_search_ends_complete_without_a_budget_and_says_how_far_it_came(method):
    report = fill("barely touching", method, 0).detect()
    assert report.complete
    assert report.reached.operations > 0
    assert report.reached.samples == report.counters.samples > 0
    assert 0.0 <= report.reached.undiscovered <= 1.0
    assert 0.0 <= report.reached.updated <= 1.0
    assert report.reached.regions >= 1


@statistical_methods
def test_equal_worlds_give_equal_bytes_whatever_the_threads(method):
    for scene in ("random soups", "shared shapes", "barely touching"):
        worlds = [fill(scene, method, 1, workers=workers) for workers in (1, 1, 2, None)]
        for budget in (None, jostle.Budget(operations=3000), None):
            reports = [world.detect(budget=budget) for world in worlds]
            assert len({column_bytes(report) for report in reports}) == 1
            assert len({report.reached for report in reports}) == 1
            assert len({report.complete for report in reports}) == 1
            for world in worlds:
                world.set_poses(np.matmul(translation((0.01, 0.0, 0.0)), world.poses) if len(world) % 2 else world.poses)


def column_bytes(report):
    names = (*OUR_ORDER, "kind", "distance", "segment", "normal")
    return b"".join(np.ascontiguousarray(getattr(report.contacts, name)).tobytes() for name in names)


@statistical_methods
def test_a_budget_that_cuts_a_search_is_told_and_what_is_told_is_true(method):
    if Serve.BUDGET not in method.traits.serves:
        pytest.skip("the method does not serve budgets")
    for scene in ("concave", "shared shapes"):
        said = []
        for operations in (1, 500, 5_000, 10**9):
            report = fill(scene, method, 0).detect(budget=jostle.Budget(operations=operations))
            check(
                [(rows_of(report), truth(scene, 0))],
                stated(method) if report.complete else 0.0,
                f"{scene}, {operations} operations",
            )
            said.append(report.complete)
        assert not said[0]
        assert said[-1]
        assert said == sorted(said)


@statistical_methods
def test_rows_first_pairs_and_any_are_true_of_all_rows(method):
    for scene, seed in itertools.product(("random soups", "boxes on a grid", "shared shapes"), range(2)):
        kinds = {}
        for a, b, _, _, kind in truth(scene, seed):
            kinds[a, b] = max(kind, kinds.get((a, b), 0))
        world = fill(scene, method, seed)
        first = world.detect(rows="first")
        assert len(first.contacts) == len(first.pairs)
        assert set(rows_of(first)) <= set(truth(scene, seed))
        pairs = world.detect(rows="pairs")
        assert set(pairs.pairs) <= set(kinds)
        assert len(pairs.contacts) == 0
        assert len(pairs.pairs) >= stated(method) * len(kinds)
        anything = world.detect(rows="any")
        assert len(anything.pairs) == min(1, len(kinds))
        assert set(anything.pairs) <= set(kinds)
        assert world.in_collision() == bool(kinds)


@statistical_methods
def test_the_first_row_within_a_clearance_is_the_nearest_of_all_rows(method):
    if Serve.CLEARANCE not in method.traits.serves:
        pytest.skip("the method does not serve clearance")
    for (scene, clearance), seed in itertools.product(
        {"random soups": 0.1, "shared shapes": 0.2, "far apart": 9.5, "balls apart": 1.0}.items(), range(2)
    ):
        whole, first = (fill(scene, method, seed).detect(clearance=clearance, rows=rows) for rows in ("faces", "first"))
        assert list(first.pairs) == list(whole.pairs)
        assert len(first.pairs) > 0
        contacts = whole.contacts
        faces = [oracle.triangles(body) for body in fill(scene, None, seed)]
        for (a, b, i, j, _), distance in zip(rows_of(first), first.contacts.distance.tolist(), strict=True):
            of_pair = (contacts.body_a == a) & (contacts.body_b == b)
            order = np.lexsort((contacts.face_b[of_pair], contacts.face_a[of_pair], contacts.distance[of_pair]))[0]
            assert (i, j) == (contacts.face_a[of_pair][order], contacts.face_b[of_pair][order])
            assert abs(distance - math.sqrt(rational.squared_distance(faces[a][i], faces[b][j]))) < 1e-12


@statistical_methods
def test_bodies_that_come_and_go_leave_no_trace(method):
    world = fill("shared shapes", method, 2)
    world.detect()
    rng = np.random.default_rng(0)
    reports = []
    for _ in range(8):
        if rng.random() < 0.5 and len(world) > 2:
            world.remove(world.bodies[int(rng.integers(len(world)))])
        else:
            world.add(build.icosphere(1), random_pose(rng, 0.6), deformable=Serve.DEFORM in method.traits.serves)
        for body in world:
            if rng.random() < 0.5:
                body.pose = random_pose(rng, 0.6)
        fresh = jostle.World()
        for body in world:
            fresh.add(body.mesh, body.pose)
        ids = [body.id for body in world]
        expected = [(ids[a], ids[b], i, j, kind) for a, b, i, j, kind in rows_of(fresh.detect())]
        reports.append((rows_of(world.detect()), expected))
    check(reports, stated(method), "bodies that come and go")


@statistical_methods
def test_normals_point_from_a_into_b(method):
    world = jostle.World(method)
    world.add(build.icosphere(2))
    for direction in np.vstack([np.eye(3), -np.eye(3)]):
        body = world.add(build.icosphere(2), translation(1.9 * direction))
        contacts = world.detect().contacts
        assert len(contacts) > 5
        assert (contacts.normal @ direction > 0.5).all()
        world.remove(body)


@statistical_methods
def test_self_collision_is_true_and_found(method):
    if Serve.SELF not in method.traits.serves:
        pytest.skip("the method does not serve self-collision")
    reports = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sheet = build.cloth() if seed == 0 else build.icosphere(2)
        points = sheet.vertices.copy()
        points[:, 2] += 0.0 if seed == 0 else 0.8 * rng.normal(size=len(points))
        mesh = sheet.with_vertices(points)
        rows = []
        for engine in (method, "wide_tree"):
            world = jostle.World(engine)
            world.add(mesh)
            rows.append(rows_of(world.detect(itself=True)))
        reports.append(tuple(rows))
    assert sum(len(expected) for _, expected in reports) > 50
    check(reports, stated(method), "self-collision")


# ------------------------------------------------------------------ the checks can fail


class Lossy:
    """A detector that leaves rows out: a share of them, or whole regions."""

    def __init__(self, share):
        self.share = share

    def rows(self, scene, seed):
        found = rows_of(fill(scene, "wide_tree", seed).detect())
        rng = np.random.default_rng(seed)
        return [row for row in found if rng.random() < self.share]


def test_a_recall_below_the_stated_one_is_noticed():
    for share, noticed in ((1.0, False), (0.95, True), (0.0, True)):
        reports = [(Lossy(share).rows("concave", seed), truth("concave", seed)) for seed in range(2)]
        if noticed:
            with pytest.raises(AssertionError, match="are stated"):
                check(reports, 0.99, "lossy")
        else:
            check(reports, 0.99, "whole")


def test_rows_that_are_not_true_or_told_twice_are_noticed():
    expected = truth("barely touching", 0)
    with pytest.raises(AssertionError, match="not true"):
        check([([*expected, (9, 9, 9, 9, 5)], expected)], 0.5, "extra")
    with pytest.raises(AssertionError, match="told twice"):
        check([([*expected, expected[-1]], expected)], 0.5, "doubled")
