"""Boxes and areas after a refit, against NumPy face by face; reused scratch."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from jostle.methods.wide_tree.build import build_and_measure, build_tree
from jostle.methods.wide_tree.refit import FLUSH, refit_tree
from jostle.methods.wide_tree.scratch import SCRATCH, Scratch
from jostle.methods.wide_tree.tree import EMPTY, LANES, OUTWARD, TINY, Tree, validate
from jostle.shapes.build import blob
from jostle.shapes.mesh import Mesh


def frame_of(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    used = vertices[np.unique(faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    centre = 0.5 * low + 0.5 * high
    radius = max((high - centre).max(), (centre - low).max())
    scale = 1.0 if radius == 0.0 else 2.0 ** -(math.floor(math.log2(radius)) + 1)
    return np.array([*centre, scale, radius * scale, np.abs([low, high]).max()])


def boxes_of(tree: Tree) -> tuple[np.ndarray, float]:
    """Return the boxes (nodes, 6, 8) rounded outward, and the area of `fit_boxes`."""
    corners = (tree.vertices[tree.faces] - tree.frame[:3]) * tree.frame[3]
    low, high = corners.min(axis=1).astype(np.float32), corners.max(axis=1).astype(np.float32)
    low, high = low - (np.abs(low) * OUTWARD + TINY), high + (np.abs(high) * OUTWARD + TINY)
    boxes = np.full((len(tree.first), 6, LANES), np.float32(EMPTY))
    boxes[:, 3:] = -np.float32(EMPTY)
    total, half_area = 0.0, 0.0
    for node in range(len(tree.first) - 1, -1, -1):
        first, count = int(tree.first[node]), int(tree.count[node])
        for lane in range(abs(count)):
            if count < 0:
                boxes[node, :3, lane], boxes[node, 3:, lane] = low[first + lane], high[first + lane]
            else:
                below = boxes[first + lane]
                boxes[node, :3, lane], boxes[node, 3:, lane] = below[:3].min(axis=1), below[3:].max(axis=1)
            dx, dy, dz = boxes[node, 3:, lane].astype(float) - boxes[node, :3, lane]
            total += dx * dy + dy * dz + dz * dx
        dx, dy, dz = boxes[node, 3:].max(axis=1).astype(float) - boxes[node, :3].min(axis=1)
        half_area = dx * dy + dy * dz + dz * dx
    return boxes, total / half_area


def check(tree: Tree, area: float, mesh: Mesh) -> None:
    validate(tree)
    np.testing.assert_array_equal(tree.frame, frame_of(tree.vertices, mesh.faces))
    boxes, expected_area = boxes_of(tree)
    np.testing.assert_array_equal(tree.boxes.reshape(-1, 6, LANES), boxes)
    assert area == pytest.approx(expected_area, rel=1e-5)


def soup(count: int, seed: int = 0) -> Mesh:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.0, 1.0, (count, 1, 3)) + rng.normal(0.0, 0.1, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


@pytest.mark.small
@pytest.mark.parametrize("faces", [1, 2, 7, 8, 9, 15, 16, 17, 64, 65, 130])
@pytest.mark.parametrize("how", ["morton", "sah"])
def test_boxes_to_the_bit(faces, how):
    mesh = soup(faces, faces)
    tree, area = build_and_measure(mesh.vertices, mesh.faces, True, how)
    check(tree, area, mesh)
    moved = np.random.default_rng(1).normal(size=mesh.vertices.shape)
    tree.boxes[:], tree.frame[:] = np.nan, np.nan
    refitted, area = refit_tree(tree, moved, True)
    assert refitted.vertices is moved
    assert refitted.boxes is tree.boxes
    check(refitted, area, mesh)


def test_boxes_to_the_bit_of_many_faces():
    mesh = blob(6000, 3)
    tree = build_tree(mesh)
    assert len(tree.first) > 10 * FLUSH
    for step in range(3):
        waves = mesh.vertices + 0.3 * np.sin(3.0 * mesh.vertices[:, [1, 2, 0]] + step)
        tree, area = refit_tree(tree, waves, mesh.uses_every_vertex)
        check(tree, area, mesh)


@pytest.mark.small
@pytest.mark.parametrize("offset", [0.0, 1e7, -1e12])
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e17])
def test_places_and_sizes(offset, scale):
    mesh = soup(20)
    whole = np.round(1000.0 * mesh.vertices)  # the smallest coordinates are whole multiples of 1e-30, or 0
    mesh = mesh.with_vertices(offset + scale * whole)
    tree = build_tree(mesh)
    tree, area = refit_tree(tree, mesh.vertices, True)
    validate(tree)
    np.testing.assert_array_equal(tree.frame, frame_of(mesh.vertices, mesh.faces))
    if (mesh.vertices == mesh.vertices[0]).all():
        assert area == 0.0  # far away from the origin nothing is left of small differences
    else:
        check(tree, area, mesh)


@pytest.mark.small
def test_vertices_that_no_face_uses_may_be_anywhere():
    mesh = soup(20)
    strays = np.array([[1e30, -1e30, 1e30], [1e30, 0.0, 1e-30], [-1e30, 1e30, 3.0]])
    for size in (1.0, 1e-30):
        sized = mesh.with_vertices(size * np.round(1000.0 * mesh.vertices))
        more = Mesh(np.vstack([strays[:1], sized.vertices, strays[1:]]), mesh.faces + 1)
        assert not more.uses_every_vertex
        (alone, area), (tree, same) = (refit_tree(build_tree(m), m.vertices, m.uses_every_vertex) for m in (sized, more))
        check(tree, same, more)
        assert area == same
        np.testing.assert_array_equal(alone.boxes, tree.boxes)
        np.testing.assert_array_equal(alone.frame, tree.frame)


@pytest.mark.small
@pytest.mark.parametrize("place", [0.0, 5.0, -1e30])
def test_all_vertices_in_one_point(place):
    mesh = soup(9)
    tree, area = refit_tree(build_tree(mesh), np.full_like(mesh.vertices, place), True)
    validate(tree)
    assert area == 0.0
    assert tree.frame.tolist() == [place, place, place, 1.0, 0.0, abs(place)]
    back, area = refit_tree(tree, mesh.vertices, True)
    check(back, area, mesh)


@pytest.mark.small
@pytest.mark.parametrize("axes", [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
def test_flat_and_straight_meshes(axes):
    mesh = soup(30)
    tree, area = refit_tree(build_tree(mesh), mesh.vertices * axes, True)
    check(tree, area, mesh)


def test_small_areas_are_not_lost_beside_large_ones():
    # Eight large faces, which come first in the sum, and many of 1e-8 of their area each: float32 could not add them.
    leaves, inner = 8**4, (8**4 - 1) // 7
    node, leaf = np.arange(inner, dtype=np.int32), np.arange(leaves, dtype=np.int32)
    first, count = np.concatenate([8 * node + 1, 8 * leaf]), np.repeat(np.array([8, -8], np.int32), [inner, leaves])
    face = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    vertices = np.tile(1e-4 * face, (8 * leaves, 1))
    vertices[-24:] = np.tile(face, (8, 1))
    faces, ids = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3), np.arange(8 * leaves, dtype=np.int32)
    tree = Tree(np.empty(48 * len(first), np.float32), first, count, faces, ids, vertices, np.empty(6))
    tree, area = refit_tree(tree, vertices, True)
    validate(tree)
    assert area == pytest.approx(boxes_of(tree)[1], rel=1e-6)


@pytest.mark.small
def test_scratch_is_used_again_and_belongs_to_its_thread():
    scratch = Scratch()
    first = scratch.array("one", 100, np.float32)
    assert np.shares_memory(first, scratch.array("one", 60, np.float32))
    assert scratch.array("one", 60, np.float32).shape == (60,)
    assert not np.shares_memory(first, scratch.array("other", 100, np.float32))
    assert scratch.array("one", 200, np.float32).shape == (200,)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(scratch.array("one", 10, np.float32)))
    thread.start()
    thread.join()
    assert not np.shares_memory(seen[0], scratch.array("one", 10, np.float32))


@pytest.mark.small
def test_trees_do_not_share_scratch_memory():
    meshes = [soup(20, 1), soup(50, 2), soup(20, 3)]
    built = [build_and_measure(mesh.vertices, mesh.faces, True, "morton") for mesh in meshes]
    for (tree, area), mesh in zip(built, meshes, strict=True):
        check(tree, area, mesh)
        for kept in SCRATCH._kept.values():
            assert not any(np.shares_memory(kept, array) for array in tree)
