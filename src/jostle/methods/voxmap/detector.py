"""The detector: from the pairs of a broad phase to a report.

Lock and Wills §5 and §6: a broad phase prunes the body pairs, the look-up decides each of the rest. Boxes grow by as much as
filled voxels and shell points may lie outside a mesh, so the report is the same behind any broad phase. Rows are sorted by
pair, then by shell (with `both` that of the lower body first), then by shell point; deep points are used where nothing else hits.
Threads share large shells in parts of `PIECES_APART` pieces, many pairs in portions, and the measuring of hits in portions of
`ROWS_APART` rows; rows are put back in order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Bytes, Floats, Ints
from jostle.broad_phase.candidates import Candidates
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES, GrowingRows
from jostle.kernels.handles import AddressTable
from jostle.kernels.pool import map_chunks
from jostle.kernels.slices import run_in_slices
from jostle.methods.voxmap.distance_band import band_blocks
from jostle.methods.voxmap.groups import balls_of_groups, coarse_bounds, points_in_blocks
from jostle.methods.voxmap.hits import (
    DescribedHits,
    MeasuredHits,
    deepest_of_each_pair,
    describe_hits,
    keep_hits,
    measure_hits,
)
from jostle.methods.voxmap.look_up import (
    ALL,
    ONE,
    ONE_PER_PAIR,
    PIECE,
    LookUpState,
    look_up_deep_points,
    look_up_shells,
    place_shells,
)
from jostle.methods.voxmap.map import GridSize
from jostle.methods.voxmap.shape import VoxelShape
from jostle.methods.voxmap.shape_arrays import END_PIECE, FIRST_PIECE, PAIR, TASK, ShapeArrays, ShapeNumbers
from jostle.methods.voxmap.show import shown_hits, shown_shells, shown_voxels
from jostle.methods.voxmap.voxel_size import reach_of
from jostle.report.assemble import filter_for_query
from jostle.report.report import Contacts, Counters, Details, Pairs, Report
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap

FIRST_SLICE = 4_000_000  # points: about 20 ms
PAIRS_AT_ONCE = 1 << 20  # pairs placed between two checks for Ctrl-C: about 50 ms
PIECES_APART = 1024  # pieces of a large shell that a thread takes at a time: about 0.5 ms
MOST_CHUNKS = 64  # portions of many pairs
ROWS_APART = 16384  # hits that a thread measures or describes at a time: about 0.8 ms
ROW_MODES = {"faces": ALL, "first": ALL, "pairs": ONE_PER_PAIR, "any": ONE}
OVERLAYS = ("", "voxels", "shell", "hits")


class Hits(NamedTuple):
    """Sorted hits, with the tasks (m,TASK) and frames (m,3,4) they belong to.

    rows (2,n) hold the task and the point of each hit; -1 - k is the deep point k.
    """

    tasks: Ints
    frames: Floats
    rows: Ints
    look_ups: int

    @property
    def pair(self) -> Ints:
        """(n,) the number of each hit's pair."""
        pairs: Ints = self.tasks[self.rows[0], PAIR]
        return pairs

    def select(self, chosen: NDArray[Any]) -> Hits:
        """Return some of the hits."""
        return self._replace(rows=np.ascontiguousarray(self.rows[:, chosen]))


