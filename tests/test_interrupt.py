"""Ctrl-C works soon; a call is all or nothing, and the world stays usable."""

import copy
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.kernels.handles import AddressTable
from jostle.kernels.pool import map_chunks
from jostle.motion.record import Recorder
from jostle.shapes import build
from jostle.sim import Simulation
from tests.interrupts import rows_of, state_of
from tests.tiny import box, tetrahedron
from tests.traced_interrupts import interrupted, with_handler

CODE = """
import os, signal, threading, time
import numpy as np
import jostle
from jostle.shapes import build

world = jostle.World({method})
world.add(build.box())
world.add(build.box())
world.detect()                                   # compile first
a = world.add(build.blob(60000, seed=1))
b = world.add(build.blob(60000, seed=2))
sent = []

def interrupt():
    time.sleep(1.0)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    world.detect()
    print("finished")
except KeyboardInterrupt:
    print("heard after", time.perf_counter() - sent[0])
world.remove(a)
world.remove(b)
assert world.detect().touching
print("usable")
"""


@pytest.mark.parametrize(
    "method", ["'brute_force'", "'edge_face'", "jostle.FaceOctree(level=0)", "jostle.OctreeUpdate(level=0, body_level=0)"]
)
def test_ctrl_c_during_a_long_detect_is_heard_and_the_world_stays_usable(method):
    code = CODE.replace("{method}", method)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    heard, usable = result.stdout.splitlines()
    # Seconds of patience, not a measurement: without slices the work would take far longer than this.
    assert heard.startswith("heard after")
    assert float(heard.split()[-1]) < 2.0
    assert usable == "usable"


def some_world(method="bounding_tree"):
    """Bodies that move and deform, a pending body, and a detector at work."""
    world = jostle.World(method)
    for k in range(3):
        world.add(box(), translation((0.8 * k, 0.1 * k, 0.0)), deformable=k == 0)
    world.ignore(0, 2)
    world.detect()
    world.set_poses(world.poses @ translation((0.1, 0.0, 0.2)))
    world[0].vertices = world[0].mesh.vertices * 1.1
    return world


MILLIMETRES = jostle.Mesh(tetrahedron().vertices, tetrahedron().faces, units="mm")
POSES = np.stack([translation((0.3 * k, 0.0, 0.0)) for k in range(3)])
CALLS = {
    "add": lambda world: world.add(tetrahedron()),
    "add a second and settle": lambda world: (world.add(tetrahedron()), world.poses)[0],
    "add with units": lambda world: world.add(MILLIMETRES),
    "remove": lambda world: world.remove(1),
    "ignore": lambda world: world.ignore(1, 2),
    "ignore no more": lambda world: world.ignore(0, 2, False),
    "set_poses": lambda world: world.set_poses(POSES),
    "set some poses": lambda world: world.set_poses(POSES[:2], [0, 2]),
    "pose": lambda world: setattr(world[1], "pose", POSES[2]),
    "teleport": lambda world: world[1].teleport(POSES[2]),
    "teleport with vertices": lambda world: world[0].teleport(POSES[2], box().vertices * 1.2),
    "vertices": lambda world: setattr(world[0], "vertices", box().vertices * 1.3),
    "static": lambda world: setattr(world[1], "static", True),
    "group": lambda world: setattr(world[1], "group", 3),
    "move_to": lambda world: world.move_to(0.5),
    "detect": lambda world: world.detect(),
    "detect with a motion": lambda world: world.detect(motion=True),
    "in_collision": lambda world: world.in_collision(),
    "safe_step": lambda world: world.safe_step(0.01),
    "time": lambda world: setattr(world, "time", 5.0),
}
MANY_PLACES = {"detect with a motion": 13, "safe_step": 17, "detect": 2}  # every so many of these, for the test to be quick


def prepared(world, twice=False):
    """A copy with a detector at work; `twice`: with columns that no frame has seen."""
    world = copy.copy(world)
    world._ready_detector()
    if twice:
        world[2].pose = POSES[1]
        world[2].teleport(POSES[1])
        world[2].pose = POSES[2]
        world[0].vertices = box().vertices
    return world


