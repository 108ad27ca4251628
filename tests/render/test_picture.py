"""Whole pictures: what is red, what is seen, and that size, order and repetition change nothing."""

import hashlib

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.render import Camera, draw, save_picture
from jostle.shapes.mesh import Mesh

SMALL = {"width": 32, "height": 24, "samples": 1}


def cube(size=1.0):
    """Faces 2k and 2k+1 are side k: x low, x high, y low, y high, z low, z high."""
    points = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=np.float64) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(points, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], name="cube")


def moved(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = (x, y, z)
    return pose


def is_red(pixels):
    wide = pixels.astype(int)
    return (wide[..., 0] > 2 * wide[..., 1]) & (wide[..., 0] > 2 * wide[..., 2])


def is_amber(pixels):
    wide = pixels.astype(int)
    return (wide[..., 0] > 1.2 * wide[..., 1]) & (wide[..., 1] > 1.5 * wide[..., 2])


@pytest.mark.small
def test_red_appears_exactly_where_a_highlighted_face_is_seen():
    # The default view comes from the front (y low), the right (x high) and above (z high).
    box = cube()
    for side, visible in ((0, False), (1, True), (2, True), (3, False), (4, False), (5, True)):
        pixels = draw([box], highlight=[[2 * side, 2 * side + 1]], edges="none", **SMALL)
        assert is_red(pixels).any() == visible, side
    assert not is_red(draw([box], edges="none", **SMALL)).any()
    # With every side red, red covers the silhouette: a box this well framed fills a good part of the picture.
    everything = is_red(draw([box], highlight=[np.arange(12)], edges="none", **SMALL))
    assert 0.2 < everything.mean() < 0.9
    plain = draw([box], edges="none", **SMALL)
    empty = draw([], **SMALL)
    assert np.array_equal(everything, (plain != empty).any(axis=2))


@pytest.mark.small
def test_a_body_in_front_hides_red_unless_asked_to_let_it_through():
    camera = Camera.looking_at([[-1, -1, -1], [2, 2, 2]], (0, 1, 0), width=24, height=24, perspective=False)
    box = cube()
    poses = np.stack([np.eye(4), moved(0.0, -2.0, 0.0)])  # the second stands right in front of the first
    settings = {"camera": camera, "samples": 1, "edges": "none"}
    red = [[4, 5], None]
    alone = is_red(draw([box], None, [[4, 5]], **settings))
    assert alone.sum() > 30
    hidden = draw([box, box], poses, red, **settings)
    assert not is_red(hidden).any()
    shining = draw([box, box], poses, red, see_through="marked", **settings).astype(int)
    redder = (shining[..., 0] - shining[..., 2]) - (hidden[..., 0].astype(int) - hidden[..., 2]) > 20
    assert np.array_equal(redder, alone)
    translucent = draw([box, box], poses, red, see_through="bodies", **settings).astype(int)
    reference = draw([box, box], poses, see_through="bodies", **settings).astype(int)
    redder = (translucent[..., 0] - translucent[..., 2]) - (reference[..., 0] - reference[..., 2]) > 20
    assert np.array_equal(redder, alone)


@pytest.mark.small
def test_near_faces_are_amber_and_red_wins():
    box = cube()
    near_only = draw([box], near=[np.arange(12)], edges="none", **SMALL)
    assert is_amber(near_only).any()
    assert not is_red(near_only).any()
    both = draw([box], highlight=[np.arange(12)], near=[np.arange(12)], edges="none", **SMALL)
    assert is_red(both).any()
    assert not is_amber(both).any()


@pytest.mark.small
def test_poses_place_bodies_as_moved_vertices_do():
    box = cube()
    shifted = Mesh(box.vertices + np.array([0.5, 2.0, 0.25]), box.faces)
    camera = Camera.looking_at([[0, 0, 0], [2, 3, 2]], width=32, height=24)
    posed = draw([box, box], np.stack([np.eye(4), moved(0.5, 2.0, 0.25)]), camera=camera, samples=1)
    assert np.array_equal(posed, draw([box, shifted], camera=camera, samples=1))
    assert not np.array_equal(posed, draw([box, box], camera=camera, samples=1))


@pytest.mark.small
@pytest.mark.parametrize("see_through", ["nothing", "marked", "bodies"])
def test_equal_inputs_give_equal_bytes(see_through):
    box = cube()
    poses = np.stack([np.eye(4), moved(0.7, 0.6, 0.4)])
    settings = {"see_through": see_through, "title": "Twice", "width": 24, "height": 18, "samples": 2}
    first, second = (draw([box, box], poses, [[3], [8]], **settings) for _ in range(2))
    assert first.dtype == np.uint8
    assert first.shape == (18, 24, 3)
    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()


@pytest.mark.small
@pytest.mark.parametrize("exponent", [-60, -30, 30, 60])
def test_size_does_not_matter(exponent):
    # Powers of two change no mantissa, so not a single byte may differ.
    box, scaled = cube(), cube().scaled(2.0**exponent)
    pose = moved(*(np.array([0.75, 0.5, 0.375]) * 2.0**exponent))
    original = draw([box, box], np.stack([np.eye(4), moved(0.75, 0.5, 0.375)]), [[3], None], **SMALL)
    assert draw([scaled, scaled], np.stack([np.eye(4), pose]), [[3], None], **SMALL).tobytes() == original.tobytes()


@pytest.mark.small
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_single_face_of_any_size_is_seen(size):
    mesh = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1.0]]) * size, [[0, 1, 2]])
    for see_through in ("nothing", "marked", "bodies"):
        pixels = draw([mesh], highlight=[[0]], see_through=see_through, **SMALL)
        assert 0.05 < is_red(pixels).mean() < 0.6


