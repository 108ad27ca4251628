"""Stage 3 (§3.5): the face octree, never stored, and the face-pair checklist.

A node is a cube and the list of faces that meet it. It is subdivided only while it holds faces of two or more bodies, down
to a level; then all pairs of its faces of different bodies go on the checklist, unless another voxel has put them there
before. Only the faces of a parent are tested against its children, and no memory is needed but for the lists of the nodes on
the way down.

The world cube has 65,536 cells along each axis, and the box of a face is kept as the cells of its corners, in twelve bytes.
Which cell a number belongs to never decreases with the number, whatever is rounded; so boxes that meet have a cell in
common, and nothing is lost. For the exact tests of §3.7 a cube is a real one, `MARGIN` larger on each side than its cells.

Deviations. The first rejection of §3.6, boxes of two faces that do not meet, is made before a pair goes on the checklist,
which then holds a tenth of the pairs. A face whose box meets one child only is put there without another test: it
meets its parent, so it meets this child. With `AUTO` (§7, in the spirit of the PM-octree) a node is a voxel when it has few
pairs left, or when it is not larger than its faces, which its children would then share. With bintrees (§7) a node is halved
along one axis after the other. The walk can stop after some operations and go on.
"""

from __future__ import annotations

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.face_octree.overlap_faces import BOXES, face_meets_box
from jostle.methods.face_octree.pair_checklist import check_face

AUTO = -1
LARGEST_LEVEL = 16
CELLS_ALONG = 1 << LARGEST_LEVEL
DEEPEST = 3 * LARGEST_LEVEL
MARGIN = 2.0**-30  # of the edge of the world cube: far more than rounding, far less than a cell
FEW_PAIRS = 128  # AUTO: a node with no more is a voxel
LARGE_FACES = 0.35  # AUTO: and one whose faces are on average longer than this share of its longest edge

# What a walk keeps in `state`.
DEPTH, VOXEL_FACE, RUN_END, CHECKS, BOX_TESTS, NODES = range(6)
STATE = 6
# What it keeps of each node on its way: where its list begins and ends, where those of its children may begin, its pairs, the
# child to come, the cells of its lower and upper corner, and of each child its pairs and where its list begins and ends.
BEGIN, END, TOP, PAIRS, NEXT, CORNER = range(6)
CHILD_PAIRS = CORNER + 6
CHILD_BEGIN = CHILD_PAIRS + 8
CHILD_END = CHILD_BEGIN + 8
NODE = CHILD_END + 8
NOT_DIVIDED, NOT_DEALT, IS_VOXEL = -1, -2, -3  # of NEXT
# Why a walk has stopped.
DONE, FULL_LISTS, FULL_CHECKS, ENOUGH = range(4)

# An entry of a list is 16 bytes: the cells of the lower and the upper corner of its box (6 x uint16), and the face (int32).
# Kernels get the lists three times, as what they read: 8 cells, 4 numbers or 2 words for each entry.
FIRST_BIT = np.array([0] + [(k & -k).bit_length() - 1 for k in range(1, 256)], np.uint8)
# One in each byte whose bit is set: up to 255 masks are counted by adding these.
ONE_PER_BIT = np.array([sum(1 << (8 * bit) for bit in range(8) if k >> bit & 1) for k in range(256)], np.uint64)


@kernel
def cell_of(x, origin, scale):
    """Return the cell that a coordinate belongs to, the nearest one where it is outside of the cube."""
    return min(max((x - origin) * scale, 0.0), CELLS_ALONG - 1.0)


@kernel
def list_all_faces(world, corner, cube, grown, cells, numbers):
    """Write the list of all faces of the checklist; grown: half of how far apart faces may be."""
    scale = CELLS_ALONG / (cube[3] - cube[0])
    x0, y0, z0 = cube[0], cube[1], cube[2]
    for f in range(corner.shape[0]):
        a, b, c = corner[f, 0], corner[f, 1], corner[f, 2]
        ax, ay, az = world[a, 0], world[a, 1], world[a, 2]
        bx, by, bz = world[b, 0], world[b, 1], world[b, 2]
        cx, cy, cz = world[c, 0], world[c, 1], world[c, 2]
        cells[8 * f] = cell_of(min(ax, bx, cx) - grown, x0, scale)
        cells[8 * f + 1] = cell_of(min(ay, by, cy) - grown, y0, scale)
        cells[8 * f + 2] = cell_of(min(az, bz, cz) - grown, z0, scale)
        cells[8 * f + 3] = cell_of(max(ax, bx, cx) + grown, x0, scale)
        cells[8 * f + 4] = cell_of(max(ay, by, cy) + grown, y0, scale)
        cells[8 * f + 5] = cell_of(max(az, bz, cz) + grown, z0, scale)
        numbers[4 * f + 3] = f


