"""Random interrupts: a call is all or nothing, and later answers are unaffected.

    python -m tests.interrupts --count 100000 --seed 1

Two worlds live in lockstep. Each operation is drawn once, made in the one under a timer whose signal raises `KeyboardInterrupt`
after some microseconds, and then in the other one, unless the first is still as it was before. Whatever is neither before nor
after, whatever raises, a lock that stays held, a garbage collector that stays off or rows that differ are faults. Kernels are
compiled and loaded before (`warm`): interrupts meanwhile are another matter.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import gc
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

import jostle
from jostle.broad_phase import BROAD_PHASES
from jostle.fitting import walk
from jostle.geometry.pose import translation
from jostle.interface.traits import Answer, Need, Serve
from jostle.motion.record import Recorder
from jostle.registry import METHODS
from jostle.shapes import build
from jostle.sim import Simulation, SoftMaterial, SoftSimulation
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of_world
from tests.all_faces_behind import AllFacesBehind
from tests.tiny import box, random_pose, tetrahedron

SIZES = {"tiny": (tetrahedron(), box()), "1,280 faces": (build.icosphere(3, 0.6),)}
MOST_BODIES = 6
FOLDER = Path(tempfile.mkdtemp(prefix="jostle-interrupts-"))


class Timer:
    """Raises `KeyboardInterrupt` in a call after some seconds, and measures the delay."""

    def __init__(self):
        self.armed, self.due, self.began, self.latest = False, 0.0, 0.0, Counter()
        signal.signal(signal.SIGALRM, self._raise)

    def _raise(self, *_):
        if self.armed:
            self.armed = False
            self.late = min(time.perf_counter() - self.due, time.process_time() - self.began)
            raise KeyboardInterrupt

    def call(self, what, act, delay):
        """Return whether the call was interrupted, and what it returned."""
        self.late, result = 0.0, None
        try:
            self.began, self.due, self.armed = time.process_time(), time.perf_counter() + delay, True
            signal.setitimer(signal.ITIMER_REAL, delay)
            result = act()
            self.armed, interrupted = False, False
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        self.latest[what] = max(self.latest[what], self.late)
        return interrupted, result


def state_of(world):
    """All that a user can see of a world."""
    frame = world._frame()
    columns = ("poses", "poses_t0", "static", "group", "category", "mask", "ignored")
    shapes = [points.tobytes() for points in (*frame.vertices, *frame.vertices_t0)]
    began = world._table.last_pairs
    return (
        [(body.id, body.name, body.deformable) for body in world],
        [getattr(frame, name).tobytes() for name in columns],
        shapes,
        sorted(world._ignored),
        (world.time, world.units, world._next_id, len(world)),
        (began.body_a.tobytes(), began.body_b.tobytes(), began.kind.tobytes()),
    )


def rows_of(report):
    contacts, pairs = report.contacts, report.pairs
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind, contacts.time)
    return [column.tobytes() for column in (*columns, pairs.body_a, pairs.body_b, pairs.kind, report.began.body_a)]


class Worlds:
    """An interrupted world and its reference; operations by name, drawn at random."""

    def __init__(self, method, size, rng):
        self.rng, self.meshes, self.method = rng, SIZES[size], method
        self.world, self.reference = jostle.World(method), jostle.World(method)
        traits = self.world.method.traits
        self.serves, self.answers = traits.serves, traits.answers
        self.has_rows = Answer.FACES in self.answers or Answer.POINTS in self.answers
        self.deforms = Serve.DEFORM in self.serves and Need.RIGID not in traits.needs
        self.samples = type(self.world.method).__name__ == "MonteCarlo"
        for _ in range(3):
            self.both(self.add())
        names = ["add", "remove", "set_poses", "set_some", "pose", "teleport", "static", "ignore", "detect", "detect", "detect"]
        names += ["in_collision", "prepare", "overlay", "pickle", "capture"]
        if isinstance(method, str):  # others have no name to be saved under
            names += ["save"]
        if self.deforms:
            names += ["vertices", "vertices"]
        if Answer.DISTANCE in self.answers:
            names += ["distance"]
        if Serve.BATCH in self.serves:
            names += ["detect_many"]
        if Serve.MOTION in self.serves:
            names += ["safe_step", "walk"]
        self.names = [*names, "move_to"]

    def both(self, act):
        act(self.world)
        act(self.reference)

    def draw(self):
        """Return the name of an operation and the operation."""
        name = str(self.rng.choice(self.names))
        if len(self.world) > MOST_BODIES:
            name = "remove"
        elif len(self.world) < 3:
            name = "add"
        return name, getattr(self, name)()

    def some_id(self):
        return int(self.rng.choice([body.id for body in self.world]))

    def add(self):
        mesh, pose = self.meshes[int(self.rng.integers(len(self.meshes)))], random_pose(self.rng, 0.8)
        deforms = self.deforms and bool(self.rng.integers(2))
        if self.rng.integers(8) == 0:
            mesh = jostle.Mesh(mesh.vertices, mesh.faces, name=mesh.name, units="mm")
        return lambda world: world.add(mesh, pose, deformable=deforms)

    def remove(self):
        number = self.some_id()
        return lambda world: world.remove(number)

    def set_poses(self):
        poses = np.stack([random_pose(self.rng, 0.8) for _ in self.world])
        return lambda world: world.set_poses(poses)

    def set_some(self):
        chosen = [body.id for body in self.world][::2]
        poses = np.stack([random_pose(self.rng, 0.8) for _ in chosen])
        return lambda world: world.set_poses(poses, chosen)

    def pose(self):
        number, pose = self.some_id(), random_pose(self.rng, 0.8)
        return lambda world: setattr(world[number], "pose", pose)

    def teleport(self):
        number, pose = self.some_id(), random_pose(self.rng, 0.8)
        points = None
        if self.world[number].deformable and self.rng.integers(2):
            points = self.world[number].mesh.vertices * self.rng.uniform(0.9, 1.1)
        return lambda world: world[number].teleport(pose, points)

    def static(self):
        number, column = self.some_id(), str(self.rng.choice(["static", "group", "category", "mask"]))
        value = bool(self.rng.integers(2)) if column == "static" else int(self.rng.integers(1, 4))
        return lambda world: setattr(world[number], column, value)

    def ignore(self):
        a, b = (int(k) for k in self.rng.choice([body.id for body in self.world], 2, replace=False))
        ignored = bool(self.rng.integers(2))
        return lambda world: world.ignore(a, b, ignored)

    def vertices(self):
        bodies = [body for body in self.world if body.deformable]
        if not bodies:
            return self.add()
        body = bodies[int(self.rng.integers(len(bodies)))]
        points = body.mesh.vertices * self.rng.uniform(0.8, 1.2, 3)
        number = body.id
        return lambda world: setattr(world[number], "vertices", points)

    def query(self):
        options = {"rows": str(self.rng.choice(["faces", "faces", "first", "pairs", "any"] if self.has_rows else ["pairs", "any"]))}
        if Serve.MOTION in self.serves and self.rng.integers(2):
            options |= {"motion": True, "separation": float(self.rng.choice([0.0, 0.01]))}
            return options
        for field, serve in (("solid", Serve.SOLID), ("itself", Serve.SELF)):
            if serve in self.serves and self.rng.integers(4) == 0:
                options[field] = True
        if Serve.CLEARANCE in self.serves and self.rng.integers(3) == 0:
            options["clearance"] = 0.05
        if Serve.ADJACENT in self.serves and options.get("itself") and self.rng.integers(2):
            options["adjacent"] = True
        if Serve.BUDGET in self.serves and self.rng.integers(3) == 0:
            options["budget"] = jostle.Budget(operations=2000) if self.rng.integers(2) else jostle.Budget(seconds=0.002)
        return options

    def detect(self):
        options = self.query()
        return lambda world: world.detect(**options)

    def in_collision(self):
        return lambda world: world.in_collision()

    def prepare(self):
        return lambda world: world.prepare()

    def overlay(self):
        return lambda world: world.overlay()

    def save(self):
        path = FOLDER / f"world {int(self.rng.integers(3))}.npz"
        return lambda world: world.save(path)

    def pickle(self):
        return lambda world: pickle.loads(pickle.dumps(world)) if self.rng.integers(2) else copy.copy(world)

    def capture(self):
        def act(world):
            recorder = Recorder(world)
            recorder.capture()
            return recorder.motion()

        return act

    def distance(self):
        a, b = (int(k) for k in self.rng.choice([body.id for body in self.world], 2, replace=False))
        return lambda world: world.distance(a, b)

    def detect_many(self):
        poses = np.stack([np.stack([random_pose(self.rng, 0.8) for _ in self.world]) for _ in range(3)])
        rows, workers = str(self.rng.choice(["any", "pairs", "faces"])), int(self.rng.integers(1, 3))
        if self.rng.integers(4) == 0:
            poses = np.repeat(poses, 40, axis=0)  # enough for threads
        options = {"clearance": float(self.rng.choice([0.0, 0.05])), "distance": bool(self.rng.integers(2))}
        options["solid"] = self.rng.integers(4) == 0
        bodies = None
        if self.rng.integers(2):
            bodies, poses = self.some_id(), poses[:, 0]
        return lambda world: world.detect_many(poses, rows, workers, bodies=bodies, **options)

    def safe_step(self):
        return lambda world: world.safe_step(0.01)

    def move_to(self):
        fraction = float(self.rng.choice([0.0, 0.5, 1.0]))
        return lambda world: world.move_to(fraction)

    def walk(self):
        number = self.some_id()
        if self.world[number].deformable:
            return self.safe_step()
        poses = np.stack([translation((3.0 + 0.3 * k, 0.0, 0.0)) for k in range(4)])
        return lambda world: walk(world, number, poses, separation=0.01)

    def check(self):
        """Raise if the world differs from the reference; asking counts as a step of both."""
        assert self.state_of(self.world) == self.state_of(self.reference), "the world is neither before nor after"
        rows = "faces" if self.has_rows else "pairs"
        found, expected = self.world.detect(rows=rows), self.reference.detect(rows=rows)
        if self.samples:
            # Samples begin anew after an interrupt: what is reported is true, and what ended in time is whole.
            exact = jostle.World("brute_force")
            exact._table = self.world._table
            truth = {tuple(row) for row in zip(*columns_of(exact.detect()), strict=True)}
            assert {tuple(row) for row in zip(*columns_of(found), strict=True)} <= truth, "rows that are not true"
        else:
            assert rows_of(found) == rows_of(expected), "rows differ"

    def state_of(self, world):
        """Without what touched last, where that depends on samples."""
        return state_of(world)[: -1 if self.samples else None]


def columns_of(report):
    contacts = report.contacts
    return (column.tolist() for column in (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b))


class Simulated:
    """A simulation in a world, and its reference."""

    def __init__(self, soft, size, rng):
        self.rng, self.soft = rng, soft
        self.world, self.reference = self._made(size, soft), self._made(size, soft)

    @staticmethod
    def _made(size, soft):
        world = jostle.World()
        mesh = build.icosphere(1 if size == "tiny" else 3, 0.6) if soft else SIZES[size][-1]
        for k in range(3):
            world.add(mesh, translation((1.1 * k, 0.1 * k, 0.0)), deformable=soft)
        velocity = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
        if soft:
            return SoftSimulation(world, {k: SoftMaterial(cells=3) for k in range(3)}, velocity=velocity, dt=0.02, substeps=3)
        response = {"response": "impulse", "gravity": (0.0, 0.0, -1.0)}
        return Simulation(world, velocity=velocity, spin=(1.0, 2.0, 0.5), cube=8.0, dt=0.02, restitution=0.5, **response)

    def draw(self):
        what = int(self.rng.integers(6))
        if self.soft and what == 0:
            return "set_nodes", lambda sim: sim.set_nodes(0, *sim.nodes_of(0))
        if not self.soft and what == 0:
            return "centre", lambda sim: setattr(sim, "centre", np.array(sim.centre) * 0.999)
        return "soft step" if self.soft else "step", lambda sim: sim.step()

    @staticmethod
    def state_of(simulation):
        world = state_of(simulation.world)
        if isinstance(simulation, SoftSimulation):
            own = [array.tobytes() for k in range(3) for array in (*simulation.nodes_of(k), simulation.positions(k))]
            own += [array.tobytes() for array in simulation.pairs] + [simulation.frozen.tobytes()]
        else:
            own = [array.tobytes() for array in (simulation.centre, simulation.velocity, simulation.spin)]
        return world, own, simulation.frames

    def check(self):
        assert self.state_of(self.world) == self.state_of(self.reference), "the simulation is neither before nor after"
        assert rows_of(self.world.step()) == rows_of(self.reference.step()), "rows differ"
        assert self.state_of(self.world) == self.state_of(self.reference), "the simulations have parted"
        if self.world.frames > 200:
            self.world, self.reference = self._made("tiny", self.soft), self._made("tiny", self.soft)


class Sessions:
    """A viewer session without a page; the next round does what one left undone."""

    def __init__(self, respond, size, rng):
        self.rng = rng
        self.world, self.reference = (self._made(respond, size) for _ in range(2))

    @staticmethod
    def _made(respond, size):
        world = jostle.World("bounding_tree" if respond == "fit" else None)
        mesh = SIZES[size][-1]
        for k in range(3):
            world.add(mesh, translation((1.4 * k, 0.0, 0.0)), f"body {k}")
        subject = subject_of_world(world, "three bodies")
        return Session(subject, Settings(), 0.01) if respond == "fit" else Session(subject, Settings(respond=respond))

    def draw(self):
        body, pose = int(self.rng.integers(3)), translation(self.rng.uniform(-1.0, 3.0, 3))
        what = int(self.rng.integers(8))

        def act(session):
            if what == 0:
                session.put_back()
            elif what == 1:
                session.change(clearance=0.05)
            else:
                session.move(body, pose, "me")
            session.round()

        return "round", act

    @staticmethod
    def state_of(session):
        stage = session.stage
        return stage.poses.tobytes(), [points.tobytes() for points in stage.vertices.values()], stage.settings

    def check(self):
        """Put both in the same places: an interrupted round may have ended anywhere."""
        for session in (self.world, self.reference):
            session.round()  # what the interrupted round has left
            session._loop.take_requests()  # goals that are not reached yet
            session.change(clearance=0.0)
            session.put_back()
            session.round()
        assert self.state_of(self.world) == self.state_of(self.reference), "sessions differ"
        found = [session._detect({}).found for session in (self.world, self.reference)]
        if self.world.fit is None:
            assert found[0].pairs == found[1].pairs, "pairs differ"
        self.world._loop.take_requests()
        self.reference._loop.take_requests()


class Pairs:
    """`jostle.Pair`, the lean call."""

    def __init__(self, _, size, rng):
        self.rng, mesh = rng, SIZES[size][-1]
        self.world, self.reference = jostle.Pair(mesh, mesh), jostle.Pair(mesh, mesh)
        self.poses = np.eye(4), np.eye(4)

    def draw(self):
        self.poses = poses = random_pose(self.rng, 0.8), random_pose(self.rng, 0.8)
        what = int(self.rng.integers(3))
        if what == 0:
            return "touches", lambda pair: pair.touches(*poses)
        if what == 1:
            return "touches with a clearance", lambda pair: pair.touches(*poses, clearance=0.1)
        return "distance", lambda pair: pair.distance(*poses)

    @staticmethod
    def state_of(pair):
        return None

    def check(self):
        assert self.world.touches(*self.poses) == self.reference.touches(*self.poses)
        assert self.world.distance(*self.poses) == self.reference.distance(*self.poses)


def subjects():
    """Every kind of subject: how it is made, of what."""
    made = {f"world, {name}": (Worlds, name) for name in METHODS}
    made |= {
        f"world, all faces behind {name}": (
            Worlds,
            AllFacesBehind(broad(**({"speed": 1e30} if name == "priority_queue" else {}))),
        )
        for name, broad in BROAD_PHASES.items()
    }
    made |= {"simulation": (Simulated, False), "soft simulation": (Simulated, True), "pair": (Pairs, None)}
    return made | {f"session, {respond}": (Sessions, respond) for respond in ("show", "push", "bounce", "deform", "fit")}


def lock_is_free(world):
    turn = getattr(getattr(world, "world", world), "_turn", None)
    return turn is None or not turn._lock.locked()


class Run:
    """Interrupts of one kind of subject: `counts` by operation, `faults` with traces."""

    def __init__(self, name, size, seed):
        self.name, self.size, self.seed = name, size, seed
        self.timer, self.counts, self.durations = Timer(), Counter(), {}
        self.faults = []
        self._begin()

    def _begin(self):
        made, what = subjects()[self.name]
        self.rng = np.random.default_rng([self.seed, len(self.faults)])
        self.subject = made(what, self.size, self.rng)

    def warm(self, operations):
        """Run operations without interrupts: load kernels and measure durations."""
        for _ in range(operations):
            name, act = self.subject.draw()
            begin = time.perf_counter()
            state = self.rng.bit_generator.state
            act(self.subject.world)
            self.durations[name] = min(time.perf_counter() - begin, self.durations.get(name, np.inf))
            self.rng.bit_generator.state = state
            act(self.subject.reference)
        self.subject.check()

    def go(self, interrupts):
        """Interrupt so often."""
        while sum(self.counts.values()) < interrupts and len(self.faults) < 20:
            try:
                self._once()
            except Exception:
                self.faults.append(f"{self.name}, {self.size}, after {self.last}:\n{traceback.format_exc()}")
                self._begin()

    def _once(self):
        subject = self.subject
        self.last, act = name, act = subject.draw()
        before, draws = subject.state_of(subject.world), self.rng.bit_generator.state
        delay = float(self.rng.uniform(2e-6, 1.3 * self.durations.get(name, 1e-4) + 2e-5))
        interrupted, _ = self.timer.call(name, lambda: act(subject.world), delay)
        assert lock_is_free(subject.world), "the lock is held"
        assert gc.isenabled(), "the garbage collector is off"
        if interrupted:
            self.counts[name] += 1
        if not interrupted or subject.state_of(subject.world) != before:
            now = self.rng.bit_generator.state
            self.rng.bit_generator.state = draws
            act(subject.reference)
            self.rng.bit_generator.state = now
        if interrupted:
            subject.check()


def is_slow(name, size):
    """Whether an operation is so slow that fewer must do."""
    quadratic = any(part in name for part in ("all faces", "brute_force", "edge_face"))
    return name == "session, deform" or (quadratic and size != "tiny")


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="interrupts in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    parser.add_argument("--warm", type=int, default=200, help="operations of each subject before the first interrupt")
    options = parser.parse_args(arguments)
    faulthandler.enable()
    runs = [(name, size) for name in subjects() if options.only in name for size in SIZES]
    weights = [0.25 if is_slow(*run) else 1.0 for run in runs]
    counts, latest, faults = Counter(), Counter(), []
    for (name, size), weight in zip(runs, weights, strict=True):
        run = Run(name, size, options.seed)
        run.warm(options.warm if weight == 1.0 else min(options.warm, 30))
        run.go(int(np.ceil(options.count * weight / sum(weights))))
        done, late = sum(run.counts.values()), max(run.timer.latest.values(), default=0.0)
        say(f"{name}, {size}: {done} interrupts, heard within {1e3 * late:.1f} ms, {len(run.faults)} faults")
        for fault in run.faults[:2]:
            say(fault)
        counts += run.counts
        latest |= run.timer.latest
        faults += run.faults
    say(f"{sum(counts.values())} interrupts: " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    say("heard within, ms: " + ", ".join(f"{name} {1e3 * late:.1f}" for name, late in latest.most_common(8)))
    say(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
