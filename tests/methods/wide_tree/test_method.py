"""The default engine: odd meshes, deformation, many rows, interrupts, overlays."""

import subprocess
import sys

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.methods.wide_tree import method as wide
from jostle.methods.wide_tree import search
from jostle.shapes import build
from tests.tiny import box, random_pose, random_soup


def same_rows(a, b, pose_a=None, pose_b=None, **options):
    found = jostle.collide(a, b, pose_a, pose_b, method="wide_tree", **options)
    truth = jostle.collide(a, b, pose_a, pose_b, method="brute_force", **options)
    assert found.to_array().tobytes() == truth.to_array().tobytes()
    return truth


def test_bodies_of_very_different_sizes_and_places():
    floor, pebble = build.plate(8, 8, (1e4, 1e4)), build.icosphere(2, 1e-3)
    rng = np.random.default_rng(0)
    for _ in range(5):
        pose = translation((*rng.uniform(-4e3, 4e3, 2), 5e-4)) @ random_pose(rng, 0.0)
        assert same_rows(floor, pebble, pose_b=pose).touching
        assert same_rows(pebble, floor, pose_a=pose).touching
    dust, planet = build.icosphere(1, 1e-12), build.icosphere(1, 1e12)
    corner = planet.vertices[planet.faces[0]].mean(axis=0)
    same_rows(planet, dust, pose_b=translation(corner))
    same_rows(box(), build.icosphere(1), translation((1e7, 0, 0)), translation((1e7 + 0.5, 0.5, 0.5)))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 63, 64, 65, 200])
def test_meshes_of_any_number_of_faces(count):
    rng = np.random.default_rng(count)
    assert same_rows(random_soup(rng, count), random_soup(rng, 150)).touching


def test_identical_planar_and_sliver_faces():
    rng = np.random.default_rng(2)
    identical = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]] * 300)
    planar = jostle.Mesh(np.c_[rng.uniform(0, 1, (90, 2)), np.zeros(90)], np.arange(90).reshape(-1, 3))
    fan = jostle.Mesh(
        np.vstack([[[0, 0, 0]], np.c_[np.full(200, 1e3), np.linspace(0, 1, 200), np.zeros(200)]]),
        [[0, k, k + 1] for k in range(1, 200)],
    )
    point = jostle.Mesh([[0.25, 0.25, 0]], [[0, 0, 0]])
    for one in (identical, planar, fan, point):
        for other in (identical, planar, fan, point):
            same_rows(one, other)
    assert len(jostle.collide(identical, identical).contacts) == 300 * 300


def fan_of_slivers(count):
    """Slivers from an apex to a ring, all coordinates on a grid of 1/64."""
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    ring = np.round(64.0 * np.c_[np.cos(angle), np.sin(angle), np.full(count, -2.0)]) / 64.0
    return jostle.Mesh(np.vstack([[[0, 0, 0]], ring]), [[0, 1 + k, 1 + (k + 1) % count] for k in range(count)])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_slivers_that_touch_in_points_and_along_edges(offset):
    # Many slivers of a leaf straddle each other's planes: the cull by edges decides, and must not lose those that just touch.
    rng = np.random.default_rng(8)
    rows = 0
    for step in range(40):
        one, other = fan_of_slivers(int(rng.integers(20, 60))), fan_of_slivers(int(rng.integers(20, 60)))
        pose_a, pose_b = np.eye(4), translation(np.round(16.0 * rng.uniform(-1.0, 1.0, 3)) / 16.0)
        if step % 4 == 1:  # tip on tip, or tip in the other's ring
            pose_b[:3, :3] = np.diag([1.0, -1.0, -1.0])
            pose_b[:3, 3] = one.vertices[rng.integers(len(one.vertices))] if step % 8 == 1 else 0.0
        elif step % 4 == 2:
            turn = random_pose(rng, 0.3)
            pose_a, pose_b = turn, turn @ pose_b
        elif step % 4 == 3:
            other, pose_b = one, translation(one.vertices[rng.integers(len(one.vertices))])
        rows += len(same_rows(one, other, translation((offset,) * 3) @ pose_a, translation((offset,) * 3) @ pose_b).contacts)
    assert rows > 1000


