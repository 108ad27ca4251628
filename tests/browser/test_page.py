"""The page in a real browser: bodies are seen, red when and only when they touch, a gizmo moves them, methods are switched, motions
play, and two browsers share one world. Opening a page takes most of the time, so a test goes through one story on it."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.viewer.session import Session
from jostle.viewer.subject import subject_of, subject_of_world
from tests.browser.conftest import red, save_for_people


def two_boxes(gap=0.6):
    world = jostle.World()
    world.add(build.box((1.0, 1.0, 1.0)), translation((-0.5 - 0.5 * gap, 0.0, 0.0)), "left")
    world.add(build.box((1.0, 1.0, 1.0)), translation((0.5 + 0.5 * gap, 0.0, 0.0)), "right")
    return subject_of_world(world, "two boxes")


def test_a_drag_makes_faces_red_and_another_browser_sees_it(view_of):
    view = view_of(Session(two_boxes()))
    page = view.open(settle=False)
    session = view.session
    picture = view.picture(page)
    save_for_people(picture, "free.png")
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50  # not blank
    assert red(picture) < 10
    assert page.locator(".jostle-state").inner_text() == "free"

    # A drag brings them together; the body is held meanwhile.
    before = session.world.poses[0].copy()
    factor = view.page.scale.factor
    view.drag(page, 0, 0.9 * factor, release=False)
    view.until(lambda: len(view.page._snapshot.found.pairs) == 1, page)
    assert session.holding.held() == {0: page.person.name}
    page.mouse.up()
    view.until(lambda: session.holding.held() == {}, page)
    moved = session.world.poses[0] - before
    assert moved[0, 3] == pytest.approx(0.9, abs=0.25)
    assert np.abs(moved[1:3, 3]).max() < 1e-6
    picture = view.picture(page)
    save_for_people(picture, "touching.png")
    assert red(picture) > 100
    assert page.locator(".jostle-state").inner_text() == "touching"
    assert page.locator("audio.jostle-knock").count() == 1  # it was heard

    # Another method finds the same.
    faces = {body: found.tolist() for body, found in view.page._snapshot.found.touching.items()}
    page.get_by_role("textbox", name="method").or_(page.locator("input[value=wide_tree]")).first.click()
    page.get_by_role("option", name="face_octree").click()
    view.until(lambda: session.settings.method == "face_octree", page)
    view.until(lambda: session.detections and len(session.timings.curve()) == 0, page)
    assert {body: found.tolist() for body, found in view.page._snapshot.found.touching.items()} == faces
    assert red(view.picture(page)) > 100

    # A second browser sees the same, and what the first one does.
    other = view.open(settle=False)
    assert red(view.picture(other)) > 100
    view.drag(page, 0, -0.9 * factor, release=False)
    view.until(lambda: not view.page._snapshot.found.pairs, page)
    assert red(view.picture(other)) < 10
    # Held by the first one: the second cannot take it; when the first one's browser is gone, it can.
    assert not session.take(0, other.person.name)
    page.context.close()
    view.until(lambda: session.holding.held() == {}, other)
    assert session.take(0, other.person.name)
    assert view.problems == []


def test_a_motion_of_deforming_bodies_plays(view_of):
    view = view_of(Session(subject_of(["deforming_spheres(count=2, faces=168)"])))
    page = view.open(settle=False)
    first = view.picture(page)
    page.get_by_role("button", name="forward").click()
    view.until(lambda: view.page._snapshot.frame == 1, page)
    page.get_by_role("button", name="Play").click()
    view.until(lambda: view.page._snapshot.frame >= 12, page)
    page.get_by_role("button", name="Pause").click()
    view.until(lambda: not view.session.playback.playing, page)
    later = view.picture(page)
    save_for_people(later, "motion.png")
    assert (np.abs(first - later).max(axis=2) > 20).sum() > 300
    frame = view.page._snapshot.frame
    poses, vertices = view.session.subject.frames.at(frame)
    assert np.array_equal(view.page._snapshot.poses, poses)
    assert np.allclose(
        view.page.bodies.bodies[0].surface.vertices / view.page.scale.factor,
        vertices[0] - view.page.bodies.bodies[0].centre,
        atol=1e-5,
    )
    assert view.problems == []
