"""FaceOctree as a method: settings, worlds that leave the cube, threads, filters, pictures of itself."""

import dataclasses

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.methods.face_octree import method, walk
from jostle.shapes import build
from tests.tiny import random_pose, random_soup

SETTINGS = {
    "as in the paper": {"level": 6, "face_box": "clip", "broad": "brute_force"},
    "level 0": {"level": 0},
    "level 7": {"level": 7},
    "bintree": {"cells": "bintree"},
    "bintree, level 4, axes": {"cells": "bintree", "level": 4, "face_box": "axes"},
    "no boxes of bodies": {"broad": None},
    "a cube elsewhere": {"cube": ((50.0, 0.0, 0.0), 1.0), "level": 1},
    "a cube too small": {"cube": ((0.0, 0.0, 0.0), 0.1)},
    "an enormous cube": {"cube": ((0.0, 0.0, 0.0), 1e9), "level": 6},
    "two workers": {"workers": 2},
}


def rows_of(report):
    contacts = report.contacts
    return [getattr(contacts, n).tolist() for n in ("body_a", "body_b", "face_a", "face_b", "kind", "distance")]


def crowd(method, seed=0, count=6):
    rng = np.random.default_rng(seed)
    world = jostle.World(method)
    meshes = [build.torus(segments=10, sides=8), build.icosphere(1), random_soup(rng, 30)]
    for k in range(count):
        world.add(meshes[k % 3], random_pose(rng, 0.8), group=0 if k in (1, 2) else None)
    world.ignore(world.bodies[0], world.bodies[3])
    return world


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_gives_the_rows_of_the_oracle(settings):
    for query in ({}, {"clearance": 0.1}, {"solid": True}, {"rows": "first"}):
        expected = crowd("brute_force").detect(**query)
        found = crowd(jostle.FaceOctree(**settings)).detect(**query)
        if query.get("rows") == "first":
            assert list(found.pairs) == list(expected.pairs)
            continue
        assert rows_of(found) == rows_of(expected)
    assert len(expected.contacts) > 3


def test_settings_say_how_much_work_there_is():
    def work(**settings):
        world = jostle.World(jostle.FaceOctree(**settings))
        sphere = build.sphere(528)
        for k in range(4):
            world.add(sphere, translation((1.8 * k, 0.1 * k, 0.0)))
        return world.detect().counters

    auto, flat, paper, everything = work(), work(level=0), work(level=6, face_box="clip"), work(broad=None)
    assert paper.triangle_tests < flat.triangle_tests == auto.triangle_tests == everything.triangle_tests
    assert auto.box_tests < everything.box_tests < flat.box_tests


@pytest.mark.parametrize("query", [{}, {"rows": "any"}, {"rows": "first"}, {"clearance": 0.02}])
def test_answers_do_not_depend_on_the_number_of_threads(monkeypatch, query):
    monkeypatch.setattr(walk, "SOON", 500)  # so that there are subtrees, and many portions, of a scene as small as this
    monkeypatch.setattr(method, "PORTION", 64)
    spheres = build.sphere(960)
    expected = None
    for workers in (1, 2, 3, None):
        world = jostle.World(jostle.FaceOctree(), workers=workers)
        world.add(spheres)
        world.add(spheres, translation((0.7, 0.1, 0.3)))
        world.add(spheres, translation((0.1, 0.8, 0.3)))
        report = world.detect(**query)
        found = [*rows_of(report), list(report.pairs), report.counters.triangle_tests]
        expected = expected or found
        assert found == expected
    assert expected[-1] > 64
    assert len(expected[-2]) > 0


def test_deforming_bodies_are_seen_as_they_are_now():
    rng = np.random.default_rng(3)
    worlds = [jostle.World(method) for method in ("face_octree", "brute_force")]
    mesh = build.icosphere(2)
    for world in worlds:
        world.add(mesh, deformable=True)
        world.add(mesh, translation((1.5, 0, 0)), deformable=True)
        world.add(mesh, translation((0, 1.5, 0)))
    counts = []
    for _ in range(5):
        vertices = mesh.vertices * rng.uniform(0.7, 1.3, (len(mesh.vertices), 1))
        reports = []
        for world in worlds:
            world.bodies[0].vertices = vertices
            world.bodies[1].vertices = vertices[:, [1, 2, 0]]
            reports.append(world.detect())
        assert rows_of(reports[0]) == rows_of(reports[1])
        counts.append(len(reports[0].contacts))
    assert min(counts) > 0
    assert len(set(counts)) > 1


