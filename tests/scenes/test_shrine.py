"""The shrine: the paper's face count, one open part, hands that place parts."""

import numpy as np
import pytest

from jostle import InputError, scenes

# What each part rests on, hangs from or leans against in the end.
CARRIES = {
    **{f"cross pole {k}": "stones" for k in range(2)},
    **{f"pole {k}": f"cross pole {k}" for k in range(2)},
    "plinth": "pole 0",
    "floor": "plinth",
    "body": "floor",
    **{f"door {k}": "body" for k in range(4)},
    **{f"{kind} {k}": "floor" for kind in ("pillar", "gate", "railing") for k in range(4)},
    "tie plate": "body",
    "great roof": "tie plate",
    **{f"{kind} {k}": "great roof" for kind in ("bell", "frond") for k in range(4)},
    "neck": "great roof",
    "small roof": "neck",
    "jewel": "small roof",
    "phoenix": "jewel",
    "banner": "great roof",
}
HANDS = ("west hand", "east hand")


@pytest.fixture(scope="module")
def scene():
    return scenes.make_scene("shrine", pace=12)


@pytest.fixture(scope="module")
def touching(scene):
    """The pairs that touch in each frame, by name."""
    motion = scene.record()
    world, found = motion.world(), []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        pairs = world.detect(rows="pairs").pairs
        found.append({(motion.names[a], motion.names[b]) for a, b in zip(pairs.body_a, pairs.body_b, strict=True)})
    return found


def test_its_parts_have_as_many_faces_as_the_paper_says_and_only_the_banner_is_open(scene):
    count = {body.name: len(body.mesh.faces) for body in scene.bodies}
    assert sum(count[name] for name in CARRIES) == 5263
    assert set(count) == {*CARRIES, *HANDS, "stones"}
    assert [count[hand] for hand in HANDS] == [960, 960]
    assert [body.name for body in scene.bodies if not body.mesh.is_closed] == ["banner"]
    assert [body.name for body in scene.bodies if body.hand == "grasps"] == list(HANDS)
    for body in scene.bodies:
        if body.mesh.is_closed:
            assert body.mesh.volume > 0.0, body.name


def test_in_the_end_every_part_touches_what_carries_it_and_no_hand_does(touching):
    assert touching[0] == set()
    together = {frozenset(pair) for pair in touching[-1]}
    for part, carrier in CARRIES.items():
        assert frozenset((part, carrier)) in together, part
    assert not any(hand in pair for pair in touching[-1] for hand in HANDS)


def test_parts_are_carried_by_a_hand_that_touches_them_and_meet_nothing_before_their_places(scene, touching):
    poses = scene.record().poses
    names = [body.name for body in scene.bodies]
    for part in CARRIES:
        way = poses[:, names.index(part)]
        moves = np.flatnonzero((way[1:] != way[:-1]).any(axis=(1, 2))) + 1
        assert len(moves) == 8  # two thirds of the pace
        for frame in moves:
            others = {other for pair in touching[frame] if part in pair for other in pair} - {part}
            assert others & set(HANDS), (part, frame)
            if frame < moves[-1]:
                assert not others - set(HANDS), (part, frame)


def test_both_hands_carry_at_once(scene):
    poses = scene.record().poses
    moves = (poses[1:] != poses[:-1]).any(axis=(2, 3))
    parts = moves[:, 2:-1]
    assert (parts.sum(axis=1) == 2).any()
    assert parts.sum(axis=1).max() == 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_lay_the_parts_elsewhere_and_end_in_the_same_shrine(scene, seed):
    other = scenes.make_scene("shrine", pace=12, seed=seed)
    assert other.world().detect(rows="pairs").pairs.body_a.size == 0
    for body, again in zip(scene.bodies[2:-1], other.bodies[2:-1], strict=True):
        assert not np.array_equal(body.pose, again.pose)
        assert np.array_equal(body.track[-1], again.track[-1])


def test_a_pace_that_is_too_quick_is_refused():
    with pytest.raises(InputError, match="pace"):
        scenes.make_scene("shrine", pace=3)
