"""The device decides as rays in float64 do, but for centres within 1/16 pixel of an edge and depths within their error."""

from typing import NamedTuple

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.methods.image_space.gpu import pieces as packing
from jostle.methods.image_space.gpu import renderer as drawing
from jostle.methods.image_space.gpu.check import failed_case
from jostle.methods.image_space.gpu.pipelines import Pipelines
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape import follow, own_copy, prepare
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.methods.image_space.software import SoftwareRenderer
from jostle.methods.image_space.workspace import ALL, INTERVAL
from jostle.shapes import build
from jostle.shapes.mesh import Mesh
from tests.methods.image_space.gpu.pixel_truth import random_pose, seen, views_along_z

DEPTH_ERROR = 2.0**-20  # of the sizes here, about 4


def convex_meshes():
    return [
        build.cone(face_count=60),
        build.box((1.2, 0.7, 0.9)),
        build.icosphere(2, 0.7),
        build.polytope36(3),
        build.ellipsoid(120, (0.9, 0.5, 0.3)),
        build.icosahedron(),
    ]


def concave_meshes():
    apart = [build.box((1.4, 1.4, 0.2), (0, 0, z)) for z in (-0.6, 0.0, 0.6)]
    inverted = build.torus(0.6, 0.25, 16, 9)
    return [
        build.torus(0.6, 0.25, 18, 10),
        together(apart),
        build.stellated_dodecahedron(0.9),
        build.comb(),
        Mesh(inverted.vertices, inverted.faces[:, ::-1]),
        together([build.box((1.0, 0.4, 0.5)), build.box((0.4, 0.9, 0.6), (0.2, 0.1, 0.2))]),  # winding number 2 where both are
    ]


