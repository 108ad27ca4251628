"""Connectivity in NumPy is that of the kernel."""

import numpy as np
import pytest

from jostle.kernels.deferral import load_numba
from jostle.shapes import build
from jostle.shapes.topology import connect
from jostle.shapes.topology_columns import connect_columns

pytestmark = pytest.mark.small


def connected(kernel, faces, vertex_count):
    m = len(faces)
    arrays = [np.full(3 * m, -7, np.int32), np.full(3 * m, -7, np.int32), np.full(m, -7, np.int32), np.full(m, -7, np.int32)]
    first_faces = np.full((2, m), -7, np.int32)
    sheets, parts, closed = kernel(faces, vertex_count, *arrays, first_faces)
    return [array.tolist() for array in (*arrays, first_faces[0, :sheets], first_faces[1, :parts])], sheets, parts, bool(closed)


def assert_equal(faces, vertex_count):
    load_numba("jostle.kernels.dispatch")  # until then the kernel would be the columns themselves
    faces = np.ascontiguousarray(faces, np.int32)
    assert connected(connect_columns, faces, vertex_count) == connected(connect, faces, vertex_count)


@pytest.mark.parametrize("seed", range(60))
def test_random_faces_with_repeated_vertices_edges_and_faces(seed):
    rng = np.random.default_rng(seed)
    vertex_count = int(rng.integers(1, 30))
    faces = rng.integers(0, vertex_count, (int(rng.integers(0, 60)), 3))
    assert_equal(np.concatenate([faces, faces[: seed % 3, ::-1]]), vertex_count + seed % 2)


@pytest.mark.parametrize("mesh", [build.icosphere(3), build.box(), build.shuttle(), build.plate(6, 5)], ids=repr)
def test_surfaces_with_shuffled_faces_and_vertices(mesh):
    rng = np.random.default_rng(1)
    vertex_count = len(mesh.vertices)
    numbers, order = rng.permutation(vertex_count), rng.permutation(len(mesh.faces))
    assert_equal(mesh.welded_faces, vertex_count)
    assert_equal(numbers[mesh.faces][order], vertex_count)


def test_a_long_strip_and_many_bodies():
    k = np.arange(3000)
    assert_equal(np.stack([k, k + 1, k + 2], axis=1)[::-1], 3002)
    assert_equal(np.arange(3000).reshape(-1, 3), 3000)
    box = build.box().faces
    assert_equal(np.concatenate([box + 8 * k for k in range(50)]), 400)
