"""The convex crowds: printed sizes, paths independent of them, little penetration."""

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.scenes.convex_crowd import capped_cone

NAMES = ("ellipsoids", "truncated_cones", "cones")
FACES = (36, 144, 576, 11_520)


def centres_of(motion, scene):
    return np.stack(
        [motion.poses[:, k, :3, :3] @ body.centre + motion.poses[:, k, :3, 3] for k, body in enumerate(scene.bodies)], axis=1
    )


@pytest.mark.parametrize("name", NAMES)
def test_bodies_are_convex_and_have_the_faces_asked_for(name):
    for faces in FACES:
        (body,) = scenes.make_scene(name, count=1, faces=faces).bodies
        assert len(body.mesh.faces) == faces
        assert body.mesh.is_closed
        assert faces > 1_000 or body.mesh.is_convex  # in whole numbers: seconds for the largest


@pytest.mark.parametrize("name", NAMES)
def test_ways_are_the_same_whatever_the_number_of_faces(name):
    few, many = (scenes.make_scene(name, count=20, faces=faces) for faces in (36, 2_304))
    one, other = few.record(30), many.record(30)
    assert np.abs(centres_of(one, few) - centres_of(other, many)).max() < 1e-13
    assert np.abs(one.poses[:, :, :3, :3] - other.poses[:, :, :3, :3]).max() == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_graze_each_other_without_response(name):
    scene = scenes.make_scene(name, faces=144)
    assert (len(scene.bodies), scene.response, scene.frames) == (100, "none", 100)
    motion = scene.record()
    world = motion.world()
    touching = []
    for frame in range(0, 100, 33):
        motion.apply(world, frame)
        touching.append(len(world.detect(rows="pairs").pairs))
    assert touching[0] == 0
    assert touching[1] >= 3
    assert touching[-1] >= 15
    # In 100 frames nobody moves farther than half of its radius.
    steps = np.linalg.norm(centres_of(motion, scene)[-1] - centres_of(motion, scene)[0], axis=1)
    assert steps.max() <= 0.52 * scene.bodies[0].radius


def test_cones_over_few_corners_stay_in_the_cube():
    for seed in range(6):
        scene = scenes.make_scene("cones", count=30, faces=6 + 4 * (seed % 2), seed=seed, speed=0.3, frames=30)
        motion = scene.record()
        placed = [
            body.mesh.vertices @ np.swapaxes(motion.poses[:, k, :3, :3], 1, 2) + motion.poses[:, k, None, :3, 3]
            for k, body in enumerate(scene.bodies)
        ]
        assert np.abs(placed).max() <= scene.cube / 2.0


@pytest.mark.small
def test_caps_are_round_and_what_cannot_be_is_refused():
    for faces in (12, 36, 48, 2_304, 11_520):
        mesh = capped_cone(faces)
        assert len(mesh.faces) == faces
        assert np.allclose(np.ptp(mesh.bounds, axis=0)[2], 1.0)
    for faces in (38, 8):
        with pytest.raises(InputError, match="faces"):
            scenes.make_scene("truncated_cones", faces=faces)
    with pytest.raises(InputError, match="fill"):
        scenes.make_scene("ellipsoids", fill=0.0)
    with pytest.raises(InputError, match="face_count"):
        scenes.make_scene("cones", faces=37)
