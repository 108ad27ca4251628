"""Drawing as a method that finds nothing: the cost to draw a frame.

The paper compares collision time with rendering time on the same hardware. Here both use the same rasteriser
(`render/depth_maps.py`) on one core: nearest and farthest depth of all bodies, without colours. Shading would take longer, so a
claim that detection is cheaper than drawing is judged strictly. The orthographic camera is fixed and frames the first frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.geometry.rigid import transform_points
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.interface.traits import Need, Semantics, Traits
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.render import Camera
from jostle.render.depth_maps import draw_shape
from jostle.render.patches import Patches, patch_arrays, patches_of
from jostle.render.spans import scratch_for_drawing
from jostle.report.report import Counters, Report
from jostle.shapes.mesh import Mesh


@dataclass(frozen=True)
class Drawing:
    """All bodies drawn, nothing found.

    Parameters
    ----------
    size : int
        Pixels along each side of the picture.
    """

    size: int = 512
    finds_nothing = True  # so the laboratory compares nothing

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_count(self.size, "size", 1, 4096, "Drawing")

    @property
    def traits(self) -> Traits:
        """Rigid bodies, no answers."""
        return Traits(semantics=Semantics.SURFACE, answers={}, needs=frozenset({Need.RIGID}))

    @property
    def shape_type(self) -> type:
        """Patches."""
        return Patches

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Patches:
        """Sort the faces into patches, as `image_space` does."""
        return patches_of(mesh.vertices, mesh.faces)

    def start(self, bodies: Bodies, shapes: tuple[Patches, ...]) -> DrawingDetector:
        """Return a detector that draws."""
        return DrawingDetector(self, bodies, shapes)


class DrawingDetector(Detector):
    """Draws every frame into the same picture."""

    def __init__(self, method: Drawing, bodies: Bodies, shapes: tuple[Patches, ...]) -> None:
        self._size = method.size
        self._camera: Camera | None = None
        self.near, self.far = np.empty((2, method.size, method.size))
        self._scratch = scratch_for_drawing()
        self._set_shapes(shapes)

    def _set_shapes(self, shapes: tuple[Patches, ...]) -> None:
        first, shape_of_body = number_shapes(shapes)
        self._shape_of_body = shape_of_body.tolist()
        self._table = AddressTable([patch_arrays(shapes[body]) for body in first])

    def change(self, bodies: Bodies, shapes: tuple[Patches, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        self._set_shapes(shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Draw all bodies."""
        self.near.fill(np.inf)
        self.far.fill(-np.inf)
        drawn = 0
        for shape, view in zip(self._shape_of_body, self._views(frame), strict=True):
            drawn += draw_shape(self._table.table, shape, read_only_view(view), self._size, self.near, self.far, self._scratch)
        return Report(counters=Counters(pixels=self._size**2 if drawn else 0))

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show nothing."""
        return Overlay("nothing")

    def _views(self, frame: Frame) -> Floats:
        """Return (n, 12) transforms from body coordinates to the picture."""
        if self._camera is None:
            self._camera = _framing(frame, self._size)
        camera = self._camera
        poses = np.asarray(frame.poses, np.float64)
        scale = np.array([camera.scale, camera.scale, 1.0])[:, None] * camera.axes
        views = np.empty((len(poses), 3, 4))
        views[:, :, :3] = scale @ poses[:, :3, :3]
        views[:, :, 3] = (poses[:, :3, 3] - camera.eye) @ scale.T + (0.5 * self._size, 0.5 * self._size, 0.0)
        return np.ascontiguousarray(views.reshape(-1, 12))


def _framing(frame: Frame, size: int) -> Camera:
    """Return an orthographic camera that shows the boxes of all bodies."""
    corners = [
        transform_points(pose, np.array(np.meshgrid(*mesh.bounds.T)).reshape(3, -1).T)
        for mesh, pose in zip(frame.bodies.meshes, frame.poses, strict=True)
    ]
    points = np.concatenate(corners) if corners else np.zeros((1, 3))
    return Camera.framing(points, width=size, height=size, perspective=False)
