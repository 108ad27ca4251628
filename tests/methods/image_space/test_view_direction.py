"""Frames of view are rotations, directions that separate are remembered, and what is not drawn for them is apart."""

import numpy as np
import pytest

from jostle.broad_phase.pair_memory import PairMemory
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.image_space import view_direction
from jostle.methods.image_space.regions import views_of
from jostle.methods.image_space.shape_table import mesh_of_body, open_shapes
from jostle.methods.image_space.view_direction import (
    DIRECTION,
    farthest_along,
    frame_of_direction,
    line_of_centres,
    remember_separations,
)
from jostle.render.drawn_body import view_row_from
from jostle.shapes import build
from tests.methods.image_space.placed import Placed, random_pose, settings
from tests.tiny import box, tetrahedron


def directions():
    """Random ones, axes, and ones near to axes and to z = 0."""
    rng = np.random.default_rng(4)
    near = (
        np.concatenate([np.eye(3), -np.eye(3)])[:, None] + rng.normal(size=(6, 8, 3)) * 10.0 ** -np.arange(2.0, 18.0, 2.0)[:, None]
    )
    all_ = np.concatenate(
        [rng.normal(size=(40, 3)), np.eye(3), -np.eye(3), near.reshape(-1, 3), [[0.6, 0.8, 0.0], [0.6, 0.8, -0.0]]]
    )
    return all_ / np.linalg.norm(all_, axis=1)[:, None]


@pytest.mark.small
def test_a_frame_is_a_rotation_with_the_direction_as_its_last_row():
    for direction in directions():
        rows = np.array(frame_of_direction(Vec3(*direction))).reshape(3, 3)
        assert np.array_equal(rows[2], direction)
        assert np.abs(rows @ rows.T - np.eye(3)).max() < 2e-15
        assert np.linalg.det(rows) > 0.0


@pytest.mark.small
def test_the_frame_of_the_opposite_direction_is_the_mirror_image():
    for direction in directions():
        if direction.max() < 1.0 and direction.min() > -1.0:
            # 0.0 - d and not -d: a difference of equal coordinates is 0.0 both ways, never -0.0.
            rows, other = (np.array(frame_of_direction(Vec3(*d))).reshape(3, 3) for d in (direction, 0.0 - direction))
            assert np.array_equal(rows, other * [[1.0], [-1.0], [-1.0]])


@pytest.mark.small
def test_the_line_of_centres_is_a_unit_vector_and_z_where_there_is_none():
    assert np.allclose(line_of_centres(Vec3(1.0, 1.0, 1.0), Vec3(4.0, 5.0, 1.0), 1.0), (0.6, 0.8, 0.0), rtol=0.0, atol=1e-15)
    assert np.allclose(np.linalg.norm(line_of_centres(Vec3(0.0, 0.0, 0.0), Vec3(1e-25, 2e-25, -1e-25), 1e-24)), 1.0, rtol=1e-15)
    for size, away in ((1.0, 0.0), (1.0, 1e-14), (1e7, 1e-7), (0.0, 0.0)):
        assert line_of_centres(Vec3(2.0, 0.0, 0.0), Vec3(2.0 + away, 0.0, 0.0), size) == (0.0, 0.0, 1.0)
    placed = Placed([box(), tetrahedron()], [np.eye(4), translation((0.25, 0.25, 0.25)) @ np.eye(4)])
    middle = placed.shapes.shapes[1].upper[0] / 2.0
    placed.move([np.eye(4), translation((0.5 - middle,) * 3)])
    assert views_of(placed.pairs, placed.frame, placed.shapes, settings()).direction.tolist() == [[0.0, 0.0, 1.0]]


@kernel
def farthest_of_first(shapes, row):
    return farthest_along(mesh_of_body(open_shapes(shapes), 0), view_row_from(row, 0))