@pytest.mark.small
def test_empty_and_degenerate_scenes_show_the_background():
    empty = draw([], **SMALL)
    assert empty.shape == (24, 32, 3)
    assert empty.min() > 220
    point = Mesh([[1.0, 2.0, 3.0]], [[0, 0, 0]])
    assert np.array_equal(draw([point], highlight=[[0]], **SMALL), empty)


@pytest.mark.small
def test_lines_are_drawn_where_asked():
    box = cube()
    none, outline, mesh = (
        draw([box], edges=edges, width=64, height=48, samples=1).astype(int) for edges in ("none", "outline", "mesh")
    )
    assert (outline <= none).all()  # lines only darken
    assert (mesh <= outline).all()
    outlined, meshed = ((outline < none).any(axis=2), (mesh < outline).any(axis=2))
    # A box shows nine outlines and creases, and three diagonals.
    assert 80 < outlined.sum() < 400
    assert 15 < meshed.sum() < 150


@pytest.mark.small
def test_smooth_surfaces_have_no_outline_inside():
    # A gently curved sheet seen at an angle: outlines run around it, none across it.
    # Faces are smaller than pixels, so that neighbouring pixels often show faces that share no corner.
    n = 50
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), 0.3 * (x**2 + y**2).ravel()])
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate(
        [np.column_stack([corner, corner + n, corner + 1]), np.column_stack([corner + 1, corner + n, corner + n + 1])]
    )
    settings = {"width": 40, "height": 40, "samples": 1}
    sheet = Mesh(points, faces)
    none, outline = (draw([sheet], edges=edges, **settings).astype(int) for edges in ("none", "outline"))
    lines = (outline != none).any(axis=2)
    covered = (none != draw([], **settings)).any(axis=2)
    core = covered.copy()
    for shift in range(1, 3):
        for axis in (0, 1):
            core &= np.roll(covered, shift, axis) & np.roll(covered, -shift, axis)
    assert core.sum() > 100
    assert lines.any()
    assert not lines[core].any()


@pytest.mark.small
def test_a_body_that_hides_part_of_itself_has_an_outline_there():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], dtype=np.float64)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    both = Mesh(np.concatenate([square, square * 3 + np.array([-1.0, 2.0, -1.0])]), np.concatenate([faces, faces + 4]))
    camera = Camera.looking_at([[-1, 0, -1], [2, 2, 2]], (0, 1, 0), width=30, height=30, perspective=False, margin=0.0)
    none, outline = (draw([both], camera=camera, edges=edges, samples=1).astype(int) for edges in ("none", "outline"))
    lines = (none != outline).any(axis=2)
    # Both squares have one colour; the small one covers pixels 10…19 of the large one that fills the picture.
    assert not lines[5].any()
    assert lines[15, 8:12].any()
    assert lines[15, 18:22].any()
    assert not lines[15, 12:18].any()


@pytest.mark.small
def test_a_steep_neighbour_is_no_outline():
    # Two strips that share an edge, seen along y, rising at 72.5° and at 88.3°: depth jumps, but the surface goes on.
    profile = [(0.0, 0.0), (0.98, 3.1), (1.5, 3.1 + 0.52 * 33.0)]
    points = [[x, y, z] for x, y in profile for z in (0.0, 1.5)]
    strips = Mesh(points, [[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]])
    camera = Camera.looking_at([[0, 0, 0], [1.5, 20, 1.5]], (0, 1, 0), width=30, height=30, perspective=False, margin=0.1)
    none, outline = (draw([strips], camera=camera, edges=edges, samples=1).astype(int) for edges in ("none", "outline"))
    lines = (none != outline).any(axis=2)
    assert lines[15].any()
    assert not lines[15, 8:22].any()


