"""What the method shows of itself: voxels, shells and hits where they are."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.voxmap import show
from jostle.methods.voxmap.show import surface_voxel_centres
from jostle.shapes import build
from tests.methods.voxmap.prepared_once import prepare_each_mesh_once
from tests.methods.voxmap.voxel_bits import filled_voxels


@pytest.fixture
def world(monkeypatch):
    prepare_each_mesh_once(monkeypatch)
    world = jostle.World(jostle.Voxmap(across=16))
    world.add(build.icosphere(2))
    world.add(build.icosphere(2), translation((1.8, 0, 0)) @ rotation_about((0, 0, 1), 0.3))
    return world


def distances(points):
    """Of points (n,3) from the surfaces of the two balls: the nearer one."""
    return np.minimum(*(np.abs(np.linalg.norm(points - (x, 0, 0), axis=1) - 1.0) for x in (0.0, 1.8)))


def test_voxels_are_boxes_of_the_voxels_size_about_the_surface(world):
    boxes = world.overlay("voxels").boxes
    assert len(boxes) > 500
    assert np.allclose(boxes[:, 1] - boxes[:, 0], 2.0 / 16, rtol=0.02)
    assert distances(boxes.mean(axis=1)).max() < 2.1 * 2.0 / 16


def test_voxels_of_a_shape_that_bodies_share_are_sought_once(world, monkeypatch):
    sought = []

    def counted(shape):
        sought.append(shape)
        return surface_voxel_centres(shape)

    monkeypatch.setattr(show, "surface_voxel_centres", counted)
    assert len(world.overlay("voxels").boxes) > 500
    assert len(sought) == 1


def test_voxels_shown_are_those_with_an_empty_neighbour(world):
    world.prepare()
    shape = world._detector._shapes[0]
    filled = np.pad(filled_voxels(shape.words, shape.cells), 1)
    around = [np.roll(filled, step, (0, 1, 2)) for step in itertools.product((-1, 0, 1), repeat=3)]
    expected = np.argwhere(filled & ~np.all(around, axis=0)) - 1
    found = np.rint((surface_voxel_centres(shape) - shape.origin) / shape.voxel - 0.5).astype(int)
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


def test_shell_points_are_near_the_surface(world):
    overlay = world.overlay("shell")
    assert len(overlay.points) > 1000
    assert distances(overlay.points).max() < 1.5 * 2.0 / 16  # the second voxel of the finer map, at a corner
    assert len(overlay.segments) == 0


def test_hits_are_those_of_a_detect_and_not_remembered(world):
    contacts = world.detect().contacts
    assert np.array_equal(world.overlay("hits").segments, contacts.segment)
    assert len(world.overlay("hits").points) == 0
    both = world.overlay()
    assert np.array_equal(both.segments, contacts.segment)
    assert np.array_equal(both.points, world.overlay("shell").points)
    world[1].pose = translation((9.0, 0, 0))
    assert len(world.overlay("hits").segments) == 0


def test_an_empty_world_shows_nothing_and_other_names_are_refused(world):
    empty = jostle.World("voxmap")
    assert len(empty.overlay("voxels").boxes) == len(empty.overlay("shell").points) == len(empty.overlay().segments) == 0
    with pytest.raises(jostle.InputError, match="what is 'nonsense'; choose one of voxels, shell, hits"):
        world.overlay("nonsense")
