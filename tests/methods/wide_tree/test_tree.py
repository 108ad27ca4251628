"""Trees are whole after every build and refit, `validate` finds faults, SAH pays."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.methods.wide_tree.build import build_tree, morton_nodes
from jostle.methods.wide_tree.kd_order import BLOCK_ROOM, BlockWork, order_block
from jostle.methods.wide_tree.refit import fit_frame, fit_tree, refit_tree
from jostle.methods.wide_tree.sah import SAH_ROOM, SahWork, cut_by_area, sah_nodes
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import LANES, LEAF_FACES, ROW, Forest, Tree, TreeArrays, validate
from jostle.shapes.build import blob
from jostle.shapes.mesh import Mesh

BUILDERS = {"morton": morton_nodes, "sah": sah_nodes}
SMALL_SIZES = [1, 2, 8, 9, 17, 64, 65]


def tree_by(builder: str, mesh: Mesh) -> Tree:
    frame = np.empty(6)
    fit_frame(read_only_view(mesh.vertices), read_only_view(mesh.faces), mesh.uses_every_vertex, frame)
    order, first, count = BUILDERS[builder](mesh.vertices, mesh.faces, frame)
    assert order.dtype == first.dtype == count.dtype == np.int32
    tree = Tree(np.empty(ROW * len(first), np.float32), first, count, mesh.faces[order], order, mesh.vertices, frame)
    fit_tree(tree)
    return tree


def measure(tree: Tree) -> float:
    return fit_tree(tree._replace(boxes=tree.boxes.copy()))


def soup(count: int, seed: int = 0, size: float = 0.1) -> Mesh:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.0, 1.0, (count, 1, 3)) + rng.normal(0.0, size, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def degenerate_meshes() -> dict[str, Mesh]:
    count = 300
    numbers = np.arange(3 * count).reshape(-1, 3)
    face = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    loose = soup(count).vertices
    along = np.sort(loose[:, :1], axis=0)
    far = 2.0 ** -np.arange(3 * count, dtype=float).clip(0, 90)
    angle = np.linspace(0.0, 6.0, count + 1)
    rim = np.c_[1e6 * np.cos(angle), 1e6 * np.sin(angle), 0 * angle]
    spokes = np.arange(1, count + 1)
    return {
        "all identical": Mesh(np.tile(face, (count, 1)), numbers),
        "the same three vertices": Mesh(face, np.tile([0, 1, 2], (count, 1))),
        "all in one point": Mesh(np.full((3, 3), 5.0), np.tile([0, 1, 2], (count, 1))),
        "all at the origin": Mesh(np.zeros((3, 3)), np.tile([0, 1, 2], (count, 1))),
        "all in one plane": Mesh(loose * [1.0, 1.0, 0.0], numbers),
        "all on one line": Mesh(along * [[0.0, 1.0, 0.0]], numbers),
        "all on a slanted line": Mesh(along * [[1.0, 1.0, 1.0]], numbers),
        "one long sliver": Mesh([[-1e9, 0, 0], [1e9, 1e-9, 0], [0, 1e-9, 0]], [[0, 1, 2]]),
        "a fan of slivers": Mesh(np.vstack([np.zeros((1, 3)), rim]), np.c_[0 * spokes, spokes, spokes + 1]),
        "one far away": Mesh(np.vstack([loose, 1e9 + face]), np.vstack([numbers, 3 * count + np.arange(3)])),
        "smaller and smaller": Mesh(np.c_[far, 0.5 * far, 0 * far], numbers),
        "two clusters": Mesh(np.tile(np.vstack([face, face + 1e3]), (count // 2, 1)), numbers),
    }


@pytest.mark.small
@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("faces", SMALL_SIZES)
def test_few_faces(builder, faces):
    tree = tree_by(builder, soup(faces))
    validate(tree)
    if faces <= LEAF_FACES:
        assert tree.count.tolist() == [-faces]
    elif faces <= LANES * LEAF_FACES:
        assert tree.count[0] == -(-faces // LEAF_FACES)
        assert (tree.count[1:] < 0).all()


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("faces", [66, 512, 513, 1000, 20_000])
def test_many_faces(builder, faces):
    tree = tree_by(builder, soup(faces, faces))
    validate(tree)
    assert (tree.count <= LANES).all()
    assert len(tree.first) < 0.3 * faces


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("name", degenerate_meshes())
def test_degenerate_meshes(builder, name):
    tree = tree_by(builder, degenerate_meshes()[name])
    validate(tree)
    assert deepest(tree) <= 40


def deepest(tree: Tree) -> int:
    depth = np.zeros(len(tree.first), int)
    for node in np.flatnonzero(tree.count > 0):
        depth[tree.first[node] : tree.first[node] + tree.count[node]] = depth[node] + 1
    return int(depth.max())


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e26])
def test_sizes(builder, scale):
    whole = np.round(1000.0 * soup(500).vertices)  # the smallest coordinates are whole multiples of 1e-30, or 0
    tree = tree_by(builder, Mesh(whole * scale, soup(500).faces))
    validate(tree)
    # Boxes are about the centre and in units of the size. (Morton's cells are up to twice as large for one size as for another.)
    assert measure(tree) == pytest.approx(measure(tree_by(builder, soup(500))), rel=0.1)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("offset", [1e7, -1e12])
def test_places(builder, offset):
    mesh = soup(500)
    tree = tree_by(builder, mesh.with_vertices(mesh.vertices + offset))
    validate(tree)
    assert measure(tree) == pytest.approx(measure(tree_by(builder, mesh)), rel=0.05)


@pytest.mark.small
@pytest.mark.parametrize("builder", BUILDERS)
def test_a_small_mesh_far_away(builder):
    # At 1e7 these coordinates have seven bits left.
    mesh = soup(40)
    validate(tree_by(builder, mesh.with_vertices(1e7 + 1e-7 * mesh.vertices)))


@pytest.mark.small
@pytest.mark.parametrize("builder", BUILDERS)
def test_vertices_that_no_face_uses_do_not_count(builder):
    mesh = soup(40)
    strays = np.array([[1e29, 0.0, 0.0], [0.0, -1e29, 1e-30]])
    tree = tree_by(builder, Mesh(np.vstack([mesh.vertices, strays]), mesh.faces))
    validate(tree)
    np.testing.assert_array_equal(tree.boxes, tree_by(builder, mesh).boxes)
    np.testing.assert_array_equal(tree.frame, tree_by(builder, mesh).frame)


def test_build_tree_is_the_sum_of_its_parts():
    mesh = soup(300)
    tree, parts = build_tree(mesh), tree_by("morton", mesh)
    for ours, expected in zip(tree, parts, strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("builder", BUILDERS)
def test_refit_after_deformation(builder):
    mesh = blob(2000, 4)
    tree = tree_by(builder, mesh)
    for step in range(1, 4):
        angle = 0.4 * step * mesh.vertices[:, 2]
        x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
        twisted = np.c_[x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), step * mesh.vertices[:, 2]]
        with pytest.raises(AssertionError):
            validate(tree._replace(vertices=twisted))  # the boxes are still the old ones
        tree, _ = refit_tree(tree, twisted, True)
        validate(tree)


@pytest.mark.small
def test_refit_is_exact_where_float32_is():
    # Coordinates that float32 holds: a box may stick out by the outward rounding and no more.
    mesh = Mesh(np.arange(-12.0, 12.0).reshape(-1, 3) / 16.0, [[0, 1, 2], [5, 6, 7]])
    tree = tree_by("morton", mesh)
    corners = (mesh.vertices[tree.faces] - tree.frame[:3]) * tree.frame[3]
    boxes = tree.boxes.reshape(6, LANES)[:, :2].T
    np.testing.assert_allclose(boxes[:, :3], corners.min(axis=1), rtol=3e-7)
    np.testing.assert_allclose(boxes[:, 3:], corners.max(axis=1), rtol=3e-7)


@pytest.mark.small
def test_a_forest_holds_the_arrays_of_its_trees_in_the_order_of_the_struct():
    trees = [build_tree(blob(count)) for count in (8, 20)]
    checked = AddressTable([TreeArrays.arrays(**tree._asdict()) for tree in trees])
    np.testing.assert_array_equal(Forest(trees).addresses, checked.table)
    np.testing.assert_array_equal(Forest([trees[0], trees[0]]).with_trees({1: trees[1]}).addresses, checked.table)


@pytest.mark.small
def test_validate_sees_what_is_broken():
    sound = tree_by("morton", soup(70))
    validate(sound)
    inner, leaf = 0, int(np.flatnonzero(sound.count < 0)[0])
    for node in (inner, leaf):
        for row in range(6):
            broken = sound._replace(boxes=sound.boxes.copy())
            at = ROW * node + LANES * row
            broken.boxes[at] += np.float32(1e-4 if row < 3 else -1e-4)
            with pytest.raises(AssertionError, match="stick out"):
                validate(broken)
    empty = sound._replace(boxes=sound.boxes.copy())
    lonely = int(np.flatnonzero(np.abs(sound.count) < LANES)[0])
    for row in range(6):
        empty.boxes[ROW * lonely + LANES * row + LANES - 1] = 0.0
    with pytest.raises(AssertionError, match="must be empty"):
        validate(empty)
    with pytest.raises(AssertionError, match="permutation"):
        validate(sound._replace(face_ids=np.zeros_like(sound.face_ids)))
    with pytest.raises(AssertionError, match="does not hold"):
        validate(sound._replace(frame=sound.frame * [1, 1, 1, 4, 1, 1]))
    swapped = sound._replace(first=sound.first.copy())
    one, other = np.flatnonzero(sound.count == -LEAF_FACES)[:2]
    swapped.first[one] = sound.first[other]
    with pytest.raises(AssertionError):
        validate(swapped)
    longer = sound._replace(count=sound.count.copy())
    longer.count[inner] -= 1
    with pytest.raises(AssertionError):
        validate(longer)


@pytest.mark.parametrize("mesh", [blob(20_000, 1), soup(5000, 2)], ids=["blob", "soup"])
def test_the_heuristic_makes_smaller_boxes(mesh):
    morton, sah = tree_by("morton", mesh), tree_by("sah", mesh)
    assert inner_area(sah) < 0.97 * inner_area(morton)
    assert measure(sah) < measure(morton)
    leaves = -sah.count[sah.count < 0]
    assert leaves.mean() > 0.97 * LEAF_FACES
    leaves = -morton.count[morton.count < 0]
    assert leaves.mean() > 0.93 * LEAF_FACES


def test_blocks_are_cut_across_their_longest_side():
    # Faces along a line, shuffled: every leaf must be a run of the line, to within a bin of the first cut, and full.
    rng = np.random.default_rng(4)
    for count in (9, 64, 65, 200, 511, 512):
        at = rng.permutation(count).astype(np.float32)
        middles = np.zeros((count, 3), np.float32)
        middles[:, count % 3] = at
        keys = np.arange(count)
        order_block(keys, middles.ravel(), 0, count, SCRATCH.addresses(BlockWork, **BLOCK_ROOM))
        assert sorted(keys.tolist()) == list(range(count))
        for begin in range(0, count, LEAF_FACES):
            leaf = at[keys[begin : begin + LEAF_FACES]]
            assert np.ptp(leaf) < LEAF_FACES + count / 16
            assert abs(leaf.min() - begin) <= count / 32 + 1


def test_a_block_of_equal_middles_stays_whole():
    keys = np.arange(100, 300)
    order_block(keys, np.ones(900, np.float32), 0, 200, SCRATCH.addresses(BlockWork, **BLOCK_ROOM))
    assert sorted(keys.tolist()) == list(range(100, 300))


def inner_area(tree: Tree) -> float:
    """Return the half areas of the boxes of nodes, without those of faces."""
    boxes = tree.boxes.reshape(-1, 6, LANES).astype(float)[tree.count > 0]
    used = np.arange(LANES) < tree.count[tree.count > 0][:, None]
    dx, dy, dz = np.moveaxis(boxes[:, 3:] - boxes[:, :3], 1, 0)
    return float((dx * dy + dy * dz + dz * dx)[used].sum())


def test_the_stack_of_the_heuristic_is_high_enough():
    # Each cut of this mesh takes few faces off the rest; the rest must wait at the bottom of the stack.
    count = 4000
    middles = np.repeat(np.exp2(-np.linspace(0.0, 60.0, count)), 3)
    vertices = np.c_[middles, 1e-20 * np.tile([0.0, 1.0, 0.0], count), 1e-20 * np.tile([0.0, 0.0, 1.0], count)]
    faces = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    frame = np.empty(6)
    fit_frame(read_only_view(vertices), read_only_view(faces), True, frame)
    scratch = {field.name: np.empty(SAH_ROOM[field.name], field.dtype) for field in SahWork.layout}
    scratch["stack"]["node"] = -1
    first, count_of = np.empty(2 * count, np.int32), np.empty(2 * count, np.int32)
    boxes, order = np.empty(8 * count, np.float32), np.empty(count, np.int32)
    given = (read_only_view(vertices), read_only_view(faces), read_only_view(frame))
    table = SahWork.table(**scratch)
    cut_by_area(*given, boxes, order, first, count_of, table.table[0])
    assert np.count_nonzero(scratch["stack"]["node"] >= 0) <= 8 * np.ceil(np.log2(count / LEAF_FACES))
