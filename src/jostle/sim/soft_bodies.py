"""Flat arrays of a soft simulation: lattices, surfaces, frames of rigid bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats
from jostle.geometry.rigid import transform_points
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.sim.deform import Cells, Nodes, SoftMaterial, Springs, cells_of, springs_of
from jostle.sim.lattice import Lattice
from jostle.sim.state import Matter, State, rotations_of
from jostle.sim.surfaces import FIXED, RIGID, SOFT, Frames, Surfaces
from jostle.sim.ties import Ties, ties_of


class SoftBodies(NamedTuple):
    """The arrays of a step's kernels, except the pairs."""

    surfaces: Surfaces
    nodes: Nodes
    springs: Springs
    cells: Cells
    ties: Ties
    first_node: NDArray[np.int32]  # (n+1,) of the bodies; rigid ones have none
    mass: Floats  # (k,) of the nodes


def soft_bodies_of(
    frame: Frame, materials: Mapping[int, SoftMaterial], lattices: Mapping[int, Lattice], matter: Matter, free: Bools
) -> SoftBodies:
    """Return the arrays of all bodies; `free` (n,) marks the rigid ones that move.

    Materials and lattices are by body number.
    """
    places = {row: transform_points(frame.poses[row], lattice.node) for row, lattice in lattices.items()}
    still = {row: np.zeros_like(place) for row, place in places.items()}
    return with_lattices(_surfaces_of(frame, lattices, matter, free), materials, lattices, places, still)


def with_lattices(
    surfaces: Surfaces,
    materials: Mapping[int, SoftMaterial],
    lattices: Mapping[int, Lattice],
    places: Mapping[int, Floats],
    velocities: Mapping[int, Floats],
) -> SoftBodies:
    """Return the arrays of the same bodies with new lattices and node states."""
    rows = sorted(lattices)
    first_node = _starts([len(lattices[row].node) if row in lattices else 0 for row in range(len(surfaces.kind))])
    mass = _end_to_end([materials[row].density * lattices[row].mass for row in rows])
    place = np.concatenate([np.empty((0, 3)), *(places[row] for row in rows)])
    velocity = np.concatenate([np.empty((0, 3)), *(velocities[row] for row in rows)])
    springs = [springs_of(lattices[row], materials[row]) for row in rows]
    cells = [cells_of(lattices[row], materials[row]) for row in rows]
    shifts = [int(first_node[row]) for row in rows]
    return SoftBodies(
        surfaces=_following(surfaces, lattices, first_node),
        nodes=Nodes(place, place.copy(), velocity, 1.0 / mass),
        springs=Springs(
            _shifted([part.node for part in springs], shifts, 2), *(_end_to_end([part[k] for part in springs]) for k in (1, 2, 3))
        ),
        cells=Cells(
            _shifted([part.node for part in cells], shifts, 8), *(_end_to_end([part[k] for part in cells]) for k in (1, 2, 3))
        ),
        ties=ties_of(
            _shifted([lattices[row].tied[:, None] for row in rows], shifts, 1).ravel(),
            _shifted([lattices[row].tied_to for row in rows], shifts, 4),
            np.concatenate([np.empty((0, 4)), *(lattices[row].tied_by for row in rows)]),
            mass,
        ),
        first_node=first_node,
        mass=mass,
    )


def frames_of(matter: Matter, state: State) -> Frames:
    """Return the frames of all bodies; immovable ones have no finite mass."""
    return Frames(
        state.centre.copy(),
        state.attitude.copy(),
        np.ascontiguousarray(rotations_of(state.attitude).reshape(-1, 9)),
        state.velocity.copy(),
        state.spin.copy(),
        matter.inverse_mass.copy(),
        matter.inverse_moments.copy(),
        matter.quotients.copy(),
    )


def _starts(counts: list[int]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _end_to_end(parts: Sequence[NDArray[Any]]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


def _shifted(parts: Sequence[NDArray[np.int32]], shifts: Sequence[int], width: int) -> NDArray[np.int32]:
    """Return (k, width) node numbers of all bodies, each shifted by its first node."""
    nodes = [part + np.int32(shift) for part, shift in zip(parts, shifts, strict=True)]
    return np.ascontiguousarray(np.concatenate([np.empty((0, width), np.int32), *nodes]))


def _surfaces_of(frame: Frame, lattices: Mapping[int, Lattice], matter: Matter, free: Bools) -> Surfaces:
    """Return the surfaces of all bodies; soft ones are not bound to nodes yet."""
    meshes = frame.bodies.meshes
    first_vertex = _starts([len(mesh.vertices) for mesh in meshes])
    first_face = _starts([len(mesh.faces) for mesh in meshes])
    vertices, faces = int(first_vertex[-1]), int(first_face[-1])
    kind = np.where(free, RIGID, FIXED).astype(np.int32)
    own, node, weight = np.zeros((vertices, 3)), np.zeros((vertices, 8), np.int32), np.zeros((vertices, 8))
    face, face_node, face_weight = np.zeros((faces, 3), np.int32), np.zeros((faces, 8), np.int32), np.zeros((faces, 8))
    face_part = np.zeros(faces, np.int32)
    outward = np.ones(len(meshes))
    for row, mesh in enumerate(meshes):
        of_vertices, of_faces = slice(first_vertex[row], first_vertex[row + 1]), slice(first_face[row], first_face[row + 1])
        face[of_faces] = mesh.faces + first_vertex[row]
        outward[row] = 0.0 if not mesh.is_closed else -1.0 if mesh.volume < 0.0 else 1.0
        if row in lattices:
            kind[row] = SOFT
            continue
        x, y, z = (mesh.vertices - matter.middle[row]).T[:, :, None]
        turn = matter.fitted[row]
        own[of_vertices] = (x * turn[:, 0] + y * turn[:, 1]) + z * turn[:, 2]
        face_part[of_faces] = -1 - row
    arrays = kind, outward, first_vertex, first_face, face, own, node, weight, face_node, face_weight, face_part
    return Surfaces(*(read_only_view(array) for array in arrays))


def _following(surfaces: Surfaces, lattices: Mapping[int, Lattice], first_node: NDArray[np.int32]) -> Surfaces:
    """Return the surfaces with soft bodies bound to the nodes of their lattices."""
    node, weight = surfaces.node.copy(), surfaces.weight.copy()
    face_node, face_weight, face_part = surfaces.face_node.copy(), surfaces.face_weight.copy(), surfaces.face_part.copy()
    first_vertex, first_face = surfaces.first_vertex, surfaces.first_face
    for row, lattice in lattices.items():
        of_vertices, of_faces = slice(first_vertex[row], first_vertex[row + 1]), slice(first_face[row], first_face[row + 1])
        cell = lattice.cell + first_node[row]
        # No index is out of range: mode "clip" avoids the copy of checked indexing.
        np.take(cell, lattice.vertex_cell, axis=0, out=node[of_vertices], mode="clip")
        np.take(cell, lattice.face_cell, axis=0, out=face_node[of_faces], mode="clip")
        weight[of_vertices], face_weight[of_faces] = lattice.vertex_weight, lattice.face_weight
        face_part[of_faces] = cell[lattice.face_cell, lattice.face_weight.argmax(axis=1)]
    return surfaces._replace(
        node=read_only_view(node),
        weight=read_only_view(weight),
        face_node=read_only_view(face_node),
        face_weight=read_only_view(face_weight),
        face_part=read_only_view(face_part),
    )
