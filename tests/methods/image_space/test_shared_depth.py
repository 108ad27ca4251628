"""Bodies drawn once on one lattice: the pixels that collide are those of rays through the centres, whoever shares a map."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.methods.image_space import shared_depth
from jostle.methods.image_space.shared_depth import decide_on_shared_maps
from jostle.methods.image_space.software import SoftwareRenderer
from jostle.methods.image_space.workspace import ALL, ONE, ONE_PER_PAIR
from jostle.shapes import build
from tests.methods.image_space.placed import Placed, applied, random_pose, settings
from tests.methods.image_space.rays import common_at_pixels
from tests.tiny import box


def decided(placed, view="z", accuracy=0.1, wanted=ALL, software=None):
    chosen = settings(view=view, accuracy=accuracy)
    return decide_on_shared_maps(placed.pairs, placed.frame, placed.shapes, chosen, wanted, software)


@pytest.mark.parametrize("view", ["x", "y", "z"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_colliding_pixels_are_those_of_rays(view, offset):
    rng = np.random.default_rng(8)
    meshes = [build.icosahedron(), build.cone(7), box((-0.5, -0.3, -0.4), (0.5, 0.3, 0.4)), build.stellated_dodecahedron()]
    placed = Placed(meshes, [random_pose(rng, 0.6, offset) for _ in meshes])
    views, pixels = decided(placed, view, 0.12, software=SoftwareRenderer(placed.shapes))
    assert (np.hypot(*views.pixel.T) / 2.0 <= 0.12).all()
    found = 0
    for k in range(len(views.pair)):
        a, b = placed.meshes[views.body_a[k]], placed.meshes[views.body_b[k]]
        truth = common_at_pixels(views, k, a, b)
        rows = pixels.view == k
        assert pixels.pixel[rows].tolist() == sorted(truth)
        if a.is_convex and b.is_convex:
            depths = np.array([truth[number][0] for number in sorted(truth)]).reshape(-1, 2)
            assert np.allclose(
                np.stack([pixels.low[rows], pixels.high[rows]], axis=1), depths, rtol=0.0, atol=1e-11 * (1.0 + offset)
            )
        found += len(truth)
    assert found > 50
    assert np.array_equal(np.lexsort((pixels.pixel, pixels.view)), np.arange(len(pixels.view)))


def test_all_tiles_lie_on_one_lattice():
    rng = np.random.default_rng(2)
    placed = Placed([build.icosahedron()] * 5, [random_pose(rng, 1.0) for _ in range(5)])
    views, _ = decided(placed, "y", 0.05)
    assert len(views.pair) > 5
    corners = np.array([applied(matrix, [[0.0, 0.0, 0.0]])[0] for matrix in views.to_world])
    steps = (corners - corners[0])[:, [0, 2]] / views.pixel[0, 0]
    assert np.abs(steps - np.round(steps)).max() < 1e-9
    assert np.ptp(views.pixel) < 1e-15
    assert np.unique(views.direction, axis=0).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize("view", ["x", "z"])
def test_balls_that_meet_when_shrunk_are_found_and_those_apart_are_not(view):
    rng = np.random.default_rng(21)
    ball, accuracy = build.icosphere(2), 0.03
    planes = np.einsum("ij,ij->i", ball.vertices[ball.faces[:, 0]], ball.face_normals)
    inner = planes.min()  # a ball of this radius is inside of the mesh, and the mesh inside of one of radius 1
    met = missed = 0
    for _ in range(30):
        direction = rng.normal(size=3)
        distance = rng.uniform(1.8, 2.1)
        placed = Placed([ball, ball], [random_pose(rng, 0.0), random_pose(rng, 0.0)])
        poses = placed.frame.poses.copy()
        poses[1, :3, 3] = distance * direction / np.linalg.norm(direction)
        placed.move(poses)
        hits = len(decided(placed, view, accuracy, ONE_PER_PAIR)[1].view)
        if distance < 2.0 * (inner - accuracy):
            assert hits == 1
            met += 1
        if distance > 2.0:
            assert hits == 0
            missed += 1
    assert met > 5
    assert missed > 5


def test_one_pixel_of_each_pair_or_of_all_is_the_first():
    rng = np.random.default_rng(4)
    meshes = [build.icosahedron(), build.horseshoe(), box(), build.icosahedron(), box()]
    placed = Placed(meshes, [random_pose(rng, 0.4) for _ in meshes])
    software = SoftwareRenderer(placed.shapes)
    views, every = decided(placed, accuracy=0.02, software=software)
    _, firsts = decided(placed, accuracy=0.02, wanted=ONE_PER_PAIR, software=software)
    _, one = decided(placed, accuracy=0.02, wanted=ONE, software=software)
    assert len(every.view) > 500  # more rows than there is room for at first
    place = np.unique(every.view, return_index=True)[1]
    assert firsts.view.tolist() == every.view[place].tolist()
    assert firsts.pixel.tolist() == every.pixel[place].tolist()
    assert len(one.view) == 1
    assert (int(one.view[0]), int(one.pixel[0])) in list(zip(firsts.view.tolist(), firsts.pixel.tolist(), strict=True))
    assert (every.low <= every.high).all()
    assert every.pixel.max() < int(views.size.max()) ** 2


def test_each_convex_body_is_drawn_once(monkeypatch):
    drawn = []
    real = shared_depth.draw_bodies
    monkeypatch.setattr(shared_depth, "draw_bodies", lambda *arguments: (drawn.append(arguments[0].tolist()), real(*arguments))[1])
    placed = Placed([box()] * 6, [translation((0.1 * k, 0.05 * k, 0.02 * k)) for k in range(5)] + [translation((9.0, 0.0, 0.0))])
    views, pixels = decided(placed)
    assert drawn == [[0, 1, 2, 3, 4]]  # the last one meets nobody
    assert len(views.pair) == len(set(pixels.view.tolist())) == 10


def test_bodies_whose_maps_would_be_too_large_are_drawn_pair_by_pair(monkeypatch):
    rng = np.random.default_rng(14)
    placed = Placed([build.icosahedron(), box(), build.cone(9)], [random_pose(rng, 0.4) for _ in range(3)])
    software = SoftwareRenderer(placed.shapes)
    _, usual = decided(placed, accuracy=0.05)
    monkeypatch.setattr(shared_depth, "MOST_SHARED_PIXELS", 1500)
    _, some = decided(placed, accuracy=0.05, software=software)
    monkeypatch.setattr(shared_depth, "MOST_SHARED_PIXELS", 0)
    _, none = decided(placed, accuracy=0.05, software=software)
    assert len(usual.view) > 100
    for other in (some, none):
        assert np.array_equal(other.view, usual.view)
        assert np.array_equal(other.pixel, usual.pixel)
        assert np.allclose(other.low, usual.low, rtol=0.0, atol=1e-12)
        assert np.allclose(other.high, usual.high, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("accuracy", "pixels"), [(1e-4, r"707\d"), (1e-10, r"7\.07\d*e\+09"), (1e-12, r"7\.07\d*e\+11")])
def test_an_accuracy_too_small_for_a_picture_is_refused(accuracy, pixels):
    """Also where pixels are more than 32 bits can count."""
    placed = Placed([box(), box()], [np.eye(4)] * 2)
    message = rf"accuracy is {accuracy:g}, for which bodies 'box' and 'box 1' need .* {pixels} pixels"
    with pytest.raises(jostle.InputError, match=message) as caught:
        decided(placed, accuracy=accuracy)
    decided(placed, accuracy=float(str(caught.value).split("pass accuracy=")[1].split()[0]), wanted=ONE)


@pytest.mark.parametrize("accuracy", [1e-5, 5e-324])
def test_an_accuracy_too_small_for_a_lattice_is_refused(accuracy):
    placed = Placed([box(), box()], [np.eye(4), translation((1e9, 0.0, 0.0))])
    with pytest.raises(jostle.InputError, match=r"too small for one lattice of pixels over bodies that reach 5e\+08") as caught:
        decided(placed, accuracy=accuracy)
    decided(placed, accuracy=float(str(caught.value).split("pass accuracy=")[1].split()[0]))


def test_an_accuracy_that_rounding_takes_away_is_refused():
    small = box((0.0, 0.0, 0.0), (0.01, 0.01, 0.01))
    placed = Placed([small, small], [translation((1e9, 1e9, 0.0))] * 2)
    with pytest.raises(jostle.InputError, match="coordinates of bodies 'box' and 'box 1' are so large") as caught:
        decided(placed, accuracy=1e-4)
    _, pixels = decided(placed, accuracy=float(str(caught.value).split("pass accuracy=")[1].split()[0]))
    assert len(pixels.view) > 100


def test_a_large_body_is_drawn_only_where_its_pairs_look(monkeypatch):
    drawn = {}
    real = shared_depth.draw_bodies
    monkeypatch.setattr(
        shared_depth,
        "draw_bodies",
        lambda *arguments: (drawn.update(zip(arguments[0].tolist(), arguments[2].tolist(), strict=True)), real(*arguments))[1],
    )
    floor, ball = box((0.0, 0.0, -1.0), (1000.0, 1000.0, 0.0)), build.icosphere(2)
    placed = Placed([floor, ball, ball], [np.eye(4), translation((700.0, 30.0, 0.9)), translation((705.0, 31.0, 1.1))])
    views, pixels = decided(placed, accuracy=0.1)  # the floor is 7,071 pixels across
    assert drawn.keys() == {0, 1}
    assert max(drawn.values()) <= 2.0 / (0.1 * np.sqrt(2.0)) + 2
    for k in range(len(views.pair)):
        truth = common_at_pixels(views, k, placed.meshes[views.body_a[k]], placed.meshes[views.body_b[k]])
        assert pixels.pixel[pixels.view == k].tolist() == sorted(truth)
    assert len(pixels.view) > 15


def test_work_in_slices_gives_the_same_pixels(monkeypatch):
    rng = np.random.default_rng(5)
    placed = Placed([box()] * 5, [random_pose(rng, 0.4) for _ in range(5)])
    views, whole = decided(placed, accuracy=0.03)
    monkeypatch.setattr(shared_depth, "FIRST_SLICE", 1)
    monkeypatch.setattr("jostle.kernels.slices.LARGEST_GROWTH", 1.0)
    views_again, sliced = decided(placed, accuracy=0.03)
    assert len(whole.view) > 200
    assert all(np.array_equal(one, other) for one, other in zip((*views, *whole), (*views_again, *sliced), strict=True))


def test_nothing_to_draw():
    for placed in (Placed([box()], [np.eye(4)]), Placed([box(), box()], [np.eye(4), translation((0.0, 0.0, 3.0))])):
        views, pixels = decided(placed)
        assert len(views.pair) == len(pixels.view) == 0


def test_bodies_that_touch_are_in_the_tile():
    for shift in itertools.product((0.0, 1.0), repeat=3):
        placed = Placed([box(), box()], [np.eye(4), translation(shift)])
        views, _ = decided(placed)
        assert len(views.pair) == 1
        corner = applied(views.to_tile[0, 0], [np.array(shift)])[0]
        assert (corner[:2] >= -views.slack[0, 0]).all()
        assert (corner[:2] <= views.size[0] + views.slack[0, 0]).all()
