"""jostle: which faces of moving, possibly deforming triangle meshes touch, where and when.

    import jostle
    report = jostle.collide("bunny.stl", "cover.stl", pose_b=T)
    report.contacts.face_a, report.contacts.point, report.pairs

A `World` holds bodies that move. What a method can do is in its traits: `jostle methods` prints them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jostle import continuous, haptics
from jostle.api import collide, distance, first_contact, self_collide
from jostle.broad_phase.candidates import Pairwise
from jostle.continuous.first_contact import FirstContact
from jostle.errors import BoundBroken, BusyError, InputError, JostleError, Unsupported
from jostle.geometry.pose import rotation, translation
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import BroadPhase, Detector, Method, PairTest
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
from jostle.shapes.mesh import Mesh
from jostle.world.world import Body, World

if TYPE_CHECKING:
    from jostle.shapes.load import load
    from jostle.viewer.background import view

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
    "PairTest",
    "Pairs",
    "Pairwise",
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


def __getattr__(name: str) -> object:
    # Reading files needs more imports than everything else together, and so does the viewer.
    if name == "load":
        from jostle.shapes.load import load

        return load
    if name == "view":
        from jostle.viewer.background import view

        return view
    raise AttributeError(f"module 'jostle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
