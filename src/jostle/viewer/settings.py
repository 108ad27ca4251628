"""Settings of the panel: the method, its options, what is shown. Checked when set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jostle import cast
from jostle.errors import Unsupported
from jostle.interface.method import Method
from jostle.interface.query import Budget, Query
from jostle.registry import DEFAULT_METHOD, method_of, method_without_options, name_of

RESPONSES = ("show", "push", "bounce", "deform")
NOTHING = "nothing"  # no overlay


@dataclass(frozen=True, init=False)
class Settings:
    """All settings of a session.

    Parameters
    ----------
    method : str
        As on the command line: a name, or name(setting=value, …).
    clearance, solid, self_collision : as in `Query`
    budget : float
        Milliseconds, 0 for none.
    respond : {"show", "push", "bounce", "deform"}
        Whether bodies only show contacts, are pushed away, bounce, or deform.
    overlay : str
        One of `overlay_names` for the method.
    contacts : bool
        Show points and normals of contacts.
    itself : bool, optional
        Older name of `self_collision`; it wins, so that `replace` takes it too.
    """

    method: str
    clearance: float
    solid: bool
    self_collision: bool
    budget: float
    respond: str
    overlay: str
    contacts: bool

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        clearance: float = 0.0,
        solid: bool = False,
        self_collision: bool = False,
        budget: float = 0.0,
        respond: str = "show",
        overlay: str = NOTHING,
        contacts: bool = False,
        *,
        itself: bool | None = None,
    ) -> None:
        self.__dict__.update(
            method=method,
            clearance=cast.as_length(clearance, "clearance"),
            solid=solid,
            self_collision=self_collision if itself is None else cast.as_flag(itself, "itself"),
            budget=cast.as_length(budget, "budget"),
            respond=cast.as_choice(respond, RESPONSES, "respond"),
            overlay=overlay,
            contacts=contacts,
        )

    @property
    def itself(self) -> bool:
        """The older name of `self_collision`."""
        return self.self_collision

    def made_method(self) -> Method:
        """Return the method, or raise if its text is wrong."""
        return method_of(method_without_options(self.method, "method", "the panel tests single instants"))

    def query(self, method: Method) -> Query:
        """Return the query for a method: contact rows if it has them, else body pairs."""
        return Query(
            rows="faces" if method.traits.tells_where else "pairs",
            clearance=self.clearance,
            solid=self.solid,
            self_collision=self.self_collision,
            budget=Budget(seconds=1e-3 * self.budget) if self.budget > 0.0 else None,
        )


def supported_settings(settings: Settings, method: Method) -> tuple[Settings, list[str]]:
    """Return the settings a method supports, and the options that were dropped.

    Used when the method changes: an earlier option must not keep people from trying another method.
    """
    dropped = []
    defaults: dict[str, Any] = {"clearance": 0.0, "solid": False, "self_collision": False, "budget": 0.0}
    for option, default in defaults.items():
        alone = replace(settings, **(defaults | {option: getattr(settings, option)}))
        try:
            method.traits.check_query(name_of(method), alone.query(method))
        except Unsupported:
            settings = replace(settings, **{option: default})
            dropped.append(option)
    return settings, dropped


def overlay_names(method: Method) -> list[str]:
    """Return the overlays to choose from for a method, "nothing" first."""
    return [NOTHING, *(method.traits.overlays or {"its overlay": ""})]


def overlay_key(method: Method, name: str) -> str:
    """Return the method's own key of an overlay."""
    return method.traits.overlays.get(name, "")
