"""Faces that share welded vertices, also degenerate ones and those that a deformation has pulled apart."""

import numpy as np
import pytest

import jostle
from jostle.geometry.triangle_triangle import adjacent_faces_touch
from jostle.methods.plain import neighbours
from jostle.methods.plain.neighbours import touch_beyond_shared
from jostle.methods.plain.windings import certain_of
from jostle.shapes import build
from tests.methods.plain.compare import COLUMNS, same_bytes


def welded_soup(rng):
    """Faces without common vertex numbers, welded where corners stand at one place."""
    vertices = rng.integers(0, 3, (45, 3)).astype(float)
    return jostle.Mesh(vertices, np.arange(45).reshape(-1, 3))


@pytest.mark.parametrize("seed", range(12))
def test_vertices_that_are_pulled_apart_are_shared_no_more(seed):
    rng = np.random.default_rng(seed)
    mesh = welded_soup(rng)
    moved = mesh.vertices + np.where(rng.random((45, 1)) < 0.3, rng.integers(-1, 2, (45, 3)), 0)
    reports = []
    for method in ("plain", "brute_force"):
        world = jostle.World(method)
        world.add(mesh, deformable=True).vertices = moved
        reports.append(world.detect(self_collision=True, adjacent=True).contacts)
    assert len(reports[0]) > 5
    assert same_bytes(*reports, COLUMNS)


def test_planes_settle_nearly_all_neighbours_of_an_ordinary_surface(monkeypatch):
    left = []

    def watched(a, b, shared, certain):
        left.append(len(shared))
        return touch_beyond_shared(a, b, shared, certain)

    monkeypatch.setattr(neighbours, "touch_beyond_shared", watched)
    sphere = build.icosphere(3)
    assert not jostle.self_collide(sphere, adjacent=True, method="plain")
    assert sum(left) < len(sphere.faces) / 100


def soups(rng, count):
    """Meshes whose faces share corners in every way: on a grid, in one plane, on lines, welded, anywhere."""
    for k in range(count):
        grid = rng.integers(0, 3, (12, 3)).astype(float)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        lines = rng.integers(-2, 3, (12, 1)) * rng.integers(-1, 2, (1, 3)) * 0.1
        vertices = (grid, rng.normal(size=(12, 3)), grid * [1, 1, 0] @ turn, lines, grid[rng.integers(0, 12, 45)])[k % 5]
        faces = np.arange(45).reshape(-1, 3) if k % 5 == 4 else rng.integers(0, 12, (20, 3))
        yield jostle.Mesh(vertices, faces)


@pytest.mark.parametrize("deformed", [False, True])
def test_columns_give_the_kinds_of_the_kernel(deformed):
    rng = np.random.default_rng(3)
    kinds = set()
    for mesh in soups(rng, 40):
        moved = mesh.vertices + deformed * np.where(
            rng.random((len(mesh.vertices), 1)) < 0.2, rng.integers(-1, 2, mesh.vertices.shape), 0
        )
        f, g = np.triu_indices(len(mesh.faces), 1)
        welded = mesh.welded_faces
        shared = neighbours.share_vertices(welded[f].T, welded[g].T)
        f, g, points = f[shared], g[shared], np.ascontiguousarray(moved.T)
        found = neighbours.neighbours_touch(points, mesh.faces, welded, f, g, certain_of(points))
        expected = [adjacent_faces_touch(moved, mesh.faces, welded, *pair) for pair in zip(f.tolist(), g.tolist(), strict=True)]
        assert found.tolist() == expected
        kinds.update(expected)
    assert kinds == {0, jostle.Kind.TOUCHING, jostle.Kind.CROSSING}
