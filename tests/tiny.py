"""Tiny meshes and poses that several tests use."""

import numpy as np

from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import solve_relative_pose_into
from jostle.kernels.arrays import read_only_view

BOX_FACES = [
    [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
    [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
]  # fmt: skip


def box(lower=(0.0, 0.0, 0.0), upper=(1.0, 1.0, 1.0), name="box"):
    corners = [[(lower, upper)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)]
    return Mesh(corners, BOX_FACES, name=name)


def tetrahedron(shift=0.0, name="tetrahedron"):
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return Mesh(corners + shift, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], name=name)


def random_pose(rng, spread=1.0):
    """A rotation about a random axis and a translation within a cube."""
    return translation(rng.uniform(-spread, spread, 3)) @ rotation_about(rng.normal(size=3), rng.uniform(0, 2 * np.pi))


def random_soup(rng, faces=12, size=1.0):
    """Unconnected random triangles."""
    return Mesh(rng.uniform(-size, size, (3 * faces, 3)), np.arange(3 * faces).reshape(-1, 3), name="soup")


def relative_pose(pose_a, pose_b):
    """Return B's pose in A's frame, as culls compute it."""
    relative = np.empty((4, 4))
    solve_relative_pose_into(read_only_view(pose_a), read_only_view(pose_b), relative)
    return relative
