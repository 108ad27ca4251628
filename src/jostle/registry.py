"""The methods and broad phases by name: two explicit dicts, nothing magic. Names are the folder and file names."""

from __future__ import annotations

from jostle.broad_phase import BROAD_PHASES
from jostle.cast import has, shown
from jostle.errors import InputError
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
from jostle.pairwise import broad_phase_of
from jostle.protocol import Method

__all__ = ["BROAD_PHASES", "DEFAULT_METHOD", "METHODS", "broad_phase_of", "method_of", "name_of"]

METHODS: dict[str, type[Method]] = {
    "wide_tree": WideTree,
    "face_octree": FaceOctree,
    "octree_update": OctreeUpdate,
    "bounding_tree": BoundingTree,
    "image_space": ImageSpace,
    "voxmap": Voxmap,
    "monte_carlo": MonteCarlo,
    "separating_plane": SeparatingPlane,
    "closest_features": ClosestFeatures,
    "edge_face": EdgeFace,
    "brute_force": BruteForce,
}
DEFAULT_METHOD = "wide_tree"


def method_of(value: str | Method | None) -> Method:
    """Return the method of a name, an instance itself, or the default for None."""
    if value is None:
        value = DEFAULT_METHOD
    if isinstance(value, str):
        if value not in METHODS:
            raise InputError(f"there is no method {value!r}; the methods are {', '.join(sorted(METHODS))}")
        return METHODS[value]()
    if isinstance(value, type) or not has(value, "traits", "shape_type", "prepare_shape", "start"):
        names = ", ".join(sorted(METHODS))
        raise InputError(f"method is {shown(value)}; pass a name ({names}) or an instance such as jostle.BruteForce()")
    return value


def name_of(method: Method) -> str:
    """Return the registry name of a method, or its class name for one that is not registered."""
    for name, made in METHODS.items():
        if type(method) is made:
            return name
    return type(method).__name__
