"""MonteCarlo: contact regions within a time budget (Guy and Debunne 2004).

Random seeds lead to close pairs of samples, one on each body; the pairs are followed from frame to frame, and new seeds look for
regions that are not followed yet (§3). Pairs are tested by shells of discs around the bodies, coarse where these are apart and fine
where they are near (§4). The caller sets the time of a frame, and the method finds as much as it can.

Rows are exact: the faces of each touch now, by the exact test. Only whether a region is found is statistical; the report says how
far the search came (`report.complete`, `report.reached`). The README has the map from paper to code, the proofs, and measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jostle import cast
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.errors import InputError
from jostle.interface.frame import Bodies
from jostle.interface.method import Progress
from jostle.interface.traits import Answer, Semantics, Serve, Traits, no_miss_within, statistical
from jostle.methods.monte_carlo.detector import AUTO, MonteCarloDetector
from jostle.methods.monte_carlo.shape import ShellShape, prepare
from jostle.shapes.mesh import Mesh

ORDERS = ("far", "motion", "camera")
RECALL = 0.99  # of touching face pairs, by whole searches (without a budget); the contract tests hold it on fixed seeds
MOST_LEVELS = 16
MOST_PAIRS = 10_000_000
MOST_SEEDS = 1_000_000
LARGEST_SEED = 2**64 - 1

SHOWN = {
    "shells, pairs and planes": "",
    "shells in use": "shells",
    **{f"shells of level {level}": f"level {level}" for level in range(5)},
    "sample pairs": "pairs",
    "average planes": "planes",
}


@dataclass(frozen=True)
class MonteCarlo:
    """Sample pairs and layered shells; touching faces, as many as the time allows.

    Parameters
    ----------
    levels : int, optional
        Shells of each body, the mesh included; None takes as many as it takes to reach tens of triangles, 1 only the mesh.
    k, epsilon : float
        Pairs are followed while nearer than `k` times the least distance of their bodies plus `epsilon` times the size of the
        larger body (§3.4).
    seeds : int
        New seeds of each body pair in each frame, whatever the budget.
    thorough : bool
        Use every seed in every frame, as far as the budget allows. False ends a frame after the guaranteed ones, as in the paper
        (§3.2): its reports are hardly ever complete.
    most_pairs : int
        The most pairs followed, over all bodies.
    order : {"far", "motion", "camera"}
        Which seeds come first: successive ones far apart, those that face the direction of motion, or those that a camera sees.
    camera : (3,) float, optional
        World position of the camera, for `order="camera"`.
    deformation : float
        How far a point of a deforming body may leave the position its facet carries it to, as a share of the facet's radius;
        reports say when this bound was broken (`report.reached.broken`).
    error : float or "auto"
        How far apart faces reported as touching may be, a length (§4.1). Facets of two bodies that are not separated, and whose
        points are all within it, are not refined: one face of each represents them, and `contacts.distance` is that of these
        two. 0 decides every face pair exactly; "auto" does so as long as the budget suffices, and `report.reached.error` says
        what it had to allow. Not used with a clearance, nor within one body.
    seed : int
        Of the random numbers, 0 … 2^64 - 1. The same seed gives the same answers.
    broad : str or BroadPhase
        The broad phase that chooses the body pairs.

    Examples
    --------
    >>> world = jostle.World("monte_carlo(seed=7)")
    >>> same = jostle.World(jostle.MonteCarlo(seed=7))
    >>> world.method == same.method
    True
    """

    levels: int | None = None
    k: float = 1.2
    epsilon: float = 0.01
    seeds: int = 8
    thorough: bool = True
    most_pairs: int = 20_000
    order: str = "far"
    camera: Sequence[float] | None = None
    deformation: float = 0.1
    error: float | str = 0.0
    seed: int = 0
    broad: str | BroadPhase = "uniform_grid"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.levels is not None:
            object.__setattr__(self, "levels", cast.as_count(self.levels, "levels", 1, MOST_LEVELS, "MonteCarlo"))
        for field, lowest, highest in (("seeds", 1, MOST_SEEDS), ("most_pairs", 1, MOST_PAIRS), ("seed", 0, LARGEST_SEED)):
            object.__setattr__(self, field, cast.as_count(getattr(self, field), field, lowest, highest, "MonteCarlo"))
        for field, least, most in (("k", 1.0, 100.0), ("epsilon", 0.0, 1.0), ("deformation", 0.0, 1.0)):
            object.__setattr__(self, field, _within(getattr(self, field), field, least, most))
        if not isinstance(self.error, str):
            object.__setattr__(self, "error", cast.as_length(self.error, "error", "MonteCarlo"))
        elif self.error != AUTO:
            raise InputError(f"MonteCarlo: error is {self.error!r}; pass a length, or 'auto'")
        object.__setattr__(self, "thorough", cast.as_flag(self.thorough, "thorough", "MonteCarlo"))
        cast.as_choice(self.order, ORDERS, "MonteCarlo: order")
        broad_phase_of(self.broad, "MonteCarlo")
        self._check_camera()

    def _check_camera(self) -> None:
        """Check the camera's position: three floats, given if and only if it is used."""
        if self.order != "camera":
            if self.camera is not None:
                raise InputError("MonteCarlo: camera has no meaning with this order; pass order='camera', or leave it out")
            return
        if self.camera is None:
            raise InputError("MonteCarlo: order='camera' needs to know where the camera is; pass camera=(x, y, z)")
        if isinstance(self.camera, str) or not hasattr(self.camera, "__len__") or len(self.camera) != 3:
            raise InputError(f"MonteCarlo: camera is {self.camera!r}; pass three numbers, camera=(x, y, z)")
        place = tuple(cast.as_number(value, f"camera[{k}]", "MonteCarlo") for k, value in enumerate(self.camera))
        for k, value in enumerate(place):
            if not abs(value) <= cast.LARGEST_COORDINATE:
                raise InputError(f"MonteCarlo: camera[{k}] is {value}; pass finite coordinates")
        object.__setattr__(self, "camera", place)

    @property
    def traits(self) -> Traits:
        """Surfaces, rigid or deforming; rows true within `error`, recall statistical."""
        recall = no_miss_within(float(self.error)) if self.error not in (0.0, AUTO) else statistical(RECALL)
        return Traits(
            semantics=Semantics.SURFACE,
            answers={Answer.FACES: recall, Answer.POINTS: recall, Answer.NORMAL: recall},
            serves=frozenset({Serve.BUDGET, Serve.CLEARANCE, Serve.SELF, Serve.DEFORM}),
            paper="guy2004",
            overlays=SHOWN,
        )

    @property
    def shape_type(self) -> type:
        """ShellShape."""
        return ShellShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> ShellShape:
        """Make the shells of a mesh."""
        return prepare(mesh, self.levels, progress)

    def start(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> MonteCarloDetector:
        """Begin detecting."""
        return MonteCarloDetector(self, bodies, shapes)


def _within(value: float, field: str, lowest: float, highest: float) -> float:
    number = cast.as_number(value, field, "MonteCarlo")
    if not lowest <= number <= highest:
        raise InputError(f"MonteCarlo: {field} is {number}; it must be at least {lowest:g} and at most {highest:g}")
    return number
