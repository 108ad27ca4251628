"""Stage 3 (§3.5): the face octree, never stored, and the face-pair checklist.

A node is a cube and the list of faces that meet it. It is subdivided only while it holds faces of two or more bodies, down to a
level; then all pairs of its faces of different bodies go on the checklist, unless another voxel has listed them before. Only the
faces of a parent are tested against its children, and memory holds only the lists of the nodes on the way down.

The world cube has 65,536 cells along each axis, and the box of a face is kept as the cells of its corners, in twelve bytes. The
cell of a number never decreases with the number, whatever is rounded; so boxes that meet have a cell in common, and nothing is
lost. For the exact tests of §3.7 a node is a real cube, `MARGIN` larger on each side than its cells.

Deviations. The first rejection of §3.6, by the boxes of two faces, comes before a pair goes on the checklist, which then holds a
tenth of the pairs. A face whose box meets only one child is put there without another test: it meets its parent, so it meets this
child. With `AUTO` (§7, in the spirit of the PM-octree) a node is a voxel when it has few pairs left, or when it is not larger than
its faces, which its children would then share. With bintrees (§7) a node is halved along one axis after the other. The walk can
stop after some operations and resume. The state is the `next` of the current node:

| `next` | enters when | leaves to |
|---|---|---|
| NOT_DIVIDED | the walk comes to the node | IS_VOXEL, or NOT_DEALT with its children marked and counted |
| IS_VOXEL | the node is not divided further | the node above, when all pairs of its faces are on the checklist |
| NOT_DEALT | it is divided | child 0, when there is room for the lists of its children and they are written |
| 0 … 7 | this child is next | that child, NOT_DIVIDED, if it has pairs; else the next child |
| ALL_CHILDREN | no child is left | the node above |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.geometry.triangle import Bounds, triangle_bounds, triangle_of_points
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.face_octree.overlap_faces import face_meets_box
from jostle.methods.face_octree.pair_checklist import check_face
from jostle.methods.face_octree.work import (
    BOXES,
    Checklist,
    Node,
    Tallies,
    Tree,
    Work,
    borrowed_faces,
    borrowed_tree,
    open_work,
)

AUTO = -1
LARGEST_LEVEL = 16
CELLS_ALONG = 1 << LARGEST_LEVEL
DEEPEST = 3 * LARGEST_LEVEL
MARGIN = 2.0**-30  # of the edge of the world cube: far more than rounding, far less than a cell
FEW_PAIRS = 128  # AUTO: a node with no more is a voxel
LARGE_FACES = 0.35  # AUTO: and one whose faces are on average longer than this share of its longest edge

ALL_CHILDREN, NOT_DIVIDED, NOT_DEALT, IS_VOXEL = 8, -1, -2, -3  # of `next`
DONE, FULL_LISTS, FULL_CHECKS, ENOUGH = range(4)  # why a walk stopped

FIRST_BIT = np.array([0] + [(k & -k).bit_length() - 1 for k in range(1, 256)], np.uint8)
# A one in each byte whose bit is set: adding these counts up to 255 masks.
ONE_PER_BIT = np.array([sum(1 << (8 * bit) for bit in range(8) if k >> bit & 1) for k in range(256)], np.uint64)


class Middle(NamedTuple):
    """The first cells of the upper halves of a node."""

    x: int
    y: int
    z: int


@kernel
def cell_of(x: float, origin: float, scale: float) -> int:
    """Return the cell of a coordinate; outside of the cube, the nearest one."""
    return int(min(max((x - origin) * scale, 0.0), CELLS_ALONG - 1.0))


@kernel(forceinline=True)
def list_all_faces(work: Work, faces: Checklist, tree: Tree) -> None:
    """Write the list of all faces of the checklist."""
    cube, grown = tree.cube, tree.grown
    scale = CELLS_ALONG / (cube[3] - cube[0])
    for f in range(faces.corner.shape[0]):
        box = triangle_bounds(triangle_of_points(faces.world, faces.corner[f, 0], faces.corner[f, 1], faces.corner[f, 2]))
        entry = work.entries[f]
        entry.lower[0] = cell_of(box.lower.x - grown, cube[0], scale)
        entry.lower[1] = cell_of(box.lower.y - grown, cube[1], scale)
        entry.lower[2] = cell_of(box.lower.z - grown, cube[2], scale)
        entry.upper[0] = cell_of(box.upper.x + grown, cube[0], scale)
        entry.upper[1] = cell_of(box.upper.y + grown, cube[1], scale)
        entry.upper[2] = cell_of(box.upper.z + grown, cube[2], scale)
        entry.face = f


@kernel
def count_pairs(owner: Ints) -> int:
    """Return the number of pairs of faces of different bodies; owner is sorted."""
    pairs = before = 0
    for k in range(1, owner.shape[0]):
        if owner[k] != owner[k - 1]:
            before = k
        pairs += before
    return pairs


@kernel(forceinline=True)
def middle_of(node: Node, depth: int, bintree: bool) -> Middle:
    """Return where a node is halved; beyond all cells for axes that are not halved."""
    x = (node.lower[0] + node.upper[0]) >> 1
    y = (node.lower[1] + node.upper[1]) >> 1
    z = (node.lower[2] + node.upper[2]) >> 1
    if bintree:
        axis = depth % 3
        x = x if axis == 0 else CELLS_ALONG
        y = y if axis == 1 else CELLS_ALONG
        z = z if axis == 2 else CELLS_ALONG
    return Middle(x, y, z)


@kernel
def write_child(node: Node, middle: Middle, number: int, child: Node) -> None:
    """Write the corners of a child; its number has one bit per axis, low or high."""
    for k in range(3):
        child.lower[k], child.upper[k] = node.lower[k], node.upper[k]
        if middle[k] < CELLS_ALONG:
            if number & (1 << k):
                child.lower[k] = middle[k]
            else:
                child.upper[k] = middle[k]


@kernel
def start_walk(addresses: Addresses, faces: Checklist, tree: Tree) -> None:
    """Set up a walk for all faces of a checklist; the tree's cube must hold them.

    It begins in the smallest node that holds them all: above it nothing is decided.
    """
    work, faces, tree = open_work(addresses), borrowed_faces(faces), borrowed_tree(tree)
    state = work.state
    count = faces.corner.shape[0]
    list_all_faces(work, faces, tree)
    lx = ly = lz = CELLS_ALONG
    ux = uy = uz = 0
    for f in range(count):
        lower, upper = work.entries[f].lower, work.entries[f].upper
        lx, ly, lz = min(lx, as_int64(lower[0])), min(ly, as_int64(lower[1])), min(lz, as_int64(lower[2]))
        ux, uy, uz = max(ux, as_int64(upper[0])), max(uy, as_int64(upper[1])), max(uz, as_int64(upper[2]))
    for k in range(3):
        work.nodes[0].lower[k], work.nodes[0].upper[k] = 0, CELLS_ALONG
    state.voxel_face, state.run_end, state.checks, state.box_tests, state.visited = 0, 0, 0, 0, 0
    depth, deepest = 0, deepest_level(tree.bintree) if tree.level == AUTO else tree.level
    while depth < deepest:
        work.nodes[depth].next = ALL_CHILDREN
        middle = middle_of(work.nodes[depth], depth, tree.bintree)
        x, y, z = middle
        if (lx < x and ux >= x) or (ly < y and uy >= y) or (lz < z and uz >= z):
            break
        number = int(lx >= x) | (int(ly >= y) << 1) | (int(lz >= z) << 2)
        write_child(work.nodes[depth], middle, number, work.nodes[depth + 1])
        depth += 1
    begin_node(work.nodes[depth], 0, count, count, count_pairs(faces.owner))
    state.depth = depth if work.nodes[depth].pairs > 0 else -1


@kernel(forceinline=True)
def deepest_level(bintree: bool) -> int:
    """Return the level at which nodes are single cells."""
    return DEEPEST if bintree else LARGEST_LEVEL


@kernel(forceinline=True)
def begin_node(node: Node, begin: int, end: int, top: int, pairs: int) -> None:
    """Set up a node: its list, where those of its children may begin, and its pairs."""
    node.begin, node.end, node.top, node.pairs, node.next = begin, end, top, pairs, NOT_DIVIDED


@kernel
def start_below(addresses: Addresses, depth: int, number: int, bintree: bool) -> None:
    """Set up a walk for one child of the node at `depth`, whose list is there.

    Nothing is left to do above it.
    """
    work = open_work(addresses)
    parent, state = work.nodes[depth], work.state
    count = parent.child_end[number] - parent.child_begin[number]
    state.voxel_face, state.run_end, state.checks, state.box_tests, state.visited = 0, 0, 0, 0, 0
    state.depth = depth + 1
    for above in range(depth + 1):
        work.nodes[above].next = ALL_CHILDREN
    write_child(parent, middle_of(parent, depth, bintree), number, work.nodes[depth + 1])
    begin_node(work.nodes[depth + 1], 0, count, count, parent.child_pairs[number])


@kernel(forceinline=True)
def mark_children(work: Work, node: Node, middle: Middle) -> int:
    """Mark the children that the box of each entry meets.

    Returns the sum of the boxes' lengths, in cells.
    """
    x, y, z = middle
    length = 0
    for k in range(node.begin, node.end):
        lower, upper = work.entries[k].lower, work.entries[k].upper
        lx, ly, lz = np.int32(lower[0]), np.int32(lower[1]), np.int32(lower[2])
        ux, uy, uz = np.int32(upper[0]), np.int32(upper[1]), np.int32(upper[2])
        mask = ((lx < x) * 0x55) | ((ux >= x) * 0xAA)
        mask &= ((ly < y) * 0x33) | ((uy >= y) * 0xCC)
        mask &= ((lz < z) * 0x0F) | ((uz >= z) * 0xF0)
        work.masks[k] = as_int64(mask)
        length += as_int64(max(ux - lx, uy - ly, uz - lz))
    return length


class Cells(NamedTuple):
    """The cells of the world cube in real coordinates."""

    corner: Vec3  # of the cube
    edge: float
    more: float  # how much larger than its cells a node is


@kernel(forceinline=True)
def cells_of_cube(tree: Tree) -> Cells:
    """Set up the cells of an octree's cube."""
    cube = tree.cube
    more = tree.grown + MARGIN * (cube[3] - cube[0]) + 2.0**-50 * max(abs(cube[0]), abs(cube[1]), abs(cube[2]))
    return Cells(Vec3(cube[0], cube[1], cube[2]), (cube[3] - cube[0]) / CELLS_ALONG, more)


