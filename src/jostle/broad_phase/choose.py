"""Broad phases by name, with settings as text."""

from __future__ import annotations

import dataclasses
from typing import Any

from jostle import cast
from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.protocol import BroadPhase
from jostle.errors import InputError
from jostle.settings_text import made_with, name_and_rest, settings_written


def broad_phase_of(value: str | BroadPhase, owner: str = "") -> BroadPhase:
    """Return the broad phase of a text such as "priority_queue(speed=0.3)", or the given instance.

    `owner` is whose setting it is, for messages.
    """
    names, of = ", ".join(sorted(BROAD_PHASES)), f"{owner}: " if owner else ""
    if isinstance(value, str):
        name, inside = name_and_rest(value, f"{of}broad phase")
        if name not in BROAD_PHASES:
            raise InputError(f"{of}there is no broad phase {name!r}; the broad phases are {names}")
        chosen: type[Any] = BROAD_PHASES[name]
        known = [each.name for each in dataclasses.fields(chosen)]
        whose = f"{of}broad phase {name}"
        settings = settings_written(inside, whose, known, f"it has {', '.join(known) or 'none'}")
        made: BroadPhase = made_with(chosen, settings, whose)
        return made
    if isinstance(value, type) or not cast.has(value, "start") or not callable(value.start) or cast.has(value, "traits"):
        raise InputError(f"{of}broad phase is {cast.shown(value)}; pass a name ({names}) or an instance such as UniformGrid()")
    return value
