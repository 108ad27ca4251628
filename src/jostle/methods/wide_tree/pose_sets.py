"""Many sets of poses: the pairs of all sets as one list, for the same kernels.

Pairs of two bodies that no set moves are answered once, for all sets. Of the others, set k has the pairs k·p … (k+1)·p - 1. What
costs least comes first, and decides as much as it can:

1. `_rows`: faces that touch, of each pair as many as are wanted.
2. `_parts_inside`: for solids, parts of bodies inside others, where boxes of bodies meet.
3. `_write_distances`: the least distance of each set that does not touch, by one search that shares it among the pairs of the set.
   Those with the nearest boxes come first; those whose boxes are beyond the least distance so far are not searched.
4. `_mark_near`: which of the sets have anything near, where distances do not decide it.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Ints, Longs
from jostle.broad_phase.body_volumes import LocalBoxes
from jostle.geometry.aabb import world_boxes
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.rigid import transform_into
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.cached_property import cached_property
from jostle.kernels.jit import kernel
from jostle.kernels.pool import map_chunks
from jostle.kernels.scratch import Workspaces
from jostle.methods.wide_tree.clearance import in_order, pairs_without
from jostle.methods.wide_tree.nearest_search import NO_GAPS, NearList, NearQuestion, find_nearest_rows_parallel
from jostle.methods.wide_tree.nearest_work import ANY_NEAR, NEAREST
from jostle.methods.wide_tree.parallel import find_rows_parallel
from jostle.methods.wide_tree.search import TreePairs
from jostle.methods.wide_tree.tree import Forest
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.batch import Batch
from jostle.report.containment import PairRows, solid_rows
from jostle.report.packing import ALL, FIRST, WORST
from jostle.report.report import Counters

PAIRS_AT_ONCE = 1 << 18
VERTICES_AT_ONCE = 1 << 18  # of bodies that are tested as solids: 6 MB for each thread
BOX_ROUNDING = 2.0**-40  # of the extent of a set; distances of faces are right to 2^-44
LARGEST_NUMBER = 1 << 30  # of a pair, for the pairs of all sets that are answered at a time
NOTHING_MOVES = np.empty((1, 0, 4, 4))


class SetOptions(NamedTuple):
    """The options of `World.detect_many`."""

    rows: str
    clearance: float
    solid: bool
    distance: bool


class Scene(NamedTuple):
    """The bodies, and what is searched for them.

    moving: numbers of the bodies that the sets move; the others are where the frame has them. pairs: all that may meet. shapes: the
    number of each body's tree.
    """

    frame: Frame
    moving: Ints
    pairs: CandidatePairs
    forest: Forest
    shapes: Ints
    boxes: LocalBoxes


class SetAnswers(NamedTuple):
    """The answers of some sets; pairs are numbered through all of them."""

    rows: Rows
    overlapping: Ints  # pairs
    touching: Bools  # (sets,)
    near: Bools
    distance: Floats  # (sets,) inf unless asked for
    counters: Counters


class PosedPairs:
    """Some of the pairs, in some sets of poses (sets, k, 4, 4)."""

    def __init__(self, scene: Scene, numbers: Longs, poses: Floats) -> None:
        self._scene, self.numbers = scene, numbers
        frame, (self.sets, moved) = scene.frame, poses.shape[:2]
        self._moved = moved
        count = len(frame)
        column = np.full(count, -1)
        column[scene.moving[:moved]] = np.arange(moved)
        self.poses = read_only_view(np.concatenate([frame.poses, poses.reshape(-1, 4, 4)]))
        every = np.empty((4, self.sets * len(numbers)), np.int32)
        for body, rows in ((scene.pairs.body_a[numbers], every[:2]), (scene.pairs.body_b[numbers], every[2:])):
            place_in_sets(scene.shapes[body], body, column[body], count, moved, self.sets, rows)
        self.pairs = TreePairs(every[0], every[2], every[1], every[3], self.poses)

    @cached_property
    def body(self) -> Longs:
        """The body of each pose."""
        return np.concatenate([np.arange(len(self._scene.frame)), np.tile(self._scene.moving[: self._moved], self.sets)])

    @cached_property
    def boxes(self) -> tuple[Floats, Floats]:
        """Corners (poses, 3) of the world boxes."""
        lower, upper = self._scene.boxes.of(self._scene.frame)
        return world_boxes(self.poses, lower[self.body], upper[self.body])

    def sets_of(self, pairs: Ints | Longs) -> Bools:
        """Return which sets (sets,) have any of these pairs."""
        found = np.zeros(self.sets, bool)
        found[pairs // max(1, len(self.numbers))] = True
        return found

    def pairs_of(self, sets: Longs) -> Longs:
        """Return the pairs (sets, p) of some sets."""
        return sets[:, None] * len(self.numbers) + np.arange(len(self.numbers))

    @cached_property
    def rounding(self) -> Floats:
        """What rounding can make of a distance in each set (sets,)."""
        lower, upper = self.boxes
        count = len(self._scene.frame)
        rests = np.ones(count, bool)
        rests[self._scene.moving[: self._moved]] = False
        low, high = lower[:count][rests].min(axis=0, initial=np.inf), upper[:count][rests].max(axis=0, initial=-np.inf)
        extent = np.empty(self.sets)
        extents_of_sets(lower[count:], upper[count:], self._moved, low, high, extent)
        return BOX_ROUNDING * extent

    def gaps(self, pairs: Ints | Longs) -> Floats:
        """Return lower bounds of the distances of pairs."""
        lower, upper = self.boxes
        a, b = self.pairs.pose_a[pairs], self.pairs.pose_b[pairs]
        squared = np.zeros(pairs.shape)
        for k in range(3):
            gap = np.maximum(np.maximum(lower[a, k] - upper[b, k], lower[b, k] - upper[a, k]), 0.0)
            squared += gap * gap
        bounds: Floats = np.sqrt(squared) - self.rounding[pairs // len(self.numbers)]
        return bounds

    def by_gaps(self, sets: Longs) -> NearList:
        """Return the pairs of some sets, those with the nearest boxes first in each."""
        pairs = self.pairs_of(sets)
        gaps = self.gaps(pairs)
        order = np.argsort(gaps, axis=1, kind="stable")
        chosen = np.take_along_axis(pairs, order, axis=1).ravel()
        return NearList(self.pairs.chosen(chosen), gaps=np.take_along_axis(gaps, order, axis=1).ravel())

    def where_boxes_meet(self, pairs: Ints) -> Ints:
        """Return those of the pairs whose boxes meet."""
        lower, upper = self.boxes
        a, b = self.pairs.pose_a[pairs], self.pairs.pose_b[pairs]
        return pairs[((lower[a] <= upper[b]) & (lower[b] <= upper[a])).all(axis=1)]

    def vertices_of(self, pairs: Ints) -> int:
        """Return the number of vertices of the bodies of some pairs; a body counts for each of its pairs."""
        return int(self._counts[self.pairs.pose_a[pairs]].sum() + self._counts[self.pairs.pose_b[pairs]].sum())

    @cached_property
    def _counts(self) -> Longs:
        """The number of vertices of the body of each pose."""
        return np.array([len(points) for points in self._scene.frame.vertices])[self.body]

    def pieces(self, pairs: Ints) -> list[Ints]:
        """Cut a list of pairs where their bodies have too many vertices."""
        vertices = self._counts
        ends = np.cumsum(vertices[self.pairs.pose_a[pairs]] + vertices[self.pairs.pose_b[pairs]])
        return np.split(pairs, np.flatnonzero(np.diff(ends // VERTICES_AT_ONCE)) + 1) if len(pairs) else []

    def as_frame(self, used: Ints, room: Floats) -> Frame:
        """Return a frame in which body i is the one of pose used[i], with its world vertices in `room`."""
        frame, number = self._scene.frame, self.body[used].tolist()
        bodies = frame.bodies
        placed = Bodies(
            ids=np.arange(len(used), dtype=np.int32),
            names=tuple(bodies.names[body] for body in number),
            meshes=tuple(bodies.meshes[body] for body in number),
            deformable=bodies.deformable[number],
        )
        vertices, poses = tuple(frame.vertices[body] for body in number), read_only_view(self.poses[used])
        world, start = {}, 0
        for row, points in enumerate(vertices):
            placed_points = room[start : start + len(points)]
            transform_into(poses[row], points, placed_points)
            world[row] = read_only_view(placed_points)
            start += len(points)
        return dataclasses.replace(Frame.at_rest(placed, poses), vertices=vertices, _world_vertices=world)


@kernel
def place_in_sets(shape: Ints, body: Ints, column: Longs, bodies: int, moved: int, sets: int, rows: Ints) -> None:
    """Write the shapes and poses of one side of all pairs in all sets to two `rows`.

    column (p,): where a set has the pose of each body, -1 if it has none. The poses of the frame come before those of the sets.
    """
    k = 0
    for one in range(sets):
        for pair in range(len(body)):
            rows[0, k] = shape[pair]
            rows[1, k] = body[pair] if column[pair] < 0 else bodies + moved * one + column[pair]
            k += 1


@kernel
def extents_of_sets(lower: Floats, upper: Floats, moved: int, rest_lower: Floats, rest_upper: Floats, extent: Floats) -> None:
    """Write the longest edge of the box around all bodies of each set; NumPy takes twenty times as long for two bodies.

    lower, upper (sets * moved, 3): corners of the boxes of the bodies that the sets move. rest_lower, rest_upper (3,): around the
    others.
    """
    for one in range(len(extent)):
        longest = 0.0
        for k in range(3):
            low, high = rest_lower[k], rest_upper[k]
            for j in range(moved * one, moved * one + moved):
                low, high = min(low, lower[j, k]), max(high, upper[j, k])
            longest = max(longest, high - low)
        extent[one] = longest


def batch_of(scene: Scene, poses: Floats, options: SetOptions) -> Batch:
    """Return the answers for sets of poses (n, k, 4, 4)."""
    is_moving = np.zeros(len(scene.frame), bool)
    is_moving[scene.moving] = True
    moves = is_moving[scene.pairs.body_a] | is_moving[scene.pairs.body_b]
    moving, resting = np.flatnonzero(moves), np.flatnonzero(~moves)
    rest = _answers(scene, PosedPairs(scene, resting, NOTHING_MOVES), options) if len(resting) and len(poses) else None
    step = max(1, min(PAIRS_AT_ONCE // max(1, len(moving)), LARGEST_NUMBER // max(1, len(moves))))
    found = []
    for start in range(0, max(1, len(poses)), step):
        posed = PosedPairs(scene, moving, poses[start : start + step])
        answers = _answers(scene, posed, options) if rest is None else _answers_beside(rest, scene, posed, options, resting)
        found.append(
            Batch.of(
                posed.sets,
                scene.pairs,
                answers.rows,
                options.rows,
                answers.counters,
                overlapping=answers.overlapping,
                touching=answers.touching,
                near=answers.near,
                distance=answers.distance if options.distance else None,
            )
        )
    return Batch.joined(found, None if rest is None else rest.counters)


def _answers(scene: Scene, posed: PosedPairs, options: SetOptions, limit: float = np.inf) -> SetAnswers:
    """Return the answers of some sets; distances are the limit at most."""
    rows, counters = _rows(scene, posed, options)
    overlapping = NO_ROWS.pair
    if options.solid:
        decided = posed.sets_of(rows.pair) if options.rows == "any" else np.zeros(posed.sets, bool)
        inside, overlapping = _parts_inside(posed, rows, ~decided, scene.frame.workers)
        rows = Rows.joined([rows, inside])
        rows = rows.chosen(np.lexsort((rows.face_b, rows.face_a, rows.pair)))
    near = posed.sets_of(rows.pair)
    touching = posed.sets_of(rows.pair[rows.kind > NEAR]) if options.clearance > 0.0 else near.copy()
    distance = np.where(touching, 0.0, limit)
    if options.distance:
        counters += _write_distances(scene, posed, np.flatnonzero(~touching), distance, limit)
    if options.rows == "any":
        rows = NO_ROWS
        if options.clearance > 0.0:
            counters += _mark_near(scene, posed, near, options, distance)
    return SetAnswers(rows, overlapping, touching, near, distance, counters)


def _answers_beside(rest: SetAnswers, scene: Scene, posed: PosedPairs, options: SetOptions, resting: Longs) -> SetAnswers:
    """Return the answers of some sets, together with those of the pairs at rest."""
    wanted = options
    if rest.touching[0]:
        wanted = wanted._replace(distance=False)
    if rest.near[0] and options.rows == "any":
        wanted = wanted._replace(clearance=0.0)
    if rest.touching[0] and options.rows == "any":
        some = np.ones(posed.sets, bool)
        return SetAnswers(NO_ROWS, rest.overlapping, some, some, np.zeros(posed.sets), Counters())
    found = _answers(scene, posed, wanted, float(rest.distance[0]))
    count = len(scene.pairs.body_a)

    def everywhere(pairs: Ints) -> Ints:
        numbers: Ints = (np.arange(posed.sets)[:, None] * count + resting[pairs]).ravel().astype(np.int32)
        return numbers

    def in_all(pairs: Ints) -> Ints:
        number, pair = np.divmod(pairs, max(1, len(posed.numbers)))
        numbers: Ints = (number * count + posed.numbers[pair]).astype(np.int32)
        return numbers

    others = rest.rows.chosen(np.tile(np.arange(len(rest.rows.pair)), posed.sets))._replace(pair=everywhere(rest.rows.pair))
    rows = in_order(found.rows._replace(pair=in_all(found.rows.pair)), others)
    overlapping = np.concatenate([in_all(found.overlapping), everywhere(rest.overlapping)])
    distance = np.minimum(found.distance, rest.distance[0])
    return SetAnswers(rows, overlapping, found.touching | rest.touching[0], found.near | rest.near[0], distance, found.counters)


def _rows(scene: Scene, posed: PosedPairs, options: SetOptions) -> tuple[Rows, Counters]:
    """Return the rows that are wanted; for "any", one of each pair that touches."""
    workers = scene.frame.workers
    if options.rows == "any":
        return find_rows_parallel(scene.forest, posed.pairs, 0.0, FIRST, workers)
    if options.rows == "faces":
        return find_rows_parallel(scene.forest, posed.pairs, options.clearance, ALL, workers)
    rows, counters = find_rows_parallel(scene.forest, posed.pairs, 0.0, ALL if options.solid else WORST, workers)
    if options.clearance == 0.0:
        return rows, counters
    others = pairs_without(rows, len(posed.pairs.shape_a))
    gaps = posed.gaps(others) if len(others) else NO_GAPS
    question = NearQuestion.within(options.clearance, ANY_NEAR)
    near, work = find_nearest_rows_parallel(scene.forest, NearList(posed.pairs.chosen(others), gaps=gaps), question, workers)
    return in_order(rows, near._replace(pair=others[near.pair])), counters + work


def _mark_near(scene: Scene, posed: PosedPairs, near: Bools, options: SetOptions, distance: Floats) -> Counters:
    """Mark the sets that have anything near; of those marked it is known."""
    sets, clearance = np.flatnonzero(~near), options.clearance
    if len(sets) == 0 or len(posed.numbers) == 0:
        return Counters()
    if options.distance:  # it decides, unless rounding does: faces that are near have boxes that are near, too
        near[sets] = distance[sets] < clearance - posed.rounding[sets]
        sets = sets[~near[sets] & (distance[sets] < clearance)]
    question = NearQuestion.within(clearance, ANY_NEAR, len(posed.numbers))
    found, counters = find_nearest_rows_parallel(scene.forest, posed.by_gaps(sets), question, scene.frame.workers)
    near[sets[found.pair // len(posed.numbers)]] = True
    return counters


def _write_distances(scene: Scene, posed: PosedPairs, sets: Longs, distance: Floats, limit: float) -> Counters:
    """Write the least distances of some sets that are below the limit."""
    if len(sets) == 0 or len(posed.numbers) == 0:
        return Counters()
    question = NearQuestion(NEAREST, len(posed.numbers), limit)
    found, counters = find_nearest_rows_parallel(scene.forest, posed.by_gaps(sets), question, scene.frame.workers)
    distance[sets[found.pair // len(posed.numbers)]] = found.distance
    return counters


def _parts_inside(posed: PosedPairs, rows: Rows, sets: Bools, workers: int | None) -> tuple[Rows, Ints]:
    """Return the rows of parts of bodies inside others, in some sets, and the overlapping pairs.

    `rows` are all rows of faces that touch in these sets.
    """
    chosen: Ints = np.flatnonzero(np.repeat(sets, len(posed.numbers))).astype(np.int32)
    pieces = posed.pieces(posed.where_boxes_meet(chosen))
    most = max((posed.vertices_of(pairs) for pairs in pieces), default=0)
    # Memory that is new for each piece would be cleared by the system each time, which takes longer than the test.
    rooms = Workspaces(lambda: np.empty((most, 3)))

    def inside(number: int, _: int) -> tuple[Rows, Ints]:
        pairs = pieces[number]
        used, place = np.unique(np.stack([posed.pairs.pose_a[pairs], posed.pairs.pose_b[pairs]]), return_inverse=True)
        body_a, body_b = place.reshape(2, -1).astype(np.int32)
        first, last = np.searchsorted(rows.pair, pairs), np.searchsorted(rows.pair, pairs, side="right")
        room = rooms.take()
        solids = solid_rows(PairRows(body_a, body_b, first, last, rows.face_a, rows.face_b, rows.kind), posed.as_frame(used, room))
        rooms.give_back(room)
        of_pair = pairs[solids.pair]
        return Rows(of_pair, solids.face_a, solids.face_b, solids.kind, np.zeros(len(of_pair))), pairs[solids.overlapping]

    found = [(NO_ROWS, NO_ROWS.pair), *map_chunks(inside, len(pieces), 1, workers)]
    return Rows.joined([rows for rows, _ in found]), np.concatenate([overlapping for _, overlapping in found])
