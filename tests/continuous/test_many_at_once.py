"""Flat parts with hundreds of face pairs that meet at once: the first contact is found, never late, without testing all."""

import numpy as np
import pytest

import jostle
from jostle.continuous.certified.triangles import MANY
from jostle.continuous.face_pairs import first_times
from jostle.continuous.interpolate import STRAIGHT
from jostle.continuous.moving_surface import MovingSurface
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build

TOLERANCE = 1e-6


def plate(cells, size, height):
    """A flat square of triangles in the plane z = height."""
    ticks = np.linspace(-size, size, cells + 1)
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = number[:-1, :-1].ravel(), number[1:, :-1].ravel(), number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.stack([x.ravel(), y.ravel(), np.full(x.size, height)], axis=1), faces.astype(np.int32)


def landing(separation):
    """Two plates that come flat within the separation at t = 0.8, sliding on their way; every pair of faces whose boxes meet."""
    (below, faces), (above, _) = plate(12, 1.0, 0.0), plate(12, 0.93, 1.0)
    a = MovingSurface(below, below.copy(), faces, STRAIGHT)
    b = MovingSurface(above, above + np.array([0.05, 0.03, -(1.0 - separation) / 0.8]), faces, STRAIGHT)
    pairs = np.indices((len(faces), len(faces))).reshape(2, -1).astype(np.int32)
    return a, b, *pairs


def test_of_many_equal_times_one_is_told_and_it_is_not_late():
    a, b, face_a, face_b = landing(0.1)
    earliest = np.zeros(len(face_a))
    every = first_times(a, b, face_a, face_b, 0.1, tolerance=TOLERANCE).time
    assert (every < 0.8 + 1e-9).sum() > 2 * MANY
    first = first_times(a, b, face_a, face_b, 0.1, tolerance=TOLERANCE, earliest=earliest, only_first=True).time
    assert 0.8 - TOLERANCE <= first.min() <= every.min() <= 0.8
    assert first.min() < every.min()  # there were so many that some were passed over
    assert every[first.argmin()] <= every.min() + TOLERANCE
    assert np.isfinite(first).sum() < np.isfinite(every).sum()


def test_a_face_that_is_really_earlier_is_not_passed_over():
    a, b, face_a, face_b = landing(0.1)
    pulled = b.vertices_t1.copy()
    tip = 6 * 13 + 6
    pulled[tip, 2] -= 1e-5  # one vertex is early by a hundred-thousandth of the step, more than the tolerance
    b = b._replace(vertices_t1=pulled)
    order = np.argsort((b.faces[face_b] == tip).any(axis=1), kind="stable")  # its faces come last
    face_a, face_b = face_a[order], face_b[order]
    every = first_times(a, b, face_a, face_b, 0.1, tolerance=TOLERANCE).time
    first = first_times(a, b, face_a, face_b, 0.1, tolerance=TOLERANCE, earliest=np.zeros(len(face_a)), only_first=True).time
    assert every.min() < 0.8 - 5 * TOLERANCE
    assert every.min() - TOLERANCE <= first.min() <= every.min()
    assert (b.faces[face_b[first.argmin()]] == tip).any()


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_box_that_lands_flat_while_it_turns(turn):
    floor = jostle.Mesh(*plate(24, 3.0, 0.0), name="floor")
    vertices, faces = plate(20, 1.0, 0.0)
    lid = jostle.Mesh(vertices, faces, name="lid")
    world = jostle.World("bounding_tree")
    world.add(floor)
    body = world.add(lid, translation((0.0, 0.0, 1.0)))
    body.pose = translation((0.2, 0.1, -0.25)) @ rotation_about((0, 0, 1), turn)
    report = world.detect(motion=True, separation=0.5)
    assert 0.4 - TOLERANCE <= report.contacts.time[0] <= 0.4
    assert report.contacts.distance[0] == pytest.approx(0.5, abs=2 * TOLERANCE)
    assert world.safe_step(0.5) == 1.0  # the detect above was the end of that step: the body rests


def test_a_ball_on_a_floor_has_one_first_contact_whatever_else_follows():
    world = jostle.World("bounding_tree")
    world.add(jostle.Mesh(*plate(8, 3.0, 0.0)))
    ball = world.add(build.icosphere(3), translation((0.01, 0.02, 2.0)))
    ball.pose = translation((0.01, 0.02, 0.0))
    first = world.detect(motion=True)
    lowest = -float(ball.mesh.vertices[:, 2].min())
    assert first.contacts.time[0] == pytest.approx((2.0 - lowest) / 2.0, abs=1e-9)
