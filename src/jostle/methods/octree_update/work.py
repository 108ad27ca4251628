"""The state, stack and buffers of a search through the standard octree."""

from __future__ import annotations

from typing import Literal

from jostle.kernels.hash_set import KeyRow
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int32, int64, opener


class Options(Record):
    """The world cube, the level of voxels, and what to report."""

    corner: Run[float64, Literal[3]]
    side: float64
    finest: int64
    first_only: int64
    record: int64


class State(Record):
    """Progress and counts of a search."""

    depth: int64  # of the current node, -1 at the end
    voxels: int64  # never reset, since stamps of faces outlive a search
    faces: int64  # listed in the current voxel, 0 between voxels
    first: int64  # the next pair of them
    second: int64
    needed: int64  # faces to make room for, after FULL_FACES
    rows: int64
    checked: int64  # pairs on the checklist
    node_tests: int64
    box_tests: int64
    triangle_tests: int64
    seen: int64
    used: int64  # operations of the last call


class StackNode(Record):
    """A node on the way down: its cell, next child (or NOT_VISITED), and entries."""

    i: int64
    j: int64
    k: int64
    child: int64
    begin: int64
    end: int64


class ListedFace(Record):
    """A face of the current voxel, and where those of the next body begin."""

    body: int32
    face: int32
    following: int32


class PlacedFace(Record):
    """The world corners of a listed face, and their box."""

    corners: Run[float64, Literal[9]]
    lower: Run[float64, Literal[3]]
    upper: Run[float64, Literal[3]]


class TouchingFaces(Record):
    """A result row."""

    pair: int32
    face_a: int32
    face_b: int32
    kind: int32


class SeenCell(Record):
    """A cell that holds two bodies, for a picture."""

    level: int32
    i: int32
    j: int32
    k: int32


class Work(Struct):
    """Everything a search writes."""

    options: One[Options]
    state: One[State]
    stack: Rows[StackNode]
    entries: Rows[int32]  # nodes of the checklist; each stack node's follow those of its parent
    stamps: Rows[int64]  # for each face of each body, the last voxel that listed it
    listed: Rows[ListedFace]
    placed: Rows[PlacedFace]  # of the same faces
    checklist: Rows[KeyRow]  # of face pairs: the body pair, then face a << 32 | face b
    rows: Rows[TouchingFaces]
    seen: Rows[SeenCell]


open_work = opener(Work)
