"""Reports: columns, selections and exports."""

import json
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.report import assemble as rows_of_methods
from jostle.report.report import Contacts, Counters, Pairs, unknown_column
from jostle.report.row_kernels import label_runs
from tests.tiny import box


@pytest.fixture(scope="module")
def world():
    made = jostle.World("brute_force")  # its counters are predictable
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


def test_reprs_are_one_short_line_each(report):
    assert repr(report.pairs) == "<Pairs: 4 pairs (2 NEAR, 2 CROSSING)>"
    assert repr(report.contacts).startswith("<Contacts: ")
    assert "CROSSING" in repr(report.contacts)
    assert len(repr(report.contacts)) < 100
    assert repr(jostle.collide(box(), box(), translation((0.5, 0.5, 0.5)), rows="pairs")) == (
        "<Report: 1 pair (1 CROSSING), 0 rows>"
    )
    assert repr(Pairs.empty()) == "<Pairs: 0 pairs>"


@pytest.mark.small
def test_kinds_are_shown_by_name_and_stay_numbers():
    assert repr(jostle.Kind.CROSSING) == str(jostle.Kind.CROSSING) == f"{jostle.Kind.CROSSING}" == "Kind.CROSSING"
    assert f"{jostle.Kind.CROSSING:d}" == str(int(jostle.Kind.CROSSING))
    assert json.dumps(jostle.Kind.CROSSING) == str(int(jostle.Kind.CROSSING))


def test_pairs_have_kinds_and_names_and_go_to_json(world, report):
    assert report.pairs.names == [("box 0", "box 1"), ("box 0", "near"), ("box 1", "box 2"), ("box 1", "near")]
    near, crossing = jostle.Kind.NEAR, jostle.Kind.CROSSING
    assert report.pairs.kinds == [crossing, near, crossing, near]
    assert report.contacts.kinds == [jostle.Kind(int(kind)) for kind in report.contacts.kind]
    rows = json.loads(json.dumps(report.pairs.to_dicts()))
    assert rows[1] == {
        "body_a": "box 0",
        "body_b": "near",
        "kind": "NEAR",
        "rows": int(report.pairs.rows[1]),
        "distance": float(report.pairs.distance[1]),
        "time": None,
    }
    table = report.pairs.to_array()
    assert table["kind"].tolist() == report.pairs.kind.tolist()
    assert np.array_equal(table["distance"], report.pairs.distance)


def test_pairs_keep_the_names_of_bodies_that_are_gone():
    world = jostle.World("brute_force")
    first, second = world.add(box(), name="first"), world.add(box(), translation((0.5, 0.25, 0.125)), "second")
    world.add(box(), translation((0.25, 0.5, 0.375)), "third")
    assert world.detect().began.names == [("first", "second"), ("first", "third"), ("second", "third")]
    world.remove(first)
    report = world.detect()
    assert report.pairs.names == [("second", "third")]
    assert report.ended.names == [("first", "second"), ("first", "third")]
    assert report.pairs.select(np.array([True])).names == [("second", "third")]
    assert second.id == report.pairs.body_a[0]
    assert Pairs.of(report.contacts).names == [("1", "2")]  # made of rows alone: it knows no names


def test_every_row_as_a_dict_equals_the_columns(report):
    rows, contacts = report.to_dicts(), report.contacts
    for k, row in enumerate(rows):
        assert (row["face_a"], row["face_b"], row["distance"]) == (contacts.face_a[k], contacts.face_b[k], contacts.distance[k])
        assert row["kind"] == jostle.Kind(int(contacts.kind[k])).name
        assert row["point"] == contacts.point[k].tolist()
        assert row["normal"] == contacts.normal[k].tolist()
        assert row["time"] is None
    assert contacts.to_dicts()[0]["body_a"] == 0
    assert jostle.Report().to_dicts() == []