@pytest.mark.parametrize("twice", [False, True], ids=["sealed", "in place"])
@pytest.mark.parametrize("name", CALLS)
def test_wherever_an_interrupt_comes_a_call_has_done_all_or_nothing(name, twice):
    call, world = CALLS[name], some_world()
    before, after = state_of(prepared(world, twice)), prepared(world, twice)
    call(after)
    after = state_of(after)
    expected = {}
    for at in range(1, 100_000, MANY_PLACES.get(name, 1)):
        tried = prepared(world, twice)
        came = interrupted(lambda tried=tried: call(tried), at)
        assert not tried._exclusive._lock.locked(), at
        assert gc.isenabled(), at
        now = state_of(tried)
        assert now in (before, after), at
        which = now == after
        if which not in expected:
            fresh = prepared(world, twice)
            if which:
                call(fresh)
            expected[which] = rows_of(fresh.detect())
        assert rows_of(tried.detect()) == expected[which], at
        if not came:
            break
    assert at > 1
    assert now == after


READS = {
    "poses": lambda world: world.poses,
    "read a pose": lambda world: world[1].pose,
    "world_vertices": lambda world: world[1].world_vertices,
    "repr": lambda world: (repr(world), repr(world[1])),
    "copy": copy.copy,
    "distance": lambda world: world.distance(0, 3),
    "detect_many": lambda world: world.detect_many(np.stack([world.poses] * 2)),
}
MEANWHILE = {
    name: (CALLS | READS)[name] for name in ("add", "remove", "ignore", "pose", "static", "detect", "time", "world_vertices")
}


def outcome_of(call, world):
    """Return the kind of refusal that a call ended with, None if it succeeded."""
    try:
        call(world)
    except jostle.JostleError as error:
        return type(error)
    return None


@pytest.mark.parametrize("waiting", [False, True], ids=["in place", "a body waits"])
@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("name", [*READS, "add", "remove", "ignore", "pose", "set_poses", "static", "time"])
def test_a_call_and_one_that_comes_in_between_have_done_all_or_nothing(name, meanwhile, waiting):
    """A call from a handler or thread: both run in sequence, or one is refused.

    The other call comes at every second place while a body waits, and at the places in between while none does.
    """
    call, other, world = (CALLS | READS)[name], MEANWHILE[meanwhile], some_world()

    def made():
        fresh = prepared(world, twice=True)
        if waiting:
            fresh.add(tetrahedron(), POSES[1], name="waiting")
        return fresh

    def after(*calls):
        fresh = made()
        for each in calls:
            outcome_of(each, fresh)
        return state_of(fresh), rows_of(fresh.detect())

    alone, both = [after(), after(call), after(other)], [after(call, other), after(other, call)]
    for at in range(2 if waiting else 1, 10_000, 2):
        tried, came = made(), []
        refused = []

        def handler(tried=tried, came=came):
            came.append(outcome_of(other, tried))

        with_handler(lambda tried=tried, refused=refused: refused.append(outcome_of(call, tried)), at, handler)
        if not came:
            break
        assert not tried._exclusive._lock.locked(), at
        done = [act for act, refusal in ((call, refused[0]), (other, came[0])) if refusal is None]
        expected = both if len(done) == 2 else [alone[(call, other).index(done[0]) + 1 if done else 0]]
        assert (state_of(tried), rows_of(tried.detect())) in expected, at
    assert at > 1


def test_wherever_an_interrupt_comes_a_step_of_a_simulation_has_done_all_or_nothing():
    def made():
        world = jostle.World()
        for k in range(2):
            world.add(box(), translation((1.5 * k, 0.2, 0.0)))
        return Simulation(world, velocity=[[1.0, 0, 0], [-1.0, 0, 0]], dt=0.3, response="impulse", gravity=(0, 0, -1.0))

    def state(simulation):
        own = [array.tobytes() for array in (simulation.centre, simulation.velocity, simulation.spin)]
        return state_of(simulation.world), own, simulation.frames

    whole = made()
    states = [state(whole)]
    for _ in range(3):
        whole.step()
        states.append(state(whole))
    at, step = 1, 7  # a prime number of places further each time, for the test to be quick
    while True:
        simulation = made()
        came = interrupted(simulation.step, at)
        done = states.index(state(simulation))
        simulation.step()
        assert state(simulation) == states[done + 1], at
        if not came:
            break
        at += step
    assert at > 10 * step


def test_wherever_an_interrupt_comes_a_capture_is_whole():
    world = some_world()
    for at in range(1, 1000):
        recorder = Recorder(world)
        recorder.capture()
        came = interrupted(recorder.capture, at)
        assert len(recorder) in (1, 2)
        assert len(recorder.motion()) == len(recorder)
        if not came:
            break
    assert len(recorder) == 2


