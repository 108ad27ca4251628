"""The tree: one row of sixteen numbers per node, whatever the bounding object is.

A node bounds a range of faces by a sphere, an axis-aligned box or an oriented box (§3). All three have one form, so that the
traversal is written once: a centre, three half extents (three times the radius for a sphere) and three unit axes (the coordinate
axes for all but oriented boxes). The two to six children of a node are consecutive and have higher numbers than their parent, so
that one pass backwards refits the tree; the degree is data.

Volumes are in body coordinates and conservative: in exact arithmetic every vertex v of a node has |axis · (v - centre)| <=
half extent for all three axes (for a sphere |v - centre| <= radius), with a margin of `MARGIN` times the node's radius, far more
than the rounding of evaluating it in float64.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Record, Rows, Run, Struct, float64, int32

SPHERE, AABB, OBB = 0, 1, 2
KINDS = {"sphere": SPHERE, "aabb": AABB, "obb": OBB}

# Columns of a volume. RADIUS: about the centre, of a sphere around all vertices of the node.
CENTRE, HALF, AXES, RADIUS = 0, 3, 6, 15
ROW = 16
MARGIN = 2.0**-48


class Volume(Record):
    """A volume in kernels: the same columns by name."""

    centre: Run[float64, Literal[3]]
    half: Run[float64, Literal[3]]
    u: Run[float64, Literal[3]]
    v: Run[float64, Literal[3]]
    w: Run[float64, Literal[3]]
    radius: float64


class Point(Record):
    """A row of vertices."""

    at: Run[float64, Literal[3]]


class Corners(Record):
    """A row of faces."""

    vertex: Run[int32, Literal[3]]


class TreeTopology(Struct):
    """The part of a tree that motions do not change, by address; fields as in `Tree`."""

    first_child: Rows[int32]
    child_count: Rows[int32]
    first_face: Rows[int32]
    face_count: Rows[int32]
    order: Rows[int32]
    faces: Rows[Corners]


class TreeShape(TreeTopology):
    """A tree and its vertices, by address; welded faces are those of `Mesh`."""

    volumes: Rows[Volume]
    vertices: Rows[Point]
    welded: Rows[int32]


class NodePair(NamedTuple):
    """A node of body A and one of body B."""

    a: int
    b: int


class Range(NamedTuple):
    """Numbers from `begin` to `end` - 1."""

    begin: int
    end: int


@kernel(forceinline=True)
def opened(a: TreeTopology, b: TreeTopology, nodes: NodePair, with_itself: bool, is_larger_a: bool) -> tuple[Range, Range]:
    """Return the nodes of A and of B that replace a node pair, not both leaves.

    The larger node is replaced by its children, unless it is a leaf; of a node with itself, both are.
    """
    opens_a = with_itself or b.child_count[nodes.b] == 0 or (a.child_count[nodes.a] > 0 and is_larger_a)
    return _replacing(a, nodes.a, opens_a), _replacing(b, nodes.b, with_itself or not opens_a)


@kernel(forceinline=True)
def _replacing(shape: TreeTopology, node: int, opens: bool) -> Range:
    """Return the children of a node if it opens, else the node."""
    first = as_int64(shape.first_child[node]) if opens else node
    return Range(first, first + (as_int64(shape.child_count[node]) if opens else 1))


@kernel(forceinline=True)
def centre_of(volume: Volume) -> Vec3:
    """Return the centre of a volume."""
    return point_from(volume.centre, 0)


@kernel(forceinline=True)
def half_extents_of(volume: Volume) -> Vec3:
    """Return the half extents of a volume."""
    return point_from(volume.half, 0)


class Tree(NamedTuple):
    """A tree over the faces of one mesh; see the module."""

    kind: NDArray[np.int64]  # () SPHERE, AABB or OBB
    volumes: Floats  # (n,16) in body coordinates
    first_child: Ints  # (n,) 0 for leaves
    child_count: Ints  # (n,) 0 for leaves
    first_face: Ints  # (n,) the node's faces are order[first_face : first_face + face_count]
    face_count: Ints  # (n,)
    order: Ints  # (m,) faces in the order of the tree
    level: Ints  # (n,) 0 for the root
    faces: Ints  # (m,3) in the order of the mesh
    vertex_start: NDArray[np.int64]  # (n+1,) the node's vertices, each once, are vertex_list[vertex_start[i] : vertex_start[i + 1]]
    vertex_list: Ints


def topology_of(tree: Tree) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree's topology by the names of their fields."""
    return {field.name: getattr(tree, field.name) for field in TreeTopology.layout}


def validate(tree: Tree, vertices: Floats) -> None:
    """Raise AssertionError unless the tree is whole. For tests."""
    nodes, faces = len(tree.volumes), len(tree.faces)
    assert sorted(tree.order.tolist()) == list(range(faces)), "faces are not a permutation"
    assert (tree.first_face[0], tree.face_count[0], tree.level[0]) == (0, faces, 0), "the root does not hold all faces"
    assert np.isfinite(tree.volumes).all(), "a volume is not finite"
    parents = np.zeros(nodes, int)
    for node in range(nodes):
        begin, count = int(tree.first_face[node]), int(tree.face_count[node])
        children = int(tree.child_count[node])
        assert count >= 1, "a node is empty"
        if children:
            first = int(tree.first_child[node])
            assert 2 <= children <= 6, "a degree is not in 2 … 6"
            assert first > node, "a child has a lower number than its parent"
            parents[first : first + children] += 1
            for child in range(first, first + children):
                assert tree.first_face[child] == begin, "the faces of the children are not those of the parent"
                assert tree.level[child] == tree.level[node] + 1, "a level is wrong"
                begin += int(tree.face_count[child])
            assert begin == tree.first_face[node] + count, "the faces of the children are not those of the parent"
        used = np.unique(tree.faces[tree.order[tree.first_face[node] : tree.first_face[node] + count]])
        listed = tree.vertex_list[tree.vertex_start[node] : tree.vertex_start[node + 1]]
        assert sorted(listed.tolist()) == used.tolist(), "the vertices of a node are not those of its faces"
        volume = tree.volumes[node]
        offsets = vertices[used] - volume[CENTRE : CENTRE + 3]
        axes = volume[AXES : AXES + 9].reshape(3, 3)
        assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-14, "axes are not orthonormal"
        lengths = np.sqrt((offsets * offsets).sum(axis=1))
        assert (lengths <= volume[RADIUS]).all(), "the radius does not hold a vertex"
        if tree.kind == SPHERE:
            assert (volume[HALF : HALF + 3] == volume[RADIUS]).all(), "a sphere has more than one radius"
        else:
            assert (np.abs(offsets @ axes.T) <= volume[HALF : HALF + 3]).all(), "a box does not hold a vertex"
    assert parents.tolist() == [0] + [1] * (nodes - 1), "a node has no parent, or two"
