"""Stage 2 (§3.4): list the faces of each body that meet its overlap regions.

All bodies share one checklist, sorted by body and face. Deviation: the paper tests each face against each region at once; here the
outcodes of its corners about the hull of the body's regions come first, and reject most faces at three bytes each. Nothing is lost,
since a face with all corners beyond one side of a box meets nothing in it. With one region and `BOXES` that is the whole test.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.triangle import Bounds, Triangle, bounds_meet, triangle_bounds, triangle_of_points
from jostle.geometry.triangle_box import triangle_meets_box_clip, triangle_meets_box_sat
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, Record, borrowed, int64, record_viewer
from jostle.methods.face_octree.work import AXES, BOXES, CLIP, Checklist, borrowed_faces, open_mesh

DONE, FULL, ENOUGH = range(3)  # why a search has stopped
NOTHING_CODED = -1
MANY_REGIONS = 8  # of a body: more than these are sorted by their lower x and searched


class WorldBodies(NamedTuple):
    """Bodies in the world.

    Body k of the list has the vertices offset[k] … offset[k + 1]-1 of `Checklist.world`.
    """

    bodies: Ints  # (k,)
    offset: NDArray[np.int64]  # (k+1,)
    codes: NDArray[np.uint8]  # (v,) room for the outcodes of vertices


class Regions(NamedTuple):
    """The overlap regions of body k of the list are boxes[first[k] : first[k + 1]]."""

    first: NDArray[np.int64]  # (k+1,)
    boxes: Floats  # (r,6)


class BodyRegions(NamedTuple):
    """The regions first … last-1 of a body; none is wider in x than `widest`."""

    first: int
    last: int
    widest: float


class Listing(Record):
    """Progress of the checklist, to resume after the arrays have grown."""

    next_body: int64
    next_face: int64
    faces: int64  # listed
    box_tests: int64
    coded: int64  # the body whose vertices have outcodes


view_listing = record_viewer(Listing)


@kernel(forceinline=True)
def face_meets_box(face: Triangle, box: Bounds, how: int, polygon: Any) -> bool:
    """Return whether a face meets a box; conservative."""
    if how == CLIP:
        return triangle_meets_box_clip(face, box, polygon)
    if how == AXES:
        return triangle_meets_box_sat(face, box)
    return bounds_meet(triangle_bounds(face), box)


@kernel(forceinline=True)
def region_at(regions: Floats, r: int) -> Bounds:
    """Return a region."""
    lower, upper = Vec3(regions[r, 0], regions[r, 1], regions[r, 2]), Vec3(regions[r, 3], regions[r, 4], regions[r, 5])
    return Bounds(lower, upper)


@kernel
def write_outcodes(world: Floats, start: int, stop: int, regions: Regions, body: int, codes: NDArray[np.uint8]) -> None:
    """Write outcodes of vertices about the hull of a body's regions, one bit per side."""
    lx = ly = lz = 1e300
    ux = uy = uz = -1e300
    for r in range(regions.first[body], regions.first[body + 1]):
        region = region_at(regions.boxes, r)
        lx, ly, lz = min(lx, region.lower.x), min(ly, region.lower.y), min(lz, region.lower.z)
        ux, uy, uz = max(ux, region.upper.x), max(uy, region.upper.y), max(uz, region.upper.z)
    for v in range(start, stop):
        x, y, z = world[v, 0], world[v, 1], world[v, 2]
        low = (x < lx) | ((y < ly) << 1) | ((z < lz) << 2)
        high = ((x > ux) << 3) | ((y > uy) << 4) | ((z > uz) << 5)
        codes[v] = low | high


@kernel
def first_region(boxes: Floats, first: int, last: int, x: float) -> int:
    """Return the first of regions first … last-1, sorted by lower x, not below x."""
    while first < last:
        middle = (first + last) >> 1
        if boxes[middle, 0] < x:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def meets_a_region(face: Triangle, own: BodyRegions, boxes: Floats, how: int, polygon: Floats, state: Listing) -> bool:
    """Return whether a face meets one of the regions of its body."""
    first, many = own.first, own.last - own.first > MANY_REGIONS
    highest = max(face.p.x, face.q.x, face.r.x)
    if many:
        first = first_region(boxes, first, own.last, min(face.p.x, face.q.x, face.r.x) - own.widest)
    for r in range(first, own.last):
        if many and boxes[r, 0] > highest:
            return False
        state.box_tests += 1
        if face_meets_box(face, region_at(boxes, r), how, polygon):
            return True
    return False


@kernel
def regions_of(regions: Regions, body: int) -> BodyRegions:
    """Return the regions of a body, and the largest width in x, rounded up."""
    first, last = regions.first[body], regions.first[body + 1]
    widest, largest = 0.0, 0.0
    for r in range(first, last):
        low, high = regions.boxes[r, 0], regions.boxes[r, 3]
        widest = max(widest, high - low)
        largest = max(largest, abs(low), abs(high))
    return BodyRegions(first, last, widest + 2.0**-50 * largest)


@kernel
def list_faces(
    meshes: Addresses,
    placed: WorldBodies,
    regions: Regions,
    how: int,
    operations: int,
    polygon: Floats,
    numbers: NDArray[np.int64],
    out: Checklist,
) -> int:
    """Write the checklist; returns why it stopped.

    Resumes from `numbers`, a `Listing`. World vertices are in out.world.
    """
    state, out = view_listing(numbers), borrowed_faces(out)
    offset, codes = borrowed(placed.offset), borrowed(placed.codes)
    regions = Regions(borrowed(regions.first), borrowed(regions.boxes))
    count, room = state.faces, out.owner.shape[0]
    limit = state.box_tests + operations
    for i in range(state.next_body, placed.bodies.shape[0]):
        own = regions_of(regions, i)
        if own.first == own.last:
            continue
        faces, start = open_mesh(meshes, as_int64(placed.bodies[i])).faces, offset[i]
        if state.coded != i:
            write_outcodes(out.world, start, offset[i + 1], regions, i, codes)
            state.coded = i
        decided = how == BOXES and own.first + 1 == own.last
        begin, end = state.next_face, len(faces)
        state.box_tests += end - begin
        for f in range(begin, end):
            corners = faces[f]
            p, q, r = start + corners.p, start + corners.q, start + corners.r
            if codes[p] & codes[q] & codes[r] != 0:
                continue
            if count == room or state.box_tests > limit + (end - begin):
                state.next_body, state.next_face, state.faces = i, f, count
                state.box_tests -= end - f
                return FULL if count == room else ENOUGH
            if not decided:
                face = triangle_of_points(out.world, p, q, r)
                if not meets_a_region(face, own, regions.boxes, how, polygon, state):
                    continue
            out.corner[count, 0], out.corner[count, 1], out.corner[count, 2] = p, q, r
            out.owner[count] = i
            out.face[count] = f
            count += 1
        state.next_face = 0
    state.next_body, state.faces = placed.bodies.shape[0], count
    return DONE
