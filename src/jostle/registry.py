"""Methods by name, with settings as text, and from outside.

Everything that takes a method (`World`, the commands, the laboratory, the viewer) takes "voxmap", "voxmap(accuracy=0.01)" and
"package.module:Class". A method of jostle has the name of its folder and is imported when it is chosen. One from outside is named
by its module and class, or gets a short name from `register`.

The names alone need neither NumPy nor a method: the help of a command lists them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jostle.errors import InputError
from jostle.settings_text import ParsedObject, parse_object

if TYPE_CHECKING:
    from jostle.interface.method import Method

DEFAULT_METHOD = "wide_tree"
QUERY_OPTIONS = {"motion": False, "separation": 0.0, "workers": 1}  # query options allowed among the settings, with their defaults
METHOD_MEMBERS = ("traits", "shape_type", "prepare_shape", "start")


class MethodTable(Mapping[str, "type[Method]"]):
    """The method classes by name, each imported when it is looked up."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._classes: dict[str, type[Method]] = {}

    def __getitem__(self, name: str) -> type[Method]:
        if name not in self._classes:
            module, _, attribute = self._places[name].partition(":")
            self._classes[name] = getattr(importlib.import_module(module), attribute)
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def place_of(self, name: str) -> str:
        """Return "module:Class" of a name, without importing it."""
        return self._places[name]

    def add(self, name: str, method: type[Method]) -> None:
        """Add a class under a new name."""
        self._classes[name] = method
        self._places[name] = class_path(method)


def class_path(method: type) -> str:
    """Return "module:Class" of a class."""
    return f"{method.__module__}:{method.__qualname__}"


METHODS = MethodTable(
    {
        "wide_tree": "jostle.methods.wide_tree.method:WideTree",
        "plain": "jostle.methods.plain.method:Plain",
        "face_octree": "jostle.methods.face_octree.method:FaceOctree",
        "octree_update": "jostle.methods.octree_update.method:OctreeUpdate",
        "bounding_tree": "jostle.methods.bounding_tree.method:BoundingTree",
        "image_space": "jostle.methods.image_space.method:ImageSpace",
        "voxmap": "jostle.methods.voxmap.method:Voxmap",
        "monte_carlo": "jostle.methods.monte_carlo.method:MonteCarlo",
        "separating_plane": "jostle.methods.separating_plane.method:SeparatingPlane",
        "closest_features": "jostle.methods.closest_features.method:ClosestFeatures",
        "edge_face": "jostle.methods.edge_face.method:EdgeFace",
        "brute_force": "jostle.methods.brute_force.method:BruteForce",
    }
)


def register(name: str, method: type[Method]) -> None:
    """Register a method from outside under a name for this process.

    `World`, the commands and the viewer then accept the name.

    Parameters
    ----------
    name : str
        An identifier that no other method has.
    method : class
        Its instances follow `jostle.Method`; the fields of a dataclass are its settings.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Mine(jostle.WideTree):
    ...     level: int = 1
    >>> jostle.register("mine", Mine)
    >>> jostle.World("mine(level=3)").method.level
    3
    """
    if not isinstance(name, str) or not name.isidentifier():
        from jostle.cast import shown

        raise InputError(f"register: name is {shown(name)}; it must be an identifier such as 'my_method'")
    _check_class(method, f"register: method {name!r}")
    if name in METHODS and METHODS.place_of(name) != class_path(method):
        raise InputError(f"register: a method {name!r} exists already ({METHODS.place_of(name)}); choose another name")
    METHODS.add(name, method)


def _check_class(method: Any, owner: str) -> None:
    from jostle.cast import has, shown

    if not isinstance(method, type) or not has(method, *METHOD_MEMBERS):
        raise InputError(
            f"{owner} is {shown(method)}; it must be a class with the members of jostle.Method: {', '.join(METHOD_MEMBERS)}"
        )


def method_class(name: str) -> type[Method]:
    """Return the class of a registered name, or of "package.module:Class"."""
    if name in METHODS:
        return METHODS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        names = ", ".join(sorted(METHODS))
        raise InputError(f"there is no method {name!r}; the methods are {names}; name one from outside as package.module:Class")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module from outside may raise anything
        raise InputError(f"method {name!r} cannot be imported: {type(error).__name__}: {error}") from error
    _check_class(found, f"method {name!r}")
    method: type[Method] = found
    return method


def read_method(text: str, options: tuple[str, ...] = ()) -> ParsedObject:
    """Return the method of "name" or "name(setting=value, …)".

    `options` may appear among the settings.
    """
    return parse_object(text, "method", method_class, options)


def method_without_options(text: str | None, owner: str, reason: str) -> Method | None:
    """Return the method that a text names, without query options; None for no text.

    Query options among the settings are refused: `reason` says who sets them, `owner` names the text in the message.
    """
    if text is None or not text.strip():
        return None
    parsed = read_method(text, tuple(QUERY_OPTIONS))
    given = [name for name, value in parsed.options.items() if value != QUERY_OPTIONS[name]]
    if given:
        raise InputError(f"{owner} {text}: {reason}; leave out {', '.join(given)}")
    method: Method = parsed.made
    return method


def method_of(value: str | Method | None) -> Method:
    """Return a method by name with settings, an instance itself, or the default."""
    from jostle.cast import has, shown

    if value is None:
        value = DEFAULT_METHOD
    if isinstance(value, str):
        method: Method = read_method(value).made
        return method
    if isinstance(value, type) or not has(value, *METHOD_MEMBERS):
        names = ", ".join(sorted(METHODS))
        raise InputError(f"method is {shown(value)}; pass a name ({names}) or an instance such as jostle.BruteForce()")
    return value


def name_of(method: Method) -> str:
    """Return a method's registered name, or else the name of its class."""
    place = class_path(type(method))
    for name in METHODS:
        if METHODS.place_of(name) == place:
            return name
    return type(method).__name__


def importable_name(method: Method) -> str:
    """Return a name that finds the method again: registered or "package.module:Class"."""
    name, made = name_of(method), type(method)
    if name in METHODS:
        return name
    if "." in made.__qualname__:
        cure = f"jostle.register('{made.__name__.lower()}', {made.__name__}) gives it one"
        raise InputError(f"method {made.__qualname__} has no name that can be imported; {cure}")
    return class_path(made)
