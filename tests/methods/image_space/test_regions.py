"""Regions hold what two solids have in common, tile coordinates are within their slack, and tiles have the size asked for."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.geometry.winding import crossing_winding
from jostle.kernels.arrays import read_only_view
from jostle.methods.image_space.regions import (
    HEIGHT,
    MIDDLE,
    MOST_RESOLUTION,
    WIDTH,
    lay_out,
    regions_of,
    slack_of,
    views_of,
)
from jostle.methods.image_space.shape import follow, own_copy, prepare
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.shapes import build
from tests.methods.image_space.placed import VIEWS, Placed, applied, random_pose, settings
from tests.tiny import box, tetrahedron

STAR, RING, COMB = build.stellated_dodecahedron(), build.torus(segments=16, sides=8), build.comb()
# Offset from the origin, and what rotations are off by.
PLACES = [(0.0, 0.0), (1e3, 1e-6), (1e7, 3e-6)]


def inside_both(placed, points):
    """Which of points (n,3) are inside of, or on, body 0 and body 1."""
    both = np.ones(len(points), bool)
    for body in (0, 1):
        vertices, faces = read_only_view(placed.vertices(body)), read_only_view(placed.meshes[body].faces)
        for k in np.flatnonzero(both):
            winding, on_surface = crossing_winding(points[k].copy(), vertices, faces)
            both[k] = winding != 0 or on_surface
    return both


def assert_in_tile(views, view, world_points):
    """World points are in the tile, by the inverse of the matrix that leads out of it."""
    matrix = views.to_world[view].reshape(3, 4)
    tile = np.linalg.solve(matrix[:, :3], (world_points - matrix[:, 3]).T).T
    size, slack = views.size[view], views.slack[view, 0]
    assert tile[:, :2].min() >= -1e-9 - slack
    assert tile[:, :2].max() <= size + 1e-9 + slack


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize(("mesh_a", "mesh_b"), [(STAR, RING), (RING, COMB), (STAR, STAR)])
def test_what_solids_have_in_common_is_in_the_tile(mesh_a, mesh_b, offset):
    rng = np.random.default_rng(5)
    met = 0
    for _ in range(6):
        placed = Placed([mesh_a, mesh_b], [random_pose(rng, 0.5, offset) for _ in range(2)])
        worlds = [placed.vertices(k) for k in (0, 1)]
        lower = np.maximum(worlds[0].min(axis=0), worlds[1].min(axis=0))
        upper = np.minimum(worlds[0].max(axis=0), worlds[1].max(axis=0))
        points = rng.uniform(0.0, 1.0, (600, 3)) * (upper - lower) + lower
        points = points[inside_both(placed, points)]
        met += len(points) > 0
        for view in VIEWS:
            views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view))
            if len(points):
                assert len(views.pair) == (3 if view == "axes" else 1)
            for k in range(len(views.pair)):
                if len(points):
                    assert_in_tile(views, k, points)
    assert met >= 3


@pytest.mark.small
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("offset", "defect"), PLACES)
def test_vertices_that_coincide_are_in_the_tile(view, offset, defect):
    """B has a world vertex of A as its own: the solids share that point, and often no other."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        mesh, pose = tetrahedron(), random_pose(rng, 1.0, offset, defect)
        world = transform_points(pose, mesh.vertices)
        touched = world[rng.integers(4)]
        away = touched - world.mean(axis=0)
        corners = np.vstack([touched, touched + away + rng.normal(size=(3, 3)) * 0.3 * np.linalg.norm(away)])
        if np.linalg.det(corners[1:] - corners[0]) < 0.0:
            corners = corners[[0, 2, 1, 3]]
        other = jostle.Mesh(corners, mesh.faces)
        placed = Placed([mesh, other], [pose, np.eye(4)])
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view))
        assert len(views.pair) == (3 if view == "axes" else 1)
        for k in range(len(views.pair)):
            for body, m in ((0, mesh), (1, other)):
                place = np.flatnonzero((placed.vertices(body) == touched).all(axis=1))
                tile = applied(views.to_tile[k, body], m.vertices[place])
                assert (tile[:, :2] >= 0.0).all()
                assert (tile[:, :2] <= views.size[k]).all()


