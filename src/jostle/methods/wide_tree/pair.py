"""Pair: the lean call for tight loops. Two meshes, two poses, yes or no, with as little Python around the kernel as can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.rigid import all_rigid
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.method import WideTree
from jostle.methods.wide_tree.search import Placed, Workspace
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import FIRST
from jostle.shapes.coerce import MeshLike, mesh_of

_IDENTITY = np.eye(4)


class Pair:
    """Two rigid meshes whose surfaces are asked again and again whether they touch.

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
        self._forest = Forest([tree_a, tree_b])  # keeps the arrays whose addresses are in the table alive
        self._poses = np.empty((2, 4, 4))
        self._workspaces = [Workspace()]  # none while a search runs: one that was interrupted is not used again
        zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
        self._checked = (read_only_view(self._poses), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE)
        self._placed = Placed(zero, one, zero, one, self._checked[0])

    def touches(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> bool:
        """Return whether any two faces share a point; poses (4,4) are body to world, None is the identity."""
        poses = self._poses
        try:
            poses[0] = _IDENTITY if pose_a is None else pose_a
            poses[1] = _IDENTITY if pose_b is None else pose_b
        except Exception:  # of the values' own making
            self._refuse(pose_a, pose_b)
        if not all_rigid(*self._checked):
            self._refuse(pose_a, pose_b)
        work = self._workspaces.pop() if self._workspaces else Workspace()
        work.start()
        work.find(self._forest, self._placed, 0.0, FIRST)
        touching = work.row_count() > 0
        self._workspaces.append(work)
        return touching

    def __reduce__(self) -> tuple[Any, ...]:
        return Pair, self._made_of  # its tables hold addresses, and its poses are written to by each call

    @staticmethod
    def _refuse(pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> None:
        """Say which pose is wrong and why."""
        cast.as_pose(pose_a, "body 'a'", "pose_a")
        cast.as_pose(pose_b, "body 'b'", "pose_b")
        raise InputError("pose_a and pose_b must be rigid (4, 4) poses")
