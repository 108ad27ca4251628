"""A method that replays a motion in its own process: the commands it handles.

"load" reads the motion and runs the method on a toy scene, which loads compiled code. "prepare" makes the world and prepares its
shapes. "replay" goes through frames until they or its seconds run out; only setting poses and vertices and `detect` are timed.
Before frame 0 that frame is answered a few times untimed, because of the jump back to the first frame and a processor that was
asleep (0.29 ms for a frame of 0.06). Memory, the growth through prepared shapes and detector, is read after that.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import Unsupported
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.method import Method
from jostle.lab.truth import FACES, face_rows, question_for
from jostle.motion.record import Motion
from jostle.report.report import Report
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

LEAD_IN_CALLS, LEAD_IN_SECONDS = 5, 0.02  # limits of the untimed calls before frame 0, of which there is at least one
MOST_TOY_BODIES = 201  # enough for code paths that are special to many bodies


@dataclass(frozen=True, eq=False)
class FrameAnswer:
    """The answer of a method in one frame."""

    rows: NDArray[np.int32]  # (k,4) faces or (k,2) body pairs, whichever is compared
    contacts: int
    pairs: int
    counters: dict[str, int]


@dataclass(frozen=True, eq=False)
class Reply:
    """A reply of the process; `status` is "ok", "unsupported" or "failed"."""

    status: str = "ok"
    why: str = ""
    seconds: float = 0.0  # of preparing
    memory: int | None = None  # bytes; None if not read
    updates: tuple[float, ...] = ()  # seconds, one for each replayed frame
    totals: tuple[float, ...] = ()  # seconds, update and detect
    answers: tuple[FrameAnswer, ...] = ()


class Replayer:
    """A method, its query options and threads, and the motion it replays."""

    def __init__(self, method: Method, options: Mapping[str, Any] | None = None, workers: int = 1) -> None:
        self._method, self._workers = method, workers
        self._question = question_for(method, options)
        self._motion: Motion | None = None
        self._world: World | None = None
        self._memory_before: int | None = None

    def __call__(self, verb: str, *arguments: Any) -> Reply:
        """Handle a message; errors become replies."""
        try:
            reply: Reply = getattr(self, verb)(*arguments)
            return reply
        except Unsupported as error:
            return Reply("unsupported", _first_line(error))
        except Exception as error:
            return Reply("failed", f"{type(error).__name__}: {_first_line(error)}")

    def load(self, file: str) -> Reply:
        """Read the motion and run the method on toy scenes to load its code."""
        self._motion = Motion.load(file)
        bodies = min(MOST_TOY_BODIES, len(self._motion.names))
        # Errors are reported for the real scene only.
        for deformable in {False, bool(self._motion.vertices)}:
            with contextlib.suppress(Exception):
                toy = toy_world(self._method, bodies, deformable)
                for turn in (0.0, 0.1):
                    toy.set_poses(toy.poses)
                    toy.detect(**self._question.options)
                    if self._question.options.get("motion"):
                        toy.set_poses(toy.poses @ translation((0.0, 0.0, 3.0)) @ rotation_about((1.0, 2.0, 3.0), turn))
                        toy.detect(**self._question.options)
        return Reply()

    def prepare(self) -> Reply:
        """Make the world at frame 0 and prepare its shapes."""
        assert self._motion is not None
        gc.collect()
        self._memory_before = resident_bytes()
        self._world = self._motion.world(self._method, self._workers)
        begin = time.perf_counter()
        self._world.prepare()
        return Reply(seconds=time.perf_counter() - begin)

    def replay(self, first: int, seconds: float, answering: bool) -> Reply:
        """Replay at least one frame from `first` on, until all are done or time is up."""
        motion, world, options = self._motion, self._world, self._question.options
        assert motion is not None
        assert world is not None
        clock, memory = time.perf_counter, None
        updates, totals, answers = [], [], []
        gc.collect()
        gc.disable()
        start = clock()
        end = start + seconds
        try:
            for call in range(LEAD_IN_CALLS if first == 0 else 0):
                if call == 0 or clock() < start + LEAD_IN_SECONDS:
                    if call == 0:
                        _teleport_to_start(motion, world)
                    motion.apply(world, 0)
                    if call == 0 and options.get("motion"):
                        world.detect(rows="any")  # the jump back to frame 0 is not a motion
                    world.detect(**options)
            if first == 0:
                memory = self._growth()
            for frame in range(first, len(motion)):
                begin = clock()
                motion.apply(world, frame)
                middle = clock()
                report = world.detect(**options)
                now = clock()
                updates.append(middle - begin)
                totals.append(now - begin)
                if answering:
                    answers.append(self._answer(report))
                del report  # freed outside the clock
                if now > end:
                    break
        finally:
            gc.enable()
        return Reply(memory=memory, updates=tuple(updates), totals=tuple(totals), answers=tuple(answers))

    def _growth(self) -> int | None:
        now = resident_bytes()
        return None if now is None or self._memory_before is None else max(0, now - self._memory_before)

    def _answer(self, report: Report) -> FrameAnswer:
        contacts, pairs = report.contacts, report.pairs
        named_faces = self._question.compared == FACES
        rows = face_rows(report) if named_faces else np.stack([pairs.body_a, pairs.body_b], axis=1)
        counters = {name: int(count) for name, count in vars(report.counters).items() if name != "engine"}
        return FrameAnswer(rows.astype(np.int32), len(contacts), len(pairs), counters)


def _teleport_to_start(motion: Motion, world: World) -> None:
    """Place all bodies at frame 0 without a motion."""
    for body, pose in zip(world, motion.poses[0], strict=True):
        body.teleport(pose)


def toy_world(method: Method, bodies: int, deformable: bool) -> World:
    """Return a row of tetrahedra, each reaching into the next."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0]])
    mesh = Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], name="toy")
    world = World(method)
    for k in range(bodies):
        body = world.add(mesh, translation((0.7 * k, 0.01 * k, 0.0)), f"toy {k}", deformable=deformable)
        if deformable:
            body.vertices = 1.01 * corners
    return world


def resident_bytes() -> int | None:
    """Return the memory of this process: current on Linux, else peak; None on Windows."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:
        return None
    most = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else 1024 * most


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else ""
