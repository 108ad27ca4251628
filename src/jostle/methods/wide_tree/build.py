"""Building a tree: order the faces and make nodes (`morton.py` or `sah.py`), then fit the boxes (`refit.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.morton import CELLS, cut_into_nodes, morton_order
from jostle.methods.wide_tree.refit import fit_frame, refit
from jostle.methods.wide_tree.sah import sah_nodes
from jostle.methods.wide_tree.tree import ROW, Tree
from jostle.shapes.mesh import Mesh

STACK_ROWS = 1024  # eight for each level, and a level has at most half the faces of the one above or one bit less of their codes


def build_tree(mesh: Mesh, how: str = "morton") -> Tree:
    """Return the tree of a mesh, built by "morton" or "sah"."""
    vertices, faces = mesh.vertices, mesh.faces
    frame = np.empty(6)
    fit_frame(read_only_view(vertices), read_only_view(faces), mesh.uses_every_vertex, frame)
    nodes_of = morton_nodes if how == "morton" else sah_nodes
    order, first, count = nodes_of(vertices, faces, frame)
    tree_faces = np.take(faces, order, axis=0)
    boxes = np.empty(ROW * len(first), np.float32)
    refit(boxes, read_only_view(first), read_only_view(count), read_only_view(tree_faces), read_only_view(vertices), frame)
    return Tree(boxes, first, count, tree_faces, order, vertices, frame)


def morton_nodes(vertices: Floats, faces: Ints, frame: Floats) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the order of the faces, and first and count of the nodes."""
    keys, spare = np.empty(len(faces), np.int64), np.empty(len(faces), np.int64)
    morton_order(read_only_view(vertices), read_only_view(faces), frame, keys, spare, np.empty(CELLS + 1, np.int64))
    room = len(faces) + len(faces) // 2 + 16
    first, count = np.empty(room, np.int32), np.empty(room, np.int32)
    nodes = cut_into_nodes(spare, first, count, np.empty((STACK_ROWS, 3), np.int64))
    return spare.astype(np.int32), first[:nodes].copy(), count[:nodes].copy()