def rational(values):
    return [Fraction(float(value)) for value in values]


@pytest.mark.small
@pytest.mark.parametrize("view", ["y", "centres"])
@pytest.mark.parametrize(("offset", "defect"), PLACES)
def test_tile_coordinates_are_within_the_slack_of_rational_ones(view, offset, defect):
    """s u (w - c) + n/2 in fractions against float64, in every order of summing; and the bound is not idle."""
    rng = np.random.default_rng(3)
    worst = 0.0
    for _ in range(4):
        poses = [random_pose(rng, 0.4, offset, defect) for _ in range(2)]
        meshes = [box((-0.7, -0.2, -0.4), (0.5, 0.9, 0.3)), build.icosahedron()]
        placed = Placed(meshes, poses)
        numbers, regions = regions_of(placed.pairs, placed.frame, placed.shapes, view)
        views = lay_out(placed.pairs, placed.frame, numbers, regions, np.array([37], np.int32))
        row = regions[0]
        centre, half = rational(row[MIDDLE : MIDDLE + 3]), Fraction(37, 2)
        for body in (0, 1):
            for vertex, world in zip(meshes[body].vertices, placed.vertices(body), strict=True):
                away = [w - c for w, c in zip(rational(world), centre, strict=True)]
                for axis, side in enumerate((WIDTH, HEIGHT, None)):
                    exact = sum(u * x for u, x in zip(rational(row[3 * axis : 3 * axis + 3]), away, strict=True))
                    if side is not None:
                        exact = exact * Fraction(18.5 / float(row[side])) + half
                    entries = views.to_tile[0, body, 4 * axis : 4 * axis + 4]
                    terms = [float(entries[k] * vertex[k]) for k in range(3)] + [float(entries[3])]
                    slack = float(views.slack[0, 0 if axis < 2 else 1])
                    for order in permutations(terms):
                        off = abs(float(Fraction(((order[0] + order[1]) + order[2]) + order[3]) - exact))
                        worst = max(worst, off / slack)
    assert 1e-4 < worst < 1.0


@pytest.mark.small
@pytest.mark.parametrize(("offset", "defect"), PLACES)
def test_views_lead_to_the_tile_and_back(offset, defect):
    rng = np.random.default_rng(8)
    placed = Placed([tetrahedron(), box(), build.icosahedron()], [random_pose(rng, 0.4, offset, defect) for _ in range(3)])
    for view in VIEWS:
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view, resolution=50))
        assert len(views.pair) >= 2
        for k in range(len(views.pair)):
            for role, body in ((0, views.body_a[k]), (1, views.body_b[k])):
                back = applied(views.to_world[k], applied(views.to_tile[k, role], placed.meshes[body].vertices))
                assert np.abs(back - placed.vertices(body)).max() <= 4.0 * views.slack[k, 1]
            axes = views.to_world[k].reshape(3, 4)[:, :3] / [*views.pixel[k], 1.0]
            assert np.abs(axes.T @ axes - np.eye(3)).max() < 1e-14
            assert np.linalg.det(axes) > 0.0
            assert np.array_equal(axes[:, 2], views.direction[k])


@pytest.mark.small
def test_the_region_of_two_boxes_is_their_overlap():
    placed = Placed([box(), box()], [np.eye(4), translation((0.75, -0.5, 0.25))])
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z", resolution=10))
    assert np.allclose(views.pixel[0], [0.025, 0.05], rtol=1e-12)
    # The lower left corner of the tile, half way between the nearest and the farthest common depth.
    assert np.allclose(applied(views.to_world[0], [[0.0, 0.0, 0.0]]), [[0.75, 0.0, 0.625]], rtol=0.0, atol=1e-12)
    assert views.slack[0, 1] < 1e-12
    assert views.slack[0, 0] < 1e-10


