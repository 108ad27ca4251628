"""Mesh: exact welding, closedness, components, digest, immutability, messages."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.mesh import Mesh, unit_normals

TRIANGLE = ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])
TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])

pytestmark = pytest.mark.small


def test_only_bit_equal_vertices_are_welded():
    near = np.nextafter(1.0, 2.0)
    mesh = Mesh([[1, 0, 0], [near, 0, 0], [0, 1, 0], [1, 0, 0], [1, -0.0, 0.0], [0, 0, 1]], [[0, 1, 2], [3, 4, 5]])
    assert mesh.welded.tolist() == [0, 1, 2, 0, 0, 5]
    assert mesh.welded_faces.tolist() == [[0, 1, 2], [0, 0, 5]]
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 4, 5]]  # the caller's own stay
    assert not np.signbit(mesh.vertices).any()


def test_welding_agrees_with_a_dictionary():
    points = np.random.default_rng(3).integers(0, 3, (200, 3)).astype(float)
    first = {}
    expected = [first.setdefault(tuple(point), k) for k, point in enumerate(points.tolist())]
    assert Mesh(points, [[0, 1, 2]]).welded.tolist() == expected


def test_a_mesh_of_size_1e_9_is_not_a_point():
    mesh = build.sphere(48, radius=1e-9)
    assert len(np.unique(mesh.welded)) == len(mesh.vertices)
    assert mesh.is_closed
    np.testing.assert_allclose(np.linalg.norm(mesh.face_normals, axis=1), 1.0, rtol=1e-12)


def test_closedness():
    closed = Mesh(CORNERS, TETRAHEDRON)
    assert closed.is_closed
    assert closed.volume == pytest.approx(1.0 / 6.0, rel=1e-15)
    assert not Mesh(CORNERS, TETRAHEDRON[:3]).is_closed
    turned = TETRAHEDRON.copy()
    turned[1] = turned[1, ::-1]
    assert not Mesh(CORNERS, turned).is_closed  # all edges used twice, but not in both directions
    assert Mesh(CORNERS, TETRAHEDRON[:, ::-1]).volume < 0.0


def test_closedness_of_soup_and_of_non_manifold_bodies():
    soup = Mesh(CORNERS[TETRAHEDRON].reshape(-1, 3), np.arange(12).reshape(4, 3))
    assert soup.is_closed
    # Two boxes that share an edge: four faces meet there, and still every point is in or out.
    box = build.box()
    shifted = box.vertices + np.array([1.0, 1.0, 0.0])
    pair = Mesh(np.vstack([box.vertices, shifted]), np.vstack([box.faces, box.faces + 8]))
    _, uses = np.unique(np.sort(pair.welded_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0, return_counts=True)
    assert uses.max() == 4
    assert pair.is_closed
    assert not Mesh(pair.vertices, pair.faces[:-1]).is_closed
    doubled = Mesh(CORNERS, np.vstack([TETRAHEDRON, TETRAHEDRON[:1]]))
    assert not doubled.is_closed


def test_faces_without_area_change_nothing():
    point = Mesh(CORNERS, [[1, 1, 1]])
    assert not point.is_closed
    assert len(point.edges) == 0
    assert (point.face_normals == 0.0).all()
    with_needle = Mesh(CORNERS, np.vstack([TETRAHEDRON, [[0, 1, 1]]]))
    assert with_needle.is_closed
    assert len(with_needle.edges) == 6


def test_components_are_numbered_by_first_face():
    # Faces 0 and 3 share a vertex, face 1 is alone, face 2 hangs on face 3 by a bit-equal copy of a vertex.
    points = np.arange(30, dtype=float).reshape(10, 3)
    points[9] = points[7]
    mesh = Mesh(points, [[0, 1, 2], [3, 4, 5], [6, 8, 9], [2, 7, 0]])
    assert mesh.component_of_face.tolist() == [0, 1, 0, 0]


def test_components_of_a_long_strip_and_many_pieces():
    count = 3000
    order = np.random.default_rng(5).permutation(count + 2)
    points = np.random.default_rng(6).normal(size=(count + 2, 3))
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    assert not Mesh(points, strip).component_of_face.any()
    pieces = build.mikoshi_mesh()
    sizes = np.bincount(pieces.component_of_face)
    assert sizes.tolist() == [len(part.faces) for part in build.mikoshi()]


def test_digest_follows_geometry_alone():
    mesh = Mesh(*TRIANGLE)
    assert mesh.digest == Mesh(*TRIANGLE, name="other", units="mm").digest
    assert mesh.digest != Mesh(TRIANGLE[0], [[0, 2, 1]]).digest
    moved = np.array(TRIANGLE[0])
    moved[1, 0] = np.nextafter(1.0, 2.0)
    assert mesh.digest != Mesh(moved, TRIANGLE[1]).digest
    # The border between vertices and faces is part of the digest, not only the bytes.
    assert Mesh(np.zeros((4, 3)), [[0, 0, 0]]).digest != Mesh(np.zeros((3, 3)), [[0, 0, 0]] * 3).digest


def test_a_mesh_is_immutable_and_owns_its_arrays():
    vertices, faces, source = np.array(TRIANGLE[0]), np.array(TRIANGLE[1]), np.array([7])
    mesh = Mesh(vertices, faces, source_face=source)
    vertices[0], faces[0], source[0] = 9.0, 0, 3
    assert mesh.vertices[0].tolist() == [0.0, 0.0, 0.0]
    assert mesh.faces.tolist() == [[0, 1, 2]]
    assert mesh.source_face.tolist() == [7]
    derived = (mesh.bounds, mesh.welded, mesh.welded_faces, mesh.edges, mesh.component_of_face, mesh.face_normals)
    for array in (mesh.vertices, mesh.faces, mesh.source_face, *derived, Mesh(*TRIANGLE).source_face):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    for field in ("vertices", "faces", "name", "units", "digest", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(mesh, field, None)


@pytest.mark.parametrize("copied", [lambda mesh: pickle.loads(pickle.dumps(mesh)), copy.copy, copy.deepcopy])
def test_copies_and_pickles_are_equal(copied):
    mesh = Mesh(CORNERS, TETRAHEDRON, name="pyramid", units="mm", source_face=[0, 0, 1, 2])
    assert mesh.is_closed  # something derived is kept while it is copied
    again = copied(mesh)
    assert (again.digest, again.name, again.units) == (mesh.digest, "pyramid", "mm")
    assert again.source_face.tolist() == [0, 0, 1, 2]
    assert not again.vertices.flags.writeable
    plain = copied(Mesh(CORNERS, TETRAHEDRON))
    assert plain.units is None
    assert plain.source_face.tolist() == [0, 1, 2, 3]


def test_with_vertices_and_scaled_keep_the_rest():
    mesh = Mesh(CORNERS, TETRAHEDRON, name="pyramid", units="cm", source_face=[0, 0, 1, 1])
    twice = mesh.scaled(2.0)
    assert (twice.vertices == 2.0 * CORNERS).all()
    assert (twice.name, twice.units, twice.source_face.tolist()) == ("pyramid", "cm", [0, 0, 1, 1])
    assert twice.volume == pytest.approx(8.0 * mesh.volume)
    with pytest.raises(InputError, match=r"faces\[0, 1\]"):
        mesh.with_vertices(CORNERS[:2])


def test_bounds_and_size_leave_out_vertices_that_no_face_uses():
    mesh = Mesh([[100.0, 0, 0], *TRIANGLE[0]], [[1, 2, 3]])
    assert mesh.bounds.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    assert mesh.size == pytest.approx(2.0**0.5)


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 1e30])
def test_normals_at_any_accepted_scale(scale):
    mesh = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]) * scale, [[0, 1, 2], [0, 2, 1]])
    assert mesh.face_normals.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    a = np.zeros((1, 3))
    assert (unit_normals(a, a, a) == 0.0).all()


@pytest.mark.parametrize(
    ("vertices", "faces", "more", "message"),
    [
        ([[0, 0, 0], [1, np.nan, 0], [0, 1, np.inf]], [[0, 1, 2]], {}, r"mesh 'mesh': vertices\[1, 1\] is nan"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, -np.inf]], [[0, 1, 2]], {}, r"vertices\[2, 2\] is -inf"),
        ([[0, 0, 0], [1, 0, 0], [0, 1e31, 0]], [[0, 1, 2]], {}, r"vertices\[2, 1\] is 1e\+31"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], {}, r"vertices has shape \(3, 2\)"),
        (np.empty((0, 3)), [[0, 1, 2]], {}, "vertices is empty"),
        ([["a", "b", "c"]], [[0, 0, 0]], {}, "vertices has dtype"),
        ([[0, 0, 0], [1, 0]], [[0, 0, 0]], {}, "vertices is not a regular array"),
        (TRIANGLE[0], [[0, 1, 2], [0, 1, 3]], {}, r"faces\[1, 2\] is 3; indices run from 0 to 2"),
        (TRIANGLE[0], [[0, -1, 2]], {}, r"faces\[0, 1\] is -1"),
        (TRIANGLE[0], [[0.0, 1.0, 2.0]], {}, "faces has dtype float64"),
        (TRIANGLE[0], [[0, 1, 2, 0]], {}, r"faces has shape \(1, 4\)"),
        (TRIANGLE[0], np.empty((0, 3), dtype=int), {}, "faces is empty"),
        (*TRIANGLE, {"units": "furlong"}, "units is 'furlong'.*mm"),
        (*TRIANGLE, {"source_face": [0, 1]}, r"source_face has shape \(2,\)"),
        (*TRIANGLE, {"source_face": [0.5]}, "source_face has dtype float64"),
        (*TRIANGLE, {"source_face": [-1]}, r"source_face\[0\] is -1"),
        (*TRIANGLE, {"name": "cover", "units": "x"}, "mesh 'cover'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field_and_index(vertices, faces, more, message):
    with pytest.raises(InputError, match=message):
        Mesh(vertices, faces, **more)


@pytest.mark.parametrize("units", ["m", "cm", "mm", "um", "km", "in", "ft", None])
def test_units(units):
    assert Mesh(*TRIANGLE, units=units).units == units


def test_narrow_and_unsigned_input_is_widened():
    mesh = Mesh(np.array(TRIANGLE[0], dtype=np.float32) * np.float32(0.1), np.array(TRIANGLE[1], dtype=np.uint8))
    assert mesh.vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int32
    assert mesh.vertices[1, 0] == float(np.float32(0.1))
