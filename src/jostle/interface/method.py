"""The whole interface between a world and its methods, on one page.

A `Method` is settings (a frozen dataclass; its repr is a row of a benchmark table). It prepares each mesh once and starts a
`Detector`, which holds what lives from frame to frame. A detector that looks at pairs of bodies holds a `Candidates`
(`broad_phase/candidates.py`), which finds them. Bodies are numbered 0 … n-1 here, in the order of `Bodies`; a world turns the
numbers into the stable ids that its users see.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.errors import Unsupported
from jostle.interface.frame import Bodies, Frame
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Traits
from jostle.report.batch import Batch
from jostle.report.report import Closest, Report
from jostle.shapes.mesh import Mesh

Shape = Any  # a NamedTuple of arrays and numbers: what a method prepares of a mesh; saved and loaded field by field
OldToNew = NDArray[np.int32]  # for each old body number the new one, -1 for a body that was removed


class Progress(Protocol):
    """Called with the share of the work that is done, 0 … 1, and what is being done."""

    def __call__(self, share: float, what: str) -> None:
        """Show it."""
        ...


@runtime_checkable
class Method(Protocol):
    """Settings of a method."""

    @property
    def traits(self) -> Traits:
        """What it needs, answers and serves; may depend on the settings."""
        ...

    @property
    def shape_type(self) -> type:
        """The NamedTuple class of its prepared shapes."""
        ...

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Shape:
        """Preprocess a mesh. Called once for all bodies with equal meshes."""
        ...

    def start(self, bodies: Bodies, shapes: tuple[Shape, ...]) -> Detector:
        """Begin detecting among these bodies."""
        ...


class Detector(Protocol):
    """A method at work: what it keeps from frame to frame. Those that inherit from it need not write what their traits refuse."""

    def detect(self, frame: Frame, query: Query) -> Report:
        """Answer the query for one instant."""
        ...

    def change(self, bodies: Bodies, shapes: tuple[Shape, ...], old_to_new: OldToNew) -> None:
        """Bodies were added or removed; keep what is still true of the others."""
        ...

    def detect_many(self, frame: Frame, poses: Floats, rows: str) -> Batch:
        """Answer for many sets of poses (n, bodies, 4, 4) at once. Only called when the method serves BATCH."""
        raise Unsupported("this method does not serve batches of poses")

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest points of two bodies. Only called when the method answers DISTANCE."""
        raise Unsupported("this method does not answer distance")

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show something of the method; `what` is one of the names its README lists, '' the default."""
        ...
