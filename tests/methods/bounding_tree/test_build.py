"""Trees are whole for any mesh and settings, follow the paper, and are repeatable."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.methods.bounding_tree import fit
from jostle.methods.bounding_tree.build import SPLITTINGS, build
from jostle.methods.bounding_tree.face_sets import FaceSets
from jostle.methods.bounding_tree.tree import KINDS, Tree, validate
from jostle.methods.bounding_tree.volumes.quality import QUALITIES
from jostle.shapes.build import blob
from jostle.shapes.mesh import Mesh
from tests.methods.bounding_tree.sets import degenerate_meshes, holds_exactly, plate, soup_mesh

EVERY_WAY = list(itertools.product(KINDS, SPLITTINGS, QUALITIES))


def faces_of(tree: Tree, node: int):
    return tree.order[tree.first_face[node] : tree.first_face[node] + tree.face_count[node]]


def measures(tree: Tree, mesh: Mesh, quality: str):
    """Return the measure of every node's volume."""
    sets, found = FaceSets(mesh.vertices, mesh.faces, tree.order), np.empty(len(tree.volumes))
    begin = tree.first_face.astype(np.int64)
    fit.measure(int(tree.kind), QUALITIES[quality], sets, begin, begin + tree.face_count, tree.volumes, found)
    return found


@pytest.mark.small
@pytest.mark.parametrize(("volume", "splitting", "quality"), EVERY_WAY)
def test_every_way_makes_a_whole_tree(volume, splitting, quality):
    for mesh in (soup_mesh(20), plate(3, 4)):
        tree = build(mesh, volume, splitting, quality)
        validate(tree, mesh.vertices)
        assert tree.kind == KINDS[volume]
        assert tree.faces is mesh.faces
        leaves = tree.child_count == 0
        assert (tree.face_count[leaves] <= 4).all()
        assert (tree.face_count[~leaves] > 4).all()


@pytest.mark.parametrize(("volume", "splitting"), list(itertools.product(KINDS, SPLITTINGS)))
@pytest.mark.parametrize("name", degenerate_meshes())
def test_degenerate_meshes(volume, splitting, name):
    mesh = degenerate_meshes()[name]
    for leaf_faces in (4, 1):
        tree = build(mesh, volume, splitting, leaf_faces=leaf_faces)
        validate(tree, mesh.vertices)
        assert (tree.face_count[tree.child_count == 0] <= leaf_faces).all()


@pytest.mark.small
@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_volumes_hold_their_vertices_exactly(volume, splitting):
    mesh = soup_mesh(24)
    mesh = mesh.with_vertices(mesh.vertices / 3.0 + 1e5)
    tree = build(mesh, volume, splitting, "surface")
    for node in range(len(tree.volumes)):
        assert holds_exactly(int(tree.kind), tree.volumes[node], mesh.vertices[np.unique(mesh.faces[faces_of(tree, node)])])


@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("splitting", SPLITTINGS)
@pytest.mark.parametrize("scale", [1e-30, 2.0**-40, 1e9, 1e26])
def test_sizes(volume, splitting, scale):
    whole = soup_mesh(200)
    whole = whole.with_vertices(np.round(1000.0 * whole.vertices))  # so that scaled ones are 0 or at least 1e-30
    tree = build(whole.scaled(scale), volume, splitting)
    validate(tree, scale * whole.vertices)
    same = build(whole, volume, splitting)
    if scale == 2.0**-40:  # nothing is rounded otherwise
        np.testing.assert_array_equal(tree.order, same.order)
        np.testing.assert_array_equal(tree.volumes[:, 3:6], scale * same.volumes[:, 3:6])
    assert len(tree.volumes) == pytest.approx(len(same.volumes), rel=0.1)


@pytest.mark.parametrize("volume", KINDS)
def test_places(volume):
    mesh = soup_mesh(200)
    mesh = mesh.with_vertices(np.round(2.0**20 * mesh.vertices) * 2.0**-20)
    there = mesh.with_vertices(mesh.vertices + 2.0**20)  # whole multiples still: no coordinate is rounded
    here, there = build(mesh, volume, "gottschalk"), build(there, volume, "gottschalk")
    np.testing.assert_allclose(there.volumes[0, 3:6], here.volumes[0, 3:6], rtol=1e-9)
    leaves = here.child_count == 0
    assert there.volumes[there.child_count == 0, 15].mean() == pytest.approx(here.volumes[leaves, 15].mean(), rel=0.02)


# Degrees


@pytest.mark.small
@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("splitting", ["without_optimisation", "insertion", "gottschalk"])
def test_fixed_degrees(degree, splitting):
    mesh = soup_mesh(60)
    tree = build(mesh, "aabb", splitting, degree=degree)
    validate(tree, mesh.vertices)
    degrees = tree.child_count[tree.child_count > 0]
    assert degrees.max() == degree
    # Regions without a face make no child, and neither do subsets that lost all theirs.
    assert (degrees == degree).mean() > 0.4
    if splitting == "insertion":  # which has a first face for each
        assert (degrees == degree).all()


