"""The octree update algorithm as a whole, beyond the contract of all methods: levels, filters, places, overlays, files."""

import numpy as np
import pytest

import jostle
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.geometry.pose import translation
from jostle.shapes import build
from tests.tiny import box, random_pose, tetrahedron


def rows_of(meshes, poses, method):
    world = jostle.World(method)
    for mesh, pose in zip(meshes, poses, strict=True):
        world.add(mesh, pose)
    return world.detect()


@pytest.mark.parametrize(
    "method",
    [
        jostle.OctreeUpdate(level=0),
        jostle.OctreeUpdate(level=0, body_level=0),
        jostle.OctreeUpdate(level=3, body_level=7),
        jostle.OctreeUpdate(level=9, body_level=6),
        jostle.OctreeUpdate(broad="uniform_grid"),
        jostle.OctreeUpdate(broad=UniformGrid()),
    ],
)
def test_all_levels_and_broad_phases_give_the_same_rows(method):
    rng = np.random.default_rng(0)
    meshes = [build.sphere(168), build.torus(segments=12, sides=8), build.sphere(168)]
    poses = [random_pose(rng, 0.5) for _ in meshes]
    found, truth = rows_of(meshes, poses, method), rows_of(meshes, poses, "brute_force")
    assert len(truth.contacts) > 100
    assert found.to_array().tobytes() == truth.to_array().tobytes()


def test_bodies_of_very_different_sizes_far_from_the_origin():
    rng = np.random.default_rng(1)
    floor, pebble = build.plate(8, 8, (1e4, 1e4)), build.icosphere(2, 1e-3)
    for offset in (0.0, 1e7):
        poses = [
            translation((offset, 0, 0)),
            *(translation((offset + x, x, 0.0)) @ random_pose(rng, 0.0) for x in (0.1, 0.1004, 300)),
        ]
        found, truth = (rows_of([floor, pebble, pebble, pebble], poses, method) for method in ("octree_update", "brute_force"))
        assert found.to_array().tobytes() == truth.to_array().tobytes()
        assert len(truth.pairs) >= 3


@pytest.mark.small
@pytest.mark.parametrize("wrong", [{"level": -1}, {"level": 11}, {"body_level": 2.5}, {"broad": "none such"}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(jostle.InputError, match=next(iter(wrong)).split("_")[0]):
        jostle.OctreeUpdate(**wrong)


@pytest.mark.small
def test_deformable_bodies_are_refused():
    with pytest.raises(jostle.Unsupported, match=r"rigid.*; face_octree and wide_tree take deforming bodies$"):
        jostle.World("octree_update").add(box(), deformable=True)
    for method in ("face_octree", "wide_tree"):
        jostle.World(method).add(box(), deformable=True)


def test_filters_hold_within_a_voxel():
    world, truth = jostle.World(jostle.OctreeUpdate(level=0)), jostle.World("brute_force")
    for each in (world, truth):
        for k in range(4):
            each.add(box(), translation((0.1 * k, 0.0, 0.0)))
        each.ignore(0, 2)
        each.ignore(1, 3)
    report = world.detect()
    assert list(report.pairs) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert report.to_array().tobytes() == truth.detect().to_array().tobytes()


def test_any_ends_early():
    world = jostle.World("octree_update")
    for k in range(3):
        world.add(build.sphere(528), translation((0.5 * k, 0.0, 0.0)))
    all_rows, anything = world.detect(), world.detect(rows="any")
    assert len(anything.pairs) == 1
    assert anything.counters.triangle_tests < all_rows.counters.triangle_tests / 10


def test_a_world_that_moves_on_gives_the_same_as_a_new_one():
    rng = np.random.default_rng(2)
    sphere = build.sphere(80)
    world = jostle.World("octree_update")
    for _ in range(4):
        world.add(sphere)
    for size in (1.0, 0.5, 100.0, 0.0, 1e6, 1.0):
        poses = [translation(rng.uniform(-size, size, 3)) @ random_pose(rng, 0.3) for _ in range(4)]
        world.set_poses(np.array(poses))
        found, truth = world.detect(), rows_of([sphere] * 4, poses, "brute_force")
        assert found.to_array().tobytes() == truth.to_array().tobytes()


def test_overlays_show_black_nodes_and_cells_where_the_bodies_meet():
    world = jostle.World("octree_update")
    world.add(build.sphere(168))
    world.add(build.sphere(168), translation((1.5, 0.2, 0.1)) @ random_pose(np.random.default_rng(3), 0.0))
    both, nodes, cells = (world.overlay(what) for what in ("", "nodes", "cells"))
    assert np.array_equal(both.segments, nodes.segments)
    assert np.array_equal(both.boxes, cells.boxes)
    assert len(nodes.boxes) == len(cells.segments) == 0
    lengths = np.linalg.norm(nodes.segments[:, 1] - nodes.segments[:, 0], axis=1)
    assert len(lengths) % 12 == 0
    assert np.allclose(lengths, 2.0 / 32, rtol=1e-2)
    contacts = world.detect().contacts
    assert len(contacts)
    finest = cells.boxes[np.ptp(cells.boxes, axis=1)[:, 0] < 1.01 * np.ptp(cells.boxes, axis=1).min()]
    for point in contacts.point:
        assert ((finest[:, 0] <= point + 1e-9) & (point - 1e-9 <= finest[:, 1])).all(axis=1).any()
    with pytest.raises(jostle.InputError, match="what"):
        world.overlay("faces")
    world.bodies[1].pose = translation((9.0, 0.0, 0.0))
    assert len(world.overlay().boxes) == len(world.overlay().segments) == 0


def test_prepared_octrees_are_saved_and_loaded(tmp_path):
    world = jostle.World(jostle.OctreeUpdate(level=5, body_level=3))
    world.add(tetrahedron())
    world.add(box(), random_pose(np.random.default_rng(4), 0.1))
    before = world.detect()
    world.save(tmp_path / "world.npz")
    after = jostle.World.load(tmp_path / "world.npz")
    assert after.detect().to_array().tobytes() == before.to_array().tobytes()
    assert len(before.contacts)
