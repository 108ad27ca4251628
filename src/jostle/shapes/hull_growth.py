"""The kernel of `hull.py`: quickhull in slices.

It is resumable, and counts the points and faces it visits; every stage keeps its position in NEXT:

| stage | loops over | next stage |
|---|---|---|
| FIRST … FOURTH | points, for the corners of the tetrahedron | next corner, ASSIGN; DONE if the points span no volume |
| ASSIGN | points, for a face that sees them | PICK |
| PICK | queued faces, then the points that wait at one, for the farthest | LOOK; CREASES when the queue is empty |
| LOOK | faces that see the apex, and their neighbours | REMOVE |
| REMOVE | the points that waited at these | JOIN |
| JOIN, LINK | the edges of the rim | LINK, REASSIGN |
| REASSIGN | those points, and for each the new faces | PICK |
| CREASES | faces | DONE |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.flat_triangles import projection_axis
from jostle.geometry.predicates import orient3d
from jostle.geometry.vector import Vec3, cross, dot, minus, point_at
from jostle.kernels.jit import kernel

FIRST, SECOND, THIRD, FOURTH, ASSIGN, PICK, LOOK, REMOVE, JOIN, LINK, REASSIGN, CREASES, DONE = range(13)
ALIVE, REMOVED, FREE = range(3)
# Indices into `Growing.state`.
STAGE, NEXT, FOUND, SPANNED, FACES, FREE_FACES, QUEUED, FACE, APEX, VISIBLE, RIM, ORPHAN = range(12)
STATE = 12


Corners = tuple[int, int, int]


class Growing(NamedTuple):
    """A hull of n points between two slices; at most 2 n + 8 faces."""

    state: NDArray[np.int64]  # see `STAGE` and the names after it
    best: NDArray[np.float64]  # (1,) size or height of the farthest point so far
    corners: NDArray[np.int64]  # (4,) of the first tetrahedron
    faces: NDArray[np.int64]  # (m,3)
    across: NDArray[np.int64]  # (m,3) the face behind the edge from corner k to corner k + 1
    seen: NDArray[np.int64]  # (m,) ALIVE, REMOVED or FREE
    waiting: NDArray[np.int64]  # (m,) first point that this face sees; the others follow in `after`
    after: NDArray[np.int64]  # (n,)
    queue: NDArray[np.int64]  # (m,) a heap of faces, the lowest first; faces with waiting points are among them
    is_queued: NDArray[np.bool_]  # (m,)
    visible: NDArray[np.int64]  # (m,) faces that see the apex; then the new ones
    rim: NDArray[np.int64]  # (m,3) edge from, edge to, face behind it
    starting_at: NDArray[np.int64]  # (n,) the new face whose rim edge starts at a point
    free: NDArray[np.int64]  # (m,) face slots to reuse
    creases: NDArray[np.int32]  # (n,) edges with a crease about a point

    @staticmethod
    def of(n: int) -> Growing:
        """Return the arrays before the first slice."""
        m = 2 * n + 8
        return Growing(
            state=np.zeros(STATE, np.int64),
            best=np.full(1, -1.0),
            corners=np.zeros(4, np.int64),
            faces=np.empty((m, 3), np.int64),
            across=np.empty((m, 3), np.int64),
            seen=np.full(m, FREE),
            waiting=np.full(m, -1, np.int64),
            after=np.empty(n, np.int64),
            queue=np.empty(m, np.int64),
            is_queued=np.zeros(m, np.bool_),
            visible=np.empty(m, np.int64),
            rim=np.empty((m, 3), np.int64),
            starting_at=np.empty(n, np.int64),
            free=np.empty(m, np.int64),
            creases=np.zeros(n, np.int32),
        )


@kernel
def grow_hull(points: Floats, growing: Growing, operations: int) -> int:
    """Continue the hull of distinct points (n,3); return the operations used.

    One kernel for all stages, because each kernel that calls the predicates compiles them anew.
    """
    state = growing.state
    spent = 0
    while spent < operations and state[STAGE] != DONE:
        stage = state[STAGE]
        most = operations - spent
        if stage < ASSIGN:
            spent += span(points, growing, most)
        elif stage == ASSIGN:
            spent += assign_points(points, growing, most)
        elif stage == PICK:
            spent += pick_apex(points, growing, most)
        elif stage == LOOK:
            spent += find_visible_faces(points, growing, most)
        elif stage == REMOVE:
            spent += remove_visible_faces(growing, most)
        elif stage == JOIN:
            spent += join_rim(growing, most)
        elif stage == LINK:
            spent += link_faces(growing, most)
        elif stage == REASSIGN:
            spent += assign_orphans(points, growing, most)
        else:
            spent += count_creases(points, growing, most)
    return spent


@kernel
def enter(growing: Growing, stage: int) -> None:
    """Start a stage at its first point, face or edge."""
    growing.state[STAGE] = stage
    growing.state[NEXT] = 0
    growing.state[FOUND] = -1
    growing.best[0] = -np.inf


@kernel
def span(points: Floats, growing: Growing, operations: int) -> int:
    """Find the first tetrahedron's corners, each farthest from the previous span."""
    state, corners = growing.state, growing.corners
    n = points.shape[0]
    stage, first = state[STAGE], state[NEXT]
    last = min(n, first + operations)
    for p in range(first, last):
        size = distance_from_span(points, corners, stage, p)
        if stage == FIRST:
            nearer = state[FOUND] < 0 or comes_before(points, p, state[FOUND])
        else:
            nearer = size > growing.best[0] and size >= 0.0
        if nearer:
            growing.best[0] = size
            state[FOUND] = p
    state[NEXT] = last
    if last == n:
        corners[stage] = state[FOUND]
        if state[FOUND] < 0:
            state[SPANNED] = stage
            enter(growing, DONE)
        else:
            enter(growing, stage + 1)
            if stage == ASSIGN - 1:
                state[SPANNED] = 4
                write_tetrahedron(points, growing)
    return last - first


