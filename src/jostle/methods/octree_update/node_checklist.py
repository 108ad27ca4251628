"""The node checklist: black nodes that meet an overlap region of their body.

§5.2, in place of §3.4. The pose of a body turns its nodes into oriented cubes, which `geometry/box_box.py` compares with the
regions. Every oriented cube is padded for the rounding of world vertices; `place_octrees` has the proof.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.box_box import oriented_box_meets_box, set_up_oriented_box
from jostle.geometry.rigid import cull_padding, moved_point, pose_at
from jostle.geometry.triangle import bounds_at
from jostle.geometry.triangle_box import CentredBox, centred
from jostle.geometry.vector import Vec3, minus, point_at, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, Record, Rows, Struct, borrowed, float64, int32, int64, record_viewer, row_opener

FULL, PAUSED, DONE = 0, 1, 2


class NodeCell(Record):
    """The cell numbers of a black node."""

    i: int32
    j: int32
    k: int32


class FaceCorners(Record):
    """The vertices of a face."""

    p: int32
    q: int32
    r: int32


class Octree(Struct):
    """A face octree and its mesh.

    The faces of node k are node_faces[node_start[k] : node_start[k + 1]].
    """

    cells: Rows[NodeCell]
    node_start: Rows[int32]
    node_faces: Rows[int32]
    vertices: Rows[float64]
    faces: Rows[FaceCorners]


open_octree = row_opener(Octree)


class PlacedOctrees(NamedTuple):
    """The octrees of bodies at their poses."""

    octree_of: Ints  # (n,)
    poses: Floats  # (n,4,4)
    cubes: Floats  # (n,4) lower corner and side, in body coordinates
    levels: NDArray[np.int64]  # (n,)
    half_axes: Floats  # (n, box_box.WIDTH) the oriented cubes of the finest nodes


class RegionsOfBodies(NamedTuple):
    """The overlap regions of bodies.

    Those of body k are lower and upper (p,3) of pairs[start[k] : start[k + 1]].
    """

    start: Ints
    pairs: Ints
    lower: Floats
    upper: Floats


class ListedNodes(NamedTuple):
    """Buffers of the checklist."""

    nodes: Ints  # (n,2) body and node
    centres: Floats  # (n,3) of the nodes, in the world


class Listing(Record):
    """Progress of the checklist."""

    body: int64  # the next one
    node: int64
    listed: int64
    tests: int64  # of nodes and regions


view_listing = record_viewer(Listing)


@kernel
def place_octrees(poses: Floats, cubes: Floats, levels: NDArray[np.int64], half_axes: Floats) -> None:
    """Write the oriented cubes of every body's finest nodes to half_axes (n, WIDTH).

    poses (n,4,4); cubes (n,4) in body coordinates; levels (n,).

    Claim: let a point lie in a face with world vertices by `rigid_coordinate`, and the same convex combination of the local
    vertices in a node. Then it lies within `cull_padding` of the oriented cube, in every coordinate. Proof, in units of 2^-53,
    with M the largest coordinate of the cube and W that of its image: the world vertices are off by W + 5.4 M from the exact images
    of the local ones; the planes of the node by 2 M, 3.5 M in the world; its centre by 3.5 M before and W + 5.4 M by the
    transformation; the half axes by 1.8 M. The sum is 2 W + 20 M, and the padding 128 (W + M).
    """
    for body in range(poses.shape[0]):
        largest, farthest = 0.0, 0.0
        for k in range(3):
            largest = max(largest, abs(cubes[body, k]), abs(cubes[body, k] + cubes[body, 3]))
            farthest = max(farthest, abs(poses[body, k, 3]))
        half = 0.5 * cubes[body, 3] / 2.0 ** levels[body]
        x, y, z = pose_at(poses, body)
        u, v = Vec3(half * x.x, half * y.x, half * z.x), Vec3(half * x.y, half * y.y, half * z.y)
        w = Vec3(half * x.z, half * y.z, half * z.z)
        set_up_oriented_box(half_axes, body, u, v, w, cull_padding(farthest + 2.0 * largest, 0.0, largest))


@kernel
def nodes_meeting_regions(
    octrees: Addresses,
    placed: PlacedOctrees,
    regions: RegionsOfBodies,
    operations: int,
    numbers: NDArray[np.int64],
    out: ListedNodes,
) -> int:
    """Write the nodes that meet a region of their body, in order.

    Resumes from `numbers`, a `Listing`; returns FULL when `out` is full, PAUSED after this many tests, or DONE.
    """
    state = view_listing(numbers)
    end = state.tests + operations
    placed, nodes, centres = without_owners(placed), borrowed(out.nodes), borrowed(out.centres)
    regions = RegionsOfBodies(borrowed(regions.start), borrowed(regions.pairs), borrowed(regions.lower), borrowed(regions.upper))
    while state.body < placed.poses.shape[0]:
        body = state.body
        cells = open_octree(octrees, as_int64(placed.octree_of[body])).cells
        corner, side = point_at(placed.cubes, body), placed.cubes[body, 3] / 2.0 ** placed.levels[body]
        pose = pose_at(placed.poses, body)
        for node in range(state.node, len(cells)):
            full = state.listed == nodes.shape[0]
            if full or state.tests >= end:
                state.node = node
                return FULL if full else PAUSED
            centre = moved_point(pose, centre_of_cell(corner, side, cells[node]))
            if meets_a_region(placed.half_axes, body, centre, regions, state):
                nodes[state.listed, 0], nodes[state.listed, 1] = body, node
                write_point(centres, state.listed, centre)
                state.listed += 1
        state.node = 0
        state.body += 1
    return DONE


@kernel(forceinline=True)
def without_owners(placed: PlacedOctrees) -> PlacedOctrees:
    """Return the arrays without counted references, which make a search twice as slow."""
    return PlacedOctrees(
        borrowed(placed.octree_of),
        borrowed(placed.poses),
        borrowed(placed.cubes),
        borrowed(placed.levels),
        borrowed(placed.half_axes),
    )


@kernel(forceinline=True)
def centre_of_cell(corner: Vec3, side: float, cell: NodeCell) -> Vec3:
    """Return the centre of a node in body coordinates.

    corner: of the cube; side: of its nodes.
    """
    return Vec3(corner.x + (cell.i + 0.5) * side, corner.y + (cell.j + 0.5) * side, corner.z + (cell.k + 0.5) * side)


@kernel(forceinline=True)
def meets_a_region(half_axes: Floats, body: int, centre: Vec3, regions: RegionsOfBodies, state: Listing) -> bool:
    """Return whether the node with this centre meets a region of its body."""
    for k in range(regions.start[body], regions.start[body + 1]):
        state.tests += 1
        region = centred(bounds_at(regions.lower, regions.upper, as_int64(regions.pairs[k])))
        if node_meets_box(half_axes, body, centre, region):
            return True
    return False


@kernel(forceinline=True)
def node_meets_box(half_axes: Floats, body: int, centre: Vec3, box: CentredBox) -> bool:
    """Return whether a node, an oriented cube, meets a box; conservative."""
    return oriented_box_meets_box(half_axes, body, minus(centre, box.centre), box.half)
