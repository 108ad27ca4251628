"""The default engine's gears: who answers when, by counted operations, and that no report shows the change."""

import pickle

import numpy as np
import pytest

import jostle
from jostle.errors import NoCompiler
from jostle.methods.plain.operations import least_operations
from jostle.shapes.build import box, icosphere
from jostle.world import gears
from jostle.world.gears import COMPILING, LOADING, ROWS, Ledger
from tests.methods.plain.compare import COLUMNS, PAIR_COLUMNS, forget_compiled_kernels, same_bytes
from tests.world import compare_gears


@pytest.fixture
def ledger(monkeypatch):
    """A ledger as in a new process, where no kernel is loaded; files of kernels are there or not as the test says."""
    fresh = Ledger()
    monkeypatch.setattr(gears, "LEDGER", fresh)
    monkeypatch.setattr(gears, "is_loaded", lambda question: False)
    fresh.stored = set()
    fresh.looks = 0

    def is_stored(question):
        fresh.looks += 1
        return question in fresh.stored

    monkeypatch.setattr(gears, "is_stored", is_stored)
    monkeypatch.delenv("JOSTLE_COMPILE", raising=False)
    return fresh


def two_spheres(method=None):
    world = jostle.World(method)
    world.add(icosphere(2), name="first")
    world.add(icosphere(2), jostle.translation((1.5, 0.1, 0.2)), "second")
    return world


@pytest.mark.parametrize(("stored", "price"), [(True, LOADING), (False, COMPILING)])
def test_a_question_goes_over_when_plain_has_cost_as_much(ledger, stored, price):
    ledger.stored = {ROWS} if stored else set()
    world = two_spheres()
    world.detect()
    each, least = ledger.spent, least_operations(2 * len(icosphere(2).faces))
    ledger.spent = price - least - 5 * each
    engines = [world.detect().counters.engine for _ in range(7)]
    assert engines == ["plain"] * 5 + ["wide_tree"] * 2


def test_the_rule_counts_the_least_cost_of_the_next_question(ledger):
    ledger.stored = {ROWS}
    ledger.spent = LOADING - 1000
    assert not ledger.goes_over(ROWS, 999)
    assert ledger.goes_over(ROWS, 1000)


def test_loaded_kernels_are_used_at_once(ledger, monkeypatch):
    monkeypatch.setattr(gears, "is_loaded", lambda question: question == ROWS)
    world = two_spheres()
    assert world.engine == "plain"  # nobody has answered yet
    assert world.detect().counters.engine == world.engine == "wide_tree"
    assert world.distance(0, 1) is not None
    assert world.engine == "plain"  # its kernels are others
    assert ledger.looks == 0


def test_files_are_looked_for_now_and_then(ledger):
    for spent in range(0, COMPILING, 1000):
        ledger.spent = spent
        assert not ledger.goes_over(ROWS, 0)
    assert ledger.looks <= COMPILING // LOADING + 1
    assert ledger.goes_over(ROWS, 1000)


def test_who_must_not_compile_stays_on_plain(ledger, monkeypatch):
    monkeypatch.setenv("JOSTLE_COMPILE", "never")
    ledger.spent = 100 * COMPILING
    world = two_spheres()
    assert world.detect().counters.engine == "plain"
    ledger.stored = {ROWS}
    ledger.spent += LOADING
    assert world.detect().counters.engine == "wide_tree"  # loading is allowed


def test_kernels_that_turn_out_to_be_missing_leave_plain_to_answer(ledger, monkeypatch):
    ledger.spent = COMPILING
    expected = two_spheres("plain").detect()
    world = two_spheres()

    def refuse(*arguments):
        raise NoCompiler("no compiler")

    monkeypatch.setattr("jostle.methods.wide_tree.detector.find_rows_parallel", refuse)
    for _ in range(2):
        report = world.detect()
        assert report.counters.engine == world.engine == "plain"
        assert same_bytes(report.contacts, expected.contacts, COLUMNS)
    assert world.distance(0, 1).distance == 0.0
    assert world.engine == "wide_tree"
    monkeypatch.setattr("jostle.methods.wide_tree.pose_sets.find_rows_parallel", refuse)
    with pytest.raises(NoCompiler):
        world.detect_many(world.poses[None])


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_going_over_without_memory_or_stack_leaves_plain_to_answer(ledger, monkeypatch, error):
    ledger.spent = COMPILING
    expected = two_spheres("plain").detect()
    world = two_spheres()

    def fail(*arguments):
        raise error

    monkeypatch.setattr("jostle.methods.wide_tree.detector.find_rows_parallel", fail)
    for _ in range(2):
        report = world.detect()
        assert report.counters.engine == world.engine == "plain"
        assert same_bytes(report.contacts, expected.contacts, COLUMNS)
    assert world._detector._high is None  # it may have stopped anywhere
    assert world.distance(0, 1).distance == 0.0
    assert world.engine == "wide_tree"


