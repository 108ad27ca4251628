"""Blobs: smooth random closed surfaces with any even face count, round to concave.

The points lie on latitude rings whose sizes follow the circumference and add up to half the face count; the skin over them
(rings.py) then has exactly that many faces of nearly equal size. Each point is moved along its ray from the centre by a sum of
random waves, so the surface is star-shaped and cannot cross itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.build.rings import skin_faces
from jostle.shapes.build.spheres import positive
from jostle.shapes.mesh import Mesh

WAVES = 24


def blob(face_count: int = 2000, seed: int = 0, roughness: float = 0.3, radius: float = 1.0) -> Mesh:
    """Return a closed random blob with exactly `face_count` faces.

    Parameters
    ----------
    face_count : int
        Even and at least 8.
    seed : int
        Of the waves; equal arguments give byte-equal meshes.
    roughness : float
        0 is a sphere, 0.1 gently lumpy, 0.3 clearly concave, 0.8 deeply; at most 2.
    radius : float
        Of the smallest ball about the origin that holds the blob.
    """
    if cast.as_count(face_count, "face_count", lowest=8) % 2:
        raise InputError(f"face_count is {face_count}; a closed mesh of triangles has an even number of faces")
    roughness = cast.as_number_between(roughness, "roughness", 0.0, 2.0)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    counts = _ring_sizes(face_count // 2)
    directions = _directions(counts)
    distance = np.exp(roughness * _smooth_noise(directions, rng)) if roughness > 0.0 else np.ones(len(directions))
    distance *= positive(radius, "radius") / distance.max()
    return Mesh(directions * distance[:, None], skin_faces(counts), name=f"blob of {face_count} faces")


def _ring_sizes(total: int) -> list[int]:
    """Split `total` points over latitude rings, in proportion to circumference."""
    # The distance between rings: the height of equilateral triangles on a unit sphere with total + 2 points.
    height = np.sqrt(4.0 * np.pi / (total + 2) * np.sqrt(3.0) / 2.0)
    rings = min(max(1, round(np.pi / height) - 1), total // 3)
    circumference = np.sin(np.pi * np.arange(1, rings + 1) / (rings + 1))
    # Points of a ring beyond its first 3, scaled to the points left.
    extra = np.maximum(total * circumference / circumference.sum() - 3.0, 0.0) + 1e-9
    wanted = 3.0 + extra * ((total - 3 * rings) / extra.sum())
    counts = np.floor(wanted).astype(int)
    largest_remainder = np.argsort(counts - wanted, kind="stable")
    counts[largest_remainder[: total - int(counts.sum())]] += 1
    return counts.tolist()


def _directions(counts: list[int]) -> NDArray[np.float64]:
    """Return unit vectors: the lower pole, the rings from below, the upper pole."""
    latitude = np.repeat(np.pi * np.arange(1, len(counts) + 1) / (len(counts) + 1), counts)
    angle = np.concatenate([2.0 * np.pi * np.arange(count) / count for count in counts])
    ring_points = np.stack([np.sin(latitude) * np.cos(angle), np.sin(latitude) * np.sin(angle), -np.cos(latitude)], axis=1)
    return np.vstack([[(0.0, 0.0, -1.0)], ring_points, [(0.0, 0.0, 1.0)]])


def _smooth_noise(directions: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return smooth noise of unit variance, softly bounded at 1.6.

    Wavelengths are about 1 to 3 radii.
    """
    wave = rng.normal(size=(WAVES, 3))
    wave *= (rng.uniform(2.0, 6.5, WAVES) / np.linalg.norm(wave, axis=1))[:, None]
    amplitude = 1.0 / np.linalg.norm(wave, axis=1)
    amplitude *= np.sqrt(2.0 / (amplitude**2).sum())
    phase = rng.uniform(0.0, 2.0 * np.pi, WAVES)
    noise = np.zeros(len(directions))
    for k in range(WAVES):
        noise += amplitude[k] * np.cos(directions @ wave[k] + phase[k])
    return 1.6 * np.tanh(noise / 1.6)