@pytest.mark.small
def test_only_patches_over_the_other_body_count():
    """Towers in a row, one of them deep: what lies over a small body knows nothing of the others."""
    towers = [box((x, 0.0, -20.0 if x == 40.0 else 0.0), (x + 1.0, 1.0, 5.0)) for x in np.arange(0.0, 60.0, 2.0)]
    faces = np.concatenate([tower.faces + 8 * k for k, tower in enumerate(towers)])
    row = jostle.Mesh(np.concatenate([tower.vertices for tower in towers]), faces)
    placed = Placed([row, box((10.25, 0.25, -7.0), (10.75, 0.75, -6.0))], [np.eye(4)] * 2)
    assert len(placed.shapes.shapes[0].centre) > 4
    assert len(views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z")).pair) == 0
    # A bar that reaches over the gap at 11 … 12 and into it from above: patches of several towers bound the region.
    placed = Placed([row, box((9.5, 0.25, 4.0), (13.5, 0.75, 6.0))], [np.eye(4)] * 2)
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z", resolution=1))
    assert np.allclose(views.pixel, [[4.0, 0.5]], rtol=1e-9)


@pytest.mark.small
@pytest.mark.parametrize("view", VIEWS)
def test_a_body_inside_of_another_is_seen_in_its_own_extents(view):
    """No patch of the outer surface is near: columns through it are."""
    placed = Placed([build.icosphere(2), box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))], [np.eye(4), translation((0.2, 0.1, 0.3))])
    assert len(placed.shapes.shapes[0].centre) > 4
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view, resolution=1))
    assert len(views.pair) == (3 if view == "axes" else 1)
    if view in "xyz" or view == "axes":
        assert np.allclose(views.pixel, 0.2, rtol=1e-9)


@pytest.mark.small
@pytest.mark.parametrize("view", VIEWS)
def test_regions_are_never_of_no_size(view):
    """Boxes that share a corner, an edge, a face, or all; bodies that are flat, and as good as a point."""
    flat = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    speck = box((0.5, 0.5, 0.5), (0.5 + 1e-15,) * 3)
    for shift in ((1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)):
        for mesh in (box(), flat, speck):
            placed = Placed([box(), mesh], [np.eye(4), translation(shift if mesh is not speck else (0, 0, 0))])
            views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view))
            if mesh is not flat:
                assert len(views.pair) == (3 if view == "axes" else 1)
            assert (views.pixel > 0.0).all()
            assert np.isfinite(views.to_tile).all()
            assert np.isfinite(views.slack).all()


@pytest.mark.small
def test_resolutions_are_fixed_or_follow_from_an_accuracy_or_a_budget():
    placed = Placed([box(), box(), box()], [np.eye(4), translation((0.5, 0.0, 0.3)), translation((0.0, 0.9, 0.1))])
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(resolution=77))
    assert views.size.tolist() == [77] * 3
    # A device may err within 1/16 of a pixel: an eighth of half a pixel.
    for chosen, share in (({}, 0.5), ({"conservative": True}, 1.0), ({"renderer": "auto"}, 0.5 * 1.125)):
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z", accuracy=0.01, **chosen))
        diagonal = share * np.hypot(*views.pixel.T)
        assert (diagonal <= 0.01).all()
        assert (diagonal * views.size / (views.size - 1) > 0.01).all()  # one pixel less would be too coarse
    assert views_of(placed.pairs, placed.frame, placed.shapes, settings(accuracy=100.0)).size.tolist() == [1] * 3
    for pixels, size in ((3 * 100**2, 100), (3 * 100**2 - 1, 99), (5, 8), (10**9, 1024)):
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings(pixels=pixels))
        assert views.size.tolist() == [size] * 3


