"""Hands that bend: one closed surface of exactly 960 faces, or convex capsules.

In Baciu, Wong, Sun 1998 two hands of convex parts close on a ball (§5.4, table 1); the users of Kitamura et al. 1998 grasp with
deforming ones (§4.3). The faces do not depend on the bend, so a deforming hand is `hand(bend).vertices` over time. A finger bends
along a smooth curve whose radius at the joints exceeds the finger's own, so its skin does not fold within the accepted bends.

Layout: a palm of 7 rings of 20 points with a wrist cap of 8 by 2 cells, four fingers of 8 rings and a thumb of 9 rings of 8 points,
grown from cells of the palm: 480 quads, 960 triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats, Longs
from jostle.errors import InputError
from jostle.shapes.build.convex import with_bulging_diagonals
from jostle.shapes.build.primitives import truncated_cone
from jostle.shapes.build.rings import fan, strip
from jostle.shapes.mesh import Mesh

LARGEST_BEND = 1.2  # radians per joint: a fist; beyond it fingertips would enter the palm
LEAST_BEND = -0.2
LARGEST_SPREAD = 0.25

FINGERS = ("thumb", "index", "middle", "ring", "little")
_PALM_ROWS = (0.0, 0.10, 0.19, 0.27, 0.34, 0.40, 0.45)
_THUMB_ROW = 2  # the thumb grows from the palm's side, from this row to the second next
_JOINTS = (0.10, 0.50, 0.76)  # along the finger
_SHARES = (1.0, 1.1, 0.7)  # of the bend, by joint
_JOINT_LENGTH = 0.24  # part of the finger's length over which a joint turns
_FINGER_ROWS = (0.13, 0.27, 0.40, 0.50, 0.60, 0.72, 0.84, 0.945)
_THUMB_ROWS = (0.11, 0.21, 0.32, 0.43, 0.54, 0.65, 0.76, 0.87, 0.955)


class _Finger(NamedTuple):
    root: Floats  # where the curve begins
    frame: Floats  # rows: side, back and direction at the root, right-handed
    hinge: Floats  # axis about which it bends, a unit vector
    length: float
    radius: float
    bend: float
    set_back: float = 0.0  # rotation about z in the first half of its length, for any bend


def hand(bend: Sequence[float] | float = 0.0, spread: float = 0.08) -> Mesh:
    """Return a right hand with exactly 960 faces.

    Wrist at y = 0, fingers along +y, palm towards -z, thumb towards -x.

    The hand is about 0.95 long. Faces do not depend on the arguments: `hand(b).with_vertices(...)` and deforming bodies may
    use the vertices of any other bend.

    Parameters
    ----------
    bend : float, or five floats
        Bend of each joint of thumb, index, middle, ring and little finger, -0.2 … 1.2 radians; one number bends all (0 is a flat
        hand, 1.2 a fist).
    spread : float
        Radians between neighbouring fingers at the root, 0 … 0.25.
    """
    fingers = _fingers(bend, spread)
    points, faces = _palm()
    for k in range(1, 5):
        points, faces = _grow(points, faces, _finger_cell(k - 1), fingers[k], _FINGER_ROWS)
    points, faces = _grow(points, faces, _thumb_hole(), fingers[0], _THUMB_ROWS)
    used, compact = np.unique(np.vstack(faces), return_inverse=True)  # without the middle of the thumb's hole
    return Mesh(points[used], compact.reshape(-1, 3), name="hand")


def hand_of_capsules(face_count: int = 930, bend: Sequence[float] | float = 0.0, spread: float = 0.08) -> list[Mesh]:
    """Return the same hand as 19 convex capsules with about `face_count` faces.

    The actual face count is a multiple of 76.

    Four bones of the palm and one of the thumb's root, three bones for each finger, two for the thumb. Neighbouring capsules
    share a ball at their joint, so they overlap; give a hand's capsules one group.
    """
    total = cast.as_count(face_count, "face_count", lowest=1)
    fingers = _fingers(bend, spread)
    bones: list[tuple[Floats, Floats, float, float]] = []
    for finger, wrist_x in zip(fingers, (-0.10, -0.075, -0.025, 0.025, 0.075), strict=True):
        stops = (0.0, 0.5, 1.0) if finger is fingers[0] else (0.0, 0.5, 0.76, 1.0)
        centres, _ = _curve(finger, np.array(stops) * (1.0 - finger.radius / finger.length))
        thickness = finger.radius * np.array([1.15, 1.0, 0.92, 0.85])
        bones.append((np.array([wrist_x, 0.06, 0.0]), centres[0], 0.05, float(finger.radius * 1.25)))
        bones += [(centres[k], centres[k + 1], float(thickness[k]), float(thickness[k + 1])) for k in range(len(stops) - 1)]
    cap_rings = max(1, round((total / (len(bones) * 16)) ** 0.5))
    segments = max(3, round(total / (len(bones) * 4 * cap_rings)))
    return [_bone(*bone, segments, cap_rings, f"bone {k} of a hand") for k, bone in enumerate(bones)]


def _as_bends(bend: Sequence[float] | float) -> list[float]:
    bends = [bend] * 5 if np.ndim(bend) == 0 else list(bend)  # type: ignore[arg-type]
    if len(bends) != 5:
        raise InputError(f"bend has {len(bends)} entries; pass one number or five ({', '.join(FINGERS)})")
    fields = [f"bend[{k}] ({finger})" for k, finger in enumerate(FINGERS)]
    return [
        cast.as_number_between(value, field, LEAST_BEND, LARGEST_BEND, "radians")  # type: ignore[arg-type]
        for value, field in zip(bends, fields, strict=True)
    ]


def _fingers(bend: Sequence[float] | float, spread: float) -> list[_Finger]:
    """Return thumb, index, middle, ring and little finger."""
    bends, spread = _as_bends(bend), cast.as_number_between(spread, "spread", 0.0, LARGEST_SPREAD, "radians")
    fingers = [_thumb(bends[0])]
    for k, (length, radius) in enumerate(((0.40, 0.046), (0.44, 0.047), (0.405, 0.045), (0.32, 0.040))):
        x, y = _knuckle(2 * k + 1)
        turn = (1.5 - k) * spread
        direction = np.array([-np.sin(turn), np.cos(turn), 0.0])
        side, back = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([0.0, 0.0, 1.0])
        # Rows make a right-handed frame with back × side = direction: rings run from the back towards the side.
        fingers.append(_Finger(np.array([x, y, 0.0]), np.stack([side, back, direction]), -side, length, radius, bends[k + 1]))
    return fingers


def _thumb(bend: float) -> _Finger:
    """Return the thumb: it leaves the palm at a right angle, then turns forward."""
    direction = np.array([-0.95, 0.0, -0.30])
    direction /= np.linalg.norm(direction)
    back = np.array([direction[2], 0.0, -direction[0]])
    side = np.cross(direction, back)  # towards the index finger
    # It bends in front of the palm, beside the index finger, without touching it.
    towards = np.array([0.15, 0.25, -0.95])
    hinge = np.cross(direction, towards)
    row = _THUMB_ROW + 1
    root = np.array([-_half_width(_PALM_ROWS[row]) + 0.012, _PALM_ROWS[row], 0.0])
    return _Finger(root, np.stack([side, back, direction]), hinge / np.linalg.norm(hinge), 0.42, 0.052, 0.48 * bend, set_back=-0.95)


def _half_width(y: float) -> float:
    """Return half the palm's width: a narrow wrist that widens to the knuckles."""
    t = np.clip((y - 0.02) / 0.33, 0.0, 1.0)
    return float(0.125 + 0.085 * t * t * (3.0 - 2.0 * t))


