"""A real browser and a viewer in this process: skipped with the reason where one is missing, required where
JOSTLE_REQUIRE_BROWSER is 1.

All tests of a process share one browser, and those of a subject one page: opening a page takes seconds where a processor draws it.
"""

import contextlib
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

CHROMIUM = os.environ.get("JOSTLE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--autoplay-policy=no-user-gesture-required",
]
PATIENCE = 120.0  # seconds: a busy machine draws slowly
WIDTH, HEIGHT = 680, 420


def missing(what):
    if os.environ.get("JOSTLE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"JOSTLE_REQUIRE_BROWSER is 1, and {what}")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser():
    try:
        import viser  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError as error:
        missing(f"{error.name} is not installed; pip install 'jostle[viewer]' playwright")
    if CHROMIUM is None:
        missing("there is no chromium; apt-get install chromium, or name one in JOSTLE_CHROMIUM")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield running
        running.close()


class View:
    """A viewer in this process, and browsers that look at it."""

    def __init__(self, browser, session, host="127.0.0.1"):
        from jostle.viewer.page import Page
        from jostle.viewer.serve import free_port, open_server

        self.browser, self.session = browser, session
        self.port = free_port()
        self.server = open_server(host, self.port, "jostle")
        self.page = Page(self.server, session, shadows=False)  # which take most of the time where a processor draws
        self.problems, self.pages = [], []
        self.page.problem = self.problems.append
        session.start()

    def open(self, settle=True):
        """Another browser; return its page, by default when bodies are drawn."""
        context = self.browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.set_default_timeout(1e3 * PATIENCE)
        page.faults, page.asked_for = [], []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: page.faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.on("request", lambda request: page.asked_for.append(request.url))
        known = set(self.page.people)
        page.goto(self.server.guard.admission.address)
        page.wait_for_selector(".jostle-state", timeout=1e3 * PATIENCE)
        self.close_notices(page)  # viser says that a processor draws; that is no news here
        self.until(lambda: set(self.page.people) - known, page)
        page.person = self.page.people[next(iter(set(self.page.people) - known))]
        self.pages.append(page)
        if settle:
            self.settled(page)
        return page

    def close_notices(self, page):
        """Close the boxes with sentences: they lie over the bodies."""
        page.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(button => button.click())")
        page.locator(".mantine-Notification-root").first.wait_for(state="detached")

    def until_gone(self):
        """Wait until the server knows that nobody looks any more."""
        end = time.monotonic() + PATIENCE
        while self.page.people:
            assert time.monotonic() < end, "a page that was closed is still there"
            time.sleep(0.02)

    def close(self):
        for page in self.pages:
            assert page.faults == []
            with contextlib.suppress(Exception):
                page.context.close()
        assert self.server.guard.closed == 0  # nothing that a real page sends is malformed
        self.page.close()
        self.session.stop()
        self.server.stop()

    def until(self, wanted, page):
        """Wait while the browser goes on; fail if it never comes."""
        end = time.monotonic() + PATIENCE
        while not wanted():
            assert time.monotonic() < end, "what was waited for did not come"
            page.wait_for_timeout(50)

    def settled(self, page):
        """Two pictures in a row are equal: all that was sent is drawn."""
        self.server.flush()
        page.wait_for_timeout(300)
        before, end = b"", time.monotonic() + PATIENCE
        while (picture := page.screenshot()) != before:
            assert time.monotonic() < end
            before = picture
            page.wait_for_timeout(250)
        return picture

    def picture(self, page):
        """(h,w,3) what the browser shows of the bodies, without the panel and without the gizmo, which has red arrows."""
        import io

        import imageio.v3 as imageio

        handle = page.person.gizmo._handle
        if handle is not None:
            handle.visible = False
        taken = self.settled(page)
        if handle is not None:
            handle.visible = True
        shown = imageio.imread(io.BytesIO(taken))[..., :3].astype(int)
        return shown[:, : WIDTH - 330]

    def on_screen(self, page, place):
        """(x, y) in pixels of a place (3,) on the page, seen by the camera of this browser."""
        camera = page.person.client.camera
        w, x, y, z = camera.wxyz
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        right, down, ahead = (np.asarray(place) - camera.position) @ turn
        half = 0.5 * camera.image_height
        zoom = half / np.tan(0.5 * camera.fov)
        return 0.5 * camera.image_width + zoom * right / ahead, half + zoom * down / ahead

    def drag(self, page, axis, by, release=True, steps=5):
        """Drag the gizmo of a browser along an axis of its body, by a length on the page."""
        place, axes, scale = self._gizmo(page)
        # The arrow ends at the scale of the gizmo; it is taken near its end.
        grip = place + 0.85 * scale * axes[axis]
        self._pull(page, [grip + share * by * axes[axis] for share in np.linspace(0.0, 1.0, steps)], release)

    def turn(self, page, axis, by, release=True, steps=5):
        """Turn the gizmo of a browser about an axis of its body, by an angle."""
        place, axes, scale = self._gizmo(page)
        first, second = axes[(axis + 1) % 3], axes[(axis + 2) % 3]
        # The arc runs from one axis to the next at 0.65 of the gizmo's scale; it is taken in its middle.
        angles = np.pi / 4 + by * np.linspace(0.0, 1.0, steps)
        self._pull(page, [place + 0.65 * scale * (np.cos(a) * first + np.sin(a) * second) for a in angles], release)

    def _gizmo(self, page):
        """Place, axes (rows) and scale of a browser's gizmo."""
        handle = page.person.gizmo._handle
        w, *vector = handle.wxyz
        axes = [axis + 2 * w * np.cross(vector, axis) + 2 * np.cross(vector, np.cross(vector, axis)) for axis in np.eye(3)]
        return np.array(handle.position), axes, handle.scale

    def _pull(self, page, places, release):
        """Take hold at the first of places (3,) of the page, and go to the others."""
        start, *way = [self.on_screen(page, place) for place in places]
        page.mouse.move(*start)
        page.wait_for_timeout(150)
        page.mouse.down()
        for each in way:
            page.mouse.move(*each)
            page.wait_for_timeout(30)
        if release:
            page.mouse.up()

    def choose(self, page, what, option):
        """Choose an option of a dropdown of the panel by its label."""
        page.get_by_label(what, exact=True).first.click()
        page.get_by_role("option", name=option, exact=True).click()


def red(picture):
    """How many pixels are of the red of touching faces, in light or shade."""
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return int(((r > 90) & (r > 2.2 * g) & (r > 2.0 * b) & (abs(g - b) < 60)).sum())


def amber(picture):
    """How many pixels are of the amber of near faces, in light or shade."""
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return int(((r > 120) & (g > 0.55 * r) & (g < 0.9 * r) & (b < 0.45 * r)).sum())


def save_for_people(picture, name):
    """Keep a picture where JOSTLE_PICTURES says, to look at."""
    folder = os.environ.get("JOSTLE_PICTURES")
    if folder:
        import imageio.v3 as imageio

        imageio.imwrite(Path(folder) / name, picture.astype(np.uint8))


@pytest.fixture
def view_of(browser):
    """Return what opens a viewer of a session, closed at the end."""
    opened = []

    def view(session, **options):
        opened.append(View(browser, session, **options))
        return opened[-1]

    yield view
    for each in opened:
        each.close()
