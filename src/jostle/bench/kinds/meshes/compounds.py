"""Several parts in one mesh: a frame of pipes, and a model with pipes in it.

Their parts cross each other, as they do in files that people have: closed, but touching themselves.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.bench.kinds.meshes.round_parts import pipe
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from jostle.shapes.mesh import Mesh


def frame(pipes: int = 8, segments: int = 128, seed: int = 11) -> Mesh:
    """Return pipes in random directions as one mesh: pipes * 8 * segments faces."""
    rng = np.random.default_rng(seed)
    part = pipe(segments, radius=0.05, bore=0.04, length=1.6)
    parts = [part.moved(translation(rng.uniform(-0.4, 0.4, 3)) @ turned_at_random(rng)) for _ in range(pipes)]
    return joined(parts, f"frame of {pipes} pipes")


def mixed(face_count: int = 124_000, pipes: int = 3, segments: int = 128, seed: int = 12) -> Mesh:
    """Return a blob with pipes through it: face_count + pipes * 8 * segments faces."""
    rng = np.random.default_rng(seed)
    part = pipe(segments, radius=0.04, bore=0.03, length=2.2)
    parts = [part.moved(translation(rng.uniform(-0.2, 0.2, 3)) @ turned_at_random(rng)) for _ in range(pipes)]
    return joined([build.blob(face_count, seed=seed, roughness=0.6), *parts], f"blob of {face_count} faces with {pipes} pipes")


def turned_at_random(rng: np.random.Generator) -> Floats:
    """Return a pose (4, 4) with a uniformly distributed rotation."""
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    pose = np.eye(4)
    pose[:3, :3] = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return pose
