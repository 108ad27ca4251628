"""The head of Venus of Kitamura et al. 1998 (fig. 15): a bust of 1,816 faces.

It has thirty horizontal rings of 30 points, denser around the face, and a ring of 8 in the flat base (908 points in all: 1,816
faces). Points keep their angle about the vertical axis from ring to ring, so every strip stays in its wedge and the surface cannot
cross itself. The outline comes from a table of half axes, the face from smooth bumps and dents on it.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.shapes.build.rings import skin
from jostle.shapes.mesh import Mesh

_COLUMNS = 30
# z, reach to the front, to the back, and to the side
_OUTLINE = np.array(
    [
        (0.000, 0.165, 0.215, 0.270),
        (0.050, 0.150, 0.200, 0.245),
        (0.110, 0.105, 0.160, 0.165),
        (0.180, 0.088, 0.142, 0.122),
        (0.260, 0.092, 0.135, 0.115),
        (0.320, 0.125, 0.140, 0.120),
        (0.350, 0.178, 0.148, 0.132),
        (0.380, 0.200, 0.160, 0.150),
        (0.420, 0.200, 0.180, 0.165),
        (0.460, 0.208, 0.205, 0.174),
        (0.520, 0.215, 0.240, 0.182),
        (0.600, 0.222, 0.268, 0.192),
        (0.680, 0.232, 0.282, 0.202),
        (0.740, 0.240, 0.286, 0.206),
        (0.800, 0.232, 0.280, 0.202),
        (0.860, 0.208, 0.256, 0.186),
        (0.920, 0.160, 0.205, 0.150),
        (0.960, 0.110, 0.145, 0.108),
        (0.985, 0.062, 0.080, 0.062),
        (1.000, 0.030, 0.040, 0.030),
    ]
)
# Heights of the 30 rings: dense from chin to brow.
_HEIGHTS = np.array(
    [
        *(0.0, 0.03, 0.09, 0.16, 0.24, 0.305, 0.335, 0.36, 0.385, 0.41, 0.43, 0.447, 0.46, 0.475, 0.495),
        *(0.515, 0.535, 0.56, 0.59, 0.62, 0.645, 0.67, 0.695, 0.72, 0.755, 0.80, 0.855, 0.91, 0.955, 0.988),
    ]
)


def head() -> Mesh:
    """Return a bust with exactly 1,816 faces: 1 high, on z = 0, facing +x."""
    angle = _angles(_COLUMNS)
    rings = []
    for z in _HEIGHTS:
        distance = _outline(angle, z) + _features(angle, z)
        rings.append(np.stack([distance * np.cos(angle), distance * np.sin(angle), np.full(_COLUMNS, z)], axis=1))
    inner = _angles(8)
    base = np.stack([0.08 * np.cos(inner), 0.08 * np.sin(inner), np.zeros(8)], axis=1)
    return skin([base, *rings], (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "head")


def _angles(count: int) -> Floats:
    """Return angles about the axis, three times as dense in front (0) as behind."""
    step = 2.0 * np.pi * np.arange(count) / count
    return step - 0.5 * np.sin(step)


def _outline(angle: Floats, z: float) -> Floats:
    """Return the distance from the axis to a section of two half ellipses."""
    front, back, side = (_smooth_interpolation(z, _OUTLINE[:, 0], _OUTLINE[:, k]) for k in (1, 2, 3))
    reach = np.where(np.cos(angle) >= 0.0, front, back)
    power = 2.3
    return (np.abs(np.cos(angle) / reach) ** power + np.abs(np.sin(angle) / side) ** power) ** (-1.0 / power)


def _smooth_interpolation(z: float, heights: Floats, values: Floats) -> float:
    """Return a cubic through the table with Catmull-Rom slopes for uneven steps."""
    k = int(np.clip(np.searchsorted(heights, z, side="right") - 1, 0, len(heights) - 2))
    slope = np.gradient(values, heights)
    step = heights[k + 1] - heights[k]
    t = (z - heights[k]) / step
    return float(
        (2 * t**3 - 3 * t**2 + 1) * values[k]
        + (t**3 - 2 * t**2 + t) * step * slope[k]
        + (3 * t**2 - 2 * t**3) * values[k + 1]
        + (t**3 - t**2) * step * slope[k + 1]
    )


def _features(angle: Floats, z: float) -> Floats:
    """What nose, eyes, brow, mouth, chin, cheeks, ears and hair add to the outline."""
    turn = np.abs(np.mod(angle + np.pi, 2.0 * np.pi) - np.pi)
    sideways = np.sin(turn) * 0.22  # across the face, in units of length
    in_front = np.cos(turn) > 0.0

    def bump(at_side: float, at_z: float, wide: float, high: float) -> Floats:
        return np.where(in_front, np.exp(-(((sideways - at_side) / wide) ** 2) - ((z - at_z) / high) ** 2), 0.0)

    # The nose rises evenly from between the eyes to its tip and ends at once below it.
    slope = np.clip((0.675 - z) / (0.675 - 0.545), 0.0, 1.0) if z >= 0.535 else np.clip((z - 0.497) / (0.535 - 0.497), 0.0, 1.0)
    nose = np.where(in_front, 0.075 * slope * np.exp(-((sideways / (0.018 + 0.016 * slope)) ** 2)), 0.0)
    face = (
        nose
        - 0.030 * bump(0.085, 0.655, 0.042, 0.030)  # eye sockets
        + 0.013 * bump(0.085, 0.652, 0.022, 0.014)  # eyes
        + 0.012 * bump(0.075, 0.712, 0.075, 0.022)  # brow
        + 0.015 * bump(0.0, 0.463, 0.045, 0.009)  # upper lip
        - 0.006 * bump(0.0, 0.449, 0.050, 0.006)  # mouth
        + 0.014 * bump(0.0, 0.433, 0.036, 0.010)  # lower lip
        - 0.010 * bump(0.0, 0.408, 0.050, 0.012)  # hollow over the chin
        + 0.018 * bump(0.0, 0.378, 0.045, 0.022)  # chin
        + 0.010 * bump(0.125, 0.560, 0.045, 0.040)  # cheekbones
        - 0.008 * bump(0.120, 0.470, 0.040, 0.040)  # hollow of the cheeks
    )
    ears = 0.036 * np.exp(-(((turn - 1.66) / 0.16) ** 2) - ((z - 0.595) / 0.050) ** 2)
    # Hair: a raised cap behind a line from the forehead to the nape, and a knot at the back.
    line = 1.25 + 3.0 * np.clip(0.80 - z, -0.2, 0.16)
    cap = (
        0.020 / (1.0 + np.exp(-(turn - line) / 0.05)) * np.clip((z - 0.42) / 0.06, 0.0, 1.0) * np.clip((0.99 - z) / 0.12, 0.0, 1.0)
    )
    knot = 0.095 * np.exp(-(((turn - np.pi) / 0.42) ** 4) - ((z - 0.64) / 0.08) ** 2)
    return face + ears + cap + knot
