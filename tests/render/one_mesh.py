"""Depth maps, layers and ranges of one mesh under a view (12,) or (3, 4), in a tile of size x size pixels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.render.clipping import Slack
from jostle.render.depth_intervals import DepthList
from jostle.render.depth_layers import count_layers, fill_layers, sort_layers
from jostle.render.depth_maps import draw_shape
from jostle.render.depth_ranges import count_ranges, fill_ranges, sort_ranges
from jostle.render.drawn_body import drawn_shape
from jostle.render.patches import patch_arrays
from jostle.render.spans import scratch_for_drawing


class Layers(NamedTuple):
    """Crossings of pixel p = row * size + column: depth[first[p] : first[p + 1]], ascending, and so `sign` and `face`."""

    first: NDArray[np.int64]  # (size * size + 1,)
    depth: NDArray[np.float64]  # (n,)
    sign: NDArray[np.int8]  # (n,) -1 or +1
    face: NDArray[np.int32]  # (n,) of the mesh


class Ranges(NamedTuple):
    """Ranges of pixel p = row * size + column: low[first[p] : first[p + 1]], ascending, and so the others."""

    first: NDArray[np.int64]  # (size * size + 1,)
    low: NDArray[np.float64]  # (n,)
    high: NDArray[np.float64]  # (n,)
    sign: NDArray[np.int8]  # (n,) -1 or +1 where the face crosses the ray through the centre, else 0
    face: NDArray[np.int32]  # (n,) of the mesh


@kernel
def count_layers_of_shape(table, shape, view, size, mask, first, scratch):
    return count_layers(drawn_shape(table, shape, view, size), mask, first, scratch)


@kernel
def list_layers_of_shape(table, shape, view, size, mask, layers, scratch):
    fill_layers(drawn_shape(table, shape, view, size), mask, layers, scratch)
    sort_layers(size, layers)


@kernel
def count_ranges_of_shape(table, shape, view, size, slack, mask, first, scratch):
    return count_ranges(drawn_shape(table, shape, view, size), slack, mask, first, scratch)


@kernel
def list_ranges_of_shape(table, shape, view, size, slack, mask, ranges, scratch):
    fill_ranges(drawn_shape(table, shape, view, size), slack, mask, ranges, scratch)
    sort_ranges(size, ranges)


def flat(view):
    return read_only_view(np.asarray(view, np.float64).reshape(12))


def depth_maps(patches, view, size):
    """Smallest and largest depth (size, size) at each pixel centre; +inf and -inf where nothing is."""
    near, far = np.full((size, size), np.inf), np.full((size, size), -np.inf)
    table = AddressTable([patch_arrays(patches)])
    draw_shape(table.table, 0, flat(view), size, near, far, scratch_for_drawing())
    return near, far


def depth_layers(patches, view, size):
    """All layers of a mesh."""
    table, matrix = AddressTable([patch_arrays(patches)]), flat(view)
    mask, scratch = np.ones((size, size), np.uint8), scratch_for_drawing()
    first = np.empty(size * size + 2, np.int64)
    count = count_layers_of_shape(table.table, 0, matrix, size, mask, first, scratch)
    depth, label = np.empty(count), np.empty(count, np.int32)
    list_layers_of_shape(table.table, 0, matrix, size, mask, DepthList(first, depth, depth, label), scratch)
    return Layers(first[:-1], depth, np.sign(label).astype(np.int8), patches.face_of[np.abs(label) - 1])


def depth_ranges(patches, view, size, slack_xy=0.0, slack_z=0.0):
    """All ranges of a mesh; the slack in pixels and in depth."""
    table, matrix = AddressTable([patch_arrays(patches)]), flat(view)
    mask, scratch = np.ones((size, size), np.uint8), scratch_for_drawing()
    first, slack = np.empty(size * size + 2, np.int64), Slack(float(slack_xy), float(slack_z))
    count = count_ranges_of_shape(table.table, 0, matrix, size, slack, mask, first, scratch)
    low, high, label = np.empty(count), np.empty(count), np.empty(count, np.int32)
    list_ranges_of_shape(table.table, 0, matrix, size, slack, mask, DepthList(first, low, high, label), scratch)
    return Ranges(first[:-1], low, high, ((label & 3) - 1).astype(np.int8), patches.face_of[label >> 2])
