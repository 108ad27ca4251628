"""The distance of two triangles as it is reported and compared with a clearance.

`closest_points_of_triangles` is right to 1.5e-14 of the size for triangles of every shape, but it works with unit vectors, and so
gives 3.9999999999999996 for two boxes on a grid that are 4 apart; a clearance of 4 would report them. CAD data lie on grids.
The textbook formulas below, in products of differences with one division at the end, have no rounding there at all but
for that division and the root; on needles they lose digits. So both are evaluated, and the textbook's value is taken where
it agrees with the other within the latter's error.
"""

import math

from jostle.geometry.aabb import boxes_squared_distance
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import cross, dot
from jostle.kernels.jit import kernel

AGREEMENT = 2.0**-45  # of the size: four times the error that closest_points_of_triangles states


@kernel
def distance_if_nearer(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz, clearance):
    """The distance of the triangles abc and pqr, which do not touch; infinite where their boxes are farther apart than `clearance`.

    Boxes first, everywhere: a distance just above the clearance may be rounded to one below it, so that two methods of which
    one asks the boxes and the other does not would disagree.
    """
    gap = boxes_squared_distance(
        min(ax, bx, cx), min(ay, by, cy), min(az, bz, cz), max(ax, bx, cx), max(ay, by, cy), max(az, bz, cz),
        min(px, qx, rx), min(py, qy, ry), min(pz, qz, rz), max(px, qx, rx), max(py, qy, ry), max(pz, qz, rz),
    )  # fmt: skip
    if gap > clearance * clearance:
        return math.inf
    return triangles_distance(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz)


@kernel
def triangles_distance(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz):
    """The distance of the closed triangles abc and pqr, which do not touch; exact but for two roundings on grids."""
    robust = closest_points_of_triangles(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz)[0]
    size = max(
        max(ax, bx, cx, px, qx, rx) - min(ax, bx, cx, px, qx, rx),
        max(ay, by, cy, py, qy, ry) - min(ay, by, cy, py, qy, ry),
        max(az, bz, cz, pz, qz, rz) - min(az, bz, cz, pz, qz, rz),
    )
    squared = math.inf
    for _ in range(3):
        squared = min(squared, corner_to_face(ax, ay, az, px, py, pz, qx, qy, qz, rx, ry, rz))
        squared = min(squared, corner_to_face(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz))
        for _ in range(3):
            squared = min(squared, edge_to_edge(ax, ay, az, bx, by, bz, px, py, pz, qx, qy, qz))
            squared = min(squared, corner_to_edge(ax, ay, az, px, py, pz, qx, qy, qz))
            squared = min(squared, corner_to_edge(px, py, pz, ax, ay, az, bx, by, bz))
            px, py, pz, qx, qy, qz, rx, ry, rz = qx, qy, qz, rx, ry, rz, px, py, pz
        # Both turn, the inner loop has brought pqr back: corner_to_face then meets every corner of either.
        ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
        px, py, pz, qx, qy, qz, rx, ry, rz = qx, qy, qz, rx, ry, rz, px, py, pz
    textbook = math.sqrt(squared)
    if abs(textbook - robust) <= AGREEMENT * size:
        return textbook
    return robust


@kernel
def corner_to_face(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """The squared distance of p from the plane of abc where p is over the triangle; infinite elsewhere."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = px - ax, py - ay, pz - az
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    squared = dot(nx, ny, nz, nx, ny, nz)
    beta = dot(nx, ny, nz, *cross(wx, wy, wz, vx, vy, vz))
    gamma = dot(nx, ny, nz, *cross(ux, uy, uz, wx, wy, wz))
    if squared == 0.0 or beta < 0.0 or gamma < 0.0 or beta + gamma > squared:
        return math.inf
    height = dot(nx, ny, nz, wx, wy, wz)
    return height * (height / squared)


@kernel
def corner_to_edge(px, py, pz, ax, ay, az, bx, by, bz):
    """The squared distance of p from the closed segment ab."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    wx, wy, wz = px - ax, py - ay, pz - az
    along = dot(wx, wy, wz, ex, ey, ez)
    squared = dot(ex, ey, ez, ex, ey, ez)
    if along <= 0.0:
        return dot(wx, wy, wz, wx, wy, wz)
    if along >= squared:
        wx, wy, wz = px - bx, py - by, pz - bz
        return dot(wx, wy, wz, wx, wy, wz)
    wx, wy, wz = cross(wx, wy, wz, ex, ey, ez)
    return dot(wx, wy, wz, wx, wy, wz) / squared


@kernel
def edge_to_edge(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """The squared distance of the lines ab and cd where their closest points are inside both segments; infinite elsewhere."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = dx - cx, dy - cy, dz - cz
    rx, ry, rz = cx - ax, cy - ay, cz - az
    nx, ny, nz = cross(ex, ey, ez, fx, fy, fz)
    squared = dot(nx, ny, nz, nx, ny, nz)
    s = dot(nx, ny, nz, *cross(rx, ry, rz, fx, fy, fz))
    t = dot(nx, ny, nz, *cross(rx, ry, rz, ex, ey, ez))
    if squared == 0.0 or s < 0.0 or s > squared or t < 0.0 or t > squared:
        return math.inf
    height = dot(nx, ny, nz, rx, ry, rz)
    return height * (height / squared)
