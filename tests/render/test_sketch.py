"""What a method shows of itself is where it should be in a picture: strong before bodies, faint behind them, nowhere else."""

import numpy as np
import pytest

from jostle.interface.overlay import Overlay
from jostle.render import Camera, draw
from jostle.render.panels import NOTHING, coloured, set_beside
from jostle.render.sketch import BOX, POINT, SEGMENT, Sketch, dots, lines, sketch_of
from tests.tiny import box

CAMERA = Camera.looking_at([[-2, -2, -2], [2, 2, 2]], (0, 1, 0), width=120, height=120, perspective=False, margin=0.0)
PLAIN = {"camera": CAMERA, "edges": "none", "samples": 3}


def changed(overlay, meshes=(), **settings):
    """Pixels that an overlay changes, as rows and columns."""
    with_it = draw(meshes, overlay=overlay, **PLAIN | settings).astype(int)
    without = draw(meshes, **PLAIN | settings).astype(int)
    return np.abs(with_it - without).sum(axis=2), with_it


def column_row(x, z):
    """Where a point of the plane y = 0 is seen: x to the right, z up, 30 pixels for a unit."""
    return int(60 + 30 * x), int(60 - 30 * z)


@pytest.mark.small
def test_a_segment_is_a_line_from_end_to_end_and_nothing_else():
    overlay = Overlay("", segments=np.array([[[-1.0, 0, 0.5], [1.0, 0, 0.5]]]))
    wide = Camera.looking_at([[-2, -2, -2], [2, 2, 2]], (0, 1, 0), width=1440, height=1440, perspective=False, margin=0.0)
    difference, _ = changed(overlay, camera=wide)
    rows, columns = np.nonzero(difference)
    assert abs(columns.min() - 360) <= 2
    assert abs(columns.max() - 1079) <= 2
    assert rows.min() >= 540 - 2
    assert rows.max() <= 540 + 1
    # Three pixels of 1,440 rows are one and a half of 720.
    assert 2 <= len(np.unique(rows)) <= 4


@pytest.mark.small
@pytest.mark.parametrize("perspective", [False, True])
def test_points_are_where_the_camera_projects_them(perspective):
    camera = Camera.looking_at([[-2, -2, -2], [2, 2, 2]], width=200, height=160, perspective=perspective)
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (5, 3))
    for point in points:
        difference, _ = changed(Overlay("", points=point[None]), camera=camera, samples=3)
        weights = difference / difference.sum()
        x = (weights.sum(axis=0) * (np.arange(200) + 0.5)).sum()
        y = (weights.sum(axis=1) * (np.arange(160) + 0.5)).sum()
        assert np.abs(camera.project(point[None])[0, :2] - (x, y)).max() < 0.3


@pytest.mark.small
def test_before_a_body_it_is_strong_and_behind_it_faint():
    block = box((-1, -1, -1), (1, 1, 1))
    strength = {}
    for name, y in (("before", -1.5), ("on its surface", -1.0), ("behind", 1.5)):
        difference, pixels = changed(Overlay("", points=np.array([[0.0, y, 0.0]])), [block])
        column, row = column_row(0.0, 0.0)
        strength[name] = difference[row, column]
        if name != "behind":
            assert np.abs(pixels[row, column] - POINT).max() < 20
    assert strength["before"] == strength["on its surface"] > 3 * strength["behind"] > 0


@pytest.mark.small
def test_the_top_of_a_filled_box_is_lighter_than_its_bottom():
    sketch = sketch_of(Overlay("", boxes=np.array([[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]])), CAMERA, fill=0.5)
    corners, light = sketch.points[sketch.faces], sketch.colours.sum(axis=1)
    top, bottom = ((corners[:, :, 2] == z).all(axis=1) for z in (1.0, 0.0))
    assert top.sum() == bottom.sum() == 2
    # Two triangles each, at the same two distances: far ones are paler.
    assert (np.sort(light[top]) > np.sort(light[bottom]) + 20.0).all()


@pytest.mark.small
def test_a_box_has_its_twelve_edges_and_is_filled_only_when_asked():
    overlay = Overlay("", boxes=np.array([[[-1.0, -1, -1], [1.0, 1, 1]]]))
    difference, pixels = changed(overlay)
    rows, columns = np.nonzero(difference)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == pytest.approx((30, 89, 30, 89), abs=1.5)
    assert difference[45, 45] == 0  # within a side
    seen = pixels[difference > 0]
    assert (seen[:, 2] > seen[:, 0]).all()  # as blue as BOX is
    assert BOX[2] > 2 * BOX[0]
    filled, _ = changed(overlay, fill=0.5)
    assert filled[45, 45] > 0
    assert filled[10, 10] == 0


