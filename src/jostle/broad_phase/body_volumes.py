"""World boxes and spheres that contain the bodies of a frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.volume_table import VolumeTable, farthest_from, trim_boxes, trim_to_rotated_boxes
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.aabb import box_of_points, world_boxes_into
from jostle.geometry.vector import Vec3
from jostle.interface.frame import Bodies, Frame
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.shapes.mesh import Mesh

MANY_BODIES = 8  # from here on boxes are trimmed: fewer pairs pay for it
MUCH_SMALLER = 0.7
SMALLEST = 1e-100  # extent of points whose squares are 0 otherwise


class _InnerVolumes(NamedTuple):
    """Volumes about the centres of boxes that contain the bodies, to trim world boxes to.

    The box of a rotated box is up to 1.7 times as long as the body. Balls leave 2,810 of 4,887 pairs of 10,000 polytopes. Rotated
    boxes, for slender parts that lie askew in their meshes, leave 620 of 2,015 pairs of 200 pipes.
    """

    centre: Floats  # (n,3)
    radius: Floats  # (n,) of balls, inf for deforming bodies
    axes: Floats  # (n,3,3) half the edges of rotated boxes
    slender: Ints  # the bodies whose rotated boxes are much smaller than their boxes

    @staticmethod
    def of(bodies: Bodies, centre: Floats) -> _InnerVolumes:
        """Return the volumes of bodies."""
        first, mesh_of_body = number_shapes(bodies.meshes)
        points = [_used_vertices(bodies.meshes[body]) for body in first]
        reach = [
            farthest_from(read_only_view(some), Vec3(*centre[body].tolist()))[1]
            for body, some in zip(first, points, strict=True)
        ]  # fmt: skip
        axes, areas = _principal_boxes(points, centre[first])
        sides = np.array([np.ptp(bodies.meshes[body].bounds, axis=0) for body in first])
        slender = (areas < MUCH_SMALLER * _half_area(sides))[mesh_of_body]
        radius = np.array(reach)[mesh_of_body]
        radius[bodies.deforming] = np.inf
        slender[bodies.deforming] = False
        return _InnerVolumes(*map(read_only_view, (centre, radius, axes[mesh_of_body], np.flatnonzero(slender).astype(np.int32))))

    def trim(self, poses: Floats, lower: Floats, upper: Floats) -> None:
        """Trim world boxes (n,3) under poses (n,4,4)."""
        trim_boxes(poses, self.centre, self.radius, lower, upper)
        if len(self.slender):
            trim_to_rotated_boxes(poses, *self, lower, upper)


def _principal_boxes(points: Sequence[Floats], centres: Floats) -> tuple[Floats, Floats]:
    """Return half the edges (n,3,3) and half the areas (n,) of boxes along the principal axes of points."""
    apart = [some - centre for some, centre in zip(points, centres, strict=True)]
    largest = [max(float(np.abs(some).max()), SMALLEST) for some in apart]
    scaled = [some / size for some, size in zip(apart, largest, strict=True)]
    _, columns = np.linalg.eigh(np.array([some.T @ some for some in scaled]))
    half = np.array([np.abs(some @ column).max(axis=0) for some, column in zip(apart, columns, strict=True)])
    return columns.transpose(0, 2, 1) * half[:, :, None], _half_area(2.0 * half)


def _half_area(sides: Floats) -> Floats:
    """Return half the areas (n,) of boxes by their sides (n,3)."""
    x, y, z = sides.T
    area: Floats = x * y + z * (x + y)
    return area


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
        self._inner = _InnerVolumes.of(bodies, 0.5 * self._lower + 0.5 * self._upper) if len(bodies) >= MANY_BODIES else None

    def in_the_world(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return corners (n,3) of world boxes that contain every world vertex."""
        lower, upper = np.empty((2, len(frame), 3))
        poses = read_only_view(frame.poses)
        world_boxes_into(poses, *self.of(frame), lower, upper)
        if self._inner is not None:
            self._inner.trim(poses, lower, upper)
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
