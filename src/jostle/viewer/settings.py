"""Settings of the panel: the method, its options, what is shown. Checked when they are set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jostle import cast
from jostle.errors import Unsupported
from jostle.interface.method import Method
from jostle.interface.query import Budget, Query
from jostle.registry import DEFAULT_METHOD, method_of, method_without_options, name_of

RESPONSES = ("show", "push", "bounce", "deform")
NOTHING = "nothing"  # of a method's overlays


@dataclass(frozen=True)
class Settings:
    """All settings of a session, which are replaced as a whole.

    Parameters
    ----------
    method : str
        As on the command line: a name, or name(setting=value, …).
    clearance, solid, itself : as in `Query`
    budget : float
        Milliseconds, 0 for none.
    respond : {"show", "push", "bounce", "deform"}
        Whether bodies only show contacts, are pushed away, bounce, or deform.
    overlay : str
        Overlay of the method's internals: a name listed by overlay_names.py, or "nothing".
    contacts : bool
        Show points and normals of contacts.
    """

    method: str = DEFAULT_METHOD
    clearance: float = 0.0
    solid: bool = False
    itself: bool = False
    budget: float = 0.0
    respond: str = "show"
    overlay: str = NOTHING
    contacts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "clearance", cast.as_length(self.clearance, "clearance"))
        object.__setattr__(self, "budget", cast.as_length(self.budget, "budget"))
        cast.as_choice(self.respond, RESPONSES, "respond")

    def made_method(self) -> Method:
        """Return the method of the text, or raise what is wrong with it."""
        return method_of(method_without_options(self.method, "method", "the panel tests single instants"))

    def query(self, method: Method) -> Query:
        """Return the query for a method: contact rows if it has them, else body pairs."""
        return Query(
            rows="faces" if method.traits.tells_where else "pairs",
            clearance=self.clearance,
            solid=self.solid,
            itself=self.itself,
            budget=Budget(seconds=1e-3 * self.budget) if self.budget > 0.0 else None,
        )


def with_what_is_served(settings: Settings, method: Method) -> tuple[Settings, list[str]]:
    """Return the settings without options that a method does not support, and which these were.

    Used when only the method changes: an earlier option must not keep people from trying another method. A new option is refused
    instead, with the reason.
    """
    dropped = []
    usual = Settings()
    for option in ("clearance", "solid", "itself", "budget"):
        asked = getattr(settings, option)
        if not asked:
            continue
        alone: dict[str, Any] = {option: asked, "method": settings.method}
        try:
            method.traits.check_query(name_of(method), replace(usual, **alone).query(method))
        except Unsupported:
            settings = replace(settings, **{option: getattr(usual, option)})
            dropped.append(option)
    return settings, dropped
