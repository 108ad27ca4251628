"""The renderer on a device: one submission and one read-back per frame.

The read-back has 32 bytes per view. Convex pairs are decided by near and far depth or by the paper's stencil counts,
others by all layers (see the shaders). A pixel keeps as many layers as it has slots; when any has more, the read-back
reports it, and those pieces are drawn again with as many slots as they need, in a second submission. So no layer is ever
lost. The number of slots follows what the last frame needed.

A frame also needs more than one submission when its pieces may have more than four million patches to draw. Decisions are
sampled; they differ from those in float64 only where the centre of a pixel is within 1/16 pixel of an edge, or common
depths are shorter than the error that `placing.py` states. The few views whose faces reach too far out of the tile for
float32 are decided by the software renderer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.kernels.arrays import read_only_view
from jostle.methods.image_space.gpu.buffers import Buffers
from jostle.methods.image_space.gpu.device import CURE, FORKED, SharedDevice, shared_device
from jostle.methods.image_space.gpu.meshes import Meshes, is_alone, meshes_of, move_points
from jostle.methods.image_space.gpu.pieces import Packing, Pieces, cut, joined, pack, pieces_of
from jostle.methods.image_space.gpu.pipelines import ROUND_STRIDE, VERTICES_OF_INSTANCE
from jostle.methods.image_space.gpu.placing import (
    LAYERS,
    ORIGIN,
    RECTANGLE,
    WORDS_OF_PIECE,
    KeptPieces,
    MeshBoxes,
    PieceRows,
    PieceViews,
    place_pieces,
)
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.renderers import Decisions, no_decisions
from jostle.methods.image_space.shape import ImageShape
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.methods.image_space.software import SoftwareRenderer
from jostle.methods.image_space.workspace import ALL, INTERVAL

FEWEST_SLOTS, MOST_SLOTS_AT_FIRST = 8, 64
MOST_SLOT_BYTES = 1 << 26  # of a round: more is drawn in several
MOST_INSTANCES = 1 << 22  # of a submission
PATCHES_IN_SLICE = 1 << 20  # culled between two checks for Ctrl-C: about 10 ms
PIXELS_IN_GROUP = 1024  # as in decide.wgsl
MOST_IDLE = 4  # how many times fewer workgroups a piece may need than its dispatch has
WORDS_OF_RESULT = 8


class PlacedPieces(NamedTuple):
    """Pieces that are drawn, their maps for the device, and the patches drawn in each."""

    pieces: Pieces
    words: Ints  # (n, 44)
    depth: Floats  # (n, 2)
    instances: NDArray[np.uint32]  # (…, 2)
    first_instance: NDArray[np.int64]  # (n + 1,)
    too_far: NDArray[np.bool_]  # (views,) those with a piece for which float32 is not enough


class Dispatch(NamedTuple):
    """Pieces of about one size, decided by one dispatch."""

    pieces: range
    groups: int  # workgroups of the largest


class Round(NamedTuple):
    """One drawing pass into the atlas."""

    kind: str
    instances: range
    words: int  # counters of layers
    dispatches: list[Dispatch]


class WgpuRenderer:
    """Decides views on the device of the process (`device.py`).

    `submissions` counts submissions; `broken_pixels` counts pixels skipped because their layers did not close: an edge so
    near to the centre that only one of its faces was drawn there.
    """

    def __init__(self, shared: SharedDevice) -> None:
        self._shared = shared
        self._buffers: Buffers | None = None
        self._uploaded = False
        self._software: SoftwareRenderer | None = None
        self._shapes: list[ImageShape] = []
        self._meshes: Meshes = meshes_of(())
        self._slots = FEWEST_SLOTS
        self.submissions = 0
        self.broken_pixels = 0

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"wgpu on {self._shared.name}"

    def change(self, shapes: tuple[ImageShape, ...]) -> None:
        """Take the shapes of all bodies, one each; shared shapes are held once."""
        self._shapes = list(shapes)
        self._meshes = meshes_of(self._shapes)
        self._uploaded, self._software = False, None

    def deform(self, body: int, shape: ImageShape) -> None:
        """Take new points and boxes for a deforming body."""
        old, self._shapes[body] = self._shapes[body], shape
        if not is_alone(self._meshes, body) or len(old.points) != len(shape.points) or len(old.corners) != len(shape.corners):
            self.change(tuple(self._shapes))
            return
        first, last = move_points(self._meshes, body, shape)
        if shape is not old:
            self._software = None
        if self._buffers is None or not self._uploaded:
            return
        with self._device_errors():
            if self._buffers is not None:  # dropped when the device was lost
                self._buffers.write("points", self._meshes.points[first:last], "the points of all meshes", offset=12 * first)

    def decide(self, views: Views, test: str, workers: int | None) -> Decisions:
        """Decide each view by stencil counts or depths, concave bodies by layers.

        With "stencil", `near` equals `far` in the answer for convex pairs: only the far end of the common depths is known.
        """
        found = no_decisions(len(views.pair))
        shape_a, shape_b = self._meshes.shape_of_body[views.body_a], self._meshes.shape_of_body[views.body_b]
        convex = self._meshes.convex[shape_a] & self._meshes.convex[shape_b]
        slots = np.where(convex, 0, self._slots).astype(np.int32)
        simple, layered = np.flatnonzero(convex).astype(np.int32), np.flatnonzero(~convex).astype(np.int32)
        chosen, most = {test: simple, "layers": layered}, self._most_slots()
        waiting = {kind: pieces_of(rows, views.size[rows], slots[rows], most) for kind, rows in chosen.items()}
        largest, too_far = 0, np.zeros(len(views.pair), np.bool_)
        with self._device_errors():
            while any(len(pieces.view) for pieces in waiting.values()):
                now, waiting = self._some_of(waiting, shape_a, shape_b)
                placed = {kind: self._place(pieces, views, shape_a, shape_b) for kind, pieces in now.items()}
                for kind, results in self._submit(placed, views).items():
                    again, most = self._enter(found, placed[kind], results, layered=kind == "layers")
                    waiting[kind] = joined(again, waiting[kind])
                    largest = max(largest, most)
                    too_far |= placed[kind].too_far
        if len(layered):
            self._slots = min(max(FEWEST_SLOTS, 1 << (max(largest, 1) - 1).bit_length()), MOST_SLOTS_AT_FIRST)
        self._decide_by_software(found, views, np.flatnonzero(too_far), convex & (test == "stencil"), workers)
        return found._replace(drawn=int(np.sum(views.size.astype(np.int64) ** 2)))

    def _decide_by_software(
        self, found: Decisions, views: Views, rows: NDArray[np.int64], only_far: NDArray[np.bool_], workers: int | None
    ) -> None:
        """Decide some views (their rows) in float64, as the device would.

        `only_far` marks views whose near end the device does not know.
        """
        if len(rows) == 0:
            return
        if self._software is None:
            self._software = SoftwareRenderer(ShapesOfBodies(self._shapes))
        # Each as a pair of its own: software stops at the first colliding view of a pair.
        chosen = views.select(rows)._replace(pair=np.arange(len(rows), dtype=np.int32))
        pixels = self._software.colliding_pixels(chosen, INTERVAL, ALL, workers)
        hit, first = np.unique(pixels.view, return_index=True)
        found.pixels[rows] = np.bincount(pixels.view, minlength=len(rows))
        found.first[rows], found.near[rows], found.far[rows] = -1, np.nan, np.nan  # pieces of them may have been drawn
        found.first[rows[hit]] = pixels.pixel[first]
        found.near[rows[hit]] = np.where(only_far[rows[hit]], pixels.high[first], pixels.low[first])
        found.far[rows[hit]] = pixels.high[first]

    def _some_of(self, waiting: dict[str, Pieces], shape_a: Ints, shape_b: Ints) -> tuple[dict[str, Pieces], dict[str, Pieces]]:
        """Split waiting pieces into the next submission, usually all, and the rest."""
        now, rest, room = {}, {}, MOST_INSTANCES
        for kind, pieces in waiting.items():
            patches_before = np.cumsum(self._patches_of(pieces, shape_a, shape_b))
            count = int(np.searchsorted(patches_before, room, side="right"))
            if room == MOST_INSTANCES:
                count = max(1, count)
            now[kind], rest[kind] = pieces.take(slice(count)), pieces.take(slice(count, None))
            room -= int(patches_before[min(count, len(patches_before)) - 1]) if len(patches_before) and count else 0
        return now, rest

    def _patches_of(self, pieces: Pieces, shape_a: Ints, shape_b: Ints) -> NDArray[np.int64]:
        """Return the number of patches of both bodies of each piece."""
        patches: NDArray[np.int64] = np.diff(self._meshes.first_patch)
        return patches[shape_a[pieces.view]] + patches[shape_b[pieces.view]]

    def _enter(self, found: Decisions, placed: PlacedPieces, results: NDArray[np.uint32], layered: bool) -> tuple[Pieces, int]:
        """Enter results (n, 8); return pieces to redraw and the most layers of a pixel."""
        most = results[:, 2].astype(np.int64)
        enough = most <= placed.pieces.slots if layered else np.ones(len(most), np.bool_)
        _enter_results(found, placed.pieces.take(enough), results[enough], placed.depth[enough])
        self.broken_pixels += int(results[enough, 3].sum())
        again = placed.pieces.take(~enough)._replace(slots=most[~enough].astype(np.int32))
        return cut(again, self._most_slots()), int(most.max(initial=0))

    def _place(self, pieces: Pieces, views: Views, shape_a: Ints, shape_b: Ints) -> PlacedPieces:
        """Cull patches and compute the maps of pieces, in slices."""
        meshes, count = self._meshes, len(pieces.view)
        patches_before = np.cumsum(self._patches_of(pieces, shape_a, shape_b))
        words = np.zeros((count, WORDS_OF_PIECE), np.int32)
        depth = np.empty((count, 2))
        instances = np.empty((int(patches_before[-1]) if count else 0, 2), np.uint32)
        first_instance = np.zeros(count + 1, np.int64)
        piece = np.empty(count, np.int64)
        too_far = np.zeros(len(views.pair), np.bool_)
        rows = PieceRows(*(read_only_view(field) for field in pieces[:5]))
        of_views = PieceViews(*(read_only_view(field) for field in (shape_a, shape_b, views.to_tile, views.pixel)))
        boxes = MeshBoxes(*(read_only_view(field) for field in (meshes.first_patch, meshes.centre, meshes.half, meshes.grid)))
        out = KeptPieces(words, depth, instances, first_instance, piece)
        begin, kept = 0, 0
        while begin < count:
            before = patches_before[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(patches_before, before + PATCHES_IN_SLICE, side="right")))
            kept = int(place_pieces(begin, end, kept, rows, of_views, boxes, out, too_far))
            begin = end
        drawn = int(first_instance[kept])
        return PlacedPieces(
            pieces.take(piece[:kept]), words[:kept], depth[:kept], instances[:drawn], first_instance[: kept + 1], too_far
        )

    def _submit(self, placed: dict[str, PlacedPieces], views: Views) -> dict[str, NDArray[np.uint32]]:
        """Draw and decide all pieces in one submission; return the results (n, 8) by kind."""
        buffers = self._ready()
        count = sum(len(part.words) for part in placed.values())
        if count == 0:
            return {kind: np.empty((0, WORDS_OF_RESULT), np.uint32) for kind in placed}
        packings = {kind: pack(part.pieces, self._most_slots()) for kind, part in placed.items() if len(part.words)}
        rounds: list[Round] = []
        pieces, instances = 0, 0
        for kind, packing in packings.items():
            _finish_words(placed[kind], packing, views, pieces)
            rounds += _rounds(kind, placed[kind], packing, pieces, instances)
            pieces += len(placed[kind].words)
            instances += len(placed[kind].instances)
        self._upload(buffers, placed, packings, rounds, count)
        encoder = self._shared.device.create_command_encoder()
        encoder.clear_buffer(buffers["results"], 0, 4 * WORDS_OF_RESULT * count)
        offset = 0
        for round_ in rounds:
            offset = _encode(encoder, self._shared.pipelines, buffers, round_, offset)
        encoder.copy_buffer_to_buffer(buffers["results"], 0, buffers["read_back"], 0, 4 * WORDS_OF_RESULT * count)
        self._shared.device.queue.submit([encoder.finish()])
        self.submissions += 1
        results = buffers.read(4 * WORDS_OF_RESULT * count).reshape(-1, WORDS_OF_RESULT)
        ends = np.cumsum([len(part.words) for part in placed.values()])
        return dict(zip(placed, np.split(results, ends[:-1]), strict=True))

    def _upload(
        self, buffers: Buffers, placed: dict[str, PlacedPieces], packings: dict[str, Packing], rounds: list[Round], count: int
    ) -> None:
        for kind, packing in packings.items():
            if kind == "stencil":
                buffers.need_atlas("stencil", packing.width, packing.height)
        deep = [packing for kind, packing in packings.items() if kind != "stencil"]
        if deep:
            buffers.need_atlas("depth", max(packing.width for packing in deep), max(packing.height for packing in deep))
        dispatches = [(round_, dispatch) for round_ in rounds for dispatch in round_.dispatches]
        uniforms = np.zeros((len(dispatches), ROUND_STRIDE // 4), np.uint32)
        for k, (round_, dispatch) in enumerate(dispatches):
            atlas = buffers.atlas["stencil" if round_.kind == "stencil" else "depth"]
            uniforms[k, :2] = np.array(atlas, np.float32).view(np.uint32)
            uniforms[k, 2:4] = round_.instances.start, dispatch.pieces.start
        buffers.write("rounds", uniforms, "the rounds of a frame")
        buffers.write("pieces", np.concatenate([part.words for part in placed.values()]), "the pieces of a frame")
        buffers.write("instances", np.concatenate([part.instances for part in placed.values()]), "the instances of a frame")
        buffers.need("results", 4 * WORDS_OF_RESULT * count, "the results of a frame")
        buffers.need("read_back", 4 * WORDS_OF_RESULT * count, "the results of a frame")
        words = max((round_.words for round_ in rounds), default=0)
        if words:
            layers = placed["layers"].pieces
            used = np.int64(2) * layers.width * layers.height * layers.slots
            slots = packings["layers"].first_slot + used
            buffers.need("counts", 4 * words, "the counters of layers")
            buffers.need("slots", 4 * int(slots.max()), "the layers of a round")

    def _most_slots(self) -> int:
        return min(MOST_SLOT_BYTES, self._shared.most_bytes) // 4

    def _ready(self) -> Buffers:
        """Return the buffers on the device, with the meshes uploaded."""
        if self._buffers is None:
            self._buffers, self._uploaded = Buffers(self._shared), False
        if not self._uploaded:
            for name in ("points", "corners", "patches"):
                self._buffers.write(name, getattr(self._meshes, name), f"the {name} of all meshes")
            self._uploaded = True
        return self._buffers

    @contextmanager
    def _device_errors(self) -> Iterator[None]:
        """Hold the device; report its loss or refusal, and restart the next time."""
        if self._shared.process != os.getpid():
            raise InputError(FORKED)
        if self._shared.lost:
            self._shared, self._buffers = shared_device(only_real=False), None
        import wgpu

        with self._shared.lock:
            try:
                yield
            except (wgpu.GPUError, RuntimeError) as error:
                self._shared.lost = True
                self._buffers = None
                message = " ".join(str(error).split())[:300]
                raise InputError(
                    f"{self.name} was lost or refused a frame ({message}); call again to restart it, or {CURE}"
                ) from error
            except BaseException:  # Ctrl-C may leave a buffer mapped: the next frame takes others
                self._buffers = None
                raise


def _finish_words(placed: PlacedPieces, packing: Packing, views: Views, first_piece: int) -> None:
    """Write the places of pieces in the atlas and in the lists of layers.

    Pieces are numbered from `first_piece`.
    """
    words, pieces = placed.words, placed.pieces
    x, y = packing.origin.T
    for first, row in (
        (RECTANGLE, (pieces.width, pieces.height, pieces.left, pieces.top)),
        (LAYERS, (views.size[pieces.view], pieces.slots, packing.first_word, packing.first_slot)),
        (ORIGIN, (x, y, x + pieces.width, y)),
    ):
        words[:, first : first + 4] = np.stack(row, axis=1)
    if first_piece:
        placed.instances[:, 1] += np.uint32(2 * first_piece)


def _rounds(kind: str, placed: PlacedPieces, packing: Packing, first_piece: int, first_instance: int) -> Iterator[Round]:
    """Yield the rounds of a packing, numbered as in the whole submission."""
    pixels = placed.pieces.width.astype(np.int64) * placed.pieces.height
    for begin, end in zip(packing.first_piece[:-1].tolist(), packing.first_piece[1:].tolist(), strict=True):
        instances = range(first_instance + int(placed.first_instance[begin]), first_instance + int(placed.first_instance[end]))
        words = int(2 * pixels[begin:end].sum()) if kind == "layers" else 0
        yield Round(kind, instances, words, _dispatches(-(-pixels[begin:end] // PIXELS_IN_GROUP), first_piece + begin))


def _dispatches(groups: NDArray[np.int64], first_piece: int) -> list[Dispatch]:
    """Split pieces by their number of workgroups, so that small ones do not idle.

    All pieces of a dispatch get the largest number. One tile of 1024² among 2,800 of 8²: 30 s in one dispatch, 0.9 s in two.
    """
    dispatches, begin, most = [], 0, 0
    for k, count in enumerate(groups.tolist()):
        if begin < k and not most <= count * MOST_IDLE <= most * MOST_IDLE:
            dispatches.append(Dispatch(range(first_piece + begin, first_piece + k), most))
            begin, most = k, 0
        most = max(most, count)
    return [*dispatches, Dispatch(range(first_piece + begin, first_piece + len(groups)), most)]


def _encode(encoder: Any, pipelines: Any, buffers: Buffers, round_: Round, offset: int) -> int:
    """Draw and decide the pieces of a round; return the offset of the next uniform."""
    count = len(round_.instances)

    def draw(attachment: dict[str, Any], steps: list[Any], kept: bool = False) -> None:
        encoding = encoder.begin_render_pass(color_attachments=[], depth_stencil_attachment=attachment)
        encoding.set_bind_group(0, buffers.group("draw"), [offset])
        if kept:
            encoding.set_bind_group(1, buffers.group("keep"))
        for pipeline in steps:
            encoding.set_pipeline(pipeline)
            encoding.draw(VERTICES_OF_INSTANCE, count)
        encoding.end()

    if round_.kind == "stencil":
        stencil = {"stencil_clear_value": 0, "stencil_load_op": "clear", "stencil_store_op": "store"}
        draw(_depth(buffers.views["counted"], 0.0) | stencil, [pipelines.far_with_stencil, pipelines.count])
    elif round_.kind == "interval":
        draw(_depth(buffers.views["near"], 1.0), [pipelines.near_of_convex])
        draw(_depth(buffers.views["far"], 0.0), [pipelines.far_of_convex])
    else:
        draw(_depth(buffers.views["near"], 1.0), [pipelines.near])
        draw(_depth(buffers.views["far"], 0.0), [pipelines.far])
        encoder.clear_buffer(buffers["counts"], 0, 4 * round_.words)
        draw({"view": buffers.views["far"], "depth_read_only": True}, [pipelines.keep], kept=True)
    encoding = encoder.begin_compute_pass()
    encoding.set_bind_group(1, buffers.group(round_.kind))
    for dispatch in round_.dispatches:
        encoding.set_bind_group(0, buffers.group("decide"), [offset])
        encoding.set_pipeline(pipelines.count_pixels[round_.kind])
        encoding.dispatch_workgroups(dispatch.groups, len(dispatch.pieces))
        encoding.set_pipeline(pipelines.look_at_first[round_.kind])
        encoding.dispatch_workgroups(len(dispatch.pieces))
        offset += ROUND_STRIDE
    encoding.end()
    return offset


def _depth(view: Any, clear: float) -> dict[str, Any]:
    return {"view": view, "depth_clear_value": clear, "depth_load_op": "clear", "depth_store_op": "store"}


def _enter_results(found: Decisions, pieces: Pieces, results: NDArray[np.uint32], depth: Floats) -> None:
    """Enter the results (n, 8) of pieces in the decisions of their views."""
    hit = np.flatnonzero(results[:, 0])
    pieces, results, depth = pieces.take(hit), results[hit], depth[hit]
    number = (np.uint32(0xFFFFFFFF) - results[:, 1]).astype(np.int32)
    ends = (results[:, 4:6].view(np.float32).astype(np.float64) - 0.5) / depth[:, 1:] + depth[:, :1]
    np.add.at(found.pixels, pieces.view, results[:, 0].astype(np.int64))
    # Of the pieces of a view, the one with the earliest pixel is entered last.
    order = np.argsort(-number, kind="stable")
    order = order[(found.first[pieces.view[order]] < 0) | (number[order] < found.first[pieces.view[order]])]
    found.first[pieces.view[order]] = number[order]
    found.near[pieces.view[order]] = ends[order, 0]
    found.far[pieces.view[order]] = ends[order, 1]
