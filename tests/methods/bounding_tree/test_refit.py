"""Refitted volumes hold the vertices, between instants too, and are tight."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.methods.bounding_tree.build import build
from jostle.methods.bounding_tree.refit import refit, refit_ends
from jostle.methods.bounding_tree.tree import KINDS, OBB, SPHERE, validate
from jostle.shapes.build import blob
from tests.methods.bounding_tree.sets import degenerate_meshes, holds_exactly, soup_mesh

SPLITTING = "gottschalk"


def vertices_of(tree, node):
    return tree.vertex_list[tree.vertex_start[node] : tree.vertex_start[node + 1]]


@pytest.mark.small
@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_refitted_volumes_hold_the_vertices_exactly(volume, offset):
    mesh = soup_mesh(20)
    tree = build(mesh, volume, SPLITTING)
    moved = mesh.vertices[::-1] * [3.0, 0.1, 1.0] + offset
    volumes = refit(tree, moved)
    assert volumes is not tree.volumes
    for node in range(len(volumes)):
        assert holds_exactly(int(tree.kind), volumes[node], moved[vertices_of(tree, node)])
    if tree.kind == OBB:
        np.testing.assert_array_equal(volumes[:, 6:15], tree.volumes[:, 6:15])


@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("name", degenerate_meshes())
def test_refitting_degenerate_meshes(volume, name):
    mesh = degenerate_meshes()[name]
    tree = build(mesh, volume, SPLITTING)
    moved = mesh.vertices[::-1].copy()
    validate(tree._replace(volumes=refit(tree, moved)), moved)
    flat = np.zeros_like(moved)
    validate(tree._replace(volumes=refit(tree, flat)), flat)


@pytest.mark.parametrize("volume", KINDS)
def test_refitting_where_nothing_moved_changes_little(volume):
    mesh = blob(3000)
    tree = build(mesh, volume, SPLITTING)
    out = np.full_like(tree.volumes, np.nan)
    assert refit(tree, mesh.vertices, out) is out
    validate(tree._replace(volumes=out), mesh.vertices)
    if tree.kind == SPHERE:
        ratio = out[:, 15] / tree.volumes[:, 15]
        assert ratio.min() > 1.0 - 1e-9  # those of the build are the smallest
        assert ratio.mean() < 1.1
    else:
        np.testing.assert_allclose(out[:, 3:6], tree.volumes[:, 3:6], atol=1e-12)


@pytest.mark.parametrize("volume", KINDS)
def test_refitted_volumes_are_tight(volume):
    mesh = blob(1000)
    tree = build(mesh, volume, SPLITTING)
    moved = mesh.vertices * [1.0, 2.0, 0.5] + 3.0 * np.sin(mesh.vertices[:, [1, 2, 0]])
    volumes = refit(tree, moved)
    for node in range(len(volumes)):
        offsets = moved[vertices_of(tree, node)] - volumes[node, :3]
        along = offsets @ volumes[node, 6:15].reshape(3, 3).T
        if tree.kind == SPHERE:
            assert np.linalg.norm(offsets, axis=1).max() == pytest.approx(volumes[node, 15], rel=1e-12)
        else:
            np.testing.assert_allclose(along.max(axis=0), volumes[node, 3:6], atol=1e-12)
            np.testing.assert_allclose(along.min(axis=0), -volumes[node, 3:6], atol=1e-12)


@pytest.mark.small
@pytest.mark.parametrize("volume", KINDS)
def test_between_two_ends_interpolated_volumes_hold_the_vertices(volume):
    rng = np.random.default_rng(0)
    mesh = soup_mesh(20)
    tree = build(mesh, volume, SPLITTING)
    start = mesh.vertices + rng.normal(0.0, 0.3, mesh.vertices.shape)
    end = mesh.vertices * 2.0 + rng.normal(0.0, 0.3, mesh.vertices.shape)
    one, other = refit_ends(tree, start, end)
    np.testing.assert_array_equal(one[:, 6:15], other[:, 6:15])
    for node in range(len(one)):
        listed = vertices_of(tree, node)
        for t in (0.0, 0.25, 0.5, 1.0):
            between = (1.0 - t) * one[node] + t * other[node]
            between[6:15] = one[node, 6:15]
            assert holds_exactly(int(tree.kind), between, (1.0 - t) * start[listed] + t * end[listed])
