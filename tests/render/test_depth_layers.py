"""Depth layers: signs of a closed mesh cancel at every centre, depths are those of rays, shared depths those of plain intervals."""

import itertools

import numpy as np
import pytest

from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.render.depth_intervals import DepthList, intervals_meet
from jostle.render.patches import patch_arrays, patches_of
from jostle.render.spans import scratch_for_drawing
from tests.render.depth_truth import (
    aligned_view,
    bodies,
    common_intervals,
    crossings_of_centres,
    crumpled,
    in_view,
    on_centres_and_far_away,
    random_view,
    winding_numbers,
)
from tests.render.one_mesh import count_layers_of_shape, depth_layers, depth_maps, list_layers_of_shape


def assert_signs_cancel(layers):
    so_far = np.concatenate([[0], np.cumsum(layers.sign)])
    assert (so_far[layers.first] == 0).all()


@pytest.mark.parametrize("name", bodies())
def test_layers_are_the_crossings_of_rays_through_all_centres(name):
    mesh = bodies()[name]
    size = 24
    view = random_view(np.random.default_rng(len(mesh.faces)), mesh.vertices, size)
    layers = depth_layers(patches_of(mesh.vertices, mesh.faces), view, size)
    expected = sorted(crossings_of_centres(in_view(view, mesh.vertices), mesh.faces, size))
    pixel = np.repeat(np.arange(size * size), np.diff(layers.first))
    given = sorted(zip(pixel.tolist(), layers.face.tolist(), layers.depth.tolist(), layers.sign.tolist(), strict=True))
    assert [(p, face, sign) for p, face, _, sign in given] == [(p, face, sign) for p, face, _, sign in expected]
    assert np.allclose([row[2] for row in given], [row[2] for row in expected], atol=1e-12, rtol=0)
    assert_signs_cancel(layers)
    for begin, end in itertools.pairwise(layers.first):
        assert (np.diff(layers.depth[begin:end]) >= 0).all()
    entered = layers.first[:-1][np.diff(layers.first) > 0]
    assert (layers.sign[entered] == -1).all()  # a right-handed view of a mesh with outward faces


@pytest.mark.parametrize("name", bodies())
def test_signs_cancel_when_edges_and_corners_lie_on_centres(name):
    mesh = bodies()[name]
    patches = patches_of(np.round(mesh.vertices * 64) / 64, mesh.faces)
    for axis, scale, shift in itertools.product(range(3), (4.0, 32.0, 64.0), (0.0, 0.5, 8.0, 8.5)):
        layers = depth_layers(patches, aligned_view(axis, scale, shift), 17)
        assert_signs_cancel(layers)
    assert_signs_cancel(depth_layers(patches, aligned_view(2, 1e-9, 8.5), 17))  # a body as small as a point, on a centre
    assert_signs_cancel(depth_layers(patches, aligned_view(2, 1e12, 8.5), 17))  # and one far larger than the tile


@pytest.mark.parametrize("seed", range(60))
def test_signs_cancel_on_crumpled_surfaces(seed):
    rng = np.random.default_rng(seed)
    vertices, faces = crumpled(rng, 12)
    if seed % 3 == 1:
        vertices *= rng.uniform(0.5, 1.5, 3)
    if seed % 3 == 2:
        vertices[:, :2] += rng.choice([-1, 0, 1], vertices[:, :2].shape) * 1e-15 * vertices[:, :2]
    layers = depth_layers(patches_of(vertices, faces), np.eye(3, 4), 12)
    assert len(layers.depth) > 0
    assert_signs_cancel(layers)


def test_signs_cancel_when_crossings_round_past_the_end_of_an_edge():
    rng = np.random.default_rng(0)
    for _ in range(600):
        vertices, faces = on_centres_and_far_away(rng)
        assert_signs_cancel(depth_layers(patches_of(vertices, faces), np.eye(3, 4), 3))


@pytest.mark.small
def test_signs_cancel_on_a_crumpled_surface_without_a_compiler():
    vertices, faces = crumpled(np.random.default_rng(1), 4)
    assert_signs_cancel(depth_layers(patches_of(vertices, faces), np.eye(3, 4), 4))


