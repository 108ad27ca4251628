"""Pair: whether two meshes touch, with the least overhead, for tight loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.rigid import all_rigid
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.method import WideTree
from jostle.methods.wide_tree.search import TreePairs, Workspace
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import FIRST
from jostle.shapes.coerce import MeshLike, mesh_of

_IDENTITY = np.eye(4)


class Pair:
    """Two rigid meshes whose surfaces are tested for contact many times.

    A pair belongs to one thread at a time; it holds its own scratch memory (1.3 MB).

    Examples
    --------
    >>> pair = jostle.Pair("gripper.stl", "part.stl")
    >>> pair.touches(pose_of_gripper, pose_of_part)
    """

    def __init__(self, a: MeshLike, b: MeshLike, method: WideTree | None = None) -> None:
        engine = WideTree() if method is None else method
        if not isinstance(engine, WideTree):
            raise InputError(f"method is {cast.shown(method)}; a Pair takes a jostle.WideTree, or None")
        mesh_a, mesh_b = mesh_of(a, "a"), mesh_of(b, "b")
        self._made_of = mesh_a, mesh_b, engine
        tree_a = engine.prepare_shape(mesh_a)
        tree_b = tree_a if mesh_b is mesh_a else engine.prepare_shape(mesh_b)
        self._forest = Forest([tree_a, tree_b])  # keeps its arrays alive
        self._poses = np.empty((2, 4, 4))
        self._workspaces = [Workspace()]  # empty while a search runs: an interrupted one is not used again
        zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
        self._checked = (read_only_view(self._poses), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE)
        self._pairs = TreePairs(zero, one, zero, one, self._checked[0])

    def touches(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> bool:
        """Return whether any two faces share a point.

        Poses (4,4) are body to world, None is the identity.
        """
        poses = self._poses
        try:
            poses[0] = _IDENTITY if pose_a is None else pose_a
            poses[1] = _IDENTITY if pose_b is None else pose_b
        except Exception:  # whatever the values raise
            self._refuse(pose_a, pose_b)
        if not all_rigid(*self._checked):
            self._refuse(pose_a, pose_b)
        work = self._workspaces.pop() if self._workspaces else Workspace()
        work.start()
        work.find(self._forest, self._pairs, 0.0, FIRST)
        touching = work.row_count() > 0
        self._workspaces.append(work)
        return touching

    def __reduce__(self) -> tuple[Any, ...]:
        return Pair, self._made_of  # its tables hold addresses

    @staticmethod
    def _refuse(pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> None:
        """Raise an error that names the wrong pose and the reason."""
        cast.as_pose(pose_a, "body 'a'", "pose_a")
        cast.as_pose(pose_b, "body 'b'", "pose_b")
        raise InputError("pose_a and pose_b must be rigid (4, 4) poses")
