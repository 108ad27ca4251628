"""Newtonian motion over one step, body by body (Lock and Wills 2000, §7).

"explicit" is the paper's Euler: positions and orientations change by the old velocities, velocities by the old forces; with
gravity, and for tumbling bodies, energy may grow. "semi_implicit" changes velocities first, and integrates Euler's equations by the
implicit midpoint rule: in principal axes w = spin + dt/2 · k w w' with k0 = (I1 - I2) / I0, solved by a few sweeps. Then ½ ω·Iω is
conserved, and since the body turns by the Cayley map of dt w, so is its angular momentum in the world, both to rounding. Steps in
which a body turns by more than a quarter of a radian are cut into parts, at most 64; if the sweeps do not converge then, the body
keeps its spin in body axes, which conserves the energy too.

Orientations are unit quaternions (w, x, y, z), principal axes to world, normalised at every step, so poses stay rigid. Only sums,
products, quotients and roots are used, which every processor rounds alike.
"""

import math

import numpy as np

from jostle.geometry.vector import Vec3, length
from jostle.kernels.jit import kernel

SEMI_IMPLICIT, EXPLICIT = 0, 1
LARGEST_TURN = 0.25  # radians per part of a step; the Cayley map then turns at most 0.5 % too little
MOST_PARTS = 64
MOST_SWEEPS = 60
SETTLED = 4e-16  # relative change of a sweep
LARGEST_SIZE = 1e40  # of a spin: diverging sweeps stop before they overflow


@kernel
def rotation_of(qw, qx, qy, qz):  # type: ignore[no-untyped-def]
    """Return the rotation of a unit quaternion: nine numbers, row by row."""
    return (
        1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz), 2.0 * (qx * qz + qw * qy),
        2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx),
        2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy),
    )  # fmt: skip


@kernel
def turned_in_body(qw, qx, qy, qz, x, y, z):  # type: ignore[no-untyped-def]
    """Return the quaternion after the Cayley map of half a small turn, body axes."""
    w = (qw - qx * x) - (qy * y + qz * z)
    i = (qx + qw * x) + (qy * z - qz * y)
    j = (qy + qw * y) + (qz * x - qx * z)
    k = (qz + qw * z) + (qx * y - qy * x)
    scale = 1.0 / math.sqrt((w * w + i * i) + (j * j + k * k))
    return w * scale, i * scale, j * scale, k * scale


@kernel
def midpoint_spin(x, y, z, kx, ky, kz, half):  # type: ignore[no-untyped-def]
    """Return the mid-step spin of a tumbling body in principal axes.

    Where the sweeps do not settle, it is the spin itself.
    """
    kx, ky, kz = half * kx, half * ky, half * kz
    a, b, c = x, y, z
    for _ in range(MOST_SWEEPS):
        # The latest result is multiplied last: a sweep takes 24 cycles instead of 36.
        p = x + (kx * b) * c
        q = y + (ky * c) * p
        r = z + (kz * p) * q
        change, size = abs(p - a) + abs(q - b) + abs(r - c), abs(p) + abs(q) + abs(r)
        a, b, c = p, q, r
        if not size < LARGEST_SIZE:
            break
        if change <= SETTLED * size:
            return a, b, c
    return x, y, z


@kernel
def tumble(qw, qx, qy, qz, sx, sy, sz, kx, ky, kz, dt, integrator):  # type: ignore[no-untyped-def]
    """Return attitude and spin after a step without torque.

    Returns the quaternion and the spin, seven numbers. Spin is in world axes; (kx, ky, kz) are the quotients of the moments.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_of(qw, qx, qy, qz)
    x = (r00 * sx + r10 * sy) + r20 * sz
    y = (r01 * sx + r11 * sy) + r21 * sz
    z = (r02 * sx + r12 * sy) + r22 * sz
    if integrator == EXPLICIT:
        qw, qx, qy, qz = turned_in_body(qw, qx, qy, qz, 0.5 * dt * x, 0.5 * dt * y, 0.5 * dt * z)
        x, y, z = x + dt * (kx * (y * z)), y + dt * (ky * (z * x)), z + dt * (kz * (x * y))
    else:
        parts = int(min(max(np.ceil(dt * length(Vec3(x, y, z)) / LARGEST_TURN), 1.0), 1.0 * MOST_PARTS))
        half = 0.5 * dt / parts
        for _ in range(parts):
            a, b, c = midpoint_spin(x, y, z, kx, ky, kz, half)
            qw, qx, qy, qz = turned_in_body(qw, qx, qy, qz, half * a, half * b, half * c)
            x, y, z = 2.0 * a - x, 2.0 * b - y, 2.0 * c - z
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_of(qw, qx, qy, qz)
    return (
        qw, qx, qy, qz,
        (r00 * x + r01 * y) + r02 * z, (r10 * x + r11 * y) + r12 * z, (r20 * x + r21 * y) + r22 * z,
    )  # fmt: skip
