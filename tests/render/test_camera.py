"""Cameras: where known points land, and that framing is complete and tight."""

import itertools
import math

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.render.camera import Camera

pytestmark = pytest.mark.small

BOUNDS = np.array([[-1.0, 2.0, -3.0], [4.0, 3.0, 1.0]])


def corners(bounds):
    return np.array(list(itertools.product(*np.asarray(bounds).T)))


def test_an_orthographic_camera_maps_units_to_pixels():
    camera = Camera(np.array([10.0, 20.0, 30.0]), np.eye(3), 8, 6, 2.0)
    # Right is +x, down is +y, forward is +z; the eye looks at the middle of the picture (4, 3).
    assert camera.project(np.array([[10.0, 20.0, 35.0], [11.0, 20.5, 29.0]])).tolist() == [[4.0, 3.0, 5.0], [6.0, 4.0, -1.0]]


def test_a_perspective_camera_divides_by_distance_and_depth_grows_with_it():
    camera = Camera(np.zeros(3), np.eye(3), 100, 100, 40.0, perspective=True, near=0.1)
    shown = camera.project(np.array([[1.0, 0.0, 1.0], [1.0, -1.0, 2.0], [1.0, 1.0, 4.0]]))
    assert shown.tolist() == [[90.0, 50.0, -1.0], [70.0, 30.0, -0.5], [60.0, 60.0, -0.25]]
    assert camera.distance(np.array([-1.0, -0.25, math.inf, -math.inf])).tolist() == [1.0, 4.0, math.inf, -math.inf]


@pytest.mark.parametrize("perspective", [False, True])
@pytest.mark.parametrize("direction", [None, (0, 0, -1), (0, 0, 1), (0, 1, 0), (1, 0, 0), (-1, -2, 0.3)])
@pytest.mark.parametrize("size", [(320, 200), (50, 400)])
def test_framing_shows_everything_and_touches_the_margin(perspective, direction, size):
    width, height = size
    camera = Camera.looking_at(BOUNDS, direction, width=width, height=height, perspective=perspective, margin=0.1)
    shown = camera.project(corners(BOUNDS))
    low, high = shown[:, :2].min(axis=0), shown[:, :2].max(axis=0)
    tolerance = 1e-9 * max(size)
    assert (low >= 0.1 * np.array(size) - tolerance).all()
    assert (high <= 0.9 * np.array(size) + tolerance).all()
    filled = (high - low) / (0.8 * np.array(size))
    assert filled.max() == pytest.approx(1.0, abs=1e-9)
    assert camera.view(corners(BOUNDS))[:, 2].min() > max(camera.near, 0.0)


@pytest.mark.parametrize("size", [(400, 300), (300, 400), (900, 200)])
def test_what_is_deep_is_in_the_middle_of_the_picture(size):
    # Near points on the right and far ones on the left: seen from where the height fits, the width is not in the middle by itself.
    points = np.random.default_rng(7).uniform(-1, 1, (200, 3)) * (3.0, 9.0, 1.0) + (0.0, 0.0, 0.4)
    camera = Camera.framing(points, (-0.4, 1.0, -0.3), width=size[0], height=size[1], margin=0.1)
    shown = camera.project(points)[:, :2]
    low, high = shown.min(axis=0), shown.max(axis=0)
    assert low + high == pytest.approx(np.array(size), abs=1e-6)
    assert (low >= 0.1 * np.array(size) - 1e-6).all()


@pytest.mark.parametrize("perspective", [False, True])
def test_up_is_up_and_nothing_is_mirrored(perspective):
    for up in np.eye(3):
        camera = Camera.looking_at([[-1, -1, -1], [1, 1, 1]], up=up, perspective=perspective)
        origin, top = camera.project(np.array([[0.0, 0.0, 0.0], up]))
        assert top[1] < origin[1] - 1.0
        # Seen from above, uprights lean a little in perspective.
        assert abs(top[0] - origin[0]) <= (0.05 if perspective else 1e-9) * (origin[1] - top[1])
        assert np.linalg.det(camera.axes) == pytest.approx(1.0)
        assert np.allclose(camera.axes @ camera.axes.T, np.eye(3))
        assert camera.axes[2] @ up < 0.0  # from above


@pytest.mark.parametrize(("up", "right"), [((0, 0, 1), (1, 0, 0)), ((0, 1, 0), (1, 0, 0))])
def test_the_default_view_has_x_to_the_right(up, right):
    camera = Camera.looking_at([[-1, -1, -1], [1, 1, 1]], up=up)
    assert camera.axes[0] @ right > 0.7


def test_looking_along_up_still_gives_a_picture():
    camera = Camera.looking_at([[-1, -1, -1], [1, 1, 1]], (0, 0, -5), (0, 0, 2))
    assert np.allclose(camera.axes, [[1, 0, 0], [0, -1, 0], [0, 0, -1]])  # x right, y up, seen from above


@pytest.mark.parametrize("perspective", [False, True])
@pytest.mark.parametrize(
    "bounds", [[[1, 2, 3], [1, 2, 3]], [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]], [[-1e30] * 3, [1e30] * 3]]
)
def test_flat_and_extreme_boxes_give_finite_cameras(perspective, bounds):
    camera = Camera.looking_at(bounds, (0, 0, -1), perspective=perspective)
    shown = camera.project(corners(np.array(bounds, dtype=float)))
    assert np.isfinite(shown).all()
    assert (shown[:, :2] >= 0.0).all()
    assert (shown[:, :2] <= (960, 720)).all()


def test_supersampling_scales_the_picture_only():
    camera = Camera.looking_at(BOUNDS, width=64, height=48)
    fine = camera.supersampled(3)
    points = np.random.default_rng(3).uniform(*BOUNDS, (20, 3))
    assert (fine.width, fine.height) == (192, 144)
    assert np.allclose(fine.project(points), camera.project(points) * (3, 3, 1), rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": [[0, 0, 0]]}, "bounds"),
        ({"bounds": [[1, 0, 0], [0, 1, 1]]}, "bounds"),
        ({"direction": (0, 0, 0)}, "direction is zero"),
        ({"up": (0, 0, 0)}, "up is zero"),
        ({"width": 0}, "width"),
        ({"height": 2.5}, "height"),
        ({"field_of_view": 4.0}, "field_of_view"),
        ({"margin": 0.5}, "margin"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        Camera.looking_at(**{"bounds": BOUNDS, **settings})


def test_a_perspective_camera_needs_a_near_plane():
    with pytest.raises(InputError, match="near"):
        Camera(np.zeros(3), np.eye(3), 4, 4, 1.0, perspective=True, near=0.0)
