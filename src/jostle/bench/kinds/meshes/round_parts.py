"""Round CAD parts: pipe, cylinder, disc, cone, capsule and spring.

They are tessellated as CAD programs do it: a straight wall has no rings between its ends, so its faces are slivers as long as the
part.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.shapes import build
from jostle.shapes.build.rings import circle, lathe, strip, tube
from jostle.shapes.mesh import Mesh


def pipe(segments: int = 128, radius: float = 0.12, bore: float = 0.1, length: float = 2.0) -> Mesh:
    """Return a pipe along z: 8 * segments faces, its ends annuli."""
    return ring_of_rings(
        [circle(segments, r, z) for r, z in _corners(radius, bore, length)],
        f"pipe of {8 * segments} faces",
    )


def _corners(radius: float, bore: float, length: float) -> list[tuple[float, float]]:
    half = length / 2.0
    return [(radius, -half), (radius, half), (bore, half), (bore, -half)]


def ring_of_rings(rings: list[Floats], name: str) -> Mesh:
    """Return the closed surface through rings about z, the last joined to the first."""
    starts = np.cumsum([0, *(len(ring) for ring in rings)])
    numbers = [np.arange(starts[k], starts[k + 1]) for k in range(len(rings))]
    faces = [strip(one, other) for one, other in zip(numbers, numbers[1:] + numbers[:1], strict=True)]
    return Mesh(np.vstack(rings), np.vstack(faces), name=name)


def cylinder(segments: int = 128, radius: float = 0.2, length: float = 2.0) -> Mesh:
    """Return a cylinder along z: 4 * segments faces, its ends fans."""
    half = length / 2.0
    return lathe([(radius, -half), (radius, half)], segments, -half, half, f"cylinder of {4 * segments} faces")


def disc(segments: int = 128, radius: float = 1.0, thickness: float = 0.05) -> Mesh:
    """Return a flat cylinder: 4 * segments faces."""
    made = cylinder(segments, radius, thickness)
    return Mesh(made.vertices, made.faces, name=f"disc of {len(made.faces)} faces")


def cone(segments: int = 1152) -> Mesh:
    """Return a cone with its middle at the origin: 2 * segments faces."""
    return centred(build.cone(segments, radius=0.5, height=1.6))


def capsule(segments: int = 32, cap_rings: int = 16) -> Mesh:
    """Return a capsule with its middle at the origin: 4 * segments * cap_rings faces."""
    return centred(build.capsule(segments, radius=0.25, height=1.8, cap_rings=cap_rings))


def centred(mesh: Mesh) -> Mesh:
    """Return the mesh with the middle of its box at the origin."""
    return mesh.with_vertices(mesh.vertices - mesh.bounds.mean(axis=0))


def spring(turns: int = 10, steps: int = 40, sides: int = 12) -> Mesh:
    """Return a coil spring about z: 2 * sides * (turns * steps + 1) faces."""
    angle = 2.0 * np.pi * np.arange(turns * steps + 1) / steps
    radius, rise = 0.4, 1.6 / angle[-1]
    outward = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    ahead = np.stack([-radius * np.sin(angle), radius * np.cos(angle), np.full_like(angle, rise)], axis=1)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    centres = radius * outward + np.outer(rise * angle - 0.8, [0.0, 0.0, 1.0])
    section = circle(sides, 0.05)[:, :2]
    mesh = tube(centres, outward, np.cross(ahead, outward), [section] * len(angle), "")
    return Mesh(mesh.vertices, mesh.faces, name=f"spring of {len(mesh.faces)} faces")