@pytest.mark.small
@pytest.mark.parametrize("accuracy", [1e-5, 1e-10, 1e-14, 1e-300, 5e-324])
def test_an_accuracy_that_needs_too_large_a_picture_is_refused_with_one_that_does_not(accuracy):
    placed = Placed([box(), box()], [np.eye(4), translation((0.5, 0.0, 0.0))])
    with pytest.raises(jostle.InputError, match=f"accuracy is {accuracy:g}, for which bodies 'box' and 'box 1'") as caught:
        views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z", accuracy=accuracy))
    least = float(str(caught.value).split("pass accuracy=")[1].split()[0])
    size = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z", accuracy=least)).size[0]
    assert 0.9 * MOST_RESOLUTION < size <= MOST_RESOLUTION


@pytest.mark.parametrize("conservative", [False, True])
def test_pixels_leave_room_for_rounding_and_an_accuracy_without_room_is_refused(conservative):
    """Boxes of 1 mm at 1e9: a coordinate is off by 1e-7, and what is proved about it is a hundred times that."""
    small = box((0.0, 0.0, 0.0), (1e-3, 1e-3, 1e-3))
    placed = Placed([small, small], [translation((1e9, 1e9, 1e9)), translation((1e9 + 2.0**-12, 1e9, 1e9))])
    chosen = {"view": "z", "conservative": conservative}
    with pytest.raises(jostle.InputError, match="coordinates of bodies 'box' and 'box 1' are so large") as caught:
        views_of(placed.pairs, placed.frame, placed.shapes, settings(accuracy=1e-4, **chosen))
    least = float(str(caught.value).split("pass accuracy=")[1].split()[0])
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(accuracy=least, **chosen))
    diagonal = np.hypot(*views.pixel[0]) * (1.0 if conservative else 0.5)
    assert diagonal + 10.0 * views.slack[0, 1] <= least


@pytest.mark.small
def test_three_views_of_a_pair_come_with_the_smallest_region_first():
    placed = Placed([box()] * 3, [np.eye(4), translation((0.9, 0.5, 0.2)), translation((0.3, 0.8, 0.1))])
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="axes"))
    assert views.pair.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    area = (views.pixel[:, 0] * views.pixel[:, 1]).reshape(3, 3)
    assert (np.diff(area, axis=1) >= 0.0).all()
    assert views.direction[:3].argmax(axis=1).tolist() == [2, 1, 0]  # sides 0.1, 0.5, 0.8: 0.05, 0.08, 0.4
    assert set(views.direction[:, 0]) == {0.0, 1.0}


@pytest.mark.small
def test_which_body_is_called_a_does_not_move_the_pixel_centres():
    rng = np.random.default_rng(2)
    poses = [random_pose(rng, 0.4) for _ in range(2)]
    ahead = Placed([tetrahedron(), box()], poses)
    back = Placed([box(), tetrahedron()], poses[::-1])
    one, other = (views_of(placed.pairs, placed.frame, placed.shapes, settings(resolution=5)) for placed in (ahead, back))
    x, y = (grid.ravel() + 0.5 for grid in np.meshgrid(np.arange(5.0), np.arange(5.0)))
    centres = np.stack([x, y, np.zeros(25)], axis=1)
    mirrored = np.stack([x, 5.0 - y, np.zeros(25)], axis=1)
    assert np.allclose(one.direction, -other.direction, rtol=0.0, atol=1e-15)
    assert np.allclose(applied(one.to_world[0], centres), applied(other.to_world[0], mirrored), rtol=0.0, atol=1e-12)


