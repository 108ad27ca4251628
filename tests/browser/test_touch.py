"""Actions on one page, one after another: turn, click, hear, approach, push, add a file; and take out a headlight's cover.

The tests of this module share a page, which takes seconds to open: each resets bodies and settings."""

import numpy as np
import pytest

from jostle.fitting import read_path
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.shapes.save import save
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of
from tests.browser.conftest import View, amber, red, save_for_people
from tests.browser.test_page import two_boxes


@pytest.fixture(scope="module")
def shared(browser):
    view = View(browser, Session(two_boxes()))
    view.shown = view.open(settle=False)
    yield view
    assert view.problems == []
    view.close()


@pytest.fixture
def view(shared):
    """The page with two boxes apart, and the gizmo on the left one."""
    shared.session.change(**vars(Settings()))
    shared.session.put_back()
    heard(shared)
    shared.shown.person.pick(0)
    return shared


def heard(view, page=None):
    """Wait until all requests so far are handled."""
    reached = []
    view.session._request(lambda: reached.append(True))
    view.until(lambda: reached and view.session.stage.busy_since is None, page or view.shown)


def at_rest(view, page):
    """Wait until no drag goes on: during a guided move the world holds goals that are only tried, within other bodies."""
    before = None
    while view.session.detections != before:
        before = view.session.detections
        heard(view, page)
        heard(view, page)  # in a later round: the first may have resumed a drag after its requests


def place(view, gap):
    """Put the right box so far from the left one."""
    view.session.move(1, translation((view.session.world.poses[0, 0, 3] + 1.0 + gap, 0.0, 0.0)), "test")
    view.until(lambda: np.isclose(view.page._snapshot.poses[1, 0, 3] - view.page._snapshot.poses[0, 0, 3], 1.0 + gap), view.shown)


def test_the_gizmo_turns_a_body(view):
    before = view.session.world.poses[0].copy()
    view.turn(view.shown, 2, 0.7)
    view.until(lambda: not np.allclose(view.session.world.poses[0], before) and not view.session.holding.held(), view.shown)
    heard(view)
    turned = view.session.world.poses[0]
    assert turned[:3, 3] == pytest.approx(before[:3, 3], abs=1e-6)
    assert turned[2, :3] == pytest.approx([0, 0, 1], abs=1e-6)
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.7, abs=0.2)


def test_a_click_picks_a_body_and_one_beside_picks_none(view):
    person = view.shown.person
    assert person.gizmo.body == 0
    middle = view.page.scale.points(view.session.world.poses[1, :3, 3])
    view.shown.mouse.click(*view.on_screen(view.shown, middle))
    view.until(lambda: person.gizmo.body == 1, view.shown)
    view.until(lambda: view.shown.get_by_label("gizmo on").input_value() == "right", view.shown)
    view.shown.mouse.click(12, 60)  # of the sky
    view.shown.wait_for_timeout(500)
    assert person.gizmo.body == 1


def test_near_faces_are_amber_and_not_red(view):
    assert amber(view.picture(view.shown)) < 10
    place(view, 0.05)
    view.session.change(clearance=0.1)
    view.until(lambda: view.page._snapshot.found.near_pairs == 1, view.shown)
    picture = view.picture(view.shown)
    save_for_people(picture, "near.png")
    assert amber(picture) > 100
    assert red(picture) < 10
    assert view.shown.locator(".jostle-state").inner_text() == "near"


def test_images_of_a_method_are_shown_and_go(view):
    place(view, -0.3)
    view.session.change(method="image_space", overlay="depth images")
    images = view.shown.locator("img[src^=blob]")
    view.until(lambda: images.count() > 0, view.shown)
    image = images.first
    image.scroll_into_view_if_needed()
    view.until(lambda: image.evaluate("image => image.complete && image.naturalWidth > 0"), view.shown)
    save_for_people(view.picture(view.shown), "images.png")
    view.session.change(overlay="nothing")
    image.wait_for(state="hidden")


