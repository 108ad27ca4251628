"""The code paths that `jostle warmup` compiles, each run once on tiny data.

Entries run in this order, two at a time: long ones first, and neighbours that share few kernels, since one waits for a kernel that
the other compiles. Methods are named: the default engine would answer without a compiler.
"""

from __future__ import annotations

import numpy as np

from jostle import api as functions
from jostle import haptics
from jostle.broad_phase import BROAD_PHASES
from jostle.continuous import point_triangle
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.query import Budget
from jostle.kernels.warmup import warms
from jostle.methods.closest_features.fallback import fallback_distance
from jostle.methods.closest_features.method import ClosestFeatures
from jostle.methods.closest_features.polyhedron import polyhedron_of
from jostle.methods.image_space.method import ImageSpace
from jostle.methods.voxmap.method import Voxmap
from jostle.methods.wide_tree.pair import Pair
from jostle.registry import DEFAULT_METHOD
from jostle.shapes.build import box, icosphere
from jostle.shapes.build import cone as build_cone
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

# For `jostle demo`: each method once, the exact answer, distances for answers judged by a length, and pictures. The first two start
# together and share few kernels.
TOUR_ENTRIES = (
    "touching faces",
    "collision by rendering",
    "voxel maps",
    "sample pairs and shells",
    "bounding trees",
    "closest features",
    "octree update",
    "distances",
    "separating planes",
    "the face octree",
    "pictures",
    "the oracle",
    "edges against faces",
)


def _tetrahedron(shift: float = 0.0) -> Mesh:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return Mesh(corners + shift, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], name="tetrahedron")


def _balls() -> tuple[Mesh, Mesh]:
    """Return two balls that meet, with more faces than initial buffers hold."""
    ball = icosphere(3)
    return ball, ball.with_vertices(ball.vertices + 0.3)


@warms("touching faces")
def _collide() -> None:
    report = functions.collide(_tetrahedron(), _tetrahedron(0.1), solid=True, method=DEFAULT_METHOD)
    assert report.contacts.normal.shape == (len(report.contacts), 3)
    assert functions.collide(_tetrahedron(), _tetrahedron(), solid=True, method=DEFAULT_METHOD)
    Pair(_tetrahedron(), _tetrahedron(0.1)).touches()
    world = World(DEFAULT_METHOD)
    body = world.add(_tetrahedron(), deformable=True)
    for shift in (0.1, 0.2):
        world.add(_tetrahedron(shift))
    world.detect()
    body.vertices = 2.0 * body.vertices + 50.0
    world.set_poses(np.eye(4)[None].repeat(3, axis=0))
    assert len(world.detect().ended) == 2
    world.detect(clearance=0.1)
    cone = world.add(build_cone(face_count=300), deformable=True)  # of slivers: its nodes are turned
    world.detect()
    cone.vertices = 1.01 * cone.vertices
    world.detect()


@warms("collision by rendering")
def _image_space() -> None:
    _draw_and_compare(ImageSpace())


@warms("bounding trees")
def _bounding_tree() -> None:
    functions.collide(*_balls(), method="bounding_tree")
    world = World("bounding_tree")
    body = world.add(_tetrahedron(), deformable=True)
    turning = world.add(_tetrahedron(1.5))
    world.detect()
    turning.pose = rotation_about((0.0, 0.0, 1.0), 0.5)
    body.vertices = body.vertices + 0.1
    world.detect()


@warms("voxel maps")
def _voxmap() -> None:
    world = World(Voxmap(across=8, broad=None))
    world.add(_tetrahedron())
    world.add(_tetrahedron(0.1))
    report = world.detect(rows="first")
    assert report.contacts.normal.shape == (1, 3)
    haptics.force(report, 0, stiffness=1.0)
    world = World(Voxmap(across=8))
    for mesh in (*_balls(), icosphere(0, 0.2)):  # the last inside the others, then beside them with overlapping boxes
        body = world.add(mesh)
    for corner in (0.0, 0.9):
        body.pose = translation((corner, -corner, corner))
        assert len(world.detect().pairs) == (1 if corner else 3)


@warms("sample pairs and shells")
def _monte_carlo() -> None:
    world = World("monte_carlo")
    body = world.add(icosphere(3), deformable=True)
    world.add(icosphere(3), translation((1.9, 0.0, 0.0)))
    assert world.detect(itself=True, clearance=0.01).complete
    body.vertices = 1.01 * body.vertices
    world.detect(budget=Budget(operations=1000))


@warms("closest features")
def _closest_features() -> None:
    world = World("closest_features")
    bodies = [world.add(_tetrahedron(shift)) for shift in (0.0, 0.1, 5.0)]
    for shift in (0.0, 0.01, 1.0):
        bodies[0].pose = translation((shift, 0.0, 0.0))
        world.detect(rows="pairs")
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="closest_features")
    shape = polyhedron_of(_tetrahedron())
    fallback_distance(shape, shape, np.eye(4), np.eye(4), 1.0)
    one, other = _tetrahedron(), _tetrahedron(2.0)
    closest_of_all_triangles(one.vertices, one.faces, other.vertices, other.faces)