@pytest.mark.small
@pytest.mark.parametrize("mesh", [build.blob(300), build.stellated_dodecahedron()], ids=["many patches", "one patch"])
def test_the_farthest_vertex_is_that_of_all_vertices(mesh):
    shapes = Placed([mesh], [np.eye(4)]).shapes
    for row in np.random.default_rng(0).normal(size=(20, 4)):
        found = farthest_of_first(shapes.addresses, row)
        assert found == pytest.approx((mesh.vertices @ row[:3]).max() + row[3], rel=1e-13)


def extents(placed, body, direction):
    along = placed.vertices(body) @ direction
    return along.min(), along.max()


@pytest.mark.parametrize("view", ["x", "z", "centres", "separating"])
def test_pairs_without_a_view_are_apart(view):
    """And pairs apart along the direction of view have none: vertices decide, not boxes."""
    rng = np.random.default_rng(9)
    placed = Placed([build.icosahedron()] * 8, [random_pose(rng, 2.0) for _ in range(8)])
    memory = PairMemory(DIRECTION)
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view), memory)
    axes = {"x": np.eye(3)[0], "z": np.eye(3)[2]}
    drawn, not_drawn = set(views.pair.tolist()), 0
    for k, (a, b) in enumerate(zip(*placed.pairs, strict=True)):
        middles = [placed.vertices(body).mean(axis=0) for body in (a, b)]
        direction = axes.get(view, (middles[1] - middles[0]) / np.linalg.norm(middles[1] - middles[0]))
        (low_a, high_a), (low_b, high_b) = extents(placed, a, direction), extents(placed, b, direction)
        gap = max(low_a - high_b, low_b - high_a)
        if k in drawn:
            assert gap < 1e-12
        elif view == "separating":
            remembered = memory.records[k]
            if remembered[0] == remembered[0]:
                assert extents(placed, b, remembered)[0] - extents(placed, a, remembered)[1] > 0.0
                not_drawn += 1
    assert len(drawn) > 4
    assert view != "separating" or not_drawn > 10


def slanted(gap):
    """Two unit boxes turned by 45° about z that are apart by `gap` along (1, 1, 0), moved along their faces: boxes overlap."""
    along, aside = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0), np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    turned = rotation_about((0, 0, 1), np.pi / 4) @ translation((-0.5, -0.5, -0.5))
    return [turned, translation((1.0 + gap) * along + 0.9 * aside) @ turned]


def test_a_plane_between_convex_bodies_is_remembered_until_it_no_longer_separates():
    placed, memory = Placed([box(), box()], slanted(0.01)), PairMemory(DIRECTION)
    chosen = settings(view="separating")

    def views():
        return views_of(placed.pairs, placed.frame, placed.shapes, chosen, memory)

    first = views()
    assert len(first.pair) == 1  # along the line of centres they are not apart
    assert np.isnan(memory.records).all()
    remember_separations(first, np.array([True]), placed.frame, placed.shapes, memory)
    normal = memory.records[0].copy()
    assert extents(placed, 1, normal)[0] > extents(placed, 0, normal)[1]
    placed.move(slanted(0.02))
    assert len(views().pair) == 0
    assert np.array_equal(memory.records[0], normal)
    placed.move(slanted(-0.05))
    along_it = views()
    assert along_it.direction.tolist() == [normal.tolist()]
    remember_separations(along_it, np.array([False]), placed.frame, placed.shapes, memory)  # a hit: what is known stays
    assert np.array_equal(memory.records[0], normal)
    remember_separations(along_it, np.array([True]), placed.frame, placed.shapes, memory)  # a miss, but there is no plane
    assert np.array_equal(memory.records[0], normal)
    placed.move(slanted(0.02))
    assert len(views().pair) == 0


