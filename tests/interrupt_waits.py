"""How long an interrupt may wait: the longest time between signal checks.

    python -m tests.interrupt_waits --method wide_tree --shape sphere --faces 20000

A timer ticks every 5 ms while one operation after another is made. Its handler does not raise: it notes the processor's time since
the last tick, so that one pass measures every wait of the operation, and other work on the machine does not count. Kernels are
loaded or compiled before, with small meshes.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time

import numpy as np

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer, Need, Serve
from jostle.registry import METHODS
from jostle.shapes import build
from tests.tiny import random_soup

TICK = 0.005
BODIES = 3


class Enough(Exception):
    """The operation has taken long enough."""


class Ticks:
    """The longest wait within a call, and where it ended."""

    def __init__(self, seconds):
        self.seconds, self.longest, self.where, self._on = seconds, 0.0, "", False
        signal.signal(signal.SIGALRM, self._tick)

    def _tick(self, _, frame):
        if not self._on:
            return
        self._note(f"{frame.f_code.co_filename.rpartition('jostle/')[2]}:{frame.f_lineno}")
        if self._last - self._begin > self.seconds:
            self._on = False
            raise Enough

    def _note(self, where):
        now = time.process_time()
        if now - self._last > self.longest:
            self.longest, self.where = now - self._last, where
        self._last = now

    def call(self, act):
        """Return the longest wait of a call, cut off after `seconds`, and its end."""
        self.longest, self.where = 0.0, ""
        self._begin = self._last = time.process_time()
        self._on = True
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        try:
            act()
            self._note("the end")
        except Enough:
            pass
        finally:
            self._on = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        return self.longest, self.where


def cone(faces):
    """Two fans on one rim: half of all faces share a vertex."""
    count = faces // 2
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = np.column_stack([0.6 * np.cos(angle), 0.6 * np.sin(angle), np.zeros(count)])
    k, after = np.arange(count), np.roll(np.arange(count), -1)
    sides = [np.column_stack([k, after, np.full(count, count)]), np.column_stack([after, k, np.full(count, count + 1)])]
    return jostle.Mesh(np.vstack([rim, [[0, 0, 0.6], [0, 0, -0.6]]]), np.vstack(sides), name="cone")


def sphere(faces):
    """A sphere with at least so many faces."""
    return build.icosphere(int(np.ceil(np.log(faces / 20) / np.log(4))), 0.6)


SHAPES = {"sphere": sphere, "cone": cone, "soup": lambda faces: random_soup(np.random.default_rng(1), faces, 0.6)}


def world_of(method, mesh, apart, deformable):
    world = jostle.World(method)
    for k in range(BODIES):
        world.add(mesh, translation((apart * k, 0.01 * k, 0.0)) @ rotation_about((1, 2, 3), 0.1 * k), deformable=deformable)
    return world


def step(world):
    """Move all bodies, beginning a step where they are."""
    world._begin_next_step()
    world.set_poses(world.poses @ translation((0.1, 0.02, 0.03)))


def deform(world):
    for body in world:
        body.vertices = body.mesh.vertices * 1.05
    world.detect(rows="pairs")


def operations(traits):
    """A method's operations by name: a function of a world, and whether it deforms."""
    has_rows = Answer.FACES in traits.answers or Answer.POINTS in traits.answers
    deforms = Serve.DEFORM in traits.serves and Need.RIGID not in traits.needs
    kinds = ("any", "pairs", "first", "faces") if has_rows else ("any", "pairs")
    made = {"prepare": (lambda world: world.prepare(), False), "overlay": (lambda world: world.overlay(), False)}
    made |= {f"rows={rows!r}": (lambda world, rows=rows: world.detect(rows=rows), False) for rows in kinds}
    if Serve.SOLID in traits.serves:
        made["solid"] = (lambda world: world.detect(rows=kinds[-1], solid=True), False)
    if Serve.SELF in traits.serves:
        made["itself"] = (lambda world: world.detect(rows=kinds[-1], itself=True), deforms)
    if Serve.CLEARANCE in traits.serves:
        made["clearance"] = (lambda world: world.detect(rows=kinds[-1], clearance=0.05), False)
    if Serve.MOTION in traits.serves:
        made["motion"] = (lambda world: (step(world), world.detect(motion=True)), False)
        made["safe_step"] = (lambda world: (step(world), world.safe_step(0.01)), False)
    if Answer.DISTANCE in traits.answers:
        made["distance"] = (lambda world: world.distance(0, BODIES - 1), False)
    if Serve.BATCH in traits.serves:
        made["detect_many"] = (lambda world: world.detect_many(np.stack([world.poses] * 200), "pairs", 1), False)
    if deforms:
        made["deform"] = (deform, True)
    return made


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="", help="methods whose name contains this")
    parser.add_argument("--shape", choices=SHAPES, default="sphere")
    parser.add_argument("--faces", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor's time after which an operation is cut short")
    options = parser.parse_args(arguments)
    ticks, mesh = Ticks(options.seconds), SHAPES[options.shape](options.faces)
    for method in (name for name in METHODS if options.method in name):
        traits, waits = jostle.World(method).method.traits, []
        for name, (act, deformable) in operations(traits).items():
            try:
                for small in (build.box(), build.icosphere(2, 0.6)):
                    act(world_of(method, small, 0.3, deformable))
                for apart in (0.1, 1.15):
                    world = world_of(method, mesh, apart, deformable)
                    if name != "prepare":
                        world.prepare()
                    waits.append((*ticks.call(lambda act=act, world=world: act(world)), name))
            except jostle.Unsupported:
                continue
        longest = max(waits, default=(0.0, "", "nothing: the method does not take this shape"))
        heard = f"{1e3 * longest[0]:.0f} ms, {longest[2]}, {longest[1]}"
        sys.stdout.write(f"{method}, {len(mesh.faces)} faces of a {options.shape}: {heard}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