def _knuckle(column: int) -> tuple[float, float]:
    """Return (x, y) of one of the 9 columns at the top of the palm.

    The middle finger's is highest.
    """
    x = _half_width(_PALM_ROWS[-1]) * (column / 4.0 - 1.0)
    return float(x), float(_PALM_ROWS[-1] - 1.0 * (x + 0.05) ** 2)


def _palm() -> tuple[Floats, list[Longs]]:
    """Return the palm's points and its faces without top and hole.

    Points 0 … 139 are 7 rings of 20, followed by 7 points inside the wrist cap and 3 webs between fingers.
    """
    rings = [_palm_ring(row) for row in range(7)]
    cap = np.stack([_half_width(0.0) * (np.arange(1, 8) / 4.0 - 1.0), np.full(7, -0.012), np.zeros(7)], axis=1)
    webs = np.array([(*_knuckle(column), 0.0) for column in (2, 4, 6)])
    points = np.vstack([*rings, cap, webs])
    faces = []
    for row in range(6):
        quads = strip(np.arange(20) + 20 * row, np.arange(20) + 20 * (row + 1))
        in_hole = (quads % 20 >= 18) | (quads % 20 == 0)
        hole = in_hole.all(axis=1) & (_THUMB_ROW <= row < _THUMB_ROW + 2)
        faces.append(quads[~hole])
    back, front = np.arange(9), np.arange(18, 9, -1)  # both from -x to +x
    middle = np.concatenate([[19], np.arange(140, 147), [9]])
    for near, far in ((back, middle), (middle, front)):
        for k in range(8):
            faces.append(np.array([(near[k], far[k], far[k + 1]), (near[k], far[k + 1], near[k + 1])]))
    return points, faces


def _palm_ring(row: int) -> Floats:
    """Return a ring of the palm: back row, +x side, front row, -x side."""
    y = _PALM_ROWS[row]
    u = np.arange(9) / 4.0 - 1.0
    width = _half_width(y)
    half_thickness = 0.062 - 0.022 * (y / 0.45) ** 2
    profile = half_thickness * np.sqrt(1.0 - 0.62 * np.abs(u) ** 3)
    # The palm's hollow, and the ball of the thumb beside it.
    hollow = 0.012 * np.exp(-(((y - 0.26) / 0.12) ** 2)) * (np.exp(-((u / 0.5) ** 2)) - 1.1 * np.exp(-(((u + 0.75) / 0.3) ** 2)))
    x = width * u * 0.985
    top = np.array([_knuckle(column)[1] for column in range(9)])
    heights = top if row == 6 else y + (top - 0.45) * max(row - 2, 0) / 4.0
    back = np.stack([x, heights, profile], axis=1)
    front = np.stack([x, heights, -profile + hollow], axis=1)[::-1]
    sides = [np.array([[s * width, heights[0 if s < 0 else -1], 0.0]]) for s in (1.0, -1.0)]
    return np.vstack([back, sides[0], front, sides[1]])


