"""A soak: one seed's random dragging, turning, clicking, switching and playing for a while, through a real browser and, because a
browser without graphics hardware does one thing a second at most, between that by wishes given to the session directly. Every
exception is kept, and the memory of the process that serves.

    python -m tests.browser.soak --seconds 1800

prints a line after every half minute at one scene, and at the end what was done; exit status 1 if there was an exception or
memory grew too much.
The test (test_soak.py) runs the same for JOSTLE_SOAK_SECONDS, sixty by default. The process is one of its own in either case:
what it holds is the viewer's, not that of other tests.
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
VISIT = 30.0  # seconds at one scene, with one page or two
MOST_GROWTH = 0.10  # of the memory after the warm-up


class Overheard:
    """Standard error, also kept: a traceback of any thread or callback ends there."""

    def __init__(self, stream):
        self._stream, self.text = stream, []

    def write(self, text):
        self.text.append(text)
        return self._stream.write(text)

    def flush(self):
        self._stream.flush()


class Soak:
    """Scenes that are served by this process, and a hand that does whatever comes to its mind."""

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
            self.done["told"] += 1
            if "bug in jostle" in text:
                self.faults.append(f"{scene}, {view.session.settings}: {text}")
            tell(view.page, text)

        view.page.problem = problem
        return view

    # ------------------------------------------------------------------ one after another

    def warm_up(self):
        """All methods with all overlays, questions and answers to touching, and a short visit, in all scenes.

        After it all code is loaded, which is most of the memory. Without a page up to the visit: nobody looks.
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
                    self._by_wish(view, most=3)
                    self._finished(view)
                session.change(overlay="nothing")
                for wish in ({"clearance": 0.05}, {"solid": True}, {"self_collision": True}, {"budget": 2.0}):
                    session.change(**wish)  # refused where it is not served
                    self._by_wish(view, most=3)
                    self._finished(view)
                    session.change(**{each: type(value)(0) for each, value in wish.items()})
                for respond in RESPONSES:
                    session.change(respond=respond)
                    self._by_wish(view, most=3)
                    self._finished(view)
            session.change(method="wide_tree", respond="show")
            self._visit(view, 5.0)

    def go_on(self, seconds):
        """Do random things for so long, not counting the opening of pages; memory is looked at before and after every visit."""
        self._look_at_memory()
        visits = itertools.cycle(self.views)
        while seconds > 0.0 and not self.faults:
            self._visit(next(visits), min(seconds, VISIT))
            self._look_at_memory()
            seconds -= VISIT

    def _visit(self, view, seconds):
        """Some seconds at one scene, with a second browser for a while."""
        page, other = self._opened(view), None
        end = time.monotonic() + seconds
        view.session.change(respond="show")
        actions = (self._drag, self._drag, self._turn, self._click, self._choose_on_page, self._tick_on_page, self._press_on_page)
        wishes = (self._by_wish, self._by_wish, self._switch, self._overlay, self._overlay, self._set, self._play)
        while time.monotonic() < end and not self.faults:
            if other is None and self.random.random() < 0.1:
                other = self._opened(view)
            elif other is not None and self.random.random() < 0.3:
                if self.random.random() < 0.5:
                    self._drag(view, other, release=False)  # and goes away with the body in its hand
                self._closed(view, other)
                other = None
            for wish in self.random.choice(wishes, self.random.integers(5)):
                wish(view)
                self._did(wish)
                time.sleep(0.1)
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

    # ------------------------------------------------------------------ what a hand does, on the page

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

    # ------------------------------------------------------------------ what a hand wishes, without the page

    def _by_wish(self, view, most=20):
        """A drag with a move at every instant."""
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
        # Of the list of the method that is chosen now, as a panel has it; the method may be another when it is heard.
        names = overlay_names(view.session.settings.made_method())
        view.session.change(overlay=str(self.random.choice(names)) if self.random.random() < 0.5 else names[0])

    def _set(self, view):
        wish = str(self.random.choice(["clearance", "budget", "solid", "self_collision", "contacts", "respond"]))
        value = {
            "clearance": float(self.random.choice([0.0, 0.05])), "budget": float(self.random.choice([0.0, 2.0])),
            "respond": str(self.random.choice(RESPONSES)),
        }.get(wish, bool(self.random.integers(2)))  # fmt: skip
        view.session.change(**{wish: value})

    def _play(self, view):
        session = view.session
        wish = str(self.random.choice(["play", "pause", "pause", "back", "seek"]))
        if wish == "seek":
            session.seek(int(self.random.integers(100)))
        else:
            {"play": session.play, "pause": session.pause, "back": session.put_back}[wish]()
        if wish == "play" and self.random.random() < 0.7:  # a motion that always plays leaves a slow browser no time for hands
            time.sleep(0.5)
            session.pause()

    # ------------------------------------------------------------------ what came of it

    def _finished(self, view):
        """Wait for all wishes so far."""
        reached, end = [], time.monotonic() + PATIENCE
        view.session._request(lambda: reached.append(True))
        while not reached or view.session.stage.busy_since is not None:
            assert time.monotonic() < end, "the session does not go on"
            time.sleep(0.005)

    def _look_at_memory(self):
        # What is free is given back first: how much of it the allocator keeps says nothing about leaks, and goes up and down.
        gc.collect()  # also tells of exceptions in tasks that nobody waited for
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.memory.append((time.monotonic() - self._begin, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
        seconds, size = self.memory[-1]
        self.say(f"{seconds:6.0f} s  {size:6.1f} MB  {sum(self.done.values())} things done, {len(self.faults)} exceptions")

    @property
    def growth(self):
        """Of the memory since the warm-up, as a share of it."""
        return self.memory[-1][1] / self.memory[0][1] - 1.0

    def close(self):
        for view in self.views:
            view.close()


def main(arguments=None):
    """Soak; return the exit status."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("JOSTLE_SOAK_SECONDS", "60")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scene", action="append", help="again for another one; by default one that is rigid and the room")
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
    print(f"memory grew by {100 * soak.growth:.1f} %; at most {100 * MOST_GROWTH:.0f} % is well")  # noqa: T201
    return int(bool(faults) or soak.growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
