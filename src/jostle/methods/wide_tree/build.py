"""Building a tree: order the faces, make nodes, fit the boxes (`refit.py`), turn those of slivers (`orient.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.kd_order import BLOCK_ROOM, BlockWork
from jostle.methods.wide_tree.morton import CELLS, NODE_ROOM, NodeWork, cut_into_nodes, morton_order
from jostle.methods.wide_tree.orient import Measured, oriented
from jostle.methods.wide_tree.refit import fit_frame, fit_tree
from jostle.methods.wide_tree.sah import sah_nodes
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import ROW, Tree
from jostle.shapes.mesh import Mesh

MIXED = 0.06  # emptiness: frames of pipes have 0.19 to 0.46, models with a few pipes 0.09 to 0.28, single parts mostly less
MOST_FACES_TWICE = 1 << 18  # of larger meshes the time of the build counts


def build_tree(mesh: Mesh, how: str = "morton") -> Tree:
    """Return the tree of a mesh, built by "morton" or "sah"."""
    # The frame of the faces takes less time than finding out whether they use every vertex.
    return build_and_measure(mesh.vertices, mesh.faces, False, how)[0]


def build_and_measure(vertices: Floats, faces: Ints, every_vertex_is_used: bool, how: str) -> tuple[Tree, float]:
    """Return the tree of vertices (n,3) and faces (m,3), and its area (`fit_boxes`).

    A curve through space mixes slender parts that lie across each other: then boxes are larger by MIXED than all those in them,
    and the other way of building is tried. The tree with the smaller boxes is taken.
    """
    frame = np.empty(6)
    fit_frame(read_only_view(vertices), read_only_view(faces), every_vertex_is_used, frame)
    found = measured(vertices, faces, frame, how)
    if found.empty > MIXED and how == "morton" and len(faces) <= MOST_FACES_TWICE:
        found = min(found, measured(vertices, faces, frame, "sah"), key=lambda one: one.area)
    return found.tree, found.area


def measured(vertices: Floats, faces: Ints, frame: Floats, how: str) -> Measured:
    """Return the tree of one way of building, with orientations."""
    nodes_of = morton_nodes if how == "morton" else sah_nodes
    order, first, count = nodes_of(vertices, faces, frame)
    tree = Tree(np.empty(ROW * len(first), np.float32), first, count, np.take(faces, order, axis=0), order, vertices, frame)
    return oriented(tree, fit_tree(tree))


def morton_nodes(vertices: Floats, faces: Ints, frame: Floats) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the order of the faces, and `first` and `count` of the nodes."""
    keys, spare = SCRATCH.array("keys", len(faces), np.int64), SCRATCH.array("sorted keys", len(faces), np.int64)
    middles = SCRATCH.array("middles", 3 * len(faces), np.float32)
    morton_order(read_only_view(vertices), read_only_view(faces), frame, keys, spare, np.empty(CELLS + 1, np.int64), middles)
    room = len(faces) + len(faces) // 2 + 16
    first, count = SCRATCH.array("first", room, np.int32), SCRATCH.array("count", room, np.int32)
    scratch = SCRATCH.addresses(NodeWork, **NODE_ROOM), SCRATCH.addresses(BlockWork, **BLOCK_ROOM)
    nodes = cut_into_nodes(spare, middles, first, count, *scratch)
    return spare.astype(np.int32), first[:nodes].copy(), count[:nodes].copy()
