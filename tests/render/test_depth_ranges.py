"""Depth ranges against rational clipping, against random points of faces and of solids, and against plain intervals."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.render.clipping import Slack
from jostle.render.depth_intervals import DepthList, intervals_meet, next_possible
from jostle.render.depth_ranges import draw_possible_near_and_far, sort_ranges
from jostle.render.drawn_body import drawn_shape
from jostle.render.patches import patch_arrays, patches_of
from jostle.render.spans import scratch_for_drawing
from tests.render.depth_truth import (
    aligned_view,
    bodies,
    common_intervals,
    crumpled,
    depths_over,
    in_view,
    on_centres_and_far_away,
    random_view,
    rational,
    winding_numbers,
)
from tests.render.one_mesh import depth_layers, depth_ranges
from tests.tiny import box

AS_IT_IS = np.eye(3, 4)
ONE_FACE = np.array([[0, 1, 2]], np.int32)


def by_pixel_and_face(ranges):
    pixel = np.repeat(np.arange(len(ranges.first) - 1), np.diff(ranges.first))
    rows = zip(pixel.tolist(), ranges.face.tolist(), ranges.low, ranges.high, ranges.sign, strict=True)
    return {(p, face): (low, high, sign) for p, face, low, high, sign in rows}


def possible_intervals(ranges, pixel):
    """Intervals possibly inside, worded anew: the ranges, and the gaps between them with a winding that is not 0."""
    begin, end = ranges.first[pixel], ranges.first[pixel + 1]
    low, high, sign = ranges.low[begin:end], ranges.high[begin:end], ranges.sign[begin:end]
    pieces = sorted(zip(low, high, strict=True))
    for top in high:
        above = low[low > top]
        if len(above) and not ((low <= top) & (high > top)).any() and sign[high <= top].sum() != 0:
            pieces.append((top, above.min()))
    merged = []
    for piece in sorted(pieces):
        if merged and piece[0] <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], piece[1])
        else:
            merged.append(list(piece))
    return merged


def one_random_face(rng, kind):
    corners = rng.integers(-8, 32, (3, 3)) / 4.0
    if kind == "edge-on":
        corners[2, :2] = corners[0, :2] + rng.choice([-1.0, 0.5, 2.0]) * (corners[1, :2] - corners[0, :2])
    if kind == "segment":
        corners[2] = corners[rng.integers(2)]
    if kind == "point":
        corners[:] = corners[0]
    if kind == "sliver":
        corners[2] = corners[0] + rng.uniform(0, 1) * (corners[1] - corners[0]) + rng.normal(size=3) * 1e-13
    if kind == "deep":  # and almost level, so that only the rounding of the depth matters
        corners = rng.uniform(-2, 8, (3, 3)) * [1.0, 1.0, 1e-9] + [0.0, 0.0, 1e4]
    return corners


@pytest.mark.small
@pytest.mark.parametrize("kind", ["any", "edge-on", "segment", "point", "sliver", "deep"])
def test_ranges_are_those_of_the_clipped_face(kind):
    rng = np.random.default_rng(len(kind))
    size, a_little = 5, Fraction(1, 10**11)
    touched = 0
    for _ in range(30):
        corners = one_random_face(rng, kind)
        exact = rational(corners)
        rows = by_pixel_and_face(depth_ranges(patches_of(corners, ONE_FACE), AS_IT_IS, size))
        for p in range(size * size):
            i, j = p % size, p // size
            tight = depths_over(exact, i, i + 1, j, j + 1)
            loose = depths_over(exact, i - a_little, i + 1 + a_little, j - a_little, j + 1 + a_little)
            if tight is not None:
                touched += 1
                low, high, _ = rows[p, 0]
                assert Fraction(float(low)) <= tight[0]
                assert tight[1] <= Fraction(float(high))
            if (p, 0) in rows:
                assert loose is not None
                low, high, _ = rows[p, 0]
                assert low >= float(loose[0]) - 1e-10 * max(1, abs(corners[0, 2]))
                assert high <= float(loose[1]) + 1e-10 * max(1, abs(corners[0, 2]))
    assert touched > 10


@pytest.mark.small
def test_ranges_with_slack_hold_those_of_all_faces_within_it():
    rng = np.random.default_rng(6)
    size, slack_xy, slack_z = 5, 0.03, 0.01
    for kind in ("any", "edge-on", "segment", "point", "sliver") * 3:
        corners = one_random_face(rng, kind)
        rows = by_pixel_and_face(depth_ranges(patches_of(corners, ONE_FACE), AS_IT_IS, size, slack_xy, slack_z))
        moved = corners + rng.choice([-1.0, 0.3, 1.0], (3, 3)) * [slack_xy, slack_xy, slack_z] * (1 - 1e-12)
        exact, loose = rational(moved), rational(corners)
        for p in range(size * size):
            i, j = p % size, p // size
            tight = depths_over(exact, i, i + 1, j, j + 1)
            if tight is not None:
                low, high, _ = rows[p, 0]
                assert low <= float(tight[0])
                assert float(tight[1]) <= high
            if (p, 0) in rows:
                grown = Fraction(slack_xy + 1e-10)
                low, high = depths_over(loose, i - grown, i + 1 + grown, j - grown, j + 1 + grown)
                assert rows[p, 0][0] >= float(low) - slack_z - 1e-10
                assert rows[p, 0][1] <= float(high) + slack_z + 1e-10


@pytest.mark.parametrize("name", bodies())
@pytest.mark.parametrize(("size", "fill"), [(32, 1.0), (7, 4.0), (1, 1.0)])
def test_no_point_of_a_face_is_missed_and_signs_are_those_of_the_layers(name, size, fill):
    mesh = bodies()[name]
    rng = np.random.default_rng([size, len(mesh.faces)])
    vertices = np.round(mesh.vertices * 32) / 32
    patches = patches_of(vertices, mesh.faces)
    for view in (random_view(rng, vertices, size, fill), aligned_view(1, 8.0, size // 2 + 0.5)):
        rows = by_pixel_and_face(depth_ranges(patches, view, size))
        layers = depth_layers(patches, view, size)
        pixel = np.repeat(np.arange(size * size), np.diff(layers.first))
        assert sum(sign != 0 for _, _, sign in rows.values()) == len(pixel)
        for p, face, z, sign in zip(pixel.tolist(), layers.face.tolist(), layers.depth, layers.sign, strict=True):
            low, high, given = rows[p, face]
            assert given == sign
            assert low <= z <= high
        face = rng.integers(len(mesh.faces), size=2000)
        weights = rng.dirichlet([0.3] * 3, size=2000)
        points = np.einsum("nk,nkc->nc", weights, in_view(view, vertices)[mesh.faces[face]])
        seen = ((points[:, :2] >= 0) & (points[:, :2] < size)).all(axis=1)
        for number, (x, y, z) in zip(face[seen].tolist(), points[seen], strict=True):
            low, high, _ = rows[int(y) * size + int(x), number]
            assert low - 1e-12 <= z <= high + 1e-12


@pytest.mark.parametrize("name", ["torus of 576 faces", "hand", "comb of 5 cones", "stellated dodecahedron"])
def test_a_point_is_possibly_inside_if_it_is_and_gaps_are_wholly_inside_or_outside(name):
    mesh = bodies()[name]
    size = 12
    rng = np.random.default_rng(3)
    view = random_view(rng, mesh.vertices, size)
    ranges = depth_ranges(patches_of(mesh.vertices, mesh.faces), view, size)
    possible = [possible_intervals(ranges, p) for p in range(size * size)]
    extent = in_view(view, mesh.vertices)[:, 2]
    points = np.column_stack([rng.uniform(0, size, (1200, 2)), rng.uniform(extent.min(), extent.max(), 1200)])
    in_body = np.linalg.solve(view[:, :3], (points - view[:, 3]).T).T
    inside = abs(winding_numbers(mesh.vertices, mesh.faces, in_body)) > 0.5
    surface = [
        list(zip(ranges.low[a:b], ranges.high[a:b], strict=True)) for a, b in zip(ranges.first, ranges.first[1:], strict=False)
    ]
    in_gaps = 0
    for (x, y, z), within in zip(points, inside, strict=True):
        p = int(y) * size + int(x)
        held = any(low <= z <= high for low, high in possible[p])
        if within:
            assert held
        elif held:
            assert any(low <= z <= high for low, high in surface[p])
        in_gaps += within and not any(low <= z <= high for low, high in surface[p])
    assert in_gaps >= 3


@kernel
def draw_possible(table, view, size, slack, near, far, scratch):
    return draw_possible_near_and_far(drawn_shape(table, 0, view, size), slack, near, far, scratch)


def test_the_ends_of_the_ranges_are_the_possible_near_and_far_depth():
    mesh = bodies()["hand"]
    size = 40
    view = random_view(np.random.default_rng(1), mesh.vertices, size, 1.3)
    patches = patches_of(mesh.vertices, mesh.faces)
    ranges = depth_ranges(patches, view, size, 0.01, 0.02)
    near, far = np.full((size, size), np.inf), np.full((size, size), -np.inf)
    table = AddressTable([patch_arrays(patches)])
    matrix = read_only_view(view.reshape(12))
    drawn = draw_possible(table.table, matrix, size, Slack(0.01, 0.02), near, far, scratch_for_drawing())
    assert len(set(ranges.face)) <= drawn <= len(mesh.faces)
    seen = np.flatnonzero(np.diff(ranges.first))
    assert np.array_equal(np.flatnonzero(np.isfinite(near)), seen)
    assert np.array_equal(near.ravel()[seen], ranges.low[ranges.first[seen]])
    assert np.array_equal(far.ravel()[seen], [ranges.high[ranges.first[p] : ranges.first[p + 1]].max() for p in seen])


@pytest.mark.parametrize("seed", range(12))
def test_signs_cancel_on_crumpled_surfaces(seed):
    rng = np.random.default_rng(seed)
    for vertices, faces in (crumpled(rng, 8), *(on_centres_and_far_away(rng) for _ in range(20))):
        ranges = depth_ranges(patches_of(vertices, faces), AS_IT_IS, 8)
        so_far = np.concatenate([[0], np.cumsum(ranges.sign)])
        assert (so_far[ranges.first] == 0).all()
        for begin, end in zip(ranges.first, ranges.first[1:], strict=False):
            assert (np.diff(ranges.low[begin:end]) >= 0).all()


def list_of(ranges):
    label = (ranges.face.astype(np.int64) << 2 | (ranges.sign + 1)).astype(np.int32)
    return DepthList(np.append(ranges.first, ranges.first[-1]), ranges.low, ranges.high, label)


@pytest.mark.parametrize("names", [("hand", "hand"), ("torus of 576 faces", "comb of 5 cones"), ("stellated dodecahedron", "hand")])
def test_shared_depths_are_those_of_the_possible_intervals(names):
    size = 10
    rng = np.random.default_rng(9)
    one, other = (bodies()[name] for name in names)
    view = random_view(rng, one.vertices, size)
    a = depth_ranges(patches_of(one.vertices, one.faces), view, size)
    b = depth_ranges(patches_of(other.vertices, other.faces), random_view(rng, other.vertices, size), size)
    met = 0
    for p in range(size * size):
        shared = common_intervals(possible_intervals(a, p), possible_intervals(b, p))
        first, longest = (intervals_meet(list_of(a), list_of(b), p, True, longest) for longest in (False, True))
        if not shared:
            assert first == longest == (-1, -1, -1, -1)
            continue
        met += 1
        for (in_a, out_a, in_b, out_b), expected in ((first, min(shared)), (longest, max(shared, key=lambda s: s[1] - s[0]))):
            assert (max(a.low[in_a], b.low[in_b]), min(a.high[out_a], b.high[out_b])) == expected
    assert met > 5


@pytest.mark.small
def test_ranges_are_sorted_and_joined():
    first = np.array([0, 0, 5, 5, 5])
    low, high = np.array([4.0, 0.0, 1.0, 0.0, 9.0]), np.array([5.0, 2.0, 1.5, 1.0, 9.5])
    label = np.array([1, 0, 1, 1, 2], np.int32)  # the range 0 … 2 is entered (sign -1), 9 … 9.5 is left (+1)
    sort_ranges(2, DepthList(first, low, high, label))
    assert low.tolist() == [0.0, 0.0, 1.0, 4.0, 9.0]
    assert high.tolist() == [1.0, 2.0, 1.5, 5.0, 9.5]
    assert next_possible(low, high, label, 0, 5) == (0, 4, 5)
    label[1] = 1
    label[4] = 1
    assert next_possible(low, high, label, 0, 5) == (0, 1, 3)
    assert next_possible(low, high, label, 3, 5) == (3, 3, 4)
    assert next_possible(low, high, label, 5, 5) == (5, 5, 5)


@pytest.mark.small
@pytest.mark.parametrize("apart", [0.0, 0.001])
def test_boxes_that_touch_in_a_corner_meet_and_those_apart_in_depth_do_not(apart):
    low = box()
    high = box(lower=(1.0, 1.0, 1.0 + apart), upper=(2.0, 2.0, 2.0))
    a, b = (depth_ranges(patches_of(mesh.vertices, mesh.faces), aligned_view(2, 1.0, 1.0), 4) for mesh in (low, high))
    meeting = [p for p in range(16) if intervals_meet(list_of(a), list_of(b), p, True, False)[0] >= 0]
    # The corner at (2, 2) is shared by four pixels.
    assert meeting == ([5, 6, 9, 10] if apart == 0.0 else [])
