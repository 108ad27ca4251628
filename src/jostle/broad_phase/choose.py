"""Broad phases by name, with settings as text."""

from __future__ import annotations

from typing import Any

from jostle import cast
from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.protocol import BroadPhase
from jostle.errors import InputError
from jostle.settings_text import parse_object


def broad_phase_of(value: str | BroadPhase, owner: str = "") -> BroadPhase:
    """Return the broad phase of "priority_queue(speed=0.3)", or the given instance.

    `owner` is whose setting it is, for messages.
    """
    names, of = ", ".join(sorted(BROAD_PHASES)), f"{owner}: " if owner else ""
    if isinstance(value, str):

        def class_of(name: str) -> type[Any]:
            if name not in BROAD_PHASES:
                raise InputError(f"{of}there is no broad phase {name!r}; the broad phases are {names}")
            return BROAD_PHASES[name]

        made: BroadPhase = parse_object(value, f"{of}broad phase", class_of).made
        return made
    if isinstance(value, type) or not cast.has(value, "start") or not callable(value.start) or cast.has(value, "traits"):
        raise InputError(f"{of}broad phase is {cast.shown(value)}; pass a name ({names}) or an instance such as UniformGrid()")
    return value