@kernel(forceinline=True)
def child_bounds(node: Node, middle: Middle, number: int, cells: Cells) -> Bounds:
    """Return the box of a child for the exact tests of §3.7."""
    x, y, z = middle
    qx, sx = (x, node.upper[0]) if number & 1 else (node.lower[0], min(x, node.upper[0]))
    qy, sy = (y, node.upper[1]) if number & 2 else (node.lower[1], min(y, node.upper[1]))
    qz, sz = (z, node.upper[2]) if number & 4 else (node.lower[2], min(z, node.upper[2]))
    o, edge, more = cells.corner, cells.edge, cells.more
    return Bounds(
        Vec3(o.x + qx * edge - more, o.y + qy * edge - more, o.z + qz * edge - more),
        Vec3(o.x + sx * edge + more, o.y + sy * edge + more, o.z + sz * edge + more),
    )


@kernel(forceinline=True)
def unmark_children(work: Work, faces: Checklist, tree: Tree, node: Node, middle: Middle) -> int:
    """Unmark children that a face does not meet, though its box does (§3.7).

    Returns the number of tests.
    """
    cells, tests = cells_of_cube(tree), 0
    for k in range(node.begin, node.end):
        left = as_int64(work.masks[k])
        if left & (left - 1) == 0:
            continue
        f = work.entries[k].face
        face = triangle_of_points(faces.world, faces.corner[f, 0], faces.corner[f, 1], faces.corner[f, 2])
        mask = left
        while left != 0:
            child = as_int64(FIRST_BIT[left])
            left &= left - 1
            tests += 1
            if not face_meets_box(face, child_bounds(node, middle, child, cells), tree.how, work.polygon):
                mask ^= 1 << child
        work.masks[k] = mask
    return tests


