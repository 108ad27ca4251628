"""The combs: exactly five collisions from a known frame on, at exact points."""

from fractions import Fraction

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.report.report import Kind
from jostle.scenes.combs import HEIGHT, MOTIONS, PLACES, STEP, axis_rotation, comb_cone

FIVE = {(k, k + 5) for k in range(5)}


def pairs_of(motion):
    world = motion.world()
    found = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        found.append(set(world.detect(rows="pairs").pairs))
    return found


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("faces", [400, 10_000])
def test_five_pairs_collide_from_the_known_frame_on_and_none_before(motion, place, faces):
    recorded = scenes.make_scene("combs", motion=motion, place=place, faces=faces).record()
    assert pairs_of(recorded) == [set()] * 90 + [FIVE] * 10


@pytest.mark.parametrize("seed", [0, 5, 17])
def test_tips_share_a_single_point_exactly_whichever_way_all_is_turned(seed):
    motion = scenes.make_scene("combs", faces=1_000, touch=7, frames=9, seed=seed).record()
    mesh = motion.meshes[0]
    tip = [Fraction(x) for x in mesh.vertices[-1].tolist()]
    for frame, together in ((6, False), (7, True), (8, False)):
        for a, b in FIVE:
            placed = []
            for body in (a, b):
                pose = motion.poses[frame, body].tolist()
                placed.append([sum(Fraction(pose[i][j]) * tip[j] for j in range(3)) + Fraction(pose[i][3]) for i in range(3)])
            assert (placed[0] == placed[1]) is together
    world = motion.world()
    motion.apply(world, 7)
    pairs = world.detect(rows="pairs").pairs
    assert set(pairs) == FIVE
    assert (pairs.kind == Kind.TOUCHING).all()
    motion.apply(world, 8)
    assert (world.detect(rows="pairs").pairs.kind == Kind.CROSSING).all()


def boxes_overlap(motion, frame):
    """The number of pairs of cones, one of each comb, whose boxes overlap."""
    placed = [mesh.vertices @ pose[:3, :3].T + pose[:3, 3] for mesh, pose in zip(motion.meshes, motion.poses[frame], strict=True)]
    low, high = np.array([points.min(axis=0) for points in placed]), np.array([points.max(axis=0) for points in placed])
    return int(((low[:5, None] <= high[None, 5:]).all(axis=2) & (low[None, 5:] <= high[:5, None]).all(axis=2)).sum())


def test_boxes_of_aligned_tips_do_not_overlap_before_they_touch_those_of_offset_combs_always_do():
    aligned = scenes.make_scene("combs", faces=400, touch=12, frames=16).record()
    assert [boxes_overlap(aligned, frame) for frame in range(16)] == [0] * 12 + [5] * 4
    assert np.allclose(np.diff(aligned.poses[:, 5, 2, 3]), -STEP, atol=0.0, rtol=1e-12)
    offset = scenes.make_scene("combs", place="offset", faces=400, touch=12, frames=16).record()
    assert min(boxes_overlap(offset, frame) for frame in range(16)) >= 5


@pytest.mark.parametrize("faces", [40, 100, 1_000, 3_000])
def test_cones_are_exactly_convex_nearly_cones_and_about_as_large_as_asked_for(faces):
    mesh = comb_cone(faces)
    assert mesh.is_closed
    assert mesh.is_convex
    assert len(mesh.faces) == pytest.approx(faces, rel=0.21)
    radius = np.linalg.norm(mesh.vertices[:, :2], axis=1)
    straight = np.linalg.norm(mesh.vertices[1, :2]) * (1.0 - mesh.vertices[:, 2] / HEIGHT)
    assert np.abs(radius - straight)[1:].max() < 0.005 * radius.max()  # without the middle of the base


@pytest.mark.small
def test_the_24_ways_along_the_axes_are_exact_and_different():
    ways = [axis_rotation(number) for number in range(24)]
    assert len({way.tobytes() for way in ways}) == 24
    assert (ways[0] == np.eye(4)).all()
    assert (axis_rotation(24) == ways[0]).all()
    for way in ways:
        assert (way[:3, :3] @ way[:3, :3].T == np.eye(3)).all()
        assert np.linalg.det(way[:3, :3]) == pytest.approx(1.0)


@pytest.mark.small
@pytest.mark.parametrize(
    "given",
    [{"motion": "twist"}, {"place": "aside"}, {"faces": 399}, {"touch": 0}, {"frames": 0}],
    ids=lambda given: next(iter(given)),
)
def test_what_cannot_be_is_refused(given):
    with pytest.raises(InputError, match=next(iter(given))):
        scenes.make_scene("combs", **given)
