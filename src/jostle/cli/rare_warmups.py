"""Warm-ups for settings, overlays and cases beyond the defaults.

`cli/warmups.py` has the common paths, which are compiled first. Together they call every kernel that Python calls
(`tests/kernels/test_warmups.py`).
"""

from __future__ import annotations

import numpy as np

from jostle import api as functions
from jostle import haptics
from jostle.broad_phase import PriorityQueue, Volumes, VolumeTable
from jostle.broad_phase.body_volumes import MANY_BODIES
from jostle.cli.warmups import _balls, _tetrahedron
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.arrays import read_only_view
from jostle.kernels.warmup import warms
from jostle.methods.bounding_tree.method import BoundingTree
from jostle.methods.closest_features.fallback import feature_at
from jostle.methods.closest_features.method import ClosestFeatures
from jostle.methods.closest_features.pairs import feature_code, rounding_of_pair
from jostle.methods.closest_features.polyhedron import polyhedron_of
from jostle.methods.face_octree.method import FaceOctree
from jostle.methods.image_space.method import ImageSpace
from jostle.methods.separating_plane.fallback import shadow_corners
from jostle.methods.voxmap.method import Voxmap
from jostle.methods.wide_tree.method import WideTree
from jostle.registry import DEFAULT_METHOD
from jostle.shapes.build import box, icosphere
from jostle.shapes.mesh import Mesh
from jostle.world.world import World


@warms("bounding trees, other settings")
def _bounding_tree_settings() -> None:
    settings = [
        {"volume": "aabb", "splitting": "insertion", "quality": "hausdorff"},
        {"volume": "sphere", "splitting": "gottschalk", "sweep": "enclosing"},
        {"splitting": "binary_gottschalk", "quality": "volume", "mode": "pseudo_dynamic"},
        {"roots": "regula_falsi"},
    ]
    for one in settings:
        world = World(BoundingTree(**one))  # type: ignore[arg-type]
        body = world.add(_tetrahedron(), deformable=True)
        turning = world.add(_balls()[0], translation((1.5, 0.0, 0.0)))
        world.detect()
        turning.pose = turning.pose @ rotation_about((0.0, 0.0, 1.0), 0.5)
        body.vertices = body.vertices + 0.1
        world.detect(motion=True)
        for what in ("swept 0", "visited", "contacts"):
            world.overlay(what)


@warms("a step along the motion")
def _safe_step() -> None:
    wall, plate = box((0.05, 2.0, 2.0)), box((0.4, 0.3, 0.02))
    end = translation((1.5, 0.2, 0.0)) @ rotation_about((0.0, 1.0, 0.0), 2.5)
    for method in ("bounding_tree", "brute_force"):
        world = World(method)
        world.add(wall, static=True)
        flying = world.add(plate, translation((-1.5, 0.0, 0.0)))
        flying.pose = end
        world.move_to(world.safe_step(separation=0.01))


@warms("broad phases of moving bodies")
def _moving_broad_phases() -> None:
    for name in ("sweep_and_prune", "bounding_spheres", "priority_queue(speed=100.0)", "coherent_aabb", "uniform_grid"):
        world = World(ClosestFeatures(broad=name))
        bodies = [world.add(_tetrahedron(), translation((2.0 * k, 0.0, 0.0))) for k in range(6)]
        for shift in (0.0, 0.3, 0.6, 1.8):
            bodies[0].pose = translation((shift, 0.0, 0.0))
            world.detect(rows="pairs")
        world.remove(bodies[3])
        world.add(_tetrahedron())
        world.detect(rows="pairs")
    world = World(DEFAULT_METHOD)
    for k in range(MANY_BODIES):
        world.add(_tetrahedron(), translation((2.0 * k, 0.0, 0.0)))
    world.add(box((2.0, 0.1, 0.1)).moved(rotation_about((0.0, 0.6, 0.8), 0.7)))  # its world box is trimmed to a rotated one
    world.detect()
    table = VolumeTable([_tetrahedron().vertices] * 2)
    lower, upper = table.boxes(np.eye(4)[None].repeat(2, axis=0))
    finder = PriorityQueue(speed=1.0).start(2)
    for _ in range(2):
        finder.find(Volumes(lower, upper, dt=1.0))
        finder._clock = 1e9  # the clock is reset after days


@warms("many poses")
def _many_poses() -> None:
    world = World(DEFAULT_METHOD)
    for shift in (0.0, 0.1):
        world.add(_tetrahedron(shift))
    poses = np.broadcast_to(np.eye(4), (512, 2, 4, 4))
    assert world.detect_many(poses, rows="faces", workers=2).touching.all()  # on two threads, whose rows are joined
    apart = poses[:1].copy()
    apart[0, 1, 0, 3] = 5.0
    assert world.detect_many(apart, distance=True).distance > 0.0


