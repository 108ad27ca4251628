"""Levels: one parent for every facet, all of the mesh on every level, children that lie together; and the neighbours."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from jostle.methods.monte_carlo.levels import TENS, parents_by_level, simplified
from jostle.methods.monte_carlo.neighbours import neighbours_of_faces, neighbours_of_parents
from jostle.methods.monte_carlo.shape import prepare
from jostle.shapes import build
from jostle.shapes.mesh import Mesh
from tests.methods.monte_carlo.shell_meshes import MESHES, ancestors, levels_of, mesh_of, shape_of


@pytest.mark.parametrize("name", MESHES)
def test_every_facet_has_one_parent_and_every_coarser_one_has_children(name):
    mesh, shape = mesh_of(name), shape_of(name)
    assert shape.level_first[0] == 0
    assert shape.level_first[1] == len(mesh.faces)
    np.testing.assert_array_equal(shape.corner[: len(mesh.faces)], mesh.faces)
    for level in levels_of(shape):
        begin, end = shape.level_first[level : level + 2]
        if level + 2 == len(shape.level_first):
            assert (shape.parent[begin:end] == -1).all()
        else:
            assert (shape.parent[begin:end] >= end).all()
            assert (shape.parent[begin:end] < shape.level_first[level + 2]).all()
            assert set(shape.parent[begin:end].tolist()) == set(range(end, shape.level_first[level + 2]))
    for facet in range(len(shape.parent)):
        children = shape.child[shape.child_first[facet] : shape.child_first[facet + 1]]
        assert (shape.parent[children] == facet).all()
    assert len(shape.child) == (shape.parent >= 0).sum() == len(np.unique(shape.child))


@pytest.mark.parametrize("name", ["sphere", "torus", "blob", "cloth", "box", "horseshoe", "soup", "many parts"])
def test_levels_shrink_to_tens_of_facets(name):
    shape = shape_of(name)
    sizes = np.diff(shape.level_first)
    assert len(sizes) > 1
    assert 8 <= sizes[-1] <= TENS
    assert (sizes[1:] <= 0.6 * sizes[:-1]).all()
    assert (sizes[1:] >= 0.1 * sizes[:-1]).all()


@pytest.mark.parametrize("name", ["plain box", "one triangle"])
def test_small_meshes_are_their_only_level(name):
    assert len(shape_of(name).level_first) == 2


def test_the_number_of_levels_can_be_chosen():
    mesh = mesh_of("torus")
    whole = shape_of("torus")
    for count in range(1, 8):
        shape = prepare(mesh, count)
        assert len(shape.level_first) == min(count, len(whole.level_first) - 1) + 1
        np.testing.assert_array_equal(shape.radius, whole.radius[: len(shape.radius)])


@pytest.mark.parametrize("name", ["sphere", "torus", "blob", "cloth"])
def test_children_lie_together(name):
    """What a facet stands for is about as round as a disc: its area fills a good part of the disc's."""
    mesh, shape = mesh_of(name), shape_of(name)
    p, q, r = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(q - p, r - p), axis=1)
    for level in levels_of(shape)[1:-1]:
        part = slice(*shape.level_first[level : level + 2])
        under = np.bincount(ancestors(shape, level), area, shape.level_first[level + 1])[part]
        loose = shape.radius[part] / np.sqrt(under / np.pi)
        assert np.median(loose) < 1.75
        children = np.diff(shape.child_first)[part]
        assert 3.0 <= children.mean() <= 6.0
        assert children.max() <= 16


def test_a_box_is_not_folded_over_its_edges():
    """Facets keep to one side of the box as long as they are smaller than it: discs that lie flat have no thickness."""
    shape = shape_of("box")
    flat = shape.thickness[shape.level_first[1] : shape.level_first[2]] < 1e-9
    assert flat.mean() > 0.9


def test_simplified_follows_the_record():
    """The faces that are left are those whose corners stayed apart, and a vertex is merged only along edges."""
    mesh = build.torus(segments=24, sides=12)
    coarser = simplified(mesh.vertices, mesh.faces, 144)
    assert 130 <= len(coarser.faces) <= 144
    assert len(np.unique(coarser.faces)) == len(coarser.points)
    corners = coarser.onto[mesh.faces]
    kept = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    np.testing.assert_array_equal(corners[kept], coarser.faces)
    # Each point lies near the vertices that were merged into it.
    away = np.linalg.norm(coarser.points[coarser.onto] - mesh.vertices, axis=1)
    assert away.max() < 0.5
    assert np.median(away) < 0.2


