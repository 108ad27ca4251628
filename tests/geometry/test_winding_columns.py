"""Winding numbers of many points: columns only change how many faces are tested."""

import numpy as np
import pytest

from jostle.geometry import winding_columns
from jostle.geometry.winding import crossing_winding
from jostle.shapes import build
from tests.geometry.test_winding import box, inverted, joined, ray_winding, sphere, torus


def plain(points):
    return np.tile(points, 3)


def test_columns_give_what_all_faces_give(monkeypatch):
    rng = np.random.default_rng(3)
    long_faces = joined(box([-9, -0.1, -0.1], [9, 0.1, 0.1]), sphere(2), inverted(torus()))
    for vertices, faces in (sphere(3), torus(40, 20), long_faces, joined(*(box([k] * 3, [k + 0.5] * 3) for k in range(12)))):
        points = rng.uniform(-1.7, 1.7, (200, 3))
        points[::2] = np.where(rng.random((100, 3)) < 0.6, vertices[rng.integers(len(vertices), size=100)], points[::2])
        found, tests = winding_columns.windings(plain(points), vertices, faces)
        for point, (number, holding, _) in zip(points.tolist(), found.tolist(), strict=True):
            expected, on_surface = crossing_winding(np.array(point), vertices, faces)
            assert (holding > 0) == on_surface
            assert on_surface or number == expected
        assert tests <= len(points) * len(faces)


def test_a_point_looks_at_the_faces_of_its_column_only():
    ball = build.icosphere(5)
    points = np.random.default_rng(4).uniform(-1, 1, (1000, 3))
    _, tests = winding_columns.windings(plain(points), ball.vertices, ball.faces)
    assert len(ball.faces) == 20480
    assert tests < 40 * len(points)
    _, tests = winding_columns.windings(plain(points[:3]), ball.vertices, ball.faces)
    assert tests == 3 * len(ball.faces)  # columns do not pay for three


@pytest.mark.small
def test_a_flag_is_a_point_beside_its_corner():
    rng = np.random.default_rng(5)
    on_surface = 0
    for _ in range(40):
        corners = rng.integers(-3, 4, size=(4, 3)).astype(float)
        mesh = joined((corners, np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], np.int32)), box([-2] * 3, [1] * 3))
        for k, flag in enumerate(rng.integers(-3, 4, size=(8, 3, 3)).astype(float)):
            if k % 2:
                flag[:, rng.integers(3)] = rng.choice((-2, 1))  # in the plane of a side of the box
            if not np.cross(flag[1] - flag[0], flag[2] - flag[0]).any():
                continue
            # Near enough: coordinates are whole numbers below 4.
            point = flag[0] + (flag[1] - flag[0]) * 2.0**-12 + (flag[2] - flag[0]) * 2.0**-24
            expected = ray_winding(point, mesh)
            ((number, holding, _),) = winding_columns.windings(flag.reshape(1, 9), *mesh)[0]
            assert (holding > 0) == (expected is None)
            assert expected is None or number == expected
            on_surface += expected is None
    assert on_surface >= 5
