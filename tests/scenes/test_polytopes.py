"""Polytopes that fill their share of the cube, and pairs that collide and part."""

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.scenes.bodies import MovingBody
from jostle.scenes.placing import places_apart
from jostle.scenes.polytopes import polytope_of_volume


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 2, 64, 500])
def test_polytopes_take_their_share_of_the_cube_whatever_their_number(count):
    scene = scenes.make_scene("polytopes", count=count)
    assert len(scene.bodies) == count
    assert len({id(body.mesh) for body in scene.bodies}) == 1
    assert len(scene.bodies[0].mesh.faces) == 36
    assert scene.bodies[0].mesh.is_convex
    assert (scene.cube, scene.response, scene.frames) == (100.0, "exchange", 1000)
    assert sum(body.mesh.volume for body in scene.bodies) == pytest.approx(0.025 * 100.0**3)
    speeds = [np.linalg.norm(body.velocity) / body.radius for body in scene.bodies]
    assert max(speeds) <= 0.1
    assert count < 64 or (min(speeds) < 0.02 and max(speeds) > 0.08)  # up to, not all alike


@pytest.mark.small
def test_balls_are_apart_and_inside_as_a_comparison_of_all_says():
    rng = np.random.default_rng(5)
    places = places_apart(rng, 300, 0.4, 8.0)
    assert np.abs(places).max() <= 4.0 - 0.4
    gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2)[np.triu_indices(300, 1)]
    assert gaps.min() > 0.8
    assert gaps.min() < 0.9  # crowded enough for the test to fail where cells are wrong


@pytest.mark.small
def test_the_polytope_has_the_volume_and_lies_about_the_origin():
    for volume in (1e-3, 1.0, 5e4):
        mesh = polytope_of_volume(volume)
        assert mesh.volume == pytest.approx(volume)
        assert np.abs(mesh.bounds.mean(axis=0)).max() < 1e-12 * mesh.size
        assert MovingBody("", mesh).radius < mesh.size


@pytest.mark.small
@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("polytopes", {"fill": 0.0}, r"fill is 0\.0"),
        ("polytopes", {"fill": 1.5}, r"fill is 1\.5"),
        ("polytopes", {"count": 0}, "count"),
        ("polytopes", {"count": 1, "fill": 1.0}, "does not fit into it"),
        ("polytopes", {"count": 40, "fill": 0.3}, "40 bodies do not fit"),
        ("polytopes", {"turn": np.inf}, "turn"),
        ("stellated", {"kind": "cubes"}, "kind"),
        ("stellated", {"start": 2.0}, "start is 2"),
    ],
)
def test_what_cannot_be_is_refused(name, given, message):
    with pytest.raises(InputError, match=message):
        scenes.make_scene(name, **given)


def test_each_pair_comes_together_once_and_parts():
    scene = scenes.make_scene("stellated")
    assert [len(body.mesh.faces) for body in scene.bodies] == [60, 60, 20, 20]
    assert scene.bodies[0].mesh.is_closed
    assert not scene.bodies[0].mesh.is_convex
    motion = scene.record()
    world = motion.world()
    touching = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        touching.append({tuple(pair) for pair in world.detect(rows="pairs").pairs})
    assert touching[0] == touching[-1] == set()
    assert set().union(*touching) == {(0, 1), (2, 3)}
    for a, b in ((0, 1), (2, 3)):
        gap = np.linalg.norm(motion.poses[:, a, :3, 3] - motion.poses[:, b, :3, 3], axis=1)
        nearest = int(gap.argmin())
        assert 3 < nearest < 20
        assert (np.diff(gap[: nearest + 1]) < 0.0).all()
        assert (np.diff(gap[nearest:]) > 0.0).all()


@pytest.mark.small
def test_one_kind_alone_is_the_one_of_both():
    both = scenes.make_scene("stellated").bodies
    for kind, pair in (("stellated_dodecahedra", both[:2]), ("icosahedra", both[2:])):
        alone = scenes.make_scene("stellated", kind=kind)
        assert kind.replace("_", " ") in alone.title
        for one, other in zip(alone.bodies, pair, strict=True):
            assert one.name == other.name
            assert one.pose.tobytes() == other.pose.tobytes()