def test_an_interrupt_while_going_over_leaves_the_world_as_it_was(ledger, monkeypatch):
    world = two_spheres()
    before = world.detect()
    ledger.spent = COMPILING
    with monkeypatch.context() as patched:

        def interrupt(*arguments):
            raise KeyboardInterrupt

        patched.setattr("jostle.methods.wide_tree.detector.find_rows_parallel", interrupt)
        with pytest.raises(KeyboardInterrupt):
            world.detect()
    after = world.detect()
    assert world.engine == "wide_tree"
    assert same_bytes(after.contacts, before.contacts, COLUMNS)
    assert len(after.began) == 0


@pytest.mark.parametrize("query", [{}, {"clearance": 0.2}, {"rows": "pairs"}, {"solid": True}, {"self_collision": True}], ids=str)
def test_no_frame_shows_the_change_of_gears(ledger, query):
    worlds = {method: frames_of(two_spheres(method), query, ledger) for method in ("plain", "wide_tree", None)}
    engines = []
    for plain, compiled, geared in zip(*worlds.values(), strict=True):
        engines.append(geared.counters.engine)
        for one in (plain, compiled):
            assert same_bytes(geared.contacts, one.contacts, (*COLUMNS, "segment", "normal", "time", "depth"))
            for pairs in ("pairs", "began", "ended"):
                assert same_bytes(getattr(geared, pairs), getattr(one, pairs), PAIR_COLUMNS)
    assert engines == ["plain"] * 6 + ["wide_tree"] * 6


def frames_of(world, query, ledger):
    """Yield the reports of a sphere that passes another; between the sixth and seventh frame it pays to go over."""
    ledger.spent = 0
    for frame in range(12):
        if frame == 6:
            ledger.spent = COMPILING
        world["second"].pose = jostle.translation((2.5 - 0.4 * frame, 0.1, 0.2))
        yield world.detect(**query)


def test_bodies_that_come_and_go_are_known_to_both_gears(ledger):
    world, compiled = two_spheres(), two_spheres("wide_tree")
    for spent in (0, 0, COMPILING, COMPILING):
        ledger.spent = spent
        reports = []
        for each in (world, compiled):
            each.add(box(), jostle.translation((0.1 * len(each), 0.9, 0.0)))
            if spent:
                each.remove(each.bodies[0])
            reports.append(each.detect())
        assert same_bytes(reports[0].contacts, reports[1].contacts, COLUMNS)
        assert len(reports[0].contacts) > 0
    assert world.engine == "wide_tree"


def test_a_deforming_body_is_known_to_both_gears(ledger):
    found = []
    for method in (None, "wide_tree"):
        world = jostle.World(method)
        world.add(icosphere(2), deformable=True, name="soft")
        world.add(icosphere(2), jostle.translation((2.5, 0.0, 0.0)))
        ledger.spent = 0
        for frame in range(4):
            ledger.spent = COMPILING if frame >= 2 else 0
            world["soft"].vertices = icosphere(2).vertices * (1.0 + 0.3 * frame)
            found.append(world.detect())
        assert world.engine == "wide_tree"
    for geared, compiled in zip(found[:4], found[4:], strict=True):
        assert same_bytes(geared.contacts, compiled.contacts, COLUMNS)
    assert [len(report.contacts) > 0 for report in found[:4]] == [False, False, True, True]


@pytest.mark.parametrize("method", ["wide_tree", "plain", jostle.WideTree()])
def test_a_named_method_is_used_itself(ledger, method):
    world = two_spheres(method)
    name = method if isinstance(method, str) else "wide_tree"
    assert world.engine == name
    assert world.detect().counters.engine == world.engine == name


def test_copies_and_files_keep_the_gears(ledger, tmp_path):
    world = two_spheres()
    world.save(tmp_path / "world.npz")
    two_spheres("wide_tree").save(tmp_path / "named.npz")
    for again in (pickle.loads(pickle.dumps(world)), jostle.World.load(tmp_path / "world.npz")):
        assert again.detect().counters.engine == "plain"
        assert again.method == jostle.WideTree()
    assert jostle.World.load(tmp_path / "named.npz").engine == "wide_tree"


def test_contact_geometry_is_counted_when_it_is_computed(ledger):
    world = two_spheres()
    report = world.detect()
    rows = ledger.spent
    del world  # whoever asks `collide` has none
    assert np.isfinite(report.contacts.normal).all()
    assert ledger.spent > rows


@pytest.mark.parametrize(
    "ask",
    [lambda mesh: jostle.collide(mesh, mesh), lambda mesh: jostle.distance(mesh, mesh), jostle.self_collide],
    ids=["collide", "distance", "self_collide"],
)
def test_questions_without_a_world_are_counted(ledger, ask):
    spent = []
    for _ in range(3):
        ask(icosphere(1))
        spent.append(ledger.spent)
    assert 0 < spent[0] < spent[1] < spent[2]


def test_plain_neither_warns_nor_raises_whatever_numpy_is_told(ledger):
    world = jostle.World()
    world.add(box(), deformable=True)  # its bounds are infinite
    world.add(box(), jostle.translation((3.0, 0.0, 0.0)))
    forget_compiled_kernels()
    with np.errstate(all="raise"):
        assert len(world.detect(solid=True).contacts) == 0
    assert world.engine == "plain"


def test_random_worlds_show_no_change_of_gears():
    assert compare_gears.main(26) == 0  # two of each family