@kernel
def count_pairs(owner):
    """Return how many pairs of faces of different bodies there are; owner is sorted."""
    pairs = before = 0
    for k in range(1, owner.shape[0]):
        if owner[k] != owner[k - 1]:
            before = k
        pairs += before
    return pairs


@kernel
def middles(node, depth, bintree):
    """Return the first cells of the upper halves of a node; beyond all cells for axes along which a bintree does not halve it."""
    x = (node[depth, CORNER] + node[depth, CORNER + 3]) >> 1
    y = (node[depth, CORNER + 1] + node[depth, CORNER + 4]) >> 1
    z = (node[depth, CORNER + 2] + node[depth, CORNER + 5]) >> 1
    if bintree:
        axis = depth % 3
        x = x if axis == 0 else CELLS_ALONG
        y = y if axis == 1 else CELLS_ALONG
        z = z if axis == 2 else CELLS_ALONG
    return x, y, z


@kernel
def write_child(node, depth, child, x, y, z):
    """Write the corners of a child into the row below; a bit of `child` says low or high for each axis."""
    for k in range(6):
        node[depth + 1, CORNER + k] = node[depth, CORNER + k]
    if x < CELLS_ALONG:
        node[depth + 1, CORNER + (0 if child & 1 else 3)] = x
    if y < CELLS_ALONG:
        node[depth + 1, CORNER + (1 if child & 2 else 4)] = y
    if z < CELLS_ALONG:
        node[depth + 1, CORNER + (2 if child & 4 else 5)] = z


@kernel
def start_walk(world, corner, owner, cube, level, bintree, grown, node, cells, numbers, state):
    """Set a walk up for all faces of a checklist in a cube (6,), which must hold them.

    It begins in the smallest node that holds them all: on the way there nothing is decided.
    """
    count = corner.shape[0]
    list_all_faces(world, corner, cube, grown, cells, numbers)
    lx = ly = lz = CELLS_ALONG
    ux = uy = uz = 0
    for f in range(count):
        lx, ly, lz = min(lx, cells[8 * f]), min(ly, cells[8 * f + 1]), min(lz, cells[8 * f + 2])
        ux, uy, uz = max(ux, cells[8 * f + 3]), max(uy, cells[8 * f + 4]), max(uz, cells[8 * f + 5])
    for k in range(3):
        node[0, CORNER + k], node[0, CORNER + 3 + k] = 0, CELLS_ALONG
    for k in range(STATE):
        state[k] = 0
    depth = 0
    deepest = level
    if level == AUTO:
        deepest = DEEPEST if bintree else LARGEST_LEVEL
    while depth < deepest:
        node[depth, NEXT] = 8
        x, y, z = middles(node, depth, bintree)
        if (lx < x and ux >= x) or (ly < y and uy >= y) or (lz < z and uz >= z):
            break
        write_child(node, depth, (lx >= x) | ((ly >= y) << 1) | ((lz >= z) << 2), x, y, z)
        depth += 1
    node[depth, BEGIN], node[depth, END], node[depth, TOP], node[depth, NEXT] = 0, count, count, NOT_DIVIDED
    node[depth, PAIRS] = count_pairs(owner)
    state[DEPTH] = depth if node[depth, PAIRS] > 0 else -1


@kernel
def mark_children(cells, node, depth, bintree, masks):
    """Write for each entry of a node's list which children its box meets; returns the sum of the lengths of the boxes, in cells."""
    x, y, z = middles(node, depth, bintree)
    length = 0
    for k in range(masks.shape[0]):
        lx, ly, lz = np.int32(cells[8 * k]), np.int32(cells[8 * k + 1]), np.int32(cells[8 * k + 2])
        ux, uy, uz = np.int32(cells[8 * k + 3]), np.int32(cells[8 * k + 4]), np.int32(cells[8 * k + 5])
        mask = ((lx < x) * 0x55) | ((ux >= x) * 0xAA)
        mask &= ((ly < y) * 0x33) | ((uy >= y) * 0xCC)
        mask &= ((lz < z) * 0x0F) | ((uz >= z) * 0xF0)
        masks[k] = mask
        length += max(ux - lx, uy - ly, uz - lz)
    return length


