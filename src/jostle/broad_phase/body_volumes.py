"""World boxes and spheres that contain the bodies of a frame."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.broad_phase.volume_table import VolumeTable, farthest_from, trim_boxes
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.aabb import box_of_points, world_boxes_into
from jostle.geometry.vector import Vec3
from jostle.interface.frame import Bodies, Frame
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.shapes.mesh import Mesh

MANY_BODIES = 8  # from here on boxes are trimmed to balls: fewer pairs pay for it


class LocalBoxes:
    """Boxes of the bodies in their own frames, updated for deforming ones."""

    def __init__(self, bodies: Bodies) -> None:
        bounds = np.array([mesh.bounds for mesh in bodies.meshes]).reshape(-1, 2, 3)
        self._lower, self._upper = np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1])
        self._seen_by_kernels = read_only_view(self._lower), read_only_view(self._upper)
        # A body that deformed before this detector began has vertices other than its mesh's.
        self._seen: list[Floats | None] = [None] * len(bodies)
        self._bodies = bodies
        self._table: VolumeTable | None = None
        self._in_table: dict[int, Floats] = {}
        self._balls = self._balls_about_boxes() if len(bodies) >= MANY_BODIES else None

    def _balls_about_boxes(self) -> tuple[Floats, Floats]:
        """Return balls about box centres that contain the bodies.

        Centres are (n,3), radii (n,), inf for deforming bodies.
        """
        centre = 0.5 * self._lower + 0.5 * self._upper
        first, mesh_of_body = number_shapes(self._bodies.meshes)
        used = [read_only_view(_used_vertices(self._bodies.meshes[body])) for body in first]
        reach = [farthest_from(points, Vec3(*centre[body].tolist()))[1] for body, points in zip(first, used, strict=True)]
        radius = np.array(reach)[mesh_of_body]
        radius[self._bodies.deforming] = np.inf
        return read_only_view(centre), read_only_view(radius)

    def in_the_world(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return corners (n,3) of world boxes that contain every world vertex."""
        lower, upper = np.empty((2, len(frame), 3))
        poses = read_only_view(frame.poses)
        world_boxes_into(poses, *self.of(frame), lower, upper)
        if self._balls is not None:
            # The box of a rotated box is up to 1.7 times as long as the body. 10,000 polytopes: 2,810 pairs instead of 4,887.
            trim_boxes(poses, *self._balls, lower, upper)
        return lower, upper

    def of(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return lower and upper (n,3) of this frame, read-only."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                box_of_points(read_only_view(vertices), self._lower[body], self._upper[body])
                self._seen[body] = vertices
        return self._seen_by_kernels

    def spheres(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return centres (n,3) and radii (n,) of world spheres; the first call fits them."""
        if self._table is None:
            first, mesh_of_body = number_shapes(self._bodies.meshes)
            points = [_used_vertices(self._bodies.meshes[body]) for body in first]
            self._table = VolumeTable([points[number] for number in mesh_of_body.tolist()])
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._in_table.get(body):
                self._table.deform(body, vertices)
                self._in_table[body] = vertices
        return self._table.update(frame.poses)


def _used_vertices(mesh: Mesh) -> Floats:
    return mesh.vertices if mesh.uses_every_vertex else mesh.vertices[np.unique(mesh.faces)]


@dataclass(frozen=True, eq=False)
class FrameVolumes(Volumes):
    """Volumes with their frame: body names, jumps, and spheres made on access.

    Without `fitted` the spheres are those of the boxes.
    """

    frame: Frame | None = None
    fitted: LocalBoxes | None = None
    larger: Floats | float = 0.0

    def spheres(self) -> tuple[Floats, Floats]:
        """Return spheres that hold the bodies grown by `larger`."""
        if self.fitted is None or self.frame is None or self.centre is not None:
            return super().spheres()
        centre, radius = self.fitted.spheres(self.frame)
        return centre, np.nextafter(radius + self.larger, np.inf)

    def jumped(self, before: Volumes | None = None) -> NDArray[np.bool_] | None:
        """Return (n,) which bodies were teleported, even if they moved afterwards."""
        if self.frame is None:
            return self.jumps
        frame = self.frame
        jumps: NDArray[np.bool_] = frame.moved & (frame.poses == frame.poses_t0).all(axis=(1, 2))
        if isinstance(before, FrameVolumes) and before.frame is not None:
            jumps |= _put_elsewhere(frame, before.frame)
        return jumps

    def name_of(self, body: int) -> str:
        """Return a body's name for messages."""
        return super().name_of(body) if self.frame is None else f"body {self.frame.bodies.names[body]!r}"

    def grown(self, by: Floats | float) -> FrameVolumes:
        """Return boxes and spheres grown by `by`, a length or (n,) one per body."""
        grown = super().grown(by)
        assert isinstance(grown, FrameVolumes)
        return dataclasses.replace(grown, larger=self.larger + by)


def _put_elsewhere(frame: Frame, last: Frame) -> NDArray[np.bool_]:
    """Return (n,) which bodies were teleported.

    Their motion starts at neither end of the last one.
    """
    elsewhere = np.zeros(len(frame), bool)
    if frame.bodies is last.bodies and frame.poses_t0 is last.poses and frame.vertices_t0 is last.vertices:
        return elsewhere
    _, known, row = np.intersect1d(frame.bodies.ids, last.bodies.ids, assume_unique=True, return_indices=True)
    start = frame.poses_t0[known]
    elsewhere[known] = (start != last.poses[row]).any(axis=(1, 2)) & (start != last.poses_t0[row]).any(axis=(1, 2))
    row_before = dict(zip(known.tolist(), row.tolist(), strict=True))
    for body in frame.bodies.deforming:
        if body in row_before:
            points, before = frame.vertices_t0[body], row_before[body]
            elsewhere[body] |= points is not last.vertices[before] and points is not last.vertices_t0[before]
    return elsewhere