def together(meshes):
    counts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + first for mesh, first in zip(meshes, counts[:-1], strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def crowd(meshes, count, seed, spread=0.75):
    """Bodies that take turns with the meshes, around the origin, and all pairs of them."""
    rng = np.random.default_rng(seed)
    bodies = [meshes[k % len(meshes)] for k in range(count)]
    poses = [random_pose(rng, rng.uniform(-spread, spread, 3)) for _ in bodies]
    return bodies, poses, [(a, b) for b in range(count) for a in range(b)]


def shapes_of(bodies):
    made = {id(mesh): prepare(mesh) for mesh in bodies}
    return tuple(made[id(mesh)] for mesh in bodies)


class Scene(NamedTuple):
    bodies: list
    views: Views
    truths: list  # of each view

    @property
    def shapes(self):
        return shapes_of(self.bodies)


def scene(bodies, views):
    pairs = zip(views.body_a, views.body_b, strict=True)
    return Scene(bodies, views, [seen(bodies[a], bodies[b], views, row, DEPTH_ERROR) for row, (a, b) in enumerate(pairs)])


@pytest.fixture(scope="module")
def convex_scene():
    bodies, poses, pairs = crowd(convex_meshes(), 8, seed=1)
    return scene(bodies, views_along_z(bodies, poses, pairs, [(19, 7, 22, 1)[k % 4] for k in range(len(pairs))]))


@pytest.fixture(scope="module")
def concave_scene():
    bodies, poses, pairs = crowd(concave_meshes(), 6, seed=2, spread=0.5)
    return scene(bodies, views_along_z(bodies, poses, pairs, [(16, 9, 20)[k % 3] for k in range(len(pairs))]))


@pytest.fixture(scope="module")
def mixed_scene():
    bodies, poses, pairs = crowd([*convex_meshes()[:3], *concave_meshes()[:2]], 5, seed=3, spread=0.4)
    return scene(bodies, views_along_z(bodies, poses, pairs, [12] * len(pairs)))


def assert_true(found, scene, test="interval"):
    """Compare with the truth; return how many pixels were sure and how many not."""
    sure = unsure = 0
    shapes, views = scene.shapes, scene.views
    for row, truth in enumerate(scene.truths):
        convex = shapes[views.body_a[row]].convex and shapes[views.body_b[row]].convex
        sure, unsure = sure + int(views.size[row]) ** 2 - len(truth.perhaps), unsure + len(truth.perhaps)
        assert len(truth.surely) <= found.pixels[row] <= len(truth.surely) + len(truth.perhaps), f"view {row}"
        if found.pixels[row] == 0:
            assert found.first[row] == -1
            assert np.isnan(found.near[row])
            continue
        first = found.first[row]
        assert first in truth.surely or first in truth.perhaps
        assert not (truth.surely < first).any()
        if first in truth.depths:
            nears, fars = np.array(truth.depths[first]).T
            assert fars.min() - DEPTH_ERROR <= found.far[row] <= fars.max() + DEPTH_ERROR
            near_of = fars if test == "stencil" and convex else nears
            assert near_of.min() - DEPTH_ERROR <= found.near[row] <= near_of.max() + DEPTH_ERROR
    assert found.drawn == (views.size.astype(int) ** 2).sum()
    return sure, unsure


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_convex_pairs_are_decided_as_rays_are(renderer, convex_scene, test):
    renderer.change(convex_scene.shapes)
    found = renderer.decide(convex_scene.views, test, 1)
    sure, unsure = assert_true(found, convex_scene, test)
    assert 4 <= np.count_nonzero(found.pixels) <= len(found.pixels) - 4
    assert unsure < 0.04 * sure
    assert renderer.submissions == 1


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_concave_pairs_are_decided_as_rays_are(renderer, concave_scene, test):
    renderer.change(concave_scene.shapes)
    found = renderer.decide(concave_scene.views, test, 1)
    sure, unsure = assert_true(found, concave_scene, test)
    assert unsure < 0.08 * sure
    assert renderer.broken_pixels <= 2


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_convex_beside_concave_pairs_in_one_submission(renderer, mixed_scene, test):
    renderer.change(mixed_scene.shapes)
    assert_true(renderer.decide(mixed_scene.views, test, 1), mixed_scene, test)
    assert renderer.submissions == 1


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_a_device_without_clip_distances_decides_the_same(device, renderer, monkeypatch, convex_scene, concave_scene, test):
    monkeypatch.setattr(device, "pipelines", Pipelines(device.device, clip_distances=False))
    assert failed_case(device) == ""
    for scene in (convex_scene, concave_scene):
        renderer.change(scene.shapes)
        assert_true(renderer.decide(scene.views, test, 1), scene, test)


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_the_software_renderer_says_the_same(renderer, convex_scene, concave_scene, test):
    for scene in (convex_scene, concave_scene):
        renderer.change(scene.shapes)
        found = renderer.decide(scene.views, test, 1)
        other = SoftwareRenderer(ShapesOfBodies(scene.shapes)).decide(scene.views, test, 1)
        for row, truth in enumerate(scene.truths):
            same = (found.pixels[row] > 0) == (other.pixels[row] > 0)
            assert same or len(truth.perhaps)
            # With a stencil the software may stop at a later pixel, where one rendering is enough.
            if test == "interval" and found.first[row] != other.first[row]:
                assert {int(found.first[row]), int(other.first[row])} & {*truth.perhaps.tolist()}


def test_storeys_between_storeys_do_not_collide_though_near_and_far_overlap(renderer):
    storeys = together([build.box((1, 1, 0.2), (0, 0, z)) for z in (0.0, 1.0, 2.0)])
    bodies, poses = [storeys, storeys], [np.eye(4), np.eye(4)]
    renderer.change(shapes_of(bodies))
    for shift, pixels in ((0.5, 0), (1.15, 64), (0.21, 0), (0.19, 64), (1.5, 0)):
        poses[1] = np.eye(4)
        poses[1][2, 3] = shift
        found = renderer.decide(views_along_z(bodies, poses, [(0, 1)], [8]), "interval", 1)
        assert found.pixels[0] == pixels


def test_five_hundred_views_one_view_and_none(renderer):
    bodies, poses, pairs = crowd(convex_meshes(), 40, seed=4, spread=0.9)
    views = views_along_z(bodies, poses, pairs, [8] * len(pairs))
    assert len(views.pair) > 500
    renderer.change(shapes_of(bodies))
    found = renderer.decide(views, "interval", 1)
    assert renderer.submissions == 1
    for row in range(0, len(views.pair), 37):
        alone = renderer.decide(views.select(slice(row, row + 1)), "interval", 1)
        assert (alone.pixels[0], alone.first[0]) == (found.pixels[row], found.first[row])
        # Another place in another atlas rounds otherwise.
        np.testing.assert_allclose((alone.near[0], alone.far[0]), (found.near[row], found.far[row]), atol=1e-4)
    none = renderer.decide(views.select(slice(0, 0)), "stencil", 1)
    assert [len(column) for column in none[:4]] == [0, 0, 0, 0]
    assert none.drawn == 0


def test_no_bodies_and_bodies_without_faces_in_the_tile(renderer):
    renderer.change(())
    box = build.box()
    views = views_along_z([box, box], [np.eye(4), np.eye(4)], [(0, 1)], [8])
    away = views._replace(to_tile=views.to_tile + np.array([0, 0, 0, 50.0, *[0] * 8]))
    renderer.change(shapes_of([box, box]))
    assert renderer.decide(away, "interval", 1).pixels[0] == 0
    assert renderer.submissions == 0, "nothing reaches into the tile, so nothing is drawn"


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_bodies_at_one_place_and_one_within_the_other(renderer, test):
    ball, small = build.icosphere(2), build.icosphere(1, 0.4)
    bodies, poses = [ball, ball, small], [np.eye(4)] * 3
    placed = scene(bodies, views_along_z(bodies, poses, [(0, 1), (0, 2), (2, 0)], [8, 8, 8]))
    renderer.change(placed.shapes)
    found = renderer.decide(placed.views, test, 1)
    assert_true(found, placed, test)
    assert (found.pixels > 0).all()


def test_many_rounds_and_cut_tiles_give_the_same(renderer, monkeypatch):
    for meshes in (convex_meshes(), concave_meshes()):
        bodies, poses, pairs = crowd(meshes, 6, seed=5, spread=0.5)
        views = views_along_z(bodies, poses, pairs, [(40, 9, 17)[k % 3] for k in range(len(pairs))])
        renderer.change(shapes_of(bodies))
        whole = [renderer.decide(views, test, 1) for test in ("interval", "stencil")]
        with monkeypatch.context() as patch:
            patch.setattr(packing, "LARGEST_ATLAS", 64)
            patch.setattr(packing, "LARGEST_PIECE", 32)
            patch.setattr(packing, "MOST_PIECES_IN_ROUND", 3)
            patch.setattr(drawing, "MOST_SLOT_BYTES", 4 * 2 * 8 * 100)
            before = renderer.submissions
            parts = [renderer.decide(views, test, 1) for test in ("interval", "stencil")]
            assert renderer.submissions == before + 2
        for a, b in zip(whole, parts, strict=True):
            # Another place in the atlas rounds otherwise: single pixels may differ, at edges.
            assert np.abs(a.pixels - b.pixels).max() <= 3
            same = a.first == b.first
            assert same.mean() > 0.8
            np.testing.assert_allclose(a.near[same], b.near[same], atol=1e-4)
            np.testing.assert_allclose(a.far[same], b.far[same], atol=1e-4)


def test_more_views_than_one_buffer_of_instances_holds(renderer, monkeypatch):
    bodies, poses, pairs = crowd(convex_meshes(), 8, seed=6)
    views = views_along_z(bodies, poses, pairs, [8] * len(pairs))
    renderer.change(shapes_of(bodies))
    whole = renderer.decide(views, "interval", 1)
    monkeypatch.setattr(drawing, "MOST_INSTANCES", 20)
    monkeypatch.setattr(drawing, "PATCHES_IN_SLICE", 7)
    parts = renderer.decide(views, "interval", 1)
    assert renderer.submissions > 2
    np.testing.assert_array_equal(whole.pixels, parts.pixels)
    np.testing.assert_array_equal(whole.first, parts.first)


def test_pixels_with_more_layers_than_slots_are_drawn_again(renderer):
    floors = together([build.box((1, 1, 0.02), (0, 0, 0.05 * z)) for z in range(30)])
    bodies = [floors, floors]
    renderer.change(shapes_of(bodies))
    raised = np.eye(4)
    for shift, pixels in ((0.025, 0), (0.025, 0), (0.05 * 29 + 0.01, 100)):
        raised[:3, 3] = (0.03, 0.02, shift)
        found = renderer.decide(views_along_z(bodies, [np.eye(4), raised], [(0, 1)], [10]), "interval", 1)
        assert found.pixels[0] == pixels
    fresh = type(renderer)(renderer._shared)
    fresh.change(shapes_of(bodies))
    raised[:3, 3] = (0.03, 0.02, 0.025)
    views = views_along_z(bodies, [np.eye(4), raised], [(0, 1)], [10])
    fresh.decide(views, "interval", 1)
    assert fresh.submissions == 2, "60 layers do not go into 8 slots"
    fresh.decide(views, "interval", 1)
    assert fresh.submissions == 3, "the next frame has the slots that the last one needed"


def test_deforming_bodies_and_bodies_that_shared_their_shape(renderer):
    box = build.box()
    shapes = shapes_of([box, box])
    renderer.change(shapes)
    apart = np.eye(4)
    apart[:3, 3] = (0.3, 0.3, 1.2)
    views = views_along_z([build.box((1, 1, 3)), box], [np.eye(4), apart], [(0, 1)], [8])
    assert renderer.decide(views, "interval", 1).pixels[0] == 0
    longer = Mesh(box.vertices * (1, 1, 2), box.faces)
    own = own_copy(prepare(longer))
    renderer.deform(0, own)  # from a shape that both bodies share to one of its own
    assert renderer.decide(views, "interval", 1).pixels[0] == 64
    own.points[:, 2] *= 0.5
    own.centre[:, 2] *= 0.5
    own.half[:, 2] *= 0.5
    own.lower[2], own.upper[2] = -0.5, 0.5
    renderer.deform(0, own)  # in place
    assert renderer.decide(views, "interval", 1).pixels[0] == 0


def test_a_small_part_of_a_large_body_far_from_the_origin_keeps_its_pixels(renderer):
    ground = build.box((10_000.0, 10_000.0, 1.0), (2_000_000.0, 3_000_000.0, -0.5))
    stone = build.icosphere(2, 0.01)
    places = [np.eye(4), np.eye(4)]
    places[1][:3, 3] = (2_003_000.25, 3_001_000.75, 0.0)
    bodies = [ground, stone]
    views = views_along_z(bodies, places, [(0, 1)], [32])
    renderer.change(shapes_of(bodies))
    found = renderer.decide(views, "interval", 1)
    truth = seen(ground, stone, views, 0, 1e-5)
    assert len(truth.perhaps) < 60
    assert len(truth.surely) <= found.pixels[0] <= len(truth.surely) + len(truth.perhaps)


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_faces_that_reach_far_out_of_the_tile_are_decided_in_float64(renderer, monkeypatch, test):
    """Corners of two bodies of 1 m over regions of 1 µm: float32 would move their edges by whole pixels."""
    monkeypatch.setattr(packing, "LARGEST_PIECE", 20)  # several pieces of a view, not all of which need be too far
    rng = np.random.default_rng(12)
    box = build.box()
    bodies = [box, build.box((1.0, 1.3, 0.8)), together([box, build.box((0.2, 0.2, 0.2), (3, 0, 0))])]
    shapes = shapes_of(bodies)
    renderer.change(shapes)
    small = 1e-6
    rows = []
    for k in range(30):
        a, b = (0, 1) if k % 2 else (2, 1)
        poses = [random_pose(rng, 0.0), random_pose(rng, 0.0)]
        corner = poses[0][:3, :3] @ bodies[a].vertices[rng.integers(8)]
        inward = -corner / np.linalg.norm(corner) * rng.uniform(0.1, 0.5) * small
        poses[1][:3, 3] = corner + inward - poses[1][:3, :3] @ bodies[b].vertices[rng.integers(8)]
        scale, shift = np.array([32 / small, 32 / small, 1.0]), np.array([16.0, 16.0, 0.0])
        maps = [np.c_[scale[:, None] * pose[:3, :3], scale * (pose[:3, 3] - corner) + shift].ravel() for pose in poses]
        rows.append((a, b, maps))
    near = views_along_z([box, box], [np.eye(4)] * 2, [(0, 1)], [32])
    views = Views(*(np.repeat(field, len(rows), axis=0) for field in near))._replace(
        pair=np.zeros(len(rows), np.int32),  # as several views of one pair
        body_a=np.array([row[0] for row in rows], np.int32),
        body_b=np.array([row[1] for row in rows], np.int32),
        to_tile=np.array([row[2] for row in rows]),
    )
    found = renderer.decide(views, test, 1)
    alone = views._replace(pair=np.arange(len(rows), dtype=np.int32))
    true = SoftwareRenderer(ShapesOfBodies(shapes)).colliding_pixels(alone, INTERVAL, ALL, 1)
    np.testing.assert_array_equal(found.pixels, np.bincount(true.view, minlength=len(rows)))
    hit, first = np.unique(true.view, return_index=True)
    assert len(hit) > 20
    np.testing.assert_array_equal(found.first[hit], true.pixel[first])
    np.testing.assert_array_equal(found.far[hit], true.high[first])
    only_far = (views.body_a[hit] == 0) & (test == "stencil")
    np.testing.assert_array_equal(found.near[hit], np.where(only_far, true.high[first], true.low[first]))
    assert np.isnan(np.delete(found.near, hit)).all()


def test_a_far_reaching_body_that_deforms_is_followed(renderer):
    ground, box = build.box((1e7, 1e7, 1.0)), build.box()
    own = own_copy(prepare(ground))
    renderer.change((own, prepare(box)))
    above = np.eye(4)
    above[:3, 3] = (0.1, 0.2, 1.2)
    views = views_along_z([build.box((1e7, 1e7, 3.0)), box], [np.eye(4), above], [(0, 1)], [64])
    for height, pixels in ((1.0, 0), (1.5, 64 * 64), (1.0, 0)):
        follow(own, ground.vertices * (1, 1, height))
        renderer.deform(0, own)
        assert renderer.decide(views, "interval", 1).pixels[0] == pixels
    raised = own_copy(prepare(Mesh(ground.vertices * (1, 1, 1.5), ground.faces)))
    renderer.deform(0, raised)
    assert renderer.decide(views, "interval", 1).pixels[0] == 64 * 64


@pytest.mark.small
def test_small_pieces_are_not_decided_with_the_workgroups_of_large_ones():
    rng = np.random.default_rng(13)
    for groups in (np.array([1024, *[1] * 2800]), np.sort(4 ** rng.integers(0, 6, 300))[::-1], rng.integers(1, 4096, 50)):
        dispatches = drawing._dispatches(groups.astype(np.int64), 7)
        assert [k for one in dispatches for k in one.pieces] == list(range(7, 7 + len(groups)))
        assert all(one.groups == groups[[k - 7 for k in one.pieces]].max() for one in dispatches)
        assert sum(one.groups * len(one.pieces) for one in dispatches) <= drawing.MOST_IDLE * groups.sum()
    assert len(drawing._dispatches(np.array([3, 2, 1, 1]), 0)) == 1


def test_tiles_of_very_different_sizes_in_one_frame(renderer):
    bodies, poses, pairs = crowd(convex_meshes(), 5, seed=14, spread=0.3)
    sizes = [300, 1, 8, 120, 33, 2, 64, 8, 8, 5]
    views = views_along_z(bodies, poses, pairs, sizes)
    shapes = shapes_of(bodies)
    renderer.change(shapes)
    true = SoftwareRenderer(ShapesOfBodies(shapes)).colliding_pixels(views, INTERVAL, ALL, 1)
    for test in ("interval", "stencil"):
        found = renderer.decide(views, test, 1)
        assert np.abs(found.pixels - np.bincount(true.view, minlength=len(views.pair))).max() <= 3
    assert renderer.submissions == 2


def test_buffers_are_kept_when_bodies_come_and_go(renderer):
    box, ball = build.box(), build.icosphere(3, 0.4)
    counts, held = [], []
    for bodies in ([box, box], [ball, box, ball], [box, ball]):
        renderer.change(shapes_of(bodies))
        views = views_along_z(bodies, [np.eye(4)] * len(bodies), [(0, 1)], [16])
        counts.append(int(renderer.decide(views, "interval", 1).pixels[0]))
        held.append(renderer._buffers)
    assert counts[0] == 256
    assert counts[1] == counts[2] < 256
    assert held[0] is held[1] is held[2]


def test_a_mesh_that_is_too_large_for_the_device_is_refused_with_the_cure(renderer, monkeypatch):
    box = build.box()
    monkeypatch.setattr(renderer._shared, "most_bytes", 64)
    renderer.change(shapes_of([box, box]))
    with pytest.raises(InputError, match=r"points of all meshes need .* MB.*renderer='software'"):
        renderer.decide(views_along_z([box, box], [np.eye(4)] * 2, [(0, 1)], [8]), "interval", 1)
