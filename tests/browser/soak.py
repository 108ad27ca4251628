"""A soak: random dragging, turning, clicking, switching and playing in a real browser, from one seed.

A browser without graphics hardware takes seconds for an action, so that requests to the session come in between. Exceptions and the
memory of the serving process are recorded.

    python -m tests.browser.soak --seconds 1800

prints a line after every visit to a scene, and at the end what was done; exit status 1 after an exception, or if memory grew too
much. The test (test_soak.py) runs it for JOSTLE_SOAK_SECONDS, thirty by default, in its own process: its memory is the viewer's.
"""

import argparse
import contextlib
import ctypes
import gc
import itertools
import os
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from jostle.geometry.pose import rotation_about, translation
from jostle.registry import METHODS
from jostle.viewer.session import Session
from jostle.viewer.settings import RESPONSES, overlay_names
from jostle.viewer.subject import subject_of
from tests.browser.conftest import CHROMIUM, PATIENCE, SWITCHES, View

# Rigid and convex, for all methods; and the room, whose hands and sphere deform.
SCENES = ("spheres(count=5, faces=168)", "room")
VISIT = 15.0  # seconds at one scene, with one page or two
MOST_GROWTH = 0.10  # of the memory after the warm-up


class Overheard:
    """Standard error, also recorded: tracebacks of any thread or callback end there."""

    def __init__(self, stream):
        self._stream, self.text = stream, []

    def write(self, text):
        self.text.append(text)
        return self._stream.write(text)

    def flush(self):
        self._stream.flush()