def test_the_plane_of_a_pair_far_from_the_origin_separates_its_vertices():
    rng = np.random.default_rng(1)
    placed, memory = Placed([build.icosphere(2)] * 6, [random_pose(rng, 1.6, offset=1e3) for _ in range(6)]), PairMemory(DIRECTION)
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
    places = placed.frame.poses[:, :3, 3]
    missed = np.linalg.norm(places[views.body_a] - places[views.body_b], axis=1) > 2.0
    remember_separations(views, missed, placed.frame, placed.shapes, memory)
    for k, direction in enumerate(memory.records):
        if direction[0] == direction[0]:
            a, b = placed.pairs.body_a[k], placed.pairs.body_b[k]
            assert extents(placed, b, direction)[0] > extents(placed, a, direction)[1]


def test_concave_bodies_are_not_given_a_plane():
    horse = build.horseshoe()
    placed, memory = Placed([horse, horse], [np.eye(4), translation((0.05, 0.02, 0.01))]), PairMemory(DIRECTION)
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
    assert len(views.pair) == 1
    remember_separations(views, np.array([True]), placed.frame, placed.shapes, memory)
    assert np.isnan(memory.records).all()


def test_a_direction_that_no_longer_separates_concave_bodies_is_forgotten():
    star = build.stellated_dodecahedron()
    placed, memory = Placed([star, star], [np.eye(4), translation((0.5, 0.4, 0.3))]), PairMemory(DIRECTION)
    memory.remember(placed.pairs, np.array([[1.0, 0.0, 0.0]]))
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
    assert views.direction.tolist() == [[1.0, 0.0, 0.0]]
    remember_separations(views, np.array([False]), placed.frame, placed.shapes, memory)
    assert memory.records.tolist() == [[1.0, 0.0, 0.0]]  # a hit: it says where they came from
    remember_separations(views, np.array([True]), placed.frame, placed.shapes, memory)
    assert np.isnan(memory.records).all()
    again = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
    assert np.allclose(again.direction, np.array([[0.5, 0.4, 0.3]]) / np.sqrt(0.5), rtol=0.0, atol=1e-12)


def test_planes_are_searched_for_in_slices(monkeypatch):
    """Ctrl-C is heard between them, and the normals are the same."""
    rng = np.random.default_rng(6)
    placed = Placed([build.icosahedron()] * 7, [random_pose(rng, 1.0) for _ in range(7)])
    real, calls, found = view_direction.separate_convex_pairs, [], []
    monkeypatch.setattr(view_direction, "separate_convex_pairs", lambda *all_: (calls.append(1), real(*all_))[1])
    for first_slice in (view_direction.FIRST_SLICE, 1):
        monkeypatch.setattr(view_direction, "FIRST_SLICE", first_slice)
        monkeypatch.setattr("jostle.kernels.slices.LARGEST_GROWTH", 1.0)
        memory = PairMemory(DIRECTION)
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
        remember_separations(views, np.ones(len(views.pair), bool), placed.frame, placed.shapes, memory)
        found.append(memory.records)
    assert len(calls) > 3
    assert np.array_equal(found[0], found[1], equal_nan=True)
    assert (~np.isnan(found[0][views.pair])).any()


@pytest.mark.small
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_separates_across_the_view_is_remembered_from_a_to_b(axis, sign):
    """Remembered is z, and now the boxes are apart along any axis: what is kept points from A to B."""
    shift = np.array([0.2, 0.1, 0.3])
    shift[axis] = 1.5 * sign
    placed, memory = Placed([box(), box()], [np.eye(4), translation(shift)]), PairMemory(DIRECTION)
    memory.remember(placed.pairs, np.array([[0.0, 0.0, 1.0]]))
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory)
    assert len(views.pair) == 0
    assert np.array_equal(memory.records[0], sign * np.eye(3)[axis])


@pytest.mark.small
def test_what_is_apart_along_the_line_of_centres_is_remembered():
    placed, memory = Placed([box(), box()], [np.eye(4), translation((0.2, -1.5, 0.0))]), PairMemory(DIRECTION)
    assert len(views_of(placed.pairs, placed.frame, placed.shapes, settings(view="separating"), memory).pair) == 0
    direction = memory.records[0]
    assert (transform_points(placed.frame.poses[1], box().vertices) @ direction).min() > (box().vertices @ direction).max()
