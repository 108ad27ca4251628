"""Checks before a simulation moves anything: methods, times, masses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError, Unsupported
from jostle.interface.query import Query
from jostle.interface.traits import Answer
from jostle.registry import name_of
from jostle.world.world import World


def checked_world(world: World) -> World:
    """Return a world."""
    if not isinstance(world, World):
        raise InputError(f"world is {cast.shown(world)}; pass a jostle.World")
    return world


def question_for(world: World, response: str) -> Query:
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
    bounce, rub = cast.as_number(restitution, "restitution"), cast.as_number(friction, "friction")
    if not 0.0 <= bounce <= 1.0:
        raise InputError(f"restitution is {bounce}; it must lie between 0 and 1")
    if not 0.0 <= rub <= cast.LARGEST_COORDINATE:
        raise InputError(f"friction is {rub}; it must be a finite number >= 0")
    if response == "exchange" and (bounce != 1.0 or rub != 0.0):
        raise InputError("response='exchange' knows no restitution and no friction; leave them out, or take response='impulse'")
    return bounce, rub


def checked_gravity(gravity: ArrayLike) -> Floats:
    """Return gravity (3,)."""
    vector = cast.as_array(gravity, "", "gravity").astype(np.float64)
    if vector.shape != (3,):
        raise InputError(f"gravity has shape {vector.shape}; pass three numbers, such as (0, 0, -9.81)")
    if not (np.abs(vector) <= cast.LARGEST_COORDINATE).all():
        raise InputError(f"gravity is {vector.tolist()}; it must be finite, at most 1e30")
    return vector


def check_equal_masses(masses: Floats, free: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Refuse free bodies of different masses (n,)."""
    own = masses[free]
    if len(own) and float(own.max()) > float(own.min()) * (1.0 + 1e-9):
        numbers = np.flatnonzero(free)
        low, high = (int(numbers[k]) for k in (np.argmin(own), np.argmax(own)))
        raise InputError(
            f"bodies {names[low]!r} and {names[high]!r} have the masses {masses[low]:.4g} and {masses[high]:.4g}; "
            "exchanged velocities keep the energy of equal masses only: pass mass=1, or take response='impulse'"
        )
