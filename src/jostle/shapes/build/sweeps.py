"""The horseshoe and the clover of Guy, Debunne 2004 (table 1).

The horseshoe (2,000 faces) is a flat bar with a groove, swept along an open arc whose radius exceeds the bar's half width. The
clover (10,000 faces) is a plate of four heart-shaped leaves on a stem: its outline is star-shaped, its upper side lies above the
plane z = 0 and its lower side below. Neither can cross itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.build.rings import skin, tube
from jostle.shapes.mesh import Mesh

# The bar's cross-section (across, up) in units of half width and half thickness. The groove below flares, so that all
# points are visible from the middle and the end caps, fans about it, do not fold.
_BAR = np.array(
    [
        *((-0.85, 1.0), (-0.97, 0.75), (-1.0, 0.3), (-1.0, -0.3), (-0.97, -0.75), (-0.85, -1.0)),
        *((-0.42, -1.0), (-0.2, -0.55), (0.0, -0.45), (0.2, -0.55), (0.42, -1.0)),
        *((0.85, -1.0), (0.97, -0.75), (1.0, -0.3), (1.0, 0.3), (0.97, 0.75), (0.85, 1.0)),
        *((0.4, 1.0), (0.0, 1.0), (-0.4, 1.0)),
    ]
)


def horseshoe(width: float = 0.14, thickness: float = 0.07) -> Mesh:
    """Return a horseshoe of 2,000 faces, 0.9 wide, on z = 0, open towards -y.

    `width` is that of the bar at the toe (at most 0.3); it narrows towards the heels.
    """
    rings = 50
    along = np.linspace(-1.0, 1.0, rings)
    angle = np.radians(148.0) * along
    # An egg-shaped arc: a circle whose lower part is drawn out, with its heels turned in.
    centre = np.stack([0.38 * np.sin(angle), 0.44 * np.cos(angle), np.full(rings, thickness / 2.0)], axis=1)
    tangent = np.stack([0.38 * np.cos(angle), -0.44 * np.sin(angle), np.zeros(rings)], axis=1)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    up = np.tile([0.0, 0.0, 1.0], (rings, 1))
    side = np.cross(up, tangent)
    half_width = width / 2.0 * (1.0 - 0.3 * along**4)
    sections = [_BAR * (w, thickness / 2.0) for w in half_width]
    return tube(centre, side, up, sections, "horseshoe")


def clover(thickness: float = 0.12) -> Mesh:
    """Return a four-leaf clover on a stem: 10,000 faces, 1 across, in z = 0."""
    angle, reach = _clover_outline()
    rings, half = 25, 12
    rise = np.arange(1, half + 1) / (half + 1)
    # Rings close in on the rim, where the plate curves most.
    inner = np.sin(rise * np.pi / 2.0)
    out = np.concatenate([inner, [1.0], inner[::-1]])
    side = np.concatenate([-np.ones(half), [0.0], np.ones(half)])
    crease = 1.0 - 0.55 * np.exp(-((_angle_from_vein(angle) / 0.09) ** 2))
    valley = 1.0 - 0.75 * np.exp(-((_angle_from_gap(angle) / 0.12) ** 2))
    points = []
    for k in range(rings):
        height = thickness / 2.0 * np.sqrt(np.maximum(1.0 - out[k] ** 4, 0.0))
        # Leaves share the middle: creases begin where they part.
        parted = np.clip(out[k] * 2.0, 0.0, 1.0)
        shaped = 0.35 + 0.65 * (crease * valley) ** parted
        distance = reach * out[k]
        points.append(np.stack([distance * np.cos(angle), distance * np.sin(angle), side[k] * height * shaped], axis=1))
    middle = thickness / 2.0
    return skin(points, (0.0, 0.0, -middle), (0.0, 0.0, middle), "clover")


def _clover_outline() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 200 angles and radii of the outline: four hearts and a stem at -135°."""
    stem = np.radians([-4.6, -3.4, -1.2, 1.2, 3.4, 4.6])  # foot, side, end, end, side, foot
    open_arc = 2.0 * np.pi - 2.0 * stem[-1]
    others = stem[-1] + open_arc * np.arange(1, 195) / 195.0
    angle = np.concatenate([stem, others])
    angle = np.sort(np.mod(angle, 2.0 * np.pi))
    from_stem = np.abs(np.mod(angle + np.pi, 2.0 * np.pi) - np.pi)
    angle = angle + np.radians(225.0)
    leaf = np.abs(np.sin(2.0 * angle + np.pi / 2.0)) ** 0.55
    notch = 1.0 - 0.24 * np.exp(-((_angle_from_vein(angle) / 0.16) ** 2))
    reach = (0.12 + 0.42 * leaf) * notch
    on_stem = from_stem < np.radians(4.0)
    reach[on_stem] = np.where(from_stem[on_stem] < np.radians(2.0), 0.64, 0.625)
    return angle, reach


def _angle_from_vein(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle to the nearest middle of a leaf, along the axes."""
    quarter = np.pi / 2.0
    return np.mod(angle + quarter / 2.0, quarter) - quarter / 2.0


def _angle_from_gap(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle to the nearest gap between leaves."""
    return _angle_from_vein(angle + np.pi / 4.0)
