"""Checks of user input: every array, number and name is converted here.

Results are C-contiguous, of the documented dtype, read-only and owned by jostle, so that no other code checks again. A bad value
raises `InputError` with the owner (a body's name), the field and the first bad index, before anything has changed.

Coordinates are at most 1e30 in magnitude, and those below 1e-30 become 0: in that range the exact arithmetic of
`geometry/predicates.py` neither overflows nor loses a bit to underflow (conventions.md).

Values may come from any class: its `__float__`, `__array__` or `__repr__` may raise anything, as the repr of a long int does.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError

SMALLEST_COORDINATE = 1e-30
LARGEST_COORDINATE = 1e30
LARGEST_ID = 2**31 - 1  # of a body: ids are int32 in rows
ALL_BITS = 0xFFFFFFFF  # of categories and masks
LONGEST_SHOWN = 200  # characters of a value in a message
RIGID_TOLERANCE = 1e-5  # largest accepted entry of |RᵀR − I|; poses from files are not quite orthonormal
NO_POINTS = "points without faces are not served"

_NO_NUMBERS = (bool, str, bytes, bytearray, memoryview)  # float() accepts most of them


def _place(owner: str, field: str, index: Sequence[int] | None = None) -> str:
    where = field if index is None else f"{field}[{', '.join(str(int(i)) for i in index)}]"
    return f"{owner}: {where}" if owner else where


def shown(value: object) -> str:
    """Return a short repr of a value for a message, or its type if repr fails."""
    try:
        text = repr(value)
    except Exception:  # raised by the value's class
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… (a {type(value).__name__})"


def has(value: object, *names: str) -> bool:
    """Return whether a value has all of these attributes."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:  # raised by the value's class
        return False


def as_array(value: ArrayLike, owner: str, field: str) -> NDArray[Any]:
    """Return an array of real numbers of any shape, not necessarily a copy."""
    try:
        array = np.asarray(value)
    except (MemoryError, TimeoutError):  # from the machine or a signal handler, not from the value
        raise
    except Exception as error:  # raised by the value's class or by NumPy
        raise InputError(f"{_place(owner, field)} is not a regular array of numbers ({shown(error)})") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{_place(owner, field)} has dtype {array.dtype}; pass real numbers (float64, float32 or integers)")
    return array


def _sealed(array: NDArray[Any]) -> Any:
    array.flags.writeable = False
    return array


def as_points(value: ArrayLike, owner: str, field: str = "vertices", count: int | None = None) -> Floats:
    """Return (n,3) float64 points in the accepted range.

    Coordinates below the range, and -0.0, become 0.0.
    """
    array = as_array(value, owner, field)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"{_place(owner, field)} has shape {array.shape}; it must be (n, 3)")
    if count is not None and len(array) != count:
        raise InputError(f"{_place(owner, field)} has {len(array)} rows; this body has {count} vertices, pass one row for each")
    if len(array) == 0:
        raise InputError(f"{_place(owner, field)} is empty; a mesh needs at least one vertex")
    return _sealed(_as_coordinates(array, owner, field))


def _as_coordinates(array: NDArray[Any], owner: str, field: str) -> Floats:
    """Return a float64 copy within the accepted range, of any shape."""
    with np.errstate(over="ignore"):  # long doubles become inf, which is refused
        points = np.array(array, dtype=np.float64, order="C", copy=True)
    size = np.abs(points)
    bad = ~(size <= LARGEST_COORDINATE)
    if bad.any():
        _refuse_coordinate(points, bad, owner, field)
    points[size < SMALLEST_COORDINATE] = 0.0  # also -0.0, so that equal points have equal bits
    return points


def _refuse_coordinate(points: Floats, bad: NDArray[np.bool_], owner: str, field: str) -> None:
    index = np.argwhere(bad)[0]
    value = points[tuple(index)]
    if np.isfinite(value):
        cure = f"coordinates are at most {LARGEST_COORDINATE:g} in magnitude; rescale the mesh"
    else:
        cure = "every coordinate must be a finite number; remove or repair this vertex"
    raise InputError(f"{_place(owner, field, index)} is {value}; {cure}")


def as_faces(value: ArrayLike, vertex_count: int, owner: str, field: str = "faces") -> Ints:
    """Return (m,3) int32 vertex indices, all within range. Repeated indices are legal."""
    array = as_array(value, owner, field)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"{_place(owner, field)} has shape {array.shape}; it must be (m, 3), triangles only")
    if len(array) == 0:
        raise InputError(f"{_place(owner, field)} is empty; a mesh needs at least one face: {NO_POINTS}")
    if array.dtype.kind == "f":
        raise InputError(f"{_place(owner, field)} has dtype {array.dtype}; indices must be integers")
    bad = (array < 0) | (array >= vertex_count)
    if bad.any():
        index = np.argwhere(bad)[0]
        raise InputError(
            f"{_place(owner, field, index)} is {array[tuple(index)]}; indices run from 0 to {vertex_count - 1} "
            f"(the mesh has {vertex_count} vertices)"
        )
    return _sealed(np.array(array, dtype=np.int32, order="C", copy=True))


