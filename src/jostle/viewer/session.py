"""A session: one world, one loop in a thread of its own. Wishes come in from anywhere, snapshots go out to whoever listens.

Nothing here knows a page. Whoever asks for something only leaves a note (`_notes`) and never waits: a method that takes seconds
keeps the loop busy, not the page. Goals of bodies that are dragged are kept apart from other notes, the latest of each body only,
so that a slow loop goes where the hand is now, not everywhere it has been.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import JostleError
from jostle.overlay import Overlay
from jostle.protocol import Method
from jostle.registry import name_of
from jostle.report import Report
from jostle.shapes.mesh import Mesh
from jostle.viewer.guide import Guide
from jostle.viewer.holding import Holding
from jostle.viewer.overlay_names import names_for, what_of
from jostle.viewer.playback import Playback
from jostle.viewer.respond import Responder
from jostle.viewer.settings import NOTHING, Settings, with_what_is_served
from jostle.viewer.snapshot import Found, Snapshot, found_in
from jostle.viewer.subject import Subject, with_bodies
from jostle.viewer.timings import Timings
from jostle.world import World

Floats = NDArray[np.float64]

FASTEST = 1.0 / 60.0  # seconds of a round of the loop, at least: no browser shows more
RESPONSE_STEP = 1.0 / 60.0  # seconds of a step in which bodies respond


class Listener:
    """Who is told what happens; called from the session's thread."""

    def show(self, snapshot: Snapshot) -> None:
        """Draw what was found."""

    def settings_changed(self, settings: Settings) -> None:
        """Show other settings; also the old ones again where new ones were refused."""

    def bodies_added(self, subject: Subject) -> None:
        """Show that there are more bodies now, after those that were there."""

    def problem(self, text: str) -> None:
        """Tell people a sentence."""


