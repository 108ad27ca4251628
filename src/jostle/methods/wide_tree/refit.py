"""Refit: all boxes of a tree from the vertices, in one pass backwards; the frame from the vertices first.

It makes the boxes of a tree that was just built, too: builders only order faces and make nodes.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_splat, f32x8_store
from jostle.methods.wide_tree.tree import EMPTY, ROW, rounded_down, rounded_up


@kernel
def fit_frame(vertices, faces, every_vertex_is_used, frame):  # type: ignore[no-untyped-def]
    """Write the frame (6,) of the vertices that faces use."""
    low_x, low_y, low_z = math.inf, math.inf, math.inf
    high_x, high_y, high_z = -math.inf, -math.inf, -math.inf
    count = vertices.shape[0] if every_vertex_is_used else 3 * faces.shape[0]
    for k in range(count):
        v = k if every_vertex_is_used else faces[k // 3, k % 3]
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
        low_z, high_z = min(low_z, z), max(high_z, z)
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
def refit(boxes, first, count, faces, vertices, frame):  # type: ignore[no-untyped-def]
    """Write all boxes. Arrays as in `Tree`."""
    cx, cy, cz, scale = frame[0], frame[1], frame[2], frame[3]
    empty_low, empty_high = f32x8_splat(np.float32(EMPTY)), f32x8_splat(np.float32(-EMPTY))
    for node in range(first.shape[0] - 1, -1, -1):
        base = node * ROW
        begin, children = first[node], count[node]
        # Only the last lanes can be empty; all are written, which is cheaper than asking.
        for row in range(3):
            f32x8_store(boxes, base + 8 * row, empty_low)
            f32x8_store(boxes, base + 24 + 8 * row, empty_high)
        if children < 0:
            for lane in range(-children):
                f = begin + lane
                p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
                px, py, pz = vertices[p, 0], vertices[p, 1], vertices[p, 2]
                qx, qy, qz = vertices[q, 0], vertices[q, 1], vertices[q, 2]
                rx, ry, rz = vertices[r, 0], vertices[r, 1], vertices[r, 2]
                boxes[base + lane] = rounded_down((min(px, min(qx, rx)) - cx) * scale)
                boxes[base + 8 + lane] = rounded_down((min(py, min(qy, ry)) - cy) * scale)
                boxes[base + 16 + lane] = rounded_down((min(pz, min(qz, rz)) - cz) * scale)
                boxes[base + 24 + lane] = rounded_up((max(px, max(qx, rx)) - cx) * scale)
                boxes[base + 32 + lane] = rounded_up((max(py, max(qy, ry)) - cy) * scale)
                boxes[base + 40 + lane] = rounded_up((max(pz, max(qz, rz)) - cz) * scale)
        else:
            for lane in range(children):
                below = (begin + lane) * ROW
                for row in range(3):
                    boxes[base + 8 * row + lane] = _lowest(boxes, below + 8 * row)
                    boxes[base + 24 + 8 * row + lane] = _highest(boxes, below + 24 + 8 * row)


@kernel
def _lowest(boxes, base):  # type: ignore[no-untyped-def]
    low = boxes[base]
    for lane in range(1, 8):
        low = min(low, boxes[base + lane])
    return low


@kernel
def _highest(boxes, base):  # type: ignore[no-untyped-def]
    high = boxes[base]
    for lane in range(1, 8):
        high = max(high, boxes[base + lane])
    return high


@kernel
def total_area(boxes, first, count):  # type: ignore[no-untyped-def]
    """The sum of the half areas of all boxes, in units of the root's: what a query pays for, and so the measure of a tree.

    A refitted tree is built anew when this has doubled since it was built.
    """
    total = 0.0
    low_x, low_y, low_z, high_x, high_y, high_z = 1.0, 1.0, 1.0, -1.0, -1.0, -1.0
    for node in range(first.shape[0]):
        base = node * ROW
        for lane in range(abs(count[node])):
            x0, y0, z0 = boxes[base + lane], boxes[base + 8 + lane], boxes[base + 16 + lane]
            x1, y1, z1 = boxes[base + 24 + lane], boxes[base + 32 + lane], boxes[base + 40 + lane]
            if node == 0:
                low_x, low_y, low_z = min(low_x, x0), min(low_y, y0), min(low_z, z0)
                high_x, high_y, high_z = max(high_x, x1), max(high_y, y1), max(high_z, z1)
            dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
            total += dx * dy + dy * dz + dz * dx
    dx, dy, dz = high_x - low_x, high_y - low_y, high_z - low_z
    return total / (dx * dy + dy * dz + dz * dx)
