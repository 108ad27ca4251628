"""Back projection of facets that crossed (Guy and Debunne 2004, §5.3, §5.4).

The average plane of two facets has the normal m along n_a - n_b (the paper's average of two opposite normals vanishes). A facet
reaches towards it beyond its centre; Δ is the distance d of the centre minus this reach. Facets that meet have Δ_a + Δ_b <= 0, and
are moved so that both are 0, in proportion to their compliance. The paper uses the reach of the disc, r sin θ. Ours is that of the
triangle's corners, which is never more: then the plane lies between the two triangles and touches both, and bodies do not hover
(with discs a ball stood 1 % of its radius above its plate). If one facet is more than twice as large as the other, and the other is
above it, the plane is that of the large one: averages with leaning small ones would push a body along a smooth plate (measured:
0.15 m/s from rest). Planes are set once a step and move with their facets; their normals stay within a step.

The plane lies closer to the less compliant facet: at the surface of a static body, and finally closer to the stiffer of two soft
ones. Ours: the shares of one substep follow the masses, and the stiffness acts by pushing back in the next ones; shares by
stiffness would not push both bodies equally. Momentum is conserved.

A part of the projection undoes the approach of this substep: it stops the two (no bounce), and friction shifts them along the plane
against their slip, by at most `friction` times that part. The rest, an old overlap, changes positions but no velocity, so no
contact makes bodies faster. With `sticky` > 0 a pair that has met is held, and pulled back to Δ = 0, until it parts faster than
that within a substep (the paper's threshold on Δ, over time).

Rigid bodies apply the displacement to their frame: of all translations and rotations that bring the facet to the plane, the least
squares one, weighted by mass. Pairs are projected one after the other.
"""

import math
from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Ints
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.sim.integrate import rotation_of, turned_in_body
from jostle.sim.surfaces import RIGID, SOFT, displacement_of, facet_of, point_of, turned, turned_back, weighted_point

ALIKE = 2.0  # facets whose radii differ by a larger factor are not taken whole
ABOVE = 1e-3  # of a small facet's radius: tolerance for its centre to be above a large one
LARGEST_SHIFT = 0.01  # of an old overlap per substep, in radii of the smaller facet


class FacetPairs(NamedTuple):
    """Pairs of near facets; faces are rows of `Surfaces.face`."""

    body_a: Ints  # (p,)
    body_b: Ints
    face_a: Ints
    face_b: Ints
    side_a: Floats  # 1 or -1: the side of the triangle's normal with the other facet
    side_b: Floats
    work: Bools  # whether the pair is active; an active pair represents the others
    held: Bools  # whether the facets have met and not parted since
    gap: Floats  # Δ_a + Δ_b before the last projection, lengths
    slip: Floats  # relative speed of the two facets
    speed: Floats  # speed of the faster facet
    age: Floats  # seconds


class Planes(NamedTuple):
    """The average planes of pairs, set at the start of a step."""

    normal: Floats  # (p,3) from a to b, 0 where there is none
    reach: Floats  # (p,) sum of both facets' reaches towards the plane
    radius: Floats  # (p,) of the smaller facet
    anchor_a: Floats  # (p,3) the centre, relative to the face's middle (soft) or in principal axes (rigid)
    anchor_b: Floats


def planes_for(pairs: FacetPairs) -> Planes:
    """Return zeroed planes of pairs."""
    count = len(pairs.age)
    return Planes(np.zeros((count, 3)), np.zeros(count), np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3)))


@kernel(forceinline=True)
def average_normal(anx, any_, anz, bnx, bny, bnz):  # type: ignore[no-untyped-def]
    """Return the unit normal of two facets' average plane, from a to b, or 0."""
    x, y, z = anx - bnx, any_ - bny, anz - bnz
    size = math.sqrt((x * x + y * y) + z * z)
    if not size > 0.0:
        return 0.0, 0.0, 0.0
    return x / size, y / size, z / size


@kernel(forceinline=True)
def reach_of(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, mx, my, mz):  # type: ignore[no-untyped-def]
    """Return how far a triangle reaches along m beyond the point p."""
    return max(
        ((ax - px) * mx + (ay - py) * my) + (az - pz) * mz,
        ((bx - px) * mx + (by - py) * my) + (bz - pz) * mz,
        ((cx - px) * mx + (cy - py) * my) + (cz - pz) * mz,
    )


