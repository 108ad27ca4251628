"""The layout of maps, surface and interior voxels and the voxels of faces, against plain arrays of Booleans."""

from __future__ import annotations

import numpy as np
import pytest

import jostle
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle_box import triangle_meets_box
from jostle.methods.voxmap.face_voxels import voxels_of_faces
from jostle.methods.voxmap.map import Lattice, lattice_of
from jostle.methods.voxmap.shape import prepare
from jostle.methods.voxmap.surface import surface_words
from jostle.methods.voxmap.voxel_size import REACH, SURFACE_GROWTH, SURFACE_REACH, voxel_edge
from jostle.shapes import build
from tests import values
from tests.methods.voxmap.settings import Settings, random_rotation
from tests.methods.voxmap.voxel_bits import filled_voxels, words_of
from tests.values import triangles, vec3s

SIZES = [(1, 1, 1), (4, 4, 4), (5, 3, 9), (13, 14, 15), (3, 21, 12)]


def lattice_with(cells):
    return Lattice(np.zeros(3), 1.0, np.array(cells, np.int64))


def random_maps(cells, seed=0):
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.2, 0.9, 0.97, 1.0):
        yield rng.uniform(size=cells) < share
    x, y, z = np.indices(cells)
    yield (x - cells[0] / 2) ** 2 + (y - cells[1] / 2) ** 2 + (z - cells[2] / 2) ** 2 < min(cells) ** 2 / 4


@pytest.mark.small
@pytest.mark.parametrize("cells", SIZES)
def test_every_voxel_has_the_bit_that_the_shape_promises(cells):
    for filled in random_maps(cells):
        words = words_of(filled)
        bx, by, bz = ((n + 3) >> 2 for n in cells)
        assert len(words) == bx * by * bz
        for x, y, z in np.ndindex(*cells):
            word = int(words[((z >> 2) * by + (y >> 2)) * bx + (x >> 2)])
            assert bool(word >> (((z & 3) << 4) | ((y & 3) << 2) | (x & 3)) & 1) == filled[x, y, z]
        assert int(np.bitwise_count(words).sum()) == filled.sum()
        assert (filled_voxels(words, np.array(cells)) == filled).all()


@pytest.mark.small
def test_a_lattice_covers_the_box_and_no_more():
    bounds = np.array([[-1.0, 2.0, 0.5], [1.0, 2.3, 0.5]])
    lattice = lattice_of(bounds, 0.1)
    assert lattice.cells.tolist() == [20, 3, 1]
    assert (lattice.origin == bounds[0]).all()
    assert lattice.blocks == (5, 1, 1)
    assert lattice.word_count == 5
    for longest in np.random.default_rng(1).uniform(1e-9, 1e9, 200):
        for across in (1, 3, 7, 64, 512, 777):
            assert lattice_of(np.array([[0.0] * 3, [longest] * 3]), longest / across).cells.tolist() == [across] * 3
    grown = lattice_of(bounds, 0.1, margin=1)
    assert grown.cells.tolist() == [22, 5, 3]
    np.testing.assert_allclose(grown.origin, bounds[0] - 0.1)


def surface_of(filled):
    """Filled voxels with an empty one among their 26 neighbours, by looking at each."""
    padded = np.pad(filled, 1)
    around = np.ones(filled.shape, bool)
    for i, j, k in np.ndindex(3, 3, 3):
        around &= padded[i : i + filled.shape[0], j : j + filled.shape[1], k : k + filled.shape[2]]
    return filled & ~around


@pytest.mark.parametrize("cells", [*SIZES, (16, 16, 12), (40, 33, 30)])
def test_surface_voxels_have_an_empty_neighbour(cells):
    for filled in random_maps(cells):
        lattice = lattice_with(cells)
        places, bits = surface_words(words_of(filled), lattice)
        words = lattice.empty()
        words[places] = bits
        assert (filled_voxels(words, lattice.cells) == surface_of(filled)).all()
        assert (np.diff(places) > 0).all()
        assert bits.all()