class Escaped(HTMLParser):
    """The tags and the words of a table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_notebooks_show_a_table_of_at_most_20_rows(report):
    shown = Escaped(report.contacts._repr_html_())
    assert len(report.contacts) > 20
    assert shown.tags.count("tr") == 1 + 20
    assert shown.words[-1] == f"… and {len(report.contacts) - 20} more"
    shown = Escaped(report._repr_html_())
    assert shown.tags.count("tr") == 1 + len(report.pairs)
    assert {repr(report), "box 0", "CROSSING"} <= set(shown.words)
    assert Escaped(report.pairs._repr_html_()).tags.count("tr") == 1 + len(report.pairs)
    assert Escaped(jostle.Report()._repr_html_()).words == ["<Report: 0 pairs (free), 0 rows>"]


def test_names_of_bodies_are_escaped_in_notebooks():
    world, name = jostle.World("brute_force"), "<script>alert('&')</script>"
    world.add(box(), name=name)
    world.add(box(), translation((0.5, 0.25, 0.125)), name='"><img src=x onerror=alert(1)>')
    report = world.detect()
    for shown in (report, report.pairs):
        text = Escaped(shown._repr_html_())
        assert name in text.words
        assert not {"script", "img"} & set(text.tags)


@pytest.mark.small
def test_columns_are_given_by_name_and_some_may_be_left_out():
    ints, kinds, numbers = np.zeros(2, np.int32), np.zeros(2, np.uint8), np.zeros(2)
    rows = Contacts(body_a=ints, body_b=ints, face_a=ints, face_b=ints, kind=kinds, distance=numbers)
    assert np.isnan(rows.depth).all()
    assert len(rows.time) == 2
    assert len(rows.select(np.array([0])).depth) == 1
    with pytest.raises(TypeError, match="deepness"):
        Contacts(body_a=ints, deepness=ints)
    with pytest.warns(DeprecationWarning, match="by name"):
        assert len(Contacts(ints, ints, ints, ints, kinds, numbers).distance) == 2
    with pytest.raises(AttributeError, match="kind"):
        _ = Contacts(body_a=ints).kind
    again = pickle.loads(pickle.dumps(rows))
    assert np.isnan(again.time).all()
    assert len(again.distance) == 2


def test_a_new_column_of_contacts_is_one_line(monkeypatch):
    """Declare one more column, as in a copy of the class: rows are selected, joined and exported with it."""
    monkeypatch.setattr(jostle.report.report, "CONTACT_COLUMNS", (*jostle.report.report.CONTACT_COLUMNS, "slip"))
    monkeypatch.setattr(rows_of_methods, "CONTACT_COLUMNS", jostle.report.report.CONTACT_COLUMNS)
    monkeypatch.setattr(Contacts, "_known", Contacts._known | {"slip"})
    monkeypatch.setattr(Contacts, "slip", jostle.report.report.LeftOut("slip"), raising=False)
    for name in ("wide_tree", "brute_force", "voxmap", "image_space"):
        world = jostle.World(name)
        world.add(box(), name="a")
        world.add(box(), translation((0.5, 0.25, 0.125)), "b")
        report = world.detect()
        assert len(report.contacts) > 0
        assert report.to_dicts()[0]["slip"] is None
        assert np.isnan(report.to_array()["slip"]).all()
        assert len(report.between("a", "b").slip) == len(report.contacts)


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
    kind = rng.integers(0, 5, rows).astype(np.uint8)
    return Contacts(body_a=a, body_b=b, face_a=faces, face_b=faces, kind=kind, distance=distance, time=time)


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
            Contacts(body_a=pairs_a[pair], body_b=pairs_b[pair], face_a=body_a, face_b=body_b, kind=kind, distance=distance)
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
        missing, gone = first.changes_since(second)
        assert list(missing) == sorted(set(first) - set(second))
        assert list(gone) == sorted(set(second) - set(first))
        assert [len(none) for none in first.changes_since(first)] == [0, 0]
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
