"""Reports: columns, selections and exports."""

import json

import numpy as np
import pytest

import jostle
from jostle.motion.pose import translation
from jostle.pair_rows import label_runs
from jostle.report import Contacts, Counters, Pairs, unknown_column
from tests.tiny import box


@pytest.fixture(scope="module")
def world():
    made = jostle.World("brute_force")  # its counters can be told beforehand
    for k in range(3):
        made.add(box(), translation((0.75 * k, 0.25 * k, 0.125 * k)), f"box {k}")
    made.add(box(), translation((0, 1.3, 0)), "near")
    return made


@pytest.fixture(scope="module")
def report(world):
    return world.detect(clearance=0.5)


def test_pairs_summarise_the_rows(report):
    assert list(report.pairs) == [(0, 1), (0, 3), (1, 2), (1, 3)]
    for k, (a, b) in enumerate(report.pairs):
        rows = report.between(a, b)
        assert report.pairs.rows[k] == len(rows)
        assert report.pairs.kind[k] == rows.kind.max()
        assert report.pairs.distance[k] == rows.distance.min()
    assert np.isnan(report.pairs.time).all()
    assert (0, 2) not in report.pairs
    assert ("a", "b", "c") not in report.pairs


def test_between_takes_bodies_ids_and_names_in_any_order(world, report):
    rows = report.between("box 1", "box 0")
    assert len(rows) == len(report.between(0, 1)) == len(report.between(world["box 0"], 1)) > 0
    assert set(rows.body_a) == {0}
    assert np.array_equal(rows.point, report.contacts.point[: len(rows)])
    with pytest.raises(jostle.InputError, match="no body is called 'box 9'"):
        report.between("box 9", 0)


def test_faces_of_are_sorted_unique_and_can_leave_out_what_is_near(world, report):
    touching = set()
    for rows, column in ((report.contacts.body_a == 0, "face_a"), (report.contacts.body_b == 0, "face_b")):
        touching |= set(getattr(report.contacts, column)[rows & (report.contacts.kind > jostle.Kind.NEAR)].tolist())
    found = report.faces_of("box 0", near=False)
    assert found.tolist() == sorted(touching)
    assert set(found) < set(report.faces_of(world["box 0"]))
    assert report.faces_of("near", near=False).tolist() == []


def test_rows_without_a_face_are_not_faces_of_a_body():
    inside = jostle.collide(box((-2, -2, -2), (2, 2, 2)), box(), solid=True)
    assert inside.contacts.face_a.tolist() == [-1]
    assert inside.contacts.face_b.tolist() == [0]
    assert inside.faces_of(0).tolist() == []
    assert inside.faces_of(1).tolist() == [0]
    assert np.isfinite(inside.contacts.point).all()
    assert np.allclose(np.linalg.norm(inside.contacts.normal, axis=1), 1)


def test_exports_have_every_row_with_names_and_go_to_json(report):
    table = report.to_array()
    assert len(table) == len(report.contacts)
    assert set(table.dtype.names) >= {
        "body_a",
        "body_b",
        "face_a",
        "face_b",
        "kind",
        "distance",
        "depth",
        "time",
        "point",
        "normal",
    }
    assert np.array_equal(table["point"], report.contacts.point)
    rows = json.loads(json.dumps(report.to_dicts()))
    assert len(rows) == len(table)
    assert rows[0]["body_a"] == "box 0"
    assert rows[0]["kind"] in jostle.Kind.__members__
    assert rows[0]["depth"] is None


def test_rows_are_sorted_and_reports_are_reproducible(world, report):
    keys = list(zip(*(getattr(report.contacts, n).tolist() for n in ("body_a", "body_b", "face_a", "face_b")), strict=True))
    assert keys == sorted(set(keys))
    again = world.detect(clearance=0.5)
    assert again is not report
    assert again.to_array().tobytes() == report.to_array().tobytes()


def test_the_repr_says_what_was_found(report):
    assert repr(report).startswith("<Report: 4 pairs (2 NEAR, 2 CROSSING), ")
    assert repr(jostle.Report()) == "<Report: 0 pairs (free), 0 rows>"


def test_a_near_pair_is_reported_but_does_not_touch():
    report = jostle.collide(box(), box(), pose_b=translation((1.25, 0, 0)), clearance=0.5)
    assert bool(report)
    assert not report.touching
    assert np.allclose(report.contacts.normal[report.contacts.distance == 0.25], (1, 0, 0))
    near = report.contacts.segment[:, 1] - report.contacts.segment[:, 0]
    assert np.allclose(np.linalg.norm(near, axis=1), report.contacts.distance)


