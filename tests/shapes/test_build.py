"""Every shape: exact face count, closed, manifold, outward, without crossings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.mesh import Mesh
from tests.shapes.crossings import crossings, folds

CLOSED = {
    "box": (build.box, 12),
    "chair": (build.chair, 146),
    "clover": (build.clover, 10_000),
    "comb": (build.comb, 5 * (2 * 24 + 10) + 4),
    "comb with rings": (lambda: build.comb(3, 8, 4), 3 * (2 * 8 * 4 + 10) + 4),
    "cone": (lambda: build.cone(face_count=300), 300),
    "capsule": (build.capsule, 576),
    "ellipsoid": (build.ellipsoid, 528),
    "hand": (build.hand, 960),
    "head": (build.head, 1816),
    "horseshoe": (build.horseshoe, 2000),
    "icosahedron": (build.icosahedron, 20),
    "icosphere": (lambda: build.icosphere(3), 1280),
    "polytope": (build.polytope36, 36),
    "shuttle": (build.shuttle, 528),
    "sphere of the paper 004": (lambda: build.sphere(980), 980),
    "stellated dodecahedron": (build.stellated_dodecahedron, 60),
    "torus of the paper 004": (lambda: build.torus(segments=50, sides=23), 2300),
    "truncated cone": (build.truncated_cone, 576),
    "blob": (lambda: build.blob(5000, 1, 0.8), 5000),
    "smallest blob": (lambda: build.blob(8, 1, 0.8), 8),
    **{f"sphere of {count}": (lambda count=count: build.sphere(count), count) for count in build.PAPER_SPHERES},
}


def undirected_edges(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    sides = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(sides, axis=0, return_counts=True)


def assert_sound(mesh: Mesh) -> None:
    edges, uses = undirected_edges(mesh)
    assert (uses == 2).all(), "an edge is not shared by exactly two faces"
    assert mesh.is_closed
    assert mesh.volume > 0.0
    assert len(np.unique(mesh.faces)) == len(mesh.vertices), "a vertex is not used"
    assert (mesh.welded == np.arange(len(mesh.vertices))).all(), "two vertices are equal"
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2.0
    assert area.min() > 1e-9 * mesh.size**2
    assert folds(mesh) == 0
    assert not mesh.component_of_face.any()
    assert edges.shape[1] == 2


def assert_exactly_convex(mesh: Mesh) -> None:
    """No vertex in front of any face, in whole numbers: coordinates times one power of two, as Python integers."""
    scale = max(Fraction(value).denominator for value in mesh.vertices.ravel().tolist())
    whole = np.empty(mesh.vertices.shape, dtype=object)
    whole[:] = [[int(Fraction(value) * scale) for value in point] for point in mesh.vertices.tolist()]
    for a, b, c in whole[mesh.faces]:
        u, v = b - a, c - a
        normal = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], dtype=object)
        assert ((whole - a) @ normal <= 0).all()


@pytest.mark.small
@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes_are_sound_and_have_their_face_count(name):
    make, count = CLOSED[name]
    mesh = make()
    assert len(mesh.faces) == count
    assert_sound(mesh)
    again = make()
    assert mesh.vertices.tobytes() == again.vertices.tobytes()
    assert mesh.faces.tobytes() == again.faces.tobytes()
    assert 0.3 < mesh.size < 4.0


@pytest.mark.parametrize(
    "name", ["chair", "comb", "comb with rings", "head", "horseshoe", "shuttle", "stellated dodecahedron", "smallest blob"]
)
def test_shapes_do_not_cross_themselves(name):
    assert crossings(CLOSED[name][0]()) == []


def test_the_crossing_test_sees_crossings_and_folds():
    cross = Mesh([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0.5, 0.5, -1], [0.5, 0.6, 1], [3, 3, 3]], [[0, 1, 2], [3, 4, 5]])
    assert crossings(cross) == [(0, 1)]
    assert crossings(cross, cross.with_vertices(cross.vertices + 10.0)) == []
    fold = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0]], [[0, 1, 2], [0, 1, 3]])
    assert folds(Mesh(fold.vertices, [[0, 1, 2], [1, 0, 3]])) == 1
    assert folds(fold) == 0  # both face the same way: doubled, not folded back


@pytest.mark.small
def test_the_paper_spheres_are_those_of_the_paper():
    assert build.PAPER_SPHERES == (8, 10, 24, 48, 54, 80, 120, 168, 224, 360, 528, 728, 960, 3968)


@pytest.mark.small
@pytest.mark.parametrize("count", [8, 10, 54, 168, 528])
def test_spheres_are_round_and_exactly_convex(count):
    mesh = build.sphere(count, radius=2.5)
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 2.5, rtol=1e-15)
    assert_exactly_convex(mesh)


@pytest.mark.small
@pytest.mark.parametrize(
    "mesh",
    [
        build.ellipsoid(360, (1.0, 0.31, 0.77)),
        build.truncated_cone(12, 0.3, 0.11, 1.7, 3),
        build.truncated_cone(12, 0.1, 0.4, 1.3, 4),
        build.capsule(10, 0.2, 0.9, 2),
        build.cone(face_count=300),
        build.box((0.1, 0.7, 3.0), (0.3, 0.1, 0.7)),
        build.icosphere(2, 0.7),
        build.comb_cones()[1],
        *(build.polytope36(seed) for seed in range(5)),
        *build.hand_of_capsules(600, 0.4)[::3],
    ],
    ids=lambda mesh: mesh.name,
)
def test_convex_shapes_are_exactly_convex(mesh):
    assert_sound(mesh)
    assert_exactly_convex(mesh)


@pytest.mark.small
def test_the_convexity_test_can_fail():
    with pytest.raises(AssertionError):
        assert_exactly_convex(build.stellated_dodecahedron())


@pytest.mark.small
@pytest.mark.parametrize("count", [4, 6, 7, 26, 2 * 499])
def test_spheres_that_do_not_exist_are_refused_with_those_that_do(count):
    with pytest.raises(InputError, match=f"face_count is {count}.*nearest.*blob") as refusal:
        build.sphere(count)
    named = [int(word) for word in str(refusal.value).split(" have ")[1].split(";")[0].split(",")]
    assert len(named) == 4
    for possible in named:
        assert len(build.sphere(possible).faces) == possible


@pytest.mark.small
@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: build.sphere(True), "face_count"),
        (lambda: build.sphere(48, radius=0.0), "radius"),
        (lambda: build.sphere(48, radius=float("nan")), "radius"),
        (lambda: build.torus(minor=0.8), "minor"),
        (lambda: build.cone(face_count=301), "face_count"),
        (lambda: build.cone(segments=2), "segments"),
        (lambda: build.truncated_cone(height=0.5), "height"),
        (lambda: build.box((1.0, 0.0, 1.0)), r"size\[1\]"),
        (lambda: build.comb(segments=6), "segments"),
        (lambda: build.comb(pitch=0.2), "pitch"),
        (lambda: build.blob(9), "face_count"),
        (lambda: build.blob(6), "face_count"),
        (lambda: build.blob(80, roughness=-0.1), "roughness"),
        (lambda: build.hand((0.0, 0.0, 0.0, 0.0)), "bend has 4"),
        (lambda: build.hand((0.0, 0.0, 2.0, 0.0, 0.0)), r"bend\[2\] \(middle\)"),
        (lambda: build.hand(spread=-1.0), "spread"),
        (lambda: build.plate(0, 3), "nx"),
        (lambda: build.icosphere(-1), "subdivisions"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call, field):
    with pytest.raises(InputError, match=field):
        call()


@pytest.mark.small
def test_volumes_agree_with_formulas():
    n = 48
    polygon = n / 2.0 * np.sin(2.0 * np.pi / n)  # area of the n-gon in the unit circle
    assert build.box((1.0, 2.0, 3.0)).volume == pytest.approx(6.0, rel=1e-14)
    assert build.cone(n, 0.5, 2.0).volume == pytest.approx(polygon * 0.25 * 2.0 / 3.0, rel=1e-12)
    assert build.comb(5, n, 3, 0.1, 0.5, 0.25, 0.1).volume == pytest.approx(
        5 * 0.25 * 0.25 * 0.1 + 5 * polygon * 0.01 * 0.5 / 3.0, rel=1e-12
    )
    assert build.icosphere(5).volume == pytest.approx(4.0 / 3.0 * np.pi, rel=2e-3)
    assert build.capsule(200, 0.25, 1.0, 50).volume == pytest.approx(np.pi * (0.0625 * 0.5 + 4.0 / 3.0 * 0.25**3), rel=1e-3)
    assert build.torus(0.7, 0.3, 200, 200).volume == pytest.approx(2.0 * np.pi**2 * 0.7 * 0.09, rel=1e-3)


@pytest.mark.small
@pytest.mark.parametrize(("make", "characteristic"), [(build.torus, 0), (build.chair, 0), (build.shuttle, 2), (build.hand, 2)])
def test_number_of_handles(make, characteristic):
    mesh = make()
    assert len(mesh.vertices) - len(undirected_edges(mesh)[0]) + len(mesh.faces) == characteristic


@pytest.mark.small
def test_the_stellated_dodecahedron_has_twelve_star_planes():
    mesh = build.stellated_dodecahedron()
    normals = mesh.face_normals
    alike = normals @ normals.T > 1.0 - 1e-12
    assert (alike.sum(axis=1) == 5).all()
    np.testing.assert_allclose(np.sort(np.linalg.norm(mesh.vertices, axis=1))[-12:], 1.0)


@pytest.mark.small
def test_comb_and_its_cones_have_the_same_tips():
    tips = np.array([cone.vertices[np.argmax(cone.vertices[:, 2])] for cone in build.comb_cones()])
    comb = build.comb()
    assert (comb.vertices[comb.vertices[:, 2] == comb.bounds[1, 2]] == tips).all()
    assert len(tips) == 5


@pytest.mark.small
def test_truncated_cone_lies_on_its_two_balls():
    mesh = build.truncated_cone(16, 0.4, 0.2, 1.5, 5)
    to_lower = np.linalg.norm(mesh.vertices - (0.0, 0.0, 0.4), axis=1)
    to_upper = np.linalg.norm(mesh.vertices - (0.0, 0.0, 1.3), axis=1)
    assert ((np.abs(to_lower - 0.4) < 1e-12) | (np.abs(to_upper - 0.2) < 1e-12)).all()
    assert to_lower.min() > 0.4 - 1e-12
    assert to_upper.min() > 0.2 - 1e-12


@pytest.mark.small
@pytest.mark.parametrize("roughness", [0.0, 0.8])
def test_blobs_of_every_even_count_are_star_shaped(roughness):
    for count in [*range(8, 140, 2), 998, 4096]:
        mesh = build.blob(count, seed=count, roughness=roughness, radius=0.5)
        assert len(mesh.faces) == count
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        seen = np.einsum("ij,ij->i", a, np.cross(b, c))
        assert seen.min() > 0.0
        # Solid angles (Van Oosterom, Strackee) of all faces add up to one full sphere: each direction is covered once.
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        assert 2.0 * np.arctan2(seen, below).sum() == pytest.approx(4.0 * np.pi, rel=1e-12)
        assert np.linalg.norm(mesh.vertices, axis=1).max() == pytest.approx(0.5, rel=1e-12)


@pytest.mark.small
def test_rough_blobs_are_concave_and_seeds_differ():
    mesh = build.blob(2000, 3, 0.8)
    centres = mesh.vertices[mesh.faces].mean(axis=1)
    in_front = np.einsum("fj,fvj->fv", mesh.face_normals[:200], mesh.vertices[None] - centres[:200, None]) > 0.05
    assert in_front.any()
    assert build.blob(200, 1).digest != build.blob(200, 2).digest
    assert build.polytope36(1).digest != build.polytope36(2).digest


@pytest.mark.small
def test_clover_is_two_graphs_over_one_star_shaped_outline():
    # Upper faces look up and lower faces look down, everywhere: over each point of the plane there is one of each.
    mesh = build.clover()
    height = mesh.vertices[mesh.faces][:, :, 2]
    upper, lower = (height >= 0.0).all(axis=1), (height <= 0.0).all(axis=1)
    assert (upper ^ lower).all()
    assert (mesh.face_normals[upper, 2] > 0.0).all()
    assert (mesh.face_normals[lower, 2] < 0.0).all()
    rim = mesh.vertices[mesh.vertices[:, 2] == 0.0]
    assert len(rim) == 200
    angle = np.unwrap(np.arctan2(rim[:, 1], rim[:, 0]))
    assert (np.diff(angle) > 0.0).all()
    assert angle[-1] - angle[0] < 2.0 * np.pi


@pytest.mark.small
def test_flat_ends_are_not_folded():
    head = build.head()
    base = (head.vertices[head.faces][:, :, 2] == 0.0).all(axis=1)
    assert base.sum() == 8 + 38
    np.testing.assert_allclose(head.face_normals[base], [[0.0, 0.0, -1.0]] * 46, atol=1e-12)
    shoe = build.horseshoe()
    for end in (shoe.faces[:20], shoe.faces[-20:]):
        normals = Mesh(shoe.vertices, end).face_normals
        assert (normals @ normals[0] > 1.0 - 1e-9).all()


BENDS = [0.0, -0.2, 1.2, (1.2, 0.0, 1.2, 0.0, 1.2), (0.0, 1.2, 1.2, 1.2, 1.2), (1.2, 0.6, 0.6, 0.6, 0.6)]


@pytest.mark.parametrize("bend", BENDS)
def test_hands_bend_without_crossing_themselves(bend):
    for spread in (0.0, 0.25):
        mesh = build.hand(bend, spread)
        assert mesh.faces.tobytes() == build.hand().faces.tobytes()
        assert_sound(mesh)
        if spread == 0.0 or bend == 1.2:
            assert crossings(mesh) == []


@pytest.mark.small
def test_hands_move_smoothly_and_each_finger_alone():
    rest = build.hand(0.3).vertices
    assert 0.0 < np.abs(build.hand(0.3 + 1e-7).vertices - rest).max() < 1e-6
    moved = [np.flatnonzero((build.hand([0.3 + 0.2 * (k == f) for k in range(5)]).vertices != rest).any(axis=1)) for f in range(5)]
    for f in range(5):
        assert len(moved[f]) > 50
        for other in range(f):
            assert not set(moved[f]) & set(moved[other])


@pytest.mark.small
@pytest.mark.parametrize("count", [930, 1300, 5000, 38_000])
def test_hand_of_capsules_has_about_the_faces_asked_for(count):
    parts = build.hand_of_capsules(count)
    assert len(parts) == 19
    assert sum(len(part.faces) for part in parts) == pytest.approx(count, rel=0.08)
    lower, upper = (np.array([part.bounds[k] for part in parts]) for k in range(2))
    hand = build.hand()
    np.testing.assert_allclose([lower.min(axis=0)[1], upper.max(axis=0)[1]], hand.bounds[:, 1], atol=0.05)


@pytest.mark.small
def test_mikoshi_has_5263_faces_and_one_open_part():
    parts = build.mikoshi()
    assert sum(len(part.faces) for part in parts) == 5263
    assert [part.is_closed for part in parts] == [True] * (len(parts) - 1) + [False]
    assert len(parts[-1].faces) % 2 == 1
    assert "banner" in parts[-1].name
    assert len({part.name for part in parts}) == len(parts)
    for part in parts[:-1]:
        assert_sound(part)
    whole = build.mikoshi_mesh()
    assert len(whole.faces) == 5263
    assert whole.component_of_face.max() + 1 == len(parts)


def test_parts_of_the_mikoshi_stand_free_of_each_other():
    parts = build.mikoshi()
    for i, part in enumerate(parts):
        assert crossings(part) == []
        for other in parts[i + 1 :]:
            if (part.bounds[0] <= other.bounds[1]).all() and (other.bounds[0] <= part.bounds[1]).all():
                assert crossings(part, other) == []
                assert crossings(other, part) == []


@pytest.mark.small
def test_sheets_are_open_flat_grids_and_waves():
    plate = build.plate(3, 2, (3.0, 1.0))
    assert len(plate.faces) == 12
    assert not plate.is_closed
    assert (plate.vertices[:, 2] == 0.0).all()
    assert plate.bounds.tolist() == [[-1.5, -0.5, 0.0], [1.5, 0.5, 0.0]]
    assert (plate.face_normals == (0.0, 0.0, 1.0)).all()
    cloth = build.cloth(20, 10, seed=4)
    assert len(cloth.faces) == 400
    assert (cloth.face_normals[:, 2] > 0.0).all()
    assert 0.0 < np.abs(cloth.vertices[:, 2]).max() < 0.3
    assert cloth.digest != build.cloth(20, 10, seed=5).digest