@pytest.mark.small
def test_the_back_of_a_face_is_lit_like_its_front_only_darker():
    points = [[0, 0, 0], [1, 0, 0], [0, 0, 1.0]]
    front = draw([Mesh(points, [[0, 1, 2]])], edges="none", **SMALL).astype(float)
    back = draw([Mesh(points, [[0, 2, 1]])], edges="none", **SMALL).astype(float)
    covered = (front != draw([], **SMALL)).any(axis=2)
    assert np.array_equal(covered, (back != draw([], **SMALL)).any(axis=2))
    ratio = back[covered].sum() / front[covered].sum()
    assert 0.8 < ratio < 0.9


@pytest.mark.small
def test_translucent_layers_add_up():
    # One square or three in a row, seen from the front. Adding the same colour c in layers of opacity p to a ground g
    # gives c + (g - c)(1 - p)^n; one layer tells p, three must then follow.
    square = np.array([[0, 0, 0], [3, 0, 0], [3, 0, 3], [0, 0, 3]], dtype=np.float64)
    mesh = Mesh(square, [[0, 1, 2], [0, 2, 3]])
    camera = Camera.looking_at([[1, 0, 1], [2, 3, 2]], (0, 1, 0), width=9, height=9, perspective=False)
    settings = {"camera": camera, "samples": 1, "edges": "none", "see_through": "bodies"}
    grey = [(60, 60, 60)]
    ground = draw([], **settings).astype(float)
    solid = draw([mesh], camera=camera, samples=1, edges="none", colours=grey).astype(float)
    one = draw([mesh], colours=grey, **settings).astype(float)
    three = draw([mesh] * 3, np.stack([moved(0, y, 0) for y in range(3)]), colours=grey * 3, **settings).astype(float)
    through = (one - solid) / (ground - solid)
    assert (through > 0.5).all()
    assert np.allclose(three, solid + (ground - solid) * through**3, atol=3.0)


@pytest.mark.small
def test_text_changes_only_the_top_and_the_bottom():
    plain = draw([cube()], width=120, height=80, samples=1)
    labelled = draw([cube()], width=120, height=80, samples=1, title="Title", caption="Caption")
    changed = (plain != labelled).any(axis=(1, 2))
    assert changed[:20].any()
    assert changed[-20:].any()
    assert not changed[20:-20].any()


@pytest.mark.small
def test_colours_can_be_chosen():
    pixels = draw([cube()], colours=[(20, 200, 20)], edges="none", **SMALL).astype(int)
    green = pixels[..., 1] > 2 * pixels[..., 0]
    assert green.mean() > 0.2


@pytest.mark.small
def test_supersampling_averages_the_samples():
    # The same camera with twice the pixels, averaged by hand, differs by rounding only (and no lines: they scale with samples).
    camera = Camera.looking_at([[0, 0, 0], [1, 1, 1]], width=16, height=12)
    fine = draw([cube()], camera=camera.supersampled(2), samples=1, edges="none").astype(float)
    empty = draw([], camera=camera, samples=1).astype(float)
    averaged = fine.reshape(12, 2, 16, 2, 3).mean(axis=(1, 3))
    smooth = draw([cube()], camera=camera, samples=2, edges="none").astype(float)
    covered = (smooth != empty).any(axis=2)
    assert np.abs(averaged - smooth)[covered].max() <= 2.0


@pytest.mark.small
def test_a_saved_picture_is_a_png_file(tmp_path):
    save_picture(tmp_path / "box.png", [cube()], None, highlight=[[1]], **SMALL)
    assert (tmp_path / "box.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(InputError, match="no directory"):
        save_picture(tmp_path / "no" / "box.png", [cube()], **SMALL)


@pytest.mark.small
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"highlight": [[12]]}, "'cube'.*highlight holds face 12"),
        ({"highlight": [[-1]]}, "highlight holds face -1"),
        ({"near": [[0.5]]}, "near has dtype float64"),
        ({"highlight": [[0], [1]]}, "highlight has 2 entries for 1 bodies"),
        ({"poses": np.eye(4)}, "poses has shape"),
        ({"edges": "all"}, "edges"),
        ({"see_through": "walls"}, "see_through"),
        ({"samples": 0}, "samples"),
        ({"width": 0}, "width"),
        ({"up": (0, 0, 0)}, "up is zero"),
        ({"colours": [(1, 2, 300)]}, "colours"),
    ],
)
def test_bad_arguments_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        draw([cube()], **{**SMALL, **settings})
