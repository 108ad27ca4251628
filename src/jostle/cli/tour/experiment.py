"""The tour's experiment: one scene through every method, with bodies it supports.

Methods for deforming bodies get the scene as it is. Methods for rigid bodies get the same poses, with hand and ball in their shapes
of the last frame; methods for convex bodies get the convex hulls of these. A method's traits decide which, and each answer is
compared with the exact answer for the bodies that the method got: that of `plain`, which needs no compiler and shares neither
arithmetic nor culling with the compiled methods.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from jostle.interface.method import Method
from jostle.interface.traits import Need, Serve
from jostle.lab.experiment import Experiment, Value
from jostle.motion.record import Motion
from jostle.registry import METHODS
from jostle.scenes import Scene, make_scene
from jostle.shapes.hull import hull

SCENE = "tour"
AS_IT_IS, RIGID, HULLS = "as they deform", "rigid", "convex hulls, rigid"
GIVEN = {
    AS_IT_IS: "the scene as it is",
    RIGID: "hand and ball in their shapes of the last frame",
    HULLS: "the convex hulls of those",
}
SHORT = {AS_IT_IS: "deforming", RIGID: "rigid", HULLS: "hulls"}  # for a column of the table
EXACT = "plain"
ROUNDS = 2
LIMIT_SECONDS = 5.0  # per method; edge_face needs most of it, and on a busy machine completes only its first frames
ENOUGH_FRAMES = 3


def bodies_for(method: Method) -> str:
    """Return which of `GIVEN` a method supports, by its traits."""
    traits = method.traits
    if Need.CONVEX in traits.needs:
        return HULLS
    return AS_IT_IS if Serve.DEFORM in traits.serves and Need.RIGID not in traits.needs else RIGID


@dataclass(frozen=True)
class Given:
    """The scene's motion, with its bodies adapted to what a method supports."""

    bodies: str  # one of GIVEN
    scene: Scene

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion over a number of frames; by default all of the scene's."""
        motion = self.scene.record(frames)
        if self.bodies == AS_IT_IS:
            return motion
        meshes = [
            mesh.with_vertices(motion.vertices[k][-1]) if k in motion.vertices else mesh for k, mesh in enumerate(motion.meshes)
        ]
        if self.bodies == HULLS:
            meshes = [hull(mesh) for mesh in meshes]
        return dataclasses.replace(motion, meshes=tuple(meshes), vertices={})


def tour_experiment(frames: int) -> Experiment:
    """Return the experiment, with the motion in a given number of frames."""
    from jostle.cli.tour.pictures import draw_pictures

    scene = make_scene(SCENE, frames=frames)

    def pictures(folder: Path) -> list[Path]:
        return draw_pictures(scene.record(), Given(RIGID, scene).record(), folder)

    return Experiment(
        name=SCENE,
        title=f"The tour: {scene.title}",
        about="One motion through every method. Methods for deforming bodies get the scene as it is; methods for rigid bodies get "
        "hand and ball in their shapes of the last frame; methods for convex bodies get the convex hulls of these. Each is "
        "compared with the exact answer for the bodies that it got.",
        parameter="bodies",
        values=tuple(GIVEN),
        quick_values=tuple(GIVEN),
        scene=lambda value, _quick: Given(str(value), scene),
        methods=tuple(METHODS),
        takes_part=_takes_part,
        frames=scene.frames,
        judge=lambda _result: [],
        rounds=ROUNDS,
        limit=LIMIT_SECONDS,
        enough=ENOUGH_FRAMES,
        pictures=pictures,
    )


def _takes_part(value: Value, method: Method) -> bool:
    return bodies_for(method) == value