@warms("solids inside each other")
def _inside() -> None:
    ball, small = icosphere(2), icosphere(1, 0.2)
    assert functions.collide(ball, small, solid=True, method=DEFAULT_METHOD)
    assert not functions.collide(ball, small, pose_b=translation((5.0, 0.0, 0.0)), solid=True, method=DEFAULT_METHOD)
    block = box((2.0, 2.0, 2.0))
    for other in (box((1.0, 1.0, 1.0), (0.0, 0.0, 0.5)), box((1.0, 1.0, 1.0), (0.0, 0.0, 1.5)), block):
        assert functions.collide(block, other, solid=True, method=DEFAULT_METHOD)
    open_body = Mesh([[0.0, 0.0, 1.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]], [[0, 1, 2]])
    assert functions.collide(block, open_body, solid=True, method=DEFAULT_METHOD)


@warms("distances of touching bodies")
def _touching_distance() -> None:
    assert functions.distance(_tetrahedron(), _tetrahedron(0.1), method=DEFAULT_METHOD).distance == 0.0
    assert functions.distance(*_balls(), method=DEFAULT_METHOD).distance == 0.0


@warms("trees built by surface area")
def _surface_area() -> None:
    world = World(WideTree(build="sah"))
    for mesh in _balls():
        world.add(mesh)
    world.detect()


@warms("the face octree, other settings")
def _face_octree_settings() -> None:
    for method in (
        FaceOctree(cells="bintree"),
        FaceOctree(cube=((0.0, 0.0, 0.0), 4.0)),
        FaceOctree(level=3),
        FaceOctree(workers=2),
    ):
        world = World(method)
        for mesh in (icosphere(5), icosphere(5, 1.001)):  # enough pairs to share among threads
            world.add(mesh)
        world.detect()
        world.add(_tetrahedron())
        world.detect()
        for what in ("regions", "cells", "faces"):
            world.overlay(what)


@warms("closest features without a proof")
def _unproven() -> None:
    shape, pose = polyhedron_of(_tetrahedron()), np.eye(4)
    rounding_of_pair(*map(read_only_view, (shape.sphere, pose, shape.sphere, pose)))
    feature_code(*feature_at(shape, pose, np.zeros(3)))


@warms("flat bodies between planes")
def _flat_bodies() -> None:
    shadow_corners(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.2, 0.2]]))


@warms("pictures of collision by rendering")
def _rendered_overlays() -> None:
    for settings in ({}, {"view": "separating"}, {"test": "stencil"}, {"renderer": "wgpu"}):
        world = World(ImageSpace(**settings))  # type: ignore[arg-type]
        for k, shift in enumerate((0.0, 0.1, 0.6, 0.9, 2.0)):
            world.add(_tetrahedron(shift), group=0 if k > 2 else None)
        world.add(icosphere(1), translation((1.2, 1.2, 0.0)))
        try:
            for _ in range(2):
                world.detect()
        except InputError:
            if "renderer" not in settings:
                raise
            continue  # this machine has no device: whoever has one compiles two kernels more
        for what in ("region", "depth", "stencil"):
            world.overlay(what)


@warms("voxel maps with depths")
def _voxmap_depths() -> None:
    for settings in ({"accuracy": 0.05}, {"across": 16}):
        world = World(Voxmap(**settings))
        for mesh in _balls():
            body = world.add(mesh)
        report = world.detect()
        haptics.force(report, body, stiffness=1.0, about=(0.0, 0.0, 0.0), limit=3.0)


@warms("the laboratory")
def _laboratory() -> None:
    from jostle.lab.balls import ball_in_both
    from jostle.lab.regions import regions_of

    a, b = _balls()
    contacts = functions.collide(a, b, method=DEFAULT_METHOD).contacts
    rows = np.stack([contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b], axis=1)
    regions_of(rows, [a, b])
    ball_in_both((a, np.eye(4)), (b, np.eye(4)), 0.1)


@warms("the reference of benchmarks")
def _reference() -> None:
    from jostle.bench.case import Case
    from jostle.bench.reference import exact_answer
    from jostle.bench.reference_distance import distance_of
    from jostle.bench.reference_pairs import Placed, _by_grid, touching_faces

    a, b = _balls()
    meshes = (a.vertices, a.faces), (b.vertices, b.faces)
    exact_answer(Case("", "", "faces", meshes, (0, 1), np.eye(4)[None, None].repeat(2, axis=1)), 0)
    one, other = (Placed(mesh.vertices, mesh.faces) for mesh in (_tetrahedron(), _tetrahedron(0.1)))
    assert len(touching_faces(one, other))
    _by_grid(one, other)
    assert distance_of(one, Placed(_tetrahedron(2.0).vertices, _tetrahedron().faces)) > 0.0
