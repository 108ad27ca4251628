"""The bodies of a detector: their trees, and their motions within a step.

Rigid bodies with equal meshes share one tree. A deforming body has its own volumes, refitted when its vertices change; along a
motion it has volumes at both ends, in the world and in the same axes, which are interpolated (`motions.py`).
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.broad_phase.body_volumes import LocalBoxes
from jostle.continuous.moving_bodies import MovingBodies
from jostle.geometry.aabb import box_of_points, world_boxes
from jostle.interface.frame import Bodies, Frame
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.methods.bounding_tree.dynamic import Mover
from jostle.methods.bounding_tree.motions import IDENTITY, moving_tree, resting_template
from jostle.methods.bounding_tree.refit import refit, refit_ends
from jostle.methods.bounding_tree.search import Shapes
from jostle.methods.bounding_tree.tree import Tree

NEARLY_HALF_A_TURN = 3.0  # radians; beyond, the shortest screw may be ambiguous
# Poses are orthonormal to 1e-5: the cosine from their product is off by 3e-5 at most.
COSINE_ERROR = 1e-4


class BodyTrees:
    """The trees of all bodies, at one instant and within a step."""

    def __init__(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        first, self.tree_of_body = number_shapes(shapes, alone=bodies.deformable)
        self.trees: list[Tree] = [shapes[body] for body in first]
        self.vertices: list[Floats] = [bodies.meshes[body].vertices for body in first]
        self.welded: list[Ints] = [bodies.meshes[body].welded_faces for body in first]
        self.shapes = Shapes(self.trees, self.vertices, self.welded)
        self.moving = MovingBodies()
        self._frame: Frame | None = None
        self._movers: dict[int, Mover] = {}
        # Bodies at rest: pose and id of the vertices, the mover, and the vertices, so that their id stays theirs.
        self._resting: dict[int, tuple[tuple[bytes, int], Mover, Floats]] = {}
        self._templates: dict[int, AddressTable] = {}  # by number of the tree
        self._ends: dict[int, tuple[Floats, Floats]] = {}  # volumes of deforming bodies at both ends of a step

    def tree(self, body: int) -> Tree:
        """Return the tree of a body; of a deforming one, as last refitted."""
        return self.trees[int(self.tree_of_body[body])]

    def follow(self, frame: Frame, only: int | None = None) -> None:
        """Refit the trees of deforming bodies, or of only one, whose vertices changed."""
        changed: dict[int, tuple[Tree, Floats]] = {}
        for body in frame.bodies.deforming if only is None else [only]:
            number, vertices = int(self.tree_of_body[body]), frame.vertices[body]
            if vertices is not self.vertices[number]:
                tree = self.trees[number]._replace(volumes=refit(self.trees[number], vertices))
                changed[number] = tree, vertices
                self.trees[number], self.vertices[number] = tree, vertices
        if changed:
            self.shapes = self.shapes.with_shapes(changed)

    def mover(self, frame: Frame, body: int) -> Mover:
        """Return a body within the step of this frame."""
        if frame is not self._frame:
            self._frame, self._movers = frame, {}
        found = self._movers.get(body)
        if found is None:
            found = self._movers[body] = self._made(frame, body)
        return found

    def _made(self, frame: Frame, body: int) -> Mover:
        start, end = frame.poses_t0[body], frame.poses[body]
        rests_in_itself = frame.vertices_t0[body] is frame.vertices[body]
        key = (end.tobytes(), id(frame.vertices[body])) if rests_in_itself and start.tobytes() == end.tobytes() else None
        if key is not None and body in self._resting and self._resting[body][0] == key:
            return self._resting[body][1]
        deforms = frame.bodies.deformable[body] and not (rests_in_itself and np.array_equal(start[:3, :3], end[:3, :3]))
        if not deforms and frame.bodies.deformable[body]:
            self.follow(frame, body)
        surface, tree, largest = self.moving.of(frame, body), self.tree(body), self.shapes.faces_of_leaf
        world, template = (surface.vertices_t0, surface.vertices_t1), self._template(int(self.tree_of_body[body]))
        if not deforms:
            motion = moving_tree(template, (tree.volumes, tree.volumes), (start, end), surface.turn, world)
            found = Mover(motion, surface, True, largest)
            if key is not None:
                self._resting[body] = (key, found, frame.vertices[body])
            return found
        # Only the movers of one frame are alive: their volumes overwrite those of the last frame.
        volumes = self._ends[body] = refit_ends(tree, *world, self._ends.get(body))
        return Mover(moving_tree(template, volumes, (IDENTITY, IDENTITY), surface.turn, world), surface, False, largest)

    def _template(self, number: int) -> AddressTable:
        if number not in self._templates:
            self._templates[number] = resting_template(self.trees[number], self.vertices[number])
        return self._templates[number]

    def swept_boxes(self, boxes: LocalBoxes, frame: Frame, separation: float) -> tuple[Floats, Floats]:
        """Return lower and upper (n,3) of world boxes around the bodies over the step.

        They include half of the separation.
        """
        lower, upper = boxes.of(frame)
        lower_t0, upper_t0 = lower.copy(), upper.copy()
        for body in frame.bodies.deforming:
            box_of_points(read_only_view(frame.vertices_t0[body]), lower_t0[body], upper_t0[body])
        bulges = self._bulges(frame, lower, upper)
        lower_t0, upper_t0 = world_boxes(frame.poses_t0, lower_t0, upper_t0)
        lower_t1, upper_t1 = world_boxes(frame.poses, lower, upper)
        lower, upper = np.minimum(lower_t0, lower_t1), np.maximum(upper_t0, upper_t1)
        size = np.maximum(np.abs(lower), np.abs(upper)).max(axis=1, initial=0.0)
        margin = 0.5 * separation + 1e-9 * separation + 1e-10 * size + bulges
        return lower - margin[:, None], upper + margin[:, None]

    def _bulges(self, frame: Frame, lower: Floats, upper: Floats) -> Floats:
        """Return (n,) how far arcs leave their chords; 0 for bodies that shift or deform.

        The height of an arc over its chord c is c tan(angle/4)/2, and the longest chord is that of a corner of the local box.
        """
        bulges = np.zeros(len(frame))
        change = frame.poses - frame.poses_t0
        turning = np.flatnonzero(change[:, :3, :3].any(axis=(1, 2)) & ~frame.bodies.deformable)
        if len(turning) == 0:
            return bulges
        # All bodies at once: one by one they take 70 µs each.
        cosine = 0.5 * ((frame.poses_t0[turning, :3, :3] * frame.poses[turning, :3, :3]).sum(axis=(1, 2)) - 1.0)
        angle = np.arccos(np.clip(cosine - COSINE_ERROR, -1.0, 1.0))  # no less than they turn
        for k in np.flatnonzero(angle > NEARLY_HALF_A_TURN).tolist():
            angle[k] = self.moving.of(frame, int(turning[k])).turn[3]  # raises for half a turn, even if nothing is near
        corners = np.stack([lower[turning], upper[turning]], axis=1)[:, CORNERS_OF_BOX, [0, 1, 2]]
        shift = corners @ change[turning, :3, :3].transpose(0, 2, 1) + change[turning, None, :3, 3]
        bulges[turning] = 0.5 * np.sqrt((shift * shift).sum(axis=2).max(axis=1)) * np.tan(0.25 * angle) * (1.0 + 1e-4)
        return bulges


CORNERS_OF_BOX = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)])