@pytest.mark.small
def test_counters_add_up():
    total = Counters(box_tests=1, samples=2) + Counters(box_tests=3, pixels=4)
    assert total == Counters(box_tests=4, samples=2, pixels=4)


def test_counters_count_the_work(report):
    assert report.counters.body_pairs == 6
    assert report.counters.box_tests == 6 * 144
    assert report.counters.triangle_tests >= len(report.contacts)
    assert report.counters.distance_tests >= (report.contacts.kind == jostle.Kind.NEAR).sum()


def random_contacts(rng, rows):
    """Sorted rows of few bodies, with NaN in some of the distances and times."""
    bodies = np.sort(rng.integers(0, 12, rows))
    a, b = (bodies // 4).astype(np.int32), (5 + bodies % 4).astype(np.int32)
    faces = np.arange(rows, dtype=np.int32)
    distance, time = rng.normal(size=rows), rng.uniform(size=rows)
    distance[rng.uniform(size=rows) < 0.4] = np.nan
    time[rng.uniform(size=rows) < 0.4] = np.nan
    return Contacts(a, b, faces, faces, rng.integers(0, 5, rows).astype(np.uint8), distance, unknown_column(rows), time)


def least(values):
    known = [value for value in values.tolist() if value == value]
    return min(known) if known else None


@pytest.mark.small
def test_pairs_are_summarised_row_by_row():
    rng = np.random.default_rng(3)
    for rows in (0, 1, 2, 5, 40):
        contacts = random_contacts(rng, rows)
        pairs = Pairs.of(contacts)
        assert list(pairs) == sorted(set(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True)))
        for k, (a, b) in enumerate(pairs):
            mine = (contacts.body_a == a) & (contacts.body_b == b)
            assert pairs.rows[k] == mine.sum()
            assert pairs.kind[k] == max(contacts.kind[mine].tolist())
            for summary, column in ((pairs.distance, contacts.distance), (pairs.time, contacts.time)):
                expected = least(column[mine])
                assert summary[k] == expected if expected is not None else np.isnan(summary[k])


@pytest.mark.small
def test_rows_of_numbered_pairs_are_labelled_and_summarised():
    rng = np.random.default_rng(4)
    pairs_a, pairs_b = np.array([0, 0, 1, 2, 4], np.int32), np.array([3, 4, 3, 7, 5], np.int32)
    for rows in (0, 1, 6, 30):
        pair = np.sort(rng.choice([0, 2, 3], rows)).astype(np.int32)
        kind, distance = rng.integers(0, 5, rows).astype(np.uint8), rng.normal(size=rows)
        body_a, body_b = np.empty(rows, np.int32), np.empty(rows, np.int32)
        a, b, count = np.empty((3, 5), np.int32)
        worst, nearest = np.empty(5, np.uint8), np.empty(5)
        found = label_runs(pair, kind, distance, pairs_a, pairs_b, body_a, body_b, a, b, worst, count, nearest)
        expected = Pairs.of(
            Contacts(pairs_a[pair], pairs_b[pair], body_a, body_b, kind, distance, unknown_column(rows), unknown_column(rows))
        )
        assert np.array_equal(body_a, pairs_a[pair])
        assert np.array_equal(body_b, pairs_b[pair])
        columns = (expected.body_a, expected.body_b, expected.kind, expected.rows, expected.distance)
        for mine, theirs in zip((a, b, worst, count, nearest), columns, strict=True):
            assert np.array_equal(mine[:found], theirs)


@pytest.mark.small
def test_pairs_that_another_list_lacks():
    rng = np.random.default_rng(6)
    for one, other in ((0, 0), (0, 5), (5, 0), (9, 9), (20, 3), (30, 30)):
        first, second = Pairs.of(random_contacts(rng, one)), Pairs.of(random_contacts(rng, other))
        missing = first.missing_from(second)
        assert list(missing) == sorted(set(first) - set(second))
        assert len(first.missing_from(first)) == 0
        again = Pairs.of(random_contacts(np.random.default_rng(1), 20))
        assert again.same_as(Pairs.of(random_contacts(np.random.default_rng(1), 20)))
        for k, pair in enumerate(missing):
            assert missing.kind[k] == first.kind[list(first).index(pair)]


@pytest.mark.small
def test_columns_without_an_answer_are_nan_and_cannot_be_written():
    short, long = unknown_column(3), unknown_column(5000)
    assert np.isnan(short).all()
    assert np.isnan(long).all()
    assert len(short) == 3
    assert len(long) == 5000
    with pytest.raises(ValueError, match="read-only"):
        short[0] = 0.0
