"""Voxmap: shell points of one body looked up in the filled voxels of another.

Lock and Wills (2000), VoxColliDe. For rigid solids, convex or concave: each mesh is prepared once as a map of voxels and a shell of
points (`shape.py`); then each shell point costs one look-up, whatever the meshes. Accuracy is traded for speed: a hit is never
farther than the accuracy away, and nothing is missed when both solids, eroded by it, still meet. Parts and holes thinner than a
voxel are excluded; the README has the proof and the measurements.

Beyond the paper: signed distances, normals, bodies wholly inside another, open meshes as surfaces (`surface_only`), and groups
of points that are skipped (`grouped`).
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle import cast
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.interface.frame import Bodies
from jostle.interface.method import Progress
from jostle.interface.traits import Answer, Guarantee, Need, Semantics, Traits, within_resolution, within_share
from jostle.methods.voxmap.detector import VoxmapDetector
from jostle.methods.voxmap.look_up import MOST_ACROSS
from jostle.methods.voxmap.shape import VoxelShape, prepare
from jostle.methods.voxmap.voxel_size import reach_of
from jostle.shapes.mesh import Mesh

DEFORMING = "wide_tree and face_octree take deforming bodies"
OPEN = "Voxmap(surface_only=True) takes it as a surface, and wide_tree takes it as it is"


@dataclass(frozen=True)
class Voxmap:
    """Voxel maps and point shells: contacts with depths, within an accuracy.

    Parameters
    ----------
    accuracy : float, optional
        World units: bodies farther apart than this are never reported, solids that still meet when each is eroded by it always are.
        The voxels of all bodies are as large as that allows, 0.63 of it (with `surface_only` 0.29).
    across : int
        Without an accuracy: voxels along the longest edge of each body's box, at most 2048. The accuracy of a body pair
        is then 1.58 voxels (with `surface_only` 3.4) of the body with the larger ones.
    axis : {None, 0, 1, 2}
        Body axis along which rays are cast; None takes the shortest edge of its box.
    both : bool
        Look up both shells of a pair, each in the other's map; by default only that of the body with the smaller voxels.
    surface_only : bool
        Meshes stand for their surfaces, not for the solid inside, and may be open. Surfaces that share a point are always reported.
    broad : str or BroadPhase, optional
        The broad phase that selects the body pairs; None tests all pairs.
    grouped : bool
        Skip groups of points that cannot hit. The hits are the same; False looks up every point, as in the paper.
    memory : int
        Limit in bytes for preparing one mesh, without the memory for its faces (about 800 bytes each for a moment).
    depth : bool
        Keep signed distances near the surface, so that contacts have a depth and begin where surfaces touch. They take
        3 to 20 times the bytes of the map.

    Examples
    --------
    >>> world = jostle.World("voxmap(accuracy=0.01)")
    >>> same = jostle.World(jostle.Voxmap(accuracy=0.01))
    >>> world.method == same.method
    True
    """

    accuracy: float | None = None
    across: int = 64
    axis: int | None = None
    both: bool = False
    surface_only: bool = False
    broad: str | BroadPhase | None = "uniform_grid"
    grouped: bool = True
    memory: int = 2**30
    depth: bool = True

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.accuracy is not None:
            object.__setattr__(self, "accuracy", cast.as_positive_length(self.accuracy, "accuracy", "Voxmap"))
        object.__setattr__(self, "across", cast.as_count(self.across, "across", 1, MOST_ACROSS, "Voxmap"))
        if self.axis is not None:
            object.__setattr__(self, "axis", cast.as_count(self.axis, "axis", 0, 2, "Voxmap"))
        for flag in ("both", "surface_only", "grouped", "depth"):
            object.__setattr__(self, flag, cast.as_flag(getattr(self, flag), flag, "Voxmap"))
        object.__setattr__(self, "memory", cast.as_count(self.memory, "memory", 1, owner="Voxmap"))
        if self.broad is not None:
            broad_phase_of(self.broad, "Voxmap")

    @property
    def guarantee(self) -> Guarantee:
        """Within the accuracy, or a share of the longest edge of the larger body's box."""
        if self.accuracy is not None:
            return within_resolution(self.accuracy)
        return within_share(reach_of(self) / self.across)

    @property
    def traits(self) -> Traits:
        """Solids within the accuracy; rigid, and closed unless `surface_only`."""
        answers = {Answer.POINTS: self.guarantee, Answer.NORMAL: self.guarantee}
        if self.depth and not self.surface_only:
            answers[Answer.DEPTH] = self.guarantee
        return Traits(
            semantics=Semantics.SURFACE if self.surface_only else Semantics.SOLID,
            answers=answers,
            needs=frozenset({Need.RIGID} if self.surface_only else {Need.RIGID, Need.CLOSED}),
            paper="lock2000",
            cures={Need.RIGID: DEFORMING, Need.CLOSED: OPEN},
            overlays={"shell points and hits": "", "voxels": "voxels", "shell points": "shell", "hits": "hits"},
        )

    @property
    def shape_type(self) -> type:
        """VoxelShape."""
        return VoxelShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> VoxelShape:
        """Make the map, the shell and the data that belongs to them."""
        return prepare(mesh, self, progress)

    def start(self, bodies: Bodies, shapes: tuple[VoxelShape, ...]) -> VoxmapDetector:
        """Return a detector for these bodies."""
        return VoxmapDetector(self, bodies, shapes)