@kernel
def distance_from_span(points: Floats, corners: NDArray[np.int64], stage: int, p: int) -> float:
    """Return a point's distance from the span of the first corners; -1 within it.

    The stage is the number of corners.
    """
    if stage == FIRST:
        return 0.0
    a, b, c = corners[0], corners[1], corners[2]
    origin, point = point_at(points, a), point_at(points, p)
    v = minus(point, origin)
    if stage == SECOND:
        outside = p != a
    elif stage == THIRD:
        second = point_at(points, b)
        outside = projection_axis(origin, second, point) >= 0
        v = cross(minus(second, origin), v)
    else:
        outside = side(points, a, b, c, p) != 0
        v = Vec3(dot(normal_of(points, a, b, c), v), 0.0, 0.0)
    # Sums of absolute values: squares of products of 1e-30 would underflow.
    return abs(v.x) + abs(v.y) + abs(v.z) if outside else -1.0


@kernel
def write_tetrahedron(points: Floats, growing: Growing) -> None:
    """Write the four faces of the first corners, d behind the face abc."""
    corners = growing.corners
    if side(points, corners[0], corners[1], corners[2], corners[3]) > 0:
        corners[1], corners[2] = corners[2], corners[1]
    a, b, c, d = corners[0], corners[1], corners[2], corners[3]
    write_face(growing, 0, (a, b, c), (3, 1, 2))
    write_face(growing, 1, (c, b, d), (0, 3, 2))
    write_face(growing, 2, (a, c, d), (0, 1, 3))
    write_face(growing, 3, (b, a, d), (0, 2, 1))
    for f in range(4):
        growing.seen[f] = ALIVE
    growing.state[FACES] = 4