@warms("continuous queries")
def _continuous() -> None:
    # One corner meets the triangle's interior, where float arithmetic finds the time; the other its edge, where it does not.
    triangle = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
    before, after = [[1.0, 1.0, 1.0], [1.0, 0.0, 2.0]], [[1.0, 1.0, -1.0], [1.0, 0.0, -1.0]]
    assert point_triangle(before, [triangle] * 2, after, [triangle] * 2).hit.all()
    point_triangle(before, [triangle] * 2, after, [triangle] * 2, roots="regula_falsi")
    assert point_triangle(before, [triangle] * 2, after, [triangle] * 2, separation=0.1).hit.all()


@warms("separating planes")
def _separating_plane() -> None:
    assert not functions.collide(_tetrahedron(), _tetrahedron(2.0), method="separating_plane", rows="pairs")
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="separating_plane")


@warms("bounding trees along a motion")
def _bounding_tree_motion() -> None:
    world = World("bounding_tree")
    body = world.add(_tetrahedron(), deformable=True)
    turning = world.add(_tetrahedron(1.5))
    world.detect(itself=True)
    turning.pose = rotation_about((0.0, 0.0, 1.0), 0.5)
    body.vertices = body.vertices + 0.1
    world.detect(motion=True)
    functions.first_contact(_tetrahedron(), _tetrahedron(2.0), translation((2.0, 2.0, 2.0)))


@warms("soft bodies")
def _soft_bodies() -> None:
    from jostle.sim import Squeeze

    squeeze = Squeeze(faces=80, friction=0.1)
    for _ in range(2):
        squeeze.step()


@warms("self-collision")
def _self_collision() -> None:
    functions.self_collide(_tetrahedron(), adjacent=True, method=DEFAULT_METHOD)


@warms("octree update")
def _octree_update() -> None:
    functions.collide(*_balls(), method="octree_update")
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="octree_update")


@warms("distances")
def _distance() -> None:
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method=DEFAULT_METHOD)
    functions.collide(_tetrahedron(), _tetrahedron(), rows="first", clearance=0.1, method=DEFAULT_METHOD)


@warms("the face octree")
def _face_octree() -> None:
    functions.collide(*_balls(), method="face_octree")
    functions.collide(_balls()[0], _balls()[0], method="face_octree")  # more face pairs than the initial buffers hold
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="face_octree", clearance=0.1)


@warms("broad phases")
def _broad_phases() -> None:
    for name in BROAD_PHASES:
        world = World(ClosestFeatures(broad=f"{name}(speed=100.0)" if name == "priority_queue" else name))
        bodies = [world.add(_tetrahedron(shift)) for shift in (0.0, 0.1, 5.0)]
        world.detect(rows="pairs")
        bodies[0].pose = translation((1.0, 0.0, 0.0))
        world.detect(rows="pairs")


@warms("collision by rendering, other settings")
def _image_space_settings() -> None:
    for settings in ({"conservative": True}, {"view": "separating"}, {"share_depth": True, "accuracy": 0.1, "view": "z"}):
        _draw_and_compare(ImageSpace(**settings))


def _draw_and_compare(method: ImageSpace) -> None:
    world = World(method)
    body = world.add(_tetrahedron(), deformable=True)
    for shift in (0.1, 0.6, 2.0):
        world.add(_tetrahedron(shift))
    assert world.detect().contacts.normal.shape[1] == 3
    body.vertices = body.vertices + 0.1
    world.detect()


@warms("voxel maps of surfaces")
def _voxmap_of_surfaces() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method=Voxmap(across=8, surface_only=True))


@warms("the simulation")
def _simulation() -> None:
    from jostle.sim import Simulation

    for response in ("exchange", "impulse"):
        world = World(DEFAULT_METHOD)
        for shift in (0.0, 0.1):
            world.add(_tetrahedron(shift))
        simulation = Simulation(world, cube=None, response=response)
        simulation.step()
        simulation.centre = simulation.centre


@warms("solids that touch themselves")
def _self_touching() -> None:
    ball, _ = _balls()
    assert functions.collide(ball, ball, solid=True, method=DEFAULT_METHOD)
    block, hole = box((4.0, 4.0, 4.0)), box((2.0, 2.0, 2.0), (0.0, 0.0, 1.0))
    faces = np.vstack([block.faces, hole.faces[:, ::-1] + len(block.vertices)])
    assert functions.collide(Mesh(np.vstack([block.vertices, hole.vertices]), faces), hole, solid=True, method=DEFAULT_METHOD)


@warms("pictures")
def _picture() -> None:
    from jostle.pictures import Look, picture_of

    world = World("face_octree")
    for shift in (0.0, 0.1):
        world.add(_tetrahedron(shift))
    look = Look(width=64, height=48, contacts=True)
    picture_of(world, world.detect(), look, world.overlay("cells"), caption="a caption")


@warms("the oracle")
def _oracle() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="brute_force", clearance=0.1)
    functions.distance(_tetrahedron(), _tetrahedron(2.0), method="brute_force")


@warms("edges against faces")
def _edge_face() -> None:
    functions.collide(_tetrahedron(), _tetrahedron(0.1), method="edge_face")


@warms("many bodies")
def _many() -> None:
    world = World("face_octree")
    for shift in (0.0, 0.1, 5.0):
        world.add(_tetrahedron(shift))
    world.detect()
    assert _tetrahedron().is_convex
