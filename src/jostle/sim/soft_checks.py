"""Checks before a soft simulation starts: its soft bodies and the world's method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jostle.errors import InputError, Unsupported
from jostle.interface.method import Method
from jostle.interface.query import Query
from jostle.interface.traits import Answer
from jostle.registry import name_of
from jostle.sim.deform import SoftMaterial
from jostle.world.body import Body
from jostle.world.world import World

Materials = Mapping[str, SoftMaterial] | Mapping[int, SoftMaterial] | Mapping[Body, SoftMaterial]


def checked_materials(world: World, soft: Materials) -> dict[int, SoftMaterial]:
    """Return the materials by the number of their body in the world."""
    if not isinstance(soft, Mapping) or not soft:
        raise InputError("soft is empty; pass a SoftMaterial for each soft body, such as soft={'ball': SoftMaterial()}")
    materials: dict[int, SoftMaterial] = {}
    for key, material in soft.items():
        body = world[key]
        if not isinstance(material, SoftMaterial):
            raise InputError(f"body {body.name!r}: its material is {material!r}; pass a SoftMaterial")
        if not body.deformable:
            raise InputError(f"body {body.name!r} is soft, but rigid in its world; add it with deformable=True")
        if body.static:
            raise InputError(f"body {body.name!r} is soft and static; leave out one of the two")
        if not np.array_equal(body.vertices, body.mesh.vertices):
            raise InputError(
                f"body {body.name!r} is not in the shape of its mesh, which is its rest shape; make a mesh of it first"
            )
        if not body.mesh.size > 0.0:
            raise InputError(f"body {body.name!r} has no extent, so there is nothing to deform; remove it")
        materials[body._row] = material
    for body in world:
        if body.deformable and body._row not in materials:
            raise InputError(f"body {body.name!r} is deformable, but has no material; name it in soft, or add it rigid")
    return materials


def check_answers(method: Method, question: Query) -> None:
    """Raise if the method does not support the query of a step."""
    name = name_of(method)
    if Answer.FACES not in method.traits.answers:
        raise Unsupported(f"{name} does not answer faces (trait answers), which the response needs; choose another method")
    method.traits.check_query(name, question)
