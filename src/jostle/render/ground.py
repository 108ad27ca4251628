"""A soft shadow on the ground: the brightness of the background under the bodies.

The bodies are drawn from above onto the plane through their lowest point; each place of the ground is darkened by what
stands over it, less the higher that is, and the whole is blurred as under an overcast sky. It shows where bodies are in
space, and falls on the ground only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Singles
from jostle.render.camera import Camera
from jostle.render.rasterise import rasterise
from jostle.render.shade import DrawnScene

SIDE = 240  # pixels of the picture from above; it is blurred, so more would not show
AROUND = 0.35  # of the size of the bodies, on each side of them: as far as a shadow reaches
BENEATH = 0.02  # of the size of the bodies: how far the ground lies below the lowest point
DARKEST = 0.24
SOFT = ((0.012, 0.45), (0.05, 0.55))  # of the size of the bodies, and the share of the shadow that is blurred so much


def shadow_on_ground(scene: DrawnScene, camera: Camera, up: Floats) -> Singles:
    """Return (h, w) float32 factors for the background: 1 in light, less in shadow."""
    used = scene.points[np.unique(scene.faces)]
    height = used @ up
    size = float(np.ptp(used, axis=0).max())
    light = np.ones((camera.height, camera.width), np.float32)
    ground = float(height.min()) - BENEATH * size
    if size == 0.0 or (camera.perspective and float(camera.eye @ up) <= ground) or float(camera.axes[2] @ up) >= -1e-3:
        return light  # seen from below, the ground would hide everything
    around = AROUND * size
    right = camera.axes[0] - (camera.axes[0] @ up) * up
    right /= np.linalg.norm(right)
    ahead = np.cross(up, right)
    low_x, low_y = (float((used @ axis).min()) - around for axis in (right, ahead))
    wide = max(float(np.ptp(used @ right)), float(np.ptp(used @ ahead))) + 2.0 * around
    shadow = _shadow_from_above(scene, (right, ahead, up), (low_x, low_y, ground), wide, size)
    points, hits = _on_the_ground(camera, up, ground)
    column, row = ((points @ axis - low) * (SIDE / wide) - 0.5 for axis, low in ((right, low_x), (ahead, low_y)))
    light -= np.where(hits, DARKEST * _looked_up(shadow, row, column), 0.0).astype(np.float32)
    return light


def _shadow_from_above(
    scene: DrawnScene, axes: tuple[Floats, Floats, Floats], corner: tuple[float, float, float], wide: float, size: float
) -> Floats:
    """Return (SIDE, SIDE) in 0 … 1: the light kept from each place of the ground."""
    right, ahead, up = axes
    eye = (corner[0] + 0.5 * wide) * right + (corner[1] + 0.5 * wide) * ahead + corner[2] * up
    # Looking up from the ground: the nearest is the lowest. Rows run ahead, columns to the right.
    above = Camera(eye, np.stack([right, ahead, up]), SIDE, SIDE, SIDE / wide)
    seen = rasterise(above, scene.points, scene.faces)
    kept = np.where(seen.face >= 0, np.exp(-2.0 * np.where(seen.face >= 0, seen.depth, 0.0) / size), 0.0)
    pixel = wide / SIDE
    blurred: Floats = sum((share * _blurred(kept, soft * size / pixel) for soft, share in SOFT), np.zeros((SIDE, SIDE)))
    return blurred


def _blurred(image: Floats, radius: float) -> Floats:
    """Return an image blurred by a Gaussian of a radius in pixels, along both axes."""
    reach = max(1, int(3.0 * radius))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(radius, 0.3)) ** 2)
    weights /= weights.sum()
    for _ in range(2):
        padded = np.pad(image, ((reach, reach), (0, 0)))
        image = sum((w * padded[k : k + image.shape[0]] for k, w in enumerate(weights)), np.zeros(image.shape)).T
    return image


def _on_the_ground(camera: Camera, up: Floats, ground: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return where (h, w, 3) the rays of all pixels meet the plane, and which do."""
    x = (np.arange(camera.width) + 0.5 - camera.width / 2.0) / camera.scale
    y = (np.arange(camera.height) + 0.5 - camera.height / 2.0) / camera.scale
    right, down, forward = camera.axes
    aside = x[None, :, None] * right + y[:, None, None] * down
    start, ray = (camera.eye, aside + forward) if camera.perspective else (camera.eye + aside, forward)
    slope = np.broadcast_to(ray, aside.shape) @ up
    meets = slope < -1e-6
    length = (ground - start @ up) / np.where(meets, slope, -1.0)
    hits = meets & (length > 0.0) if camera.perspective else meets
    points: Floats = start + np.where(hits, length, 0.0)[:, :, None] * ray
    return points, hits


def _looked_up(image: Floats, row: Floats, column: Floats) -> Floats:
    """Return an image interpolated between its pixels; 0 outside."""
    padded = np.pad(image, 1)
    r, c = (np.clip(each + 1.0, 0.0, SIDE + 0.999) for each in (row, column))
    i, j = r.astype(np.int64), c.astype(np.int64)
    u, v = r - i, c - j
    found: Floats = (1 - u) * ((1 - v) * padded[i, j] + v * padded[i, j + 1]) + u * (
        (1 - v) * padded[i + 1, j] + v * padded[i + 1, j + 1]
    )
    return found