class Soak:
    """Scenes served by this process, and random actions on them."""

    def __init__(self, browser, scenes=SCENES, seed=0, say=print):
        self.random = np.random.default_rng(seed)
        self.say = say
        self.done, self.faults, self.memory = Counter(), [], []
        self.views = [self._viewed(browser, scene) for scene in scenes]
        self._begin = time.monotonic()

    def _viewed(self, browser, scene):
        view = View(browser, Session(subject_of([scene])))
        tell = view.page.__class__.problem

        def problem(text):
            self.done["messages"] += 1
            if "bug in jostle" in text:
                self.faults.append(f"{scene}, {view.session.settings}: {text}")
            tell(view.page, text)

        view.page.problem = problem
        return view

    # ------------------------------------------------------------------ visits

    def warm_up(self):
        """Use all methods with all overlays, options and responses, and pay a short visit, in all scenes.

        After it all code is loaded, which is most of the memory. There is no page before the visit.
        """
        for view in self.views:
            session = view.session
            for method in METHODS:
                session.change(method=method, respond="show", overlay="nothing")
                self._finished(view)
                if session.settings.method != method:
                    continue  # refused: these bodies are not for it
                for overlay in overlay_names(METHODS[method]())[1:]:
                    session.change(overlay=overlay, contacts=bool(self.random.integers(2)))
                    self._request_drag(view, most=3)
                    self._finished(view)
                session.change(overlay="nothing")
                for change in ({"clearance": 0.05}, {"solid": True}, {"self_collision": True}, {"budget": 2.0}):
                    session.change(**change)  # refused where it is not served
                    self._request_drag(view, most=3)
                    self._finished(view)
                    session.change(**{each: type(value)(0) for each, value in change.items()})
                for respond in RESPONSES:
                    session.change(respond=respond)
                    self._request_drag(view, most=3)
                    self._finished(view)
            session.change(method="wide_tree", respond="show")
            self._visit(view, 1.0)

    def go_on(self, seconds):
        """Act at random for some seconds, not counting the opening of pages; measure memory around every visit."""
        self._measure_memory()
        visits = itertools.cycle(self.views)
        while seconds > 0.0 and not self.faults:
            self._visit(next(visits), min(seconds, VISIT))
            self._measure_memory()
            seconds -= VISIT

    def _visit(self, view, seconds):
        """Spend some seconds at one scene, part of them with a second browser."""
        page, other = self._opened(view), None
        end = time.monotonic() + seconds
        view.session.change(respond="show")
        actions = (self._drag, self._drag, self._turn, self._click, self._choose_on_page, self._tick_on_page, self._press_on_page)
        requests = (self._request_drag, self._request_drag, self._switch, self._overlay, self._overlay, self._set, self._play)
        while time.monotonic() < end and not self.faults:
            if other is None and self.random.random() < 0.1:
                other = self._opened(view)
            elif other is not None and self.random.random() < 0.3:
                if self.random.random() < 0.5:
                    self._drag(view, other, release=False)  # and leave while holding the body
                self._closed(view, other)
                other = None
            for request in self.random.choice(requests, self.random.integers(12)):
                request(view)
                self._did(request)
                time.sleep(0.05)
            action = actions[self.random.integers(len(actions))]
            action(view, page if other is None or self.random.random() < 0.6 else other)
            self._did(action)
        for each in (page, other):
            if each is not None:
                self._closed(view, each)
        view.until_gone()
        view.session.pause()

    def _did(self, action):
        self.done[action.__name__.strip("_").replace("_", " ")] += 1

    # ------------------------------------------------------------------ actions on the page

    def _opened(self, view):
        page = view.open(settle=False)
        page.on("console", lambda message: self._console(message))
        self.done["opened"] += 1
        return page

    def _console(self, message):
        if message.type == "error":
            self.faults.append(f"browser: {message.text}")

    def _closed(self, view, page):
        self.faults.extend(f"browser: {fault}" for fault in page.faults)
        view.pages.remove(page)
        page.context.close()
        self.done["closed"] += 1

    def _drag(self, view, page, release=True):
        if page.person.gizmo._handle is not None:
            length = self.random.uniform(-1.5, 1.5)
            view.drag(page, int(self.random.integers(3)), length, release=release, steps=int(self.random.integers(3, 7)))

    def _turn(self, view, page):
        if page.person.gizmo._handle is not None:
            view.turn(page, int(self.random.integers(3)), self.random.uniform(-1.5, 1.5), steps=5)

    def _click(self, view, page):
        page.mouse.click(*self.random.uniform((10, 140), (330, 410)).tolist())

    def _choose_on_page(self, view, page):
        wanted = str(self.random.choice(list(METHODS)))
        view.choose(page, "method", wanted)

    def _tick_on_page(self, view, page):
        page.get_by_label(str(self.random.choice(["solid", "self-collision", "points and normals", "sound when bodies"]))).click()

    def _press_on_page(self, view, page):
        page.get_by_role("button", name=str(self.random.choice(["forward", "back", "Put all back"]))).first.click()

    # ------------------------------------------------------------------ requests to the session

    def _request_drag(self, view, most=20):
        """Drag a body in many small moves."""
        session = view.session
        body = int(self.random.integers(len(session.subject.start.names)))
        pose = np.array(session.world.poses[body])
        if not session.take(body, "hand"):
            return
        step = translation(self.random.normal(0.0, 0.08, 3) / view.page.scale.factor)
        for _ in range(int(self.random.integers(1, most))):
            pose = pose @ rotation_about(self.random.normal(size=3), 0.1) @ step
            session.move(body, pose, "hand")
            time.sleep(0.01)
        session.release(body, "hand")

    def _switch(self, view):
        view.session.change(method=str(self.random.choice(list(METHODS))))

    def _overlay(self, view):
        # From the current method's list, as in a panel; the method may have changed when the request is handled.
        names = overlay_names(view.session.settings.made_method())
        view.session.change(overlay=str(self.random.choice(names)) if self.random.random() < 0.5 else names[0])

    def _set(self, view):
        option = str(self.random.choice(["clearance", "budget", "solid", "self_collision", "contacts", "respond"]))
        value = {
            "clearance": float(self.random.choice([0.0, 0.05])), "budget": float(self.random.choice([0.0, 2.0])),
            "respond": str(self.random.choice(RESPONSES)),
        }.get(option, bool(self.random.integers(2)))  # fmt: skip
        view.session.change(**{option: value})

    def _play(self, view):
        session = view.session
        action = str(self.random.choice(["play", "pause", "pause", "back", "seek"]))
        if action == "seek":
            session.seek(int(self.random.integers(100)))
        else:
            {"play": session.play, "pause": session.pause, "back": session.put_back}[action]()
        if action == "play" and self.random.random() < 0.7:  # a motion that always plays leaves a slow browser no time to drag
            time.sleep(0.5)
            session.pause()

    # ------------------------------------------------------------------ results

    def _finished(self, view):
        """Wait until all requests so far are handled."""
        reached, end = [], time.monotonic() + PATIENCE
        view.session._request(lambda: reached.append(True))
        while not reached or view.session.stage.busy_since is not None:
            assert time.monotonic() < end, "the session is stuck"
            time.sleep(0.005)

    def _measure_memory(self):
        # Free memory is returned first: how much of it the allocator keeps varies, and says nothing about leaks.
        gc.collect()  # also reports exceptions of tasks that nobody awaited
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.memory.append((time.monotonic() - self._begin, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
        seconds, size = self.memory[-1]
        self.say(f"{seconds:6.0f} s  {size:6.1f} MB  {sum(self.done.values())} things done, {len(self.faults)} exceptions")

    @property
    def growth(self):
        """Growth of memory since the warm-up, as a fraction."""
        return self.memory[-1][1] / self.memory[0][1] - 1.0

    def close(self):
        for view in self.views:
            view.close()


def main(arguments=None):
    """Soak; return the exit status."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("JOSTLE_SOAK_SECONDS", "30")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scene", action="append", help="may be repeated; by default rigid spheres and the room")
    asked = parser.parse_args(arguments)
    heard = sys.stderr = Overheard(sys.stderr)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        soak = Soak(browser, asked.scene or SCENES, asked.seed, lambda line: print(line, flush=True))  # noqa: T201
        try:
            soak.warm_up()
            soak.go_on(asked.seconds)
        finally:
            soak.close()
            browser.close()
    gc.collect()
    faults = soak.faults + [text for text in ["".join(heard.text)] if text.strip()]
    print(", ".join(f"{what} {times}" for what, times in sorted(soak.done.items())))  # noqa: T201
    for fault in faults:
        print(f"exception: {fault}")  # noqa: T201
    print(f"memory grew by {100 * soak.growth:.1f} %; the limit is {100 * MOST_GROWTH:.0f} %")  # noqa: T201
    return int(bool(faults) or soak.growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
