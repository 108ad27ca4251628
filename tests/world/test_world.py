"""World and Body: what a user holds."""

import copy
import dataclasses
import gc
import inspect
import pickle
import threading
import warnings

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.registry import METHODS
from jostle.world.body_table import COLUMNS
from tests.tiny import box, random_soup, tetrahedron


@pytest.fixture
def world():
    return small_world(None)


def small_world(method):
    made = jostle.World(method)
    made.add(box(), name="a")
    made.add(box(), translation((0.5, 0.25, 0.125)), name="b")
    made.add(box(), translation((5, 0, 0)), name="c")
    return made


@pytest.mark.small
def test_bodies_are_found_by_name_and_id_and_ids_are_never_reused(world):
    assert [body.name for body in world] == ["a", "b", "c"]
    assert world["b"].id == 1
    assert world[1] == world["b"]
    assert world["b"] in world
    assert "b" in world
    removed = world["b"]
    world.remove("b")
    assert removed not in world
    assert repr(removed) == "<Body 1: removed>"
    added = world.add(box(), name="b")
    assert added.id == 3
    assert [body.id for body in world] == [0, 2, 3]
    with pytest.raises(jostle.InputError, match="body 1 is not in this world"):
        _ = removed.pose


@pytest.mark.small
def test_names_are_unique(world):
    with pytest.raises(jostle.InputError, match="'a' is in the world already"):
        world.add(box(), name="a")
    assert len({world.add(box()).name for _ in range(3)}) == 3


def test_detect_reports_the_touching_pair_with_ids(world):
    world.remove("a")
    moved = world.add(box(), translation((5.5, 0.25, 0.125)))
    report = world.detect()
    assert list(report.pairs) == [(2, moved.id)]
    assert (world["c"], moved) in report.pairs
    assert report.touching
    assert bool(report)
    assert set(report.contacts.body_a) == {2}
    assert report.names[2] == "c"


def test_began_and_ended_compare_with_the_last_report(world):
    first = world.detect()
    assert list(first.began) == [(0, 1)]
    assert not len(first.ended)
    second = world.detect()
    assert not len(second.began)
    assert not len(second.ended)
    world["c"].pose = translation((0.5, 0.5, 0.5))
    world["b"].pose = translation((9, 0, 0))
    third = world.detect()
    assert list(third.began) == [(0, 2)]
    assert list(third.ended) == [(0, 1)]


def test_filters_static_group_category_mask_and_ignore(world):
    def touching():
        return list(world.detect(rows="pairs").pairs)

    a, b = world["a"], world["b"]
    assert touching() == [(0, 1)]
    a.static = True
    assert touching() == [(0, 1)]
    b.static = True
    assert touching() == []
    b.static = False
    a.group = b.group = 7
    assert touching() == []
    b.group = None
    assert touching() == [(0, 1)]
    a.category = 2
    assert touching() == [(0, 1)]
    b.mask = 0b1101
    assert touching() == []
    b.mask = 0b0010
    assert touching() == [(0, 1)]
    world.ignore(a, b)
    assert touching() == []
    world.ignore("b", "a", ignored=False)
    assert touching() == [(0, 1)]
    world.ignore(a, b)
    world.remove("c")
    again = world.add(box(), translation((0.1, 0.1, 0.1)))
    assert touching() == [(1, again.id)] or (0, 1) not in touching()
    with pytest.raises(jostle.InputError, match="itself"):
        world.ignore(a, a)


@pytest.mark.small
def test_poses_are_read_only_and_set_poses_sets_all_or_some(world):
    with pytest.raises(ValueError, match="read-only"):
        world["a"].pose[0, 3] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        world.poses[0] = np.eye(4)
    with pytest.raises(ValueError, match="read-only"):
        world["a"].vertices[0] = 1.0
    poses = np.stack([translation((k, 0, 0)) for k in range(3)])
    world.set_poses(poses)
    assert np.array_equal(world.poses, poses)
    world.set_poses(poses[:1], ["c"])
    assert np.array_equal(world["c"].pose, poses[0])
    assert np.array_equal(world["b"].pose, poses[1])


