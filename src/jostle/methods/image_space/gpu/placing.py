"""Which patches are drawn in which piece, and the float32 maps by which the device places them.

A patch is drawn when its box, seen in the view, reaches into the piece. A piece is left out when one of the bodies has no such
patch, or when those of A and those of B are apart in depth. Everything is computed in float64 from the views and then rounded
once: the maps start from a point of the body's grid in the middle of the piece (see `meshes.py`), and depths are scaled so that the
drawn patches of both bodies fill 0 … 1 but for a margin, where nothing is clipped.

Error of a vertex: its distance from the middle of the piece times 2^-22, in pixels and, likewise, in depth; plus 2^-24 of the depth
of all patches drawn, plus 2^-28 of the half side of the body. Edges that cross the piece have the errors of their ends. So a view
where a drawn patch reaches farther than 2^17 pixels out, or as far in depth, is named and not drawn: 1/32 pixel is left.
(Corners of two boxes of 1 m over a region of 1 µm: 60 of 1024 pixels were wrong.) The hardware then rounds pixel coordinates to
1/16 … 1/256, which moves the depth by its slope times that: the largest part by far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.jit import kernel

WORDS_OF_PIECE = 44  # of the struct Piece in pieces.wgsl
WORDS_OF_ROLE = 16
RECTANGLE, LAYERS, ORIGIN = 32, 36, 40  # first words of its last rows
DEPTH_MARGIN = 1.0 / 64.0  # of 0 … 1, at each end
FARTHEST_REFERENCE = 2.0**30 - 1.0
FARTHEST_PIXEL = 2.0**17  # from the middle of a piece to the end of a patch drawn in it


@kernel
def place_pieces(
    begin: int, end: int, kept: int, view: Ints, left: Ints, top: Ints, width: Ints, height: Ints,
    shape_a: Ints, shape_b: Ints, to_tile: Floats, pixel: Floats,
    first_patch: NDArray[np.int64], centre: Floats, half: Floats, grid: Floats,
    words: Ints, numbers: NDArray[np.float32], depth: Floats, instances: NDArray[np.uint32], first_instance: NDArray[np.int64],
    piece: NDArray[np.int64], too_far: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Place pieces begin … end after those `kept` before; return how many are kept now.

    Kept piece k is piece[k]: its maps are in words[k] and numbers[k] (n,44; the same memory), the middle and scale of depths in
    depth[k] (2), and its patches are instances first_instance[k] … first_instance[k+1] (…,2). Views for which float32 is not
    enough are marked in too_far (views,).
    """
    for p in range(begin, end):
        v = view[p]
        drawn = first_instance[kept]
        low_a, high_a, far_a, drawn_a = _draw_patches(
            kept, 0, to_tile[v, 0], shape_a[v], left[p], top[p], width[p], height[p], first_patch, centre, half, instances, drawn
        )
        low_b, high_b, far_b, drawn_b = _draw_patches(
            kept, 1, to_tile[v, 1], shape_b[v], left[p], top[p], width[p], height[p], first_patch, centre, half, instances, drawn_a
        )
        if drawn_a == drawn or drawn_b == drawn_a or max(low_a, low_b) > min(high_a, high_b):
            continue
        low, high = min(low_a, low_b), max(high_a, high_b)
        depth_in_pixels = (high - low) / max(pixel[v, 0], pixel[v, 1])
        if max(far_a, far_b, 0.5 * depth_in_pixels) > FARTHEST_PIXEL:
            too_far[v] = True
            continue
        middle = 0.5 * low + 0.5 * high
        scale = (1.0 - 2.0 * DEPTH_MARGIN) / (high - low) if high > low else 1.0
        x, y = left[p] + 0.5 * width[p], top[p] + 0.5 * height[p]
        _map_of_role(to_tile[v, 0], grid, shape_a[v], x, y, left[p], top[p], middle, scale, words, numbers, kept, 0)
        _map_of_role(to_tile[v, 1], grid, shape_b[v], x, y, left[p], top[p], middle, scale, words, numbers, kept, WORDS_OF_ROLE)
        depth[kept, 0], depth[kept, 1] = middle, scale
        piece[kept] = p
        kept += 1
        first_instance[kept] = drawn_b
    return kept


