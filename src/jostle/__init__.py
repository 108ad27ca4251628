"""Collision detection for moving and deforming triangle meshes.

    import jostle
    report = jostle.collide("bunny.stl", "cover.stl", pose_b=T)
    report.contacts.face_a, report.contacts.point, report.pairs

A `World` holds moving bodies. `jostle methods` lists the methods and what each supports.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle import continuous as continuous
    from jostle import haptics as haptics
    from jostle.api import collide, distance, first_contact, self_collide
    from jostle.broad_phase.pairwise import PairTest as PairTest
    from jostle.broad_phase.pairwise import Pairwise as Pairwise
    from jostle.broad_phase.protocol import BroadPhase
    from jostle.continuous.first_contact import FirstContact
    from jostle.errors import BoundBroken, BusyError, InputError, JostleError, Unsupported
    from jostle.geometry.pose import rotation, translation
    from jostle.interface.frame import Bodies, Frame
    from jostle.interface.method import Detector, Method
    from jostle.interface.overlay import Overlay
    from jostle.interface.query import Budget, Query
    from jostle.interface.traits import Traits
    from jostle.methods.bounding_tree.method import BoundingTree
    from jostle.methods.brute_force.method import BruteForce
    from jostle.methods.closest_features.method import ClosestFeatures
    from jostle.methods.edge_face.method import EdgeFace
    from jostle.methods.face_octree.method import FaceOctree
    from jostle.methods.image_space.method import ImageSpace
    from jostle.methods.monte_carlo.method import MonteCarlo
    from jostle.methods.octree_update.method import OctreeUpdate
    from jostle.methods.plain.method import Plain
    from jostle.methods.separating_plane.method import SeparatingPlane
    from jostle.methods.voxmap.method import Voxmap
    from jostle.methods.wide_tree.method import WideTree
    from jostle.methods.wide_tree.pair import Pair
    from jostle.registry import register
    from jostle.report.batch import Batch
    from jostle.report.report import Closest, Contacts, Counters, Kind, Pairs, Reached, Report
    from jostle.shapes.limits import Limits
    from jostle.shapes.load import load
    from jostle.shapes.mesh import Mesh
    from jostle.viewer.background import view
    from jostle.world.world import Body, World

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Bodies",
    "Body",
    "BoundBroken",
    "BoundingTree",
    "BroadPhase",
    "BruteForce",
    "Budget",
    "BusyError",
    "Closest",
    "ClosestFeatures",
    "Contacts",
    "Counters",
    "Detector",
    "EdgeFace",
    "FaceOctree",
    "FirstContact",
    "Frame",
    "ImageSpace",
    "InputError",
    "JostleError",
    "Kind",
    "Limits",
    "Mesh",
    "Method",
    "MonteCarlo",
    "OctreeUpdate",
    "Overlay",
    "Pair",
    "Pairs",
    "Plain",
    "Query",
    "Reached",
    "Report",
    "SeparatingPlane",
    "Traits",
    "Unsupported",
    "Voxmap",
    "WideTree",
    "World",
    "collide",
    "continuous",
    "distance",
    "first_contact",
    "haptics",
    "load",
    "register",
    "rotation",
    "self_collide",
    "translation",
    "view",
]

# The public names of each module. A name is imported when it is used: most programs need one method of twelve.
_NAMES_IN = {
    "jostle.api": "collide distance first_contact self_collide",
    "jostle.broad_phase.pairwise": "PairTest Pairwise",
    "jostle.broad_phase.protocol": "BroadPhase",
    "jostle.continuous": "continuous",
    "jostle.continuous.first_contact": "FirstContact",
    "jostle.errors": "BoundBroken BusyError InputError JostleError Unsupported",
    "jostle.geometry.pose": "rotation translation",
    "jostle.haptics": "haptics",
    "jostle.interface.frame": "Bodies Frame",
    "jostle.interface.method": "Detector Method",
    "jostle.interface.overlay": "Overlay",
    "jostle.interface.query": "Budget Query",
    "jostle.interface.traits": "Traits",
    "jostle.methods.bounding_tree.method": "BoundingTree",
    "jostle.methods.brute_force.method": "BruteForce",
    "jostle.methods.closest_features.method": "ClosestFeatures",
    "jostle.methods.edge_face.method": "EdgeFace",
    "jostle.methods.face_octree.method": "FaceOctree",
    "jostle.methods.image_space.method": "ImageSpace",
    "jostle.methods.monte_carlo.method": "MonteCarlo",
    "jostle.methods.octree_update.method": "OctreeUpdate",
    "jostle.methods.plain.method": "Plain",
    "jostle.methods.separating_plane.method": "SeparatingPlane",
    "jostle.methods.voxmap.method": "Voxmap",
    "jostle.methods.wide_tree.method": "WideTree",
    "jostle.methods.wide_tree.pair": "Pair",
    "jostle.registry": "register",
    "jostle.report.batch": "Batch",
    "jostle.report.report": "Closest Contacts Counters Kind Pairs Reached Report",
    "jostle.shapes.limits": "Limits",
    "jostle.shapes.load": "load",
    "jostle.shapes.mesh": "Mesh",
    "jostle.viewer.background": "view",
    "jostle.world.world": "Body World",
}
_HOMES = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

_HOLD_CANDIDATES = "let your detector hold a jostle.broad_phase.candidates.Candidates (docs/adding_a_method.md)"
_DEPRECATED = {"PairTest": _HOLD_CANDIDATES, "Pairwise": _HOLD_CANDIDATES}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'jostle' has no attribute {name!r}")
    if name in _DEPRECATED:
        import warnings

        warnings.warn(f"jostle.{name} will be removed in the next release; {_DEPRECATED[name]}", DeprecationWarning, stacklevel=2)
    return _imported(name)


@functools.cache
def _imported(name: str) -> object:
    module = importlib.import_module(_HOMES[name])
    return module if module.__name__ == f"jostle.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return list(__all__)
