"""Concave bodies by all of their layers, against rays through all faces; and where less than all layers is not enough."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.jit import kernel
from jostle.methods.image_space.layers import pixel_collides
from jostle.methods.image_space.shape_table import open_shapes
from jostle.methods.image_space.software import pair_in_view, view_rows
from jostle.methods.image_space.workspace import ALL, INTERVAL, Workspace, open_work
from jostle.shapes import build
from tests.methods.image_space.rays import common_at_pixels
from tests.methods.image_space.views import as_dict, views_and_renderer
from tests.tiny import box, random_pose


def joined(*meshes):
    """One mesh of several."""
    first = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, first, strict=False)]
    return jostle.Mesh(np.vstack([mesh.vertices for mesh in meshes]), np.vstack(faces), name="joined")


def slabs(*depths):
    """A mesh of slabs of the unit square, each from one depth to another."""
    return joined(*(box((0, 0, low), (1, 1, high)) for low, high in depths))


def meet(mesh_a, mesh_b, pose=None, **settings):
    world = jostle.World(jostle.ImageSpace(**{"view": "z", "resolution": 8, **settings}))
    world.add(mesh_a)
    world.add(mesh_b, pose)
    return bool(world.detect(rows="pairs"))


@pytest.mark.parametrize("settings", [{}, {"test": "stencil"}, {"conservative": True}], ids=str)
@pytest.mark.parametrize("swapped", [False, True])
def test_two_boxes_per_mesh_interleaved(settings, swapped):
    one = slabs((0.0, 1.0), (4.0, 5.0))
    # Before the farthest side of the first lie three faces of the second here, two there: neither parity nor near and far tell.
    for other, expected in (
        (slabs((2.0, 3.0), (6.0, 7.0)), False),
        (slabs((0.5, 1.5), (6.0, 7.0)), True),
        (slabs((2.0, 3.0), (4.5, 6.0)), True),
        (slabs((1.5, 2.0), (2.5, 3.0)), False),
        (slabs((-1.0, 0.5), (2.0, 3.0)), True),
        (slabs((-2.0, -1.0), (2.0, 3.0), (6.0, 7.0)), False),
        (slabs((-2.0, -1.0), (4.25, 4.5), (6.0, 7.0)), True),
    ):
        pair = (other, one) if swapped else (one, other)
        assert meet(*pair, **settings) == expected
        assert meet(*pair, **settings, view="centres") == expected
        assert meet(*pair, **settings, view="axes") == expected


@pytest.mark.parametrize("seed", range(3))
def test_pixels_and_depths_are_those_of_rays(seed):
    rng = np.random.default_rng(seed)
    hollow = joined(build.icosphere(1), jostle.Mesh(0.6 * build.icosphere(1).vertices, build.icosphere(1).faces[:, ::-1]))
    bodies = [
        build.torus(0.7, 0.3, 12, 8),
        build.stellated_dodecahedron(1.0),
        hollow,
        joined(build.icosphere(1, 0.5), build.icosphere(1, 0.5).moved(translation((0.4, 0.2, 0.1)))),  # they overlap
        jostle.Mesh(build.torus(0.7, 0.3, 12, 8).vertices, build.torus(0.7, 0.3, 12, 8).faces[:, ::-1]),  # inside out
    ]
    several = colliding = 0
    for number in range(5):
        mesh_a, mesh_b = bodies[number], bodies[(number + seed) % 5]
        away = rng.normal(size=3)
        poses = random_pose(rng, 0.1), translation(away * rng.uniform(0.2, 1.3) / np.linalg.norm(away)) @ random_pose(rng, 0.0)
        views, renderer = views_and_renderer(mesh_a, poses[0], mesh_b, poses[1], resolution=17)
        found = as_dict(renderer.colliding_pixels(views, INTERVAL, ALL, 1))
        expected = common_at_pixels(views, 0, mesh_a, mesh_b) if len(views.pair) else {}
        assert found.keys() == expected.keys()
        for pixel, intervals in expected.items():
            longest = max(high - low for low, high in intervals)
            low, high = found[pixel]
            assert high - low == pytest.approx(longest, abs=1e-12)
            assert min(abs(low - a) + abs(high - b) for a, b in intervals) < 1e-12
            several += len(intervals) > 1
        colliding += len(expected)
    assert colliding > 50
    assert several >= 3


@kernel
def decide_pixel(views, shapes, work, pixel):
    return pixel_collides(open_work(work), pair_in_view(views, open_shapes(shapes), 0, 1), pixel)


def test_one_pixel_is_decided_as_in_the_whole_tile():
    """Pixel by pixel, also where bodies only touch; with too little room it is not decided."""
    rng = np.random.default_rng(4)
    bodies = [build.torus(0.7, 0.3, 12, 8), build.icosphere(1, 0.6), build.cone(12, 0.5, 1.0), slabs((0.0, 0.2), (0.2, 0.6))]
    colliding = 0
    for number in range(16):
        mesh_a, mesh_b = bodies[number % 4], bodies[number // 4]
        pose = random_pose(rng, 0.3)
        others = (pose @ translation((0.0, 0.0, 0.6)), random_pose(rng, 0.3))
        views, renderer = views_and_renderer(mesh_a, pose, mesh_b, others[number % 2], resolution=13, view="xyz"[number % 3])
        if len(views.pair) == 0:
            continue
        found = renderer.colliding_pixels(views, INTERVAL, ALL, 1).pixel.tolist()
        rows, shapes, size = view_rows(views), renderer._shapes.addresses, int(views.size[0])

        def decided(pixel, room, rows=rows, shapes=shapes):
            work = Workspace(1, room)
            return decide_pixel(rows, shapes, work.addresses, pixel)

        assert [pixel for pixel in range(size * size) if decided(pixel, 64)] == found
        assert not any(decided(pixel, 3) for pixel in found)
        colliding += len(found)
    assert colliding > 300


@pytest.mark.parametrize("settings", [{}, {"test": "stencil"}, {"conservative": True}], ids=str)
def test_more_layers_than_a_stencil_counts(settings):
    many = slabs(*((0.01 * k, 0.01 * k + 0.005) for k in range(300)))
    for middle, expected in ((2.9925, True), (2.9875, False), (0.0075, False), (0.0025, True)):
        thin = slabs((middle - 0.001, middle + 0.001), (10.0, 11.0))
        for pair in ((many, thin), (thin, many)):
            assert meet(*pair, **settings) == expected


def test_a_deforming_body_is_followed_and_taken_for_concave():
    ball = build.icosphere(2, 0.5)
    world = jostle.World("image_space")
    soft = world.add(ball, deformable=True)
    world.add(build.icosphere(2, 0.5), translation((1.2, 0, 0)) @ rotation_about((0, 0, 1), 0.3))
    assert not world.detect()
    soft.vertices = ball.vertices * (1.8, 1, 1)
    report = world.detect()
    assert len(report.contacts) > 10
    soft.vertices = ball.vertices  # what was reported stays, whether it was looked at or not
    assert not world.detect()
    assert report.contacts.point[:, 0].min() > 0.69
    assert (report.contacts.normal[:, 0] > 0.5).all()
    # A bowl: what is in it is free.
    bowl = build.icosphere(3, 1.0)
    points = bowl.vertices.copy()
    upper = points[:, 2] > 0
    points[upper] = points[upper] * (0.8, 0.8, -0.8)
    world = jostle.World("image_space")
    soft = world.add(bowl, deformable=True)
    world.add(build.icosphere(2, 0.3), translation((0, 0, 0.1)))
    assert world.detect()
    soft.vertices = points
    assert not world.detect()
    world.add(box((-0.1, -0.1, -0.95), (0.1, 0.1, -0.9)))
    assert set(world.detect().pairs) == {(0, 2)}
