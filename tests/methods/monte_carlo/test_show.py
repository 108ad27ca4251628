"""What the method shows of itself: discs where facets are, segments between them, planes in the middle."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.monte_carlo.show import average_planes, discs_of
from jostle.shapes import build


@pytest.fixture(scope="module")
def world():
    world = jostle.World("monte_carlo")
    world.add(build.blob(3000, seed=1))
    world.add(build.blob(3000, seed=2), translation((1.5, 0.1, 0)) @ rotation_about((1, 2, 3), 0.7))
    world.detect()
    return world


def test_pairs_are_segments_between_the_centres_of_facets(world):
    pairs = world._detector.sample_pairs()
    overlay = world.overlay("pairs")
    assert overlay.segments.shape == (len(pairs.body_a), 2, 3)
    assert len(overlay.segments) > 20
    assert len(overlay.discs) == 0
    shapes = world._detector._shapes
    for end, body, facet in ((0, pairs.body_a, pairs.facet_a), (1, pairs.body_b, pairs.facet_b)):
        for number in (0, 1):
            rows = body == number
            pose = world.poses[number]
            expected = shapes[number].centre[facet[rows]] @ pose[:3, :3].T + pose[:3, 3]
            assert np.allclose(overlay.segments[rows, end], expected, atol=1e-12)
    assert f"{len(pairs.body_a)} sample pairs ({int(pairs.touching.sum())} touching)" in overlay.title


def test_shells_are_the_facets_in_use_each_once_and_levels_add_up(world):
    pairs = world._detector.sample_pairs()
    in_use = set(zip(pairs.body_a.tolist(), pairs.facet_a.tolist(), strict=True))
    in_use |= set(zip(pairs.body_b.tolist(), pairs.facet_b.tolist(), strict=True))
    shells = world.overlay("shells")
    assert len(shells.discs) == len(in_use)
    assert np.allclose(np.linalg.norm(shells.discs[:, 3:6], axis=1), 1.0, atol=1e-6)
    assert (shells.discs[:, 6] > 0).all()
    levels = range(len(world._detector._shapes[0].level_first) - 1)
    single = [world.overlay(f"level {level}").discs for level in levels]
    assert sum(map(len, single)) == len(in_use)
    assert len(single[0]) > 0  # the blobs touch
    assert world.overlay("level 15").discs.shape == (0, 7)


def test_planes_are_in_the_middle_and_turned_from_a_into_b(world):
    planes = world.overlay("planes").discs
    segments = world.overlay("pairs").segments
    assert np.allclose(planes[:, :3], segments.mean(axis=1), atol=1e-12)
    assert np.allclose(np.linalg.norm(planes[:, 3:6], axis=1), 1.0)
    discs = np.array([[0, 0, 0, 0, 0, 1, 2.0], [0, 0, 0, 1, 0, 0, 2.0], [0, 0, 0, 1, 0, 0, 1.0]])
    others = np.array([[0, 0, 2, 0, 0, -1, 1.0], [0, 3, 0, 1, 0, 0, 5.0], [0, 0, 0, 1, 0, 0, 5.0]])
    expected = [[0, 0, 1, 0, 0, 1, 1], [0, 1.5, 0, 0, 1, 0, 2], [0, 0, 0, 1, 0, 0, 1]]
    assert np.allclose(average_planes(discs, others), expected)


def test_everything_is_shown_by_default_and_other_names_are_refused(world):
    everything = world.overlay()
    assert len(everything.discs) == len(world.overlay("shells").discs) + len(world.overlay("planes").discs)
    assert len(everything.segments) == len(world.overlay("pairs").segments)
    with pytest.raises(jostle.InputError, match="choose one of shells, pairs, planes, or 'level 0'"):
        world.overlay("boxes")
    fresh = jostle.World("monte_carlo")
    fresh.add(build.icosphere(1))
    assert len(fresh.overlay().discs) == len(fresh.overlay().segments) == 0


def test_facets_of_deforming_bodies_follow_their_vertices():
    mesh = build.blob(3000, seed=1)
    shape = jostle.MonteCarlo().prepare_shape(mesh)
    facets = np.arange(0, len(shape.radius), 7)
    at_rest = discs_of(shape, facets, mesh.vertices, True)
    assert np.allclose(at_rest, discs_of(shape, facets, mesh.vertices, False), atol=1e-6)
    pose = translation((1, 2, 3)) @ rotation_about((1, 2, 3), 0.7)
    moved = discs_of(shape, facets, mesh.vertices @ pose[:3, :3].T + pose[:3, 3], True)
    assert np.allclose(moved[:, :3], at_rest[:, :3] @ pose[:3, :3].T + pose[:3, 3], atol=1e-9)
    assert np.allclose(moved[:, 3:6], at_rest[:, 3:6] @ pose[:3, :3].T, atol=1e-9)
    stretched = discs_of(shape, facets, 2.0 * mesh.vertices, True)
    assert np.allclose(stretched[:, 3:6], at_rest[:, 3:6], atol=1e-9)
    level_0 = facets < shape.level_first[1]
    assert np.allclose(stretched[level_0, 6], 2.0 * at_rest[level_0, 6])
