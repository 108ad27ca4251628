"""Winding numbers: known solids, and an exact generic ray on integer grids."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import winding
from tests.oracle import rational


def sphere(subdivisions=2, radius=1.0):
    """An octahedron, divided and pushed onto the sphere: many equal coordinates."""
    vertices = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    vertices = [np.array(v, dtype=float) for v in vertices]
    for _ in range(subdivisions):
        middle = {}
        divided = []
        for face in faces:
            mids = []
            for i, j in ((0, 1), (1, 2), (2, 0)):
                key = tuple(sorted((face[i], face[j])))
                if key not in middle:
                    middle[key] = len(vertices)
                    half = vertices[key[0]] + vertices[key[1]]
                    vertices.append(half / np.linalg.norm(half))
                mids.append(middle[key])
            a, b, c = face
            p, q, r = mids
            divided += [(a, p, r), (p, b, q), (r, q, c), (p, q, r)]
        faces = divided
    return np.array(vertices) * radius, np.array(faces, dtype=np.int32)


def torus(around=16, across=8, radius=1.0, tube=0.4):
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    turn, tilt = 2 * np.pi * u / around, 2 * np.pi * v / across
    rho = radius + tube * np.cos(tilt)
    vertices = np.stack([rho * np.cos(turn), rho * np.sin(turn), tube * np.sin(tilt)], axis=-1).reshape(-1, 3)
    corner = [((u + i) % around * across + (v + j) % across).ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = np.concatenate([np.stack([corner[0], corner[1], corner[2]], 1), np.stack([corner[0], corner[2], corner[3]], 1)])
    return vertices, faces.astype(np.int32)


def joined(*meshes):
    offsets = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([faces + offset for (_, faces), offset in zip(meshes, offsets[:-1], strict=True)]).astype(np.int32),
    )


def inverted(mesh):
    return mesh[0], np.ascontiguousarray(mesh[1][:, ::-1])


def box(lower, upper):
    vertices = np.array(list(itertools.product(*zip(lower, upper, strict=True))), dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]
    return vertices, np.array(faces, dtype=np.int32)


def crossing(point, mesh):
    number, on_surface = winding.crossing_winding(np.array(point, dtype=float), *mesh)
    return int(number), bool(on_surface)


def ray_winding(point, mesh):
    """Crossings of an exact generic ray; None for a point on the surface."""
    vertices, faces = mesh
    whole = [[Fraction(value) for value in vertex] for vertex in vertices.tolist()]
    p = [Fraction(float(value)) for value in point]
    if any(rational.point_in_closed_triangle(np.asarray(point).tolist(), vertices[face].tolist()) for face in faces):
        return None
    ray = (Fraction(100003), Fraction(-7919, 13), Fraction(31337, 7))

    def det(u, v, w):
        return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])

    total = 0
    for face in faces.tolist():
        a, b, c = ([q - r for q, r in zip(whole[k], p, strict=True)] for k in face)
        sides = (det(ray, a, b), det(ray, b, c), det(ray, c, a))
        if min(sides) > 0 or max(sides) < 0:
            # The ray's line passes through the face; along the ray where the tetrahedron (p, face) has the same sign.
            sign = 1 if sides[0] > 0 else -1
            volume = det(a, b, c)
            total += sign if volume * sign > 0 else 0
        else:
            assert min(sides) < 0 < max(sides) or all(side == 0 for side in sides), "the direction is not generic for this scene"
    return total


@pytest.mark.small
def test_solid_angles_of_known_surfaces():
    inside, outside = np.zeros((1, 3)), np.array([[3.0, 0.1, 0.2]])
    ball = sphere(1)
    assert winding.winding_number(inside, *ball) == pytest.approx(1.0)
    assert winding.winding_number(outside, *ball) == pytest.approx(0.0, abs=1e-14)
    assert winding.winding_number(inside, *inverted(ball)) == pytest.approx(-1.0)
    # Open: half a sphere seen from its centre, one octant, a large square seen from just above its middle.
    assert winding.winding_number(inside, ball[0], ball[1][: len(ball[1]) // 2]) == pytest.approx(0.5)
    octant = np.eye(3), np.array([[0, 1, 2]], dtype=np.int32)
    assert winding.winding_number(inside, *octant) == pytest.approx(1.0 / 8.0)
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    seen = winding.winding_number(np.array([[0.2, 0.1, 1e-9], [0.2, 0.1, -1e-9]]), *square)
    assert seen == pytest.approx([-0.5, 0.5], abs=1e-8)
    # A cube's face takes a sixth of the full angle from its centre, at any size.
    for size in (1e-30, 1.0, 1e30):
        vertices, faces = box([-size] * 3, [size] * 3)
        assert winding.winding_number(inside, vertices, faces[:2]) == pytest.approx(1.0 / 6.0)


@pytest.mark.small
@pytest.mark.parametrize("vertex", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.25, 0.25, 0.0)])
def test_solid_angle_is_finite_on_the_surface(vertex):
    mesh = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]], dtype=np.int32)
    assert math.isfinite(winding.winding_number(np.array([vertex]), *mesh)[0])


def test_crossings_agree_with_solid_angles():
    rng = np.random.default_rng(21)
    hollow = joined(sphere(2, 1.5), inverted(sphere(2, 0.8)))
    for mesh in (sphere(3), torus(), hollow, inverted(torus()), joined(sphere(2), torus())):
        points = rng.uniform(-1.6, 1.6, size=(150, 3))
        # Half of the points take coordinates of vertices: their rays pass through vertices and edges.
        borrowed = mesh[0][rng.integers(len(mesh[0]), size=150)]
        points = np.where(rng.random((150, 3)) < [[0.6, 0.6, 0.2]], borrowed, points)
        numbers = winding.winding_number(points, *mesh)
        seen = set()
        for point, number in zip(points, numbers, strict=True):
            counted, on_surface = crossing(point, mesh)
            if on_surface:
                assert any(rational.point_in_closed_triangle(point.tolist(), mesh[0][f].tolist()) for f in mesh[1])
            else:
                assert abs(number - counted) < 1e-9
                seen.add(counted)
        assert len(seen) >= 2


@pytest.mark.small
def test_cavities_and_inverted_solids():
    hollow = joined(box([0, 0, 0], [5, 5, 5]), inverted(box([1, 1, 1], [3, 3, 3])))
    assert crossing((2, 2, 2), hollow) == (0, False)
    assert crossing((4, 4, 4), hollow) == (1, False)
    assert crossing((6, 2, 2), hollow) == (0, False)
    assert crossing((2, 2, 2), inverted(box([0, 0, 0], [5, 5, 5]))) == (-1, False)
    assert crossing((2, 2, 2), joined(box([0, 0, 0], [5, 5, 5]), box([1, 1, 1], [3, 3, 3]))) == (2, False)


@pytest.mark.small
def test_points_of_the_surface_are_found():
    rng = np.random.default_rng(22)
    # Sums of small whole numbers over 4 are exact, so these points lie exactly on corners, edges and faces.
    mesh = joined(box([0, 0, 0], [4, 4, 8]), box([-8, -8, -8], [-4, -4, -4]))
    for face in mesh[1]:
        corners = mesh[0][face]
        for weights in ([4, 0, 0], [0, 1, 3], [2, 2, 0], [1, 2, 1]):
            point = np.array(weights) @ corners / 4
            assert crossing(point, mesh) == (0, True)
            moved = point + rng.choice([-1, 1], size=3) * 2.0**-40
            expected = ray_winding(moved, mesh)
            assert crossing(moved, mesh) == ((0, True) if expected is None else (expected, False))


@pytest.mark.small
def test_degenerate_faces_hold_their_points_and_change_no_winding():
    vertices, faces = box([0, 0, 0], [4, 4, 4])
    # A whisker of zero-area faces that runs out of the box and back, with its middle vertex, and a point-like face.
    vertices = np.concatenate([vertices, [[8.0, 6.0, 10.0], [6.0, 5.0, 7.0], [2.0, 2.0, 1.0]]])
    faces = np.concatenate([faces, [[7, 8, 9], [7, 9, 8], [10, 10, 10], [7, 8, 8]]]).astype(np.int32)
    mesh = vertices, faces
    assert crossing((5.0, 4.5, 5.5), mesh) == (0, True)  # on the whisker
    assert crossing((8.0, 6.0, 10.0), mesh) == (0, True)
    assert crossing((5.0, 4.5, 5.0), mesh) == (0, False)  # in its shadow
    assert crossing((5.0, 4.5, 6.0), mesh) == (0, False)
    assert crossing((2.0, 2.0, 1.0), mesh) == (0, True)  # on the point-like face
    assert crossing((2.0, 2.0, 0.5), mesh) == (1, False)  # under it


@pytest.mark.small
def test_integer_tetrahedra_against_an_exact_generic_ray():
    rng = np.random.default_rng(23)
    seen, on_surface = set(), 0
    for _ in range(30):
        solids = []
        for _ in range(3):
            corners = rng.integers(-3, 4, size=(4, 3)).astype(float)  # some are flat, all are closed
            solids.append((corners, np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], dtype=np.int32)))
        mesh = joined(*solids)
        for point in rng.integers(-6, 7, size=(8, 3)) / 2.0:
            expected = ray_winding(point, mesh)
            assert crossing(point, mesh) == ((0, True) if expected is None else (expected, False)), (mesh, point)
            on_surface += expected is None
            seen.add(expected)
    assert {-1, 0, 1} <= seen
    assert on_surface >= 5