@kernel
def _draw_patches(
    piece: int, role: int, to_tile: Floats, shape: int, left: int, top: int, width: int, height: int,
    first_patch: NDArray[np.int64], centre: Floats, half: Floats, instances: NDArray[np.uint32], drawn: int,
) -> tuple[float, float, float, int]:  # fmt: skip
    """Append the patches of a shape that reach into a piece; return their depths, how far they reach, and the new number."""
    low, high, farthest = np.inf, -np.inf, 0.0
    xx, xy, xz, xw = to_tile[0], to_tile[1], to_tile[2], to_tile[3]
    yx, yy, yz, yw = to_tile[4], to_tile[5], to_tile[6], to_tile[7]
    zx, zy, zz, zw = to_tile[8], to_tile[9], to_tile[10], to_tile[11]
    for patch in range(first_patch[shape], first_patch[shape + 1]):
        cx, cy, cz = centre[patch, 0], centre[patch, 1], centre[patch, 2]
        hx, hy, hz = half[patch, 0], half[patch, 1], half[patch, 2]
        x = xx * cx + xy * cy + xz * cz + xw - left
        reach = abs(xx) * hx + abs(xy) * hy + abs(xz) * hz
        if x + reach < 0.0 or x - reach > width:
            continue
        far = abs(x - 0.5 * width) + reach
        y = yx * cx + yy * cy + yz * cz + yw - top
        reach = abs(yx) * hx + abs(yy) * hy + abs(yz) * hz
        if y + reach < 0.0 or y - reach > height:
            continue
        farthest = max(farthest, far, abs(y - 0.5 * height) + reach)
        z = zx * cx + zy * cy + zz * cz + zw
        reach = abs(zx) * hx + abs(zy) * hy + abs(zz) * hz
        low, high = min(low, z - reach), max(high, z + reach)
        instances[drawn, 0] = patch
        instances[drawn, 1] = 2 * piece + role
        drawn += 1
    return low, high, farthest, drawn


@kernel
def _map_of_role(
    to_tile: Floats, grid: Floats, shape: int, x: float, y: float, left: int, top: int, middle: float, scale: float,
    words: Ints, numbers: NDArray[np.float32], piece: int, word: int,
) -> None:  # fmt: skip
    """Write the map of a role (16 words) from steps of the body's grid, counted from the point seen at x, y."""
    a, b, c = to_tile[0], to_tile[1], to_tile[2]
    d, e, f = to_tile[4], to_tile[5], to_tile[6]
    g, h, i = to_tile[8], to_tile[9], to_tile[10]
    ox, oy, oz, step = grid[shape, 0], grid[shape, 1], grid[shape, 2], grid[shape, 3]
    # The tile coordinates of the middle of the mesh, and from there the way to the middle of the piece, by Cramer's rule.
    mx = a * ox + b * oy + c * oz + to_tile[3]
    my = d * ox + e * oy + f * oz + to_tile[7]
    mz = g * ox + h * oy + i * oz + to_tile[11]
    volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    dx, dy, dz = x - mx, y - my, -mz
    rx = _on_grid((dx * (e * i - f * h) + dy * (c * h - b * i) + dz * (b * f - c * e)) / volume / step)
    ry = _on_grid((dx * (f * g - d * i) + dy * (a * i - c * g) + dz * (c * d - a * f)) / volume / step)
    rz = _on_grid((dx * (d * h - e * g) + dy * (b * g - a * h) + dz * (a * e - b * d)) / volume / step)
    words[piece, word + 12] = np.int32(rx)
    words[piece, word + 13] = np.int32(ry)
    words[piece, word + 14] = np.int32(rz)
    words[piece, word + 15] = np.int32(1) if volume < 0.0 else np.int32(0)
    # Where that point of the grid really lies: whatever was rounded above costs precision only.
    px, py, pz = rx * step, ry * step, rz * step
    _row(numbers, piece, word, a * step, b * step, c * step, mx + (a * px + b * py + c * pz) - left)
    _row(numbers, piece, word + 4, d * step, e * step, f * step, my + (d * px + e * py + f * pz) - top)
    s = step * scale
    _row(numbers, piece, word + 8, g * s, h * s, i * s, (mz + (g * px + h * py + i * pz) - middle) * scale + 0.5)


@kernel
def _on_grid(steps: float) -> float:
    """Round to a whole number that a reference may have; 0 for what is no number."""
    if not abs(steps) < FARTHEST_REFERENCE:
        return np.float64(0.0) if steps != steps else np.float64(np.copysign(FARTHEST_REFERENCE, steps))
    return np.float64(np.rint(steps))


@kernel
def _row(numbers: NDArray[np.float32], piece: int, word: int, x: float, y: float, z: float, w: float) -> None:
    """Write four numbers of a map."""
    numbers[piece, word] = np.float32(x)
    numbers[piece, word + 1] = np.float32(y)
    numbers[piece, word + 2] = np.float32(z)
    numbers[piece, word + 3] = np.float32(w)
