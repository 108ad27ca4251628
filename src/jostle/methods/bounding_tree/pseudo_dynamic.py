"""Pseudo-dynamic collision detection: static tests at equal steps (§1, §5).

Tests run at k/n for k = 0 … n; the first that finds a contact gives its time. Rigid bodies are where `motions.py` has them at that
instant, deforming ones are interpolated vertex by vertex; each test is exact for these positions. Contacts between two instants are
missed, and a time may be late by 1/n: no guarantee. Features are not reported.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.continuous.assemble import MovingRows
from jostle.geometry.features import Features
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.methods.bounding_tree.bodies import BodyTrees
from jostle.methods.bounding_tree.dynamic import Mover
from jostle.methods.bounding_tree.motions import IDENTITY, instant_of
from jostle.methods.bounding_tree.search import PosedPairs, Shapes, StaticSearch
from jostle.methods.bounding_tree.tree import Tree
from jostle.report.report import Counters


def contacts_at_instants(
    trees: BodyTrees, search: StaticSearch, kind: int, frame: Frame, pairs: CandidatePairs, instants: int, all_contacts: bool
) -> tuple[MovingRows, Counters]:
    """Return the first touching faces of each body pair, or all that ever touch."""
    counters = Counters(body_pairs=len(pairs.body_a))
    found: list[MovingRows] = []
    left: Ints = np.arange(len(pairs.body_a), dtype=np.int32)
    bodies = np.unique(np.concatenate(pairs))
    for k in range(instants + 1):
        if len(left) == 0:
            break
        time = k / instants
        shapes, posed = _posed_at(trees, frame, bodies, CandidatePairs(pairs.body_a[left], pairs.body_b[left]), time)
        rows, work = search.find(shapes, kind, posed)
        counters += work
        touched = np.unique(rows.pair)
        found.append(
            MovingRows(left[rows.pair], rows.face_a, rows.face_b, np.full(len(rows.pair), time), Features.none(len(rows.pair)))
        )
        if not all_contacts:
            left = np.delete(left, touched)
    return _first_of_faces(MovingRows.joined(found)), counters


def _posed_at(trees: BodyTrees, frame: Frame, bodies: Ints, pairs: CandidatePairs, time: float) -> tuple[Shapes, PosedPairs]:
    """Return the bodies of these pairs at a time."""
    poses: Floats = np.repeat(IDENTITY[None], len(frame), axis=0)
    shape_of_body = trees.tree_of_body
    movers = {body: trees.mover(frame, body) for body in bodies.tolist()}
    deforming = [body for body, mover in movers.items() if not mover.rigid]
    for body, mover in movers.items():
        if mover.rigid:
            poses[body] = _pose_at(mover, frame, body, time)
    shapes = trees.shapes
    if deforming:
        shape_of_body = trees.tree_of_body.copy()
        shape_of_body[deforming] = len(trees.trees) + np.arange(len(deforming))
        shapes = Shapes(
            [*trees.trees, *(_tree_at(trees.tree(body), movers[body], time) for body in deforming)],
            [*trees.vertices, *(movers[body].surface.placed(time) for body in deforming)],
            [*trees.welded, *(trees.welded[trees.tree_of_body[body]] for body in deforming)],
        )
    return shapes, PosedPairs.of(pairs, shape_of_body, poses)


def _pose_at(mover: Mover, frame: Frame, body: int, time: float) -> Floats:
    """Return the pose (4,4) of a rigid body at a time; exact at both ends."""
    if time == 0.0 or time == 1.0 or mover.surface.is_at_rest:
        end: Floats = (frame.poses if time == 1.0 else frame.poses_t0)[body]
        return end
    place, pose = instant_of(mover.tree.motion, time)["place"][0], IDENTITY.copy()
    pose[:3, :3], pose[:3, 3] = (place["u"], place["v"], place["w"]), place["origin"]
    return pose


def _tree_at(tree: Tree, mover: Mover, time: float) -> Tree:
    """Return the world tree of a deforming body at a time; its axes do not change."""
    volumes = mover.tree.volumes_t0 + time * (mover.tree.volumes_t1 - mover.tree.volumes_t0)
    return tree._replace(volumes=volumes)


def _first_of_faces(rows: MovingRows) -> MovingRows:
    """Keep each face pair at its first instant; rows are ordered by time."""
    order = np.lexsort((rows.time, rows.face_b, rows.face_a, rows.pair))
    new = np.ones(len(order), bool)
    columns = (rows.pair, rows.face_a, rows.face_b)
    new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    return rows.select(order[new])
