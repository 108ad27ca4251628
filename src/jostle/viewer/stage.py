"""The stage: a session's world, its settings, and how bodies move and are tested.

Used by the session's thread only. Bodies follow the hand, stop at contacts (`guide.py`), or respond (`respond.py`,
`deforming.py`).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from jostle._types import Floats
from jostle.errors import InputError, JostleError
from jostle.interface.method import Method
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.registry import METHODS, name_of
from jostle.report.report import Report
from jostle.settings_text import split_name
from jostle.viewer.deforming import Deformer
from jostle.viewer.guide import Guide
from jostle.viewer.respond import Responder
from jostle.viewer.settings import NOTHING, Settings, overlay_key, overlay_names, supported_settings
from jostle.viewer.snapshot import Found, found_in
from jostle.viewer.subject import Subject
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.world import World

RESPONSE_STEP = 1.0 / 60.0  # seconds simulated per step while bodies respond


@dataclass(frozen=True, eq=False)
class Detection:
    """One detection: results, time, overlay, and the goals that bodies did not reach."""

    found: Found
    seconds: float
    overlay: Overlay | None = None
    unreached: Mapping[int, Floats] = field(default_factory=dict)


class Stage:
    """A world with its current settings.

    Parameters
    ----------
    subject : Subject
    settings : Settings
        Unsupported ones raise here.
    fit : float, optional
        The separation at which dragged bodies stop before contact.
    """

    def __init__(self, subject: Subject, settings: Settings, fit: float | None) -> None:
        self.subject, self.settings, self.fit = subject, settings, fit
        self.guides: dict[int, Guide] = {}
        self.slides = True
        self.busy_since: float | None = None  # when the running detection began
        self._first_method = split_name(settings.method, "method")[0]
        self.world = subject.start.world(settings.made_method())
        self.world.method.traits.check_query(name_of(self.world.method), self._query())
        self._responder, self._deformer = self._response(settings, self.world)

    # ------------------------------------------------------------------ detecting

    def detect(self, goals: Mapping[int, Floats], held: Collection[int]) -> Detection:
        """Move dragged and responding bodies, and detect. If it raises, nothing changes."""
        self.busy_since = time.perf_counter()
        twin = self._twin()
        try:
            deformed = self.world if self._deformer is None else self._deformer.world
            return all_or_nothing(
                self.world, self, twin, lambda: all_or_nothing(deformed, None, None, lambda: twin._detect(goals, held))
            )
        finally:
            self.busy_since = None

    def _twin(self) -> Stage:
        """Return a copy that can be changed without changing this one, except its worlds."""
        twin = copy.copy(self)
        twin.guides = {body: copy.copy(guide) for body, guide in self.guides.items()}
        twin._responder = copy.copy(self._responder)
        twin._deformer = copy.copy(self._deformer)
        return twin

    def _detect(self, goals: Mapping[int, Floats], held: Collection[int]) -> Detection:
        begin = time.perf_counter()
        if self.fit is not None:
            found, unreached = self._guided(goals)
            return Detection(found, time.perf_counter() - begin, None, unreached)
        if self.settings.respond == "deform":
            return self._deform(goals, held)
        if goals:
            self.world.set_poses(np.stack(list(goals.values())), list(goals))
        begin = time.perf_counter()
        report = self._report(held)
        seconds = time.perf_counter() - begin
        return Detection(found_in(report, self.settings.contacts), seconds, self._overlay(self.world))

    def responds(self, held: Collection[int]) -> bool:
        """Return whether bodies move by themselves, or may soon because someone holds one."""
        moving = self._deformer or self._responder
        return moving is not None and (moving.moves or bool(held))

    @property
    def poses(self) -> Floats:
        """(n,4,4) poses of all bodies."""
        return self.world.poses if self._deformer is None else self._deformer.poses.copy()

    @property
    def vertices(self) -> dict[int, Floats]:
        """Vertices of deforming bodies, in body coordinates."""
        if self._deformer is not None:
            return dict(self._deformer.vertices)
        return {body.id: body.vertices for body in self.world if body.deformable}

    def _deform(self, goals: Mapping[int, Floats], held: Collection[int]) -> Detection:
        """Deform bodies for a step, and copy their poses to the world."""
        if self._deformer is None:
            _, self._deformer = self._response(self.settings, self.world)
        assert self._deformer is not None
        begin = time.perf_counter()
        found, unreached = self._deformer.step(goals, held, self.settings.contacts)
        seconds = time.perf_counter() - begin
        self.world.set_poses(self._deformer.poses)
        return Detection(found, seconds, self._overlay(self._deformer.world), unreached)

    def _report(self, held: Collection[int]) -> Report:
        if self.settings.respond == "show":
            return self.world.detect(self._query())
        if self._responder is None:
            self._responder, _ = self._response(self.settings, self.world)
        assert self._responder is not None
        return self._responder.step(frozenset(held))

    def _guided(self, goals: Mapping[int, Floats]) -> tuple[Found, dict[int, Floats]]:
        """Move bodies to their goals or into contact; return contacts and missed goals."""
        assert self.fit is not None
        found, unreached = Found(), {}
        for body, goal in goals.items():
            guide = self.guides.get(body)
            if guide is None:
                guide = self.guides[body] = Guide(self.world, body, self.fit)
            guide.slides = self.slides
            if guide.move_to(goal):
                unreached[body] = goal
        for guide in self.guides.values():
            found = guide.with_contact(found)
        return found, unreached

    def _overlay(self, world: World) -> Overlay | None:
        if self.settings.overlay == NOTHING:
            return None
        return world.overlay(overlay_key(world.method, self.settings.overlay))

    def _query(self) -> Query:
        return self.settings.query(self.world.method)

    # ------------------------------------------------------------------ changing

    def place(self, poses: Floats, vertices: Mapping[int, Floats], held: Collection[int] = ()) -> None:
        """Place all bodies that nobody holds, with new shapes if given."""
        placed = np.array(self.world.poses)
        placed[: len(poses)] = poses  # the motion lacks bodies that were added later
        for body in held:
            placed[body] = self.world.poses[body]
        twin = copy.copy(self)
        twin.guides, twin._responder, twin._deformer = {}, None, None
        shapes = {self.world[body]: points for body, points in vertices.items() if self.world[body].deformable}
        all_or_nothing(self.world, self, twin, lambda: self.world._set_all(placed, shapes))

    def add(self, subject: Subject) -> None:
        """Switch to a subject with more bodies, or raise and change nothing."""
        twin = copy.copy(self)
        twin.subject, twin.guides = subject, {}
        twin.world = twin._world_for(self.world.method)
        twin._responder, twin._deformer = twin._response(self.settings, twin.world)
        self.__dict__ = twin.__dict__

    def change(self, settings: Settings) -> list[str]:
        """Switch to other settings, or raise; return dropped options."""
        world, dropped, twin = self.world, list[str](), copy.copy(self)
        if settings.method != self.settings.method:
            self._check_offered(settings.method)
            method = settings.made_method()
            settings, dropped = supported_settings(settings, method)
            world = self._world_for(method)
            if settings.overlay not in overlay_names(method):
                settings = replace(settings, overlay=NOTHING)
        world.method.traits.check_query(name_of(world.method), settings.query(world.method))
        if world is not self.world or settings.respond != self.settings.respond:
            try:
                response = self._response(settings, world)
            except JostleError:
                if settings.respond != self.settings.respond:
                    raise
                settings, response = replace(settings, respond="show"), (None, None)
                dropped.append("the response")
            twin.guides = {}
            twin._responder, twin._deformer = response
        twin.world, twin.settings = world, settings
        self.__dict__ = twin.__dict__
        return dropped

    def _check_offered(self, text: str) -> None:
        """Raise for an external method unless the viewer was started with it.

        A page must not choose what is imported.
        """
        name = split_name(text, "method")[0]
        if name not in METHODS and name != self._first_method:
            raise InputError(f"there is no method {name!r}; the methods are {', '.join(sorted(METHODS))}")

    def _response(self, settings: Settings, world: World) -> tuple[Responder | None, Deformer | None]:
        """Return what moves bodies under these settings, or raise if unsupported."""
        if settings.respond == "show":
            return None, None
        if settings.respond != "deform":
            return Responder(world, settings.respond == "bounce", self.subject.cube, RESPONSE_STEP), None
        shapes = {body.id: body.vertices[None] for body in world if body.deformable}
        now = replace(self.subject.start, poses=world.poses[None], vertices=shapes)
        return None, Deformer(now, world.method, self.subject.hands, RESPONSE_STEP)

    def _world_for(self, method: Method) -> World:
        """Return a new world for a method, with all bodies at their current poses."""
        world = self.subject.start.world(method)
        world.set_poses(np.concatenate([self.world.poses, world.poses[len(self.world) :]]))  # the subject may have more bodies
        for body in world:
            if body.deformable:
                body.vertices = self.world[body.id].vertices
        return world
