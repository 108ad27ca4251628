"""The node checklist: black nodes of precomputed octrees that meet an overlap region of their body (§5.2, in place of §3.4).

Nodes are transformed by the pose of their body, so that they become oriented cubes; `geometry/box_box.py` compares these with the
regions. Every oriented cube is padded for the rounding of world vertices: `place_octrees` says by how much and why.
"""

from jostle.geometry.box_box import oriented_box_meets_box, set_up_oriented_box
from jostle.geometry.rigid import cull_padding
from jostle.geometry.triangle_box import centre_and_half
from jostle.geometry.vector import Vec3
from jostle.kernels.handles import int32_at
from jostle.kernels.jit import kernel

# A row of the table of octrees: (address, length) of each of these arrays.
CELLS, NODE_START, NODE_FACES, VERTICES, FACES = 0, 2, 4, 6, 8

FULL, PAUSED, DONE = 0, 1, 2
BODY, NODE, LISTED, TESTS = range(4)
STATE = 4


@kernel
def place_octrees(poses, cubes, levels, half_axes):
    """Set up the oriented cubes of the finest nodes of every body in `half_axes` (n, box_box.WIDTH).

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
        set_up_oriented_box(
            half_axes, body,
            Vec3(half * poses[body, 0, 0], half * poses[body, 1, 0], half * poses[body, 2, 0]),
            Vec3(half * poses[body, 0, 1], half * poses[body, 1, 1], half * poses[body, 2, 1]),
            Vec3(half * poses[body, 0, 2], half * poses[body, 1, 2], half * poses[body, 2, 2]),
            cull_padding(farthest + 2.0 * largest, 0.0, largest),
        )  # fmt: skip


@kernel
def nodes_meeting_regions(
    octrees, octree_of, poses, cubes, levels, half_axes, region_start, region, lower, upper, operations, state, listed, centres
):
    """Write the nodes that meet a region of their body, in order: listed (n,2) body and node, centres (n,3) in the world.

    Goes on from `state`; returns FULL when there is no more room, PAUSED after so many tests of a node and a region, or DONE.
    """
    end = state[TESTS] + operations
    count = state[LISTED]
    while state[BODY] < poses.shape[0]:
        body = state[BODY]
        octree = octree_of[body]
        cells = int32_at(octrees[octree, CELLS], octrees[octree, CELLS + 1])
        side = cubes[body, 3] / 2.0 ** levels[body]
        first, last = region_start[body], region_start[body + 1]
        for node in range(state[NODE], cells.shape[0] // 3):
            if count == listed.shape[0] or state[TESTS] >= end:
                state[NODE] = node
                state[LISTED] = count
                return FULL if count == listed.shape[0] else PAUSED
            x = cubes[body, 0] + (cells[3 * node] + 0.5) * side
            y = cubes[body, 1] + (cells[3 * node + 1] + 0.5) * side
            z = cubes[body, 2] + (cells[3 * node + 2] + 0.5) * side
            for k in range(3):
                moved = (poses[body, k, 0] * x + poses[body, k, 1] * y) + poses[body, k, 2] * z
                centres[count, k] = moved + poses[body, k, 3]
            for k in range(first, last):
                state[TESTS] += 1
                if _meets_region(half_axes, body, centres, count, lower, upper, region[k]):
                    listed[count, 0] = body
                    listed[count, 1] = node
                    count += 1
                    break
        state[NODE] = 0
        state[BODY] += 1
    state[LISTED] = count
    return DONE


@kernel(forceinline=True)
def _meets_region(half_axes, body, centres, row, lower, upper, pair):
    ox, hx = centre_and_half(lower[pair, 0], upper[pair, 0])
    oy, hy = centre_and_half(lower[pair, 1], upper[pair, 1])
    oz, hz = centre_and_half(lower[pair, 2], upper[pair, 2])
    away = Vec3(centres[row, 0] - ox, centres[row, 1] - oy, centres[row, 2] - oz)
    return oriented_box_meets_box(half_axes, body, away, Vec3(hx, hy, hz))