@kernel
def unmark_children(world, corner, numbers, node, depth, bintree, cube, grown, how, masks, polygon):
    """Take the marks of children away that a face does not meet, though its box does (§3.7); returns the tests made."""
    x, y, z = middles(node, depth, bintree)
    edge = (cube[3] - cube[0]) / CELLS_ALONG
    more = grown + MARGIN * (cube[3] - cube[0]) + 2.0**-50 * max(abs(cube[0]), abs(cube[1]), abs(cube[2]))
    lx, ly, lz = node[depth, CORNER], node[depth, CORNER + 1], node[depth, CORNER + 2]
    ux, uy, uz = node[depth, CORNER + 3], node[depth, CORNER + 4], node[depth, CORNER + 5]
    tests = 0
    for k in range(masks.shape[0]):
        left = np.int64(masks[k])
        if left & (left - 1) == 0:
            continue
        f = numbers[4 * k + 3]
        mask = left
        while left != 0:
            child = np.int64(FIRST_BIT[left])
            left &= left - 1
            tests += 1
            qx, sx = (x, ux) if child & 1 else (lx, min(x, ux))
            qy, sy = (y, uy) if child & 2 else (ly, min(y, uy))
            qz, sz = (z, uz) if child & 4 else (lz, min(z, uz))
            if not face_meets_box(
                world, corner[f, 0], corner[f, 1], corner[f, 2],
                cube[0] + qx * edge - more, cube[1] + qy * edge - more, cube[2] + qz * edge - more,
                cube[0] + sx * edge + more, cube[1] + sy * edge + more, cube[2] + sz * edge + more, how, polygon,
            ):  # fmt: skip
                mask ^= 1 << child
        masks[k] = mask
    return tests


@kernel
def add_to(tallies, sums):
    """Add eight counts, a byte each, to the tallies of a body."""
    for child in range(8):
        tallies[child] += np.int64((sums >> np.uint64(8 * child)) & np.uint64(255))


@kernel
def end_body(tallies, node, depth):
    """Count the pairs that the faces of a body make with those of the bodies before it."""
    for child in range(8):
        node[depth, CHILD_PAIRS + child] += tallies[child] * tallies[8 + child]
        tallies[8 + child] += tallies[child]
        tallies[child] = 0


@kernel
def count_children(numbers, owner, masks, tallies, node, depth):
    """Count the pairs and the faces of each child; tallies (16,): faces of the present body, and of those before it."""
    for child in range(8):
        tallies[child], tallies[child + 8] = 0, 0
        node[depth, CHILD_PAIRS + child] = 0
    last = owner[numbers[3]]
    sums, added = np.uint64(0), 0
    for k in range(masks.shape[0]):
        body = owner[numbers[4 * k + 3]]
        if body != last or added == 255:
            add_to(tallies, sums)
            sums, added = np.uint64(0), 0
            if body != last:
                end_body(tallies, node, depth)
                last = body
        sums += ONE_PER_BIT[masks[k]]
        added += 1
    add_to(tallies, sums)
    end_body(tallies, node, depth)


@kernel
def lay_out_children(tallies, node, depth):
    """Give each child with pairs a place for its list behind all others; returns the end of the last, and a mask of them."""
    place = node[depth, TOP]
    living = 0
    for child in range(8):
        node[depth, CHILD_BEGIN + child] = place
        if node[depth, CHILD_PAIRS + child] > 0:
            living |= 1 << child
            place += tallies[8 + child]
        node[depth, CHILD_END + child] = place
    return place, living


@kernel
def deal_out(node, depth, living, masks, words):
    """Write the lists of the children with pairs."""
    for k in range(node[depth, BEGIN], node[depth, END]):
        left = np.int64(masks[k]) & living
        one, two = words[2 * k], words[2 * k + 1]
        while left != 0:
            child = np.int64(FIRST_BIT[left])
            left &= left - 1
            place = node[depth, CHILD_BEGIN + child]
            words[2 * place], words[2 * place + 1] = one, two
            node[depth, CHILD_BEGIN + child] = place + 1
    place = node[depth, TOP]
    for child in range(8):
        node[depth, CHILD_BEGIN + child] = place
        place = node[depth, CHILD_END + child]


