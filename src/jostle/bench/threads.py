"""What two threads reach of what two processes reach on the same machine in the same minute.

Each task runs in processes of its own, in bursts: one process alone, two at once, and one with two workers. Bursts are
interleaved, rates are calls per second of wall time, and shares are medians over the rounds: where two processes slow each other
down, in memory or because the machine has other work, two threads may do so, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

import jostle
from jostle._types import Floats
from jostle.bench.process import Gone, ServerProcess
from jostle.bench.scenarios import BLOB_DEEP, FULL, QUICK, Sizes, make_cases
from jostle.errors import JostleError
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build

Run = Callable[[int], Any]
"""Runs a task once with a number of workers."""

WORKERS = 2
BURST = 0.5  # seconds
TIMEOUT = 300.0


@dataclass
class Measured:
    """A task: milliseconds of one worker alone, and the share of two processes that two workers reach, for each round."""

    task: str
    milliseconds: list[float]
    shares: list[float]

    @property
    def share(self) -> float:
        """The median of the shares."""
        return statistics.median(self.shares)


# ---------------------------------------------------------------------- tasks


def _batch(count: int, rows: str = "any", **options: Any) -> Callable[[Sizes], Run]:
    def make(sizes: Sizes) -> Run:
        case = make_cases("batch-poses", sizes)[0]
        world = jostle.World("wide_tree")
        for body, pose in zip(range(2), case.poses[0], strict=True):
            world.add(jostle.Mesh(*case.mesh(body)), pose)
        poses = np.concatenate([case.poses] * (count // len(case.poses) or 1))[:count]
        return lambda workers: world.detect_many(poses, rows=rows, workers=workers, **options)

    return make


def _crowd(sizes: Sizes) -> Run:
    case = make_cases("n-body", sizes)[4]
    mesh, world = jostle.Mesh(*case.meshes[0]), jostle.World("wide_tree")
    for pose in case.poses[0]:
        world.add(mesh, pose)

    def run(workers: int) -> Any:
        world.workers = workers
        world.set_poses(case.poses[0])
        return world.detect()

    return run


def _blob(faces: int, seed: int) -> jostle.Mesh:
    return build.blob(faces, seed=seed, roughness=0.6)


def _pairs(offset: float, rows: str) -> Callable[[Sizes], Run]:
    """Return the task of four pairs of large blobs, far from each other."""

    def make(sizes: Sizes) -> Run:
        world = jostle.World("wide_tree")
        a, b = _blob(sizes.blob_a, 1), _blob(sizes.blob_b, 2)
        turned = rotation_about((0.3, -0.7, 0.5), 0.9)
        direction = np.array([1.0, 0.37, 0.21]) / np.linalg.norm([1.0, 0.37, 0.21])
        poses = []
        for k in range(4):
            place = translation((10.0 * k, 0.0, 0.0))
            poses += [place, place @ translation(direction * offset) @ turned]
            world.add(a, poses[-2])
            world.add(b, poses[-1])
        together = np.array(poses)

        def run(workers: int) -> Any:
            world.workers = workers
            world.set_poses(together)
            return world.detect(rows=rows)

        return run

    return make


def _deforming(bodies: int, times_as_many_faces: int) -> Callable[[Sizes], Run]:
    """Return the task of bodies that deform, each against itself."""

    def make(sizes: Sizes) -> Run:
        world = jostle.World("wide_tree")
        meshes = [_blob(times_as_many_faces * sizes.blob_a, k + 1) for k in range(bodies)]
        placed = [mesh.moved(translation((10.0 * k, 0.0, 0.0))).vertices for k, mesh in enumerate(meshes)]
        frames = [[_wavy(vertices, frame) for vertices in placed] for frame in range(4)]
        for mesh in meshes:
            world.add(mesh, deformable=True)
        turn = [0]

        def run(workers: int) -> Any:
            world.workers = workers
            turn[0] += 1
            for body, vertices in zip(world.bodies, frames[turn[0] % 4], strict=True):
                body.vertices = vertices
            return world.detect(self_collision=True)

        return run

    return make


def _wavy(vertices: Floats, frame: int) -> Floats:
    """Return vertices in waves so strong that the surface passes through itself."""
    return np.ascontiguousarray(vertices + 0.4 * np.sin(4.0 * vertices[:, [1, 2, 0]] + 0.1 * frame))


def _build(sizes: Sizes) -> Run:
    meshes = [_blob(sizes.blob_a, k) for k in range(4)]
    arrays = [(np.array(mesh.vertices), np.array(mesh.faces)) for mesh in meshes]

    def run(workers: int) -> Any:
        world = jostle.World("wide_tree", workers=workers)
        for k, (vertices, faces) in enumerate(arrays):
            world.add((vertices, faces), translation((10.0 * k, 0.0, 0.0)))
        world.prepare()
        return world

    return run


TASKS: dict[str, Callable[[Sizes], Run]] = {
    "a blob of 200,000 faces deforms: against itself": _deforming(1, 4),
    "four blobs of 50,000 faces deform: against themselves": _deforming(4, 1),
    "1,000 poses, yes or no": _batch(1_000),
    "4,000 poses, yes or no": _batch(4_000),
    "4,000 poses within a clearance": _batch(4_000, clearance=0.05),
    "1,000 poses, least distances": _batch(1_000, distance=True),
    "1,000 poses, all face pairs": _batch(1_000, rows="faces"),
    "1,000 poses of solids": _batch(1_000, solid=True),
    "four pairs of blobs, deep: all face pairs": _pairs(BLOB_DEEP, "faces"),
    "10,000 small meshes: all face pairs": _crowd,
    "four meshes of 50,000 faces: mesh and tree": _build,
}


# ---------------------------------------------------------------------- processes


class _Server:
    """A task in its own process."""

    def __init__(self, task: str, sizes: Sizes) -> None:
        self._run = TASKS[task](sizes)

    def __call__(self, workers: int, seconds: float) -> float:
        """Return the seconds of a call, over a burst."""
        calls, begin = 0, time.perf_counter()
        while True:
            self._run(workers)
            calls += 1
            passed = time.perf_counter() - begin
            if passed >= seconds:
                return passed / calls


def measure(
    rounds: int, quick: bool = False, tasks: list[str] | None = None, progress: Callable[[int, int, str], None] | None = None
) -> list[Measured]:
    """Measure the tasks, all by default."""
    chosen = list(TASKS) if tasks is None else tasks
    found = []
    for done, task in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), task)
        found.append(_measured(task, rounds, QUICK if quick else FULL))
    return found


def _measured(task: str, rounds: int, sizes: Sizes) -> Measured:
    processes = [ServerProcess(_Server, (task, sizes), "bench threads") for _ in range(2)]

    def burst(process: ServerProcess, workers: int, seconds: float = BURST) -> float:
        answer = process.ask((workers, seconds), TIMEOUT)
        if isinstance(answer, Gone):
            raise JostleError(f"{task}: {answer.why}")
        return float(answer)

    found = Measured(task, [], [])
    try:
        for process in processes:
            process.start()
            for workers in (1, WORKERS):
                burst(process, workers, 0.0)
        with ThreadPoolExecutor(2) as at_once:
            for _ in range(rounds):
                found.milliseconds.append(1e3 * burst(processes[0], 1))
                each = list(at_once.map(lambda process: burst(process, 1), processes))
                together = sum(1.0 / seconds for seconds in each)
                found.shares.append(1.0 / burst(processes[0], WORKERS) / together)
    finally:
        for process in processes:
            process.end()
    return found


def as_markdown(found: list[Measured]) -> str:
    """Return the table, lowest share first."""
    lines = ["| task | one worker, ms | two workers, share of two processes | lowest and highest round |", "|---|--:|--:|--:|"]
    for each in sorted(found, key=lambda one: one.share):
        ms = statistics.median(each.milliseconds)
        lines.append(f"| {each.task} | {ms:.1f} | {each.share:.2f} | {min(each.shares):.2f}–{max(each.shares):.2f} |")
    return "\n".join(lines)