@pytest.mark.small
@pytest.mark.parametrize("perspective", [False, True])
def test_a_sphere_has_the_outline_of_a_sphere(perspective):
    from jostle.shapes import build

    camera = Camera.looking_at([[-2, -2, -2], [2, 2, 2]], width=200, height=200, perspective=perspective)
    centre, radius = np.array([0.7, -0.4, 0.3]), 0.9
    ball = build.icosphere(4, radius)
    pose = np.eye(4)
    pose[:3, 3] = centre
    body = (draw([ball], [pose], **PLAIN | {"camera": camera}) != draw([], **PLAIN | {"camera": camera})).any(axis=2)
    shown, _ = changed(Overlay("", spheres=np.array([[*centre, radius]])), camera=camera, fill=0.0)
    difference, _ = changed(Overlay("", spheres=np.array([[*centre, radius]])), camera=camera)
    for mask in (shown > 0, difference > 0):
        for axis in (0, 1):
            ends, true = np.flatnonzero(mask.any(axis=axis)), np.flatnonzero(body.any(axis=axis))
            assert abs(ends[0] - true[0]) <= 1
            assert abs(ends[-1] - true[-1]) <= 1
    assert (difference > 0)[body].mean() > 0.98  # filled


@pytest.mark.small
def test_a_disc_seen_from_the_front_and_edge_on():
    discs = np.array([[0.0, 0, 0, 0, 1, 0, 1.0]])
    difference, _ = changed(Overlay("", discs=discs))
    area = (difference > 0).sum()
    assert area == pytest.approx(np.pi * 30.0**2, rel=0.06)
    discs[0, 3:6] = (1, 0, 0)
    difference, _ = changed(Overlay("", discs=discs))
    assert np.ptp(np.nonzero(difference)[1]) <= 2


@pytest.mark.small
def test_what_is_behind_the_eye_is_left_out_and_what_reaches_there_is_cut():
    camera = Camera(np.zeros(3), np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), 60, 60, 60.0, True, 0.1)
    assert len(lines(np.array([[[0.0, -2, 0], [1, -1, 0]]]), camera, SEGMENT).faces) == 0
    assert len(dots(np.array([[0.0, -2, 0]]), camera, POINT).faces) == 0
    cut = lines(np.array([[[0.1, -2.0, 0], [0.1, 2.0, 0]]]), camera, SEGMENT)
    assert cut.points[:, 1].min() > 0.09
    assert np.isfinite(cut.points).all()
    assert len(Sketch.joined([]).faces) == 0


@pytest.mark.small
def test_images_are_set_beside_with_nothing_where_they_have_no_value():
    depth = np.array([[1.0, np.nan], [2.0, 3.0]])
    colours = coloured(depth)
    assert tuple(colours[0, 1]) == NOTHING
    assert len({tuple(colour) for colour in colours.reshape(-1, 3)}) == 4
    assert tuple(coloured(np.zeros((2, 2), np.uint8))[0, 0]) == NOTHING
    picture = np.full((80, 60, 3), 7, np.uint8)
    beside = set_beside(picture, {"a and b: near depth": depth, "counts": np.array([[0, 1, 2]], np.uint8)})
    assert np.array_equal(beside[:, :60], picture)
    found = {tuple(colour) for colour in beside[:, 60:].reshape(-1, 3)}
    assert {tuple(colour) for colour in colours.reshape(-1, 3)} <= found
    assert set_beside(picture, {}) is picture


@pytest.mark.small
def test_a_body_throws_a_shadow_on_the_ground_beneath_it_and_only_there():
    block = box((-0.5, -0.5, 0), (0.5, 0.5, 1))
    for perspective in (False, True):
        camera = Camera.looking_at([[-3, -3, -1], [3, 3, 1]], (0, 1, -0.7), width=120, height=120, perspective=perspective)
        settings = PLAIN | {"camera": camera}
        lit, shaded = (draw([block], ground=ground, **settings).astype(int) for ground in (False, True))
        darker = (lit - shaded).sum(axis=2)
        assert (darker >= 0).all()
        beneath = camera.project(np.array([[0.1, -0.56, -0.02]]))[0, :2].astype(int)
        far = camera.project(np.array([[2.5, 2.5, -0.02]]))[0, :2].astype(int)
        assert darker[beneath[1], beneath[0]] > 15
        assert darker[far[1], far[0]] == 0
    below = Camera.looking_at([[-3, -3, -1], [3, 3, 1]], (0, 1, 0.7), width=60, height=60)
    assert np.array_equal(*(draw([block], ground=ground, **PLAIN | {"camera": below}) for ground in (False, True)))
