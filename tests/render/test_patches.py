"""Patches hold every face once, with exact copies of its corners, and their boxes hold their points."""

import numpy as np
import pytest

from jostle.render.patches import FACES_IN_PATCH, patch_arrays, patches_of
from jostle.shapes import build
from tests.render.depth_truth import bodies


def patch_of_face(patches):
    return np.repeat(np.arange(len(patches.centre)), np.diff(patches.first_face))


@pytest.mark.small
@pytest.mark.parametrize("name", bodies())
def test_every_face_is_there_once_with_its_own_corners(name):
    mesh = bodies()[name]
    patches = patches_of(mesh.vertices, mesh.faces)
    assert sorted(patches.face_of) == list(range(len(mesh.faces)))
    whole = patches.corners + patches.first_point[patch_of_face(patches)][:, None]
    assert np.array_equal(patches.vertex_of[whole], mesh.faces[patches.face_of])
    assert np.array_equal(patches.points, mesh.vertices[patches.vertex_of])
    assert len(patches.centre) == -(-len(mesh.faces) // FACES_IN_PATCH)
    assert set(np.diff(patches.first_face)[:-1]) <= {FACES_IN_PATCH}
    for k in range(len(patches.centre)):
        own = patches.vertex_of[patches.first_point[k] : patches.first_point[k + 1]]
        assert len(set(own)) == len(own) > 0


@pytest.mark.small
@pytest.mark.parametrize("shift", [0.0, 1e7, -3e-20])
def test_boxes_hold_their_points_and_fit_closely(shift):
    mesh = bodies()["torus of 576 faces"]
    patches = patches_of(mesh.vertices * np.pi + shift, mesh.faces)
    for k in range(len(patches.centre)):
        points = patches.points[patches.first_point[k] : patches.first_point[k + 1]]
        # In exact arithmetic: float64 differences might hide that a point sticks out.
        for axis in range(3):
            centre, half = float(patches.centre[k, axis]).as_integer_ratio(), float(patches.half[k, axis]).as_integer_ratio()
            for x in points[:, axis]:
                p, q = float(x).as_integer_ratio()
                assert abs(p * centre[1] - centre[0] * q) * half[1] <= half[0] * q * centre[1]
    lower = np.minimum.reduceat(patches.points, patches.first_point[:-1])
    upper = np.maximum.reduceat(patches.points, patches.first_point[:-1])
    assert np.allclose(2 * patches.half, upper - lower, atol=1e-15 + 4e-16 * abs(shift))


@pytest.mark.small
def test_neighbours_come_together():
    mesh = build.icosphere(4)
    patches = patches_of(mesh.vertices, mesh.faces)
    # 5120 faces in 80 patches: a compact one of 1/80 of the sphere has a diagonal near 0.6.
    assert np.median(2 * np.linalg.norm(patches.half, axis=1)) < 0.9
    assert len(patches.points) < 1.1 * len(mesh.faces)


@pytest.mark.small
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_any_number_of_faces(count):
    vertices = np.random.default_rng(count).normal(size=(9, 3))
    faces = np.random.default_rng(count).integers(0, 9, (count, 3)).astype(np.int32)  # also faces with a vertex twice
    patches = patches_of(vertices, faces)
    assert len(patches.centre) == (count + 63) // 64 == len(patches.first_face) - 1 == len(patches.first_point) - 1
    assert patches.first_point[-1] == len(patches.points)
    assert patches.first_face[-1] == len(patches.corners) == count
    arrays = patch_arrays(patches)
    assert [array.dtype.kind for array in arrays] == ["f", "i", "i", "i", "f", "f"]
    assert all(array.flags.c_contiguous and not array.flags.writeable for array in arrays)


@pytest.mark.small
def test_all_faces_in_one_place_and_a_very_large_mesh():
    flat = patches_of(np.ones((3, 3)), np.array([[0, 1, 2]] * 70, np.int32))
    assert flat.face_of.tolist() == list(range(70))
    assert (flat.centre == 1.0).all()
    assert (flat.half > 0.0).all()
    large = patches_of(np.array([[-1e30, 0, 0], [1e30, 0, 0], [0, 1e30, 1e-30]]), np.array([[0, 1, 2]], np.int32))
    assert np.isfinite(large.centre).all()
    assert np.isfinite(large.half).all()
