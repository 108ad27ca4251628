"""Solids in columns: winding numbers, samples of sheets and self-contact are those of the kernels."""

import numpy as np
import pytest

import jostle
from jostle.geometry.winding_columns import columns_across, windings_into
from jostle.kernels.deferral import load_numba
from jostle.methods.plain import self_contact, windings
from jostle.report.containment import solid_bodies
from jostle.shapes import build, topology
from tests.methods.plain.families import FAMILIES, case
from tests.tiny import random_pose

families = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(autouse=True)
def _numba():
    """Load Numba: until then the kernels would be the columns themselves."""
    load_numba("jostle.kernels.dispatch")


def meshes(family, count):
    for seed in range(count):
        for arrays, _ in case(family, seed)[:2]:
            yield np.random.default_rng(seed), jostle.Mesh(*arrays)


def flags_at(rng, mesh):
    """Flags at corners, beside faces, in the middle of edges, and at any three vertices."""
    corners = mesh.vertices[mesh.faces]
    middle = 0.5 * corners[:, 0] + 0.5 * corners[:, 1]
    middle[np.abs(middle) < 1e-30] = 0.0
    others = mesh.vertices[rng.integers(0, len(mesh.vertices), (20, 3))]
    points = np.concatenate([middle, mesh.vertices])
    return np.concatenate([corners.reshape(-1, 9), others.reshape(-1, 9), np.tile(points, 3)])


def assert_equal_windings(flags, mesh):
    found, expected = np.empty((len(flags), 3), np.int32), np.empty((len(flags), 3), np.int32)
    windings.windings_columns(flags, mesh.vertices, mesh.faces, 1, found)
    windings_into(flags, mesh.vertices, mesh.faces, columns_across(len(flags), len(mesh.faces)), expected)
    assert found.tolist() == expected.tolist()
    return expected


@families
def test_winding_numbers(family, monkeypatch):
    monkeypatch.setattr(windings, "AT_ONCE", 500)
    for rng, mesh in meshes(family, 6):
        assert_equal_windings(flags_at(rng, mesh), mesh)


def test_winding_numbers_of_solids():
    rng = np.random.default_rng(0)
    for mesh in (build.icosphere(3), build.box(), build.shuttle()):
        lower, upper = mesh.bounds
        points = rng.uniform(1.2 * lower - 0.2 * upper, 1.2 * upper - 0.2 * lower, (200, 3))
        found = assert_equal_windings(np.tile(points, 3), mesh)
        assert set(found[:, 0].tolist()) >= {0, 1}
        assert_equal_windings(flags_at(rng, mesh), mesh)


@families
def test_samples_of_sheets(family):
    for _, mesh in meshes(family, 6):
        sheets = mesh.topology
        written = []
        for write in (windings.sample_columns, topology.sample_sheets):
            sample, turned = sheets.first_face_of_sheet.copy(), np.zeros(len(sheets.first_face_of_sheet), np.int8)
            write(mesh.vertices, mesh.faces, sheets.sheet_of_face, sample, turned)
            written.append((sample.tolist(), turned.tolist()))
        assert written[0] == written[1]


@families
def test_whether_a_mesh_touches_itself(family, monkeypatch):
    for _, mesh in meshes(family, 8):
        given = mesh.vertices, mesh.faces, mesh.welded_faces
        expected = topology.touches_itself(*given)
        with monkeypatch.context() as patched:
            patched.setattr(topology, "touches_later_face", self_contact.touches_later_columns)
            patched.setattr(topology, "FACES_AT_ONCE", 5)
            patched.setattr(self_contact, "AT_ONCE", 30)
            assert topology.touches_itself(*given) == expected


@families
def test_whether_chosen_faces_touch_others(family, monkeypatch):
    monkeypatch.setattr(self_contact, "AT_ONCE", 30)
    for rng, mesh in meshes(family, 8):
        chosen = np.flatnonzero(rng.random(len(mesh.faces)) < 0.3).astype(np.int32)
        for most in (len(chosen), 50, 100 * len(mesh.faces)):
            given = chosen, mesh.vertices, mesh.faces, mesh.welded_faces, most
            one, other = np.zeros(len(chosen), np.int8), np.zeros(len(chosen), np.int8)
            assert self_contact.chosen_touches_columns(*given, one) == topology.chosen_face_touches(*given, other)
            assert one.tolist() == other.tolist()


def test_boxes_of_pairs_meet_as_in_the_kernel():
    rng = np.random.default_rng(1)
    answers = []
    for k in range(200):
        poses, bounds = (
            np.array([random_pose(rng, 1.0), np.eye(4), random_pose(rng, 1.0)]),
            np.sort(rng.normal(size=(3, 2, 3)), axis=1),
        )
        if k % 4 == 0:
            bounds[k % 3] = [[-np.inf] * 3, [np.inf] * 3]  # of a deformable body
        if k % 4 == 1:
            bounds[1] = bounds[0] + np.array([bounds[0, 1, 0] - bounds[0, 0, 0], 0.0, 0.0])
            poses[0] = poses[1]
        pairs = (np.array([0, 1], np.int32)[: 1 + k % 2], np.array([1, 2], np.int32)[: 1 + k % 2])
        answers.append(bool(solid_bodies.boxes_meet(poses, bounds, *pairs)))
        assert solid_bodies._columns_meet(poses, bounds, *pairs) == answers[-1]
    assert 20 < sum(answers) < 180


def test_deformable_solids_raise_no_warnings(recwarn):
    world = jostle.World("plain")
    for scale in (1.0, 0.5):
        world.add(build.icosphere(1, scale), deformable=True)
    assert world.detect(solid=True).pairs.kind.tolist() == [jostle.Kind.B_IN_A]
    assert not recwarn.list
