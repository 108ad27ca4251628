"""WideTree: the default engine, trees of boxes with eight children. Exact.

It serves rigid, deforming and self-colliding bodies. `detector.py` is imported when it starts: a world that begins on another gear
(`world/gears.py`) needs the settings and traits only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jostle import cast
from jostle.interface.frame import Bodies
from jostle.interface.method import Progress
from jostle.interface.traits import EXACT, Answer, Semantics, Serve, Traits
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.wide_tree.detector import WideTreeDetector
    from jostle.methods.wide_tree.tree import Tree

SHOWN = {f"boxes of level {level}": str(level) for level in range(6)}
TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT, Answer.DISTANCE: EXACT},
    serves=frozenset({Serve.CLEARANCE, Serve.SELF, Serve.ADJACENT, Serve.DEFORM, Serve.SOLID, Serve.BATCH}),
    overlays=SHOWN,
)


@dataclass(frozen=True)
class WideTree:
    """Trees of boxes with eight children; exact, for anything that has faces.

    Parameters
    ----------
    build : {"morton", "sah"}
        The order of faces: along a space-filling curve, or by the surface-area heuristic (slower to build).

    Examples
    --------
    >>> world = jostle.World("wide_tree(build=sah)")
    >>> same = jostle.World(jostle.WideTree(build="sah"))
    >>> world.method == same.method
    True
    """

    build: str = "morton"

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_choice(self.build, ("morton", "sah"), "WideTree: build")

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """Tree."""
        from jostle.methods.wide_tree.tree import Tree

        return Tree

    @property
    def prepares_in_threads(self) -> bool:
        """True: trees of several meshes can be built at once."""
        return True

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Tree:
        """Build the tree of a mesh."""
        from jostle.methods.wide_tree.build import build_tree

        return build_tree(mesh, self.build)

    def start(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> WideTreeDetector:
        """Create the detector."""
        from jostle.methods.wide_tree.detector import WideTreeDetector

        return WideTreeDetector(self, bodies, shapes)
