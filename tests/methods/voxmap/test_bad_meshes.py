"""Meshes that cannot be voxelised, and settings that ask for too much: each a named error, or the documented result."""

from __future__ import annotations

import re

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.methods.voxmap.memory import check_memory, check_size, needed_bytes, surface_area
from jostle.methods.voxmap.shape import prepare
from jostle.methods.voxmap.voxel_size import REACH, voxel_edge
from jostle.shapes import build
from jostle.shapes.build.rings import joined, placed
from tests.methods.voxmap.settings import Settings, random_rotation
from tests.methods.voxmap.voxel_bits import filled_voxels


def test_an_open_mesh_is_refused_with_the_edge_at_which_it_leaks():
    box = build.box()
    lid = jostle.Mesh(box.vertices, box.faces[1:], name="lid")
    with pytest.raises(
        InputError, match=r"mesh 'lid' is open.*leaks at the edge from vertex \d+ at .* and 2 other edges.*surface_only=True"
    ) as error:
        prepare(lid, Settings())
    low, high = map(int, re.findall(r"vertex (\d+)", str(error.value)))
    # The edge is one of the missing face, and its coordinates are given.
    assert {low, high} <= set(box.faces[0].tolist())
    assert f"({', '.join(f'{x:g}' for x in box.vertices[low])})" in str(error.value)
    for method in ("voxmap", "closest_features"):  # a world refuses it before anything is prepared, and says as much
        with pytest.raises(
            jostle.Unsupported, match=rf"body 'lid' is open; .*vertex {low} at .* vertex {high} at .* and 2 other edges"
        ):
            jostle.World(method).add(lid)
    shape = prepare(lid, Settings(surface_only=True))
    assert len(shape.points) > 0
    assert len(shape.deep) == 0


@pytest.mark.small
def test_faces_without_area_are_open():
    line = jostle.Mesh([[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 1, 1]], name="points")
    with pytest.raises(InputError, match=r"mesh 'points': no face has an area"):
        prepare(line, Settings())


@pytest.mark.small
def test_leaks_that_cancel_in_number_are_leaks():
    """Going around the square, the numbers of the corners rise and fall as often."""
    square = jostle.Mesh([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], [[0, 2, 1], [0, 1, 3]], name="square")
    with pytest.raises(InputError, match=r"mesh 'square' is open.* and 3 other edges"):
        prepare(square, Settings())


def test_an_inverted_mesh_has_the_same_map():
    mesh = build.stellated_dodecahedron()
    inverted = jostle.Mesh(mesh.vertices, mesh.faces[:, ::-1])
    one, other = prepare(mesh, Settings(across=20)), prepare(inverted, Settings(across=20))
    for field in ("words", "points", "deep", "normals"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), atol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_a_mesh_without_volume_is_refused(axis):
    sheet = build.plate(4, 4)
    both_sides = joined([sheet, jostle.Mesh(sheet.vertices, sheet.faces[:, ::-1])], "sheet")
    tilted = jostle.Mesh(both_sides.vertices @ random_rotation(np.random.default_rng(1)).T, both_sides.faces, name="sheet")
    for mesh in (both_sides, tilted):
        assert mesh.is_closed
        with pytest.raises(InputError, match=r"mesh 'sheet' has no inside: its volume is .* thickness .* surface_only=True"):
            prepare(mesh, Settings(axis=axis))
    assert len(prepare(tilted, Settings(surface_only=True)).points) > 0


def test_a_plate_thinner_than_a_voxel_is_filled_where_rays_meet_it_and_refused_where_none_does():
    plate = jostle.Mesh(build.box((1.0, 1.0, 0.01)).vertices, build.box().faces, name="plate")
    shape = prepare(plate, Settings(across=16))  # rays along z, across the plate
    assert filled_voxels(shape.words, shape.cells).all()
    assert shape.cells.tolist() == [16, 16, 1]
    with pytest.raises(
        InputError, match=r"mesh 'plate' is thinner than a voxel: its mean thickness is 0\.0\d+, .*axis 0.*accuracy.*another axis"
    ):
        prepare(plate, Settings(across=16, axis=0))
    thickness = 2.0 * plate.volume / surface_area(plate)
    with pytest.raises(InputError, match=re.escape(f"{thickness:.4g}")) as error:
        prepare(plate, Settings(across=16, axis=1))
    # The accuracy that the error names works.
    finer = float(re.search(r"such as ([\d.e-]+)\)", str(error.value)).group(1))
    assert prepare(plate, Settings(accuracy=finer, axis=1)).words.any()


def test_a_map_that_does_not_fit_is_refused_with_what_would():
    mesh = jostle.Mesh(build.box((2.0, 1.0, 1.0)).vertices, build.box().faces, name="large")
    settings = Settings(accuracy=1e-4, memory=2**20)
    with pytest.raises(
        InputError, match=r"mesh 'large'.*takes \d+ bytes.*memory is 1048576 bytes.*accuracy=.*across=\d+.*fits"
    ) as error:
        prepare(mesh, settings)
    takes = float(re.search(r"takes (\d+) bytes", str(error.value)).group(1))
    voxel = voxel_edge(mesh, settings)
    assert takes == pytest.approx(2.0 / voxel**3 / 8.0, rel=0.01)
    accuracy = float(re.search(r"accuracy=([\d.e-]+)", str(error.value)).group(1))
    across = int(re.search(r"across=(\d+)", str(error.value)).group(1))
    for fitting in (Settings(accuracy=accuracy, memory=2**20), Settings(across=across, memory=2**20)):
        shape = prepare(mesh, fitting)
        assert shape.words.nbytes < 2**20
    # It is not far from the finest that fits.
    for greedy in (Settings(accuracy=accuracy * 0.97, memory=2**20), Settings(across=across + 2, memory=2**20)):
        with pytest.raises(InputError, match="fits"):
            prepare(mesh, greedy)
    with pytest.raises(InputError, match=r"e\+\d+ bytes.*accuracy="):
        prepare(mesh, Settings(accuracy=1e-25))
    with pytest.raises(InputError, match=r"takes inf bytes.*accuracy=.*fits"):
        prepare(mesh, Settings(accuracy=1e-300))
    with pytest.raises(InputError, match="too little for any map"):
        prepare(mesh, Settings(memory=1))