@pytest.mark.small
def test_what_is_set_is_copied_and_frames_do_not_follow():
    method = Recorder()
    world = jostle.World(method)
    a = world.add(tetrahedron(), name="a", deformable=True)
    b = world.add(tetrahedron(), name="b")
    poses = np.stack([translation((k, 0, 0)) for k in (1, 2)])
    points = np.array(a.mesh.vertices) + 1.0
    world.set_poses(poses)
    a.vertices = points
    poses[:] = np.eye(4)
    points[:] = 7.0
    world.detect()
    b.pose = translation((9, 0, 0))
    a.vertices = a.mesh.vertices
    world.detect()
    world.set_poses(np.stack([np.eye(4)] * 2))
    world.detect()
    first, second, third = method.frames
    assert first.poses[:, 0, 3].tolist() == [1, 2]
    assert second.poses_t0[:, 0, 3].tolist() == [1, 2]
    assert second.poses[:, 0, 3].tolist() == [1, 9]
    assert third.poses_t0[:, 0, 3].tolist() == [1, 9]
    assert third.poses[:, 0, 3].tolist() == [0, 0]
    assert np.array_equal(first.vertices[0], a.mesh.vertices + 1.0)
    assert np.array_equal(second.vertices_t0[0], a.mesh.vertices + 1.0)
    assert np.array_equal(second.vertices[0], a.mesh.vertices)
    assert [frame.moved.tolist() for frame in method.frames] == [[True, True], [False, True], [True, True]]
    assert [frame.deformed.tolist() for frame in method.frames] == [[True, False], [True, False], [False, False]]
    for frame in method.frames:
        for column in (frame.poses, frame.poses_t0, frame.moved, frame.deformed, frame.static, frame.group, frame.mask):
            assert not column.flags.writeable


@pytest.mark.small
def test_vertices_of_any_layout_are_taken_and_zeros_lose_their_sign():
    world = jostle.World("brute_force")
    soft = world.add(tetrahedron(), name="soft", deformable=True)
    exact = np.arange(12.0).reshape(4, 3) - 5.0
    for given in (exact, np.asfortranarray(exact), exact.astype(np.float32), exact.astype(int), exact.tolist(), exact[::-1][::-1]):
        soft.vertices = given
        assert np.array_equal(soft.vertices, exact)
        assert soft.vertices.flags.c_contiguous
        assert not soft.vertices.flags.writeable
    soft.vertices = -0.0 * exact
    assert not np.signbit(soft.vertices).any()
    for bad in (np.nan, np.inf, 1e31):
        broken = exact.copy()
        broken[2, 1] = bad
        with pytest.raises(jostle.InputError, match=r"body 'soft': vertices\[2, 1\]"):
            soft.vertices = broken


def test_reports_stay_true_when_the_world_moves_on(world):
    report = world.detect()
    world["b"].pose = translation((50, 0, 0))
    soft = jostle.World()
    soft.add(box(), name="a", deformable=True)
    soft.add(box(), translation((0.5, 0.25, 0.125)), name="b")
    other = soft.detect()
    soft["a"].vertices = box().vertices * 2
    for each in (report, other):
        assert (each.contacts.point >= 0).all()
        assert (each.contacts.point <= 1.5).all()
    assert np.array_equal(report.contacts.point, other.contacts.point)


def test_deforming_bodies_are_seen_with_their_new_vertices():
    world = jostle.World()
    soft = world.add(box(), name="soft", deformable=True)
    world.add(box(), translation((2, 0.25, 0.25)), name="wall")
    assert not world.detect()
    soft.vertices = soft.mesh.vertices * (3, 1, 1)
    assert world.detect().touching
    assert np.array_equal(soft.world_vertices, soft.mesh.vertices * (3, 1, 1))
    before = soft.vertices
    for bad in (np.zeros((7, 3)), np.full((8, 3), np.nan)):
        with pytest.raises(jostle.InputError, match="'soft'"):
            soft.vertices = bad
    assert soft.vertices is before
    with pytest.raises(jostle.InputError, match="deformable=True"):
        world["wall"].vertices = before


class Recorder:
    """A method that keeps the frames it was shown."""

    def __init__(self):
        self.inner = jostle.BruteForce()
        self.traits, self.shape_type, self.prepare_shape = self.inner.traits, self.inner.shape_type, self.inner.prepare_shape
        self.frames, self.changes, self.fail = [], [], False

    def start(self, bodies, shapes):
        return self

    def detect(self, frame, query):
        if self.fail:
            raise RuntimeError("on purpose")
        self.frames.append(frame)
        return jostle.Report()

    def change(self, bodies, shapes, old_to_new):
        self.changes.append(old_to_new.tolist())


