"""The methods and broad phases by name: two explicit dicts, nothing magic. Names are the folder and file names."""

from __future__ import annotations

from jostle.broad_phase import BROAD_PHASES
from jostle.errors import InputError
from jostle.methods.brute_force.method import BruteForce
from jostle.methods.wide_tree.method import WideTree
from jostle.protocol import BroadPhase, Method

METHODS: dict[str, type[Method]] = {
    "wide_tree": WideTree,
    "brute_force": BruteForce,
}
DEFAULT_METHOD = "wide_tree"


def method_of(value: str | Method | None) -> Method:
    """Return the method of a name, an instance itself, or the default for None."""
    if value is None:
        value = DEFAULT_METHOD
    if isinstance(value, str):
        if value not in METHODS:
            raise InputError(f"there is no method {value!r}; the methods are {', '.join(sorted(METHODS))}")
        return METHODS[value]()
    if isinstance(value, type) or not isinstance(value, Method):
        names = ", ".join(sorted(METHODS))
        raise InputError(f"method is {value!r}; pass a name ({names}) or an instance such as jostle.BruteForce()")
    return value


def name_of(method: Method) -> str:
    """Return the registry name of a method, or its class name for one that is not registered."""
    for name, made in METHODS.items():
        if type(method) is made:
            return name
    return type(method).__name__


def broad_phase_of(value: str | BroadPhase) -> BroadPhase:
    """Return the broad phase of a name, or an instance itself."""
    if isinstance(value, str):
        if value not in BROAD_PHASES:
            raise InputError(f"there is no broad phase {value!r}; the broad phases are {', '.join(sorted(BROAD_PHASES))}")
        made: BroadPhase = BROAD_PHASES[value]()
        return made
    return value