def test_a_budget_in_seconds_never_leaves_the_garbage_collector_off():
    world = jostle.World("monte_carlo")
    world.add(tetrahedron())
    world.add(tetrahedron())
    world.detect(budget=jostle.Budget(seconds=0.1))
    for at in range(1, 60):
        interrupted(lambda: world.detect(budget=jostle.Budget(seconds=0.1)), at)
        assert gc.isenabled()
        assert not world._exclusive._lock.locked()


def test_an_interrupt_after_another_while_a_step_is_undone_leaves_it_undone():
    world = jostle.World()
    world.add(box())
    world.add(box(), translation((3.0, 0.0, 0.0)))
    simulation = Simulation(world, velocity=[[1.0, 0, 0], [-1.0, 0, 0]], dt=0.3)
    before = state_of(world)

    def step():
        raise KeyboardInterrupt

    for at in range(1, 200):
        simulation._respond = lambda *_: step()
        assert interrupted(simulation.step, at)
        assert state_of(world) == before
    del simulation._respond
    simulation.step()
    assert simulation.frames == 1


def test_a_detector_that_was_interrupted_is_not_asked_again_and_one_that_refused_is(monkeypatch):
    world = some_world()
    world.detect()
    first = world._detector

    def raising(error):
        def detect(*_):
            raise error

        return detect

    for error, stays in ((jostle.InputError("no"), True), (KeyboardInterrupt(), False)):
        with monkeypatch.context() as patch:
            patch.setattr(type(first), "detect", raising(error))
            with pytest.raises(type(error)):
                world.detect()
        assert (world._detector is first) == stays
    assert rows_of(world.detect()) == rows_of(world.detect())
    assert world._detector is not first


def test_a_table_of_addresses_never_changes():
    first, second, third = np.arange(3.0), np.arange(4), np.arange(5.0)
    table = AddressTable([[first, second], [third, second]])
    before = table.table.copy()
    other = table.with_rows({1: [first, second]})
    another = other.with_arrays(0, {1: third})
    assert (table.table == before).all()
    assert (other.table[1] == before[0]).all()
    assert another.table[0].tolist() == [first.ctypes.data, 3, third.ctypes.data, 5]
    assert (another.table[1] == before[0]).all()
    with pytest.raises(ValueError, match="contiguous"):
        table.with_rows({0: [np.arange(8.0)[::2], second]})


def test_threads_of_an_interrupted_call_do_not_spoil_the_next_one():
    begun, go_on = threading.Event(), threading.Event()

    def slow(start, _):
        begun.set()
        go_on.wait(10.0)
        return start

    def raise_soon():
        begun.wait(10.0)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(3):
            begun.clear()
            go_on.clear()
            threading.Thread(target=raise_soon).start()
            with pytest.raises(KeyboardInterrupt):
                map_chunks(slow, 4, 1, workers=None) if jostle.kernels.pool.usable_processors() > 1 else slow_alone(slow)
            go_on.set()
        assert map_chunks(lambda start, stop: start, 8, 1, workers=None) == list(range(8))
    finally:
        signal.signal(signal.SIGINT, handler)


def slow_alone(slow):
    """Where there is one processor, chunks run in the calling thread."""
    slow(0, 1)
    raise KeyboardInterrupt


def test_prepared_shapes_are_never_written_in_place():
    """They outlive detectors that were interrupted: deforming bodies work on copies."""
    for method in ("wide_tree", "bounding_tree", "image_space", "monte_carlo", "face_octree", "brute_force"):
        world = jostle.World(method)
        for k in range(2):
            world.add(build.icosphere(2), translation((0.5 * k, 0.0, 0.0)), deformable=True)
        world.prepare()
        shapes = [shape for shape in world._shapes._shapes.values() if hasattr(shape, "_fields")]
        before = [[np.asarray(field).tobytes() for field in shape] for shape in shapes]
        for scale in (1.1, 1.4):
            world[0].vertices = world[0].mesh.vertices * scale
            assert world.detect(rows="pairs")
        assert [[np.asarray(field).tobytes() for field in shape] for shape in shapes] == before, method


def test_random_interrupts_leave_no_fault():
    """A few of `python -m tests.interrupts --count 100000`, of every kind of state."""
    code = "import sys; from tests.interrupts import main; sys.exit(main(sys.argv[1:]))"
    for only in ("world, wide_tree", "world, monte_carlo", "soft simulation"):
        command = [sys.executable, "-X", "faulthandler", "-c", code, "--count", "80", "--warm", "40", "--only", only]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "MALLOC_CHECK_": "3"})
        assert result.returncode == 0, result.stdout + result.stderr
        assert result.stdout.splitlines()[-1] == "0 faults"
