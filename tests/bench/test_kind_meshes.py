"""Meshes of the kinds: exact face counts, closed and outward where they should be, volumes by formula, the same every time."""

import numpy as np
import pytest

from jostle.bench.kinds.meshes import extrusions, round_parts
from jostle.bench.kinds.meshes.compounds import frame, mixed, turned_at_random
from jostle.bench.kinds.meshes.gears import _TOOTH, gear
from jostle.bench.kinds.meshes.links import link
from jostle.bench.kinds.meshes.perforated import perforated_sheet
from jostle.bench.kinds.meshes.screws import screw
from jostle.bench.kinds.meshes.terrain import terrain
from tests.shapes.crossings import crossings
from tests.shapes.test_build import assert_sound

CLOSED = {
    "pipe": (round_parts.pipe, 1_024),
    "pipe of 24 segments": (lambda: round_parts.pipe(24), 192),
    "cylinder": (round_parts.cylinder, 512),
    "disc": (round_parts.disc, 512),
    "cone": (round_parts.cone, 2_304),
    "capsule": (round_parts.capsule, 2_048),
    "spring": (round_parts.spring, 9_624),
    "I beam": (extrusions.i_beam, 44),
    "L beam": (extrusions.l_beam, 20),
    "bent sheet": (extrusions.bent_sheet, 428),
    "gear": (gear, 1_024),
    "screw": (screw, 11_808),
    "perforated sheet": (lambda: perforated_sheet(6, 4), 24 * 72 + 40),
    "perforated sheet of square holes": (lambda: perforated_sheet(5, 3, segments=4), 15 * 24 + 32),
    "link of 48 faces": (lambda: link(8, 3, 0.2), 48),
    "link of 240 faces": (link, 240),
    "link of 960 faces": (lambda: link(20, 24, 1.0), 960),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_parts_are_sound(name):
    make, count = CLOSED[name]
    mesh = make()
    assert len(mesh.faces) == count
    assert_sound(mesh)
    assert 1.5 < mesh.size < 3.0  # distances are compared with an absolute tolerance
    assert np.abs(mesh.bounds.mean(axis=0)).max() < 0.1
    again = make()
    assert (mesh.vertices.tobytes(), mesh.faces.tobytes()) == (again.vertices.tobytes(), again.faces.tobytes())
    if count < 2_000:
        assert crossings(mesh) == []


def polygon(count, radius=1.0):
    """The area of a regular polygon."""
    return count / 2.0 * np.sin(2.0 * np.pi / count) * radius**2


def area(outline):
    """The area of an outline (k, 2)."""
    (x, y), (u, v) = outline.T, np.roll(outline, -1, axis=0).T
    return 0.5 * (x * v - u * y).sum()


@pytest.mark.small
def test_volumes_are_those_of_formulas():
    assert round_parts.pipe(24).volume == pytest.approx(2.0 * (polygon(24, 0.12) - polygon(24, 0.1)))
    assert round_parts.cylinder(16).volume == pytest.approx(2.0 * polygon(16, 0.2))
    assert round_parts.disc(16).volume == pytest.approx(0.05 * polygon(16))
    assert round_parts.cone(24).volume == pytest.approx(1.6 * polygon(24, 0.5) / 3.0)
    assert extrusions.i_beam().volume == pytest.approx(2.0 * (2 * 0.3 * 0.02 + 0.36 * 0.024))
    assert extrusions.l_beam().volume == pytest.approx(2.0 * (0.25 * 0.025 + 0.225 * 0.025))
    pitch = 1.6 / 6
    assert perforated_sheet(6, 4).volume == pytest.approx(24 * 0.02 * pitch**2 * (1.0 - polygon(16, 0.35)))
    angle = 2.0 * np.pi * np.arange(8 * 9) / (8 * 9)
    reach = 0.8 + 0.12 * np.tile(_TOOTH, 9)
    outline = np.stack([reach * np.cos(angle), reach * np.sin(angle)], axis=1)
    assert gear(9, 16).volume == pytest.approx(0.2 * (area(outline) - polygon(16, 0.25)))


@pytest.mark.small
def test_a_bent_sheet_has_one_thickness():
    sheet = extrusions.bent_sheet(bend_steps=24)
    length = 2 * 0.3 + 0.8 + 2 * 0.4 + 4 * np.pi / 2 * 0.1  # of the middle of the sheet
    assert sheet.volume == pytest.approx(1.5 * 0.02 * length, rel=1e-2)


def test_a_spring_and_a_screw_have_their_turns():
    wire = round_parts.spring(turns=4, steps=60, sides=24)
    length = 4 * np.hypot(2.0 * np.pi * 0.4, 1.6 / 4)
    assert wire.volume == pytest.approx(polygon(24, 0.05) * length, rel=1e-2)
    thread = screw(segments=48, turns=5, rings_per_turn=16)
    at_angle = thread.vertices[1 : 1 + 48 * 81 : 48]  # one point of each ring of the shank
    height = np.linalg.norm(at_angle[:, :2], axis=1)
    tops = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:]))
    assert len(tops) == 5
    assert (height.min(), height.max()) == pytest.approx((0.16, 0.21))


def test_a_terrain_is_an_open_height_field():
    ground = terrain(40, 30)
    assert len(ground.faces) == 2_400
    assert len(ground.open_edges) == 140
    assert ground.face_normals[:, 2].min() > 0.3
    assert np.ptp(ground.vertices[:, 2]) > 0.2
    assert terrain(40, 30).vertices.tobytes() == ground.vertices.tobytes()


def test_compounds_are_their_parts_in_one_mesh():
    pipes = frame(3, 16)
    assert (len(pipes.faces), pipes.is_closed, int(pipes.component_of_face.max()) + 1) == (3 * 128, True, 3)
    assert pipes.volume == pytest.approx(3 * 1.6 * (polygon(16, 0.05) - polygon(16, 0.04)))
    together = mixed(2_000, 2, 16)
    assert (len(together.faces), together.is_closed) == (2_000 + 2 * 128, True)
    assert together.component_of_face.max() == 2
    pierced = {min(a, b) for a, b in crossings(together) if max(a, b) >= 2_000}
    assert pierced  # the pipes pass through the blob


@pytest.mark.small
def test_random_turns_are_rotations():
    rng = np.random.default_rng(0)
    turns = np.stack([turned_at_random(rng) for _ in range(200)])
    assert np.abs(turns[:, :3, :3] @ turns[:, :3, :3].transpose(0, 2, 1) - np.eye(3)).max() < 1e-14
    assert np.linalg.det(turns[:, :3, :3]) == pytest.approx(np.ones(200))
    assert np.abs(turns[:, :3, :3].mean(axis=0)).max() < 0.2  # in no direction more than in others
    assert (turns[:, :3, 3] == 0.0).all()
