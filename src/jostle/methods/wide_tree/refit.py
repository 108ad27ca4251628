"""Refit: all boxes of a tree from the vertices, in one pass backwards; the frame from the vertices first.

It makes the boxes of a tree that was just built, too: builders only order faces and make nodes.

A *record* is a box as eight float32: lower x, y, z, 0, minus upper x, y, z, 0. The record of two boxes is then one minimum of
vectors. Vertices become records first, rounded outward once for each instead of once for each face around it (rounding is
monotone, so the boxes are the same to the bit); a face's record is the minimum of three, a node's of up to eight. Transposed,
the eight records below a node are its rows. This takes a third of the time of working face by face and lane by lane.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_abs,
    f32x8_add,
    f32x8_load,
    f32x8_max,
    f32x8_min,
    f32x8_mul,
    f32x8_of,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
    f32x8_transpose,
)
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import EMPTY, LEAF_FACES, OUTWARD, ROW, TINY, Tree

RECORD = 8  # float32 numbers of a record
FLUSH = 64  # nodes whose areas are added up in float32, before float64 takes them: all of them would lose the small ones


def refit_tree(tree: Tree, vertices: Floats, every_vertex_is_used: bool) -> tuple[Tree, float]:
    """Fit frame and boxes to other vertices, in place.

    Parameters
    ----------
    tree : Tree
        Its `boxes` and `frame` are overwritten; what they hold does not matter.
    vertices : (n, 3) float64
    every_vertex_is_used : bool
        Whether every vertex belongs to a face; others do not count.

    Returns
    -------
    tree : Tree
        The same arrays with these vertices.
    area : float
        See `fit_boxes`.
    """
    fit_frame(read_only_view(vertices), read_only_view(tree.faces), every_vertex_is_used, tree.frame)
    tree = tree._replace(vertices=vertices)
    return tree, fit_tree(tree)


def fit_tree(tree: Tree) -> float:
    """Write the boxes of a tree whose other arrays are right; returns their area, see `fit_boxes`."""
    records = SCRATCH.array("records", RECORD * (len(tree.vertices) + len(tree.first) + LEAF_FACES), np.float32)
    arrays = (read_only_view(array) for array in (tree.first, tree.count, tree.faces, tree.vertices, tree.frame))
    return float(fit_boxes(tree.boxes, *arrays, records))


@kernel
def fit_frame(vertices, faces, every_vertex_is_used, frame):  # type: ignore[no-untyped-def]
    """Write the frame (6,) of the vertices that faces use."""
    low_x, low_y, low_z = math.inf, math.inf, math.inf
    high_x, high_y, high_z = -math.inf, -math.inf, -math.inf
    if every_vertex_is_used:
        for v in range(vertices.shape[0]):
            x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, y), max(high_y, y)
            low_z, high_z = min(low_z, z), max(high_z, z)
    else:
        for f in range(faces.shape[0]):
            p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
            px, py, pz = vertices[p, 0], vertices[p, 1], vertices[p, 2]
            qx, qy, qz = vertices[q, 0], vertices[q, 1], vertices[q, 2]
            rx, ry, rz = vertices[r, 0], vertices[r, 1], vertices[r, 2]
            # The three of a face first: each face waits for the one before it in one step instead of three.
            low_x, high_x = min(low_x, min(px, min(qx, rx))), max(high_x, max(px, max(qx, rx)))
            low_y, high_y = min(low_y, min(py, min(qy, ry))), max(high_y, max(py, max(qy, ry)))
            low_z, high_z = min(low_z, min(pz, min(qz, rz))), max(high_z, max(pz, max(qz, rz)))
    frame[0] = 0.5 * low_x + 0.5 * high_x
    frame[1] = 0.5 * low_y + 0.5 * high_y
    frame[2] = 0.5 * low_z + 0.5 * high_z
    radius = max(high_x - frame[0], frame[0] - low_x, high_y - frame[1], frame[1] - low_y, high_z - frame[2], frame[2] - low_z)
    # frexp gives radius = m * 2^e with m < 1: scaled by 2^-e it is below 1.
    exponent = math.frexp(radius)[1] if radius > 0.0 else 0
    frame[3] = math.ldexp(1.0, -exponent)
    frame[4] = radius * frame[3]
    frame[5] = max(abs(low_x), abs(high_x), abs(low_y), abs(high_y), abs(low_z), abs(high_z))


@kernel
def fit_boxes(boxes, first, count, faces, vertices, frame, records):  # type: ignore[no-untyped-def]
    """Write all boxes; returns the sum of their half areas in units of the root's, what a query pays for: the measure of a tree.

    Arrays as in `Tree`; records (8 * (vertices + nodes + 8),) float32 is scratch: of vertices, of nodes, and of eight children.
    The area is 0 if the root has none. A refitted tree is built anew when it has doubled since it was built.
    """
    _records_of_vertices(vertices, frame, records)
    nodes = vertices.shape[0]
    spare = RECORD * (nodes + first.shape[0])
    empty, zero = f32x8_splat(np.float32(EMPTY)), f32x8_splat(np.float32(0.0))
    area, total = zero, 0.0
    for node in range(first.shape[0] - 1, -1, -1):
        begin, children = np.int64(first[node]), np.int64(count[node])
        if children == -LEAF_FACES:
            a, b, c = _face(records, faces, begin), _face(records, faces, begin + 1), _face(records, faces, begin + 2)
            d, e, f = _face(records, faces, begin + 3), _face(records, faces, begin + 4), _face(records, faces, begin + 5)
            g, h = _face(records, faces, begin + 6), _face(records, faces, begin + 7)
        else:
            if children < 0:
                for lane in range(-children):
                    f32x8_store(records, spare + RECORD * lane, _face(records, faces, begin + lane))
            else:
                for lane in range(children):
                    f32x8_store(records, spare + RECORD * lane, f32x8_load(records, RECORD * (nodes + begin + lane)))
            for lane in range(abs(children), 8):
                f32x8_store(records, spare + RECORD * lane, empty)
            a, b, c = f32x8_load(records, spare), f32x8_load(records, spare + 8), f32x8_load(records, spare + 16)
            d, e, f = f32x8_load(records, spare + 24), f32x8_load(records, spare + 32), f32x8_load(records, spare + 40)
            g, h = f32x8_load(records, spare + 48), f32x8_load(records, spare + 56)
        every = f32x8_min(f32x8_min(f32x8_min(a, b), f32x8_min(c, d)), f32x8_min(f32x8_min(e, f), f32x8_min(g, h)))
        f32x8_store(records, RECORD * (nodes + node), every)
        area = f32x8_add(area, _write_rows(boxes, ROW * node, f32x8_transpose(a, b, c, d, e, f, g, h)))
        if node % FLUSH == 0:
            f32x8_store(records, spare, area)
            area = zero
            for lane in range(8):
                total += float(records[spare + lane])
    root = _half_area(records, RECORD * nodes)
    return total / root if root > 0.0 else 0.0


@kernel
def _records_of_vertices(vertices, frame, records):  # type: ignore[no-untyped-def]
    """Write the records of all vertices. Those that no face uses may be where float32 ends: nobody reads theirs."""
    cx, cy, cz, scale = frame[0], frame[1], frame[2], frame[3]
    outward, tiny = f32x8_splat(OUTWARD), f32x8_splat(TINY)
    for v in range(vertices.shape[0]):
        x, y, z = (vertices[v, 0] - cx) * scale, (vertices[v, 1] - cy) * scale, (vertices[v, 2] - cz) * scale
        near = f32x8_of(x, y, z, 0.0, -x, -y, -z, 0.0)
        f32x8_store(records, RECORD * v, f32x8_sub(near, f32x8_add(f32x8_mul(f32x8_abs(near), outward), tiny)))


@kernel(forceinline=True)
def _face(records, faces, f):  # type: ignore[no-untyped-def]
    """The record of a face."""
    p, q, r = np.int64(faces[f, 0]), np.int64(faces[f, 1]), np.int64(faces[f, 2])
    return f32x8_min(f32x8_load(records, RECORD * p), f32x8_min(f32x8_load(records, RECORD * q), f32x8_load(records, RECORD * r)))


@kernel(forceinline=True)
def _write_rows(boxes, base, rows):  # type: ignore[no-untyped-def]
    """Write the rows of a node, from the transposed records below it; returns the half areas of its boxes."""
    zero = f32x8_splat(np.float32(0.0))
    low_x, low_y, low_z = rows[0], rows[1], rows[2]
    high_x, high_y, high_z = f32x8_sub(zero, rows[4]), f32x8_sub(zero, rows[5]), f32x8_sub(zero, rows[6])
    f32x8_store(boxes, base, low_x)
    f32x8_store(boxes, base + 8, low_y)
    f32x8_store(boxes, base + 16, low_z)
    f32x8_store(boxes, base + 24, high_x)
    f32x8_store(boxes, base + 32, high_y)
    f32x8_store(boxes, base + 40, high_z)
    # Empty boxes have negative extents: they count as none.
    dx = f32x8_max(f32x8_sub(high_x, low_x), zero)
    dy = f32x8_max(f32x8_sub(high_y, low_y), zero)
    dz = f32x8_max(f32x8_sub(high_z, low_z), zero)
    return f32x8_add(f32x8_mul(dx, dy), f32x8_mul(dz, f32x8_add(dx, dy)))


@kernel
def _half_area(records, base):  # type: ignore[no-untyped-def]
    dx = -(float(records[base]) + float(records[base + 4]))
    dy = -(float(records[base + 1]) + float(records[base + 5]))
    dz = -(float(records[base + 2]) + float(records[base + 6]))
    return dx * dy + dz * (dx + dy)