class VoxmapDetector(Detector):
    """Looks up shells in maps, frame by frame."""

    def __init__(self, method: Voxmap, bodies: Bodies, shapes: tuple[VoxelShape, ...]) -> None:
        self._method = method
        # Boxes and a grid for two bodies take 70 µs, placing a shell takes 1.
        self._candidates = Candidates(bodies, method.broad, few=2 if method.broad == "uniform_grid" else 0)
        # Rows of the last look-up, one array per thread: fresh memory costs more than the search.
        self._kept = threading.local()
        self._deep_rows = GrowingRows(np.int32, 2, 64)
        self._made: dict[int, tuple[list[NDArray[Any]], float]] = {}  # by the id of the shape
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[VoxelShape, ...]) -> None:
        first, self._shape_of_body = number_shapes(shapes)
        # Kept as long as the shape: adding a body must not cost as much as all the others did.
        known = self._made
        self._made = {
            id(shapes[body]): known.get(id(shapes[body])) or self._make(shapes[body], bodies.meshes[body]) for body in first
        }
        self._shapes = shapes
        self._table = AddressTable([arrays for arrays, _ in self._made.values()])
        self._has_near = any(len(shapes[body].near) for body in first)
        self._beyond = np.array([beyond for _, beyond in self._made.values()]).reshape(-1)[self._shape_of_body]

    def _make(self, shape: VoxelShape, mesh: Mesh) -> tuple[list[NDArray[Any]], float]:
        """Return the arrays of a shape, and how far it reaches beyond its mesh."""
        return arrays_of(shape, self._method.grouped), _beyond(shape, mesh, reach_of(self._method))

    def change(self, bodies: Bodies, shapes: tuple[VoxelShape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed, keeping the arrays of known shapes."""
        self._candidates.change(bodies, old_to_new)
        self._set_bodies(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Prune the body pairs and look up the shells of the rest."""
        pairs = self._pairs_to_test(frame)
        hits = self._hits(pairs, frame, ROW_MODES[query.rows])
        counters = Counters(body_pairs=len(pairs.body_a), box_tests=self._candidates.box_tests, look_ups=hits.look_ups)
        if hits.rows.shape[1] == 0:
            return Report(counters=counters)
        contacts = self._contacts(pairs, frame, hits)
        if query.rows == "first":
            chosen = np.empty(len(contacts), np.int64)
            chosen = chosen[: deepest_of_each_pair(hits.pair, contacts.distance, chosen)]
            contacts = self._contacts(pairs, frame, hits.select(chosen))
        return filter_for_query(contacts, Pairs.of(contacts), counters, query)

    def _pairs_to_test(self, frame: Frame) -> CandidatePairs:
        """Return the pairs to look up, as kernels take them."""
        body_a, body_b = self._candidates.pairs(frame, beyond=self._beyond)
        return CandidatePairs(read_only_view(body_a), read_only_view(body_b))

    def _hits(self, pairs: CandidatePairs, frame: Frame, row_mode: int) -> Hits:
        """Look up the shells of all pairs, and the deep points where nothing hits."""
        count, poses = len(pairs.body_a), read_only_view(frame.poses)
        most = 2 * count if self._method.both else count
        tasks, frames = np.empty((most, TASK), np.int32), np.empty((most, 3, 4))
        near = 0
        for begin in range(0, count, PAIRS_AT_ONCE):
            near = place_shells(
                pairs.body_a, pairs.body_b, begin, min(begin + PAIRS_AT_ONCE, count), self._shape_of_body, self._table.table, poses,
                self._method.both, tasks, near, frames,
            )  # fmt: skip
        if near == 0:
            return Hits(tasks[:0], frames[:0], np.empty((2, 0), np.int32), 0)
        tasks, frames, marks = tasks[:near], frames[:near], np.zeros(count, np.uint8)
        if frame.workers == 1 or row_mode == ONE:
            hits, _ = self._looked_up(tasks, frames, row_mode, marks)
        else:
            hits = self._on_threads(tasks, frames, row_mode, marks, frame.workers)
        if row_mode != ALL and not (row_mode == ONE and hits.rows.shape[1]):
            hits = self._with_feet(hits, row_mode, marks)
        if (row_mode == ONE and hits.rows.shape[1]) or marks.all():
            return hits
        tasks = hits.tasks
        deep = self._deep_rows.fill(lambda rows: look_up_deep_points(tasks, self._table.table, poses, marks, rows))
        if len(deep) == 0:
            return hits
        hits = hits._replace(rows=np.concatenate([hits.rows, deep.T], axis=1))
        hits = hits.select(np.argsort(hits.pair, kind="stable"))
        if row_mode == ALL:
            return hits
        return hits.select(_firsts(hits, row_mode))

    def _with_feet(self, hits: Hits, row_mode: int, marks: Bytes) -> Hits:
        """Add rows for pairs where a foot is inside but no point is in a voxel."""
        left = np.flatnonzero(marks[hits.tasks[:, PAIR]] == 0)
        if len(left) == 0 or not self._has_near:
            return hits
        more, _ = self._looked_up(hits.tasks[left], hits.frames[left], ALL, marks)
        if more.rows.shape[1] == 0:
            return hits
        more.rows[0] = left[more.rows[0]]
        hits = hits._replace(rows=np.concatenate([hits.rows, more.rows], axis=1), look_ups=hits.look_ups + more.look_ups)
        return hits.select(_firsts(hits, row_mode))

    def _looked_up(
        self, tasks: Ints, frames: Floats, row_mode: int, marks: Bytes, most: int | None = None
    ) -> tuple[Hits, NDArray[np.void]]:
        """Look up the shells of some tasks, about `most` points; mark pairs that hit.

        Returns the hits and the state of the look-up.
        """
        rows: Ints = self._kept.rows if hasattr(self._kept, "rows") else np.empty((3, 4 * PIECE), np.int32)
        table = self._table.table

        def step(state: NDArray[np.void], operations: int) -> tuple[bool, int]:
            nonlocal rows
            used = look_up_shells(
                tasks, frames, table, self._method.grouped, row_mode == ALL, row_mode, operations, state, marks, rows
            )
            next_task, _, found, _ = state.item()
            done = next_task == len(tasks)
            if not done and found > rows.shape[1] - PIECE:
                rows = np.concatenate([rows, np.empty_like(rows)], axis=1)
            return done, max(1, int(used))

        state = np.zeros(1, LookUpState.dtype)
        run_in_slices(step, state, FIRST_SLICE, total_operations=most)
        if rows.nbytes <= KEPT_BYTES:
            self._kept.rows = rows
        _, _, count, look_ups = state.item()
        if row_mode == ALL and self._has_near:
            count = int(keep_hits(tasks, frames, table, rows, count, marks))
        return Hits(tasks, frames, rows[:2, :count].copy(), look_ups), state

    def _on_threads(self, tasks: Ints, frames: Floats, row_mode: int, marks: Bytes, workers: int | None) -> Hits:
        """Look up tasks on threads if there are enough, cutting large shells.

        The result does not depend on the number of threads.
        """
        if int(tasks[:, END_PIECE].sum()) < 4 * PIECES_APART:
            return self._looked_up(tasks, frames, row_mode, marks)[0]
        begun, found = 0, []
        if row_mode == ALL:  # otherwise a part would not know whether an earlier one has hit
            # Threads take 0.2 ms to start. Where groups are skipped, this may be all there is to do.
            first, state = self._looked_up(tasks, frames, row_mode, marks, PIECES_APART * PIECE)
            next_task, next_piece, _, _ = state.item()
            if next_task == len(tasks):
                return first
            tasks, frames, begun = _cut(tasks, frames, next_task, next_piece)
            found = [first]
        left = len(tasks) - begun
        # An even number, so that the two shells of a pair stay together where one hit is enough.
        chunk = 1 if row_mode == ALL and left <= MOST_CHUNKS else 2 * -(-left // (2 * MOST_CHUNKS))

        def part(start: int, stop: int) -> tuple[Hits, Bytes]:
            own, start, stop = np.zeros_like(marks), begun + start, begun + stop
            hits, _ = self._looked_up(tasks[start:stop], frames[start:stop], row_mode, own)
            hits.rows[0] += start
            return hits, own

        for hits, own in map_chunks(part, left, chunk, workers):
            marks |= own
            found.append(hits)
        rows = np.concatenate([hits.rows for hits in found], axis=1)
        return Hits(tasks, frames, rows, sum(hits.look_ups for hits in found))

    def _contacts(self, pairs: CandidatePairs, frame: Frame, hits: Hits) -> Contacts:
        """Return hits as contacts; their details are computed on demand."""
        count = hits.rows.shape[1]
        bodies: Ints = np.empty((2, count), np.int32)
        measured = MeasuredHits(bodies, np.empty(count, np.uint8), np.empty(count), np.empty(count), np.empty((count, 3)))
        # Details may be computed later: frames and shapes are never written to.
        table, poses, (pair_a, pair_b) = self._table, read_only_view(frame.poses), pairs
        workers = frame.workers

        def measure(begin: int, end: int) -> None:
            measure_hits(hits.tasks, hits.frames, table.table, poses, pair_a, pair_b, hits.rows, begin, end, measured)

        def details() -> Details:
            described = DescribedHits(np.empty((count, 2, 3)), np.empty((count, 3)), np.empty(count), np.empty((count, 3)))

            def describe(begin: int, end: int) -> None:
                describe_hits(
                    hits.tasks, hits.frames, table.table, poses, pair_a, hits.rows, begin, end, measured.gradient, described
                )

            _in_portions(describe, count, workers)
            segment, normal, area, place = described
            return Details(segment=segment, normal=normal, area=area, place=place)

        _in_portions(measure, count, workers)

        faces: Ints = np.full(count, -1, np.int32)
        return Contacts(
            body_a=bodies[0], body_b=bodies[1], face_a=faces, face_b=faces, kind=measured.kind, distance=measured.distance,
            depth=measured.depth, _details=details,
        )  # fmt: skip

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show shell points and hits (the default), or "voxels", "shell" or "hits" alone."""
        cast.as_choice(what, OVERLAYS, "what")
        if what == "voxels":
            return shown_voxels(self._shapes, frame)
        if what == "shell":
            return shown_shells(self._shapes, frame)
        pairs = self._pairs_to_test(frame)
        hits = self._contacts(pairs, frame, self._hits(pairs, frame, ALL))
        return shown_hits(hits, self._shapes, frame, with_shells=what == "")


def _in_portions(work: Callable[[int, int], None], count: int, workers: int | None) -> None:
    """Call work(begin, end) for all rows, on threads where there are many."""
    if count <= ROWS_APART:
        work(0, count)
    else:
        map_chunks(work, count, ROWS_APART, workers)


def _firsts(hits: Hits, row_mode: int) -> NDArray[np.int64]:
    """Return the first row of each pair, or of the first pair only."""
    firsts = np.unique(hits.pair, return_index=True)[1]
    return firsts[:1] if row_mode == ONE else firsts


def arrays_of(shape: VoxelShape, grouped: bool) -> list[NDArray[Any]]:
    """Return the arrays of a shape for kernels, in the order of `ShapeArrays`."""
    none = np.empty(0, np.float32)
    near = shape.near
    return ShapeArrays.arrays(
        blocks=points_in_blocks(shape.points),
        words=shape.words.view(np.int32),
        balls=balls_of_groups(shape.points) if grouped else none,
        coarse=coarse_bounds(shape.words, GridSize(*shape.cells.tolist())) if grouped else none,
        deep=shape.deep,
        band_first=shape.band_first,
        band_values=shape.band_values,
        points=shape.points,
        feet=shape.feet,
        normals=shape.normals,
        near=near.view(np.int32),
        near_coarse=coarse_bounds(near, GridSize(*(8 * n for n in band_blocks(shape.cells)))) if grouped and len(near) else none,
        numbers=_numbers_of(shape),
    )


def _numbers_of(shape: VoxelShape) -> NDArray[np.void]:
    """Return the `ShapeNumbers` of a shape."""
    numbers = np.zeros(1, ShapeNumbers.dtype)
    for name in ("voxel", "origin", "cells", "middle", "radius", "band_step"):
        numbers[name] = getattr(shape, name)
    numbers["point_count"] = len(shape.points)
    return numbers


def _beyond(shape: VoxelShape, mesh: Mesh, reach: float) -> float:
    """Return how far filled voxels and shell points reach beyond a mesh's vertices."""
    if mesh.analytic is None:
        return reach * shape.voxel
    # An analytic surface bulges out between the vertices: the largest bulge of many directions, and a quarter more between them.
    grid = np.indices((7, 7, 7)).reshape(3, -1).T - 3.0
    directions = grid[np.abs(grid).max(axis=1) == 3.0]
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    bulge = _farthest_along(directions, shape.points, shape.middle) - _farthest_along(directions, mesh.vertices)
    return reach * shape.voxel + 1.25 * max(0.0, float(bulge.max()))


def _farthest_along(directions: Floats, points: NDArray[Any], middle: Floats | float = 0.0) -> Floats:
    """Return how far points about a middle reach along directions (n,3).

    In portions: a fine shell would take gigabytes at once.
    """
    portions = (points[begin : begin + ROWS_APART] + middle for begin in range(0, len(points), ROWS_APART))
    farthest: Floats = np.max([(portion @ directions.T).max(axis=0) for portion in portions], axis=0)
    return farthest


def _cut(tasks: Ints, frames: Floats, task: int, piece: int) -> tuple[Ints, Floats, int]:
    """Cut tasks where a look-up stopped, and the rest into parts for threads.

    Parts have at most PIECES_APART pieces. Returns tasks, frames and the number of tasks that are done.
    """
    begun = task + 1 if piece > 0 else task
    done, left = tasks[:begun].copy(), tasks[task:].copy()
    if piece > 0:
        done[task, END_PIECE] = left[0, FIRST_PIECE] = piece
    parts = np.maximum(1, -((left[:, FIRST_PIECE] - left[:, END_PIECE]) // PIECES_APART))
    number = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    cut = np.repeat(left, parts, axis=0)
    cut[:, FIRST_PIECE] += (number * PIECES_APART).astype(np.int32)
    cut[:, END_PIECE] = np.minimum(cut[:, END_PIECE], cut[:, FIRST_PIECE] + PIECES_APART)
    return np.concatenate([done, cut]), np.concatenate([frames[:begun], np.repeat(frames[task:], parts, axis=0)]), begun
