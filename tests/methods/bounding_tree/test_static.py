"""The static traversal equals the oracle for all settings, slices and numbers."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.geometry.rigid import transform_points
from jostle.kernels.jit import kernel
from jostle.kernels.structs import record_viewer
from jostle.methods.bounding_tree import search, static
from jostle.methods.bounding_tree.build import build
from jostle.methods.bounding_tree.overlap import PairFrame, nodes_apart, reach_of, set_up_frame
from jostle.methods.bounding_tree.tree import Volume
from jostle.shapes import build as shapes
from tests.methods.bounding_tree.asking import detected, rows_of
from tests.tiny import box, random_pose, random_soup, relative_pose

VOLUMES = ("obb", "aabb", "sphere")
TREES = [
    ("without_optimisation", None, "volume", 4),
    ("insertion", None, "surface", 4),
    ("gottschalk", None, "volume", 1),
    ("gottschalk", 2, "volume", 4),
    ("insertion", 3, "volume", 4),
    ("without_optimisation", 4, "volume", 9),
    ("gottschalk", 5, "volume", 2),
    ("gottschalk", 6, "surface", 4),
    ("binary_gottschalk", None, "volume", 4),
]


def degenerate(rng):
    """Faces without area, doubled faces and whole-number corners, many of which touch."""
    vertices = rng.integers(0, 3, (12, 3)).astype(float)
    faces = rng.integers(0, 12, (30, 3))
    return jostle.Mesh(vertices, np.vstack([faces, faces[:5]]))


def scenes():
    rng = np.random.default_rng(7)
    yield [(random_soup(rng, 60), random_pose(rng, 0.5)) for _ in range(3)]
    yield [(degenerate(rng), translation(rng.integers(-1, 2, 3).astype(float))) for _ in range(3)]
    far = translation((1e7, -1e7, 1e7))
    yield [(box(), far @ translation((k, 0.0, 0.5 * k))) for k in range(3)]
    yield [(shapes.icosphere(2), None), (shapes.torus(1.0, 0.3), random_pose(rng, 0.3)), (box(), random_pose(rng, 0.3))]


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize(("splitting", "degree", "quality", "leaf_faces"), TREES)
def test_every_tree_gives_the_rows_of_the_oracle(volume, splitting, degree, quality, leaf_faces):
    method = jostle.BoundingTree(volume=volume, splitting=splitting, degree=degree, quality=quality, leaf_faces=leaf_faces)
    for bodies in scenes():
        expected = rows_of(detected("brute_force", bodies))
        assert expected
        assert rows_of(detected(method, bodies)) == expected


@pytest.mark.parametrize("volume", VOLUMES)
def test_slices_and_arrays_that_must_grow_change_nothing(volume, monkeypatch):
    rng = np.random.default_rng(8)
    bodies = [(shapes.icosphere(3), random_pose(rng, 0.3)) for _ in range(2)] + [(random_soup(rng, 400), None)]
    method = jostle.BoundingTree(volume=volume)
    whole = detected(method, bodies, itself=True)
    assert len(whole.contacts) > 2000
    monkeypatch.setattr(search, "FIRST_SLICE", 1)
    monkeypatch.setattr(search, "FIRST_STACK", static.MOST_NEW + 1)
    monkeypatch.setattr(search, "FIRST_ROWS", 1)
    again = detected(method, bodies, itself=True)
    assert rows_of(again) == rows_of(whole)
    assert again.counters == whole.counters


@pytest.mark.parametrize("volume", VOLUMES)
def test_nodes_are_never_apart_when_vertices_meet(volume):
    """Nodes with a common world point are not apart, wherever that is."""
    rng = np.random.default_rng(9)
    meshes = [random_soup(rng, 20) for _ in range(3)]
    trees = [build(mesh, volume) for mesh in meshes]
    apart = 0
    for _ in range(300):
        i, j = rng.integers(0, 3, 2)
        pose_a, pose_b = random_pose(rng), random_pose(rng)
        pose_a[:3, :3] *= 1.0 + 3e-6 * rng.uniform(-1.0, 1.0, (3, 3))
        far = 10.0 ** rng.uniform(-2, 6) * rng.normal(size=3)
        pose_a[:3, 3] += far
        pose_b[:3, 3] += far
        nodes = int(rng.integers(len(trees[i].volumes))), int(rng.integers(len(trees[j].volumes)))
        points = []
        for tree, mesh, node, pose in zip((trees[i], trees[j]), (meshes[i], meshes[j]), nodes, (pose_a, pose_b), strict=True):
            vertex = rng.choice(tree.vertex_list[tree.vertex_start[node] : tree.vertex_start[node + 1]])
            points.append(transform_points(pose, mesh.vertices[vertex][None])[0])
        pose_b[:3, 3] += points[0] - points[1]
        assert not apart_at(trees[i], nodes[0], pose_a, trees[j], nodes[1], pose_b)
        pose_b[:3, 3] += rng.normal(size=3)
        apart += apart_at(trees[i], nodes[0], pose_a, trees[j], nodes[1], pose_b)
    assert apart > 40


view_frame, view_volume = record_viewer(PairFrame), record_viewer(Volume)


@kernel
def apart_in_frame(kind, volumes_a, a, volumes_b, b, relative, pose_a, pose_b, frame):
    roots = view_volume(volumes_a[0]), view_volume(volumes_b[0])
    set_up_frame(relative, pose_a, pose_b, reach_of(roots[0]), reach_of(roots[1]), view_frame(frame))
    return nodes_apart(kind, view_volume(volumes_a[a]), view_volume(volumes_b[b]), view_frame(frame))


def apart_at(tree_a, a, pose_a, tree_b, b, pose_b):
    frame = np.zeros(1, PairFrame.dtype)
    relative = relative_pose(pose_a, pose_b)
    apart = apart_in_frame(int(tree_a.kind), tree_a.volumes, a, tree_b.volumes, b, relative, pose_a, pose_b, frame.view(float))
    assert frame["padding"][0] > 0.0
    return bool(apart)


def test_each_of_the_15_axes_separates_oriented_boxes():
    """Boxes apart by more than the padding are separated: against sampled points."""
    rng = np.random.default_rng(10)
    tree = build(jostle.Mesh([[-1.0, -0.4, -0.1], [1, 0.4, 0.1], [1, -0.4, 0.1], [-1, 0.4, -0.1]], [[0, 1, 2], [0, 3, 1]]))
    grid = np.array(list(itertools.product(np.linspace(-1, 1, 9), repeat=3)))
    half, axes, centre = tree.volumes[0, 3:6], tree.volumes[0, 6:15].reshape(3, 3), tree.volumes[0, :3]
    local = centre + (grid * half) @ axes
    wrong, checked = 0, 0
    for _ in range(400):
        pose = random_pose(rng, 1.2)
        other = local @ pose[:3, :3].T + pose[:3, 3]
        inside = (np.abs((other - centre) @ axes.T) <= half).all(axis=1).any()
        apart = apart_at(tree, 0, np.eye(4), tree, 0, pose)
        assert not (inside and apart)
        checked += not inside
        wrong += not inside and not apart
    assert wrong < 0.25 * checked  # the samples are coarse; without the cross axes it is much more


def test_a_body_that_deforms_keeps_the_rows_of_the_oracle():
    rng = np.random.default_rng(11)
    mesh = shapes.icosphere(2)
    for volume in VOLUMES:
        worlds = [jostle.World(method) for method in (jostle.BoundingTree(volume=volume), "brute_force")]
        for world in worlds:
            world.add(mesh, deformable=True)
            world.add(mesh, translation((1.2, 0, 0)), deformable=True)
            world.add(box(), translation((0.5, 0.5, 0.5)))
        for _ in range(4):
            vertices = mesh.vertices * rng.uniform(0.5, 1.5) + 0.2 * rng.normal(size=mesh.vertices.shape)
            pose = random_pose(rng, 0.5)
            found = []
            for world in worlds:
                world[0].vertices = vertices
                world[1].pose = pose
                found.append(rows_of(world.detect(itself=True)))
            assert found[0] == found[1]
            assert len(found[0]) > 50


def test_neighbours_that_are_passed_over_count_as_operations(monkeypatch):
    """Faces about one vertex make many pairs without a test, which slices must count."""
    used = []

    def run(step, state, operations):
        done = False
        while not done:
            done, did = step(state, operations)
            used.append(did)

    monkeypatch.setattr(search, "run_in_slices", run)
    count = 200
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
    faces = [[k, (k + 1) % count, count] for k in range(count)]
    world = jostle.World("bounding_tree")
    world.add(jostle.Mesh([*rim.tolist(), [0.0, 0.0, 0.0]], faces), deformable=True)
    report = world.detect(itself=True)
    assert not report.touching
    assert sum(used) > report.counters.box_tests + 30 * report.counters.triangle_tests + count