@kernel
def is_voxel(world, corner, owner, level, bintree, how, grown, cube, node, depth, cells, numbers, masks, tallies, polygon, state):
    """Decide whether a node is a voxel; where it is not, its children are marked and counted."""
    if depth == level or depth == (DEEPEST if bintree else LARGEST_LEVEL) or (level == AUTO and node[depth, PAIRS] <= FEW_PAIRS):
        return True
    begin, end = node[depth, BEGIN], node[depth, END]
    here_cells, here_numbers, here_masks = cells[8 * begin : 8 * end], numbers[4 * begin : 4 * end], masks[begin:end]
    state[BOX_TESTS] += end - begin
    length = mark_children(here_cells, node, depth, bintree, here_masks)
    if level == AUTO:
        edge = 0
        for axis in range(3):
            edge = max(edge, node[depth, CORNER + 3 + axis] - node[depth, CORNER + axis])
        if length > LARGE_FACES * edge * (end - begin):
            return True
    if how != BOXES:
        state[BOX_TESTS] += unmark_children(
            world, corner, here_numbers, node, depth, bintree, cube, grown, how, here_masks, polygon
        )
    count_children(here_numbers, owner, here_masks, tallies, node, depth)
    return False


@kernel
def subdivide(
    world, corner, owner, allowed, cube, level, bintree, how, grown, operations,
    node, cells, numbers, words, masks, tallies, polygon, table, checks, nodes, state,
):  # fmt: skip
    """Walk the octree from where `state` stands; returns why it stopped. `level` counts halvings of a bintree's node.

    nodes (c,6): the corners of the nodes, as far as there is room.
    """
    depth = state[DEPTH]
    limit = state[BOX_TESTS] + operations
    while depth >= 0:
        begin, end = node[depth, BEGIN], node[depth, END]
        if node[depth, NEXT] == NOT_DIVIDED:
            if state[NODES] < nodes.shape[0]:
                for k in range(6):
                    nodes[state[NODES], k] = node[depth, CORNER + k]
            state[NODES] += 1
            voxel = is_voxel(
                world, corner, owner, level, bintree, how, grown, cube, node, depth, cells, numbers, masks, tallies, polygon, state
            )
            node[depth, NEXT] = IS_VOXEL if voxel else NOT_DEALT
            state[VOXEL_FACE], state[RUN_END] = begin, begin
        if node[depth, NEXT] == NOT_DEALT:
            place, living = lay_out_children(tallies, node, depth)
            if place > masks.shape[0]:
                state[DEPTH] = depth
                return FULL_LISTS
            deal_out(node, depth, living, masks, words)
            node[depth, NEXT] = 0
        if node[depth, NEXT] == IS_VOXEL:
            while state[VOXEL_FACE] < end:
                k = state[VOXEL_FACE]
                while state[RUN_END] < end and owner[numbers[4 * state[RUN_END] + 3]] == owner[numbers[4 * k + 3]]:
                    state[RUN_END] += 1
                if state[CHECKS] + (end - state[RUN_END]) > checks.shape[0]:
                    state[DEPTH] = depth
                    return FULL_CHECKS
                if state[BOX_TESTS] > limit:
                    state[DEPTH] = depth
                    return ENOUGH
                state[CHECKS] = check_face(
                    k, state[RUN_END], end, 2.0 * grown, world, corner, owner, cells, numbers, allowed, table, checks, state[CHECKS]
                )
                state[BOX_TESTS] += end - state[RUN_END]
                state[VOXEL_FACE] += 1
            depth -= 1
            continue
        child = node[depth, NEXT]
        while child < 8 and node[depth, CHILD_PAIRS + child] == 0:
            child += 1
        node[depth, NEXT] = child
        if child == 8:
            depth -= 1
            continue
        if state[BOX_TESTS] > limit:
            state[DEPTH] = depth
            return ENOUGH
        x, y, z = middles(node, depth, bintree)
        write_child(node, depth, child, x, y, z)
        node[depth, NEXT] = child + 1
        depth += 1
        node[depth, BEGIN], node[depth, END] = node[depth - 1, CHILD_BEGIN + child], node[depth - 1, CHILD_END + child]
        node[depth, TOP] = node[depth - 1, CHILD_END + 7]
        node[depth, PAIRS], node[depth, NEXT] = node[depth - 1, CHILD_PAIRS + child], NOT_DIVIDED
    state[DEPTH] = -1
    return DONE
