"""Trees in files: which arrays are stored, and reading them back with checks.

Stored are the volumes, the children of each node, and the order of the faces; the rest follows from them and the mesh. Checking
takes a tenth of the time of a build: every face in one leaf, no cycles, every volume around its vertices with the margin of a
build and not much larger. So no search reads out of bounds or misses a row, whoever wrote the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.array_file import checked
from jostle.errors import InputError
from jostle.methods.bounding_tree.build import assembled
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF, KINDS, MARGIN, OBB, RADIUS, ROW, SPHERE, Tree
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.bounding_tree.method import BoundingTree

FIELDS = ("volumes", "first_child", "child_count", "first_face", "face_count", "order")
LOOSE = 1e-9  # of the radius: more than that a volume of a build is never larger than its vertices need
ORTHONORMAL = 1e-14
DEEPEST = 256  # levels: a deeper tree is built again


def fields_of(tree: Tree) -> dict[str, NDArray[Any]]:
    """Return the arrays to store."""
    return {name: getattr(tree, name) for name in FIELDS}


def tree_of(method: BoundingTree, mesh: Mesh, fields: dict[str, NDArray[Any]]) -> Tree:
    """Return the tree of a mesh from stored arrays; `InputError` if they are not one."""
    volumes = checked(fields["volumes"], "volumes", "f8", None, ROW)
    nodes, faces = len(volumes), len(mesh.faces)
    first_child, child_count, first_face, face_count = (checked(fields[name], name, "i4", nodes) for name in FIELDS[1:5])
    order = checked(fields["order"], "order", "i4", faces)
    _require(nodes > 0 and bool((np.bincount(order.clip(0, faces - 1), minlength=faces) == 1).all()), "order")
    _require(bool((order >= 0).all() and (order < faces).all()), "order")
    begin, end = first_face.astype(np.int64), first_face.astype(np.int64) + face_count
    level = _checked_children(first_child, child_count, begin, end, faces, method.leaf_faces)
    tree = assembled(KINDS[method.volume], mesh, volumes, first_child, child_count, begin, end, order, level)
    _check_volumes(tree, mesh.vertices)
    return tree


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InputError(f"{what}: not a bounding tree of this mesh")


def _checked_children(first_child: Ints, child_count: Ints, begin: Longs, end: Longs, faces: int, leaf_faces: int) -> Ints:
    """Return the level of each node, after checking the topology.

    Each node must have one parent, and children must divide the faces of their parent.
    """
    nodes = len(first_child)
    inner = np.flatnonzero(child_count != 0)
    first, count = first_child[inner].astype(np.int64), child_count[inner].astype(np.int64)
    _require(bool(((count >= 2) & (count <= LARGEST_DEGREE)).all()), "child_count")
    _require(bool(((first > inner) & (first + count <= nodes)).all()), "first_child")
    _require(not first_child[child_count == 0].any(), "first_child")
    starts = np.cumsum(count) - count
    children = np.repeat(first - starts, count) + np.arange(int(count.sum()))
    seen = np.bincount(children, minlength=nodes)
    _require(seen[0] == 0 and bool((seen[1:] == 1).all()), "first_child")
    _require(begin[0] == 0 and end[0] == faces and bool(((begin >= 0) & (begin < end) & (end <= faces)).all()), "first_face")
    _require(bool((end - begin)[child_count == 0].max(initial=0) <= leaf_faces), "face_count")
    # The faces of a child begin where its parent's do, or where those of the child before it end.
    expected = np.concatenate([[0], end[children[:-1]]])[: len(children)]
    expected[starts] = begin[inner]
    last = children[starts + count - 1]
    _require(np.array_equal(begin[children], expected) and np.array_equal(end[last], end[inner]), "first_face")
    level, parent = np.zeros(nodes, np.int32), np.zeros(nodes, np.int64)
    parent[children] = np.repeat(inner, count)
    row = np.arange(nodes)
    for _ in range(DEEPEST):  # a step up for all at once
        if not row.any():
            break
        level += row > 0
        row = parent[row]
    _require(not row.any(), "first_child")
    return level


def _check_volumes(tree: Tree, vertices: Floats) -> None:
    """Reject volumes that do not hold their vertices with a margin, or are too large."""
    kind, volumes, start = tree.kind, tree.volumes, tree.vertex_start
    _require(bool(np.isfinite(volumes).all()), "volumes")
    axes = volumes[:, AXES : AXES + 9].reshape(-1, 3, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == OBB:
            _require(bool((np.abs(axes @ axes.transpose(0, 2, 1) - np.eye(3)) < ORTHONORMAL).all()), "volumes")
        else:
            _require(bool((axes == np.eye(3)).all()), "volumes")
        node = np.repeat(np.arange(len(volumes)), np.diff(start))
        offsets = vertices[tree.vertex_list] - volumes[node, CENTRE : CENTRE + 3]
        radius, half = volumes[:, RADIUS], volumes[:, HALF : HALF + 3]
        far = np.sqrt(np.maximum.reduceat((offsets * offsets).sum(axis=1), start[:-1]))
        _require(bool(((far <= radius * (1.0 - MARGIN / 4)) & (radius <= far * (1.0 + LOOSE))).all()), "volumes")
        if kind == SPHERE:
            _require(bool((half == radius[:, None]).all()), "volumes")
            return
        if kind == OBB:
            offsets = np.einsum("nij,nj->ni", axes[node], offsets)
        wide = np.maximum.reduceat(np.abs(offsets), start[:-1], axis=0)
        low, high = wide + (MARGIN / 4) * radius[:, None], wide + LOOSE * radius[:, None]
        _require(bool(((low <= half) & (half <= high)).all()), "volumes")