@pytest.mark.small
def test_a_frame_knows_the_motion_since_the_last_successful_detect():
    method = Recorder()
    world = jostle.World(method)
    a = world.add(tetrahedron(), name="a", deformable=True)
    world.add(tetrahedron(), name="b")
    places = [translation((k, 0, 0)) for k in range(5)]
    a.pose = places[1]
    world.detect()
    frame = method.frames[-1]
    assert np.array_equal(frame.poses_t0[0], np.eye(4))
    assert np.array_equal(frame.poses[0], places[1])
    assert frame.time == 0.0
    world.detect()
    frame = method.frames[-1]
    assert not frame.moved.any()
    assert not frame.deformed.any()
    assert np.array_equal(frame.poses_t0[0], places[1])
    assert frame.time == world.dt
    a.pose = places[2]
    a.vertices = a.mesh.vertices * 2
    method.fail = True
    with pytest.raises(RuntimeError):
        world.detect()
    method.fail = False
    a.pose = places[3]
    world.detect()
    frame = method.frames[-1]
    assert frame.moved.tolist() == [True, False]
    assert frame.deformed.tolist() == [True, False]
    assert np.array_equal(frame.poses_t0[0], places[1])
    assert np.array_equal(frame.vertices_t0[0], a.mesh.vertices)
    assert np.array_equal(frame.vertices[0], a.mesh.vertices * 2)
    a.teleport(places[4])
    world.detect()
    frame = method.frames[-1]
    assert frame.moved[0]
    assert np.array_equal(frame.poses_t0[0], places[4])
    a.teleport(vertices=a.mesh.vertices * 3)
    a.pose = places[0]
    world.detect()
    frame = method.frames[-1]
    assert frame.deformed[0]
    assert np.array_equal(frame.vertices_t0[0], a.mesh.vertices * 3)
    assert np.array_equal(frame.vertices[0], a.mesh.vertices * 3)
    assert np.array_equal(frame.poses_t0[0], places[4])
    world.remove("a")
    world.add(tetrahedron(), name="d")
    world.detect()
    assert method.changes == [[-1, 0]]


def test_worlds_bodies_and_reports_pickle(world):
    report = world.detect()
    again = pickle.loads(pickle.dumps(world))
    assert [body.name for body in again] == ["a", "b", "c"]
    second = again.detect()
    assert second.contacts.to_array().tobytes() == report.contacts.to_array().tobytes()
    copied = pickle.loads(pickle.dumps(report))
    assert copied.contacts.to_array().tobytes() == report.contacts.to_array().tobytes()
    assert copied.names == report.names
    body = pickle.loads(pickle.dumps(world["b"]))
    assert body.name == "b"


def test_worlds_are_saved_and_loaded_with_prepared_shapes(tmp_path):
    world = small_world(jostle.BoundingTree())
    soft = world.add(tetrahedron(), name="soft", deformable=True, group=3, category=2, mask=6)
    world.remove("c")
    world.ignore("a", "soft")
    world.detect()
    soft.vertices = soft.mesh.vertices + 0.25
    world["b"].pose = rotation_about((1, 2, 3), 0.5)
    world.save(tmp_path / "scene.npz")
    again = jostle.World.load(tmp_path / "scene.npz")

    def refuse(mesh, progress=None):
        raise AssertionError("prepared again")

    object.__setattr__(again.method, "prepare_shape", refuse)
    assert [(body.id, body.name) for body in again] == [(body.id, body.name) for body in world]
    assert np.array_equal(again.poses, world.poses)
    assert again["soft"].group == 3
    mine, theirs = world._frame(), again._frame()
    assert np.array_equal(mine.poses_t0, theirs.poses_t0)
    assert np.array_equal(mine.vertices_t0[2], theirs.vertices_t0[2])
    assert np.array_equal(mine.ignored, theirs.ignored)
    assert again.time == world.time
    assert again.detect().to_array().tobytes() == world.detect().to_array().tobytes()
    assert again.add(box()).id == world.add(box()).id


