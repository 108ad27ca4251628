"""The central table: the paper's centres, radii that do bound, and every world vertex inside."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.broad_phase import VolumeTable
from jostle.broad_phase.volume_table import sphere_of
from tests.tiny import random_pose


@pytest.mark.small
@pytest.mark.parametrize("seed", range(20))
def test_the_centre_is_the_midpoint_of_the_two_most_distant_vertices(seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(25, 3)) * random.uniform(0.1, 5.0, 3) + random.normal(size=3) * 10.0
    if seed % 2:
        points /= np.linalg.norm(points, axis=1)[:, None]
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    a, b = np.unravel_index(np.argmax(distance), distance.shape)
    centre, radius = sphere_of(points)
    np.testing.assert_allclose(centre, 0.5 * (points[a] + points[b]), rtol=0, atol=1e-14)
    farthest = np.linalg.norm(points - centre, axis=1).max()
    assert farthest <= radius <= farthest * (1.0 + 1e-12)
    assert radius >= 0.5 * distance.max() * (1.0 - 1e-12)


@pytest.mark.small
def test_spheres_and_boxes_hold_every_world_vertex():
    random = np.random.default_rng(5)
    shapes = [random.normal(size=(12, 3)) * 10.0**k for k in (-6, 0, 3)]
    vertices = [shapes[k % 3] for k in range(30)]
    poses = np.stack([random_pose(random, 10.0 ** random.uniform(-3, 8)) for _ in vertices])
    poses[::2, :3, :3] *= 1.0 + 4.9e-6  # as far from rigid as a pose may be
    table = VolumeTable(vertices)
    centre, radius = table.update(poses)
    lower, upper = table.boxes(poses)
    for k, points in enumerate(vertices):
        world = points @ poses[k, :3, :3].T + poses[k, :3, 3]
        exact = (world.astype(np.longdouble) - centre[k].astype(np.longdouble)) ** 2
        assert (np.sqrt(exact.sum(axis=1)) <= radius[k]).all()
        assert (world >= lower[k]).all()
        assert (world <= upper[k]).all()
        spare = 3e-5 * table.radius[k] + 1e-13 * np.abs(world).max()
        assert radius[k] <= table.radius[k] + spare


@pytest.mark.small
def test_a_body_that_deforms_has_the_sphere_of_its_vertices():
    cube = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    table = VolumeTable([cube, cube])
    assert len(table) == 2
    table.deform(1, cube * 3.0)
    np.testing.assert_allclose(table.centre, [[0.5] * 3, [1.5] * 3])
    np.testing.assert_allclose(table.radius, [0.75**0.5, 3.0 * 0.75**0.5])
    assert len(VolumeTable([])) == 0
    assert VolumeTable([]).update(np.empty((0, 4, 4)))[0].shape == (0, 3)
