"""The space shuttle of Kitamura et al. 1998 (fig. 9): concave, exactly 528 faces.

It has twelve cross-sections of 22 points along x. Every point keeps its angle about the axis from section to section; only its
distance changes: wings and fin are points far out. So each strip of faces stays within its own wedge and the surface cannot cross
itself. The last two sections are the engine bell, hollow at its end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.build.rings import skin
from jostle.shapes.mesh import Mesh

# Angles from +y (starboard) over +z (up), in degrees. -3 and 183 are the wing tips, 90 the fin; their neighbours are roots.
_ANGLES = np.radians([-3, 5, 22, 42, 62, 80, 90, 100, 118, 138, 158, 175, 183, 192, 212, 232, 252, 270, 288, 308, 328, 348])
_STARBOARD, _FIN, _PORT = 0, 6, 12

# x, half width, height above and depth below the axis, wing span and fin height from the axis (0: none), axis height
_SECTIONS = (
    (0.012, 0.022, 0.020, 0.018, 0.00, 0.00, -0.006),
    (0.055, 0.046, 0.044, 0.030, 0.00, 0.00, -0.003),
    (0.120, 0.060, 0.066, 0.036, 0.00, 0.00, 0.0),
    (0.170, 0.066, 0.108, 0.038, 0.00, 0.00, 0.0),
    (0.420, 0.068, 0.106, 0.040, 0.075, 0.00, 0.0),
    (0.640, 0.068, 0.106, 0.040, 0.170, 0.00, 0.0),
    (0.760, 0.070, 0.108, 0.040, 0.280, 0.115, 0.0),
    (0.880, 0.078, 0.116, 0.040, 0.375, 0.240, 0.0),
    (0.945, 0.080, 0.118, 0.040, 0.375, 0.310, 0.0),
    (0.985, 0.074, 0.108, 0.036, 0.00, 0.312, 0.0),
    (0.992, 0.026, 0.026, 0.026, 0.00, 0.00, 0.035),
    (1.050, 0.048, 0.048, 0.048, 0.00, 0.00, 0.035),
)


def shuttle() -> Mesh:
    """Return a space shuttle with exactly 528 faces.

    Nose at the origin, tail along +x, wings along y, fin along +z.
    """
    rings = []
    for x, half_width, height, depth, span, fin, axis in _SECTIONS:
        distance = _fuselage(half_width, height, depth)
        for column, reach in ((_STARBOARD, span), (_PORT, span), (_FIN, fin)):
            distance[column] = max(distance[column], reach)
        rings.append(np.stack([np.full(22, x), distance * np.cos(_ANGLES), axis + distance * np.sin(_ANGLES)], axis=1))
    return skin(rings, (0.0, 0.0, -0.008), (1.005, 0.0, 0.035), "shuttle")


def _fuselage(half_width: float, height: float, depth: float) -> NDArray[np.float64]:
    """Return the distance from the axis to a section: round above, flat below.

    Below it is a superellipse of power 4.
    """
    c, s = np.cos(_ANGLES), np.sin(_ANGLES)
    above = ((c / half_width) ** 2 + (s / height) ** 2) ** -0.5
    below = ((c / half_width) ** 4 + (s / depth) ** 4) ** -0.25
    return np.where(s >= 0.0, above, below)