@pytest.mark.small
def test_damaged_world_files_are_refused(world, tmp_path):
    for content in (b"", b"PK\x03\x04 nonsense", b"hello"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(jostle.InputError, match=r"bad\.npz"):
            jostle.World.load(tmp_path / "bad.npz")
    with pytest.raises(jostle.InputError, match="no such file"):
        jostle.World.load(tmp_path / "missing.npz")
    with pytest.raises(jostle.InputError, match="does not exist"):
        world.save(tmp_path / "nowhere" / "x.npz")
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.small
def test_a_second_thread_is_told_that_the_world_is_busy():
    started, finish, seen = threading.Event(), threading.Event(), []

    class Slow(Recorder):
        def detect(self, frame, query):
            started.set()
            finish.wait(10)
            return jostle.Report()

    world = jostle.World(Slow())
    body = world.add(tetrahedron())
    thread = threading.Thread(target=world.detect)
    thread.start()
    started.wait(10)
    for action in (world.detect, lambda: world.add(tetrahedron()), lambda: setattr(body, "pose", np.eye(4))):
        with pytest.raises(jostle.BusyError):
            action()
        seen.append(True)
    finish.set()
    thread.join()
    assert len(seen) == 3
    assert len(world) == 1
    world.add(tetrahedron())


@pytest.mark.small
def test_a_progress_callback_must_not_use_the_world():
    world = jostle.World("brute_force")
    body = world.add(tetrahedron())
    refused = []

    def progress(share, what):
        for action in (world.detect, lambda: setattr(body, "pose", np.eye(4)), world.detect):
            with pytest.raises(jostle.BusyError, match="callback"):
                action()
            refused.append(what)

    world.prepare(progress)
    assert len(refused) == 3
    assert world.time == 0.0
    assert not world.detect()


@pytest.mark.small
def test_units_are_not_mixed():
    world = jostle.World()
    millimetres = jostle.Mesh(box().vertices, box().faces, units="mm")
    world.add(millimetres)
    world.add(box())
    assert world.units == "mm"
    with pytest.raises(jostle.InputError, match="in m, this world in mm"):
        world.add(jostle.Mesh(box().vertices, box().faces, units="m"))


@pytest.mark.small
def test_unsupported_queries_are_refused_before_any_work():
    world = jostle.World()
    world.add(box())
    with pytest.raises(jostle.Unsupported, match="motion"):
        world.detect(motion=True)
    with pytest.raises(jostle.Unsupported, match="budget"):
        world.detect(budget=jostle.Budget(seconds=0.1))
    assert world.time == 0.0
    assert world._detector is None


def test_equal_meshes_share_one_prepared_shape(world):
    world.add(jostle.Mesh(box().vertices, box().faces, name="equal but another object"))
    world.prepare()
    assert len(world._shapes) == 1
    world.add(tetrahedron())
    world.prepare()
    assert len(world._shapes) == 2


@pytest.mark.small
def test_meshes_are_digested_only_to_tell_apart_those_that_look_alike():
    mesh = random_soup(np.random.default_rng(8), faces=40)
    points = np.array(mesh.vertices)
    points[1, 0] += 1.0  # a vertex that no sample of the first and every n-th sees
    alike, equal, other = jostle.Mesh(points, mesh.faces), jostle.Mesh(mesh.vertices, mesh.faces), tetrahedron()
    world = jostle.World("brute_force")
    for each in (mesh, mesh, other):
        world.add(each)
    world.prepare()
    assert len(world._shapes) == 2
    assert not any("digest" in each.__dict__ for each in (mesh, other))
    for each in (alike, equal):
        world.add(each)
    world.prepare()
    assert len(world._shapes) == 3
    world = pickle.loads(pickle.dumps(world))
    world.method = None  # whatever is prepared again would raise
    world.remove(2)
    world._prepared_shapes(world._settled().bodies.meshes, None)
    assert len(world._shapes) == 2


@pytest.mark.small
def test_an_empty_world_and_a_lonely_body_are_free():
    world = jostle.World()
    assert not world.detect()
    world.add(box())
    assert not world.detect(solid=True, clearance=1.0)
    world.remove(0)
    assert not world.detect()


def test_distance_is_no_step_and_names_two_bodies(world):
    closest = world.distance("a", "c")
    assert closest.distance == 4.0
    assert closest.point_b[0] - closest.point_a[0] == 4.0
    assert world.distance("a", "b").distance == 0.0
    assert world.time == 0.0
    with pytest.raises(jostle.InputError, match="two bodies"):
        world.distance("a", "a")


def test_many_bodies_are_added_in_linear_time():
    world = jostle.World()
    mesh = tetrahedron()
    for k in range(3000):
        world.add(mesh, translation((3.0 * k, 0, 0)))
    assert len(world._table.new) == 3000
    assert world.poses.shape == (3000, 4, 4)


@pytest.mark.parametrize("method", list(METHODS))
def test_an_interrupt_while_bodies_change_leaves_a_usable_world(monkeypatch, method):
    world = jostle.World(method)
    bodies = [world.add(box(), translation((1.5 * k, 0, 0))) for k in range(4)]
    assert not world.detect(rows="pairs")
    world.remove(bodies[1])
    bodies[2].pose = translation((0.5, 0, 0))
    detector = type(world._detector)
    whole = detector.change

    def interrupted(self, *arguments):
        whole(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(detector, "change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        world.detect(rows="pairs")
    monkeypatch.undo()
    assert list(world.detect(rows="pairs").pairs) == [(0, 2)]


def test_the_garbage_collector_waits_while_the_clock_of_a_budget_runs(monkeypatch):
    world = jostle.World("monte_carlo")
    world.add(tetrahedron())
    world.add(tetrahedron())
    world.prepare()
    seen = []
    detect = type(world._detector).detect
    monkeypatch.setattr(type(world._detector), "detect", lambda *given: (seen.append(gc.isenabled()), detect(*given))[1])
    assert gc.isenabled()
    world.detect(budget=jostle.Budget(seconds=0.1))
    world.detect(budget=jostle.Budget(operations=100))
    assert seen == [False, True]
    assert gc.isenabled()
    gc.disable()
    try:
        world.detect(budget=jostle.Budget(seconds=0.1))
        assert not gc.isenabled()
    finally:
        gc.enable()


class Acting:
    """A value that acts while it is checked, as a handler or thread may."""

    def __init__(self, act, value):
        self.act, self.value = act, value

    def __array__(self, dtype=None, copy=None):
        self.act()
        return np.array(self.value)


@pytest.mark.parametrize("change", ["add", "remove"])
def test_bodies_that_come_or_go_while_values_are_checked_are_told(change):
    def act():
        world.add(box()) if change == "add" else world.remove(world.bodies[0])

    def tried(call):
        with pytest.raises(jostle.BusyError, match="added or removed"):
            call()

    world = jostle.World()
    for k in range(6):
        world.add(box(), translation((0.5 * k, 0, 0)))
    world.detect()
    tried(lambda: world.set_poses(Acting(act, np.array([np.eye(4)] * len(world)))))
    tried(lambda: world._set_all(Acting(act, np.array([np.eye(4)] * len(world))), {}))
    tried(lambda: world.detect_many(Acting(act, np.array([[np.eye(4)] * len(world)]))))
    if change == "add":
        tried(lambda: world.add(box(name="other"), Acting(act, np.eye(4))))
    count = len(world)
    assert len(world.poses) == count == len({body.id for body in world})
    last = world.bodies[-1]
    last.pose = Acting(act, translation((7, 0, 0)))
    assert last.pose[0, 3] == 7  # its row may be another one
    world.set_poses(Acting(act, [translation((8, 0, 0))]), [last])
    assert [body.id for body in world if body.pose[0, 3] == 8] == [last.id]
    world.detect()


@pytest.mark.parametrize("error", [MemoryError, TimeoutError])
def test_what_a_signal_handler_raises_is_no_fault_of_the_value(error):
    def act():
        raise error("enough")

    with pytest.raises(error, match="enough"):
        jostle.World().add(box(), Acting(act, np.eye(4)))


def test_copies_of_a_world_drop_prepared_shapes_of_their_own():
    world = jostle.World()
    world.add(box())
    world.prepare()
    other = copy.copy(world)
    other.remove(0)
    other.add(tetrahedron())
    other.prepare()
    assert box().digest in [content.mesh.digest for content in world._shapes._shapes]


def test_threads_may_copy_one_world_at_once(monkeypatch):
    """As each of them does that wants a world of its own."""
    world = jostle.World()
    world.add(box())
    held, go_on, copies = threading.Event(), threading.Event(), []
    copied = copy.copy

    def slow(value):
        held.set()
        go_on.wait(10.0)
        return copied(value)

    monkeypatch.setattr("jostle.world.exclusive.PATIENCE", 10.0)
    monkeypatch.setattr("jostle.world.world.copy.copy", slow)
    first = threading.Thread(target=lambda: copies.append(pickle.dumps(world)))
    first.start()
    held.wait(10.0)
    second = threading.Thread(target=lambda: copies.append(pickle.dumps(world)))
    second.start()
    go_on.set()
    first.join()
    second.join()
    assert len(copies) == 2


def test_a_world_is_not_waited_for_by_its_own_callbacks(monkeypatch):
    monkeypatch.setattr("jostle.world.exclusive.PATIENCE", np.inf)
    world, reported = jostle.World(), []
    world.add(box())

    def progress(*_):
        with pytest.raises(jostle.BusyError, match="callback"):
            pickle.dumps(world)
        reported.append(world[0].pose)

    world.prepare(progress)
    assert reported


def test_bodies_can_be_pickled_while_a_thread_looks_at_them():
    world = jostle.World()
    world.add(box())
    bodies = world._frame().bodies
    assert bodies.__getstate__() is not bodies.__dict__
    assert pickle.loads(pickle.dumps(bodies)).names == ("box",)


@pytest.mark.small
@pytest.mark.parametrize("settled", [False, True])
def test_bodies_are_a_list_of_those_that_are_there_now(settled):
    world = jostle.World("brute_force")
    made = [world.add(box(), name=f"box {k}") for k in range(9)]
    if settled:
        assert len(world.poses) == 9
        made.append(world.add(box(), name="late"))
    bodies = world.bodies
    assert bodies == made == list(bodies)
    assert bodies != made[1:]
    assert [bodies[k] for k in range(-len(made), len(made))] == made + made
    assert bodies[np.int64(2)] == made[2]
    assert bodies[2:8:3] == made[2:8:3]
    assert bodies[::-1] == list(reversed(bodies)) == made[::-1]
    assert bodies + made[:1] == [*made, made[0]]
    assert made[:1] + bodies == [made[0], *made]
    assert made[3] in bodies
    assert bodies.index(made[3]) == 3
    for bad in (len(made), -len(made) - 1):
        with pytest.raises(IndexError):
            _ = bodies[bad]
    with pytest.raises(TypeError):
        _ = bodies["box 0"]
    assert repr(bodies).startswith("[<Body 0 'box 0': 12 faces>, ")
    assert repr(bodies).endswith(", …]")
    for body in bodies:  # those that were there: bodies that go do not change the list
        world.remove(body)
    assert len(bodies) == len(made)
    assert len(world.bodies) == 0
    assert pickle.loads(pickle.dumps(jostle.World().bodies)) == []


# ---------------------------------------------------------------------- options of calls

OPTIONS = {field.name: field.default for field in dataclasses.fields(jostle.Query)} | {"self_collision": False}


@pytest.mark.small
def test_detect_shows_every_option_of_a_query_with_its_default():
    parameters = inspect.signature(jostle.World.detect).parameters
    shown = {name: each for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}
    assert {name: repr(each.default) for name, each in shown.items()} == {name: repr(value) for name, value in OPTIONS.items()}
    for name in shown:
        assert name in jostle.World.detect.__doc__
    assert OPTIONS.keys() <= inspect.signature(jostle.collide).parameters.keys()
    for call in (jostle.collide, jostle.self_collide):
        with pytest.raises(jostle.InputError, match=f"{call.__name__} does not know 'clearence'; it takes adjacent"):
            call(box(), **({"b": box()} if call is jostle.collide else {}), clearence=1.0)


@pytest.mark.small
def test_options_that_are_given_replace_those_of_a_query():
    world = jostle.World("brute_force")
    world.add(box())
    world.add(box(), translation((3.0, 0.0, 0.0)))
    query = jostle.Query(clearance=2.5, rows="pairs")
    assert len(world.detect(query).pairs) == 1
    assert len(world.detect(query).contacts) == 0
    assert len(world.detect(query, rows="faces").contacts) > 0
    assert len(world.detect(query, clearance=0.0).pairs) == 0  # the default, but it was given
    with pytest.raises(jostle.InputError, match=r"pass a jostle\.Query"):
        world.detect("faces")
    with pytest.raises(jostle.InputError, match=r"pass a jostle\.Query"):
        world.detect("faces", solid=True)


@pytest.mark.small
def test_self_collision_and_itself_are_one_option():
    for query in (jostle.Query(self_collision=True), jostle.Query(itself=True), jostle.Query(itself=True, self_collision=True)):
        assert query.itself
        assert query.self_collision
        assert query == jostle.Query(itself=True)
        assert not dataclasses.replace(query, itself=False).self_collision
    assert not jostle.Query(itself=False, self_collision=False).itself
    with pytest.raises(jostle.InputError, match="itself is True and self_collision is False"):
        jostle.Query(itself=True, self_collision=False)
    crossing = ([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, -1), (0.5, 0.5, 1), (0.7, 0.5, 1)], [(0, 1, 2), (3, 4, 5)])
    world = jostle.World("brute_force")
    world.add(crossing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(world.detect(itself=True).pairs) == list(world.detect(self_collision=True).pairs) == [(0, 0)]
    assert list(world.detect(jostle.Query(itself=True), self_collision=False).pairs) == []
    assert list(world.detect(jostle.Query(itself=True), adjacent=True).pairs) == [(0, 0)]
    assert len(jostle.self_collide(crossing).contacts) == 1
    assert world.safe_step(self_collision=True) == world.safe_step(itself=True)
    with pytest.raises(jostle.InputError, match="two names"):
        world.safe_step(self_collision=True, itself=False)


@pytest.mark.small
def test_remembered_options_are_not_taken_for_equal_ones_of_another_type():
    world = jostle.World("wide_tree")
    for k in range(2):
        world.add(box(), translation([0.5 * k, 0.0, 0.0]))
    assert world.detect(rows="any", solid=True, clearance=1.0)
    for wrong in ({"solid": 1}, {"clearance": True}, {"rows": ["any"]}):
        with pytest.raises(jostle.InputError):
            world.detect(**{"rows": "any", "solid": True, "clearance": 1.0, **wrong})


@pytest.mark.small
def test_a_frame_keeps_its_poses_whatever_is_placed_later():
    world = jostle.World("wide_tree")
    first, second = (world.add(box(), translation([3.0 * k, 0.0, 0.0])) for k in range(2))
    for k in range(3):
        frame = world._frame()
        before = frame.poses.copy(), frame.moved.copy()
        if k == 1:
            second.static = True
        for body in (first, second, first):
            body.pose = translation([0.1 * k, float(body.id), 1.0])
            if body is first:
                assert not any(column.flags.writeable for column in (frame.poses, frame.moved, frame.static))
        assert (frame.poses == before[0]).all()
        assert (frame.moved == before[1]).all()
        later = world._frame()
        assert (later.poses[1] == second.pose).all()
        assert not any(getattr(later, name).flags.writeable for name in COLUMNS)
        world.detect()


def test_preparing_shows_a_line_if_it_is_asked_for_and_takes_long(monkeypatch, capsys):
    monkeypatch.setattr("jostle.kernels.progress.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("jostle.kernels.progress.LINE_SECONDS", 0.0)
    monkeypatch.delenv("JOSTLE_QUIET", raising=False)
    world = jostle.World("bounding_tree")
    world.add(jostle.Mesh(box().vertices, box().faces, name="a box"))
    world.prepare(progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "jostle: preparing, 0%: a box"
    assert lines[-1] == "jostle: preparing took 0 s"
    world = jostle.World("bounding_tree")
    world.add(box())
    world.prepare(progress=False)
    monkeypatch.setenv("JOSTLE_QUIET", "1")
    world.prepare(progress=True)
    assert capsys.readouterr().err == ""
    for wrong in (1, np.array([1, 2]), "yes"):
        with pytest.raises(jostle.InputError, match=r"progress is .*; pass True"):
            world.prepare(progress=wrong)


def test_a_line_of_preparing_ends_when_preparing_does(monkeypatch, capsys):
    monkeypatch.setattr("jostle.kernels.progress.PATIENCE_SECONDS", 0.0)
    monkeypatch.delenv("JOSTLE_QUIET", raising=False)

    class Interrupted(jostle.Plain):
        def prepare_shape(self, mesh, progress=None):
            raise KeyboardInterrupt

    world = jostle.World(Interrupted())
    world.add(box())
    with pytest.raises(KeyboardInterrupt):
        world.prepare(progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == "jostle: preparing ended after 0 s, unfinished"


@pytest.mark.small
def test_shares_of_preparing_are_of_the_meshes_that_are_missing():
    world, shares = jostle.World("brute_force"), []
    for _ in range(5):
        world.add(box())
        world.add(tetrahedron())
    world.prepare(lambda share, what: shares.append(share))
    assert shares == [0.0, 0.5]
    world.add(box((3.0, 1.0, 1.0)))
    world.prepare(lambda share, what: shares.append(share))
    assert shares == [0.0, 0.5, 0.0]
