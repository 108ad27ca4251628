"""What the method shows of itself: regions in the world, pictures of depths and counts."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build

pytestmark = pytest.mark.small


@pytest.fixture
def world():
    world = jostle.World(jostle.ImageSpace(resolution=12))
    world.add(build.icosphere(1), name="a")
    world.add(build.icosphere(1), translation((1.6, 0, 0)) @ rotation_about((0, 0, 1), 0.3), name="b")
    world.add(build.icosphere(1), translation((-9, 0, 0)), name="far")
    return world


def test_regions_hold_the_contact_region(world):
    contacts, overlay = world.detect().contacts, world.overlay("region")
    assert overlay.boxes.shape == (1, 2, 3)
    assert overlay.segments.shape == (16, 2, 3)  # twelve edges of a box and four of the tile
    assert not overlay.images
    ends = contacts.segment.reshape(-1, 3)
    assert (ends >= overlay.boxes[0, 0] - 1e-9).all()
    assert (ends <= overlay.boxes[0, 1] + 1e-9).all()
    # Seen along x, the line of centres: the frame of the tile is upright.
    assert np.ptp(overlay.segments[12:, :, 0]) < 1e-9


def test_depths_are_nan_where_a_body_is_not_and_overlap_where_pixels_collide(world):
    images = world.overlay("depth").images
    assert [name.removeprefix("a and b: ") for name in images] == [
        "near depth of a", "far depth of a", "near depth of b", "far depth of b"
    ]  # fmt: skip
    near_a, far_a, near_b, far_b = images.values()
    assert all(image.shape == (12, 12) for image in images.values())
    assert np.isnan(near_a).any()
    assert np.array_equal(np.isnan(near_a), np.isnan(far_a))
    collide = np.fmax(near_a, near_b) <= np.fmin(far_a, far_b)
    collide &= ~np.isnan(near_a) & ~np.isnan(near_b)
    assert collide.sum() == len(world.detect().contacts)


def test_stencil_counts_are_one_or_two_where_pixels_collide(world):
    images = world.overlay("stencil").images
    assert list(images) == ["a and b: faces of b before the far side of a", "a and b: faces of a before the far side of b"]
    first, second = images.values()
    assert first.dtype == np.uint8
    collide = (first >= 1) & (second >= 1)
    assert collide.sum() == len(world.detect().contacts)
    assert set(first[collide].tolist()) <= {1, 2}


def test_all_of_them_by_default_and_nothing_where_nothing_collides(world):
    overlay = world.overlay("")
    assert len(overlay.images) == 6
    assert len(overlay.segments) == 16
    world["b"].pose = translation((5, 0, 0))
    assert not world.overlay("").images
    assert len(world.overlay("").boxes) == 0
    with pytest.raises(jostle.InputError, match="region, depth, stencil"):
        world.overlay("voxels")