def as_vector(value: ArrayLike, field: str) -> Floats:
    """Return three finite numbers (3,)."""
    vector: Floats = as_array(value, "", field).astype(np.float64)
    if vector.shape != (3,) or not all(map(math.isfinite, vector.tolist())):
        raise InputError(f"{field} is {shown(value)}; it must be three finite numbers")
    return vector


def as_pose(value: ArrayLike | None, owner: str, field: str = "pose") -> Floats:
    """Return one (4,4) rigid pose; None is the identity."""
    if value is None:
        return _sealed(np.eye(4))
    array = as_array(value, owner, field)
    if array.shape != (4, 4):
        raise InputError(f"{_place(owner, field)} has shape {array.shape}; it must be (4, 4), body to world")
    pose = as_poses(array[None], 1, lambda _: owner, field, single=True)[0]
    return _sealed(np.array(pose))


def as_poses(value: ArrayLike, count: int, owner_of: Callable[[int], str], field: str = "poses", single: bool = False) -> Floats:
    """Return (count,4,4) rigid poses; `owner_of` names the body of a row in messages."""
    array = as_array(value, "", field)
    if array.shape != (count, 4, 4):
        raise InputError(f"{field} has shape {array.shape}; it must be ({count}, 4, 4), one pose for each body in order")
    poses = np.array(array, dtype=np.float64, order="C", copy=True)
    rotation, translation = poses[:, :3, :3], poses[:, :3, 3]
    with np.errstate(invalid="ignore", over="ignore"):
        gram = np.matmul(rotation.transpose(0, 2, 1), rotation)
    gram[:, [0, 1, 2], [0, 1, 2]] -= 1.0
    # NaN compares false, so a NaN anywhere fails the same test.
    good = (
        (np.abs(gram) <= RIGID_TOLERANCE).all(axis=(1, 2))
        & (np.abs(translation) <= LARGEST_COORDINATE).all(axis=1)
        & (poses[:, 3] == (0.0, 0.0, 0.0, 1.0)).all(axis=1)
    )
    # A reflection passes the Gram test; its determinant does not.
    good &= np.linalg.det(np.where(good[:, None, None], rotation, np.eye(3))) > 0.0
    if not good.all():
        first = int(np.argmin(good))
        index = None if single else (first,)
        raise InputError(f"{_place(owner_of(first), field, index)} {_pose_defect(poses[first])}")
    return poses


def as_pose_sets(value: ArrayLike, bodies: int, owner_of: Callable[[int], str]) -> Floats:
    """Return (n, bodies, 4, 4) rigid poses."""
    array = as_array(value, "", "poses")
    if array.ndim != 4 or array.shape[1:] != (bodies, 4, 4):
        raise InputError(f"poses has shape {array.shape}; it must be (n, {bodies}, 4, 4), a pose for each of the {bodies} bodies")
    try:
        return as_poses(array.reshape(-1, 4, 4), array.shape[0] * bodies, lambda k: owner_of(k % bodies)).reshape(array.shape)
    except InputError as error:
        raise InputError(f"{error} (poses are numbered through all sets, {bodies} for each)") from None


def _pose_defect(pose: Floats) -> str:
    if not np.isfinite(pose).all():
        i, j = np.argwhere(~np.isfinite(pose))[0]
        return f"has {pose[i, j]} at row {i}, column {j}; a pose must be finite"
    if not (pose[3] == (0.0, 0.0, 0.0, 1.0)).all():
        return f"has the last row {pose[3].tolist()}; it must be 0 0 0 1 (body to world, column vectors; is it transposed?)"
    if not (np.abs(pose[:3, 3]) <= LARGEST_COORDINATE).all():
        return f"has a translation beyond {LARGEST_COORDINATE:g}"
    rotation = pose[:3, :3]
    error = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if error > RIGID_TOLERANCE:
        return (
            f"is not rigid: RᵀR differs from the identity by {error:.3g} (at most {RIGID_TOLERANCE:g}); "
            "scale the mesh instead of the pose"
        )
    return "is a reflection (determinant -1); mirror the mesh instead of the pose"


def as_length(value: float, field: str, owner: str = "") -> float:
    """Return a finite length >= 0."""
    number = as_number(value, field, owner)
    if not 0.0 <= number <= LARGEST_COORDINATE:
        raise InputError(f"{_place(owner, field)} is {number}; it must be a finite length >= 0")
    return number


def as_positive_length(value: float, field: str, owner: str = "") -> float:
    """Return a finite length above zero, up to the largest coordinate."""
    length = as_number(value, field, owner)
    if not 0.0 < length <= LARGEST_COORDINATE:
        raise InputError(f"{_place(owner, field)} is {value}; it must be a positive length")
    return length


