"""Checks before a simulation moves anything: methods, times, masses."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Floats, Ints
from jostle.errors import InputError, Unsupported
from jostle.interface.frame import Bodies
from jostle.interface.query import Query
from jostle.interface.traits import Answer
from jostle.kernels.arrays import read_only_view
from jostle.registry import name_of
from jostle.world.body import Body
from jostle.world.world import World

NO_GRAVITY = (0.0, 0.0, 0.0)


def checked_world(world: World) -> World:
    """Return the world, or raise if it is none."""
    if not isinstance(world, World):
        raise InputError(f"world is {cast.shown(world)}; pass a jostle.World")
    return world


def query_for(world: World, response: str) -> Query:
    """Return the query of each step, after checking that the method answers it."""
    if response == "exchange":
        return Query(rows="pairs")
    traits = world.method.traits
    for answer in (Answer.POINTS, Answer.NORMAL):
        if answer not in traits.answers:
            raise Unsupported(
                f"{name_of(world.method)} does not answer {answer.value} (trait answers), which response='impulse' needs; "
                "choose another method, or response='exchange'"
            )
    return Query(rows="faces")


def checked_surface(restitution: float, friction: float, response: str) -> tuple[float, float]:
    """Return restitution and friction."""
    restitution, friction = cast.as_number_between(restitution, "restitution", 0.0, 1.0), cast.as_number(friction, "friction")
    if not 0.0 <= friction <= cast.LARGEST_COORDINATE:
        raise InputError(f"friction is {friction}; it must be a finite number >= 0")
    if response == "exchange" and (restitution != 1.0 or friction != 0.0):
        raise InputError("response='exchange' has no restitution and no friction; leave them out, or take response='impulse'")
    return restitution, friction


def checked_gravity(gravity: ArrayLike) -> Floats:
    """Return gravity (3,)."""
    vector = cast.as_array(gravity, "", "gravity").astype(np.float64)
    if vector.shape != (3,):
        raise InputError(f"gravity has shape {vector.shape}; pass three numbers, such as (0, 0, -9.81)")
    if not (np.abs(vector) <= cast.LARGEST_COORDINATE).all():
        raise InputError(f"gravity is {vector.tolist()}; it must be finite, at most 1e30")
    return vector


def kinematic_rows(
    world: World, kinematic: Iterable[Body | int | str], led: Iterable[Body | int | str] | None
) -> NDArray[np.int64]:
    """Return the sorted rows of kinematic bodies; `led` is the option's older name."""
    if led is not None:
        warnings.warn("led=… is kinematic=… now", DeprecationWarning, stacklevel=3)
        kinematic = led
    return np.array(sorted({world[body]._row for body in cast.as_list(kinematic, "kinematic")}), np.int64)


def check_same_bodies(world: World, bodies: Bodies, simulation: str) -> None:
    """Raise if bodies were added to the world or removed."""
    now = world._settled().bodies
    if now is not bodies and not np.array_equal(now.ids, bodies.ids):
        raise InputError(f"bodies were added to the world or removed since the simulation was made; make another {simulation}")


def rows_of(bodies: Bodies, ids: Ints) -> Ints:
    """Return the rows of body ids."""
    return read_only_view(ids if bodies.numbers_are_ids else np.searchsorted(bodies.ids, ids).astype(np.int32))


def check_equal_masses(masses: Floats, free: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Refuse free bodies of different masses (n,)."""
    own = masses[free]
    if len(own) and float(own.max()) > float(own.min()) * (1.0 + 1e-9):
        numbers = np.flatnonzero(free)
        low, high = (int(numbers[k]) for k in (np.argmin(own), np.argmax(own)))
        raise InputError(
            f"bodies {names[low]!r} and {names[high]!r} have the masses {masses[low]:.4g} and {masses[high]:.4g}; "
            "exchanged velocities conserve energy for equal masses only: pass mass=1, or take response='impulse'"
        )
