"""Rays against exact arithmetic: crossings that sum to nothing on every ray, and voxels filled where the solid meets their ray.

The truth of one ray is found in fractions: the positions of all faces whose closed shadow holds it cut the ray into pieces, and
the exact winding number in the middle of each piece says whether that is inside. Lattices have the origin 0 and voxels of edge 1,
so that the kernel and the truth see the same numbers.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import jostle
from jostle.geometry.winding import crossing_winding
from jostle.kernels.arrays import read_only_view
from jostle.kernels.sort import INSERTION_SORTED
from jostle.methods.voxmap.map import Lattice, lattice_of
from jostle.methods.voxmap.ray_casting import (
    Crossings,
    Screen,
    cast_faces,
    crossings_of_faces,
    filled_between,
    no_crossings,
    other_axes,
)
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from tests.methods.voxmap.settings import random_rotation
from tests.methods.voxmap.voxel_bits import filled_voxels

TOLERANCE = 1e-9


def unit_lattice(points, spare=0):
    """The lattice of voxels of edge 1 from the origin that holds the points."""
    return Lattice(np.zeros(3), 1.0, np.maximum(np.ceil(points.max(axis=0)).astype(np.int64) + spare, 1))


def placed(mesh, size, seed=None, corner=0.0):
    """The mesh turned at random, `size` across, with its lower corner at `corner` in each coordinate."""
    points = mesh.vertices if seed is None else mesh.vertices @ random_rotation(np.random.default_rng(seed)).T
    points = points * (size / (points.max(axis=0) - points.min(axis=0)).max())
    return jostle.Mesh(points - points.min(axis=0) + corner, mesh.faces, name=mesh.name)


def cast(mesh, lattice, axis):
    return crossings_of_faces(mesh.vertices, mesh.faces, lattice, axis)


def sums_of_rays(crossings):
    rays = len(crossings.starts) - 2
    ray = np.repeat(np.arange(rays), np.diff(crossings.starts[: rays + 1]))
    return np.bincount(ray, weights=crossings.signs, minlength=rays)


def positions_in_fractions(mesh, axis, u, v):
    """Positions at which the ray meets closed faces that it crosses; for faces along the ray those of their ends."""
    a, b = other_axes(axis)
    found = set()
    for corners in mesh.vertices[mesh.faces].tolist():
        p, q, r = ((Fraction(c[a]) - u, Fraction(c[b]) - v, Fraction(c[axis])) for c in corners)
        areas = [s[0] * t[1] - s[1] * t[0] for s, t in ((q, r), (r, p), (p, q))]
        if min(areas) < 0 < max(areas):
            continue
        if sum(areas) != 0:
            found.add(sum(x * c[2] for x, c in zip(areas, (p, q, r), strict=True)) / sum(areas))
        else:
            found |= {p[2], q[2], r[2]}
    return sorted(found)


def voxels_that_must_and_may(mesh, lattice, axis, i, j):
    """Voxels of a ray that the solid meets for certain, and those that it meets or nearly meets."""
    a, b = other_axes(axis)
    must, may = set(), set()
    positions = positions_in_fractions(mesh, axis, Fraction(2 * i + 1, 2), Fraction(2 * j + 1, 2))
    last = int(lattice.cells[axis]) - 1
    for position in positions:
        may |= {min(max(int(np.floor(float(position) + d)), 0), last) for d in (-TOLERANCE, TOLERANCE)}
    for low, high in itertools.pairwise(positions):
        if float(high - low) < TOLERANCE:
            continue
        point = np.zeros(3)
        point[a], point[b], point[axis] = i + 0.5, j + 0.5, float((low + high) / 2)
        winding, on_surface = crossing_winding(np.array(point), read_only_view(mesh.vertices), read_only_view(mesh.faces))
        if winding != 0 or on_surface:
            may |= set(range(max(int(np.floor(low)), 0), min(int(np.floor(high)), last) + 1))
        if winding != 0:
            for k in range(max(int(np.floor(low)), 0), min(int(np.floor(high)), last) + 1):
                if min(float(high), k + 1) - max(float(low), k) > TOLERANCE:
                    must.add(k)
    return must, may


def check_against_fractions(mesh, lattice, axis, every=1):
    words, _ = filled_between(cast(mesh, lattice, axis), lattice, axis)
    filled = np.moveaxis(filled_voxels(words, lattice.cells), (*other_axes(axis), axis), (0, 1, 2))
    count = 0
    for number, (i, j) in enumerate(np.ndindex(filled.shape[:2])):
        if number % every:
            continue
        got = set(np.flatnonzero(filled[i, j]).tolist())
        must, may = voxels_that_must_and_may(mesh, lattice, axis, i, j)
        assert must <= got <= may, (mesh.name, axis, i, j, must - got, got - may)
        count += len(must)
    return count


def turned_over(mesh):
    return jostle.Mesh(mesh.vertices, mesh.faces[:, ::-1], name=f"inverted {mesh.name}")


def hollow():
    return joined([build.box((4.0, 4.0, 4.0)), turned_over(build.icosphere(1, 1.4))], "hollow")


def overlapping():
    return joined([build.icosphere(1), build.rings.placed(build.icosphere(1), (0.8, 0.1, 0.3))], "overlapping")


def of_both_signs():
    """Two solids that overlap with opposite signs: where they do, the winding number is 0 and nothing is filled."""
    return joined([build.box(), turned_over(build.box(centre=(0.5, 0.25, 0.125)))], "of both signs")


def needle():
    return jostle.Mesh([[0, 0, 0], [7.9, 6.1, 5.3], [7.9, 6.1, 5.4], [7.8, 6.1, 5.3]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


SOLIDS = {
    "icosphere": lambda: build.icosphere(1),
    "torus": lambda: build.torus(segments=9, sides=7),
    "stellated": build.stellated_dodecahedron,
    "inverted": lambda: turned_over(build.icosphere(1)),
    "hollow": hollow,
    "overlapping": overlapping,
    "both signs": of_both_signs,
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", SOLIDS)
def test_solids_at_random_orientations_are_filled_as_exact_arithmetic_says(name, axis):
    mesh = placed(SOLIDS[name](), 8.0, seed=axis)
    assert check_against_fractions(mesh, unit_lattice(mesh.vertices), axis, every=3) > 10


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_needles_and_steep_faces(axis):
    mesh = placed(needle(), 23.0, corner=0.0)
    check_against_fractions(mesh, unit_lattice(mesh.vertices), axis)
    # Walls that lean by far less than a voxel: nearly along the rays.
    lean = build.box((6.0, 6.0, 6.0)).vertices + 4.0
    lean = lean + 1e-7 * np.random.default_rng(axis).standard_normal(lean.shape)
    mesh = jostle.Mesh(lean, build.box().faces)
    assert check_against_fractions(mesh, unit_lattice(lean), axis) > 100


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rays_through_vertices_and_edges(axis):
    """Corners at the centres of pixels: every ray passes through vertices, along edges or along faces."""
    octahedron = jostle.Mesh(
        np.array([[5, 0, 0], [-5, 0, 0], [0, 5, 0], [0, -5, 0], [0, 0, 5], [0, 0, -5]]) + 5.5,
        [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]],
    )
    # Of the 61 rays within the diamond those along its rim belong to one side only.
    assert check_against_fractions(octahedron, unit_lattice(octahedron.vertices), axis) > 150
    stairs = np.zeros((4, 4, 4), bool)
    stairs[0], stairs[1, :3], stairs[2, :2, :2], stairs[3, 0, 0] = True, True, True, True
    mesh = build.blocks.blocks(*[np.arange(5) * 2 + 0.5] * 3, stairs, "stairs")
    assert check_against_fractions(mesh, unit_lattice(mesh.vertices), axis, every=2) > 60


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_box_on_the_lattice_fills_its_voxels_and_no_others(axis):
    mesh = build.box((3.0, 5.0, 4.0), (3.5, 4.5, 3.0))
    lattice = unit_lattice(mesh.vertices, spare=3)
    filled = filled_voxels(filled_between(cast(mesh, lattice, axis), lattice, axis)[0], lattice.cells)
    expected = np.zeros(tuple(lattice.cells), bool)
    expected[2:5, 2:7, 1:5] = True
    assert (filled == expected).all()


def nasty_meshes():
    rng = np.random.default_rng(7)
    for seed in range(2):
        yield placed(build.blob(3000, seed=seed), 40.0, seed=seed)
        mesh = placed(build.icosphere(3), 30.0, seed=seed)
        # Corners on the centres and edges of pixels, faces without area, welded only by their coordinates.
        yield jostle.Mesh(np.rint(mesh.vertices * 2) / 2, mesh.faces, name="snapped")
        corners = mesh.vertices[mesh.faces].reshape(-1, 3)
        yield jostle.Mesh(corners, np.arange(len(corners)).reshape(-1, 3), name="soup")
        flat = mesh.vertices * (1.0, 1e-13, 1.0) + rng.uniform(0.0, 1.0, 3)
        yield jostle.Mesh(flat, mesh.faces, name="flattened")
        tangled = rng.uniform(0.0, 30.0, mesh.vertices.shape)
        yield jostle.Mesh(tangled, mesh.faces, name="tangled")
        # Long edges through the centres of pixels, where slopes are not exact: the ends of an edge disagree about the pixel.
        whole = (seed % 2 + 2) * rng.integers(0, 60, mesh.vertices.shape) + 0.5
        yield jostle.Mesh(whole, mesh.faces, name="tangled on the grid")


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_signed_crossings_of_a_closed_mesh_sum_to_nothing_on_every_ray(axis):
    for mesh in nasty_meshes():
        for shift in (0.0, 0.5):
            vertices = mesh.vertices + shift
            crossings = crossings_of_faces(vertices, mesh.faces, unit_lattice(vertices), axis)
            assert len(crossings.positions) > 0 or mesh.name == "flattened"
            assert not sums_of_rays(crossings).any(), (mesh.name, shift)
            assert vertices[:, axis].min() <= crossings.positions.min(initial=np.inf)
            assert crossings.positions.max(initial=-np.inf) <= vertices[:, axis].max()


def test_an_open_mesh_leaves_sums():
    """The check above can fail."""
    mesh = placed(build.icosphere(2), 20.0)
    crossings = crossings_of_faces(mesh.vertices, mesh.faces[1:], unit_lattice(mesh.vertices), 2)
    assert sums_of_rays(crossings).any()


def test_many_crossings_on_one_ray():
    count = 3 * INSERTION_SORTED
    order = np.random.default_rng(3).permutation(count)
    mesh = joined([build.box((4.0, 4.0, 0.9), (2.0, 2.0, 2.0 * k + 0.5)) for k in order], "plates")
    lattice = unit_lattice(mesh.vertices)
    words, longest = filled_between(cast(mesh, lattice, 2), lattice, 2)
    filled = filled_voxels(words, lattice.cells)
    assert longest == pytest.approx(0.9)
    assert filled[:, :, ::2].all()
    assert not filled[:, :, 1::2].any()


def test_the_work_can_be_cut_anywhere():
    mesh = placed(build.torus(segments=9, sides=7), 9.0, seed=1)
    lattice = unit_lattice(mesh.vertices)
    whole = cast(mesh, lattice, 1)
    u, v = other_axes(1)
    points, faces = read_only_view(mesh.vertices), read_only_view(mesh.faces)
    starts = whole.starts.copy()
    starts[1:] = whole.starts[:-1]
    starts[0] = 0
    positions, signs = np.empty_like(whole.positions), np.empty_like(whole.signs)
    screen, crossings = Screen(u, v, 1, lattice.blocks[u]), Crossings(starts, positions, signs)
    face, steps = 0, 0
    while face < len(faces):
        face, used = cast_faces(points, faces, screen, face, 1, False, crossings)
        assert used >= 1
        steps += 1
    assert steps == len(faces)
    assert (starts == whole.starts).all()
    assert (positions == whole.positions).all()
    assert (signs == whole.signs).all()


@pytest.mark.small
def test_shells_that_cancel_are_empty_and_touching_ones_are_not():
    box = build.box((2.0, 2.0, 2.0), (1.5, 1.5, 1.5))
    lattice = lattice_of(box.bounds, 0.5)
    for mesh, expected in ((joined([box, turned_over(box)], "nothing"), 0.0), (joined([box, box], "twice"), 4.0)):
        _, longest = filled_between(cast(mesh, lattice, 0), lattice, 0)
        assert longest == expected


@pytest.mark.small
def test_the_longest_way_inside_and_empty_rays():
    box = build.box((2.0, 3.0, 1.0), (1.5, 2.0, 1.0))
    lattice = unit_lattice(box.vertices, spare=2)
    crossings = cast(box, lattice, 1)
    assert isinstance(crossings, Crossings)
    assert len(crossings.starts) == len(no_crossings(lattice, 1)) == 16 * 2 * 1 + 2
    words, longest = filled_between(crossings, lattice, 1)
    assert longest == 3.0
    assert int(np.bitwise_count(words).sum()) == 2 * 4 * 1
