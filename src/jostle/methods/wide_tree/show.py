"""Overlays: the boxes of one level of all trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay, edges_of_boxes
from jostle.methods.wide_tree.tree import CROSSED, LANES, Tree

DEEPEST_SHOWN = 64  # more than the levels of any tree


def overlay_of(trees: list[Tree], tree_of_body: Ints, frame: Frame, what: str) -> Overlay:
    """Show the boxes of one level, by default "0": the root's children."""
    if not (what or "0").isdecimal() or int(what or "0") > DEEPEST_SHOWN:
        raise InputError(f"what is {what!r}; the overlays are the levels of the trees, '0' … '{DEEPEST_SHOWN}'")
    level, boxes, edges = int(what or "0"), [np.empty((0, 2, 3))], [np.empty((0, 2, 3))]
    for body in range(len(frame)):
        tree, pose = trees[tree_of_body[body]], frame.poses[body]
        nodes = _nodes_of_level(tree, level)
        for rotation, (lower, upper) in _boxes_by_rotation(tree, nodes):
            axes = rotation @ pose[:3, :3].T  # in rows
            centre = (0.5 * (lower + upper) @ rotation / tree.frame[3] + tree.frame[:3]) @ pose[:3, :3].T + pose[:3, 3]
            half_axes = (0.5 * (upper - lower) / tree.frame[3])[:, :, None] * axes
            if (rotation == np.eye(3)).all():
                extent = np.abs(half_axes).sum(axis=1)
                boxes.append(np.stack([centre - extent, centre + extent], axis=1))
            else:
                edges.append(edges_of_boxes(centre, half_axes))
    return Overlay(f"boxes of level {level}", boxes=np.concatenate(boxes), segments=np.concatenate(edges))


def _nodes_of_level(tree: Tree, level: int) -> Ints:
    """Return the nodes of a level, and the leaves above it."""
    nodes = [0]
    for _ in range(level):
        below = [range(tree.first[n], tree.first[n] + tree.count[n]) if tree.count[n] > 0 else [n] for n in nodes]
        nodes = [int(n) for part in below for n in part]
    return np.array(nodes, np.int32)


def _boxes_by_rotation(tree: Tree, nodes: Ints) -> Iterator[tuple[Floats, tuple[Floats, Floats]]]:
    """Yield each rotation (3,3) among some nodes with lower and upper corners (k,3) of its boxes."""
    boxes = tree.boxes.reshape(-1, 2, 3, LANES)[nodes].transpose(0, 3, 1, 2).astype(np.float64)
    if len(tree.orientation) == 0:
        numbers, rotations = np.zeros(len(nodes), np.int32), np.eye(3)[None]
    else:
        numbers, rotations = tree.orientation[nodes] // CROSSED, tree.rotations.reshape(-1, 3, 3).astype(np.float64)
    for number in np.unique(numbers):
        chosen = boxes[numbers == number].reshape(-1, 2, 3)
        chosen = chosen[(chosen[:, 0] <= chosen[:, 1]).all(axis=1)]  # empty ones are inside out
        yield rotations[number], (chosen[:, 0], chosen[:, 1])
