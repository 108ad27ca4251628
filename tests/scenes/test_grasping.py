"""Two hands grasp a ball: table 1's faces, rigid bones, fingers that stop."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.scenes.bodies import MovingBody

grasp = sys.modules["jostle.scenes.grasping"]  # the package has a function of that name

TABLE_1 = (1860, 2592, 3744, 4896, 7200, 9792, 10944, 14400, 18720, 21600, 28512, 33632, 42768, 63248, 76032)


@pytest.mark.small
@pytest.mark.parametrize("faces", TABLE_1)
def test_hands_and_ball_have_the_faces_of_the_table_exactly(faces):
    capsules, ball = grasp.parts_with(faces)
    assert len(capsules) == 19
    assert 2 * sum(len(capsule.faces) for capsule in capsules) + len(ball.faces) == faces
    assert 0.015 <= len(ball.faces) / faces <= 0.13


@pytest.mark.small
def test_other_numbers_are_nearly_met_and_too_few_are_refused():
    for faces in (600, 1_001, 5_555, 31_415):
        capsules, ball = grasp.parts_with(faces)
        assert 2 * sum(len(capsule.faces) for capsule in capsules) + len(ball.faces) == pytest.approx(faces, rel=0.1)
    for given in ({"faces": 599}, {"turn": 0.0}, {"turn": 1.0}, {"frames": 0}):
        with pytest.raises(InputError, match=next(iter(given))):
            scenes.make_scene("grasping", **given)


@pytest.fixture(scope="module")
def hands():
    scene = scenes.make_scene("grasping", faces=3_744)
    return scene, scene.record()


def touching(motion):
    world = motion.world()
    found = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        found.append({(motion.names[a], motion.names[b]) for a, b in world.detect(rows="pairs").pairs})
    return found


def test_all_ten_fingers_touch_the_ball_in_the_last_frame_and_not_all_before(hands):
    scene, motion = hands
    assert 60 <= scene.frames == len(motion) <= 89  # the paper has 68 to 89
    pairs = touching(motion)
    assert pairs[0] == set()
    fingers = {f"{side} {name}" for side in ("upper", "lower") for name in ("thumb", "index", "middle", "ring", "little")}
    assert {bone.rpartition(" ")[0] for _, bone in pairs[-1]} == fingers
    assert {first for frame in pairs for first, _ in frame} == {"ball"}  # the hands do not touch each other
    assert len({bone.rpartition(" ")[0] for _, bone in pairs[-2]}) < 10
    for earlier, later in pairwise(pairs):
        assert earlier <= later  # who touches stays


def test_a_finger_moves_until_it_touches_and_no_farther(hands):
    _, motion = hands
    pairs = touching(motion)
    for side in ("upper", "lower"):
        for name in ("thumb", "index", "middle", "ring", "little"):
            tip = motion.names.index(f"{side} {name} {2 if name == 'thumb' else 3}")
            moves = np.abs(np.diff(motion.poses[:, tip], axis=0)).max(axis=(1, 2)) > 0.0
            stop = next(frame for frame, found in enumerate(pairs) if any(f"{side} {name}" in bone for _, bone in found))
            assert moves[:stop].all()
            assert not moves[stop:].any()


@pytest.mark.small
def test_bones_share_a_ball_at_their_joints_however_the_finger_is_bent():
    capsules, _ = grasp.parts_with(7_200)
    for finger in grasp.fingers_of(capsules):
        assert np.linalg.norm(finger.hinge) == pytest.approx(1.0)
        open_hand = grasp.bent(finger, 0.0)
        assert np.abs(open_hand - np.eye(4)).max() < 1e-15
        for angle in (0.3, 0.9):
            poses = grasp.bent(finger, angle)
            for k in range(1, len(poses)):
                joint = np.append(finger.joints[k], 1.0)
                assert np.allclose(poses[k] @ joint, poses[k - 1] @ joint, atol=1e-14)
        # The joint is as far from the pole as from the first ring: the middle of the ball at the end of the bone.
        for bone, joint in zip(finger.bones, finger.joints, strict=True):
            away = np.linalg.norm(capsules[bone].vertices[:3] - joint, axis=1)
            assert np.ptp(away) < 1e-12


def test_a_hand_is_one_group_of_convex_bodies_and_the_ball_is_none(hands):
    scene, _ = hands
    assert [body.group for body in scene.bodies] == [None] + [0] * 19 + [1] * 19
    assert all(body.mesh.is_convex for body in scene.bodies)
    assert isinstance(scene.bodies[0], MovingBody)
    assert len({body.name for body in scene.bodies}) == 39
