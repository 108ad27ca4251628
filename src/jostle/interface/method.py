"""The whole interface between a world and its methods, on one page.

A `Method` is settings (a frozen dataclass; its repr labels a row of benchmark tables). It prepares each mesh once and starts a
`Detector`, which holds the state kept between frames. A detector that tests body pairs holds a `Candidates`
(`broad_phase/candidates.py`), which finds them. Bodies are numbered 0 … n-1 here, in the order of `Bodies`; a world maps the
numbers to the stable ids that users see.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import Unsupported
from jostle.interface.frame import Bodies, Frame
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Traits
from jostle.report.batch import Batch
from jostle.report.report import Closest, Report
from jostle.shapes.mesh import Mesh

Shape = Any  # a mesh preprocessed by a method: a NamedTuple of arrays and numbers, saved and loaded field by field
OldToNew = NDArray[np.int32]  # the new number of each old body number, -1 for a removed body


class Progress(Protocol):
    """Called with the share of the work done, 0 … 1, and a description."""

    def __call__(self, share: float, what: str) -> None:
        """Report progress."""
        ...


@runtime_checkable
class Method(Protocol):
    """A method: its settings, traits and preprocessing.

    If it has an attribute `prepares_in_threads` that is true, `prepare_shape` may be called from several threads at once. It should
    then spend its time in kernels.

    Examples
    --------
    A complete method, settings and detector, is in docs/adding_a_method.md.
    """

    @property
    def traits(self) -> Traits:
        """What it needs, answers and supports; may depend on the settings."""
        ...

    @property
    def shape_type(self) -> type:
        """The NamedTuple class of its prepared shapes."""
        ...

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Shape:
        """Preprocess a mesh. Called once for all bodies with equal meshes."""
        ...

    def start(self, bodies: Bodies, shapes: tuple[Shape, ...]) -> Detector:
        """Return a detector for these bodies."""
        ...


class Detector(Protocol):
    """A method at work, with the state kept between frames.

    The defaults refuse; a subclass overrides what its traits serve.

    Examples
    --------
    A complete detector, of thirty lines, is in docs/adding_a_method.md.
    """

    def detect(self, frame: Frame, query: Query) -> Report:
        """Answer the query for one instant."""
        ...

    def change(self, bodies: Bodies, shapes: tuple[Shape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed, keeping state of the rest."""
        ...

    def detect_many(
        self,
        frame: Frame,
        poses: Floats,
        rows: str,
        *,
        moving: Ints | None = None,
        clearance: float = 0.0,
        solid: bool = False,
        distance: bool = False,
    ) -> Batch:
        """Answer for many sets of poses (n, k, 4, 4); called if BATCH is served.

        The sets move the bodies numbered `moving` (k,), None for all. Options that are not used are not passed.
        """
        raise Unsupported("this method does not serve batches of poses")

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest points of two bodies; called if DISTANCE is answered."""
        raise Unsupported("this method does not answer distance")

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Return a drawing of the internals; `what` is a name from the README or ''."""
        ...
