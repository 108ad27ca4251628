"""Collision response: exchange of velocities, and impulses at contact points.

"exchange" (Lock and Wills 2000, §7): two touching bodies exchange their velocities and invert their rotation. That they must
approach is ours: without it, bodies that overlap for several frames would exchange repeatedly. Energy and momentum are conserved
for equal masses, to the bit. A body without a finite mass (static or kinematic) reflects the other: the other's relative velocity
and rotation are inverted when the two begin to touch, or while their centres approach.

"impulse" is ours: at each point of contact where two bodies approach along the normal, an impulse along it with the restitution,
then friction: at most `friction` times that impulse, and at most enough to stop the slip. With j the impulse, u < 0 the approach
and K > 0 its change per unit impulse, energy changes by j u (1 - e) / 2 <= 0 for j = -(1 + e) u / K, and for friction t <= s / K
against a slip s by -t s + t² K / 2 <= -t s / 2 <= 0: it never grows, for any points and normals. Points are handled one after the
other, pairs in order, and repeatedly until none approaches, at most 32 times. Eight suffice for flying bodies; a stack of three
creeps with 16, and stands with 32. Momentum is conserved between bodies of finite mass. Overlapping bodies that do not approach are
left to part.
"""

import math

from jostle.kernels.jit import kernel
from jostle.sim.integrate import rotation_of

PASSES = 32


@kernel
def exchange_velocities(body_a, body_b, began, free, centre, velocity, spin):  # type: ignore[no-untyped-def]
    """Exchange velocities and invert spins of approaching pairs; return the count.

    began (p,) bool: whether the pair did not touch before; free (n,) bool: of finite mass; centre, velocity, spin (n,3).
    """
    answered = 0
    for pair in range(body_a.shape[0]):
        a, b = body_a[pair], body_b[pair]
        if not (free[a] or free[b]):
            continue
        approach = 0.0
        moving = False
        for k in range(3):
            relative = velocity[a, k] - velocity[b, k]
            approach += relative * (centre[b, k] - centre[a, k])
            moving = moving or relative != 0.0
        both = free[a] and free[b]
        if not (approach > 0.0 or (not both and began[pair] and moving)):
            continue
        answered += 1
        for k in range(3):
            va, vb = velocity[a, k], velocity[b, k]
            if both:
                velocity[a, k], velocity[b, k] = vb, va
            elif free[a]:
                velocity[a, k] = vb + (vb - va)
            else:
                velocity[b, k] = va + (va - vb)
            if free[a]:
                spin[a, k] = -spin[a, k]
            if free[b]:
                spin[b, k] = -spin[b, k]
    return answered


@kernel
def apply_impulses(  # type: ignore[no-untyped-def]
    pair_a, pair_b, pair_normal, points, count, inverse_mass, inverse_moments, centre, attitude, velocity, spin,
    restitution, slowest_bounce, friction,
):  # fmt: skip
    """Apply impulses at pairs' points (p,5,3) to velocity and spin; return the count.

    inverse_mass (n,), inverse_moments (n,3) along the principal axes, 0 for immovable bodies; attitude (n,4) quaternions.
    Points that approach no faster than `slowest_bounce` do not bounce.
    """
    total = 0
    for _ in range(PASSES):
        applied = 0
        for pair in range(pair_a.shape[0]):
            a, b = pair_a[pair], pair_b[pair]
            if inverse_mass[a] == 0.0 and inverse_mass[b] == 0.0:
                continue
            inertia_a = _inverse_inertia(attitude, inverse_moments, a)
            inertia_b = _inverse_inertia(attitude, inverse_moments, b)
            nx, ny, nz = pair_normal[pair, 0], pair_normal[pair, 1], pair_normal[pair, 2]
            for k in range(count[pair]):
                x, y, z = points[pair, k, 0], points[pair, k, 1], points[pair, k, 2]
                ux, uy, uz = _relative_velocity(a, b, x, y, z, centre, velocity, spin)
                along = (ux * nx + uy * ny) + uz * nz
                if not along < 0.0:
                    continue
                bounce = restitution if -along > slowest_bounce else 0.0
                push = -(1.0 + bounce) * along / _compliance(a, b, x, y, z, nx, ny, nz, centre, inverse_mass, inertia_a, inertia_b)
                _push(a, b, x, y, z, nx * push, ny * push, nz * push, centre, inverse_mass, inertia_a, inertia_b, velocity, spin)
                applied += 1
                if friction > 0.0:
                    ux, uy, uz = _relative_velocity(a, b, x, y, z, centre, velocity, spin)
                    along = (ux * nx + uy * ny) + uz * nz
                    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
                    slip = math.sqrt((ux * ux + uy * uy) + uz * uz)
                    if slip > 0.0:
                        tx, ty, tz = ux / slip, uy / slip, uz / slip
                        stop = slip / _compliance(a, b, x, y, z, tx, ty, tz, centre, inverse_mass, inertia_a, inertia_b)
                        hold = -min(friction * push, stop)
                        _push(
                            a, b, x, y, z, tx * hold, ty * hold, tz * hold,
                            centre, inverse_mass, inertia_a, inertia_b, velocity, spin,
                        )  # fmt: skip
        total += applied
        if applied == 0:
            break
    return total


