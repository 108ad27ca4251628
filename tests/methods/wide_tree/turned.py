"""`WideTree` with every node turned at random: the worst that orientations can do, and the same rows."""

from dataclasses import dataclass

import numpy as np

from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.method import WideTree
from jostle.methods.wide_tree.refit import fit_tree
from jostle.methods.wide_tree.tree import CROSSED
from tests.tiny import random_pose


def turned_tree(tree, rng, rotations=8):
    """Return a tree whose nodes have random rotations, and random long axes: any axis is valid."""
    turns = np.stack([np.eye(3), *(random_pose(rng)[:3, :3] for _ in range(rotations))])
    nodes = len(tree.first)
    orientation = CROSSED * rng.integers(0, len(turns), nodes) + rng.integers(0, CROSSED, nodes)
    turned = tree._replace(
        boxes=np.empty_like(tree.boxes), orientation=orientation.astype(np.int32), rotations=turns.astype(np.float32).ravel()
    )
    fit_tree(turned)
    return turned


@dataclass(frozen=True)
class Turned(WideTree):
    """`WideTree` with random orientations."""

    seed: int = 0

    def prepare_shape(self, mesh, progress=None):
        return turned_tree(build_tree(mesh, self.build), np.random.default_rng([self.seed, len(mesh.faces)]))
