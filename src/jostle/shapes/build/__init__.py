"""Shapes by formula: simple solids and papers' objects with exact face counts.

Every function returns a `Mesh` (or a list of them) of about size 1, centred near the origin; equal arguments give byte-equal
meshes. Unless a docstring says otherwise, the mesh is closed and manifold, faces outward (counter-clockwise), has no face without
area and does not cross itself. rings.py and blocks.py make faces, the other files shapes.
"""

from jostle.shapes.build.assembly import mikoshi, mikoshi_mesh
from jostle.shapes.build.blob import blob
from jostle.shapes.build.comb import comb, comb_cones
from jostle.shapes.build.furniture import chair
from jostle.shapes.build.hand import hand, hand_of_capsules
from jostle.shapes.build.head import head
from jostle.shapes.build.polytope import polytope36
from jostle.shapes.build.primitives import box, capsule, cloth, cone, plate, stellated_dodecahedron, torus, truncated_cone
from jostle.shapes.build.shuttle import shuttle
from jostle.shapes.build.spheres import PAPER_SPHERES, ellipsoid, icosahedron, icosphere, sphere
from jostle.shapes.build.sweeps import clover, horseshoe

__all__ = [
    "PAPER_SPHERES",
    "blob",
    "box",
    "capsule",
    "chair",
    "cloth",
    "clover",
    "comb",
    "comb_cones",
    "cone",
    "ellipsoid",
    "hand",
    "hand_of_capsules",
    "head",
    "horseshoe",
    "icosahedron",
    "icosphere",
    "mikoshi",
    "mikoshi_mesh",
    "plate",
    "polytope36",
    "shuttle",
    "sphere",
    "stellated_dodecahedron",
    "torus",
    "truncated_cone",
]
