"""Depth maps against rational arithmetic for single faces, and against rays through all centres for whole bodies."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.render.depth_maps import count_in_front, draw_far, draw_shape
from jostle.render.drawn_body import drawn_shape
from jostle.render.patches import patch_arrays, patches_of
from jostle.render.spans import MOST_SPANS, scratch_for_drawing
from jostle.shapes import build
from tests.render.depth_truth import bodies, crossings_of_centres, depths_over, in_view, random_view, rational
from tests.render.one_mesh import depth_maps

AS_IT_IS = np.eye(3, 4)
ONE_FACE = np.array([[0, 1, 2]], np.int32)


@kernel
def far_of_shape(table, shape, view, size, far, scratch):
    return draw_far(drawn_shape(table, shape, view, size), far, scratch)


@kernel
def count_before(table, shape, view, size, limit, count, scratch):
    return count_in_front(drawn_shape(table, shape, view, size), limit, count, scratch)


def table_of(vertices, faces):
    return AddressTable([patch_arrays(patches_of(vertices, faces))])


def flat(view):
    return read_only_view(np.asarray(view, float).reshape(12))


def covers(corners, px, py):
    """Whether the centre, moved by (-epsilon, epsilon^2), lies strictly inside: an independent wording of the half-open rule."""
    a, b, c = rational(corners)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    turn = 1 if area > 0 else -1
    for u, v in ((a, b), (b, c), (c, a)):
        value = turn * ((v[0] - u[0]) * (py - u[1]) - (v[1] - u[1]) * (px - u[0]))
        if (value, turn * (v[1] - u[1]), turn * (v[0] - u[0])) <= (0, 0, 0):
            return False
    return area != 0


def exact_depth(corners, px, py):
    a, b, c = rational(corners)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    u = ((px - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (py - a[1])) / area
    v = ((b[0] - a[0]) * (py - a[1]) - (px - a[0]) * (b[1] - a[1])) / area
    return a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2])


@pytest.mark.small
@pytest.mark.parametrize("seed", range(40))
def test_one_face_covers_the_right_centres_at_the_right_depth(seed):
    rng = np.random.default_rng(seed)
    size = 9
    # Heights that differ by 4 or 8 keep crossings exact, so that centres on edges and on corners are decided exactly, too.
    y = rng.permutation([-0.5, 3.5, 7.5]) if seed % 2 else rng.choice([-0.5, 3.5, 7.5], 3)
    corners = np.column_stack([rng.integers(-8, 24, 3) / 2.0, y + rng.choice([0.0, 0.0, 0.25]), rng.integers(-9, 9, 3)])
    near, far = depth_maps(patches_of(corners, ONE_FACE), AS_IT_IS, size)
    half = Fraction(1, 2)
    for j in range(size):
        for i in range(size):
            if covers(corners, i + half, j + half):
                assert abs(near[j, i] - float(exact_depth(corners, i + half, j + half))) < 1e-13
                assert far[j, i] == near[j, i]
            else:
                assert (near[j, i], far[j, i]) == (np.inf, -np.inf)


def test_the_depth_of_slivers_is_that_of_a_point_next_to_the_centre():
    rng = np.random.default_rng(5)
    drawn = 0
    for _ in range(300):
        size = 32
        i, j = rng.integers(0, size, 2)
        direction = rng.normal(size=2)
        direction /= np.linalg.norm(direction)
        along = np.outer([-rng.uniform(1, 40), rng.uniform(1, 40), rng.uniform(-1, 1)], direction)
        across = np.outer(rng.normal(size=3) * 10.0 ** rng.uniform(-16, -2), direction[::-1] * [1, -1])
        corners = np.column_stack([along + across + [i + 0.5, j + 0.5], rng.normal(size=3)])
        near, _ = depth_maps(patches_of(corners, ONE_FACE), AS_IT_IS, size)
        for row, column in np.argwhere(np.isfinite(near)):
            x, y, r = Fraction(2 * int(column) + 1, 2), Fraction(2 * int(row) + 1, 2), Fraction(1, 10**12)
            depths = depths_over(rational(corners), x - r, x + r, y - r, y + r)
            assert depths is not None
            assert float(depths[0]) - 1e-14 <= near[row, column] <= float(depths[1]) + 1e-14
            drawn += 1
    assert drawn > 100


@pytest.mark.parametrize("name", bodies())
@pytest.mark.parametrize(("size", "fill"), [(64, 1.0), (33, 0.7), (16, 6.0), (2, 1.5), (1, 1.0)])
def test_near_far_and_counts_are_those_of_rays_through_all_centres(name, size, fill):
    mesh = bodies()[name]
    rng = np.random.default_rng([size, len(mesh.faces)])
    view = random_view(rng, mesh.vertices, size, fill)
    near, far = np.full((size, size), np.inf), np.full((size, size), -np.inf)
    only_far, limit = far.copy(), rng.normal(size=(size, size)) * np.ptp(mesh.vertices) / 4
    count, expected = np.zeros((size, size), np.uint8), np.zeros(size * size)
    expected_near, expected_far = near.ravel().copy(), far.ravel().copy()
    for p, _, z, _ in crossings_of_centres(in_view(view, mesh.vertices), mesh.faces, size):
        expected_near[p], expected_far[p] = min(expected_near[p], z), max(expected_far[p], z)
        expected[p] += z <= limit.ravel()[p]
    table, scratch = table_of(mesh.vertices, mesh.faces), scratch_for_drawing()
    drawn = draw_shape(table.table, 0, flat(view), size, near, far, scratch)
    assert far_of_shape(table.table, 0, flat(view), size, only_far, scratch) == drawn <= len(mesh.faces)
    assert count_before(table.table, 0, flat(view), size, limit, count, scratch) == drawn
    seen = np.isfinite(expected_near)
    assert np.array_equal(np.isfinite(near.ravel()), seen)
    assert np.allclose(near.ravel()[seen], expected_near[seen], atol=1e-12, rtol=0)
    assert np.allclose(far.ravel()[seen], expected_far[seen], atol=1e-12, rtol=0)
    assert np.array_equal(far, only_far)
    assert np.array_equal(count.ravel(), expected)


def test_more_spans_than_there_is_room_for():
    mesh = build.icosphere(1)
    size = 400
    view = random_view(np.random.default_rng(0), mesh.vertices, size, 1.0)
    rows = crossings_of_centres(in_view(view, mesh.vertices), mesh.faces, size)
    # Of its 80 faces 64 are in the first patch.
    assert len({(p // size, face) for p, face, _, _ in rows}) > 1.5 * MOST_SPANS
    near, far = depth_maps(patches_of(mesh.vertices, mesh.faces), view, size)
    assert np.isfinite(near).sum() == len({p for p, _, _, _ in rows})
    for p, _, z, sign in rows[::97]:
        assert abs((near, far)[sign > 0].ravel()[p] - z) < 1e-12


@pytest.mark.small
def test_patches_outside_of_the_tile_are_not_drawn():
    mesh = build.icosphere(2)
    table, scratch = table_of(mesh.vertices, mesh.faces), scratch_for_drawing()
    for shift, least, most in (([50.0, 4.0], 0, 0), ([4.0, -50.0], 0, 0), ([4.0, 4.0], 320, 320), ([-2.0, 4.0], 1, 256)):
        view = np.diag([4.0, 4.0, 1.0, 0.0])[:3]
        view[:2, 3] = shift
        near, far = np.full((8, 8), np.inf), np.full((8, 8), -np.inf)
        drawn = draw_shape(table.table, 0, flat(view), 8, near, far, scratch)
        assert least <= drawn <= most
        assert np.isfinite(near).any() == (drawn > 0)


@pytest.mark.small
def test_maps_are_only_ever_lowered_and_raised_and_a_full_count_stays():
    corners = np.array([[0.0, 0, 1], [0, 4, 1], [4, 0, 1]])
    table, scratch = table_of(corners, ONE_FACE), scratch_for_drawing()
    near, far = np.full((2, 2), 0.5), np.full((2, 2), 3.0)
    draw_shape(table.table, 0, flat(AS_IT_IS), 2, near, far, scratch)
    assert (near == 0.5).all()
    assert (far == 3.0).all()
    count = np.array([[254, 255], [0, 7]], np.uint8)
    for _ in range(2):
        count_before(table.table, 0, flat(AS_IT_IS), 2, np.array([[1.0, 1.0], [-np.inf, 0.999]]), count, scratch)
    assert count.tolist() == [[255, 255], [0, 7]]


@pytest.mark.small
def test_a_mesh_without_faces_and_a_second_row_of_the_table():
    corners = np.array([[0.0, 0, 1], [0, 4, 1], [4, 0, 1]])
    nothing = patches_of(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    near, _ = depth_maps(nothing, AS_IT_IS, 3)
    assert (near == np.inf).all()
    table = AddressTable([patch_arrays(nothing), patch_arrays(patches_of(corners, ONE_FACE))])
    far = np.full((2, 2), -np.inf)
    assert far_of_shape(table.table, 0, flat(AS_IT_IS), 2, far, scratch_for_drawing()) == 0
    assert far_of_shape(table.table, 1, flat(AS_IT_IS), 2, far, scratch_for_drawing()) == 1
    assert (far == 1.0).all()


@pytest.mark.small
def test_faces_far_larger_than_the_tile_cover_it_all():
    corners = np.array([[-1e9, -1e9, 5.0], [3e9, 0.0, 5.0], [0.0, 3e9, 5.0]])
    near, far = depth_maps(patches_of(corners, ONE_FACE), AS_IT_IS, 4)
    assert (near == 5.0).all()
    assert (far == 5.0).all()
