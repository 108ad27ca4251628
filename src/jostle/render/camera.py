"""Cameras: from world coordinates to pixels and depth.

View coordinates are (right, down, forward) from the eye, in the user's units. Picture coordinates are in pixels, x to the right
and y down, pixel (i, j) covering [i, i+1) x [j, j+1) with its centre at (i + ½, j + ½). Depth is the quantity that is *linear
over the picture*: the forward distance z for an orthographic camera, -1/z for a perspective one. Both grow away from the eye,
so a smaller depth is nearer; `Camera.distance` turns depth back into z. Every coordinate is a fixed sum of products taken
element by element (no BLAS), so that bit-equal points have bit-equal views: the rasteriser's watertightness rests on that.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError

THREE_QUARTER_VIEW = (-0.55, 0.85, -0.5)  # to the left, ahead and down: from the front, the right and above
LARGEST_SIDE = 32768  # of a picture, in pixels (supersampled); 8 fractional bits and the guard band then fit int64 with room


@dataclasses.dataclass(frozen=True, eq=False)
class Camera:
    """A camera with a position, three axes and a lens.

    Parameters
    ----------
    eye : (3,) float64
        Position of the camera, in world coordinates.
    axes : (3, 3) float64
        Rows are the unit vectors right, down and forward, in world coordinates.
    width, height : int
        Size of the picture in pixels.
    scale : float
        Pixels per unit of length: everywhere (orthographic), or at forward distance 1 (perspective).
    perspective : bool
        Whether things shrink with distance.
    near : float
        Forward distance of the near plane; everything before it is cut away. Above 0 for a perspective camera.
    """

    eye: Floats
    axes: Floats
    width: int
    height: int
    scale: float
    perspective: bool = False
    near: float = -math.inf

    def __post_init__(self) -> None:
        cast.as_count(self.width, "width", 1, LARGEST_SIDE, "camera")
        cast.as_count(self.height, "height", 1, LARGEST_SIDE, "camera")
        if not (math.isfinite(self.scale) and self.scale > 0.0):
            raise InputError(f"camera: scale is {self.scale}; it must be a finite number of pixels per unit, above 0")
        if self.perspective and not self.near > 0.0:
            raise InputError(f"camera: near is {self.near}; a perspective camera needs a near plane at a distance above 0")
        if np.shape(self.eye) != (3,) or np.shape(self.axes) != (3, 3):
            raise InputError(
                f"camera: eye has shape {np.shape(self.eye)} and axes {np.shape(self.axes)}; they must be (3,) and (3, 3)"
            )

    @classmethod
    def looking_at(
        cls,
        bounds: ArrayLike,
        direction: ArrayLike | None = None,
        up: ArrayLike = (0.0, 0.0, 1.0),
        width: int = 960,
        height: int = 720,
        *,
        perspective: bool = True,
        field_of_view: float = 0.5,
        margin: float = 0.06,
    ) -> Camera:
        """Return a camera that shows a box, all of it and as large as fits.

        Parameters
        ----------
        bounds : (2, 3)
            Lowest and highest corner of the box, as of `Mesh.bounds`.
        direction : (3,), optional
            View direction, from the eye into the scene; any length. By default a three-quarter view from above.
        up : (3,)
            The direction that is up in the picture; when it is parallel to `direction`, another axis is taken.
        width, height : int
            Size of the picture in pixels.
        perspective : bool
            False for an orthographic camera.
        field_of_view : float
            Vertical angle of the picture, in radians; perspective only.
        margin : float
            Share of the width and height left free on each side, below 0.5.
        """
        corners = cast.as_points(bounds, "camera", "bounds")
        if len(corners) != 2 or bool((corners[0] > corners[1]).any()):
            raise InputError(f"camera: bounds is {corners.tolist()}; it must be (2, 3), the lowest and then the highest corner")
        box = np.array([[corners[i, 0], corners[j, 1], corners[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        return cls.framing(box, direction, up, width, height, perspective=perspective, field_of_view=field_of_view, margin=margin)

    @classmethod
    def framing(
        cls,
        points: ArrayLike,
        direction: ArrayLike | None = None,
        up: ArrayLike = (0.0, 0.0, 1.0),
        width: int = 960,
        height: int = 720,
        *,
        perspective: bool = True,
        field_of_view: float = 0.5,
        margin: float = 0.06,
    ) -> Camera:
        """Return a camera that shows (n, 3) points, as large as fits; see `looking_at`."""
        world = cast.as_points(points, "camera", "points")
        width = cast.as_count(width, "width", 1, LARGEST_SIDE, "camera")
        height = cast.as_count(height, "height", 1, LARGEST_SIDE, "camera")
        axes = _axes(direction, up)
        angle, free = _lens(field_of_view, margin)
        middle = world.min(axis=0) * 0.5 + world.max(axis=0) * 0.5
        offset = world - middle
        size = float(np.abs(offset).max()) or float(np.abs(middle).max()) * 1e-3 or 1.0
        x, y, z = _along(offset, axes).T
        free_width, free_height = width * (1.0 - 2.0 * free), height * (1.0 - 2.0 * free)
        nearest = float(z.min())
        if not perspective:
            scale = min(
                free_width / max(float(np.ptp(x)), 1e-9 * size),
                free_height / max(float(np.ptp(y)), 1e-9 * size),
            )
            side, low, back = float(x.min() + x.max()) / 2.0, float(y.min() + y.max()) / 2.0, size - nearest
            near = -math.inf
        else:
            scale = height / 2.0 / math.tan(angle / 2.0)
            side, back_x = _fit(x, z, free_width / 2.0 / scale)
            low, back_y = _fit(y, z, free_height / 2.0 / scale)
            back = max(back_x, back_y, 0.25 * size - nearest)
            # Farther back than one of the two needs, deep points would be off the middle.
            side, low = _middle_of(x, z + back, side), _middle_of(y, z + back, low)
            near = 0.01 * (back + nearest)
        eye = middle + side * axes[0] + low * axes[1] - back * axes[2]
        return cls(eye, axes, width, height, scale, perspective, near)

    def supersampled(self, factor: int) -> Camera:
        """Return the same view with `factor` times as many pixels each way."""
        return dataclasses.replace(self, width=self.width * factor, height=self.height * factor, scale=self.scale * factor)

    def view(self, points: Floats) -> Floats:
        """Return (n, 3) view coordinates (right, down, forward) of (n, 3) world points."""
        return _along(points - self.eye, self.axes)

    def project(self, points: Floats) -> Floats:
        """Return (n, 3) picture coordinates x, y (pixels) and depth.

        Points of a perspective camera must lie before the eye.
        """
        view = self.view(points)
        x, y, z = view.T
        over = z if self.perspective else np.ones_like(z)
        depth = -1.0 / z if self.perspective else z
        return np.stack([self.width / 2.0 + self.scale * x / over, self.height / 2.0 + self.scale * y / over, depth], axis=1)

    def distance(self, depth: Floats) -> Floats:
        """Return forward distances for depths; infinite depths (nothing drawn) stay."""
        if not self.perspective:
            return depth
        empty = np.isinf(depth)
        with np.errstate(divide="ignore"):
            return np.where(empty, depth, -1.0 / np.where(empty, -1.0, depth))


def as_direction(value: ArrayLike, field: str, owner: str = "camera") -> Floats:
    """Return a (3,) vector of any length as a unit vector."""
    vector = cast.as_points(np.asarray(value)[None], owner, field)[0]
    largest = float(np.abs(vector).max())
    if largest == 0.0:
        raise InputError(f"{owner}: {field} is zero; it needs a length")
    scaled = vector / largest  # a square of 1e30 would still fit, a square of 1e-200 would not
    return np.asarray(scaled / np.linalg.norm(scaled))


def _axes(direction: ArrayLike | None, up: ArrayLike) -> Floats:
    """Return rows right, down, forward: right-handed, so no picture is mirrored."""
    upward = as_direction(up, "up")
    if direction is None:
        # x stays to the right whether z or y is up; only when x itself is up does y take its place.
        aside = np.eye(3)[1 if abs(upward[0]) > 0.9 else 0]
        ahead = as_direction(np.cross(upward, aside), "up")
        left, on, down = THREE_QUARTER_VIEW
        forward = as_direction(left * np.cross(ahead, upward) + on * ahead + down * upward, "up")
    else:
        forward = as_direction(direction, "direction")
    if abs(float(forward @ upward)) > 1.0 - 1e-9:
        # Looking straight up or down: y is up in the picture, or x when that is the direction of view.
        upward = np.eye(3)[0 if abs(forward[1]) > 0.9 else 1]
    right = as_direction(np.cross(forward, upward), "up")
    return np.stack([right, np.cross(forward, right), forward])


def _lens(field_of_view: float, margin: float) -> tuple[float, float]:
    angle, free = cast.as_number(field_of_view, "field_of_view", "camera"), cast.as_number(margin, "margin", "camera")
    if not 0.0 < angle < math.pi:
        raise InputError(f"camera: field_of_view is {angle}; it must lie between 0 and pi radians")
    if not 0.0 <= free < 0.5:
        raise InputError(f"camera: margin is {free}; it must be at least 0 and below 0.5")
    return angle, free


def _along(offset: Floats, axes: Floats) -> Floats:
    x, y, z = offset[:, 0], offset[:, 1], offset[:, 2]
    return np.stack([x * a[0] + y * a[1] + z * a[2] for a in axes], axis=1)


def _fit(x: Floats, z: Floats, slope: float) -> tuple[float, float]:
    """Return the place and least step back with |x - place| <= slope·(z + back).

    For all points. Each gives two half-planes in (place, back); the extreme ones meet in a single corner.
    """
    right, left = float((x - slope * z).max()), float((x + slope * z).min())
    return (right + left) / 2.0, (right - left) / (2.0 * slope)


def _middle_of(x: Floats, away: Floats, place: float) -> float:
    """Return the place where the outermost points are equally far from the middle.

    The two outermost points give the place; seen from there others may be outermost, but they never are for long.
    """
    for _ in range(16):
        slopes = (x - place) / away
        i, j = int(slopes.argmax()), int(slopes.argmin())
        better = float((x[i] * away[j] + x[j] * away[i]) / (away[i] + away[j]))
        if better == place:
            break
        place = better
    return place