@pytest.mark.parametrize("growth", [0.0, SURFACE_GROWTH])
def test_voxels_of_faces_are_those_whose_grown_boxes_meet_one(growth):
    rng = np.random.default_rng(5)
    triangles = [rng.uniform(0.0, 9.0, (3, 3)) for _ in range(15)]
    triangles += [rng.uniform(0.0, 9.0, 3) + rng.uniform(-0.3, 0.3, (3, 3)) for _ in range(10)]
    triangles += [np.rint(rng.uniform(0.0, 9.0, (3, 3))) for _ in range(15)]  # on the faces, edges and corners of voxels
    triangles += [np.outer([0.0, 0.4, 1.0], rng.uniform(-6.0, 6.0, 3)) + 3.0 for _ in range(5)]  # segments
    triangles += [np.repeat(rng.uniform(0.0, 9.0, (1, 3)), 3, axis=0)]  # a point
    lattice = Lattice(np.zeros(3), 1.0, np.array([9, 9, 9]))
    loose = growth + 1e-6
    for corners in triangles:
        filled = filled_voxels(voxels_of_faces(corners, np.array([[0, 1, 2]], np.int32), lattice, growth), lattice.cells)
        for x, y, z in np.ndindex(9, 9, 9):
            low, high = np.array([x, y, z], float), np.array([x, y, z], float) + 1.0
            (face,) = values.triangles(corners)
            if triangle_meets_box(face, *values.bounds([low - growth, high + growth])):
                assert filled[x, y, z], (corners, x, y, z)
            elif filled[x, y, z]:
                assert triangle_meets_box(face, *values.bounds([low - loose, high + loose])), (corners, x, y, z)


def test_surfaces_that_share_a_point_share_a_shell_point_in_a_filled_voxel():
    """`surface_only`: nothing is missed, whatever the voxels; and a hit is never farther than the accuracy."""
    rng = np.random.default_rng(11)
    for trial in range(60):
        meshes = [jostle.Mesh(rng.uniform(-1.0, 1.0, (3, 3)), [[0, 1, 2]]) for _ in range(2)]
        common = [rng.dirichlet((1.0, 1.0, 1.0)) @ mesh.vertices for mesh in meshes]
        fine, coarse = sorted(rng.uniform(0.05, 0.6, 2))
        settings = [Settings(accuracy=size * SURFACE_REACH, surface_only=True) for size in (fine, coarse)]
        shell, filled = (prepare(mesh, each) for mesh, each in zip(meshes, settings, strict=True))
        assert filled.voxel == pytest.approx(coarse)
        rotation = random_rotation(rng)
        points = (shell.middle + shell.points - common[0]) @ rotation.T + common[1]
        grid = filled_voxels(filled.words, filled.cells)
        cells = np.floor((points - filled.origin) / filled.voxel).astype(int)
        inside = ((cells >= 0) & (cells < filled.cells)).all(axis=1)
        hits = inside.copy()
        hits[inside] = grid[tuple(cells[inside].T)]
        assert hits.any(), trial
        corners = meshes[1].vertices.ravel()
        for point in points[hits]:
            squared = closest_point_on_triangle(*vec3s(point), *triangles(corners)).squared
            assert np.sqrt(squared) < coarse * (SURFACE_REACH - SURFACE_GROWTH) + 1e-6


@pytest.mark.small
def test_the_voxel_follows_from_the_accuracy_or_from_the_voxels_across():
    mesh = build.box((3.0, 2.0, 1.0))
    assert voxel_edge(mesh, Settings(accuracy=0.1)) == pytest.approx(0.1 / REACH)
    assert voxel_edge(mesh, Settings(accuracy=0.1, surface_only=True)) == pytest.approx(0.1 / SURFACE_REACH)
    assert voxel_edge(mesh, Settings(across=30)) == pytest.approx(0.1)
    assert pytest.approx(1.5811, abs=1e-4) == REACH
    assert pytest.approx(3.4051, abs=1e-4) == SURFACE_REACH