@kernel(forceinline=True)
def meeting_of(  # type: ignore[no-untyped-def]
    ax, ay, az, bx, by, bz, cx, cy, cz, side_a, dx, dy, dz, ex, ey, ez, fx, fy, fz, side_b
):  # fmt: skip
    """Return two triangles' average plane: normal, centres, reaches, least radius."""
    px, py, pz, anx, any_, anz, ra = facet_of(ax, ay, az, bx, by, bz, cx, cy, cz, side_a)
    qx, qy, qz, bnx, bny, bnz, rb = facet_of(dx, dy, dz, ex, ey, ez, fx, fy, fz, side_b)
    mx, my, mz = average_normal(anx, any_, anz, bnx, bny, bnz)
    least = min(ra, rb)
    if rb > ALIKE * ra:
        face_b = Triangle(Vec3(dx, dy, dz), Vec3(ex, ey, ez), Vec3(fx, fy, fz))
        (qx, qy, qz), squared = closest_point_on_triangle(Vec3(px, py, pz), face_b)
        off = ((px - qx) * bnx + (py - qy) * bny) + (pz - qz) * bnz
        if squared - off * off <= (ABOVE * ra) * (ABOVE * ra):
            mx, my, mz = -bnx, -bny, -bnz
        reach_a, reach_b = reach_of(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, mx, my, mz), 0.0
    elif ra > ALIKE * rb:
        face_a = Triangle(Vec3(ax, ay, az), Vec3(bx, by, bz), Vec3(cx, cy, cz))
        (px, py, pz), squared = closest_point_on_triangle(Vec3(qx, qy, qz), face_a)
        off = ((qx - px) * anx + (qy - py) * any_) + (qz - pz) * anz
        if squared - off * off <= (ABOVE * rb) * (ABOVE * rb):
            mx, my, mz = anx, any_, anz
        reach_a, reach_b = 0.0, reach_of(dx, dy, dz, ex, ey, ez, fx, fy, fz, qx, qy, qz, -mx, -my, -mz)
    else:
        reach_a = reach_of(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, mx, my, mz)
        reach_b = reach_of(dx, dy, dz, ex, ey, ez, fx, fy, fz, qx, qy, qz, -mx, -my, -mz)
    return mx, my, mz, px, py, pz, qx, qy, qz, reach_a, reach_b, least


@kernel
def set_planes(surfaces, nodes, frames, pairs, planes):  # type: ignore[no-untyped-def]
    """Write the average planes of all active pairs at the present positions."""
    for p in range(pairs.body_a.shape[0]):
        if not pairs.work[p]:
            continue
        a, b, fa, fb = pairs.body_a[p], pairs.body_b[p], pairs.face_a[p], pairs.face_b[p]
        ax, ay, az = point_of(surfaces, nodes, frames, a, surfaces.face[fa, 0])
        bx, by, bz = point_of(surfaces, nodes, frames, a, surfaces.face[fa, 1])
        cx, cy, cz = point_of(surfaces, nodes, frames, a, surfaces.face[fa, 2])
        dx, dy, dz = point_of(surfaces, nodes, frames, b, surfaces.face[fb, 0])
        ex, ey, ez = point_of(surfaces, nodes, frames, b, surfaces.face[fb, 1])
        fx, fy, fz = point_of(surfaces, nodes, frames, b, surfaces.face[fb, 2])
        mx, my, mz, px, py, pz, qx, qy, qz, reach_a, reach_b, radius = meeting_of(
            ax, ay, az, bx, by, bz, cx, cy, cz, pairs.side_a[p], dx, dy, dz, ex, ey, ez, fx, fy, fz, pairs.side_b[p]
        )  # fmt: skip
        planes.normal[p, 0], planes.normal[p, 1], planes.normal[p, 2] = mx, my, mz
        planes.reach[p] = reach_a + reach_b
        planes.radius[p] = radius
        ax, ay, az = anchor_of(surfaces, nodes, frames, a, fa, px, py, pz)
        bx, by, bz = anchor_of(surfaces, nodes, frames, b, fb, qx, qy, qz)
        planes.anchor_a[p, 0], planes.anchor_a[p, 1], planes.anchor_a[p, 2] = ax, ay, az
        planes.anchor_b[p, 0], planes.anchor_b[p, 1], planes.anchor_b[p, 2] = bx, by, bz


@kernel
def anchor_of(surfaces, nodes, frames, body, face, x, y, z):  # type: ignore[no-untyped-def]
    """Return the attachment of (x, y, z) to a soft face's centre or a rigid frame."""
    if surfaces.kind[body] == SOFT:
        mx, my, mz = weighted_point(surfaces.face_node, surfaces.face_weight, nodes.place, face)
        return x - mx, y - my, z - mz
    rx, ry, rz = x - frames.centre[body, 0], y - frames.centre[body, 1], z - frames.centre[body, 2]
    return turned_back(frames.rotation, body, rx, ry, rz)


