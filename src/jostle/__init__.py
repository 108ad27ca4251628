"""Collision detection for moving, possibly deforming triangle meshes: which faces touch, where, when.

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

# Where each public name is defined. A name is imported when it is asked for: most programs need one method of eleven.
_HOMES = {
    "Batch": "jostle.report.batch",
    "Bodies": "jostle.interface.frame",
    "Body": "jostle.world.world",
    "BoundBroken": "jostle.errors",
    "BoundingTree": "jostle.methods.bounding_tree.method",
    "BroadPhase": "jostle.broad_phase.protocol",
    "BruteForce": "jostle.methods.brute_force.method",
    "Budget": "jostle.interface.query",
    "BusyError": "jostle.errors",
    "Closest": "jostle.report.report",
    "ClosestFeatures": "jostle.methods.closest_features.method",
    "Contacts": "jostle.report.report",
    "Counters": "jostle.report.report",
    "Detector": "jostle.interface.method",
    "EdgeFace": "jostle.methods.edge_face.method",
    "FaceOctree": "jostle.methods.face_octree.method",
    "FirstContact": "jostle.continuous.first_contact",
    "Frame": "jostle.interface.frame",
    "ImageSpace": "jostle.methods.image_space.method",
    "InputError": "jostle.errors",
    "JostleError": "jostle.errors",
    "Kind": "jostle.report.report",
    "Limits": "jostle.shapes.limits",
    "Mesh": "jostle.shapes.mesh",
    "Method": "jostle.interface.method",
    "MonteCarlo": "jostle.methods.monte_carlo.method",
    "OctreeUpdate": "jostle.methods.octree_update.method",
    "Overlay": "jostle.interface.overlay",
    "Pair": "jostle.methods.wide_tree.pair",
    "PairTest": "jostle.broad_phase.pairwise",
    "Pairs": "jostle.report.report",
    "Pairwise": "jostle.broad_phase.pairwise",
    "Query": "jostle.interface.query",
    "Reached": "jostle.report.report",
    "Report": "jostle.report.report",
    "SeparatingPlane": "jostle.methods.separating_plane.method",
    "Traits": "jostle.interface.traits",
    "Unsupported": "jostle.errors",
    "Voxmap": "jostle.methods.voxmap.method",
    "WideTree": "jostle.methods.wide_tree.method",
    "World": "jostle.world.world",
    "collide": "jostle.api",
    "continuous": "jostle.continuous",
    "distance": "jostle.api",
    "first_contact": "jostle.api",
    "haptics": "jostle.haptics",
    "load": "jostle.shapes.load",
    "register": "jostle.registry",
    "rotation": "jostle.geometry.pose",
    "self_collide": "jostle.api",
    "translation": "jostle.geometry.pose",
    "view": "jostle.viewer.background",
}

_HOLD_CANDIDATES = "let your detector hold a jostle.broad_phase.candidates.Candidates (docs/adding_a_method.md)"
_DEPRECATED = {"PairTest": _HOLD_CANDIDATES, "Pairwise": _HOLD_CANDIDATES}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'jostle' has no attribute {name!r}")
    if name in _DEPRECATED:
        import warnings

        warnings.warn(f"jostle.{name} goes with the next release; {_DEPRECATED[name]}", DeprecationWarning, stacklevel=2)
    return _imported(name)


@functools.cache
def _imported(name: str) -> object:
    module = importlib.import_module(_HOMES[name])
    return module if module.__name__ == f"jostle.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return list(__all__)