@pytest.mark.parametrize("name", ["torus of 576 faces", "hand", "comb of 5 cones"])
def test_the_ray_is_inside_where_the_signs_do_not_sum_to_0(name):
    mesh = bodies()[name]
    size = 20
    rng = np.random.default_rng(8)
    patches = patches_of(mesh.vertices, mesh.faces)
    # The view of eight that shows most layers.
    views = [random_view(rng, mesh.vertices, size) for _ in range(8)]
    view = max(views, key=lambda view: np.diff(depth_layers(patches, view, size).first).max())
    layers = depth_layers(patches, view, size)
    points, inside = [], []
    for p in np.argsort(-np.diff(layers.first), kind="stable")[:60]:
        begin, end = layers.first[p], layers.first[p + 1]
        for k in range(begin, end - 1):
            if layers.depth[k + 1] - layers.depth[k] > 1e-9:
                points.append([p % size + 0.5, p // size + 0.5, (layers.depth[k] + layers.depth[k + 1]) / 2])
                inside.append(layers.sign[begin : k + 1].sum() != 0)
    assert 0 < sum(inside) < len(inside)
    in_body = np.linalg.solve(view[:, :3], (np.array(points) - view[:, 3]).T).T
    assert np.array_equal(abs(winding_numbers(mesh.vertices, mesh.faces, in_body)) > 0.5, inside)


def test_only_pixels_of_the_mask_are_kept_and_the_ends_are_the_near_and_far_depth():
    mesh = bodies()["hand"]
    size = 30
    view = read_only_view(random_view(np.random.default_rng(4), mesh.vertices, size).reshape(12))
    patches = patches_of(mesh.vertices, mesh.faces)
    table, scratch = AddressTable([patch_arrays(patches)]), scratch_for_drawing()
    mask = (np.random.default_rng(0).random((size, size)) < 0.3).astype(np.uint8)
    first = np.full(size * size + 2, 77)
    count = count_layers_of_shape(table.table, 0, view, size, mask, first, scratch)
    depth, label = np.full(count + 1, np.nan), np.zeros(count + 1, np.int32)
    list_layers_of_shape(table.table, 0, view, size, mask, DepthList(first, depth, depth, label), scratch)
    assert first[-2] == count
    assert np.isnan(depth[count])
    near, far = depth_maps(patches, view, size)
    kept = np.diff(first[:-1]) > 0
    assert np.array_equal(kept, (mask.ravel() != 0) & np.isfinite(near.ravel()))
    assert np.array_equal(depth[first[:-2][kept]], near.ravel()[kept])
    assert np.array_equal(depth[first[1:-1][kept] - 1], far.ravel()[kept])


def random_layers(rng, pixels):
    """Sorted crossings of a few pixels, signs summing to 0 at each, often at equal depths; and their intervals inside."""
    first, depth, label, inside = [0], [], [], []
    for _ in range(pixels):
        pairs = rng.integers(0, 4)
        signs = rng.permutation([1, -1] * pairs)
        rows = sorted(zip(rng.integers(0, 12, 2 * pairs).tolist(), (signs * rng.integers(1, 9, 2 * pairs)).tolist(), strict=True))
        intervals, winding = [], 0
        for z, one in rows:
            if winding == 0:
                intervals.append([z, z])
            winding += np.sign(one)
            intervals[-1][1] = z
        inside.append(intervals)
        depth += [z for z, _ in rows]
        label += [one for _, one in rows]
        first.append(len(depth))
    return np.array([*first, first[-1]]), np.array(depth, float), np.array(label, np.int32), inside


@pytest.mark.small
def test_shared_depths_are_those_of_the_intervals_inside():
    rng = np.random.default_rng(2)
    met = 0
    for _ in range(30):
        (first_a, depth_a, label_a, inside_a), (first_b, depth_b, label_b, inside_b) = (
            random_layers(rng, 20),
            random_layers(rng, 20),
        )
        for p in range(20):
            shared = common_intervals(inside_a[p], inside_b[p])
            lists = DepthList(first_a, depth_a, depth_a, label_a), DepthList(first_b, depth_b, depth_b, label_b)
            first_found, longest_found = (intervals_meet(*lists, p, False, longest) for longest in (False, True))
            if not shared:
                assert first_found == longest_found == (-1, -1, -1, -1)
                continue
            met += 1
            for (in_a, out_a, in_b, out_b), expected in (
                (first_found, min(shared)),
                (longest_found, max(shared, key=lambda one: (one[1] - one[0], -one[0]))),
            ):
                low, high = max(depth_a[in_a], depth_b[in_b]), min(depth_a[out_a], depth_b[out_b])
                assert (low, high) == expected
                assert [depth_a[in_a], depth_a[out_a]] in inside_a[p]
                assert [depth_b[in_b], depth_b[out_b]] in inside_b[p]
    assert met > 100