@kernel(forceinline=True)
def anchored(kind, face_node, face_weight, place, centre, rotation, body, face, anchor, p):  # type: ignore[no-untyped-def]
    """Return the present position of an anchor (pairs,3)."""
    if kind[body] == SOFT:
        x, y, z = weighted_point(face_node, face_weight, place, face)
        return x + anchor[p, 0], y + anchor[p, 1], z + anchor[p, 2]
    x, y, z = turned(rotation, body, anchor[p, 0], anchor[p, 1], anchor[p, 2])
    return centre[body, 0] + x, centre[body, 1] + y, centre[body, 2] + z


@kernel(forceinline=True)
def compliance_of(surfaces, nodes, frames, body, face, x, y, z, mx, my, mz):  # type: ignore[no-untyped-def]
    """Return the compliance of a face at the point (x, y, z) along m."""
    if surfaces.kind[body] == SOFT:
        total = 0.0
        for k in range(8):
            weight = surfaces.face_weight[face, k]
            total += nodes.inverse_mass[surfaces.face_node[face, k]] * (weight * weight)
        return total
    rx, ry, rz = x - frames.centre[body, 0], y - frames.centre[body, 1], z - frames.centre[body, 2]
    tx, ty, tz = turned_back(frames.rotation, body, ry * mz - rz * my, rz * mx - rx * mz, rx * my - ry * mx)
    of_turn = (frames.inverse_moments[body, 0] * (tx * tx) + frames.inverse_moments[body, 1] * (ty * ty)) + (
        frames.inverse_moments[body, 2] * (tz * tz)
    )
    return frames.inverse_mass[body] + of_turn


@kernel(forceinline=True)
def push(surfaces, nodes, frames, body, face, x, y, z, dx, dy, dz, moving, h):  # type: ignore[no-untyped-def]
    """Displace a face at (x, y, z) by the push d; a share `moving` gives velocity."""
    if surfaces.kind[body] == SOFT:
        for k in range(8):
            n = surfaces.face_node[face, k]
            share = nodes.inverse_mass[n] * surfaces.face_weight[face, k]
            still = share * (1.0 - moving)
            nodes.place[n, 0] += share * dx
            nodes.place[n, 1] += share * dy
            nodes.place[n, 2] += share * dz
            nodes.before[n, 0] += still * dx
            nodes.before[n, 1] += still * dy
            nodes.before[n, 2] += still * dz
    elif surfaces.kind[body] == RIGID:
        rx, ry, rz = x - frames.centre[body, 0], y - frames.centre[body, 1], z - frames.centre[body, 2]
        tx, ty, tz = turned_back(frames.rotation, body, ry * dz - rz * dy, rz * dx - rx * dz, rx * dy - ry * dx)
        tx, ty, tz = (
            frames.inverse_moments[body, 0] * tx,
            frames.inverse_moments[body, 1] * ty,
            frames.inverse_moments[body, 2] * tz,
        )
        mass = frames.inverse_mass[body]
        frames.centre[body, 0] += mass * dx
        frames.centre[body, 1] += mass * dy
        frames.centre[body, 2] += mass * dz
        frames.velocity[body, 0] += moving * mass * dx / h
        frames.velocity[body, 1] += moving * mass * dy / h
        frames.velocity[body, 2] += moving * mass * dz / h
        sx, sy, sz = turned(frames.rotation, body, tx, ty, tz)
        frames.spin[body, 0] += moving * sx / h
        frames.spin[body, 1] += moving * sy / h
        frames.spin[body, 2] += moving * sz / h
        write_attitude(
            frames,
            body,
            turned_in_body(
                frames.attitude[body, 0], frames.attitude[body, 1], frames.attitude[body, 2], frames.attitude[body, 3],
                0.5 * tx, 0.5 * ty, 0.5 * tz,
            ),
        )  # fmt: skip


@kernel(forceinline=True)
def write_attitude(frames, body, attitude):  # type: ignore[no-untyped-def]
    """Set the attitude of a body, and its rotation matrix."""
    w, x, y, z = attitude
    frames.attitude[body, 0], frames.attitude[body, 1], frames.attitude[body, 2], frames.attitude[body, 3] = w, x, y, z
    r = rotation_of(w, x, y, z)
    for k in range(9):
        frames.rotation[body, k] = r[k]


