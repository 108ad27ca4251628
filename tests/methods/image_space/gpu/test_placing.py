"""The float32 maps place vertices where the views do, and every patch that is left out has nothing in its piece."""

import numpy as np
import pytest

from jostle.methods.image_space.gpu.meshes import GRID_BITS, meshes_of, move_points
from jostle.methods.image_space.gpu.pieces import pieces_of
from jostle.methods.image_space.gpu.placing import DEPTH_MARGIN
from jostle.methods.image_space.gpu.renderer import WgpuRenderer
from jostle.methods.image_space.shape import prepare
from jostle.shapes import build
from jostle.shapes.mesh import Mesh
from tests.methods.image_space.gpu.pixel_truth import random_pose, views_along_z


def placed(bodies, poses, size, most_slots=1 << 24, slots=0):
    renderer = WgpuRenderer(None)
    renderer.change(tuple(prepare(mesh) for mesh in bodies))
    views = views_along_z(bodies, poses, [(0, 1)], [size])
    parts = pieces_of(np.zeros(1, np.int32), views.size, np.full(1, slots, np.int32), most_slots)
    shape_a, shape_b = renderer._meshes.shape_of_body[views.body_a], renderer._meshes.shape_of_body[views.body_b]
    return renderer._meshes, views, renderer._place(parts, views, shape_a, shape_b)


def in_float32(meshes, words, shape, role):
    """What the vertex shader computes: piece x, y and depth of the points of a shape."""
    points = meshes.points[meshes.first_point[shape] : meshes.first_point[shape + 1]]
    part = words[16 * role : 16 * role + 16]
    steps = (points - part[12:15]).astype(np.float32)
    rows = part[:12].view(np.float32).reshape(3, 4)
    return sum(rows[None, :, k] * steps[:, k : k + 1] for k in range(3)) + rows[:, 3]


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_maps_keep_the_precision_of_what_is_seen(offset):
    rng = np.random.default_rng(8)
    for _ in range(10):
        poses = [random_pose(rng, offset + rng.uniform(-0.4, 0.4, 3)) for _ in range(2)]
        bodies = [build.icosphere(3), build.torus()]
        meshes, views, made = placed(bodies, poses, 64)
        assert len(made.pieces.view) == 1
        for role, mesh in enumerate(bodies):
            matrix = views.to_tile[0, role].reshape(3, 4)
            points = prepare(mesh).points
            exact = points @ matrix[:, :3].T + matrix[:, 3]
            found = in_float32(meshes, made.words[0], role, role)
            near = np.abs(exact[:, :2] - 32).max(axis=1) < 64
            assert np.abs(found[near, :2] - exact[near, :2]).max() < 200 * 2.0**-22
            middle, scale = made.depth[0]
            depth = (found[:, 2].astype(np.float64) - 0.5) / scale + middle
            assert np.abs(depth - exact[:, 2])[near].max() < 4 * 2.0**-22
            drawn = np.abs(found[:, 2] - 0.5) <= 0.5 - DEPTH_MARGIN / 2
            assert drawn[near].all()


def test_left_out_patches_have_no_vertex_in_the_piece_and_drawn_ones_are_numbered_rightly():
    rng = np.random.default_rng(9)
    bodies = [build.sphere(5000), build.blob(3000)]
    for cut_to in (1 << 24, 2 * 8 * 300):
        poses = [np.eye(4), random_pose(rng, (1.2, 0.9, 0.3))]
        meshes, views, made = placed(bodies, poses, 40, cut_to, slots=8)
        assert 0 < len(made.instances) < meshes.first_patch[-1] * len(made.pieces.view)
        for k in range(len(made.pieces.view)):
            mine = made.instances[made.first_instance[k] : made.first_instance[k + 1]]
            assert (mine[:, 1] >> 1 == k).all()
            left, top = made.pieces.left[k], made.pieces.top[k]
            right, bottom = left + made.pieces.width[k], top + made.pieces.height[k]
            for role, mesh in enumerate(bodies):
                matrix, shape = views.to_tile[0, role].reshape(3, 4), prepare(mesh)
                at = shape.points @ matrix[:, :3].T + matrix[:, 3]
                inside = (at[:, 0] > left) & (at[:, 0] < right) & (at[:, 1] > top) & (at[:, 1] < bottom)
                patch = np.searchsorted(shape.first_point, np.flatnonzero(inside), side="right") - 1
                drawn = mine[mine[:, 1] & 1 == role, 0] - meshes.first_patch[role]
                assert set(patch) <= set(drawn)


def test_pieces_that_are_apart_in_depth_are_not_drawn():
    above = np.eye(4)
    above[2, 3] = 1.0 - 1e-9
    box = build.box()
    touching = placed([box, box], [np.eye(4), above], 8)
    assert len(touching[2].pieces.view) == 1
    renderer = WgpuRenderer(None)
    renderer.change((prepare(box),) * 2)
    views = touching[1]._replace(to_tile=touching[1].to_tile + np.array([[0.0] * 12, [*[0.0] * 11, 0.1]]))
    shapes = np.zeros(1, np.int32)
    parts = pieces_of(np.zeros(1, np.int32), views.size, np.zeros(1, np.int32), 1)
    assert len(renderer._place(parts, views, shapes, shapes).pieces.view) == 0


@pytest.mark.small
def test_meshes_are_held_once_for_all_bodies_that_share_them():
    ball, box = prepare(build.icosphere(1)), prepare(build.box())
    meshes = meshes_of((ball, box, ball, ball))
    assert meshes.shape_of_body.tolist() == [0, 1, 0, 0]
    assert len(meshes.points) == len(ball.points) + len(box.points)
    assert np.abs(meshes.points).max() <= 2**GRID_BITS
    assert np.abs(meshes.points).max(axis=None) > 2 ** (GRID_BITS - 1) - 1
    for k, shape in enumerate((ball, box)):
        points = meshes.points[meshes.first_point[k] : meshes.first_point[k + 1]] * meshes.grid[k, 3] + meshes.grid[k, :3]
        assert np.abs(points - shape.points).max() <= meshes.grid[k, 3]
    faces = np.stack([meshes.corners & 255, meshes.corners >> 8 & 255, meshes.corners >> 16], axis=1)
    np.testing.assert_array_equal(faces, np.concatenate([ball.corners, box.corners]))


@pytest.mark.small
def test_points_move_in_place_onto_a_grid_of_their_own():
    box = build.box()
    meshes = meshes_of((prepare(box), prepare(Mesh(box.vertices, box.faces))))
    moved = prepare(Mesh(box.vertices * 1000 + 5, box.faces))
    first, last = move_points(meshes, 1, moved)
    points = meshes.points[first:last] * meshes.grid[1, 3] + meshes.grid[1, :3]
    assert np.abs(points - moved.points).max() <= meshes.grid[1, 3]


@pytest.mark.small
def test_no_meshes_and_a_mesh_that_is_a_point():
    assert len(meshes_of(()).points) == 0
    point = Mesh(np.ones((3, 3)), [[0, 1, 2]])
    meshes = meshes_of((prepare(point),))
    assert (meshes.points == 0).all()