def _finger_cell(k: int) -> Longs:
    """Return the 8 palm vertices around finger k's root: back, side, front, side."""
    left, top = 2 * k, 120
    webs = {2: 147, 4: 148, 6: 149}
    right_side = webs.get(left + 2, top + 9)
    left_side = webs.get(left, top + 19)
    back = [top + left, top + left + 1, top + left + 2]
    front = [top + 18 - (left + 2), top + 18 - (left + 1), top + 18 - left]
    return np.array([*back, right_side, *front, left_side])


def _thumb_hole() -> Longs:
    """Return the 8 palm vertices around the thumb's hole, as in a finger's cell."""
    low, middle, high = (20 * (_THUMB_ROW + k) for k in range(3))
    # Towards the thumb's tip the index finger's side (high row) is on the right, the back of the hand above.
    return np.array([low, middle, high, high + 19, high + 18, middle + 18, low + 18, low + 19])


def _grow(points: Floats, faces: list[Longs], base: Longs, finger: _Finger, rows: Sequence[float]) -> tuple[Floats, list[Longs]]:
    """Add a finger on a ring of 8 vertices: rings along its curve and a tip."""
    centres, frames = _curve(finger, np.array([*rows, 1.0]))
    angle = np.radians([135.0, 90.0, 45.0, 0.0, -45.0, -90.0, -135.0, 180.0])
    rings = []
    for k, t in enumerate(rows):
        radius = finger.radius * _thickness(t)
        side, back = frames[k, 0], frames[k, 1]
        rings.append(centres[k] + radius * (np.cos(angle)[:, None] * side + 0.92 * np.sin(angle)[:, None] * back))
    start = len(points)
    ring_numbers = [base, *(np.arange(8) + start + 8 * k for k in range(len(rows)))]
    new_faces = [strip(lower, upper) for lower, upper in pairwise(ring_numbers)]
    new_faces.append(fan(start + 8 * len(rows), ring_numbers[-1]))
    return np.vstack([points, *rings, centres[-1:]]), [*faces, *new_faces]


def _thickness(t: float) -> float:
    """Return a finger's thickness: swollen at the joints, round at the tip."""
    joints = sum(0.07 * np.exp(-(((t - joint) / 0.07) ** 2)) for joint in _JOINTS[1:])
    return float((1.12 - 0.22 * t + joints) * (1.0 - max(0.0, (t - 0.74) / 0.29) ** 2.5))


def _curve(finger: _Finger, at: Floats) -> tuple[Floats, Floats]:
    """Return points (k, 3) and frames (k, 3, 3) at fractions of a finger's length."""
    steps = 480
    t = np.linspace(0.0, 1.0, steps + 1)
    parts = [share * _smooth_step((t - joint) / _JOINT_LENGTH + 0.5) for joint, share in zip(_JOINTS, _SHARES, strict=True)]
    turned = finger.bend * np.sum(parts, axis=0)
    frames = np.stack([_rotated(row, finger.hinge, turned) for row in finger.frame], axis=1)
    if finger.set_back:
        c, s = np.cos(finger.set_back * _smooth_step(t / 0.5))[:, None], np.sin(finger.set_back * _smooth_step(t / 0.5))[:, None]
        x, y, z = frames[:, :, 0], frames[:, :, 1], frames[:, :, 2]
        frames = np.stack([c * x - s * y, s * x + c * y, z], axis=2)
    direction = frames[:, 2]
    middles = (direction[1:] + direction[:-1]) / 2.0
    centres = finger.root + finger.length / steps * np.vstack([np.zeros(3), np.cumsum(middles, axis=0)])
    nearest = np.rint(np.clip(at, 0.0, 1.0) * steps).astype(int)
    return centres[nearest], frames[nearest]


def _smooth_step(t: Floats) -> Floats:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _rotated(vector: Floats, axis: Floats, angle: Floats) -> Floats:
    """Rotate one vector about a unit axis by many angles (Rodrigues)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return c * vector + s * np.cross(axis, vector) + (1.0 - c) * (axis @ vector) * axis


def _bone(start: Floats, end: Floats, start_radius: float, end_radius: float, segments: int, cap_rings: int, name: str) -> Mesh:
    """Return a capsule between the centres of two balls."""
    length = float(np.linalg.norm(end - start))
    solid = truncated_cone(segments, start_radius, end_radius, length + start_radius + end_radius, cap_rings)
    axis = (end - start) / length
    side = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.7 else (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    x, y, z = (solid.vertices - (0.0, 0.0, start_radius)).T
    vertices = start + x[:, None] * side + y[:, None] * np.cross(axis, side) + z[:, None] * axis
    return with_bulging_diagonals(Mesh(vertices, solid.faces, name=name))
