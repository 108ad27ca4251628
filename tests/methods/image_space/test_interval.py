"""Near and far depths of convex bodies decide each pixel as rays through all faces do."""

import numpy as np
import pytest

from jostle.geometry.pose import translation
from jostle.methods.image_space.workspace import ALL, INTERVAL, ONE, ONE_PER_PAIR, STENCIL
from jostle.shapes import build
from tests.methods.image_space.rays import common_at_pixels
from tests.methods.image_space.views import as_dict, views_and_renderer
from tests.tiny import box, random_pose

BODIES = [build.icosphere(1, 0.7), box((-0.5, -0.4, -0.6), (0.5, 0.4, 0.6)), build.polytope36(3), build.cone(20, 0.5, 1.2)]


@pytest.mark.parametrize("view", ["z", "centres"])
def test_pixels_and_depths_are_those_of_rays(view):
    rng = np.random.default_rng(4)
    colliding = free = 0
    for number in range(12):
        mesh_a, mesh_b = BODIES[number % 4], BODIES[number // 4]
        away = rng.normal(size=3)
        poses = random_pose(rng, 0.1), translation(away * rng.uniform(0.2, 1.1) / np.linalg.norm(away)) @ random_pose(rng, 0.0)
        views, renderer = views_and_renderer(mesh_a, poses[0], mesh_b, poses[1], resolution=13, view=view)
        for k in range(len(views.pair)):
            expected = common_at_pixels(views, k, mesh_a, mesh_b)
            found = as_dict(renderer.colliding_pixels(views, INTERVAL, ALL, 1), k)
            assert found.keys() == expected.keys()
            for pixel, [depths] in expected.items():
                assert found[pixel] == pytest.approx(depths, abs=1e-12)
            first = renderer.colliding_pixels(views, INTERVAL, ONE_PER_PAIR, 1)
            assert first.pixel.tolist() == sorted(expected)[:1]
            colliding, free = colliding + len(expected), free + views.size[k] ** 2 - len(expected)
    assert colliding > 150
    assert free > 500


def test_a_quick_look_finds_one_of_all_pixels_with_its_depths():
    rng = np.random.default_rng(5)
    fewer = 0
    for number in range(12):
        away = rng.normal(size=3)
        poses = random_pose(rng, 0.1), translation(away * rng.uniform(0.2, 1.1) / np.linalg.norm(away)) @ random_pose(rng, 0.0)
        views, renderer = views_and_renderer(BODIES[1 + number % 2], poses[0], BODIES[1], poses[1], resolution=20 + number)
        whole = as_dict(renderer.colliding_pixels(views, INTERVAL, ALL, 1))
        for how in (INTERVAL, STENCIL):
            quick = renderer.colliding_pixels(views, how, ONE_PER_PAIR, 1, quick=True)
            assert len(quick.pixel) == min(1, len(whole))
            for pixel, low, high in zip(quick.pixel.tolist(), quick.low.tolist(), quick.high.tolist(), strict=True):
                if how == INTERVAL:
                    assert (low, high) == pytest.approx(whole[pixel], abs=1e-12)
                assert whole[pixel][0] - 1e-12 <= low <= high <= whole[pixel][1] + 1e-12
            fewer += quick.drawn < 0.1 * views.size.sum() ** 2
    assert fewer > 6


@pytest.mark.small
def test_one_stops_at_the_first_pair_and_counts_what_it_looked_at():
    views, renderer = views_and_renderer(box(), None, box(), translation((0.3, 0.2, 0.1)), resolution=5)
    twice = views.select(np.array([0, 0]))._replace(pair=np.array([0, 1], np.int32))
    found = {wanted: renderer.colliding_pixels(twice, INTERVAL, wanted, 1) for wanted in (ALL, ONE_PER_PAIR, ONE)}
    assert [len(found[wanted].view) for wanted in (ONE_PER_PAIR, ONE)] == [2, 1]
    assert found[ALL].view.tolist() == sorted(found[ALL].view.tolist())
    assert [found[wanted].drawn for wanted in (ALL, ONE_PER_PAIR, ONE)] == [50, 50, 25]
    decisions = renderer.decide(twice, "interval", 1)
    assert decisions.pixels.tolist() == [1, 1]
    assert decisions.first.tolist() == [found[ONE].pixel[0]] * 2
    assert (decisions.near <= decisions.far).all()