@kernel
def _inverse_inertia(attitude, inverse_moments, body):  # type: ignore[no-untyped-def]
    """Return a body's inverse inertia in world axes: xx, yy, zz, yz, zx, xy."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_of(
        attitude[body, 0], attitude[body, 1], attitude[body, 2], attitude[body, 3]
    )
    i, j, k = inverse_moments[body, 0], inverse_moments[body, 1], inverse_moments[body, 2]
    return (
        (r00 * r00 * i + r01 * r01 * j) + r02 * r02 * k,
        (r10 * r10 * i + r11 * r11 * j) + r12 * r12 * k,
        (r20 * r20 * i + r21 * r21 * j) + r22 * r22 * k,
        (r10 * r20 * i + r11 * r21 * j) + r12 * r22 * k,
        (r20 * r00 * i + r21 * r01 * j) + r22 * r02 * k,
        (r00 * r10 * i + r01 * r11 * j) + r02 * r12 * k,
    )


@kernel
def _point_velocity(body, x, y, z, centre, velocity, spin):  # type: ignore[no-untyped-def]
    """Return the velocity of a point (x, y, z) of a body."""
    rx, ry, rz = x - centre[body, 0], y - centre[body, 1], z - centre[body, 2]
    sx, sy, sz = spin[body, 0], spin[body, 1], spin[body, 2]
    return velocity[body, 0] + (sy * rz - sz * ry), velocity[body, 1] + (sz * rx - sx * rz), velocity[body, 2] + (sx * ry - sy * rx)


@kernel
def _relative_velocity(a, b, x, y, z, centre, velocity, spin):  # type: ignore[no-untyped-def]
    """Return the velocity of b relative to a at a point."""
    ax, ay, az = _point_velocity(a, x, y, z, centre, velocity, spin)
    bx, by, bz = _point_velocity(b, x, y, z, centre, velocity, spin)
    return bx - ax, by - ay, bz - az


@kernel
def _spin_change(body, x, y, z, dx, dy, dz, centre, inertia):  # type: ignore[no-untyped-def]
    """Return a body's change of spin by an impulse at a point, and its moment."""
    rx, ry, rz = x - centre[body, 0], y - centre[body, 1], z - centre[body, 2]
    mx, my, mz = ry * dz - rz * dy, rz * dx - rx * dz, rx * dy - ry * dx
    xx, yy, zz, yz, zx, xy = inertia
    return (xx * mx + xy * my) + zx * mz, (xy * mx + yy * my) + yz * mz, (zx * mx + yz * my) + zz * mz, mx, my, mz


@kernel
def _compliance(a, b, x, y, z, dx, dy, dz, centre, inverse_mass, inertia_a, inertia_b):  # type: ignore[no-untyped-def]
    """Return the change of relative velocity along a direction per unit impulse."""
    ix, iy, iz, mx, my, mz = _spin_change(a, x, y, z, dx, dy, dz, centre, inertia_a)
    jx, jy, jz, kx, ky, kz = _spin_change(b, x, y, z, dx, dy, dz, centre, inertia_b)
    of_turns = ((ix * mx + iy * my) + iz * mz) + ((jx * kx + jy * ky) + jz * kz)
    return (inverse_mass[a] + inverse_mass[b]) + of_turns


@kernel
def _push(a, b, x, y, z, dx, dy, dz, centre, inverse_mass, inertia_a, inertia_b, velocity, spin):  # type: ignore[no-untyped-def]
    """Give the impulse (dx, dy, dz) at a point to b, and its opposite to a."""
    ix, iy, iz, _, _, _ = _spin_change(a, x, y, z, dx, dy, dz, centre, inertia_a)
    jx, jy, jz, _, _, _ = _spin_change(b, x, y, z, dx, dy, dz, centre, inertia_b)
    velocity[a, 0] -= inverse_mass[a] * dx
    velocity[a, 1] -= inverse_mass[a] * dy
    velocity[a, 2] -= inverse_mass[a] * dz
    velocity[b, 0] += inverse_mass[b] * dx
    velocity[b, 1] += inverse_mass[b] * dy
    velocity[b, 2] += inverse_mass[b] * dz
    spin[a, 0] -= ix
    spin[a, 1] -= iy
    spin[a, 2] -= iz
    spin[b, 0] += jx
    spin[b, 1] += jy
    spin[b, 2] += jz