def test_points_that_do_not_fit_the_record_are_replaced_by_means(monkeypatch):
    import fast_simplification

    true = fast_simplification.simplify

    def wrong(*args, **options):
        points, faces, record = true(*args, **options)
        return np.full_like(points, np.nan), faces, record

    monkeypatch.setattr(fast_simplification, "simplify", wrong)
    mesh = build.torus(segments=24, sides=12)
    coarser = simplified(mesh.vertices, mesh.faces, 144)
    for v in range(0, len(coarser.points), 7):
        np.testing.assert_allclose(coarser.points[v], mesh.vertices[coarser.onto == v].mean(axis=0))


def test_two_threads_do_not_disturb_each_other():
    """The simplifier keeps its mesh in global variables."""
    meshes = [build.torus(segments=40, sides=20), build.blob(1500, seed=9)]
    alone = [parents_by_level(mesh) for mesh in meshes]
    together = [[], []]

    def work(k):
        for _ in range(5):
            together[k].append(parents_by_level(meshes[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        for again in together[k]:
            assert all(np.array_equal(a, b) for a, b in zip(alone[k], again, strict=True))


def test_prepare_is_the_same_each_time():
    first, second = prepare(mesh_of("blob")), prepare(Mesh(mesh_of("blob").vertices, mesh_of("blob").faces))
    for name, a, b in zip(first._fields, first, second, strict=True):
        assert np.array_equal(a, b), name


def test_progress_grows_to_one_and_can_interrupt():
    seen = []
    prepare(mesh_of("torus"), None, lambda share, what: seen.append(share))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0

    def stop(share, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(mesh_of("torus"), None, stop)


@pytest.mark.parametrize("name", ["torus", "cloth", "box", "bad faces", "many parts", "soup"])
def test_neighbours_are_the_facets_that_share_a_vertex_of_the_mesh(name):
    mesh, shape = mesh_of(name), shape_of(name)
    for level in levels_of(shape):
        facet = ancestors(shape, level)
        at_vertex = [set() for _ in mesh.vertices]
        at_edge = {}
        for face, corners in enumerate(mesh.welded_faces.tolist()):
            for v in corners:
                at_vertex[v].add(facet[face])
            for v, w in zip(corners, corners[1:] + corners[:1], strict=True):
                if v != w:
                    at_edge.setdefault((min(v, w), max(v, w)), set()).add(facet[face])
        begin, end = shape.level_first[level : level + 2]
        touching, across = ([set() for _ in range(end)] for _ in range(2))
        for group, lists in [(g, touching) for g in at_vertex] + [(g, across) for g in at_edge.values()]:
            for f in group:
                lists[f] |= group
        for f in range(begin, end):
            found = shape.neighbour[shape.neighbour_first[f] : shape.neighbour_first[f + 1]].tolist()
            many = shape.edge_neighbours[f]
            assert found[:many] == sorted(across[f] - {f})
            assert found[many:] == sorted(touching[f] - across[f] - {f})


def test_a_crowded_vertex_does_not_fill_the_memory():
    """Each of 900 faces at one vertex knows some of the others, and all are still connected."""
    count = 900
    rng = np.random.default_rng(0)
    faces = rng.permutation(np.column_stack([np.arange(count), np.roll(np.arange(count), -1), np.full(count, count)]))
    found = neighbours_of_faces(faces.astype(np.int32), count + 1)
    assert len(found.neighbour) < 40 * count
    pairs = np.column_stack([np.repeat(np.arange(count), np.diff(found.first)), found.neighbour])
    assert {(a, b) for a, b in pairs.tolist()} == {(b, a) for a, b in pairs.tolist()}
    assert (found.across_edges >= 2).all()
    coarse = neighbours_of_parents(found, (np.arange(count) // 300).astype(np.int32), 3)
    assert np.diff(coarse.first).tolist() == [2, 2, 2]