@pytest.mark.small
def test_nothing_is_precomputed_of_a_mesh():
    assert jostle.FaceOctree().prepare_shape(build.icosphere(1)) == ()


@pytest.mark.small
def test_settings_that_make_no_sense_are_refused():
    for settings, words in (
        ({"level": 11}, "level"),
        ({"level": -1}, "level"),
        ({"level": 2.5}, "level"),
        ({"level": True}, "level"),
        ({"level": "deep"}, "level"),
        ({"cells": "kd"}, "cells"),
        ({"face_box": "exact"}, "face_box"),
        ({"broad": "nothing"}, "broad phase"),
        ({"cube": (0, 0, 0)}, "cube"),
        ({"cube": ((0, 0, 0), 0.0)}, "cube"),
        ({"cube": ((0, 0, 1e300), 1.0)}, "cube"),
        ({"cube": ((0, 0, float("nan")), 1.0)}, "cube"),
        ({"workers": 0}, "workers"),
    ):
        with pytest.raises(jostle.InputError, match=words):
            jostle.FaceOctree(**settings)
    assert jostle.FaceOctree(level=np.int64(6)) == jostle.FaceOctree(level=6)
    assert dataclasses.replace(jostle.FaceOctree(cube=((0, 0, 0), 2)), level=3).cube == ((0.0, 0.0, 0.0), 2.0)


def test_it_shows_overlap_regions_cells_and_faces():
    world = jostle.World("face_octree")
    ball = build.icosphere(2)
    a = world.add(ball)
    world.add(ball, translation((1.7, 0, 0)))
    c = world.add(ball, translation((9, 0, 0)))
    regions = world.overlay("regions").boxes
    assert np.allclose(sorted(regions.tolist()), [[[0.7, -1, -1], [1, 1, 1]]] * 2, atol=0.05)
    cells = world.overlay().boxes
    assert len(cells) > 8
    assert ((cells[:, 0] < cells[:, 1]).all(axis=1)).all()
    faces = world.overlay("faces").faces
    assert set(faces) == {0, 1}
    corners = a.world_vertices[ball.faces[faces[0]]]
    assert (corners[:, :, 0].max(axis=1) >= 0.69).all()
    world.remove(c)
    world.bodies[1].pose = translation((5, 0, 0))
    assert len(world.overlay().boxes) == len(world.overlay("regions").boxes) == len(world.overlay("faces").faces) == 0
    with pytest.raises(jostle.InputError, match="what"):
        world.overlay("nodes")


@pytest.mark.parametrize("broad", ["uniform_grid", None])
def test_worlds_in_which_nothing_can_meet(broad):
    ball = build.icosphere(1)
    for places in ([], [0.0], [0.0, 10.0], [0.0, 10.0, 20.0]):
        for query in ({}, {"clearance": 0.1}, {"solid": True}, {"rows": "any"}):
            world = jostle.World(jostle.FaceOctree(broad=broad))
            for x in places:
                world.add(ball, translation((x, 0, 0)))
            assert not world.detect(**query)
            if broad is not None:  # without a stage of boxes the octree has to find that out
                assert len(world.overlay().boxes) == 0


def test_how_large_the_world_is_does_not_matter_to_a_level_that_is_found():
    work = []
    for far in (4.0, 1e5, 1e9):
        world = jostle.World("face_octree")
        sphere = build.sphere(960)
        for x in (0.0, 1.2, far):
            world.add(sphere, translation((x, 0.1, 0.2)))
        work.append(world.detect().counters.box_tests)
    assert max(work) < 1.1 * min(work)


def test_no_face_pair_is_checked_twice_and_few_at_all():
    world = jostle.World("face_octree")
    sphere = build.sphere(960)
    world.add(sphere)
    world.add(sphere, translation((1.9, 0.1, 0.05)))
    report = world.detect()
    assert 0 < len(report.contacts) <= report.counters.triangle_tests < 0.01 * 960 * 960
