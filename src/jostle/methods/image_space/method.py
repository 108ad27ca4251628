"""ImageSpace: pairs drawn over their overlapping region, compared pixel by pixel.

Baciu, Wong and Sun (1998), RECODE. For closed solids, rigid or deforming. Each pair whose aligned and oriented boxes
overlap is projected along a direction, over the minimal overlapping region, at a chosen resolution: depths at each pixel
are intervals, and a pixel where the intervals of both bodies share a depth collides. Resolution alone trades accuracy for
time.

Beyond the paper: concave bodies by all of their layers, a conservative test that never misses, shared depth maps, compute
shaders. The README has the map from paper to code, the guarantees and their proofs.
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle import cast
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.errors import InputError
from jostle.interface.frame import Bodies
from jostle.interface.method import Progress
from jostle.interface.traits import (
    Answer,
    Guarantee,
    Need,
    Semantics,
    Serve,
    Traits,
    no_miss_within,
    no_miss_within_share,
    within_resolution,
    within_share,
)
from jostle.methods.image_space.detector import ImageSpaceDetector
from jostle.methods.image_space.regions import LEAST_OF_BUDGET, MOST_RESOLUTION
from jostle.methods.image_space.renderers import RENDERERS, TESTS
from jostle.methods.image_space.shape import ImageShape, prepare
from jostle.shapes.mesh import Mesh

VIEWS = ("x", "y", "z", "centres", "separating", "axes")
SHARE = 1.23  # half the diagonal of a pixel, times the resolution, over the longest edge of a box (README)
ON_A_DEVICE = 1.125  # half a diagonal and 1/16 pixel, in half diagonals: that near to an edge a device may err
OPEN = "wide_tree takes it as a surface, and so does Voxmap(surface_only=True)"


@dataclass(frozen=True)
class ImageSpace:
    """Solids drawn over their overlapping region; one contact point per pixel.

    Parameters
    ----------
    renderer : {"software", "auto", "wgpu"}
        Numba kernels, which run everywhere; a graphics processor if there is one, else software; or any device (extra `gpu`).
    test : {"interval", "stencil"}
        Near and far depths of both bodies, or the paper's counting of faces before a far depth. Both give the same decisions.
    resolution : int
        Pixels along each side of a pair's region.
    accuracy : float, optional
        World units, in place of a resolution: half the diagonal of a pixel is at most this, with `conservative` the whole of it.
    pixels : int, optional
        In place of a resolution: a budget of pixels for all pairs of a frame, shared equally, 8 to 1024 along a side.
    view : {"x", "y", "z", "centres", "separating", "axes"}
        The view direction: a world axis, the line of centres, the direction that last separated the pair, or all axes.
    conservative : bool
        Compare whole pixels instead of their centres: bodies that share a point are always reported. Software only.
    share_depth : bool
        Draw each body once for all of its pairs, on one lattice of pixels; needs an accuracy and a view along an axis. Software
        only.
    broad : str or BroadPhase, optional
        The broad phase that compares aligned boxes; None takes all pairs.

    Examples
    --------
    >>> world = jostle.World("image_space(accuracy=0.01)")
    >>> same = jostle.World(jostle.ImageSpace(accuracy=0.01))
    >>> world.method == same.method
    True
    """

    renderer: str = "software"
    test: str = "interval"
    resolution: int = 64
    accuracy: float | None = None
    pixels: int | None = None
    view: str = "centres"
    conservative: bool = False
    share_depth: bool = False
    broad: str | BroadPhase | None = "uniform_grid"

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_choice(self.renderer, RENDERERS, "ImageSpace: renderer")
        cast.as_choice(self.test, TESTS, "ImageSpace: test")
        cast.as_choice(self.view, VIEWS, "ImageSpace: view")
        object.__setattr__(self, "resolution", cast.as_count(self.resolution, "resolution", 1, MOST_RESOLUTION, "ImageSpace"))
        if self.accuracy is not None:
            object.__setattr__(self, "accuracy", cast.as_positive_length(self.accuracy, "accuracy", "ImageSpace"))
        if self.pixels is not None:
            object.__setattr__(self, "pixels", cast.as_count(self.pixels, "pixels", 1, owner="ImageSpace"))
        for flag in ("conservative", "share_depth"):
            object.__setattr__(self, flag, cast.as_flag(getattr(self, flag), flag, "ImageSpace"))
        if self.broad is not None:
            broad_phase_of(self.broad, "ImageSpace")
        self._check_together()

    def _check_together(self) -> None:
        """Refuse settings that do not go together."""
        if self.accuracy is not None and self.pixels is not None:
            raise InputError("ImageSpace: accuracy and pixels both set the size of a pixel; pass one of them")
        if self.renderer == "wgpu" and self.conservative:
            raise InputError("ImageSpace: conservative=True is drawn by software only; pass renderer='software' (or 'auto')")
        if not self.share_depth:
            return
        if self.renderer == "wgpu":
            raise InputError("ImageSpace: share_depth=True is drawn by software only; pass renderer='software' (or 'auto')")
        if self.conservative:
            raise InputError(
                "ImageSpace: share_depth=True keeps depths at pixel centres; conservative=True needs whole pixels; give one"
            )
        if self.test == "stencil":
            raise InputError("ImageSpace: share_depth=True keeps near and far depths of each body; pass test='interval'")
        if self.accuracy is None:
            raise InputError("ImageSpace: share_depth=True has one lattice of pixels for all pairs; pass accuracy=… for their size")
        if self.view not in ("x", "y", "z"):
            raise InputError(f"ImageSpace: share_depth=True needs one view for all pairs, x, y or z; view is {self.view!r}")

    @property
    def guarantee(self) -> Guarantee:
        """Within the accuracy, or within a share of the larger body's longest edge.

        Conservative settings never miss a collision.
        """
        if self.accuracy is not None:
            return no_miss_within(self.accuracy) if self.conservative else within_resolution(self.accuracy)
        across = self.resolution if self.pixels is None else LEAST_OF_BUDGET
        return no_miss_within_share(2.0 * SHARE / across) if self.conservative else within_share(SHARE * self.wider / across)

    @property
    def wider(self) -> float:
        """The guarantee in half diagonals of a pixel: 1 in software, more on a device."""
        return 1.0 if self.renderer == "software" or self.conservative or self.share_depth else ON_A_DEVICE

    @property
    def traits(self) -> Traits:
        """Closed solids, rigid or deforming, within the size of a pixel."""
        return Traits(
            semantics=Semantics.SOLID,
            answers={Answer.POINTS: self.guarantee, Answer.NORMAL: self.guarantee},
            serves=frozenset({Serve.DEFORM}),
            needs=frozenset({Need.CLOSED}),
            paper="baciu1998",
            cures={Need.CLOSED: OPEN},
            overlays={"region and images": "", "region": "region", "depth images": "depth", "stencil images": "stencil"},
        )

    @property
    def shape_type(self) -> type:
        """ImageShape."""
        return ImageShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> ImageShape:
        """Put the faces of a mesh in patches."""
        return prepare(mesh)

    def start(self, bodies: Bodies, shapes: tuple[ImageShape, ...]) -> ImageSpaceDetector:
        """Return a detector; a renderer that is not available is refused here."""
        return ImageSpaceDetector(self, bodies, shapes)