def test_a_pair_that_begins_to_touch_is_heard_unless_it_is_muted(view):
    sound = view.shown.get_by_label("sound when bodies begin to touch")
    knock = view.shown.locator("audio.jostle-knock")

    def last():
        return knock.get_attribute("data-knock") if knock.count() else None

    before = last()
    place(view, -0.2)
    view.until(lambda: last() != before, view.shown)
    before = last()
    place(view, -0.1)  # they go on touching
    place(view, 0.5)
    sound.click()
    view.until(lambda: not view.shown.person.hears.value, view.shown)
    place(view, -0.2)
    view.shown.wait_for_timeout(300)
    assert last() == before
    sound.click()
    view.until(lambda: view.shown.person.hears.value, view.shown)


def test_a_body_in_the_hand_pushes_another(view):
    place(view, 0.2)
    view.session.change(respond="push")
    heard(view)
    before = view.session.world.poses[1, 0, 3]
    view.drag(view.shown, 0, 0.8 * view.page.scale.factor)
    view.until(lambda: view.session.world.poses[1, 0, 3] > before + 0.1, view.shown)
    held = view.session.subject.start.poses[0, 0, 0, 3]
    view.until(lambda: view.session.world.poses[0, 0, 3] > held + 0.4, view.shown)


def test_a_file_is_added_on_the_page_and_a_bad_one_is_refused(view, tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"solid no")
    chosen = view.shown.locator("input[type=file]")
    chosen.set_input_files(tmp_path / "broken.stl")
    view.shown.get_by_text("broken.stl: ").first.wait_for()
    view.close_notices(view.shown)
    assert len(view.session.world) == 2
    chosen.set_input_files(save(build.icosahedron(0.4), tmp_path / "guest.stl"))
    view.until(lambda: len(view.session.world) == 3, view.shown)
    view.until(lambda: len(view.page._snapshot.poses) == 3, view.shown)
    view.choose(view.shown, "gizmo on", "guest")
    gizmo = view.shown.person.gizmo
    view.until(lambda: gizmo.body == 2 and gizmo._handle is not None, view.shown)
    before = view.session.world.poses[2].copy()
    view.close_notices(view.shown)  # of the upload
    save_for_people(view.picture(view.shown), "guest.png")
    view.drag(view.shown, 2, 0.5, steps=4)
    view.until(lambda: view.session.world.poses[2, 2, 3] > before[2, 3] + 0.1 and not view.session.holding.held(), view.shown)


def test_a_guided_part_stops_before_contact_and_its_path_is_saved(view_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    separation = 0.1
    view = view_of(Session(subject_of(["headlight(faces=14000)"]), Settings(method="bounding_tree"), fit=separation))
    page = view.open()
    session = view.session
    assert session.subject.start.names[page.person.gizmo.body] == "cover_1"
    view.drag(page, 2, 1.0)  # back, against the ledges that hold it
    view.until(lambda: session.stage.guides and not session.holding.held(), page)
    at_rest(view, page)
    view.until(lambda: "is stopped by" in page.locator(".jostle-fit").inner_text(), page)
    cover = session.world["cover_1"]
    truth = session.subject.start.world()
    truth.set_poses(session.world.poses)
    assert truth.distance("cover_1", page.locator(".jostle-fit b").last.inner_text()).distance >= 0.9 * separation
    moved = np.linalg.norm(cover.pose[:3, 3] - session.subject.start.poses[0, cover.id, :3, 3])
    assert 0.05 < moved < 5.0  # of the millimetres that it was drawn
    page.get_by_role("button", name="Save path").click()
    file = f"body_{cover.id}_way.csv"
    page.get_by_text(f"--move=cover_1 --path={file}").first.wait_for()
    assert np.allclose(read_path(tmp_path / file).poses[-1], cover.pose, atol=1e-9)
    assert view.problems == []