@pytest.mark.small
def test_a_set_has_no_more_children_than_faces():
    tree = build(soup_mesh(5), "aabb", "insertion", degree=6)
    assert tree.child_count.tolist() == [5, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("splitting", ["without_optimisation", "gottschalk"])
@pytest.mark.parametrize("improvement", [0.75, 0.4])
def test_flexible_degrees_keep_the_rule(quality, splitting, improvement):
    mesh = soup_mesh(120)
    tree = build(mesh, "aabb", splitting, quality, improvement=improvement)
    own = measures(tree, mesh, quality)
    reached = 0
    for node in np.flatnonzero(tree.child_count):
        children = slice(tree.first_child[node], tree.first_child[node] + tree.child_count[node])
        good = improvement * own[node] >= own[children].max()
        reached += good
        if not good:  # then it was tried up to the largest degree; some subsets may be empty
            again = build((mesh.vertices, mesh.faces[faces_of(tree, node)]), "aabb", splitting, quality, degree=6)
            assert tree.child_count[node] == again.child_count[0]
    assert reached > 0


@pytest.mark.parametrize("splitting", ["without_optimisation", "gottschalk"])
def test_flexible_degrees_are_the_least_that_bring_the_improvement(splitting):
    seen = set()
    for seed in range(12):
        mesh = soup_mesh(40, seed, 0.3)
        root = measures(build(mesh, "aabb", splitting, leaf_faces=40), mesh, "volume")[0]
        expected = 6
        for degree in range(2, 7):
            tree = build(mesh, "aabb", splitting, degree=degree)
            worst = measures(tree, mesh, "volume")[1 : 1 + tree.child_count[0]].max()
            if 0.5 * root >= worst and tree.child_count[0] > 1:
                expected = degree
                break
        flexible = build(mesh, "aabb", splitting, improvement=0.5)
        fixed = build(mesh, "aabb", splitting, degree=expected)
        assert flexible.child_count[0] == fixed.child_count[0]
        ends = 1 + fixed.child_count[0]
        np.testing.assert_array_equal(flexible.face_count[:ends], fixed.face_count[:ends])
        np.testing.assert_allclose(flexible.volumes[:ends], fixed.volumes[:ends], atol=1e-12)  # rounded about another first face
        seen.add(expected)
    assert len(seen) > 1


# Large meshes


@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_a_mesh_of_some_size(volume, splitting):
    mesh = blob(4000)
    tree = build(mesh, volume, splitting)
    validate(tree, mesh.vertices)
    assert tree.level.max() < 25
    assert len(tree.volumes) < len(mesh.faces)


@pytest.mark.parametrize("volume", KINDS)
@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_equal_faces_make_no_chain(volume, splitting):
    """They cannot be separated: a chain of 120 levels would take quadratic time."""
    tree = build((np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0.5]]), np.repeat([[0, 1, 2]], 600, axis=0)), volume, splitting)
    assert tree.level.max() <= 10
    assert tree.face_count[tree.child_count == 0].max() <= 4


def test_many_slices_make_the_same_tree(monkeypatch):
    mesh = blob(2000)
    for splitting in SPLITTINGS:
        once = build(mesh, "obb", splitting)
        with monkeypatch.context() as patch:
            patch.setattr(fit, "FACES_AT_ONCE", 50)
            for one, other in zip(once, build(mesh, "obb", splitting), strict=True):
                assert one.tobytes() == other.tobytes()


def test_slices_hold_all_sets():
    counts = np.array([5, 100_000, 3, 20_000, 20_000, 1, 1, 40_000])
    slices = list(fit.in_slices(counts))
    assert [low for low, _ in slices] == [0, *(high for _, high in slices[:-1])]
    assert slices[-1][1] == len(counts)
    assert all(high - low == 1 or counts[low:high].sum() <= fit.FACES_AT_ONCE for low, high in slices)


@pytest.mark.small
def test_progress_grows_to_one():
    seen = []
    build(soup_mesh(40), "sphere", "gottschalk", progress=lambda share, what: seen.append((share, what)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert all("mesh" in what for _, what in seen)


@pytest.mark.small
def test_a_build_can_be_interrupted():
    def interrupt(share: float, what: str) -> None:
        if share > 0.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(soup_mesh(80), "aabb", "gottschalk", progress=interrupt)


@pytest.mark.small
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"volume": "ellipsoid"}, "volume"),
        ({"splitting": "median"}, "splitting"),
        ({"quality": "weight"}, "quality"),
        ({"degree": 1}, "at least 2 and at most 6"),
        ({"degree": 7}, "at least 2 and at most 6"),
        ({"degree": 3, "splitting": "binary_gottschalk"}, "degree 2"),
        ({"improvement": 0.0}, "between 0 and 1"),
        ({"improvement": 1.0}, "between 0 and 1"),
        ({"improvement": float("nan")}, "between 0 and 1"),
        ({"leaf_faces": 0}, "at least 1"),
    ],
)
def test_wrong_settings(wrong, words):
    with pytest.raises(InputError, match=words):
        build(soup_mesh(5), **wrong)


@pytest.mark.small
def test_validate_sees_what_is_broken():
    mesh = soup_mesh(30)
    tree = build(mesh, "obb", "gottschalk")

    def broken(field, index, value):
        array = getattr(tree, field).copy()
        array[index] = value
        return tree._replace(**{field: array})

    node = len(tree.volumes) - 1
    for wrong in (
        broken("order", 0, tree.order[1]),
        broken("volumes", (node, 3), 0.9 * tree.volumes[node, 3]),
        broken("volumes", (node, 0), np.nan),
        broken("volumes", (node, 15), 0.9 * tree.volumes[node, 15]),
        broken("first_child", 0, 2),
        broken("child_count", 0, 1),
        broken("face_count", node, tree.face_count[node] + 1),
        broken("level", node, 0),
        broken("vertex_list", 0, tree.vertex_list[1]),
    ):
        with pytest.raises(AssertionError):
            validate(wrong, mesh.vertices)
