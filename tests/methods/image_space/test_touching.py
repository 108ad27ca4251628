"""Bodies that only touch, as the exact engine sees them, are never missed by conservative pictures, near the origin or far from it.

A vertex on a face, an edge on an edge, a vertex on a vertex and a face on a face, under poses that are turned at random and not
quite orthonormal. Computed places are off by a rounding, so that about half of the first two kinds share a point and half do not.
"""

import numpy as np
import pytest

import jostle
from jostle.geometry.rigid import transform_points
from jostle.shapes import build
from tests.methods.image_space.placed import random_pose
from tests.tiny import box, tetrahedron

SOLIDS = [
    box((-0.5, -0.4, -0.3), (0.5, 0.4, 0.3)),
    build.icosphere(1, 0.5),
    build.cone(9),
    box((-1.0, -1.0, -1e-9), (1.0, 1.0, 1e-9)),  # a sheet
    build.stellated_dodecahedron(),
]
KINDS = ("vertex on vertex", "vertex on face", "edge on edge", "face on face")
EACH = 10
APART = 8.0  # from the middle of one pair to the next: none of them meets another


def touching(kind, rng, offset, defect, place):
    """A solid under its pose, and a tetrahedron in world coordinates that touches one of its faces from outside."""
    mesh, pose = SOLIDS[rng.integers(len(SOLIDS))], random_pose(rng, 0.0, offset, defect)
    pose[:3, 3] += place
    world = transform_points(pose, mesh.vertices)
    a, b, c = world[mesh.faces[rng.integers(len(mesh.faces))]]
    normal = np.cross(b - a, c - a)
    normal /= max(np.linalg.norm(normal), 1e-300)  # far from the origin the sides of a sheet have no area
    size = 10.0 ** rng.uniform(-3.0, 0.3)
    around = rng.normal(size=(3, 3)) * 0.3
    if kind == "vertex on vertex":
        corners = [a, *(a + size * (normal + around))]
    elif kind == "vertex on face":
        point = rng.dirichlet((1.0, 1.0, 1.0)) @ np.array([a, b, c])
        corners = [point, *(point + size * (normal + around))]
    elif kind == "edge on edge":
        point, along = a + rng.uniform() * (b - a), np.cross(normal, around[0])
        corners = [point - size * along, point + size * along, *(point + size * (normal + around[1:]))]
    else:
        corners = [a, c, b, (a + b + c) / 3.0 + size * normal]
    corners = np.array(corners)
    if np.linalg.det(corners[1:] - corners[0]) < 0.0:
        corners = corners[[1, 0, 2, 3]]
    return mesh, pose, jostle.Mesh(corners, tetrahedron().faces)


def reported(method, pairs, **query):
    world = jostle.World(method)
    for mesh, pose, other in pairs:
        world.add(mesh, pose)
        world.add(other)
    return set(world.detect(rows="pairs", **query).pairs)


@pytest.mark.parametrize(("offset", "defect"), [(0.0, 0.0), (1e3, 1e-6), (1e7, 2e-6), (1e9, 0.0)])
def test_conservative_pictures_miss_no_touching(offset, defect):
    rng = np.random.default_rng(4)
    pairs = [
        touching(kind, rng, offset, defect, APART * np.array([column, row, 0.0]))
        for row, kind in enumerate(KINDS)
        for column in range(EACH)
    ]
    truth = reported(jostle.WideTree(), pairs, solid=True)
    assert len(truth) > 2.2 * EACH
    for settings in (
        {"view": "y", "resolution": 1},
        {"view": "centres"},
        {"view": "separating"},
        {"view": "axes", "resolution": 9},
    ):
        found = reported(jostle.ImageSpace(conservative=True, **settings), pairs)
        assert truth <= found, settings
        assert all(b == a + 1 and a % 2 == 0 for a, b in found)
