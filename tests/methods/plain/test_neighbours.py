"""Faces that share welded vertices, also degenerate ones and those that a deformation has pulled apart."""

import numpy as np
import pytest

import jostle
from jostle.methods.plain import neighbours
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
    interpreted = []
    monkeypatch.setattr(neighbours, "interpreted", lambda kernel: lambda *arguments: interpreted.append(arguments) or 0)
    sphere = build.icosphere(3)
    assert not jostle.self_collide(sphere, adjacent=True, method="plain")
    assert len(interpreted) < len(sphere.faces) / 100