def test_fans_whose_tip_is_the_middle_of_an_edge():
    # Coordinates of 40 bits and their middles are exact in float64, but not in the float32 of the culls, where tip and edge part.
    rng = np.random.default_rng(9)
    rows = 0
    for step in range(150):
        p, q = np.round(rng.uniform(-1.0, 1.0, (2, 2)) * 2.0**40) / 2.0**40
        along = q - p
        across = np.array([along[1], -along[0]])
        beyond = [across * rng.uniform(2.0, 3.0) + along * shift for shift in np.linspace(-1.5, 1.5, 8)]
        fan = np.vstack([[0.5 * (p + q)], 0.5 * (p + q) + beyond])
        edge = np.vstack([p, q, 0.5 * (p + q) - 0.5 * across])
        axes = rng.permutation(3)
        one = jostle.Mesh(np.c_[fan, np.zeros(9)][:, axes], [[0, k, k + 1] for k in range(1, 8)])
        other = jostle.Mesh(np.c_[edge, np.zeros(3)][:, axes], [[0, 1, 2]])
        rows += len((same_rows(one, other) if step % 2 else same_rows(other, one)).contacts)
    assert rows == 150 * 7


def test_a_deforming_body_equals_a_new_one_at_every_step():
    rng = np.random.default_rng(4)
    ball, other = build.icosphere(2), build.torus()
    world = jostle.World("wide_tree")
    soft = world.add(ball, deformable=True)
    world.add(other, translation((0.9, 0, 0)))
    stretched = 0
    for step in range(12):
        soft.vertices = (
            ball.vertices * rng.uniform(0.3, 2.0, 3) + rng.normal(size=3) * 0.1 * step + rng.normal(size=ball.vertices.shape) * 0.02
        )
        before = world._detector._deforming[0].tree if world._detector else None
        report = world.detect()
        truth = jostle.collide(jostle.Mesh(soft.vertices, ball.faces), other, pose_b=translation((0.9, 0, 0)), method="brute_force")
        assert report.to_array().tobytes() == truth.to_array().tobytes()
        stretched += before is not None and world._detector._deforming[0].tree.boxes is before.boxes
    assert stretched > 5  # most steps refit; a step that scrambles the vertices builds anew
    soft.vertices = rng.permutation(ball.vertices)
    old = world._detector._deforming[0].tree.face_ids
    world.detect()
    assert world._detector._deforming[0].tree.face_ids is not old


def test_hundreds_of_thousands_of_touching_pairs_come_back_whole():
    mesh = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]] * 700)
    contacts = jostle.collide(mesh, mesh).contacts
    assert len(contacts) == 490_000
    assert np.array_equal(contacts.face_a, np.repeat(np.arange(700), 700))
    assert np.array_equal(contacts.face_b, np.tile(np.arange(700), 700))


def test_ctrl_c_is_heard_during_a_long_detect():
    code = (
        "import os, signal, threading, time, jostle\n"
        "world = jostle.World()\n"
        "mesh = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]] * 30000)\n"
        "small = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])\n"
        "jostle.collide(small, small)\n"
        "world.add(mesh); world.add(mesh, name='b')\n"
        "world.prepare()\n"
        "threading.Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT))).start()\n"
        "try:\n"
        "    world.detect(); print('finished')\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
        "world.remove('b'); world.add(small, name='c')\n"
        "print(len(world.detect().contacts))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout.split() == ["heard", "30000"], result.stderr


def test_the_overlay_holds_the_faces_at_every_level():
    world = jostle.World()
    body = world.add(build.icosphere(3), random_pose(np.random.default_rng(1), 3.0))
    for level in ("", "1", "2"):
        boxes = world.overlay(level).boxes
        middles = body.world_vertices[body.mesh.faces].mean(axis=1)
        inside = ((middles[:, None] >= boxes[None, :, 0]) & (middles[:, None] <= boxes[None, :, 1])).all(axis=2)
        assert inside.any(axis=1).all()
    assert len(world.overlay("2").boxes) > len(world.overlay("0").boxes)


def test_settings_are_checked():
    with pytest.raises(jostle.InputError, match="build is 'fast'"):
        jostle.WideTree(build="fast")
    assert wide.WideTree() == jostle.WideTree(build="morton")


def test_rows_of_pairs_with_few_and_with_many_rows_are_sorted():
    lengths = [3, search.LONG_RUN + 1, 1, 50, 2 * search.LONG_RUN, search.LONG_RUN]
    rng = np.random.default_rng(1)
    pair = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keys = rng.permutation(len(pair)).astype(np.int64)
    distance = keys * 0.5
    order = np.lexsort((keys, pair))
    expected, before = keys[order], keys.copy()
    search.sort_runs(keys, pair, distance)
    long = np.repeat(np.array(lengths) > search.LONG_RUN, lengths)
    assert (keys[long] == before[long]).all()  # a shell sort of a million rows takes half a second, in which no interrupt is heard
    assert (keys[~long] == expected[~long]).all()
    search.sort_long_runs(keys, pair, distance)
    assert (keys == expected).all()
    assert (distance == keys * 0.5).all()