@pytest.mark.small
@pytest.mark.parametrize("surface_only", [False, True])
def test_what_an_error_says_would_fit_is_accepted(surface_only):
    """However much memory there is, a map has at most 2048 voxels along an edge; and what is printed is not rounded down."""
    for k in range(20):
        plate = build.box((1.0 + 0.0371 * k, 0.2, 0.01))
        for memory in (2**22, 2**50):
            with pytest.raises(InputError) as error:
                check_memory(plate, jostle.Voxmap(accuracy=1e-9, memory=memory, surface_only=surface_only))
            accuracy, across = re.search(r"accuracy=(\S+) \(or across=(\d+)\) fits", str(error.value)).groups()
            for fitting in ({"accuracy": float(accuracy)}, {"across": int(across)}):
                method = jostle.Voxmap(**fitting, memory=memory, surface_only=surface_only)
                check_memory(plate, method)
                check_size(plate, method)
        with pytest.raises(InputError) as error:
            check_size(plate, jostle.Voxmap(accuracy=1e-4, surface_only=surface_only))
        accuracy = re.search(r"accuracy=(\S+) or coarser", str(error.value)).group(1)
        check_size(plate, jostle.Voxmap(accuracy=float(accuracy), surface_only=surface_only))


def test_faces_that_are_there_twice_and_vertices_without_faces_change_nothing():
    mesh = build.icosphere(2)
    plain = prepare(mesh, Settings(across=20))
    there_and_back = np.vstack([mesh.faces, mesh.faces[:1], mesh.faces[:1, ::-1]])
    for other in (
        jostle.Mesh(mesh.vertices, np.vstack([mesh.faces, mesh.faces])),
        jostle.Mesh(mesh.vertices, there_and_back),
        jostle.Mesh(np.vstack([mesh.vertices, [[1e6, 0.0, 0.0]]]), mesh.faces),
    ):
        made = prepare(other, Settings(across=20))
        for field in ("words", "points", "deep"):
            assert np.array_equal(getattr(made, field), getattr(plain, field))
        assert made.radius == pytest.approx(plain.radius)


@pytest.mark.parametrize("shift", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0)])
def test_boxes_that_share_a_face_an_edge_or_a_corner_on_the_lattice(shift):
    """Edges with four faces, and faces in the faces of voxels: no layer too many, none too few."""
    both = joined([build.box(), placed(build.box(), shift)], "both")
    shape = prepare(both, Settings(across=16))
    assert shape.cells.tolist() == [8 + 8 * int(s) for s in shift]
    filled = filled_voxels(shape.words, shape.cells)
    expected = np.zeros_like(filled)
    expected[:8, :8, :8] = expected[-8:, -8:, -8:] = True
    assert np.array_equal(filled, expected)
    assert len(shape.deep) == (1 if shift == (1.0, 0.0, 0.0) else 2)


@pytest.mark.small
def test_the_estimate_counts_map_shell_and_band():
    extent = np.array([1.0, 1.0, 1.0])
    map_bytes, bare = needed_bytes(extent, 6.0, 1.0 / 256, False, False)
    assert map_bytes == 256**3 / 8
    assert bare > map_bytes * (1.0 + 8**0.5)
    assert needed_bytes(extent, 600.0, 1.0 / 256, True, False)[1] > needed_bytes(extent, 600.0, 1.0 / 256, False, False)[1]


@pytest.mark.parametrize("depth", [False, True])
def test_the_estimate_is_not_below_what_is_kept(depth):
    for mesh, across in ((build.icosphere(3), 64), (build.stellated_dodecahedron(), 50), (build.torus(), 100)):
        shape = prepare(mesh, Settings(across=across, depth=depth))
        kept = sum(getattr(shape, name).nbytes for name in ("words", "points", "normals", "band_first", "band_values"))
        lower, upper = mesh.bounds
        _, estimate = needed_bytes(upper - lower, surface_area(mesh), shape.voxel, depth, False)
        assert kept < estimate < 12 * kept


@pytest.mark.small
def test_all_vertices_in_one_point():
    with pytest.raises(InputError, match="all vertices are one point"):
        prepare(jostle.Mesh([[1, 2, 3]] * 3, [[0, 1, 2]]), Settings())


def test_the_map_has_one_bit_for_each_voxel():
    shape = prepare(build.icosphere(2), Settings(across=61))
    assert 8 * shape.words.nbytes <= 1.25 * shape.cells.prod()
    assert shape.voxel * REACH == pytest.approx(REACH * 2.0 / 61, rel=0.1)


def test_progress_grows_to_the_end_and_stages_are_named():
    seen = []
    mesh = build.icosphere(3)
    prepare(mesh, Settings(across=40, depth=True), lambda share, what: seen.append((share, what)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert seen[-1][0] == 1.0
    stages = {"rays of the map", "rays of the shell", "surface voxels", "deep points"}
    stages |= {f"normals of {mesh.name}", f"distances to {mesh.name}"}
    assert stages <= {what for _, what in seen}
