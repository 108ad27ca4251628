"""A session: one world and its loop. Requests come in, snapshots go out.

It knows nothing about pages. The loop (`loop.py`) gathers requests from any thread and runs rounds; the stage (`stage.py`) holds
the world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from jostle._types import Floats
from jostle.errors import JostleError
from jostle.registry import name_of
from jostle.shapes.mesh import Mesh
from jostle.viewer.grasping import Grasping
from jostle.viewer.holding import Holding
from jostle.viewer.listener import Listener
from jostle.viewer.loop import Loop
from jostle.viewer.playback import Playback
from jostle.viewer.settings import Settings
from jostle.viewer.snapshot import Snapshot
from jostle.viewer.stage import Stage
from jostle.viewer.subject import Subject, with_bodies
from jostle.viewer.timings import Timings
from jostle.world.world import World

TOO_LONG, TOO_OFTEN = 1.0, 3  # after three deformation steps in a row above one second, bodies stop deforming


class Session:
    """A world shown and changed by people.

    Parameters
    ----------
    subject : Subject
    settings : Settings
        Initial settings; unsupported ones raise before anything is opened.
    fit : float, optional
        Separation at which dragged bodies stop before contact, or slide along it. By default they pass through.
    """

    def __init__(self, subject: Subject, settings: Settings | None = None, fit: float | None = None) -> None:
        self.subject, self.fit = subject, fit
        self.stage = Stage(subject, settings or Settings(), fit)
        self.holding = Holding()
        fixed = [body for body, static in enumerate(subject.start.static) if static]
        self.grasping = Grasping(self.holding, subject.hands, fixed)
        self.timings = Timings()
        self.playback = Playback(subject.frames) if subject.frames is not None else None
        self.detections = 0
        self._listeners: list[Listener] = []
        self._loop = Loop(self.round, self._seconds_until_due)
        self._must_detect = False  # in this round
        self._last_pairs: frozenset[tuple[int, int]] = frozenset()
        self._long_steps = 0

    @property
    def world(self) -> World:
        """The current world, with the current method."""
        return self.stage.world

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self.stage.settings

    @property
    def follows_hand(self) -> bool:
        """Whether a dragged body follows the hand through obstacles."""
        return self.fit is None and self.settings.respond != "deform"

    # ------------------------------------------------------------------ requests, from any thread

    def listen(self, listener: Listener) -> None:
        """Add a listener."""
        self._listeners.append(listener)

    def move(self, body: int, pose: Floats, holder: Hashable) -> bool:
        """Drag a body to a pose; return False if somebody else holds it."""
        if self.holding.holder_of(body) not in (None, holder):
            return False
        self._loop.drag(body, pose)
        return True

    def take(self, body: int, holder: Hashable) -> bool:
        """Take hold of a body; return False if somebody else holds it."""
        return self.grasping.take(body, holder) and self._request(self._detect_again)

    def release(self, body: int, holder: Hashable) -> None:
        """Release a body; it stays where it was last dragged.

        A closed hand stays its holder's.
        """
        if self.grasping.release(body, holder):
            self._request(self._detect_again)

    def grasp(self, holder: Hashable, closed: bool) -> None:
        """Close or open somebody's hands: closed hands carry what they touch."""
        (self.grasping.close if closed else self.grasping.open)(holder)
        self._request(self._detect_again)

    def leave(self, holder: Hashable) -> None:
        """Release everything held by someone who left."""
        if self.grasping.leave(holder):
            self._request(self._detect_again)

    def change(self, **settings: Any) -> None:
        """Change some settings; if refused, nothing changes and listeners get the reason."""
        self._request(lambda: self._change(settings))

    def play(self) -> None:
        """Play the motion."""
        self._request(self._play)

    def pause(self) -> None:
        """Pause the motion."""
        self._request(self._pause)

    def step(self, by: int) -> None:
        """Move by a number of frames."""
        self._request(lambda: self._seek(lambda playback: playback.step(by)))

    def seek(self, frame: int) -> None:
        """Show a frame."""
        self._request(lambda: self._seek(lambda playback: playback.seek(frame)))

    def put_back(self) -> None:
        """Put all bodies back to their start, or to the motion's current frame."""
        self._request(self._put_back)

    def add_bodies(
        self,
        parts: Sequence[tuple[str, Mesh, Floats]],
        check: Callable[[Subject], None] | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None:
        """Add bodies beside the existing ones; unsupported ones are refused.

        Parameters
        ----------
        parts : sequence of (name, mesh, pose)
        check : callable, optional
            Called with the subject just before the bodies are added; raises `JostleError` to refuse them.
        refused : callable, optional
            Called with the reason for a refusal; by default all listeners get it.
        """
        self._request(lambda: self._add_bodies(parts, check, refused))

    def _request(self, handler: Callable[[], Any]) -> bool:
        self._loop.request(handler)
        return True

    # ------------------------------------------------------------------ rounds

    def start(self) -> None:
        """Start the loop; it detects at once."""
        self._request(self._detect_again)
        self._loop.start()

    def stop(self) -> None:
        """End the loop after the running round."""
        self._loop.stop()

    def _seconds_until_due(self) -> float | None:
        if self.stage.responds(self.holding.held()):
            return 0.0
        return None if self.playback is None else self.playback.seconds_until_due(time.perf_counter())

    def round(self) -> Snapshot | None:
        """Handle requests, detect if anything changed, and notify listeners.

        Returns the snapshot, or None without a detection. An interrupted round leaves unhandled requests for the next one.
        """
        requests, goals = self._loop.take_requests()
        left = requests.copy()
        try:
            self._must_detect = bool(goals) or self.stage.responds(self.holding.held())
            while left:  # a failing request does not affect the others
                self._attempt(left.pop(0))
            self._attempt(self._play_on)
            return self._attempt(lambda: self._detect(goals)) if self._must_detect else None
        except BaseException:
            self._loop.put_back([self._detect_again, *left] if self._must_detect else left, goals)
            raise

    def _play_on(self) -> None:
        if self.playback is not None and self.playback.advance(time.perf_counter()):
            self._show_frame()

    def _attempt(self, step: Callable[[], Any]) -> Any:
        """Return the result of a step; if it fails, send the reason to all listeners."""
        try:
            return step()
        except JostleError as error:
            self._send_problem(str(error))
        except Exception as error:  # a bug must not end the loop silently: the page would seem to hang
            self._send_problem(f"this is a bug in jostle: {type(error).__name__}: {error}")
            self._pause()
        return None

    def _detect(self, goals: dict[int, Floats]) -> Snapshot:
        """Move dragged bodies, detect, and notify."""
        detection = self.stage.detect(self.grasping.carried(goals), self.holding.held())
        found, seconds = detection.found, detection.seconds
        self.grasping.grasp_touched(found.pairs, self.stage.poses)
        self._loop.resume_drags(detection.unreached)
        self.timings.add(seconds)
        self.detections += 1
        began, self._last_pairs = found.pairs - self._last_pairs, found.pairs
        frame = 0 if self.playback is None else self.playback.number
        snapshot = Snapshot(self.stage.poses, self.stage.vertices, found, began, seconds, frame, detection.overlay)
        for listener in self._listeners:
            listener.show(snapshot)
        self._end_long_steps(seconds)
        return snapshot

    def _end_long_steps(self, seconds: float) -> None:
        """Stop deforming if steps take too long: the page would seem to hang."""
        self._long_steps = self._long_steps + 1 if self.settings.respond == "deform" and seconds > TOO_LONG else 0
        if self._long_steps == TOO_OFTEN:
            self._long_steps = 0
            self._send_problem(f"steps take more than {TOO_LONG:g} s: too many faces touch; bodies do not deform any more")
            self._change({"respond": "show"})

    # ------------------------------------------------------------------ request handlers, in the session's thread

    def _detect_again(self) -> None:
        self._must_detect = True

    def _play(self) -> None:
        if self.settings.respond == "deform":
            self._send_problem("a motion cannot play while bodies deform; choose another response first")
        elif self.playback is not None:
            self.playback.play(time.perf_counter())

    def _pause(self) -> None:
        if self.playback is not None:
            self.playback.pause()

    def _seek(self, move: Callable[[Playback], None]) -> None:
        if self.playback is not None:
            move(self.playback)
            self._show_frame()

    def _show_frame(self) -> None:
        """Place all bodies that nobody holds at the motion's current frame."""
        assert self.playback is not None
        poses, vertices = self.playback.frames.at(self.playback.number)
        self.playback.seek(self.playback.number)  # a scene may end earlier than announced
        self.stage.place(poses, vertices, self.holding.held())
        self._must_detect = True

    def _put_back(self) -> None:
        if self.playback is not None:
            self._show_frame()
            return
        start = self.subject.start
        self.grasping.lose_all()
        self.stage.place(start.poses[0], {k: vertices[0] for k, vertices in start.vertices.items()})
        self._must_detect = True

    def _add_bodies(
        self,
        parts: Sequence[tuple[str, Mesh, Floats]],
        check: Callable[[Subject], None] | None,
        refused: Callable[[str], None] | None,
    ) -> None:
        try:
            if check is not None:
                check(self.subject)
            self.stage.add(with_bodies(self.subject, self.stage.poses, parts))
        except JostleError as error:
            (refused or self._send_problem)(str(error))
            return
        self.subject = self.stage.subject
        self._must_detect = True
        for listener in self._listeners:
            listener.bodies_added(self.subject)

    def _change(self, changes: dict[str, Any]) -> None:
        try:
            dropped = self.stage.change(replace(self.settings, **changes))
            if dropped:
                self._send_problem(f"{name_of(self.world.method)} does not serve {' and '.join(dropped)}: switched off")
            if self.settings.respond == "deform":
                self._pause()
            self.timings.clear()
            self._must_detect = True
        except JostleError as error:
            self._send_problem(str(error))
        for listener in self._listeners:
            listener.settings_changed(self.settings)

    def _send_problem(self, text: str) -> None:
        for listener in self._listeners:
            listener.problem(text)
