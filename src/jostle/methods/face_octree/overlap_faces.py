"""Stage 2 (§3.4): the faces of each body that meet one of its overlap regions go on its face checklist.

All checklists are one, sorted by body and face. Before a face is looked at, its corners' outcodes about the hull of the
body's regions are: most faces end there, at three bytes each. Deviation from the paper, which tests each face against each
region at once; nothing is lost, since a face with all corners beyond one side of a box meets nothing in it. With one region
and `BOXES` that is the whole test.
"""

from __future__ import annotations

from jostle.geometry.triangle import Bounds, bounds_meet, triangle_bounds, triangle_of_points
from jostle.geometry.triangle_box import triangle_meets_box_clip, triangle_meets_box_sat
from jostle.geometry.vector import Vec3
from jostle.kernels.handles import int32_at
from jostle.kernels.jit import kernel

# How a face is tested against a box (§3.7 and §2.3): by its box, exactly by the paper's clipping, exactly by separating axes.
BOXES, CLIP, AXES = 0, 1, 2
# The state of the search, so that it can go on after the arrays have grown.
NEXT_BODY, NEXT_FACE, FACES, BOX_TESTS, CODED = range(5)
STATE = 5
# Why it has stopped.
DONE, FULL, ENOUGH = range(3)
MANY_REGIONS = 8  # of a body: more than these come in the order of their lower x, and are searched


@kernel
def face_meets_box(world, a, b, c, lx, ly, lz, ux, uy, uz, how, polygon):
    """Whether the face of vertices a, b, c of world (n,3) meets a box: never wrongly no."""
    triangle, box = triangle_of_points(world, a, b, c), Bounds(Vec3(lx, ly, lz), Vec3(ux, uy, uz))
    if how == CLIP:
        return triangle_meets_box_clip(triangle, box, polygon)
    if how == AXES:
        return triangle_meets_box_sat(triangle, box)
    return bounds_meet(triangle_bounds(triangle), box)


@kernel
def write_outcodes(world, start, stop, first_region, last_region, regions, codes):
    """Write for each vertex which sides of the hull of some regions it is beyond, one bit for each side."""
    lx = ly = lz = 1e300
    ux = uy = uz = -1e300
    for r in range(first_region, last_region):
        lx, ly, lz = min(lx, regions[r, 0]), min(ly, regions[r, 1]), min(lz, regions[r, 2])
        ux, uy, uz = max(ux, regions[r, 3]), max(uy, regions[r, 4]), max(uz, regions[r, 5])
    for v in range(start, stop):
        x, y, z = world[v, 0], world[v, 1], world[v, 2]
        low = (x < lx) | ((y < ly) << 1) | ((z < lz) << 2)
        high = ((x > ux) << 3) | ((y > uy) << 4) | ((z > uz) << 5)
        codes[v] = low | high


@kernel
def first_region(regions, first, last, x):
    """Return the first of the regions first … last-1 whose lower x is not below x; they are in the order of it."""
    while first < last:
        middle = (first + last) >> 1
        if regions[middle, 0] < x:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def meets_a_region(world, a, b, c, first, last, widest, regions, how, polygon, state):
    """Whether a face meets one of the regions first … last-1, of which none is wider in x than `widest`."""
    highest = max(world[a, 0], world[b, 0], world[c, 0])
    many = last - first > MANY_REGIONS
    if many:
        lowest = min(world[a, 0], world[b, 0], world[c, 0])
        first = first_region(regions, first, last, lowest - widest)
    for r in range(first, last):
        if many and regions[r, 0] > highest:
            return False
        state[BOX_TESTS] += 1
        if face_meets_box(
            world, a, b, c, regions[r, 0], regions[r, 1], regions[r, 2], regions[r, 3], regions[r, 4], regions[r, 5], how, polygon
        ):
            return True
    return False


@kernel
def widest_region(regions, first, last):
    """Return how wide the widest of some regions is in x, rounded up."""
    widest = 0.0
    largest = 0.0
    for r in range(first, last):
        widest = max(widest, regions[r, 3] - regions[r, 0])
        largest = max(largest, abs(regions[r, 0]), abs(regions[r, 3]))
    return widest + 2.0**-50 * largest


@kernel
def list_faces(bodies, addresses, offset, world, first, regions, how, operations, codes, polygon, state, corner, owner, face):
    """Write the checklist: corners (c,3) as vertices of world, owner (place in the list of bodies), face; say why it stopped."""
    count = state[FACES]
    room = owner.shape[0]
    limit = state[BOX_TESTS] + operations
    for i in range(state[NEXT_BODY], bodies.shape[0]):
        if first[i] == first[i + 1]:
            continue
        faces = int32_at(addresses[bodies[i], 2], addresses[bodies[i], 3])
        start = offset[i]
        if state[CODED] != i:
            write_outcodes(world, start, offset[i + 1], first[i], first[i + 1], regions, codes)
            state[CODED] = i
        decided = how == BOXES and first[i] + 1 == first[i + 1]
        widest = widest_region(regions, first[i], first[i + 1])
        body_codes = codes[start : offset[i + 1]]
        begin, end = state[NEXT_FACE], faces.shape[0] // 3
        state[BOX_TESTS] += end - begin
        for f in range(begin, end):
            a, b, c = faces[3 * f], faces[3 * f + 1], faces[3 * f + 2]
            if body_codes[a] & body_codes[b] & body_codes[c] != 0:
                continue
            if count == room or state[BOX_TESTS] > limit + (end - begin):
                state[NEXT_BODY], state[NEXT_FACE], state[FACES] = i, f, count
                state[BOX_TESTS] -= end - f
                return FULL if count == room else ENOUGH
            a, b, c = start + a, start + b, start + c
            if not decided and not meets_a_region(world, a, b, c, first[i], first[i + 1], widest, regions, how, polygon, state):
                continue
            corner[count, 0], corner[count, 1], corner[count, 2] = a, b, c
            owner[count] = i
            face[count] = f
            count += 1
        state[NEXT_FACE] = 0
    state[NEXT_BODY], state[FACES] = bodies.shape[0], count
    return DONE