@kernel(forceinline=True)
def add_to(tallies: Tallies, sums: np.uint64) -> None:
    """Add eight counts, a byte each, to the tallies of the present body."""
    for child in range(8):
        tallies.here[child] += as_int64((sums >> np.uint64(8 * child)) & np.uint64(255))


@kernel(forceinline=True)
def end_body(tallies: Tallies, node: Node) -> None:
    """Count the pairs of a body's faces with those of the bodies before it."""
    for child in range(8):
        node.child_pairs[child] += tallies.here[child] * tallies.before[child]
        tallies.before[child] += tallies.here[child]
        tallies.here[child] = 0


@kernel
def count_children(work: Work, owner: Ints, node: Node) -> None:
    """Count the pairs and the faces of each child."""
    tallies = work.tallies
    for child in range(8):
        tallies.here[child], tallies.before[child], node.child_pairs[child] = 0, 0, 0
    last = owner[work.entries[node.begin].face]
    sums, added = np.uint64(0), 0
    for k in range(node.begin, node.end):
        body = owner[work.entries[k].face]
        if body != last or added == 255:
            add_to(tallies, sums)
            sums, added = np.uint64(0), 0
            if body != last:
                end_body(tallies, node)
                last = body
        sums += ONE_PER_BIT[work.masks[k]]
        added += 1
    add_to(tallies, sums)
    end_body(tallies, node)


@kernel(forceinline=True)
def lay_out_children(tallies: Tallies, node: Node) -> tuple[int, int]:
    """Place the lists of children with pairs behind all others.

    Returns the end of the last, and a mask of these children.
    """
    place, living = node.top, 0
    for child in range(8):
        node.child_begin[child] = place
        if node.child_pairs[child] > 0:
            living |= 1 << child
            place += tallies.before[child]
        node.child_end[child] = place
    return place, living