def test_which_body_is_called_a_does_not_change_the_region():
    """Also of bodies of many patches, some of which are not over what is left of the other."""
    rng = np.random.default_rng(0)
    meshes = [COMB, build.torus(segments=60, sides=20), build.horseshoe(), build.blob(3000)]
    seen = 0
    for _ in range(120):
        pair, poses = [meshes[k] for k in rng.integers(len(meshes), size=2)], [random_pose(rng, 0.5) for _ in range(2)]
        found = []
        for order in (1, -1):
            placed = Placed(pair[::order], poses[::order])
            found.append(regions_of(placed.pairs, placed.frame, placed.shapes, "z")[1])
        assert np.allclose(*found, rtol=0.0, atol=1e-12)
        seen += len(found[0])
    assert seen > 80


@pytest.mark.small
@pytest.mark.parametrize("view", ["centres", "separating"])
def test_which_body_is_called_a_does_not_turn_the_picture_of_bodies_of_one_height(view):
    """The line of centres is level: both ways along it have the same zero for z."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        poses = [translation((*rng.uniform(-0.4, 0.4, 2), 0.25)) @ rotation_about((0, 0, 1), rng.uniform(0.0, 6.0)) for _ in "ab"]
        # About their own middles: turning about z leaves the heights equal.
        meshes = [box((-0.5, -0.3, -0.4), (0.5, 0.3, 0.4)), build.icosahedron()]
        one, other = Placed(meshes, poses), Placed(meshes[::-1], poses[::-1])
        ahead, back = (regions_of(each.pairs, each.frame, each.shapes, view)[1][0] for each in (one, other))
        assert ahead[8] == 0.0
        assert np.allclose(ahead[[WIDTH, HEIGHT]], back[[WIDTH, HEIGHT]], rtol=0.0, atol=1e-12)
        assert np.allclose(ahead[:3], back[:3], rtol=0.0, atol=1e-12)


@pytest.mark.small
def test_no_pairs_and_shapes_that_change_in_place():
    nothing = Placed([box()], [np.eye(4)])
    for view in VIEWS:
        views = views_of(nothing.pairs, nothing.frame, nothing.shapes, settings(view=view, pixels=100))
        assert len(views.pair) == len(views.to_tile) == 0
    placed = Placed([box(), box()], [np.eye(4), translation((1.5, 0.0, 0.0))])
    own = own_copy(prepare(box()))
    shapes = ShapesOfBodies([own, placed.shapes.shapes[1]])
    assert len(views_of(placed.pairs, placed.frame, shapes, settings(view="z")).pair) == 0
    follow(own, box().vertices * 2.0)
    views = views_of(placed.pairs, placed.frame, shapes, settings(view="z", resolution=2))
    assert np.allclose(views.pixel, [[0.25, 0.5]], rtol=1e-12)


@pytest.mark.small
@pytest.mark.parametrize("view", ["centres", "axes"])
def test_work_in_slices_gives_the_same_views(view, monkeypatch):
    rng = np.random.default_rng(17)
    placed = Placed([tetrahedron()] * 8, [random_pose(rng, 0.6) for _ in range(8)])
    whole = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view))
    monkeypatch.setattr("jostle.methods.image_space.regions.FIRST_SLICE", 1)
    monkeypatch.setattr("jostle.kernels.slices.LARGEST_GROWTH", 1.0)
    sliced = views_of(placed.pairs, placed.frame, placed.shapes, settings(view=view))
    assert len(whole.pair) > 5
    assert all(np.array_equal(one, other) for one, other in zip(whole, sliced, strict=True))


@pytest.mark.small
def test_the_slack_is_what_the_proof_says():
    assert slack_of(3.0, 1.0) == pytest.approx(128 * 2.0**-53 * 4.0 + 1e-28, rel=1e-15)
    turned = translation((5.0, 0.0, 0.0)) @ rotation_about((1, 2, 3), 0.5)
    placed = Placed([box((-1, -1, -1), (2, 2, 2)), box()], [turned, turned])
    views = views_of(placed.pairs, placed.frame, placed.shapes, settings(view="z"))
    assert 128 * 2.0**-53 * 7.0 < views.slack[0, 1] < 128 * 2.0**-53 * 12.0
