"""The paper's counts of faces decide each pixel as intervals do; coincident bodies collide, as they would not in the paper."""

import numpy as np
import pytest

from jostle.geometry.pose import rotation_about, translation
from jostle.methods.image_space.stencil import render_shapes
from jostle.methods.image_space.workspace import ALL, INTERVAL, ONE_PER_PAIR, STENCIL
from jostle.render.spans import scratch_for_drawing
from jostle.shapes import build
from tests.methods.image_space.views import as_dict, views_and_renderer
from tests.tiny import box, random_pose


def counts(mesh_a, pose_a, mesh_b, pose_b, exchanged=False):
    """The counts of the first rendering at 5 × 5 pixels along z, or of the second."""
    views, renderer = views_and_renderer(mesh_a, pose_a, mesh_b, pose_b, resolution=5, view="z")
    if len(views.pair) == 0:
        return set()
    far, count = np.empty((5, 5)), np.empty((5, 5), np.uint8)
    role = 1 if exchanged else 0
    matrices = views.to_tile[0]
    table = renderer._shapes.table.table
    render_shapes(table, role, 1 - role, matrices[role], matrices[1 - role], far, count, scratch_for_drawing())
    return set(count[np.isfinite(far)].tolist())


@pytest.mark.small
@pytest.mark.parametrize(
    ("low", "high", "first", "second"),
    [
        (-0.5, 0.5, {2}, {1}),  # B begins before A and ends inside it
        (0.25, 0.75, {2}, {1}),  # B inside A
        (0.5, 1.5, {1}, {2}),  # B begins inside A and ends behind it
        (-0.5, 1.5, {1}, {2}),  # A inside B
        (0.0, 1.0, {2}, {2}),  # the same depths: the second count is 2 as well
        (0.5, 1.0, {2}, {2}),  # the same far side
    ],
)
def test_the_cases_of_figure_1(low, high, first, second):
    other = box((0.25, 0.25, low), (0.75, 0.75, high))
    assert counts(box(), None, other, None) == first
    assert counts(box(), None, other, None, exchanged=True) == second
    views, renderer = views_and_renderer(box(), None, other, None, resolution=5, view="z")
    assert len(renderer.colliding_pixels(views, STENCIL, ALL, 1).view) == 25


def test_every_pixel_is_decided_as_by_intervals():
    rng = np.random.default_rng(8)
    bodies = [build.icosphere(2, 0.7), build.polytope36(5), build.torus(0.6, 0.25, 24, 12), build.stellated_dodecahedron(0.8)]
    colliding = both_convex = 0
    for number in range(24):
        mesh_a, mesh_b = bodies[number % 4], bodies[number // 4 % 4]
        away = rng.normal(size=3)
        poses = random_pose(rng, 0.1), translation(away * rng.uniform(0.0, 1.3) / np.linalg.norm(away)) @ random_pose(rng, 0.0)
        views, renderer = views_and_renderer(mesh_a, poses[0], mesh_b, poses[1], resolution=23)
        by_interval, by_stencil = (as_dict(renderer.colliding_pixels(views, how, ALL, 1)) for how in (INTERVAL, STENCIL))
        assert by_interval.keys() == by_stencil.keys()
        colliding += len(by_interval)
        if mesh_a.is_convex and mesh_b.is_convex:
            both_convex += len(by_interval)
            for pixel, (low, high) in by_stencil.items():  # a depth that both have
                assert by_interval[pixel][0] <= low == high <= by_interval[pixel][1]
        first = renderer.colliding_pixels(views, STENCIL, ONE_PER_PAIR, 1)
        assert len(first.view) == min(1, len(by_interval))
        for pixel, low in zip(first.pixel.tolist(), first.low.tolist(), strict=True):
            assert by_interval[pixel][0] <= low <= by_interval[pixel][1]
    assert colliding > 1000
    assert both_convex > 100


@pytest.mark.small
def test_coincident_bodies_collide_at_every_pixel_that_they_cover():
    for mesh in (box(), build.icosphere(1)):
        pose = rotation_about((1.0, 2.0, 0.5), 0.8)
        views, renderer = views_and_renderer(mesh, pose, mesh, pose, resolution=9)
        found = [renderer.colliding_pixels(views, how, ALL, 1).pixel.tolist() for how in (INTERVAL, STENCIL)]
        assert found[0] == found[1]
        assert len(found[0]) > 20
        assert len(renderer.colliding_pixels(views, STENCIL, ONE_PER_PAIR, 1).view) == 1
