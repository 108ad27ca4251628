"""Hands that grasp: what a closed hand touches goes along, is held for all to see, is handed over, and is free when let go."""

from dataclasses import replace

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of, subject_of_world

BLUE, GREEN = 0, 1  # hands
NEAR, FAR, FIXED = 2, 3, 4


def two_hands():
    """Two hands at x = -2 and 6, two parts at 0 and 2.5 between them, a post beside the path; all are cubes of edge 1."""
    world = jostle.World()
    cube = build.box((1.0, 1.0, 1.0))
    for name, place in {"blue": (-2.0, 0, 0), "green": (6.0, 0, 0), "near": (0, 0, 0), "far": (2.5, 0, 0)}.items():
        world.add(cube, translation(place), name)
    world.add(cube, translation((0.0, -3.0, 0.0)), "post", static=True)
    return replace(subject_of_world(world, "two hands"), hands=(BLUE, GREEN))


@pytest.fixture
def session():
    return Session(two_hands())


def at(session, body):
    return session.world.poses[body, :3, 3].tolist()


def drag(session, hand, who, *places):
    """Drag a hand from place to place, and let the mouse go."""
    assert session.take(hand, who)
    for place in places:
        assert session.move(hand, translation(place), who)
        session.round()
    session.release(hand, who)
    return session.round()


def test_a_closed_hand_takes_along_what_it_touches_and_an_open_one_does_not(session):
    drag(session, BLUE, "b", (-0.9, 0, 0), (-0.9, 3, 0))
    assert at(session, NEAR) == [0, 0, 0]  # it touched it, and passed
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0), (-0.9, 3, 0))
    assert at(session, NEAR) == [0.0, 3.0, 0.0]
    assert session.holding.held() == {BLUE: "b", NEAR: "b"}  # also while nobody drags
    drag(session, BLUE, "b", (-0.9, 3, 2))  # the next drag goes on with it
    assert at(session, NEAR) == [0.0, 3.0, 2.0]
    session.grasp("b", False)
    session.round()
    assert session.holding.held() == {}
    drag(session, BLUE, "b", (-5, 0, 0))
    assert at(session, NEAR) == [0.0, 3.0, 2.0]


def test_a_hand_that_lies_at_a_body_grasps_it_when_it_is_closed(session):
    drag(session, BLUE, "b", (-0.9, 0, 0))
    session.grasp("b", True)  # nobody drags
    session.round()
    assert session.holding.held() == {BLUE: "b", NEAR: "b"}


def test_what_is_carried_turns_with_the_hand(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0))
    before = session.world.poses[[BLUE, NEAR]].copy()
    assert session.take(BLUE, "b")
    pose = translation((1.0, 2.0, 3.0)) @ rotation_about((1.0, 2.0, -1.0), 0.7)
    session.move(BLUE, pose, "b")
    after = session.round().poses
    assert np.allclose(after[NEAR], pose @ np.linalg.inv(before[0]) @ before[1], atol=1e-12)


def test_two_people_carry_two_parts_at_once_and_neither_takes_the_others(session):
    for who in "bg":
        session.grasp(who, True)
    drag(session, BLUE, "b", (-0.9, 0, 0))
    drag(session, GREEN, "g", (3.4, 0, 0))
    assert session.holding.held() == {BLUE: "b", NEAR: "b", GREEN: "g", FAR: "g"}
    assert not session.take(NEAR, "g")
    assert not session.take(BLUE, "g")
    assert not session.move(NEAR, np.eye(4), "g")
    assert session.take(BLUE, "b")
    assert session.take(GREEN, "g")
    session.move(BLUE, translation((-0.9, 0, 1)), "b")
    session.move(GREEN, translation((3.4, 0, -1)), "g")
    session.round()
    assert at(session, NEAR) == [0.0, 0.0, 1.0]
    assert at(session, FAR) == [2.5, 0.0, -1.0]


def test_a_part_is_handed_over_when_the_one_opens_while_the_other_is_closed_on_it(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0), (-0.9, 5, 0))
    session.grasp("g", True)
    drag(session, GREEN, "g", (0.9, 5, 0))
    assert session.holding.holder_of(NEAR) == "b"  # still in the first hand
    session.grasp("b", False)
    session.round()
    assert session.holding.held() == {GREEN: "g", NEAR: "g"}
    drag(session, GREEN, "g", (0.9, 5, 4))
    assert at(session, NEAR) == [0.0, 5.0, 4.0]
    drag(session, BLUE, "b", (-3, 0, 0))
    assert at(session, NEAR) == [0.0, 5.0, 4.0]


def test_whose_browser_is_gone_lets_go_of_hand_and_part(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0))
    session.leave("b")
    session.round()
    assert session.holding.held() == {}
    assert session.take(NEAR, "g")
    session.release(NEAR, "g")
    drag(session, BLUE, "g", (-4, 0, 0))  # whose hands are open
    assert at(session, NEAR) == [0, 0, 0]


def test_a_hand_has_room_for_one_body_and_fixed_ones_and_hands_stay(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (0.0, -2.1, 0))  # at the post
    assert session.holding.held() == {BLUE: "b"}
    drag(session, BLUE, "b", (5.1, 0, 0))  # at the other hand
    assert session.holding.held() == {BLUE: "b"}
    drag(session, BLUE, "b", (-0.9, 0, 0), (1.55, 0, 0))  # with the one against the other
    assert session.holding.held() == {BLUE: "b", NEAR: "b"}
    assert at(session, FAR) == [2.5, 0, 0]


def test_a_body_that_is_dragged_out_of_a_hand_leaves_it(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0))
    assert session.take(NEAR, "b")
    session.move(NEAR, translation((0, 7, 0)), "b")
    session.round()
    session.release(NEAR, "b")
    assert session.holding.held() == {BLUE: "b"}
    drag(session, BLUE, "b", (-4, 0, 0))
    assert at(session, NEAR) == [0, 7, 0]


def test_put_back_empties_the_hands(session):
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0), (-0.9, 3, 0))
    session.put_back()
    session.round()
    assert np.array_equal(session.world.poses, session.subject.start.poses[0])
    drag(session, BLUE, "b", (-5, 0, 0))
    assert at(session, NEAR) == [0, 0, 0]


def test_a_part_in_a_hand_pushes_what_is_in_its_way_where_bodies_are_pushed():
    session = Session(two_hands(), Settings(respond="push"))
    session.grasp("b", True)
    drag(session, BLUE, "b", (-0.9, 0, 0))
    drag(session, BLUE, "b", *[(x, 0, 0) for x in np.linspace(-0.9, 1.5, 60)])
    assert at(session, NEAR) == pytest.approx([2.4, 0, 0], abs=0.2)
    assert at(session, FAR)[0] > 3.0


def test_scenes_say_which_bodies_are_hands():
    assert subject_of(["shrine"]).hands == (0, 1)
    room = subject_of(["room"])
    assert [room.start.names[hand] for hand in room.hands] == ["grasping hand"]
