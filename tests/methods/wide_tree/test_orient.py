"""Orientations: which trees get them, that boxes hold their faces, and how few tests slivers take."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.bench.kinds.meshes.compounds import frame
from jostle.bench.kinds.meshes.perforated import perforated_sheet
from jostle.methods.wide_tree.build import MIXED, build_and_measure, build_tree, measured
from jostle.methods.wide_tree.flat_parts import has_flat_part_askew
from jostle.methods.wide_tree.refit import fit_frame, fit_tree, refit_tree
from jostle.methods.wide_tree.tree import CROSSED, validate
from jostle.shapes import build
from jostle.shapes.build.blocks import blocks
from tests.methods.wide_tree.compare_slivers import answers_of, ring, swept
from tests.methods.wide_tree.turned import Turned, turned_tree
from tests.tiny import random_pose

RNG = np.random.default_rng(3)
ASKEW = random_pose(RNG)[:3, :3]


def mesh_of(vertices, faces, turn=None):
    return jostle.Mesh(vertices if turn is None else vertices @ turn, faces)


def pipe(count=64, turn=None):
    (outer, faces), (inner, _) = (
        swept(ring(count, 0.05), 1.0, open_ends=True),
        swept(ring(count, 0.04), 1.0, open_ends=True),
    )
    return mesh_of(np.concatenate([outer, inner]), np.concatenate([faces, faces[:, ::-1] + len(outer)]), turn)


def joined(*meshes):
    shift = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    faces = [mesh.faces + s for mesh, s in zip(meshes, shift, strict=False)]
    return jostle.Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def bundle(count=6):
    rng = np.random.default_rng(1)
    return joined(
        *(mesh_of(pipe(24).vertices + rng.uniform(-0.3, 0.3, 3), pipe(24).faces, random_pose(rng)[:3, :3]) for _ in range(count))
    )


SLIVERS = {
    "pipe": pipe(),
    "pipe askew": pipe(turn=ASKEW),
    "cylinder askew": mesh_of(*swept(ring(64, 0.1), 1.0), ASKEW),
    "cone": build.cone(face_count=300),
    "cone askew": mesh_of(build.cone(face_count=300).vertices, build.cone(face_count=300).faces, ASKEW),
    "disc": mesh_of(*swept(ring(64, 0.5), 0.02), ASKEW),
    "beam": mesh_of(*swept(np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]]) * 0.02, 1.0), ASKEW),
    "bundle": bundle(),
    "blob and two long needles": joined(build.blob(3000, seed=1), mesh_of(*swept(ring(3, 0.01), 4.0), ASKEW)),
}
OTHERS = {
    "blob": build.blob(3000, seed=1, roughness=0.6),
    "icosphere": build.icosphere(3),
    "torus": build.torus(),
    "box": build.box(),
    "cloth": build.cloth(),
    "blob and a small needle": joined(build.blob(3000, seed=1), mesh_of(*swept(ring(3, 0.0005), 0.05), ASKEW)),
}


def askew(mesh, turn=ASKEW):
    return mesh_of(mesh.vertices, mesh.faces, turn)


PANEL = blocks(np.linspace(0.0, 1.2, 13), np.linspace(0.0, 0.8, 9), [0.0, 0.01], np.ones((12, 8, 1), bool), "panel")
FLAT = {
    "panel": askew(PANEL),
    "perforated": askew(perforated_sheet(4, 3)),
    "two panels": joined(askew(PANEL), askew(PANEL, jostle.rotation((1.0, 0.0, 0.0), 1.5)[:3, :3] @ ASKEW)),
    "blob and a panel": joined(build.blob(300, seed=1), mesh_of(2.0 * PANEL.vertices + 3.0, PANEL.faces, ASKEW)),
}


@pytest.mark.parametrize("name", SLIVERS)
@pytest.mark.parametrize("how", ["morton", "sah"])
def test_slivers_are_turned_and_hold_their_faces(name, how):
    mesh = SLIVERS[name]
    tree, area = build_and_measure(mesh.vertices, mesh.faces, mesh.uses_every_vertex, how)
    validate(tree)
    assert (tree.orientation % CROSSED > 0).any(), "no node is long"
    assert name == "pipe" or (tree.orientation // CROSSED > 0).any(), "no node is turned"
    assert len(tree.rotations) <= 9 * (len(tree.first) + 1)
    again = tree._replace(boxes=np.zeros_like(tree.boxes))
    assert fit_tree(again) == pytest.approx(area, rel=1e-5)
    np.testing.assert_array_equal(again.boxes, tree.boxes)


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("how", ["morton", "sah"])
def test_flat_parts_askew_are_turned_and_hold_their_faces(name, how):
    mesh = FLAT[name]
    tree, area = build_and_measure(mesh.vertices, mesh.faces, mesh.uses_every_vertex, how)
    validate(tree)
    assert (tree.orientation // CROSSED > 0).sum() > 0.3 * len(tree.first)
    again = tree._replace(boxes=np.zeros_like(tree.boxes))
    assert fit_tree(again) == pytest.approx(area, rel=1e-5)


def gate(mesh):
    tree = build_tree(mesh)
    tree = tree._replace(boxes=tree.boxes.copy(), orientation=np.empty(0, np.int32), rotations=np.empty(0, np.float32))
    fit_tree(tree)
    return has_flat_part_askew(tree.boxes, tree.first, tree.count)


@pytest.mark.parametrize("name", FLAT)
def test_flat_parts_are_seen_where_they_are_askew(name):
    assert gate(FLAT[name])
    assert not gate(PANEL)


@pytest.mark.parametrize("name", [*OTHERS, "hand", "torus of 40,000 faces"])
def test_smooth_and_straight_meshes_have_no_flat_parts_askew(name):
    mesh = OTHERS.get(name) or (build.hand() if name == "hand" else build.torus(segments=200, sides=100))
    for turn in (np.eye(3), ASKEW):
        assert (turn is ASKEW and name in ("box", "cloth")) or not gate(askew(mesh, turn))


def test_faces_on_one_diagonal_have_no_area_left():
    rng = np.random.default_rng(0)
    for _ in range(8):
        diagonal = rng.integers(0, 4, 36)[:, None] * (1.0, 1.0, 0.0)
        validate(build_tree(mesh_of(diagonal, np.arange(36).reshape(-1, 3))))


def test_slender_parts_that_lie_across_each_other_are_built_the_other_way():
    """As of a frame of pipes: along a curve through space, nodes hold pieces of several."""
    mesh, box = frame(3, 24), np.empty(6)
    fit_frame(mesh.vertices, mesh.faces, False, box)
    curve, heuristic = (measured(mesh.vertices, mesh.faces, box, how) for how in ("morton", "sah"))
    assert curve.empty > MIXED
    assert heuristic.area < 0.6 * curve.area
    tree, area = build_and_measure(mesh.vertices, mesh.faces, False, "morton")
    assert area == heuristic.area
    np.testing.assert_array_equal(tree.face_ids, heuristic.tree.face_ids)


@pytest.mark.parametrize("name", OTHERS)
def test_other_meshes_keep_plain_trees(name):
    tree = build_tree(OTHERS[name])
    assert len(tree.orientation) == len(tree.rotations) == 0


def test_a_deforming_tree_keeps_its_rotations_and_is_built_again_when_they_fit_no_longer():
    mesh = pipe(turn=ASKEW)
    tree, area = build_and_measure(mesh.vertices, mesh.faces, True, "morton")
    bent = mesh.vertices + 0.001 * np.sin(9.0 * mesh.vertices[:, [1, 2, 0]])
    own = tree._replace(boxes=tree.boxes.copy(), frame=tree.frame.copy())
    refitted, little = refit_tree(own, bent, True)
    validate(refitted)
    assert refitted.orientation is tree.orientation
    assert little < 2.0 * area
    _, much = refit_tree(
        tree._replace(boxes=tree.boxes.copy(), frame=tree.frame.copy()), mesh.vertices @ random_pose(RNG)[:3, :3], True
    )
    assert much > 2.0 * area
    world = jostle.World("wide_tree")
    body, other = world.add(mesh, deformable=True), world.add(mesh, jostle.translation((0.05, 0.0, 0.0)))
    for turn in (np.eye(3), random_pose(RNG)[:3, :3]):
        body.vertices = mesh.vertices @ turn
        expected = jostle.collide(
            (mesh.vertices @ turn, mesh.faces), (mesh.vertices, mesh.faces), pose_b=other.pose, method="brute_force"
        )
        assert world.detect().contacts.face_a.tobytes() == expected.contacts.face_a.tobytes()


@pytest.mark.parametrize(
    ("name", "nodes", "triangles"),
    [
        ("pipe", 400, 70),
        ("pipe askew", 360, 60),
        ("cylinder askew", 500, 90),
        ("cone askew", 7_000, 300),
        ("bundle", 4_200, 170),
        ("beam", 250, 150),
        ("panel", 650, 250),
        ("perforated", 2_500, 1_000),
    ],
)
def test_slender_and_flat_bodies_are_told_apart_by_few_tests(name, nodes, triangles):
    """Node pairs and exact tests of 40 bodies: 115,000 and 220,000 of askew pipes where no node is turned."""
    rng, mesh = np.random.default_rng(2), {**SLIVERS, **FLAT}[name]
    world = jostle.World("wide_tree")
    for _ in range(40):
        world.add(mesh, random_pose(rng, 0.6 * mesh.size))
    report = world.detect(rows="pairs")
    assert len(report.pairs.body_a) > 10
    assert report.counters.box_tests <= 64 * nodes
    assert report.counters.triangle_tests <= triangles


@pytest.mark.parametrize("seed", range(40))
def test_random_worlds_of_slivers_are_those_of_brute_force(seed):
    expected = answers_of("brute_force", seed)
    assert answers_of("wide_tree", seed) == expected
    assert answers_of(Turned(seed=seed), seed) == expected


@pytest.mark.small
def test_validate_sees_a_box_that_is_too_small_and_a_matrix_that_is_no_rotation():
    tree = turned_tree(build_tree(build.blob(80, seed=2)), np.random.default_rng(0))
    validate(tree)
    for node, row in itertools.product((0, len(tree.first) - 1), range(6)):
        boxes = tree.boxes.copy().reshape(-1, 6, 8)
        boxes[node, row, 0] += np.float32(1e-4 if row < 3 else -1e-4)
        with pytest.raises(AssertionError, match="stick out"):
            validate(tree._replace(boxes=boxes.ravel()))
    with pytest.raises(AssertionError, match="not orthogonal"):
        validate(tree._replace(rotations=np.concatenate([tree.rotations[:9], 1.001 * tree.rotations[9:]]).astype(np.float32)))
