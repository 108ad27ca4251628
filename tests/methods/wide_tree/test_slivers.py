"""Faces with collinear corners, which become slivers by rounding in the world.

The normal of such a sliver, computed in float64, is mostly rounding: it may point anywhere, and a cull by its plane must know that.
"""

import numpy as np
import pytest

import jostle
from tests.tiny import random_pose

COLUMNS = ("face_a", "face_b", "kind")


def faces_in_line(rng, count):
    """Faces of three points on a line, with whole coordinates."""
    start, step = rng.integers(-3, 4, (count, 1, 3)), rng.integers(-2, 3, (count, 1, 3))
    corners = start + step * rng.integers(-3, 4, (count, 3, 1))
    return jostle.Mesh(corners.reshape(-1, 3).astype(float), np.arange(3 * count).reshape(-1, 3))


def any_faces(rng, count):
    return jostle.Mesh(rng.integers(-3, 4, (3 * count, 3)).astype(float), np.arange(3 * count).reshape(-1, 3))


@pytest.mark.parametrize("seed", range(6))
def test_slivers_are_found_as_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    meshes = faces_in_line(rng, 60), any_faces(rng, 60) if seed % 2 else faces_in_line(rng, 60)
    for _ in range(6):
        poses = random_pose(rng, 0.7), random_pose(rng, 0.7)
        found, expected = (
            world.detect().contacts for world in (world_of(meshes, poses, name) for name in ("wide_tree", "brute_force"))
        )
        assert seed % 2 == 0 or len(expected) > 20
        assert all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in COLUMNS)


def world_of(meshes, poses, method):
    world = jostle.World(method)
    for mesh, pose in zip(meshes, poses, strict=True):
        world.add(mesh, pose)
    return world