class Session:
    """A world that is looked at and touched.

    Parameters
    ----------
    subject : Subject
    settings : Settings
        To begin with; what cannot be served raises here, before anything is opened.
    fit : float, optional
        A separation: bodies that are dragged stop there before contact (and slide along it), instead of going through.
    """

    def __init__(self, subject: Subject, settings: Settings | None = None, fit: float | None = None) -> None:
        self.subject = subject
        self.settings = settings or Settings()
        self.holding = Holding()
        self.timings = Timings()
        self.playback = Playback(subject.frames) if subject.frames is not None else None
        self.fit = fit
        self.guides: dict[int, Guide] = {}
        self.slides = True
        self.busy_since: float | None = None  # when the detection that runs began
        self.detections = 0
        self._listeners: list[Listener] = []
        self._goals: dict[int, Floats] = {}
        self._notes: list[Callable[[], None]] = []
        self._wake = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._last_pairs: frozenset[tuple[int, int]] = frozenset()
        self._responder: Responder | None = None
        self.world = self._world_for(self.settings.made_method())
        self.world.method.traits.check_query(name_of(self.world.method), self._query())

    # ------------------------------------------------------------------ wishes, from any thread

    def listen(self, listener: Listener) -> None:
        """Tell somebody what happens from now on."""
        self._listeners.append(listener)

    def move(self, body: int, pose: Floats, holder: Hashable) -> bool:
        """Draw a body to a pose; return False if somebody else holds it."""
        if self.holding.holder_of(body) not in (None, holder):
            return False
        with self._wake:
            self._goals[body] = np.array(pose, np.float64)
            self._wake.notify()
        return True

    def take(self, body: int, holder: Hashable) -> bool:
        """Take hold of a body; return False if somebody else has it."""
        return self.holding.take(body, holder) and self._note(self._look_again)

    def let_go(self, body: int, holder: Hashable) -> None:
        """Let go of a body; it goes where it was drawn last, and no farther."""
        if self.holding.let_go(body, holder):
            self._note(self._look_again)

    def leave(self, holder: Hashable) -> None:
        """Somebody is gone: let go of all that they held."""
        if self.holding.leave(holder):
            self._note(self._look_again)

    def change(self, **settings: Any) -> None:
        """Change some settings; those that are refused stay, and the listeners are told why."""
        self._note(lambda: self._change(settings))

    def play(self) -> None:
        """Play the motion."""
        self._note(self._play)

    def pause(self) -> None:
        """Pause the motion."""
        self._note(self._pause)

    def step(self, by: int) -> None:
        """Show the next frame, or one before."""
        self._note(lambda: self._seek(lambda playback: playback.step(by)))

    def seek(self, frame: int) -> None:
        """Show a frame."""
        self._note(lambda: self._seek(lambda playback: playback.seek(frame)))

    def put_back(self) -> None:
        """Put all bodies back to where they began, or to where the motion has them now."""
        self._note(self._put_back)

    def add_bodies(self, parts: Sequence[tuple[str, Mesh, Floats]]) -> None:
        """Put more bodies (name, mesh, pose) beside those that are there; what cannot be served is refused."""
        self._note(lambda: self._add_bodies(parts))

    def _note(self, what: Callable[[], Any]) -> bool:
        with self._wake:
            self._notes.append(what)
            self._wake.notify()
        return True

    # ------------------------------------------------------------------ the loop

    def start(self) -> None:
        """Begin; the first snapshot comes as soon as the first detection is done."""
        self._note(self._look_again)
        self._thread = threading.Thread(target=self._run, name="jostle viewer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the loop after the round that runs."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._stopped:
            begin = time.perf_counter()
            self.round()
            with self._wake:
                rest = self._seconds_to_wait(begin)
                if self._stopped or (rest is not None and rest <= 0.0):
                    continue
                # Up to the next round that is due; or, where none is, until somebody wishes something.
                self._wake.wait_for(self._wished if rest is None else self._ended, rest)

    def _ended(self) -> bool:
        return self._stopped

    def _wished(self) -> bool:
        return self._stopped or bool(self._notes) or bool(self._goals)

    def _seconds_to_wait(self, begin: float) -> float | None:
        """Until the next round; None until somebody wishes something."""
        now = time.perf_counter()
        least = FASTEST - (now - begin)
        if self._notes or self._goals or self._responds:
            return least
        due = None if self.playback is None else self.playback.seconds_until_due(now)
        return None if due is None else max(due, least)

    def round(self) -> Snapshot | None:
        """Do what was asked for since the last round, detect if anything changed, and tell; return what was told."""
        with self._wake:
            notes, self._notes = self._notes, []
            goals, self._goals = self._goals, {}
        try:
            self._look = bool(goals) or self._responds
            for note in notes:
                note()
            if self.playback is not None and self.playback.advance(time.perf_counter()):
                self._show_frame()
            if not self._look:
                return None
            return self._detect(goals)
        except JostleError as error:
            self._tell(str(error))
        except Exception as error:  # a fault must not end the loop without a word: the page would seem to hang
            self._tell(f"this is a fault in jostle: {type(error).__name__}: {error}")
            if self.playback is not None:
                self.playback.pause()
        return None

    def _detect(self, goals: dict[int, Floats]) -> Snapshot:
        """Move what is drawn, detect, and tell."""
        begin = self.busy_since = time.perf_counter()
        try:
            if self.fit is not None:
                found = self._guided(goals)
                overlay = None
                seconds = time.perf_counter() - begin
            else:
                for body, pose in goals.items():
                    self.world[body].pose = pose
                begin = self.busy_since = time.perf_counter()
                report = self._report()
                seconds = time.perf_counter() - begin
                found = found_in(report, self.settings.contacts)
                overlay = self._overlay()
        finally:
            self.busy_since = None
        self.timings.add(seconds)
        self.detections += 1
        began, self._last_pairs = found.pairs - self._last_pairs, found.pairs
        snapshot = Snapshot(
            self.world.poses, self._vertices(), found, began, seconds, 0 if self.playback is None else self.playback.number, overlay
        )
        for listener in self._listeners:
            listener.show(snapshot)
        return snapshot

    @property
    def _responds(self) -> bool:
        """Whether bodies move by themselves, or may be about to because a hand is there."""
        return self._responder is not None and (self._responder.moves or bool(self.holding.held()))

    def _report(self) -> Report:
        if self.settings.respond == "show":
            return self.world.detect(self._query())
        led = frozenset(self.holding.held())
        if self._responder is None:
            self._responder = Responder(self.world, self.settings.respond == "bounce", self.subject.cube, RESPONSE_STEP)
        return self._responder.step(led)

    def _guided(self, goals: dict[int, Floats]) -> Found:
        """Draw bodies towards their goals until contact; what stopped them is what is shown."""
        assert self.fit is not None
        found = Found()
        for body, goal in goals.items():
            guide = self.guides.get(body)
            if guide is None:
                guide = self.guides[body] = Guide(self.world, body, self.fit)
            guide.slides = self.slides
            if guide.draw_to(goal):
                with self._wake:
                    self._goals.setdefault(body, goal)  # not there yet: go on in the next round, unless the hand has moved on
        for guide in self.guides.values():
            found = guide.with_contact(found)
        return found

    def _overlay(self) -> Overlay | None:
        if self.settings.overlay == NOTHING:
            return None
        return self.world.overlay(what_of(name_of(self.world.method), self.settings.overlay))

    # ------------------------------------------------------------------ what notes do, in the session's thread

    def _look_again(self) -> None:
        self._look = True

    def _play(self) -> None:
        if self.playback is not None:
            self.playback.play(time.perf_counter())

    def _pause(self) -> None:
        if self.playback is not None:
            self.playback.pause()

    def _seek(self, move: Callable[[Playback], None]) -> None:
        if self.playback is not None:
            move(self.playback)
            self._show_frame()

    def _show_frame(self) -> None:
        """Put all bodies that nobody holds where the motion has them."""
        assert self.playback is not None
        poses, vertices = self.playback.frames.at(self.playback.number)
        self.playback.seek(self.playback.number)  # a scene may have turned out to be shorter
        self._place(poses, vertices, held=self.holding.held())

    def _put_back(self) -> None:
        if self.playback is not None:
            self._show_frame()
            return
        start = self.subject.start
        self._place(start.poses[0], {k: vertices[0] for k, vertices in start.vertices.items()}, held={})

    def _place(self, poses: Floats, vertices: dict[int, Floats], held: dict[int, Hashable]) -> None:
        placed = np.array(self.world.poses)
        placed[: len(poses)] = poses  # bodies that were added later are not in the motion
        for body in held:
            placed[body] = self.world.poses[body]
        self.world.set_poses(placed)
        for body, points in vertices.items():
            if self.world[body].deformable:
                self.world[body].vertices = points
        self.guides.clear()
        self._responder = None
        self._look = True

    def _add_bodies(self, parts: Sequence[tuple[str, Mesh, Floats]]) -> None:
        before = self.subject
        try:
            self.subject = with_bodies(before, self.world.poses, parts)
            world = self._world_for(self.world.method)
            if self.settings.respond != "show":
                Responder(world, self.settings.respond == "bounce", before.cube, RESPONSE_STEP)  # which refuses what cannot be
        except JostleError as error:
            self.subject = before
            self._tell(str(error))
            return
        self.world = world
        self._responder = None
        self.guides.clear()
        self._look = True
        for listener in self._listeners:
            listener.bodies_added(self.subject)

    def _change(self, wishes: dict[str, Any]) -> None:
        before = self.settings
        try:
            self._take_settings(replace(before, **wishes))
        except JostleError as error:
            self.settings = before
            self._tell(str(error))
        for listener in self._listeners:
            listener.settings_changed(self.settings)

    def _take_settings(self, settings: Settings) -> None:
        if settings.method != self.settings.method:
            method = settings.made_method()
            settings, dropped = with_what_is_served(settings, method)
            world = self._world_for(method)
            if dropped:
                self._tell(f"{name_of(method)} does not serve {' and '.join(dropped)}: switched off")
            if settings.overlay not in names_for(name_of(method)):
                settings = replace(settings, overlay=NOTHING)
            self.world = world
        method = self.world.method
        method.traits.check_query(name_of(method), settings.query(method))
        if settings.respond != "show" and settings.respond != self.settings.respond:
            Responder(self.world, settings.respond == "bounce", self.subject.cube, RESPONSE_STEP)  # which refuses what cannot be
        self.settings = settings
        self.timings.clear()
        self._responder = None
        self.guides.clear()
        self._look = True

    def _world_for(self, method: Method) -> World:
        """A new world for a method, with all bodies where they are now."""
        world = self.subject.start.world(method)
        if hasattr(self, "world"):
            world.set_poses(np.concatenate([self.world.poses, world.poses[len(self.world) :]]))
            for body in world:
                if body.deformable:
                    body.vertices = self.world[body.id].vertices
        return world

    def _query(self) -> Any:
        return self.settings.query(self.world.method)

    def _vertices(self) -> dict[int, Floats]:
        return {body.id: body.vertices for body in self.world if body.deformable}

    def _tell(self, text: str) -> None:
        for listener in self._listeners:
            listener.problem(text)
