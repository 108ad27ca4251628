"""Parts of the scene `shrine` in assembly order, and how a hand takes each.

They are those of `build.mikoshi`, 5,263 faces in all; pieces that no one would carry singly (two posts and their rail, the tie
plate and its brackets, the plinth and the rope that is tied round it) are one part. Meshes have the coordinates of the finished
shrine: with the identity as its pose a part is where it belongs, a joint away from its neighbours. Every part goes on along one
direction from there until it touches (`places_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.geometry.unit_vectors import unit_vector
from jostle.methods.wide_tree.pair import Pair
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from jostle.shapes.mesh import Mesh

DOWN = np.array([0.0, 0.0, -1.0])
BEFORE, BEYOND = 0.1, 0.2  # how far before its place a part begins to look for contact, and how far after it at most
STEP = 1e-3  # in which it is looked for: no part is thinner but the banner, which comes with its flat side
SINK = 2e-4  # the most that a part goes beyond first contact


class Part(NamedTuple):
    """A part of the shrine, in the coordinates of the finished one.

    `goes` is the direction in which it comes to its place, `grip` the one in which a hand comes to it, palm first, with its
    fingers along `fingers` (None: as the hand likes). `aim` is where the palm goes to. `place` shifts where the part is to be;
    the part `beside` it, which may have come to rest lower, takes it along. `rise` is how high above the straight line it is
    carried.
    """

    name: str
    mesh: Mesh
    goes: Floats = DOWN
    grip: Floats = DOWN
    fingers: Floats | None = None
    aim: Floats = np.zeros(3)
    place: Floats = np.zeros(3)
    beside: str | None = None
    rise: float = 0.35


def shrine_parts() -> list[Part]:
    """Return all parts, each after those that support it."""
    pieces = {(mesh.name or "").removeprefix("mikoshi: "): mesh for mesh in build.mikoshi()}
    outward = [np.array([np.sin(turn), -np.cos(turn), 0.0]) for turn in np.pi / 2.0 * np.arange(4)]
    parts = [_part(pieces, f"{kind} {k}") for kind in ("cross pole", "pole") for k in range(2)]
    parts += [_part(pieces, "plinth", ["plinth", "rope"]), _part(pieces, "floor"), _part(pieces, "body")]
    # A door is pushed into its niche by a hand whose wrist is above it.
    parts += [_part(pieces, f"door {k}", goes=-out, grip=-out, fingers=DOWN, beside="body") for k, out in enumerate(outward)]
    parts += [_part(pieces, f"{kind} {k}") for kind in ("pillar", "gate") for k in range(4)]
    parts += [_part(pieces, f"railing {k}", [f"post {3 * k}", f"post {3 * k + 1}", f"rail {k}"]) for k in range(4)]
    parts += [_part(pieces, "tie plate", ["tie plate", *(f"bracket {k}" for k in range(12))]), _part(pieces, "great roof")]
    for k in range(4):  # bells come from outside and below, to hang under the roof
        middle = pieces[f"bell {k}"].bounds.mean(axis=0)
        inward = -unit_vector(middle * (1.0, 1.0, 0.0))
        goes = unit_vector(0.5 * inward - DOWN)
        parts.append(_part(pieces, f"bell {k}", goes=goes, grip=inward, fingers=-DOWN, beside="great roof", rise=0.0))
    for k, turn in enumerate(np.pi / 4.0 + np.pi / 2.0 * np.arange(4)):
        parts.append(_part(pieces, f"frond {k}", grip=np.array([-np.sin(turn), np.cos(turn), 0.0]), fingers=DOWN))
    parts += [_part(pieces, name) for name in ("neck", "small roof", "jewel", "phoenix")]
    # The banner is lowered until the eaves are at its upper end, and hung on them.
    west = np.array([-1.0, 0.0, 0.0])
    banner = _part(pieces, "banner", goes=west, grip=west, fingers=DOWN, place=(0.0, 0.0, -0.09), beside="great roof")
    return [*parts, banner]


def places_of(parts: Sequence[Part], stones: Mesh) -> list[Floats]:
    """Return the pose (4,4) of each part in the finished shrine, where it touches earlier parts."""
    standing = [stones]
    places: dict[str, Floats] = {}
    for part in parts:
        place = part.place + (places[part.beside][:3, 3] if part.beside else 0.0)
        way = way_until_contact(part.mesh, translation(place), part.goes, joined(standing, "what stands already"))
        places[part.name] = translation(place + way * part.goes)
        standing.append(Mesh(part.mesh.vertices + places[part.name][:3, 3], part.mesh.faces))
    return list(places.values())


def way_until_contact(mesh: Mesh, pose: Floats, along: Floats, other: Mesh, before: float = BEFORE) -> float:
    """Return how far a mesh moves along a direction until it touches another, from `before` behind its pose."""
    pair, here = Pair(mesh, other), np.eye(4)

    def touches(way: float) -> bool:
        return bool(pair.touches(translation(way * along) @ pose, here))

    apart = -before
    while not touches(apart + STEP):
        apart += STEP
        if apart > BEYOND:
            raise InputError(f"{mesh.name} comes to its place without touching anything")
    together = apart + STEP
    while together - apart > SINK:
        middle = 0.5 * (apart + together)
        apart, together = (apart, middle) if touches(middle) else (middle, together)
    return together


def _part(pieces: dict[str, Mesh], name: str, of: Sequence[str] = (), **ways: Any) -> Part:
    mesh = joined([pieces[piece] for piece in of or (name,)], f"shrine: {name}")
    ways = {key: np.asarray(value) if isinstance(value, tuple) else value for key, value in ways.items()}
    return Part(name, mesh, **{"aim": mesh.bounds.mean(axis=0), **ways})
