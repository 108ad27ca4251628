"""The cases of the kinds: each part with each question about it.

A crowd is asked for all rows, and which bodies touch. Two bodies are asked at many poses in one call: just in contact, at a near
miss, apart, and at gaps of up to two clearances, half of which are within it. Bodies that deform move every vertex in each frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, KindLabel
from jostle.bench.kinds import placing
from jostle.bench.kinds.catalogue import parts_of
from jostle.bench.kinds.meshes.compounds import turned_at_random
from jostle.bench.kinds.part import Asked, Part, Sizes
from jostle.geometry.pose import translation
from jostle.shapes.mesh import Mesh

_QUESTION = {
    Asked.ALL: "faces",
    Asked.PAIRS: "bodies",
    Asked.FIRST: "any",
    Asked.MISS: "any",
    Asked.DISTANCE: "distance",
    Asked.NEAREST: "nearest",
    Asked.WITHIN: "within",
    Asked.DEFORM: "faces",
    Asked.SELF: "faces",
}


class KindCases:
    """The cases of some kinds, made one after the other; `len` says how many.

    Parameters
    ----------
    kinds : sequence of str
    sizes : Sizes
    folder : Path, optional
        Of meshes that replace the organic ones.
    one_each : bool
        Ask each part one of its questions, in turn.
    """

    def __init__(self, kinds: Sequence[str], sizes: Sizes, folder: Path | None = None, one_each: bool = False) -> None:
        self._sizes = sizes
        self._asked: list[tuple[str, Part, tuple[Asked, ...]]] = []
        for kind in kinds:
            for part in parts_of(kind, sizes, folder):
                turn = len(self._asked) % len(part.asked)
                self._asked.append((kind, part, part.asked[turn : turn + 1] if one_each else part.asked))

    def __len__(self) -> int:
        return sum(len(asked) for _, _, asked in self._asked)

    def __iter__(self) -> Iterator[Case]:
        for kind, part, every in self._asked:
            stage = Stage(kind, part, self._sizes)
            for asked in every:
                yield stage.case(asked)


class Stage:
    """A part's meshes and poses, which its cases share."""

    def __init__(self, kind: str, part: Part, sizes: Sizes) -> None:
        self._kind, self._part, self._sizes = kind, part, sizes
        self._mesh = part.make()
        self._other = None if part.make_other is None else part.make_other()

    def case(self, asked: Asked) -> Case:
        """Return one case."""
        if asked in (Asked.DEFORM, Asked.SELF):
            return self._deforming(asked)
        if self._part.bodies and asked in (Asked.ALL, Asked.PAIRS):
            return self._case(asked, "crowd", (self._mesh,), self._crowd)
        return self._case(asked, "poses", self._both, self._poses(asked))

    @property
    def _both(self) -> tuple[Mesh, ...]:
        return (self._mesh,) if self._other is None else (self._mesh, self._other)

    @cached_property
    def _crowd(self) -> Floats:
        return placing.crowd(self._mesh, self._part.bodies, self._part.spacing)

    @cached_property
    def _approaches(self) -> placing.Approaches:
        count = min(self._part.poses, self._sizes.poses)
        return placing.approaches(self._mesh, self._other or self._mesh, count, upward=self._part.upward)

    def _poses(self, asked: Asked) -> Floats:
        near = self._approaches
        if asked in (Asked.ALL, Asked.FIRST):
            return near.poses(-placing.DEPTH)
        if asked is Asked.MISS:
            return near.poses(0.0)
        if asked is Asked.DISTANCE:
            return near.poses(placing.APART)
        count = len(near.offsets)
        return near.poses(2.0 * placing.CLEARANCE * (np.arange(count) + 0.5) / count)

    def _deforming(self, asked: Asked) -> Case:
        frames = range(self._sizes.frames)
        if asked is Asked.SELF:
            fold = _squeezed if self._kind == "spring" else _folded
            folded = tuple((fold(self._mesh.vertices, k),) for k in frames)
            return self._case(asked, "self", (self._mesh,), np.eye(4)[None, None], folded)
        shift = translation((0.31, 0.17, 0.05)) if self._other is None else translation((0.0, 0.0, -0.42))
        other = (self._other or self._mesh).moved(shift)
        if self._kind == "pipe":  # crosses the first
            other = self._mesh.moved(turned_at_random(np.random.default_rng(9)))
        deformed = tuple((_waving(self._mesh.vertices, k, 0.0), _waving(other.vertices, k, 1.0)) for k in frames)
        return self._case(asked, "deform", (self._mesh, other), np.eye(4)[None, None].repeat(2, axis=1), deformed)

    def _case(
        self,
        asked: Asked,
        job: str,
        meshes: tuple[Mesh, ...],
        poses: Floats,
        deformed: tuple[tuple[Floats, ...], ...] | None = None,
    ) -> Case:
        arrays: tuple[tuple[Floats, Ints], ...] = tuple((np.array(mesh.vertices), np.array(mesh.faces)) for mesh in meshes)
        bodies = poses.shape[1]
        counts = " × ".join(f"{len(mesh.faces):,}" for mesh in meshes)
        many = f"{bodies} × {counts}" if job == "crowd" else f"{len(poses)} poses, {counts}" if job == "poses" else counts
        return Case(
            "kinds",
            f"{self._kind}, {self._part.name}: {asked} ({many} faces)",
            _QUESTION[asked],
            arrays,
            (0,) * bodies if len(meshes) == 1 else tuple(range(bodies)),
            np.ascontiguousarray(poses),
            deformed,
            clearance=placing.CLEARANCE * self._mesh.size if asked in (Asked.NEAREST, Asked.WITHIN) else 0.0,
            label=KindLabel(self._kind, self._part.name, str(asked)),
            runs_as=job,
            cpu_time=True,
        )


def _waving(vertices: Floats, frame: int, phase: float) -> Floats:
    """Return vertices moved by waves that travel along the body."""
    amplitude = 0.06 * np.sin(0.5 * frame + phase)
    return np.ascontiguousarray(vertices + amplitude * np.sin(2.5 * vertices[:, [1, 2, 0]] + 0.4 * frame + phase))


def _folded(vertices: Floats, frame: int) -> Floats:
    """Return vertices of a sheet with folds so strong that it passes through itself."""
    phase = 12.0 * vertices[:, [1, 2, 0]] + 4.0 * vertices[:, [2, 0, 1]] + 0.1 * frame
    return np.ascontiguousarray(vertices + 0.15 * np.sin(phase))


def _squeezed(vertices: Floats, frame: int) -> Floats:
    """Return vertices of a spring pressed until its turns overlap, a little askew."""
    squeezed = vertices.copy()
    squeezed[:, 2] += 0.08 * np.sin(20.0 * vertices[:, 2] + 0.1 * frame)  # steeper than 1: turns pass each other
    return squeezed
