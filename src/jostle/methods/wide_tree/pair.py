"""Pair: whether two meshes touch or are near, and how far apart they are, with the least overhead, for tight loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.rigid import all_rigid
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.method import WideTree
from jostle.methods.wide_tree.nearest_search import SEEDED_DISTANCE, NearestWorkspace, NearList, NearQuestion
from jostle.methods.wide_tree.nearest_work import ANY_NEAR
from jostle.methods.wide_tree.search import TreePairs
from jostle.methods.wide_tree.touch import NOT_RIGID, TOUCHING, TouchSearch
from jostle.methods.wide_tree.tree import Forest
from jostle.shapes.coerce import MeshLike, mesh_of

_IDENTITY = np.eye(4)


class Pair:
    """Two rigid meshes whose surfaces are tested for contact or measured many times.

    Both meshes are prepared once, here. For faces, points, solids, deforming meshes or more than two bodies use a `World`.
    A pair belongs to one thread at a time; it holds its own scratch memory (1.3 MB, and as much for distances).

    Examples
    --------
    >>> pair = jostle.Pair("ball.stl", "wall.obj")
    >>> pair.touches(jostle.translation((0, 0, 0.9)))
    True
    >>> pair.touches(jostle.translation((0, 0, 1.1)), clearance=0.2)
    True
    >>> round(pair.distance(jostle.translation((0, 0, 1.5))), 3)
    0.5
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
        self._pose_a, self._pose_b = self._poses  # views
        self._poses[:] = _IDENTITY
        self._is_at_origin = True  # A, whose pose many callers leave out
        zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
        self._checked = (read_only_view(self._poses), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE)
        self._pairs = TreePairs(zero, one, zero, one, self._checked[0])
        self._near = NearList(self._pairs)
        # Empty while a search runs: an interrupted one is not used again.
        self._touch_searches = [TouchSearch(self._forest, self._pairs)]
        self._near_workspaces: list[NearestWorkspace] = []

    def touches(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None, *, clearance: float = 0.0) -> bool:
        """Return whether any two faces share a point, or are closer than the clearance.

        Poses (4,4) are body to world, None is the identity.
        """
        if clearance.__class__ is not float or not 0.0 <= clearance <= cast.LARGEST_COORDINATE:
            clearance = cast.as_length(clearance, "clearance")
        self._place(pose_a, pose_b)
        if clearance > 0.0:
            work = self._searched(NearQuestion(ANY_NEAR, 1, clearance, clearance), pose_a, pose_b)
            found = work.row_count() > 0
            self._near_workspaces.append(work)
            return found
        search = self._touch_searches.pop() if self._touch_searches else TouchSearch(self._forest, self._pairs)
        answer = search.answer()
        self._touch_searches.append(search)
        if answer == NOT_RIGID:
            self._refuse(pose_a, pose_b)
        return answer == TOUCHING

    def distance(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> float:
        """Return the least distance of the surfaces; 0.0 exactly if they share a point.

        The search begins at the faces that were closest in the last call, which saves time where the bodies have moved little.
        Poses (4,4) are body to world, None is the identity.
        """
        self._place(pose_a, pose_b)
        work = self._searched(SEEDED_DISTANCE, pose_a, pose_b)
        distance = work.distance()
        self._near_workspaces.append(work)
        return distance

    def _searched(self, question: NearQuestion, pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> NearestWorkspace:
        """Return a workspace with the answer to a question at the poses, which are placed."""
        if not all_rigid(*self._checked):
            self._refuse(pose_a, pose_b)
        work = self._near_workspaces.pop() if self._near_workspaces else NearestWorkspace()
        work.find(self._forest, self._near, question)
        return work

    def _place(self, pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> None:
        """Set both poses, which may not be rigid yet."""
        try:
            if pose_a is not None:
                self._is_at_origin = False
                self._pose_a[...] = pose_a
            elif not self._is_at_origin:
                self._pose_a[...] = _IDENTITY
                self._is_at_origin = True
            self._pose_b[...] = _IDENTITY if pose_b is None else pose_b
        except Exception:  # whatever the values raise
            self._refuse(pose_a, pose_b)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pair, self._made_of  # its tables hold addresses

    @staticmethod
    def _refuse(pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> None:
        """Raise an error that names the wrong pose and the reason."""
        cast.as_pose(pose_a, "body 'a'", "pose_a")
        cast.as_pose(pose_b, "body 'b'", "pose_b")
        raise InputError("pose_a and pose_b must be rigid (4, 4) poses")
