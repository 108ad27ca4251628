"""Sets of faces during a build: ranges of a list of faces, and scratch."""

from __future__ import annotations

from typing import Literal

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.eigenvectors import Matrix
from jostle.geometry.vector import Vec3, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.random import random_state
from jostle.kernels.structs import (
    One,
    Record,
    Rows,
    Run,
    Struct,
    float64,
    int32,
    int64,
    opener,
    record_viewer,
    uint8,
    uint64,
)
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.bounding_tree.tree import Corners, Point, Volume

SEED = 1999  # of the order of insertion
LEAST_DEGREE, LARGEST_DEGREE = 2, 6
FEW = 26  # points that represent a large set
FRAMES = 10
SUBSETS = LARGEST_DEGREE + 1  # of an insertion, and the face at work


class Support(Record):
    """Numbers of points: of the support of a sphere, of the last one, and on trial."""

    members: Run[int64, Literal[4]]
    old: Run[int64, Literal[4]]
    trial: Run[int64, Literal[4]]


class FlatPoint(Record):
    """A projected point."""

    x: float64
    y: float64


class Subset(Record):
    """A subset that grows face by face: its sphere or box, size, and number of faces."""

    centre: Run[float64, Literal[3]]
    radius: float64
    lower: Run[float64, Literal[3]]
    upper: Run[float64, Literal[3]]
    size: float64
    count: int64


class SetWork(Struct):
    """The faces of a mesh in a list, those of a set consecutive; and scratch."""

    vertices: Rows[Point]
    faces: Rows[Corners]
    centres: Rows[Point]  # of faces
    order: Rows[int32]  # the list
    label: Rows[uint8]  # the subset of each entry
    aside: Rows[int32]  # a second list
    random: Rows[uint64]  # (4,)
    stamp: Rows[int64]  # the last set that each vertex was listed for; at the end, the number of sets so far
    listed: Rows[int32]  # the vertices of the set at work
    points: Rows[Point]  # the same, relative to the first of them
    support: One[Support]
    few: Rows[Point]  # (FEW,) points that represent all
    flat: Rows[FlatPoint]  # the same, projected
    reach: Rows[float64]  # (FEW,) how far extreme points reach
    extreme: Rows[int64]  # (FEW,) their numbers
    hull: Rows[int64]  # corners of a hull of the few
    ordered: Rows[int64]  # (FEW,) the few in the order of their projections
    frames: Rows[Matrix]  # (FRAMES,)
    subsets: Rows[Subset]  # (SUBSETS,)


open_sets, view_volume = opener(SetWork), record_viewer(Volume)


class FaceSets(WorkArrays):
    """The faces of a mesh in a list; sets are ranges of it.

    Vertices (v,3), faces (m,3); the list may begin in another order.
    """

    def __init__(self, vertices: Floats, faces: Ints, order: Ints | None = None) -> None:
        count, corners = len(faces), vertices[faces[:, 0]] + vertices[faces[:, 1]]
        self.vertices, self.faces = vertices, faces
        self.centres: Floats = (corners + vertices[faces[:, 2]]) / 3.0
        self.order: Ints = np.arange(count, dtype=np.int32) if order is None else order
        super().__init__(
            SetWork,
            vertices=vertices,
            faces=faces,
            centres=self.centres,
            order=self.order,
            label=count,
            aside=count,
            random=random_state(SEED),
            stamp=len(vertices) + 1,
            listed=len(vertices),
            points=len(vertices),
            hull=2 * FEW + 2,
            frames=FRAMES,
            subsets=SUBSETS,
            **dict.fromkeys(("few", "flat", "reach", "extreme", "ordered"), FEW),
        )


@kernel(forceinline=True)
def point_of(points: Rows[Point], i: int) -> Vec3:
    """Return point i."""
    return point_from(points[i].at, 0)


@kernel(forceinline=True)
def centre_of_entry(work: SetWork, entry: int) -> Vec3:
    """Return the centre of the face at an entry of the list."""
    return point_of(work.centres, as_int64(work.order[entry]))
