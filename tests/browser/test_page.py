"""The page in a real browser: bodies are seen, red when and only when they touch, a gizmo moves them, methods are switched, motions
play, and two browsers share one world."""

import numpy as np
import pytest

import jostle
from jostle.motion.pose import translation
from jostle.shapes import build
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of_world
from tests.browser.conftest import red, save_for_people


def two_boxes(gap=0.6):
    world = jostle.World()
    world.add(build.box((1.0, 1.0, 1.0)), translation((-0.5 - 0.5 * gap, 0.0, 0.0)), "left")
    world.add(build.box((1.0, 1.0, 1.0)), translation((0.5 + 0.5 * gap, 0.0, 0.0)), "right")
    return subject_of_world(world, "two boxes")


def test_red_when_and_only_when_they_touch_by_a_drag(view_of):
    view = view_of(Session(two_boxes()))
    page = view.open()
    picture = view.picture(page)
    save_for_people(picture, "free.png")
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert red(picture) < 20
    assert page.locator(".jostle-state").inner_text() == "free"
    assert page.person.gizmo.body == 0
    factor = view.page.scale.factor
    before = view.session.world.poses[0].copy()
    view.drag(page, 0, 0.9 * factor)
    view.until(lambda: len(view.page._snapshot.found.pairs) == 1, page)
    picture = view.picture(page)
    save_for_people(picture, "touching.png")
    assert red(picture) > 200
    moved = view.session.world.poses[0] - before
    assert moved[0, 3] == pytest.approx(0.9, abs=0.15)
    assert np.abs(moved[1:3, 3]).max() < 1e-6
    assert view.session.holding.held() == {}
