"""What `jostle warmup` compiles: each public path once, on tiny data."""

from __future__ import annotations

import numpy as np

from jostle import functions, haptics
from jostle.broad_phase import BoundingSpheres, CoherentAabb, FastAabb, PriorityQueue, SweepAndPrune, UniformGrid
from jostle.continuous import point_triangle
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.kernels.warmup import warms
from jostle.methods.brute_force.method import AllFaces
from jostle.methods.closest_features.fallback import settle_otherwise
from jostle.methods.closest_features.method import ClosestFeatures
from jostle.methods.closest_features.polyhedron import polyhedron_of
from jostle.methods.image_space.method import ImageSpace
from jostle.methods.voxmap.method import Voxmap
from jostle.motion.pose import rotation_about, translation
from jostle.pair import Pair
from jostle.pairwise import Pairwise
from jostle.query import Budget
from jostle.shapes.build import icosphere
from jostle.shapes.mesh import Mesh
from jostle.world import World


def _tetrahedron(shift: float = 0.0) -> Mesh:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return Mesh(corners + shift, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], name="tetrahedron")


@warms("touching faces")
def _collide() -> None:
    report = functions.collide(_tetrahedron(), _tetrahedron(0.1), solid=True)
    assert report.contacts.normal.shape == (len(report.contacts), 3)
    Pair(_tetrahedron(), _tetrahedron(0.1)).touches()
    world = World()
    body = world.add(_tetrahedron(), deformable=True)
    for shift in (0.1, 0.2):
        world.add(_tetrahedron(shift))
    world.detect()
    body.vertices = 2.0 * body.vertices + 50.0
    world.set_poses(np.eye(4)[None].repeat(3, axis=0))
    assert len(world.detect().ended) == 2


@warms("a body against itself")
def _itself() -> None:
    functions.self_collide(_tetrahedron(), adjacent=True)


@warms("distances")
def _distance() -> None:
    functions.distance(_tetrahedron(), _tetrahedron(2.0))


@warms("the oracle")
def _oracle() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="brute_force", clearance=0.1)
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="brute_force")


@warms("continuous queries")
def _continuous() -> None:
    # The corner comes down on the triangle, at a time that floats find; beside it, on the edge, at one that they do not.
    triangle = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
    before, after = [[1.0, 1.0, 1.0], [1.0, 0.0, 2.0]], [[1.0, 1.0, -1.0], [1.0, 0.0, -1.0]]
    assert point_triangle(before, [triangle] * 2, after, [triangle] * 2).hit.all()
    point_triangle(before, [triangle] * 2, after, [triangle] * 2, roots="regula_falsi")
    assert point_triangle(before, [triangle] * 2, after, [triangle] * 2, separation=0.1).hit.all()


@warms("the face octree")
def _face_octree() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="face_octree", clearance=0.1)


@warms("edges against faces")
def _edge_face() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="edge_face")


@warms("octrees that move")
def _octree_update() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="octree_update")


@warms("bounding trees")
def _bounding_tree() -> None:
    world = World("bounding_tree")
    body = world.add(_tetrahedron(), deformable=True)
    turning = world.add(_tetrahedron(1.5))
    world.detect(itself=True)
    turning.pose = rotation_about((0.0, 0.0, 1.0), 0.5)
    body.vertices = body.vertices + 0.1
    world.detect(motion=True)
    functions.first_contact(_tetrahedron(), _tetrahedron(2.0), translation((2.0, 2.0, 2.0)))


@warms("voxel maps")
def _voxmap() -> None:
    world = World(Voxmap(across=8, broad=None))
    world.add(_tetrahedron())
    world.add(_tetrahedron(0.1))
    report = world.detect(rows="first")
    assert report.contacts.normal.shape == (1, 3)
    haptics.force(report, 0, stiffness=1.0)
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method=Voxmap(across=8, surface_only=True))


@warms("collision by rendering")
def _image_space() -> None:
    for settings in ({}, {"conservative": True}, {"view": "separating"}, {"share_depth": True, "accuracy": 0.1, "view": "z"}):
        world = World(ImageSpace(**settings))
        body = world.add(_tetrahedron(), deformable=True)
        for shift in (0.1, 0.6, 2.0):
            world.add(_tetrahedron(shift))
        assert world.detect().contacts.normal.shape[1] == 3
        body.vertices = body.vertices + 0.1
        world.detect()


@warms("sample pairs and shells")
def _monte_carlo() -> None:
    world = World("monte_carlo")
    body = world.add(icosphere(3), deformable=True)
    world.add(icosphere(3), translation((1.9, 0.0, 0.0)))
    assert world.detect(itself=True, clearance=0.01).complete
    body.vertices = 1.01 * body.vertices
    world.detect(budget=Budget(operations=1000))


@warms("the simulation")
def _simulation() -> None:
    from jostle.sim import Simulation

    for response in ("exchange", "impulse"):
        world = World()
        for shift in (0.0, 0.1):
            world.add(_tetrahedron(shift))
        simulation = Simulation(world, cube=None, response=response)
        simulation.step()
        simulation.centre = simulation.centre


@warms("soft bodies")
def _soft_bodies() -> None:
    from jostle.sim import Squeeze

    squeeze = Squeeze(faces=80, friction=0.1)
    for _ in range(2):
        squeeze.step()


@warms("pictures")
def _picture() -> None:
    from jostle.render.picture import draw

    draw([_tetrahedron()], width=32, height=24)


@warms("many bodies")
def _many() -> None:
    world = World(Pairwise(UniformGrid(), AllFaces()))
    for shift in (0.0, 0.1, 5.0):
        world.add(_tetrahedron(shift))
    world.detect()
    assert _tetrahedron().is_convex


@warms("broad phases")
def _broad_phases() -> None:
    for broad in (BoundingSpheres(), FastAabb(), CoherentAabb(), SweepAndPrune(), PriorityQueue(speed=100.0)):
        world = World(ClosestFeatures(broad=broad))
        bodies = [world.add(_tetrahedron(shift)) for shift in (0.0, 0.1, 5.0)]
        world.detect(rows="pairs")
        bodies[0].pose = translation((1.0, 0.0, 0.0))
        world.detect(rows="pairs")


@warms("separating planes")
def _separating_plane() -> None:
    assert not functions.collide(_tetrahedron(), _tetrahedron(2.0), method="separating_plane", rows="pairs")
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="separating_plane")


@warms("closest features")
def _closest_features() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="closest_features", rows="pairs")
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="closest_features")
    shape = polyhedron_of(_tetrahedron())
    settle_otherwise(shape, shape, np.eye(4), np.eye(4), 1.0)
    one, other = _tetrahedron(), _tetrahedron(2.0)
    closest_of_all_triangles(one.vertices, one.faces, other.vertices, other.faces)
