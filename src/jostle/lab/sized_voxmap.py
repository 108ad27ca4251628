"""The look-up of Lock and Wills as printed, with maps and shells of chosen sizes.

`Voxmap` skips a pair if the ball around one body misses the map of the other, skips groups of points that can hit nothing, and
searches for a body wholly inside another. The paper does none of that: with `as_printed` every point of every pair from the
pruner is looked up. Fig. 12 and 13 have a map of one resolution and a shell of another, and so has `SizedVoxmap`. Its shell has
an exact number of points, evenly chosen from the coarsest shell with as many; that leaves gaps up to a fifth wider than the
paper's bound, which is good for times, not for contacts. It is not among the figures because importing them all takes 0.6 s.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jostle.interface.method import Progress
from jostle.interface.traits import Guarantee, statistical
from jostle.methods.voxmap.method import Voxmap
from jostle.methods.voxmap.shape import VoxelShape
from jostle.methods.voxmap.voxel_size import REACH, reach_of, voxel_edge
from jostle.shapes.mesh import Mesh

MOST_ACROSS = 2000
FINER = 1.02  # from one try to the next


@dataclass(frozen=True)
class SizedVoxmap(Voxmap):
    """Voxmap with a map and a shell of chosen sizes.

    Parameters
    ----------
    shell_points : int, optional
        The points of a shell; the map matches them.
    map_voxels : int, optional
        The voxels of a map, as nearly as possible: 12,650 for the 12,672 of the paper.
    as_printed : bool
        Look up every point of every pair, and nothing else.
    """

    shell_points: int | None = None
    map_voxels: int | None = None
    as_printed: bool = False

    @property
    def guarantee(self) -> Guarantee:
        """That of the voxels; none for a shell of another resolution."""
        if self.shell_points is not None:
            return statistical(0.0)
        return super().guarantee if self.map_voxels is None else Guarantee(f"within {reach_of(self):.2f} voxels")

    def tolerance_for(self, mesh: Mesh) -> float | None:
        """Return the tolerance for two bodies with this mesh; None without a guarantee."""
        if self.shell_points is not None:
            return None
        return reach_of(self) * (voxel_edge(mesh, self) if self.map_voxels is None else voxel_for(mesh, self.map_voxels))

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> VoxelShape:
        """Make the map and the shell."""
        shape = self._with_shell(mesh, progress)
        if self.as_printed:  # an infinite ball misses no map
            shape = shape._replace(radius=math.inf, deep=np.empty((0, 3)))
        return shape

    def _with_shell(self, mesh: Mesh, progress: Progress | None) -> VoxelShape:
        accuracy = None if self.map_voxels is None else REACH * voxel_for(mesh, self.map_voxels)
        if self.shell_points is None:
            return super().prepare_shape(mesh, progress) if accuracy is None else self._plain(mesh, accuracy, progress)
        fine = self._with_enough_points(mesh, progress)
        chosen = np.linspace(0, len(fine.points) - 1, self.shell_points).round().astype(np.int64)
        shape = fine if accuracy is None else self._plain(mesh, accuracy, progress)
        return shape._replace(middle=fine.middle, points=fine.points[chosen], feet=fine.feet[chosen], normals=fine.normals[chosen])

    def _with_enough_points(self, mesh: Mesh, progress: Progress | None) -> VoxelShape:
        """Return a coarse shape with enough points."""
        longest = float(np.ptp(mesh.bounds, axis=0).max())
        wanted = self.shell_points or 0
        across = max(1.0, math.sqrt(wanted / 9.0))  # coarser than the result
        while across < MOST_ACROSS:
            shape = self._plain(mesh, REACH * longest / across, progress)
            if len(shape.points) >= wanted:
                return shape
            across *= max(FINER, 0.99 * math.sqrt(wanted / max(1, len(shape.points))))
        raise ValueError(f"mesh {mesh.name!r}: no shell has {wanted} points")

    def _plain(self, mesh: Mesh, accuracy: float, progress: Progress | None) -> VoxelShape:
        settings = {each.name: getattr(self, each.name) for each in dataclasses.fields(Voxmap)}
        return Voxmap(**settings | {"accuracy": accuracy}).prepare_shape(mesh, progress)


def voxel_for(mesh: Mesh, voxels: int) -> float:
    """Return the voxel edge with which the box of a mesh has nearly this many voxels."""
    edges = np.ptp(mesh.bounds, axis=0)
    longest = math.ceil(float(edges.max()) / (float(edges.prod()) / voxels) ** (1.0 / 3.0)) + 2
    # The number of voxels is constant between neighbouring steps.
    steps = np.unique([edge / count for edge in edges for count in range(1, longest + 1)])
    middles = [0.5 * (float(low) + float(high)) for low, high in pairwise(steps)]
    return min([*middles, 1.5 * float(edges.max())], key=lambda voxel: abs(math.log(voxels_of(mesh, voxel) / voxels)))


def voxels_of(mesh: Mesh, voxel: float) -> int:
    """Return the number of voxels in the box of a mesh."""
    return int(np.ceil(np.ptp(mesh.bounds, axis=0) / voxel).prod())