@kernel
def project_pairs(surfaces, nodes, frames, pairs, planes, h, friction, sticky, backwards):  # type: ignore[no-untyped-def]
    """Project all active pairs back once, in order; return how many needed it."""
    done = 0
    count = pairs.body_a.shape[0]
    # Unpacked first: reading arrays through the tuples makes the loop twice as slow.
    kind, face_node, face_weight, place = surfaces.kind, surfaces.face_node, surfaces.face_weight, nodes.place
    body_a, body_b, face_a, face_b = pairs.body_a, pairs.body_b, pairs.face_a, pairs.face_b
    work, held, gaps = pairs.work, pairs.held, pairs.gap
    normal, reach, anchor_a, anchor_b = planes.normal, planes.reach, planes.anchor_a, planes.anchor_b
    centre, rotation = frames.centre, frames.rotation
    for q in range(count):
        p = count - 1 - q if backwards else q
        mx, my, mz = normal[p, 0], normal[p, 1], normal[p, 2]
        if not work[p] or (mx == 0.0 and my == 0.0 and mz == 0.0):
            continue
        px, py, pz = anchored(kind, face_node, face_weight, place, centre, rotation, body_a[p], face_a[p], anchor_a, p)
        qx, qy, qz = anchored(kind, face_node, face_weight, place, centre, rotation, body_b[p], face_b[p], anchor_b, p)
        gap = ((mx * (qx - px) + my * (qy - py)) + mz * (qz - pz)) - reach[p]
        gaps[p] = gap
        if gap <= 0.0:
            held[p] = True
        elif gap > sticky * h:
            held[p] = False
        if held[p]:
            done += project_pair(surfaces, nodes, frames, pairs, p, px, py, pz, qx, qy, qz, mx, my, mz, gap,
                                 LARGEST_SHIFT * planes.radius[p], h, friction)  # fmt: skip
    return done


@kernel
def project_pair(  # type: ignore[no-untyped-def]
    surfaces, nodes, frames, pairs, p, px, py, pz, qx, qy, qz, mx, my, mz, gap, most, h, friction
):  # fmt: skip
    """Project one pair back to its plane; return 1, or 0 if neither can move."""
    a, b, fa, fb = pairs.body_a[p], pairs.body_b[p], pairs.face_a[p], pairs.face_b[p]
    give_a = compliance_of(surfaces, nodes, frames, a, fa, px, py, pz, mx, my, mz)
    give_b = compliance_of(surfaces, nodes, frames, b, fb, qx, qy, qz, mx, my, mz)
    if not give_a + give_b > 0.0:
        return 0
    wax, way, waz = displacement_of(surfaces, nodes, frames, a, fa, px, py, pz, h)
    wbx, wby, wbz = displacement_of(surfaces, nodes, frames, b, fb, qx, qy, qz, h)
    ux, uy, uz = wbx - wax, wby - way, wbz - waz
    parting = (mx * ux + my * uy) + mz * uz
    # Undoing the motion of this substep stops the two; the rest is an old overlap, and only shifts them.
    if gap <= 0.0:
        stop = min(-gap, max(-parting, 0.0))
        shift = min(-gap - stop, most)
    else:
        stop = max(-gap, min(-parting, 0.0))
        shift = max(-gap - stop, -most)
    size = (stop + shift) / (give_a + give_b)
    moving = stop / (stop + shift) if stop + shift != 0.0 else 0.0
    push(surfaces, nodes, frames, a, fa, px, py, pz, -size * mx, -size * my, -size * mz, moving, h)
    push(surfaces, nodes, frames, b, fb, qx, qy, qz, size * mx, size * my, size * mz, moving, h)
    if friction > 0.0 and stop > 0.0:
        apply_friction(
            surfaces, nodes, frames, pairs, p, px, py, pz, qx, qy, qz, mx, my, mz, h, friction * (stop / (give_a + give_b))
        )
    return 1


@kernel(forceinline=True)
def apply_friction(surfaces, nodes, frames, pairs, p, px, py, pz, qx, qy, qz, mx, my, mz, h, most):  # type: ignore[no-untyped-def]
    """Shift a pair along its plane against this substep's slip, by at most `most`."""
    a, b, fa, fb = pairs.body_a[p], pairs.body_b[p], pairs.face_a[p], pairs.face_b[p]
    wax, way, waz = displacement_of(surfaces, nodes, frames, a, fa, px, py, pz, h)
    wbx, wby, wbz = displacement_of(surfaces, nodes, frames, b, fb, qx, qy, qz, h)
    ux, uy, uz = wbx - wax, wby - way, wbz - waz
    parting = (mx * ux + my * uy) + mz * uz
    ux, uy, uz = ux - parting * mx, uy - parting * my, uz - parting * mz
    slip = math.sqrt((ux * ux + uy * uy) + uz * uz)
    if not slip > 0.0:
        return
    ux, uy, uz = ux / slip, uy / slip, uz / slip
    give_a = compliance_of(surfaces, nodes, frames, a, fa, px, py, pz, ux, uy, uz)
    give_b = compliance_of(surfaces, nodes, frames, b, fb, qx, qy, qz, ux, uy, uz)
    size = min(most, slip / (give_a + give_b))
    push(surfaces, nodes, frames, a, fa, px, py, pz, size * ux, size * uy, size * uz, 1.0, h)
    push(surfaces, nodes, frames, b, fb, qx, qy, qz, -size * ux, -size * uy, -size * uz, 1.0, h)