@kernel(forceinline=True)
def deal_out(work: Work, node: Node, living: int) -> None:
    """Write the lists of the children with pairs."""
    for k in range(node.begin, node.end):
        left = as_int64(work.masks[k]) & living
        one, two = work.words[k].one, work.words[k].two
        while left != 0:
            child = as_int64(FIRST_BIT[left])
            left &= left - 1
            place = node.child_begin[child]
            work.words[place].one, work.words[place].two = one, two
            node.child_begin[child] = place + 1
    place = node.top
    for child in range(8):
        node.child_begin[child] = place
        place = node.child_end[child]


@kernel
def is_voxel(work: Work, faces: Checklist, tree: Tree, node: Node, depth: int) -> bool:
    """Decide whether a node is a voxel; if not, mark and count its children."""
    if depth == tree.level or depth == deepest_level(tree.bintree) or (tree.level == AUTO and node.pairs <= FEW_PAIRS):
        return True
    count, middle = node.end - node.begin, middle_of(node, depth, tree.bintree)
    work.state.box_tests += count
    length = mark_children(work, node, middle)
    if tree.level == AUTO:
        edge = 0
        for axis in range(3):
            edge = max(edge, node.upper[axis] - node.lower[axis])
        if length > LARGE_FACES * edge * count:
            return True
    if tree.how != BOXES:
        work.state.box_tests += unmark_children(work, faces, tree, node, middle)
    count_children(work, faces.owner, node)
    return False


@kernel
def subdivide(addresses: Addresses, faces: Checklist, tree: Tree, visited: NDArray[np.int64], operations: int) -> int:
    """Resume a walk; returns why it stopped.

    visited (c,6): the corners of the nodes, as far as there is room.
    """
    work, faces, tree = open_work(addresses), borrowed_faces(faces), borrowed_tree(tree)
    state = work.state
    limit = state.box_tests + operations
    while state.depth >= 0:
        node = work.nodes[state.depth]
        if node.next == NOT_DIVIDED:
            note_visited(work, node, visited)
            node.next = IS_VOXEL if is_voxel(work, faces, tree, node, state.depth) else NOT_DEALT
            state.voxel_face, state.run_end = node.begin, node.begin
        if node.next == NOT_DEALT:
            place, living = lay_out_children(work.tallies, node)
            if place > len(work.masks):
                return FULL_LISTS
            deal_out(work, node, living)
            node.next = 0
        if node.next == IS_VOXEL:
            why = check_voxel(work, faces, tree, node, limit)
            if why != DONE:
                return why
            state.depth -= 1
            continue
        while node.next < ALL_CHILDREN and node.child_pairs[node.next] == 0:
            node.next += 1
        if node.next == ALL_CHILDREN:
            state.depth -= 1
        elif state.box_tests > limit:
            return ENOUGH
        else:
            descend(work, tree.bintree)
    return DONE


@kernel(forceinline=True)
def note_visited(work: Work, node: Node, visited: NDArray[np.int64]) -> None:
    """Write the corners of a node for the overlay, if there is room."""
    row = work.state.visited
    if row < visited.shape[0]:
        for k in range(3):
            visited[row, k], visited[row, k + 3] = node.lower[k], node.upper[k]
    work.state.visited += 1


@kernel(forceinline=True)
def check_voxel(work: Work, faces: Checklist, tree: Tree, node: Node, limit: int) -> int:
    """Put the face pairs of a voxel on the checklist; DONE, FULL_CHECKS, or ENOUGH."""
    state, end = work.state, node.end
    while state.voxel_face < end:
        k = state.voxel_face
        body = faces.owner[work.entries[k].face]
        while state.run_end < end and faces.owner[work.entries[state.run_end].face] == body:
            state.run_end += 1
        others = end - state.run_end
        if state.checks + others > len(work.checks):
            return FULL_CHECKS
        if state.box_tests > limit:
            return ENOUGH
        check_face(work, faces, tree.allowed, 2.0 * tree.grown, k, end)
        state.box_tests += others
        state.voxel_face += 1
    return DONE


@kernel(forceinline=True)
def descend(work: Work, bintree: bool) -> None:
    """Go from the current node to its next child."""
    depth = work.state.depth
    parent, child = work.nodes[depth], work.nodes[depth + 1]
    number = parent.next
    write_child(parent, middle_of(parent, depth, bintree), number, child)
    parent.next = number + 1
    pairs = parent.child_pairs[number]
    begin_node(child, parent.child_begin[number], parent.child_end[number], parent.child_end[7], pairs)
    work.state.depth = depth + 1