@kernel
def assign_points(points: Floats, growing: Growing, operations: int) -> int:
    """Assign every point to a face of the tetrahedron that sees it."""
    state, corners = growing.state, growing.corners
    first = state[NEXT]
    last = min(points.shape[0], first + max(1, operations // 4))
    for p in range(first, last):
        if p != corners[0] and p != corners[1] and p != corners[2] and p != corners[3]:
            for f in range(4):
                if sees(points, growing.faces, f, p):
                    assign_point(growing, f, p)
                    break
    state[NEXT] = last
    if last == points.shape[0]:
        enter(growing, PICK)
    return 4 * (last - first)


@kernel
def assign_point(growing: Growing, f: int, p: int) -> None:
    """Assign a point to a face, and queue the face."""
    state, queue = growing.state, growing.queue
    growing.after[p] = growing.waiting[f]
    growing.waiting[f] = p
    if growing.is_queued[f]:
        return
    growing.is_queued[f] = True
    at = state[QUEUED]
    state[QUEUED] += 1
    while at > 0 and queue[(at - 1) >> 1] > f:
        queue[at] = queue[(at - 1) >> 1]
        at = (at - 1) >> 1
    queue[at] = f


@kernel
def pop_queue(growing: Growing) -> int:
    """Take the lowest face from the queue."""
    state, queue = growing.state, growing.queue
    found = queue[0]
    growing.is_queued[found] = False
    state[QUEUED] -= 1
    count = state[QUEUED]
    moved = queue[count]
    at = 0
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and queue[child + 1] < queue[child]:
            child += 1
        if queue[child] >= moved:
            break
        queue[at] = queue[child]
        at = child
    queue[at] = moved
    return found


@kernel
def pick_apex(points: Floats, growing: Growing, operations: int) -> int:
    """Take the lowest face that sees a point, and find its farthest point.

    Ties go to the first point in the order of x, y, z, which is a corner. NEXT is one more than the point to look at, 0 while
    there is no face yet.
    """
    state, faces, waiting = growing.state, growing.faces, growing.waiting
    spent = 0
    while state[NEXT] == 0:
        if state[QUEUED] == 0:
            enter(growing, CREASES)
            return max(1, spent)
        if spent >= operations:
            return spent
        spent += 1
        f = state[FACE] = pop_queue(growing)
        if growing.seen[f] == ALIVE and waiting[f] >= 0:
            state[NEXT] = waiting[f] + 1
            state[FOUND] = waiting[f]
    f = state[FACE]
    a = faces[f, 0]
    origin, normal = point_at(points, a), normal_of(points, a, faces[f, 1], faces[f, 2])
    best, found, p = growing.best[0], state[FOUND], state[NEXT] - 1
    while p >= 0 and spent < operations:
        height = dot(normal, minus(point_at(points, p), origin))
        if height > best or (height == best and comes_before(points, p, found)):
            best = height
            found = p
        p = growing.after[p]
        spent += 1
    growing.best[0], state[FOUND], state[NEXT] = best, found, p + 1
    if p < 0:
        enter(growing, LOOK)
        state[APEX] = found
        growing.seen[f] = REMOVED
        growing.visible[0] = f
        state[VISIBLE], state[RIM] = 1, 0
    return spent


@kernel
def find_visible_faces(points: Floats, growing: Growing, operations: int) -> int:
    """Mark and list the faces that see the apex, starting from one, and list the rim."""
    state, faces, seen, rim = growing.state, growing.faces, growing.seen, growing.rim
    spent = 0
    while state[NEXT] < state[VISIBLE] and spent < operations:
        f = growing.visible[state[NEXT]]
        state[NEXT] += 1
        spent += 3
        for k in range(3):
            behind = growing.across[f, k]
            if seen[behind] == REMOVED:
                continue
            if sees(points, faces, behind, state[APEX]):
                seen[behind] = REMOVED
                growing.visible[state[VISIBLE]] = behind
                state[VISIBLE] += 1
            else:
                row = state[RIM]
                rim[row, 0], rim[row, 1], rim[row, 2] = faces[f, k], faces[f, (k + 1) % 3], behind
                state[RIM] += 1
    if state[NEXT] == state[VISIBLE]:
        enter(growing, REMOVE)
        state[ORPHAN] = -1
    return spent


@kernel
def remove_visible_faces(growing: Growing, operations: int) -> int:
    """Free the faces that see the apex; the points that waited there are orphans."""
    state, waiting, after = growing.state, growing.waiting, growing.after
    spent = 0
    while state[NEXT] < state[VISIBLE] and spent < operations:
        f = growing.visible[state[NEXT]]
        spent += 1
        p = waiting[f]
        if p < 0:
            growing.seen[f] = FREE
            growing.free[state[FREE_FACES]] = f
            state[FREE_FACES] += 1
            state[NEXT] += 1
        else:
            waiting[f] = after[p]
            if p != state[APEX]:
                after[p] = state[ORPHAN]
                state[ORPHAN] = p
    if state[NEXT] == state[VISIBLE]:
        enter(growing, JOIN)
    return spent


@kernel
def join_rim(growing: Growing, operations: int) -> int:
    """Put a new face between each edge of the rim and the apex."""
    state, rim = growing.state, growing.rim
    first = state[NEXT]
    last = min(state[RIM], first + operations)
    for k in range(first, last):
        if state[FREE_FACES] > 0:
            state[FREE_FACES] -= 1
            f = growing.free[state[FREE_FACES]]
        else:
            f = state[FACES]
            state[FACES] += 1
        write_face(growing, f, (rim[k, 0], rim[k, 1], state[APEX]), (rim[k, 2], -1, -1))
        growing.seen[f] = ALIVE
        growing.waiting[f] = -1
        growing.starting_at[rim[k, 0]] = f
        growing.visible[k] = f
        set_neighbour(growing.faces, growing.across, rim[k, 2], rim[k, 1], f)
    state[NEXT] = last
    if last == state[RIM]:
        enter(growing, LINK)
    return last - first


@kernel
def link_faces(growing: Growing, operations: int) -> int:
    """Make the new faces neighbours of each other."""
    state, across = growing.state, growing.across
    first = state[NEXT]
    last = min(state[RIM], first + operations)
    for k in range(first, last):
        f = growing.visible[k]
        following = growing.starting_at[growing.faces[f, 1]]
        across[f, 1] = following
        across[following, 2] = f
    state[NEXT] = last
    if last == state[RIM]:
        enter(growing, REASSIGN)
    return last - first


@kernel
def assign_orphans(points: Floats, growing: Growing, operations: int) -> int:
    """Assign the orphans to new faces that see them; the rest lie inside."""
    state, after = growing.state, growing.after
    spent = 0
    while state[ORPHAN] >= 0 and spent < operations:
        p = state[ORPHAN]
        k = state[NEXT]
        last = min(state[RIM], k + operations - spent)
        while k < last and not sees(points, growing.faces, growing.visible[k], p):
            k += 1
        spent += max(1, k - state[NEXT])
        state[NEXT] = k
        if k < last:
            state[ORPHAN] = after[p]
            assign_point(growing, growing.visible[k], p)
            state[NEXT] = 0
        elif k == state[RIM]:
            state[ORPHAN] = after[p]
            state[NEXT] = 0
    if state[ORPHAN] < 0:
        enter(growing, PICK)
    return spent


@kernel
def comes_before(points: Floats, p: int, q: int) -> bool:
    """Return whether p comes before q by x, then y, then z."""
    for k in range(3):
        if points[p, k] != points[q, k]:
            return points[p, k] < points[q, k]
    return False


@kernel
def normal_of(points: Floats, a: int, b: int, c: int) -> Vec3:
    """Return the normal of the triangle abc, with twice its area as length."""
    origin = point_at(points, a)
    return cross(minus(point_at(points, b), origin), minus(point_at(points, c), origin))


@kernel
def side(points: Floats, a: int, b: int, c: int, p: int) -> int:
    """Return the side of a point relative to the plane of three, exactly: 1 in front."""
    return orient3d(point_at(points, a), point_at(points, b), point_at(points, c), point_at(points, p))


@kernel
def sees(points: Floats, faces: NDArray[np.int64], f: int, p: int) -> bool:
    """Return whether a face has a point strictly in front of it."""
    return side(points, faces[f, 0], faces[f, 1], faces[f, 2], p) > 0


@kernel
def write_face(growing: Growing, f: int, corners: Corners, behind: Corners) -> None:
    """Write a face and its neighbours: `behind` edge k from corner k to the next."""
    for k in range(3):
        growing.faces[f, k], growing.across[f, k] = corners[k], behind[k]


@kernel
def set_neighbour(faces: NDArray[np.int64], across: NDArray[np.int64], f: int, start: int, new: int) -> None:
    """Set a face's new neighbour across its edge that begins at `start`."""
    for k in range(3):
        if faces[f, k] == start:
            across[f, k] = new


@kernel
def count_creases(points: Floats, growing: Growing, operations: int) -> int:
    """Count each point's edges between different planes: corners have three or more."""
    state, faces = growing.state, growing.faces
    first = state[NEXT]
    last = min(state[FACES], first + max(1, operations // 3))
    for f in range(first, last):
        if growing.seen[f] != ALIVE:
            continue
        for k in range(3):
            behind = growing.across[f, k]
            start = faces[f, k]
            for m in range(3):
                # The corner of the face behind that does not belong to the common edge.
                apex = faces[behind, m]
                own = apex != start and apex != faces[f, (k + 1) % 3]
                if own and side(points, faces[f, 0], faces[f, 1], faces[f, 2], apex) != 0:
                    growing.creases[start] += 1
    state[NEXT] = last
    if last == state[FACES]:
        enter(growing, DONE)
    return 3 * (last - first)
