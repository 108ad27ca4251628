"""Parts of the scene `shrine` in assembly order, and how a hand takes each.

They are those of `build.mikoshi`, 5,263 faces in all; pieces that are carried together (two posts and their rail, the tie plate and
its brackets, the plinth and its rope) are one part. Meshes are in coordinates of the finished shrine: at the identity pose a part
is a joint away from its neighbours. From there every part moves along one direction until it touches (`places_of`).
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
from jostle.scenes.touch_search import halved
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from jostle.shapes.mesh import Mesh

DOWN = np.array([0.0, 0.0, -1.0])
BEFORE, BEYOND = 0.1, 0.2  # range of the search for contact, before and after a part's place
STEP = 1e-3  # of the search; only the banner is thinner, and it arrives flat side first
HALVINGS = 3  # of a step: a part sinks in by less than 2e-4


class Part(NamedTuple):
    """A part of the shrine, in the coordinates of the finished one.

    It arrives along `goes`. A hand takes it along `grip`, palm first, its palm at `aim` and its fingers along `fingers` (None:
    any). `place` shifts its goal, and so does the final position of the part `beside` it. It is carried `rise` above the straight
    line.
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
    # The banner is lowered until its upper end is at the eaves, and hung on them.
    west = np.array([-1.0, 0.0, 0.0])
    banner = _part(pieces, "banner", goes=west, grip=west, fingers=DOWN, place=0.09 * DOWN, beside="great roof")
    return [*parts, banner]


def places_of(parts: Sequence[Part], stones: Mesh) -> list[Floats]:
    """Return each part's pose (4,4) in the shrine, touching earlier parts."""
    standing = [stones]
    places: dict[str, Floats] = {}
    for part in parts:
        place = part.place + (places[part.beside][:3, 3] if part.beside else 0.0)
        distance = distance_to_contact(part.mesh, translation(place), part.goes, joined(standing, "standing parts"))
        places[part.name] = translation(place + distance * part.goes)
        standing.append(Mesh(part.mesh.vertices + places[part.name][:3, 3], part.mesh.faces))
    return list(places.values())


def distance_to_contact(mesh: Mesh, pose: Floats, along: Floats, other: Mesh, before: float = BEFORE) -> float:
    """Return how far a mesh moves along a direction until it touches another.

    The search starts `before` behind its pose.
    """
    pair, here = Pair(mesh, other), np.eye(4)

    def touches(distance: float) -> bool:
        return bool(pair.touches(translation(distance * along) @ pose, here))

    apart = -before
    while not touches(apart + STEP):
        apart += STEP
        if apart > BEYOND:
            raise InputError(f"{mesh.name} comes to its place without touching anything")
    return halved(touches, apart, apart + STEP, HALVINGS)


def _part(pieces: dict[str, Mesh], name: str, members: Sequence[str] = (), **fields: Any) -> Part:
    mesh = joined([pieces[piece] for piece in members or (name,)], f"shrine: {name}")
    return Part(name, mesh, **{"aim": mesh.bounds.mean(axis=0), **fields})
