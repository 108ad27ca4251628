"""Contacts along edges of solids in columns: answers, questions and counts are those of the kernel."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.deferral import load_numba
from jostle.methods.plain.solid_pairs import test_columns as columns_of_pairs
from jostle.report import assemble
from jostle.report.containment import solids
from jostle.shapes import build
from tests.methods.plain.families import FAMILIES, case
from tests.tiny import box, random_pose, tetrahedron


@pytest.fixture(autouse=True)
def _numba():
    """Load Numba: until then the kernel would be the columns themselves."""
    load_numba("jostle.kernels.dispatch")


def written(test, rows, frame):
    """What a kernel writes for the pairs of a frame, and what it returns."""
    bodies = solids._bodies_of(rows, frame)
    meet, undecided = np.full(len(rows.body_a), 9, np.uint8), np.zeros(len(rows.kind), bool)
    scratch = solids._Scratch()
    scratch.make_room(bodies.most, 2 * len(rows.body_a) + len(rows.kind))
    columns = solids.PairRows(*(solids.read_only_view(column) for column in rows))
    middle = len(rows.body_a) // 2
    parts = []
    for first, last in ((0, middle), (middle, len(rows.body_a))):
        count, tests = test(
            scratch.addresses, bodies.table, bodies.facts, columns, solids.PairAnswers(meet, undecided), first, last
        )
        assert count <= len(scratch.questions)
        asked = scratch.questions[:count]
        parts.append([count, tests, *(asked[name].tolist() for name in ("pair", "of_b", "subject", "face", "flag"))])
    return meet.tolist(), undecided.tolist(), parts


def compare(world, monkeypatch, **options):
    """Compare both for the pairs of a world; return the answers."""
    given = []

    def watched(rows, frame):
        given.append((rows, frame))
        return solids.solid_rows(rows, frame)

    with monkeypatch.context() as patched:
        patched.setattr(assemble, "solid_rows", watched)
        world.detect(solid=True, **options)
    answers = []
    for rows, frame in given:
        expected = written(solids.test_pairs, rows, frame)
        assert written(columns_of_pairs, rows, frame) == expected
        answers += expected[0]
    return answers


def filled(bodies):
    world = jostle.World("wide_tree")
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


@pytest.mark.parametrize("family", FAMILIES)
def test_random_worlds(family, monkeypatch):
    for seed in range(4):
        compare(filled(case(family, seed)), monkeypatch)


def closed_bodies(rng):
    """Boxes and others in positions that touch along faces, edges and corners; some inverted, doubled or in two parts."""
    meshes = [box(), box(), tetrahedron(), build.icosphere(0), jostle.Mesh(box().vertices, box().faces[:, ::-1])]
    two_parts = jostle.Mesh(
        np.concatenate([box().vertices, box().vertices + np.array([1.0, 0, 0])]), np.concatenate([box().faces, box().faces + 8])
    )
    meshes += [two_parts, build.box((0.5, 0.5, 0.5)), jostle.Mesh(box().vertices, box().faces[1:])]
    turn = random_pose(rng, 0.0) if rng.integers(2) else np.eye(4)
    for _ in range(int(rng.integers(2, 9))):
        quarter = rotation_about((0, 0, 1), 0.5 * np.pi * int(rng.integers(4)))
        pose = translation(rng.integers(-2, 3, 3) / 2) @ (np.round(quarter) if rng.integers(2) else np.eye(4))
        yield meshes[int(rng.integers(len(meshes)))], turn @ pose


def test_bodies_that_touch_along_faces_edges_and_corners(monkeypatch):
    rng = np.random.default_rng(2)
    answers = []
    for _ in range(60):
        answers += compare(filled(closed_bodies(rng)), monkeypatch)
    assert set(answers) == {0, 1, 2, 3}


def test_rows_of_near_faces_count_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    for _ in range(8):
        compare(filled(closed_bodies(rng)), monkeypatch, clearance=0.6)


def test_meshes_of_many_faces(monkeypatch):
    ball, shuttle = build.icosphere(2), build.shuttle()
    worlds = [
        [(ball, np.eye(4)), (ball, np.eye(4))],
        [(ball, np.eye(4)), (build.icosphere(2, 0.5), np.eye(4)), (shuttle, translation((0.2, 0, 0)))],
        [(box(), translation((k % 3, k // 3 % 3, k // 9))) for k in range(27)],
    ]
    for bodies in worlds:
        compare(filled(bodies), monkeypatch)
