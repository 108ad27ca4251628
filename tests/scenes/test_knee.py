"""The knee: closed parts apart, two portals, a probe that touches its goals."""

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.scenes import knee_parts as parts
from jostle.scenes.turned import Fineness
from tests.scenes.test_headlight import near

COARSE = 6_000


@pytest.fixture(scope="module")
def made():
    return {faces: scenes.make_scene("knee", faces=faces, frames=240) for faces in (COARSE, 50_000)}


@pytest.mark.small
@pytest.mark.parametrize("faces", [COARSE, 20_000, 50_000])
def test_every_part_is_one_closed_manifold_in_millimetres_and_there_are_about_as_many_faces_as_asked(faces):
    scene = scenes.make_scene("knee", faces=faces, frames=2)
    assert 0.8 * faces <= sum(len(body.mesh.faces) for body in scene.bodies) <= 1.2 * faces
    for body in scene.bodies:
        mesh = body.mesh
        assert mesh.units == "mm"
        assert mesh.is_closed
        assert mesh.volume > 0.0, body.name
        assert not mesh.component_of_face.any()
        sides = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, uses = np.unique(sides, axis=0, return_counts=True)
        assert (uses == 2).all(), body.name
        # Euler: bones, menisci and probe are balls, the capsule is a ring (two ends) with two handles (the portals).
        corners = len(np.unique(mesh.faces))
        assert corners - len(edges) + len(mesh.faces) == (2 - 2 * 3 if body.name == "capsule" else 2), body.name
        points = mesh.vertices[mesh.faces]
        assert np.linalg.norm(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), axis=1).min() > 1e-4


@pytest.mark.parametrize("faces", [COARSE, 50_000])
def test_no_two_parts_touch_or_are_nearer_than_two_tenths(made, faces):
    world = made[faces].world("wide_tree")
    for body in world:
        body.static = False
    assert near(world, 0.2) == []
    assert ("tibia", "inner meniscus") in near(world, 1.5)


@pytest.mark.parametrize("faces", [COARSE, 50_000])
def test_the_probe_touches_meniscus_tibia_and_femur_one_after_the_other_and_nothing_else(made, faces):
    motion = made[faces].record()
    world = motion.world("wide_tree")
    touched = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        touched += [name for name in sorted(other for pair in near(world, 0.0) for other in pair) if name != "probe"]
    in_turn = [name for k, name in enumerate(touched) if k == 0 or touched[k - 1] != name]
    assert in_turn == ["inner meniscus", "tibia", "femur"]


def test_the_tip_goes_as_deep_as_it_is_told(made):
    """By how far it must be drawn back along its hook to be free: about the press and what a slope adds to it."""
    scene = scenes.make_scene("knee", faces=50_000, press=0.4, frames=240)
    motion = scene.record()
    world = motion.world("wide_tree")
    deepest = {}
    for frame in range(len(motion)):
        motion.apply(world, frame)
        for pair in near(world, 0.0):
            other = next(name for name in pair if name != "probe")
            back = 0.0
            while near(world, 0.0) and back < 2.0:
                back += 0.05
                pose = motion.poses[frame, -1].copy()
                pose[:3, 3] -= back * pose[:3, 0]
                world["probe"].teleport(pose)
            deepest[other] = max(deepest.get(other, 0.0), back)
            break
    assert set(deepest) == {"inner meniscus", "tibia", "femur"}
    assert all(0.3 <= depth <= 1.0 for depth in deepest.values()), deepest


@pytest.mark.small
def test_the_rod_passes_through_the_portal_wherever_the_tip_is():
    scene = scenes.make_scene("knee", faces=COARSE, frames=300)
    portal = parts.portal_place(-1.0)
    track = scene.bodies[-1].track
    for pose in track:
        along = pose[:3, 2]
        offset = portal - pose[:3, 3]
        assert np.linalg.norm(offset - (offset @ along) * along) < parts.PORTAL - parts.PROBE_RADIUS - 1.0
    assert np.abs(np.linalg.norm(np.diff(track[:, :3, 3], axis=0), axis=1)).max() < 2.5


@pytest.mark.small
def test_portals_are_round_holes_through_the_wall():
    mesh = parts.capsule(Fineness(1.0))
    for side in (-1.0, 1.0):
        away = np.linalg.norm(mesh.vertices - parts.portal_place(side), axis=1)
        rim = np.sort(away)[:20]
        assert rim.min() > 0.8 * parts.PORTAL
        assert rim.max() < 1.3 * parts.PORTAL


@pytest.mark.small
def test_bones_are_where_their_functions_say():
    bone = parts.bone(parts.tibia_solid, (0.0, 3.0, -13.0), 70.0, 20, 40, "tibia")
    assert np.abs(parts.tibia_solid(bone.vertices)).max() < 1e-6 * 70.0
    x, y = np.array([-20.0, 0.0, 25.0]), np.array([4.0, -10.0, 0.0])
    for height, solid in ((parts.top_of_tibia(x, y), parts.tibia_solid), (parts.bottom_of_femur(x, y), parts.femur_solid)):
        assert np.abs(solid(np.stack([x, y, height], axis=1))).max() < 1e-6
    assert (parts.bottom_of_femur(x, y) > parts.top_of_tibia(x, y) + 5.0).all()


@pytest.mark.small
def test_a_seed_shakes_the_hand_and_nothing_else():
    first, second = (scenes.make_scene("knee", faces=COARSE, frames=50, seed=seed) for seed in (0, 1))
    for a, b in zip(first.bodies, second.bodies, strict=True):
        assert a.mesh.digest == b.mesh.digest
    apart = np.linalg.norm(first.bodies[-1].track[:, :3, 3] - second.bodies[-1].track[:, :3, 3], axis=1)
    assert 0.0 < apart.max() < 0.5


@pytest.mark.small
@pytest.mark.parametrize(("values", "words"), [({"faces": 500}, "faces"), ({"press": 5.0}, "press"), ({"frames": 0}, "frames")])
def test_values_that_make_no_knee_are_refused(values, words):
    with pytest.raises(InputError, match=f"scene 'knee'.*{words}"):
        scenes.make_scene("knee", **values)
