"""The stage: a session's world and settings, and how its bodies are moved and tested.

Used by the session's thread only. Bodies follow the hand, are guided up to a contact (`guide.py`), or respond (`respond.py`,
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
from jostle.viewer.overlay_names import names_for, what_of
from jostle.viewer.respond import Responder
from jostle.viewer.settings import NOTHING, Settings, with_what_is_served
from jostle.viewer.snapshot import Found, found_in
from jostle.viewer.subject import Subject
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.world import World

RESPONSE_STEP = 1.0 / 60.0  # seconds of a step in which bodies respond


@dataclass(frozen=True, eq=False)
class Look:
    """The result of one detection: its time, overlay, and bodies that have not reached their goals."""

    found: Found
    seconds: float
    overlay: Overlay | None = None
    unreached: Mapping[int, Floats] = field(default_factory=dict)


class Stage:
    """A world with its present settings.

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

    # ------------------------------------------------------------------ looking

    def look(self, goals: Mapping[int, Floats], held: Collection[int]) -> Look:
        """Move dragged and responding bodies, and detect. If it raises, nothing changes."""
        self.busy_since = time.perf_counter()
        twin = self._twin()
        try:
            deformed = self.world if self._deformer is None else self._deformer.world
            return all_or_nothing(
                self.world, self, twin, lambda: all_or_nothing(deformed, None, None, lambda: twin._look(goals, held))
            )
        finally:
            self.busy_since = None

    def _twin(self) -> Stage:
        """Return a copy that shares nothing that a look writes in place, except the worlds."""
        twin = copy.copy(self)
        twin.guides = {body: copy.copy(guide) for body, guide in self.guides.items()}
        twin._responder = copy.copy(self._responder)
        twin._deformer = copy.copy(self._deformer)
        return twin

    def _look(self, goals: Mapping[int, Floats], held: Collection[int]) -> Look:
        begin = time.perf_counter()
        if self.fit is not None:
            found, unreached = self._guided(goals)
            return Look(found, time.perf_counter() - begin, None, unreached)
        if self.settings.respond == "deform":
            return self._deformed(goals, held)
        if goals:
            self.world.set_poses(np.stack(list(goals.values())), list(goals))
        begin = time.perf_counter()
        report = self._report(held)
        seconds = time.perf_counter() - begin
        return Look(found_in(report, self.settings.contacts), seconds, self._overlay(self.world))

    def responds(self, held: Collection[int]) -> bool:
        """Whether bodies move by themselves, or may soon because a hand is there."""
        moving = self._deformer or self._responder
        return moving is not None and (moving.moves or bool(held))

    @property
    def poses(self) -> Floats:
        """(n,4,4) poses of all bodies."""
        return self.world.poses if self._deformer is None else self._deformer.poses.copy()

    @property
    def vertices(self) -> dict[int, Floats]:
        """The shapes of deforming bodies, in body coordinates."""
        if self._deformer is not None:
            return dict(self._deformer.vertices)
        return {body.id: body.vertices for body in self.world if body.deformable}

    def _deformed(self, goals: Mapping[int, Floats], held: Collection[int]) -> Look:
        """Deform bodies for a step; also set their poses in the world, for other responses."""
        if self._deformer is None:
            _, self._deformer = self._response(self.settings, self.world)
        assert self._deformer is not None
        begin = time.perf_counter()
        found, unreached = self._deformer.step(goals, held, self.settings.contacts)
        seconds = time.perf_counter() - begin
        self.world.set_poses(self._deformer.poses)
        return Look(found, seconds, self._overlay(self._deformer.world), unreached)

    def _report(self, held: Collection[int]) -> Report:
        if self.settings.respond == "show":
            return self.world.detect(self._query())
        if self._responder is None:
            self._responder, _ = self._response(self.settings, self.world)
        assert self._responder is not None
        return self._responder.step(frozenset(held))

    def _guided(self, goals: Mapping[int, Floats]) -> tuple[Found, dict[int, Floats]]:
        """Move bodies towards their goals until contact; return what stopped them, and goals not reached."""
        assert self.fit is not None
        found, unreached = Found(), {}
        for body, goal in goals.items():
            guide = self.guides.get(body)
            if guide is None:
                guide = self.guides[body] = Guide(self.world, body, self.fit)
            guide.slides = self.slides
            if guide.draw_to(goal):
                unreached[body] = goal
        for guide in self.guides.values():
            found = guide.with_contact(found)
        return found, unreached

    def _overlay(self, world: World) -> Overlay | None:
        if self.settings.overlay == NOTHING:
            return None
        return world.overlay(what_of(world.method, self.settings.overlay))

    def _query(self) -> Query:
        return self.settings.query(self.world.method)

    # ------------------------------------------------------------------ changing

    def place(self, poses: Floats, vertices: Mapping[int, Floats], held: Collection[int] = ()) -> None:
        """Place all bodies that nobody holds, with new shapes if given."""
        placed = np.array(self.world.poses)
        placed[: len(poses)] = poses  # bodies that were added later are not in the motion
        for body in held:
            placed[body] = self.world.poses[body]
        twin = copy.copy(self)
        twin.guides, twin._responder, twin._deformer = {}, None, None
        shapes = {self.world[body]: points for body, points in vertices.items() if self.world[body].deformable}
        all_or_nothing(self.world, self, twin, lambda: self.world._set_all(placed, shapes))

    def add(self, subject: Subject) -> None:
        """Continue with a subject that has more bodies, or raise and change nothing."""
        twin = copy.copy(self)
        twin.subject, twin.guides = subject, {}
        twin.world = twin._world_for(self.world.method)
        twin._responder, twin._deformer = twin._response(self.settings, twin.world)
        self.__dict__ = twin.__dict__

    def take(self, settings: Settings) -> list[str]:
        """Continue with other settings, or raise; return options switched off because unsupported."""
        world, dropped, twin = self.world, list[str](), copy.copy(self)
        if settings.method != self.settings.method:
            self._check_offered(settings.method)
            method = settings.made_method()
            settings, dropped = with_what_is_served(settings, method)
            world = self._world_for(method)
            if settings.overlay not in names_for(method):
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
        """Raise for a method from outside unless the viewer was started with it.

        A page must not choose what is imported.
        """
        name = split_name(text, "method")[0]
        if name not in METHODS and name != self._first_method:
            raise InputError(f"there is no method {name!r}; the methods are {', '.join(sorted(METHODS))}")

    def _response(self, settings: Settings, world: World) -> tuple[Responder | None, Deformer | None]:
        """Return what moves bodies under these settings, in a world as it is now; raise if it cannot."""
        if settings.respond == "show":
            return None, None
        if settings.respond != "deform":
            return Responder(world, settings.respond == "bounce", self.subject.cube, RESPONSE_STEP), None
        shapes = {body.id: body.vertices[None] for body in world if body.deformable}
        now = replace(self.subject.start, poses=world.poses[None], vertices=shapes)
        return None, Deformer(now, world.method, self.subject.hands, RESPONSE_STEP)

    def _world_for(self, method: Method) -> World:
        """Return a new world for a method, with all bodies at their present poses."""
        world = self.subject.start.world(method)
        world.set_poses(np.concatenate([self.world.poses, world.poses[len(self.world) :]]))  # more bodies may have come
        for body in world:
            if body.deformable:
                body.vertices = self.world[body.id].vertices
        return world
