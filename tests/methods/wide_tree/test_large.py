"""Large meshes and large answers."""

from __future__ import annotations

import numpy as np

import jostle
from jostle.geometry.pose import translation
from jostle.methods.wide_tree.build import build_tree


def height_field(cells: int) -> jostle.Mesh:
    """A flat square of 2 · cells² faces at height 0, over -1 … 1."""
    line = np.linspace(-1.0, 1.0, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    vertices = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).reshape(-1)
    lower = np.stack([corner, corner + cells + 1, corner + cells + 2], axis=1)
    upper = np.stack([corner, corner + cells + 2, corner + 1], axis=1)
    return jostle.Mesh(vertices, np.concatenate([lower, upper]))


def test_two_million_faces_against_a_needle():
    field = height_field(1000)
    assert len(field.faces) == 2_000_000
    # A needle that stands upright inside one face, at the centre of a lower triangle.
    row, column = 123, 777
    face = row * 1000 + column
    centre = field.vertices[field.faces[face]].mean(axis=0)
    needle = jostle.Mesh([[0, 0, -1], [1e-5, 0, 1], [0, 1e-5, 1]], [[0, 1, 2]])
    world = jostle.World()
    world.add(field)
    stick = world.add(needle, translation(centre))
    contacts = world.detect().contacts
    assert contacts.face_a.tolist() == [face]
    assert contacts.kind.tolist() == [jostle.Kind.CROSSING]
    stick.pose = translation(centre + np.array([0, 0, 1.5]))
    assert not world.detect().touching
    assert abs(world.distance(0, 1).distance - 0.5) < 1e-12


def test_two_million_touching_pairs_come_back_whole():
    # Each of 1,450 upright triangles crosses each of as many that lie across them.
    count = 1450
    at = np.linspace(-1.0, 1.0, count)
    across = np.stack(
        [np.c_[at, -2 + 0 * at, -2 + 0 * at], np.c_[at, 2 + 0 * at, -2 + 0 * at], np.c_[at, 0 * at, 2 + 0 * at]], axis=1
    )
    faces = np.arange(3 * count).reshape(-1, 3)
    a = jostle.Mesh(across.reshape(-1, 3), faces)
    b = jostle.Mesh((0.25 * across[:, :, [1, 0, 2]]).reshape(-1, 3) * [8.0, 0.5, 1.0], faces)
    contacts = jostle.collide(a, b).contacts
    assert len(contacts) == count * count
    assert np.array_equal(contacts.face_a, np.repeat(np.arange(count), count))
    assert np.array_equal(contacts.face_b, np.tile(np.arange(count), count))


def test_a_prepared_mesh_of_70_000_faces_needs_less_than_12_megabytes_beyond_its_arrays():
    mesh = height_field(188)
    assert len(mesh.faces) >= 70_000
    tree = build_tree(mesh, "morton")
    own = [array for array in tree if not np.shares_memory(array, mesh.vertices)]
    assert sum(array.nbytes for array in own) < 12e6
