"""The shrine in two browsers: one drags a hand that grasps a part, the other sees the part move and cannot take it."""

import numpy as np

from jostle.viewer.session import Session
from jostle.viewer.subject import subject_of
from tests.browser.conftest import save_for_people


def test_a_part_in_a_hand_moves_in_both_browsers_and_is_its_holders(view_of):
    view = view_of(Session(subject_of(["shrine"])))
    session, names = view.session, view.session.subject.start.names
    hand, part = names.index("west hand"), names.index("great roof")
    # The hand is laid on the roof where the motion has it when it grasps; the way there would be many drags.
    frames = session.subject.frames
    touches = next(k for k in range(frames.count) if not np.array_equal(frames.at(k + 1)[0][part], frames.at(0)[0][part]))
    session.seek(touches)
    page, other = view.open(), view.open(settle=False)
    view.until(lambda: view.page._snapshot.frame == touches, page)
    assert page.person.gizmo.body == hand
    assert page.get_by_label("grasp").count() == 1

    page.get_by_label("grasp").check()
    before = view.picture(other)
    start = session.world.poses[part].copy()
    view.drag(page, 2, 0.4, release=False)
    view.until(lambda: session.holding.held() == {hand: page.person.name, part: page.person.name}, page)
    view.until(lambda: not np.array_equal(session.world.poses[part], start), page)
    after = view.picture(other)
    save_for_people(after, "carried.png")
    assert (np.abs(after - before).max(axis=2) > 20).sum() > 300  # the other one sees it
    labels = [view.page.bodies.bodies[body].label for body in (hand, part)]
    assert [label.text for label in labels] == [f"held by {page.person.name}"] * 2
    assert not session.take(part, other.person.name)

    page.mouse.up()
    page.wait_for_timeout(200)
    assert session.holding.holder_of(part) == page.person.name  # a hand that is closed keeps what it has
    moved = session.world.poses[part] @ np.linalg.inv(start)
    ours = session.world.poses[hand] @ np.linalg.inv(frames.at(touches)[0][hand])
    assert np.allclose(moved, ours, atol=1e-9)  # rigidly with the hand
    page.get_by_label("grasp").uncheck()
    view.until(lambda: session.holding.held() == {}, page)
    assert session.take(part, other.person.name)
    assert view.problems == []
