"""Whole pixels: what touches is reported at any resolution, what is farther apart than a pixel's diagonal is not."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.image_space.workspace import ALL, CONSERVATIVE, INTERVAL
from jostle.shapes import build
from tests.methods.image_space.views import as_dict, views_and_renderer
from tests.tiny import box, random_pose, tetrahedron

VIEWS = ("x", "y", "z", "centres", "axes", "separating")


def world_of(mesh_a, mesh_b, pose=None, **settings):
    world = jostle.World(jostle.ImageSpace(conservative=True, **settings))
    world.add(mesh_a)
    world.add(mesh_b, pose)
    return world


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("resolution", [1, 2, 7, 64])
def test_boxes_that_touch_by_a_face_an_edge_or_a_corner_are_reported(view, resolution):
    for away in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0.5, 0.25, 1), (-1, 1, -1)):
        for shift in (0.0, 1e3):
            base, pose = translation((shift, 0, 0)), translation(np.add(away, (shift, 0, 0)))
            world = jostle.World(jostle.ImageSpace(conservative=True, view=view, resolution=resolution))
            world.add(box(), base)
            world.add(box(), pose)
            assert world.detect(rows="pairs"), away


@pytest.mark.parametrize("view", ["z", "centres", "axes"])
def test_needles_and_plates_that_sampling_misses(view):
    needle = jostle.Mesh([[0, 0, 0], [0, 0.001, 0.002], [0.002, 0.001, 0], [3, 2, 1]], tetrahedron().faces)
    plate = box((-1, -1, 0.5), (1, 1, 0.5 + 1e-6))
    rng = np.random.default_rng(1)
    for _ in range(5):
        pose = random_pose(rng, 0.0)
        for resolution in (1, 4, 33):
            world = world_of(
                plate.moved(pose), needle.moved(pose @ translation((-0.6, -0.4, 0.1))), view=view, resolution=resolution
            )
            assert world.detect(rows="pairs")
    assert not world_of(plate, needle, translation((4.0, 0, 0)), view=view).detect(rows="pairs")


def test_flat_bodies_and_faces_without_area_collide_where_they_are():
    flat = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], name="flat")
    line = jostle.Mesh([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5]], [[0, 1, 2], [0, 2, 1]], name="line")
    for view in VIEWS:
        assert world_of(flat, box((0.2, 0.2, -1), (0.3, 0.3, 1)), view=view).detect()
        assert world_of(flat, flat, translation((0.25, 0.25, 0)), view=view).detect()
        assert world_of(line, box((0.9, 0.9, 0.9), (2, 2, 2)), view=view).detect()
        assert not world_of(flat, box((0.7, 0.7, -1), (0.9, 0.9, 1)), view=view, resolution=200).detect()
        assert not world_of(line, box((0.9, 0.1, 0.1), (2, 0.2, 0.2)), view=view, resolution=64).detect()


@pytest.mark.parametrize("concave", [False, True])
def test_pixels_hold_those_of_centres_and_their_depths(concave):
    rng = np.random.default_rng(2)
    mesh_a, mesh_b = (
        (build.torus(0.6, 0.25, 16, 8), build.stellated_dodecahedron(0.7)) if concave else (build.icosphere(2, 0.7), box())
    )
    grown = total = 0
    for _ in range(6):
        poses = random_pose(rng, 0.3), random_pose(rng, 0.3)
        views, renderer = views_and_renderer(mesh_a, poses[0], mesh_b, poses[1], resolution=19)
        sampled, whole = (as_dict(renderer.colliding_pixels(views, how, ALL, 1)) for how in (INTERVAL, CONSERVATIVE))
        assert sampled.keys() <= whole.keys()
        for pixel, (low, high) in sampled.items():
            assert whole[pixel][1] - whole[pixel][0] >= high - low
        grown, total = grown + len(whole) - len(sampled), total + len(sampled)
    assert 0 < grown < total


@pytest.mark.parametrize("view", ["z", "centres", "axes"])
def test_never_when_farther_apart_than_the_accuracy(view):
    rng = np.random.default_rng(6)
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        pose = rotation_about(rng.normal(size=3), 1.0)
        # The distance of two balls is known: their middles are 1 apart, and vertices lie on them.
        ball = build.icosphere(3, 0.45)
        for accuracy, radius in ((0.09, 0.45), (0.3, 0.35)):
            other = build.icosphere(3, radius)
            world = world_of(ball, other, translation(axis) @ pose, accuracy=accuracy, view=view)
            assert not world.detect(rows="pairs")
        assert world_of(ball, build.icosphere(3, 0.5502), translation(axis * 0.99) @ pose, accuracy=0.3, view=view).detect(
            rows="pairs"
        )
