"""The data of the face octree's kernels: face checklist, octree, walk."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.structs import (
    One,
    Record,
    Rows,
    Run,
    Struct,
    borrowed,
    float64,
    int32,
    int64,
    opener,
    row_opener,
    uint8,
)

uint16 = Annotated[int, np.uint16]

# How a face is tested against a box (§3.7 and §2.3): by its box, exactly by the paper's clipping, exactly by separating axes.
BOXES, CLIP, AXES = 0, 1, 2


class FaceCorners(Record):
    """The vertices of a face."""

    p: int32
    q: int32
    r: int32


class BodyMesh(Struct):
    """The vertices of a body that its faces use, in its own frame, and its faces."""

    vertices: Rows[float64]
    faces: Rows[FaceCorners]


open_mesh = row_opener(BodyMesh)


class Checklist(NamedTuple):
    """The faces left after §3.4, of all bodies together, sorted by (owner, face)."""

    world: Floats  # (v,3) vertices of all bodies
    corner: Ints  # (c,3) vertices in `world`
    owner: Ints  # (c,) place of the body in the list of bodies
    face: Ints  # (c,)


class Tree(NamedTuple):
    """The octree of a walk."""

    cube: Floats  # (6,)
    level: int  # AUTO, or the depth of voxels; halvings of a bintree's node
    bintree: bool
    how: int  # how faces are tested against boxes
    grown: float  # half of what faces may be apart
    allowed: Longs  # sorted pairs of owners that may meet; none for all


# Counted references to arrays in a tuple make a walk take twice as long.
@kernel(forceinline=True)
def borrowed_faces(faces: Checklist) -> Checklist:
    """Return a checklist without counted references."""
    return Checklist(borrowed(faces.world), borrowed(faces.corner), borrowed(faces.owner), borrowed(faces.face))


@kernel(forceinline=True)
def borrowed_tree(tree: Tree) -> Tree:
    """Return an octree without counted references."""
    return Tree(borrowed(tree.cube), tree.level, tree.bintree, tree.how, tree.grown, borrowed(tree.allowed))


class State(Record):
    """Progress and counts of a walk."""

    depth: int64  # of the current node, -1 at the end
    voxel_face: int64  # the entry of the current voxel whose pairs come next
    run_end: int64  # the first entry after it of another body
    checks: int64  # pairs on the face-pair checklist
    box_tests: int64
    visited: int64  # nodes


class Node(Record):
    """A node on the way down."""

    begin: int64  # its list of entries
    end: int64
    top: int64  # where the lists of its children may begin
    pairs: int64  # of faces of different bodies
    next: int64  # the next child, or NOT_DIVIDED, NOT_DEALT, IS_VOXEL
    lower: Run[int64, Literal[3]]  # cells of its corners
    upper: Run[int64, Literal[3]]
    child_pairs: Run[int64, Literal[8]]
    child_begin: Run[int64, Literal[8]]
    child_end: Run[int64, Literal[8]]


class Entry(Record):
    """A face in a node's list: the cells of its box, and its place in the checklist."""

    lower: Run[uint16, Literal[3]]
    upper: Run[uint16, Literal[3]]
    face: int32


class EntryWords(Record):
    """The sixteen bytes of an entry, for copying."""

    one: int64
    two: int64


class Tallies(Record):
    """The number of faces in each child: of the current body, and of those before it."""

    here: Run[int64, Literal[8]]
    before: Run[int64, Literal[8]]


class Work(Struct):
    """The arrays of one walk."""

    state: One[State]
    nodes: Rows[Node]
    entries: Rows[Entry]
    words: Rows[EntryWords]  # the memory of the entries
    masks: Rows[uint8]  # for each entry, the children that it meets
    tallies: One[Tallies]
    polygon: Rows[float64]  # scratch of the clipping
    pair_table: Rows[int64]  # the face-pair checklist, hashed
    checks: Rows[int64]  # the same, in order of discovery


open_work = opener(Work)
