"""Checks of a world's inputs: a kernel for usual cases, `cast` for the rest.

A valid float64 array takes 2 µs for a few poses and 25 µs for 25,000 vertices. Everything else goes to `cast`, which is slower,
converts, and says what is wrong.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Ints
from jostle.errors import InputError
from jostle.geometry.points import copy_accepted
from jostle.geometry.rigid import all_rigid
from jostle.interface.query import Budget, Default, Query, YesOrNo, one_name
from jostle.kernels.arrays import read_only_view

ALL_FACES = Query()
ANY_PAIR = YesOrNo(rows="any")
OPTIONS = (
    "rows", "clearance", "solid", "self_collision", "itself", "adjacent", "motion", "all_contacts", "separation", "budget",
)  # fmt: skip
PLAIN = {str, bool, int, float, type(None), Budget, Default}  # classes of options that never change
IDENTITY = cast.as_pose(None, "")


def checked_poses(poses: ArrayLike, count: int, names: Sequence[str]) -> NDArray[np.float64]:
    """Return a copy (count,4,4) of rigid poses; `names` are for messages."""
    if isinstance(poses, np.ndarray) and poses.dtype == np.float64 and poses.shape == (count, 4, 4):
        copied = np.array(poses, order="C")
        if all_rigid(read_only_view(copied), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
            return copied
    return cast.as_poses(poses, count, lambda row: f"body {names[row]!r}")


def checked_pose_sets(
    poses: ArrayLike, names: Sequence[str], static: NDArray[np.bool_], chosen: Sequence[int] | None
) -> tuple[NDArray[np.float64], Ints]:
    """Return sets of rigid poses (n, k, 4, 4), and the numbers (k,) of the bodies they are for.

    A valid array is returned without a copy.

    Parameters
    ----------
    poses
        For all bodies, for those that are not static, or for the chosen ones; (n, 4, 4) for one.
    names, static
        Of all bodies.
    chosen : sequence of int, optional
        The numbers of the bodies that the sets move.
    """
    every, movable = list(range(len(names))), np.flatnonzero(~static).tolist()
    array = poses if isinstance(poses, np.ndarray) else cast.as_array(poses, "", "poses")
    for numbers in ([*chosen],) if chosen is not None else (every, movable):
        count = len(numbers)
        single = array.ndim == 3 and count == 1
        if array.shape[-2:] != (4, 4) or not (single or (array.ndim == 4 and array.shape[1] == count)):
            continue
        sets = array[:, None] if single else array
        if sets.dtype == np.float64:
            placed = np.ascontiguousarray(sets)
            if all_rigid(read_only_view(placed).reshape(-1, 4, 4), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
                return placed, np.array(numbers, np.int32)
        owners = [f"body {names[number]!r}" for number in numbers]
        return cast.as_pose_sets(sets, count, owners.__getitem__), np.array(numbers, np.int32)
    raise InputError(f"poses has shape {array.shape}; {_fitting_shapes(names, movable, chosen)}")


def _fitting_shapes(names: Sequence[str], movable: Sequence[int], chosen: Sequence[int] | None) -> str:
    """Return what shapes sets of poses may have, and how to give others."""
    if chosen is not None:
        listed = ", ".join(repr(names[number]) for number in chosen[:10]) + (", …" if len(chosen) > 10 else "")
        if len(chosen) == 1:
            return f"it must be (n, 4, 4) or (n, 1, 4, 4), for body {listed}; name all bodies that the sets move"
        return f"it must be (n, {len(chosen)}, 4, 4), for the bodies {listed}; name all bodies that the sets move"
    count, rest = len(names), len(movable)
    shapes = f"(n, {count}, 4, 4), a pose for each of the {count} bodies"
    if rest != count:
        one = " or (n, 4, 4)" if rest == 1 else ""
        shapes += f", or (n, {rest}, 4, 4){one}, for the {rest} not static"
    return f"it must be {shapes}; for other bodies name them: bodies=[{', '.join(map(repr, names[:1]))}, …]"


def checked_pose(pose: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a sealed copy (4,4) of the rigid pose of the named body."""
    if isinstance(pose, np.ndarray) and pose.dtype == np.float64 and pose.shape == (4, 4):
        copied = np.empty((1, 4, 4))
        copied[0] = pose
        copied.setflags(write=False)
        if all_rigid(copied, cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
            return copied[0]
    return cast.as_pose(pose, f"body {name!r}")


def checked_vertices(vertices: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """Return a sealed copy (count,3) of the vertices of the named body."""
    if isinstance(vertices, np.ndarray) and vertices.dtype == np.float64 and vertices.shape == (count, 3):
        copied = np.empty((count, 3))
        flat = read_only_view(vertices).reshape(-1)
        if copy_accepted(flat, cast.SMALLEST_COORDINATE, cast.LARGEST_COORDINATE, copied.reshape(-1)):
            copied.flags.writeable = False
            return copied
    return cast.as_points(vertices, f"body {name!r}", count=count)


def checked_query(query: Query | None, options: tuple[Any, ...]) -> Query:
    """Return the query of a `detect` call: given options override those of `query`."""
    if query is None and PLAIN.issuperset(map(type, options)):
        return _remembered_query(*options)
    given = _given(options)
    if query is not None and not isinstance(query, Query):
        raise InputError(f"query is {cast.shown(query)}; pass a jostle.Query or keyword arguments")
    if query is None:
        return Query(**given)
    if not given:
        return query
    itself = one_name(given.pop("itself", None), given.pop("self_collision", None))
    return dataclasses.replace(query, **given, **({} if itself is None else {"itself": itself}))


def _given(options: Iterable[Any]) -> dict[str, Any]:
    """Return the options of a `detect` call that are given, by name."""
    return {name: value for name, value in zip(OPTIONS, options, strict=False) if value.__class__ is not Default}


@functools.lru_cache(maxsize=64, typed=True)  # typed: 1 equals True, and is no flag
def _remembered_query(*options: Any) -> Query:
    """Return the query with these options; making one takes 4 µs."""
    return Query(**_given(options))


def refuse_options(call: Callable[..., Any], unknown: Iterable[str]) -> None:
    """Raise for unknown options of a call, listing those it takes."""
    for name in unknown:
        known = [each.name for each in inspect.signature(call).parameters.values() if each.kind is each.KEYWORD_ONLY]
        raise InputError(f"{call.__name__} does not know {name!r}; it takes {', '.join(sorted(known))}")


def checked_group(value: int | None, owner: str) -> int:
    """Return the group number, -1 for None."""
    return -1 if value is None else cast.as_count(value, "group", highest=cast.LARGEST_ID, owner=owner)
