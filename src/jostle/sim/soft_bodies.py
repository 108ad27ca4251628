"""The bodies of a soft simulation made into flat arrays: lattices one behind the other, surfaces, and frames of rigid bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Frame
from jostle.geometry.rigid import transform_points
from jostle.kernels.arrays import read_only_view
from jostle.sim.deform import Cells, Nodes, SoftMaterial, Springs, cells_of, springs_of
from jostle.sim.lattice import Lattice, lattice_of
from jostle.sim.state import Matter, State, rotations_of
from jostle.sim.surfaces import FIXED, RIGID, SOFT, Frames, Surfaces

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class SoftBodies(NamedTuple):
    """All that the kernels of a step need, but the pairs."""

    surfaces: Surfaces
    nodes: Nodes
    springs: Springs
    cells: Cells
    first_node: NDArray[np.int32]  # (n+1,) of the bodies; rigid ones have none
    mass: Floats  # (k,) of the nodes


def soft_bodies_of(frame: Frame, materials: Mapping[int, SoftMaterial], matter: Matter, free: Bools) -> SoftBodies:
    """Return the arrays of all bodies; materials by body number, `free` (n,) says which of the others move."""
    known: dict[tuple[str, int], Lattice] = {}
    lattices: dict[int, Lattice] = {}
    for row, material in materials.items():
        key = frame.bodies.meshes[row].digest, material.cells
        if key not in known:
            known[key] = lattice_of(frame.bodies.meshes[row], material.cells)
        lattices[row] = known[key]
    first_node = _starts([len(lattices[row].node) if row in lattices else 0 for row in range(len(frame))])
    masses = [np.empty(0)] + [materials[row].density * lattices[row].mass for row in sorted(lattices)]
    mass = np.concatenate(masses)
    places = [transform_points(frame.poses[row], lattices[row].node) for row in sorted(lattices)]
    place = np.concatenate([np.empty((0, 3)), *places])
    springs = [springs_of(lattices[row], materials[row]) for row in sorted(lattices)]
    cells = [cells_of(lattices[row], materials[row]) for row in sorted(lattices)]
    shifts = [int(first_node[row]) for row in sorted(lattices)]
    return SoftBodies(
        surfaces=_surfaces_of(frame, lattices, first_node, matter, free),
        nodes=Nodes(place, place.copy(), np.zeros_like(place), 1.0 / mass),
        springs=Springs(
            _shifted([part.node for part in springs], shifts, 2),
            _end_to_end([part.rest for part in springs]),
            _end_to_end([part.compliance for part in springs]),
            _end_to_end([part.damping for part in springs]),
        ),
        cells=Cells(
            _shifted([part.node for part in cells], shifts, 8),
            _end_to_end([part.volume for part in cells]),
            _end_to_end([part.compliance for part in cells]),
            _end_to_end([part.damping for part in cells]),
        ),
        first_node=first_node,
        mass=mass,
    )


def frames_of(matter: Matter, state: State) -> Frames:
    """Return the frames of all bodies; those that nothing moves have no finite mass."""
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


def _end_to_end(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


def _shifted(parts: Sequence[NDArray[np.int32]], shifts: Sequence[int], width: int) -> NDArray[np.int32]:
    """(k, width) numbers of nodes of all bodies one behind the other, each shifted to where the nodes of its body begin."""
    nodes = [part + np.int32(shift) for part, shift in zip(parts, shifts, strict=True)]
    return np.ascontiguousarray(np.concatenate([np.empty((0, width), np.int32), *nodes]))


def _surfaces_of(
    frame: Frame, lattices: Mapping[int, Lattice], first_node: NDArray[np.int32], matter: Matter, free: Bools
) -> Surfaces:
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
        if row not in lattices:
            x, y, z = (mesh.vertices - matter.middle[row]).T[:, :, None]
            turn = matter.fitted[row]
            own[of_vertices] = (x * turn[:, 0] + y * turn[:, 1]) + z * turn[:, 2]
            face_part[of_faces] = -1 - row
            continue
        lattice = lattices[row]
        kind[row] = SOFT
        node[of_vertices] = lattice.cell[lattice.vertex_cell] + first_node[row]
        weight[of_vertices] = lattice.vertex_weight
        face_node[of_faces] = lattice.cell[lattice.face_cell] + first_node[row]
        face_weight[of_faces] = lattice.face_weight
        nearest = lattice.face_weight.argmax(axis=1)
        face_part[of_faces] = face_node[of_faces][np.arange(len(mesh.faces)), nearest]
    arrays = kind, outward, first_vertex, first_face, face, own, node, weight, face_node, face_weight, face_part
    return Surfaces(*(read_only_view(array) for array in arrays))
