"""Lattices refined where a collision is probable (Guy and Debunne 2004, §5.2).

The sample pairs of the method `monte_carlo` show where: it refines samples that are near another body for their size, so faces
below a sample no wider than a cell, and near its partner, are in cells worth splitting before anything touches. For any other
method the pairs of near facets show it, one step ahead. Old pairs (§5.5) do not count: cells below them may be merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from jostle._types import Bools
from jostle.interface.frame import Frame
from jostle.interface.method import Detector
from jostle.sim.back_projection import FacetPairs
from jostle.sim.deform import SoftMaterial
from jostle.sim.lattice import Lattice, lattice_of
from jostle.sim.refinement import Cells, carried_over, cells_with_faces, next_cells, whole_cells, with_momentum_of
from jostle.sim.resolutions import Resolutions, resolutions_of
from jostle.sim.soft_bodies import SoftBodies, with_lattices

REFINED = 0.5  # of the edge of a cell: the radius of a sample that is no wider than the cell
NEAR = 0.1  # of the edge: the gap of a pair of such samples that may soon touch


@runtime_checkable
class HasSamples(Protocol):
    """A detector with sample pairs."""

    def faces_of_samples(self, body: int, radius: float, gap: float, age: float) -> Bools:
        """Return which faces are below a sample within limits of radius, gap, age."""
        ...


class Multiresolution:
    """The lattices of all soft bodies in a simulation, and their split cells."""

    def __init__(self, frame: Frame, materials: Mapping[int, SoftMaterial], merge_after: float) -> None:
        self._materials, self._merge_after = materials, merge_after
        self._resolutions: dict[int, Resolutions] = {}
        self.cells: dict[int, Cells] = {}  # of bodies that may be refined
        self.lattices: dict[int, Lattice] = {}
        known: dict[tuple[str, int], Lattice] = {}
        known_finer: dict[tuple[str, int], Resolutions] = {}
        for row, material in materials.items():
            mesh = frame.bodies.meshes[row]
            key = mesh.digest, material.cells
            if material.finer:
                if key not in known_finer:
                    known_finer[key] = resolutions_of(mesh, material.cells)
                self._resolutions[row] = known_finer[key]
                self.cells[row] = whole_cells(known_finer[key])
                self.lattices[row] = known_finer[key].coarse
            else:
                if key not in known:
                    known[key] = lattice_of(mesh, material.cells)
                self.lattices[row] = known[key]

    @property
    def may_refine(self) -> bool:
        """Whether any body may be refined."""
        return len(self.cells) > 0

    def follow(self, arrays: SoftBodies, detector: Detector, pairs: FacetPairs, seconds: float, old_after: float) -> SoftBodies:
        """Split and merge cells after a step, as detection and facet pairs require.

        Returns the arrays of the new lattices, or the same arrays if no cell has changed.
        """
        new = dict(self.cells)
        samples = detector if isinstance(detector, HasSamples) else None
        for row, resolutions in self._resolutions.items():
            faces = _faces_of_pairs(pairs, row, arrays, old_after)
            if samples is not None:
                edge = resolutions.coarse.edge
                faces |= samples.faces_of_samples(row, REFINED * edge, NEAR * edge, old_after)
            probable = cells_with_faces(resolutions, faces)
            place = arrays.nodes.place[arrays.first_node[row] : arrays.first_node[row + 1]]
            new[row] = next_cells(resolutions, self.cells[row], probable, place, seconds, self._merge_after)
        changed = [row for row in new if new[row].lattice is not self.cells[row].lattice]
        if changed:
            arrays = self._with_cells(arrays, new, changed)
        self.cells = new
        self.lattices = self.lattices | {row: cells.lattice for row, cells in new.items()}
        return arrays

    def _with_cells(self, arrays: SoftBodies, new: Mapping[int, Cells], changed: list[int]) -> SoftBodies:
        """Return the arrays with the new cells of changed bodies."""
        places, velocities = {}, {}
        lattices = self.lattices | {row: new[row].lattice for row in changed}
        for row in lattices:
            own = slice(arrays.first_node[row], arrays.first_node[row + 1])
            places[row], velocities[row] = arrays.nodes.place[own], arrays.nodes.velocity[own]
            if row in changed:
                before = arrays.mass[own], places[row], velocities[row]
                place, velocity = carried_over(self._resolutions[row], self.cells[row], new[row], places[row], velocities[row])
                mass = self._materials[row].density * lattices[row].mass
                places[row], velocities[row] = place, with_momentum_of(before, place, velocity, mass)
        return with_lattices(arrays.surfaces, self._materials, lattices, places, velocities)


def _faces_of_pairs(pairs: FacetPairs, body: int, arrays: SoftBodies, old_after: float) -> Bools:
    """Return which faces of a body are in a pair that is not old."""
    first, last = arrays.surfaces.first_face[body], arrays.surfaces.first_face[body + 1]
    found = np.zeros(last - first, bool)
    young = pairs.age < old_after
    found[pairs.face_a[young & (pairs.body_a == body)] - first] = True
    found[pairs.face_b[young & (pairs.body_b == body)] - first] = True
    return found