def as_seconds(value: float, field: str) -> float:
    """Return the duration of a step: positive, at most the largest coordinate."""
    seconds = as_number(value, field)
    if not 0.0 < seconds <= LARGEST_COORDINATE:
        raise InputError(f"{field} is {seconds}; it must be a time > 0 in seconds, at most {LARGEST_COORDINATE:g}")
    return seconds


def as_number(value: float, field: str, owner: str = "") -> float:
    """Return a float; only real numbers are accepted.

    NaN and inf pass: the caller checks the range.
    """
    try:
        if isinstance(value, _NO_NUMBERS) or getattr(value, "ndim", 0) != 0 or getattr(value, "dtype", None) == np.bool_:
            raise TypeError
        return float(value)
    except OverflowError:
        raise InputError(f"{_place(owner, field)} is {shown(value)}; it is beyond the largest float") from None
    except Exception:  # raised by the value's class
        raise InputError(f"{_place(owner, field)} is {shown(value)}; pass a number") from None


def as_number_between(value: float, field: str, lowest: float, highest: float, unit: str = "") -> float:
    """Return a number from lowest to highest; `unit` is for the message."""
    number = as_number(value, field)
    if not lowest <= number <= highest:
        raise InputError(f"{field} is {number}; it must be between {lowest:g} and {highest:g}{unit and ' ' + unit}")
    return number


def as_count(value: int, field: str, lowest: int = 0, highest: int | None = None, owner: str = "") -> int:
    """Return an int in [lowest, highest]."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except Exception:  # raised by the value's class
        raise InputError(f"{_place(owner, field)} is {shown(value)}; pass a whole number") from None
    if number < lowest or (highest is not None and number > highest):
        upper = "" if highest is None else f" and at most {highest}"
        raise InputError(f"{_place(owner, field)} is {shown(number)}; it must be at least {lowest}{upper}")
    return number


def as_bits(value: int, field: str, owner: str = "") -> int:
    """Return an int of 32 bits."""
    return as_count(value, field, highest=ALL_BITS, owner=owner)


def as_flag(value: bool, field: str, owner: str = "") -> bool:
    """Return a bool; only booleans are accepted, to catch misplaced arguments."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{_place(owner, field)} is {shown(value)}; pass True or False")
    return bool(value)


def as_text(value: str, field: str, owner: str = "") -> str:
    """Return a str: the name of a body or a mesh, a title."""
    if not isinstance(value, str):
        raise InputError(f"{_place(owner, field)} is {shown(value)}; pass a str")
    return str(value)


def as_path(value: str | os.PathLike[str], field: str = "path") -> Path:
    """Return the path named by a str or a `PathLike`."""
    try:
        name = os.fspath(value)
        if not isinstance(name, str) or b"\0" in os.fsencode(name):
            raise TypeError
        return Path(name)
    except Exception:  # raised by the value's class
        raise InputError(f"{field} is {shown(value)}; pass the path of a file, a str or a pathlib.Path") from None


def as_list(value: Iterable[Any], field: str, owner: str = "") -> list[Any]:
    """Return the entries of any iterable except text."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return list(value)
    except Exception:  # raised by the value's class
        raise InputError(f"{_place(owner, field)} is {shown(value)}; pass a list") from None


def as_choice(value: str, choices: Sequence[str], field: str) -> str:
    """Return one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        names = [choice for choice in choices if choice]
        cure = f"choose one of {', '.join(names)}" if names else "leave it out: there is nothing to choose"
        raise InputError(f"{field} is {shown(value)}; {cure}")
    return value


def as_tolerance(value: float, field: str) -> float:
    """Return a number in (0,1]."""
    number = as_number(value, field)
    if not 0.0 < number <= 1.0:
        raise InputError(f"{field} is {number}; it must be above 0 and at most 1")
    return number


def as_moving_corners(*ends: Sequence[tuple[str, ArrayLike, int]]) -> Floats:
    """Return the corners (n,c,3) of n queries at t = 0 and then at t = 1.

    Each part is (field, array, number of corners). A part of one corner has shape (n,3), others (n,corners,3). n may be 0.
    """
    parts: list[Floats] = []
    for field, value, corners in (part for end in ends for part in end):
        array = as_array(value, "", field)
        shape = (3,) if corners == 1 else (corners, 3)
        if array.size == 0 and array.ndim > 0 and len(array) == 0:
            array = array.reshape(0, *shape)
        if array.shape[1:] != shape or array.ndim != len(shape) + 1:
            wanted = ", ".join(map(str, shape))
            raise InputError(f"{field} has shape {array.shape}; it must be (n, {wanted})")
        if parts and len(array) != len(parts[0]):
            first = ends[0][0][0]
            raise InputError(f"{field} has {len(array)} rows and {first} has {len(parts[0])}; pass one row of each for each query")
        parts.append(_as_coordinates(array, "", field).reshape(len(array), corners, 3))
    return np.concatenate(parts, axis=1)
