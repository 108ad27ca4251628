"""Methods that behave badly, each in its own way, made of the oracle; the lab loads them by name in processes of their own."""

import dataclasses
import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from jostle import BruteForce, Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer, Need, Semantics
from jostle.motion.record import Motion
from jostle.report.report import Pairs, Report
from tests.tiny import box, tetrahedron


def toy_motion(frames=5, deforming=False):
    """A box, and a tetrahedron that turns, comes out of it through a wall and leaves; a third body far away."""
    poses = np.tile(np.eye(4), (frames, 3, 1, 1))
    for frame in range(frames):
        poses[frame, 1] = translation((0.3 + 0.3 * frame, 0.31, 0.32)) @ rotation_about((1.0, 2.0, 3.0), 0.3 * frame)
        poses[frame, 2] = translation((50.0, 0.0, 0.0))
    small = tetrahedron()
    meshes = (box((0, 0, 0), (1, 1, 1)), Mesh(0.5 * small.vertices, small.faces, name="small"), box())
    vertices = {}
    if deforming:
        vertices = {1: np.stack([meshes[1].vertices * (1.0 + 0.3 * k) for k in range(frames)])}
    return Motion(("box", "small", "far"), meshes, poses, vertices, title="a toy")


class Wrapped:
    """A detector that does something before or after another."""

    def __init__(self, method, inner):
        self._method, self._inner, self._calls = method, inner, 0

    def detect(self, frame, query):
        self._calls += 1
        if len(frame) > 2 and "far" in frame.bodies.names:  # not in the toy scene with which the lab warms up
            self._method.before(self._calls)
        return self._method.after(self._inner.detect(frame, query))

    def change(self, bodies, shapes, old_to_new):
        self._inner.change(bodies, shapes, old_to_new)


@dataclass(frozen=True)
class Fake(BruteForce):
    def start(self, bodies, shapes):
        return Wrapped(self, super().start(bodies, shapes))

    def before(self, call):
        pass

    def after(self, report):
        return report


@dataclass(frozen=True)
class Raises(Fake):
    call: int = 4

    def before(self, call):
        if call == self.call:
            raise ZeroDivisionError("it divides by nothing\nand says so in two lines")


@dataclass(frozen=True)
class Crashes(Fake):
    def before(self, call):
        if call == 4:
            os.write(2, b"goodbye\n")
            os.kill(os.getpid(), signal.SIGSEGV)
            time.sleep(10)


@dataclass(frozen=True)
class Sleeps(Fake):
    """Hangs in one call, or is slow in all of them."""

    call: int = 0
    seconds: float = 60.0

    def before(self, call):
        if self.call in (0, call):
            time.sleep(self.seconds)


@dataclass(frozen=True)
class SlowToPrepare(Fake):
    def prepare_shape(self, mesh, progress=None):
        if mesh.name == "small":
            time.sleep(60.0)
        return super().prepare_shape(mesh)


@dataclass(frozen=True)
class Loses(Fake):
    """Leaves the first row out, and tells the last one twice."""

    def after(self, report):
        rows = report.contacts
        if len(rows) < 2:
            return report
        contacts = rows.select(np.append(np.arange(1, len(rows)), len(rows) - 1))
        return Report(Pairs.of(contacts), contacts, report.counters)


@dataclass(frozen=True)
class Solid(Fake):
    """Knows solids and pairs of bodies only."""

    @property
    def traits(self):
        return dataclasses.replace(super().traits, semantics=Semantics.SOLID, answers={Answer.DEPTH: None})


@dataclass(frozen=True)
class RigidOnly(Fake):
    @property
    def traits(self):
        return dataclasses.replace(super().traits, needs=frozenset({Need.RIGID}))


@dataclass(frozen=True)
class HoldsMemory(Fake):
    """Prepares 64 MB of nothing."""

    def start(self, bodies, shapes):
        detector = super().start(bodies, shapes)
        if "far" in bodies.names:
            detector.ballast = np.ones(8_000_000)
        return detector


@dataclass(frozen=True)
class WritesDown(Fake):
    """Writes into a file when it is called."""

    file: str = ""
    word: str = ""

    def before(self, call):
        with open(self.file, "a") as file:  # noqa: PTH123
            file.write(self.word)
