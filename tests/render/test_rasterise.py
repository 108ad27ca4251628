"""The rasteriser against exact rational truths: coverage pixel by pixel, depth, layers, cuts."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.render.camera import Camera
from jostle.render.rasterise import cut, rasterise


def flat_camera(width, height):
    """An orthographic camera under which world (x, y, z) is pixel x, pixel y, depth z, without rounding."""
    return Camera(np.array([width / 2.0, height / 2.0, 0.0]), np.eye(3), width, height, 1.0)


def one_face(corners):
    return np.array(corners, dtype=np.float64), np.array([[0, 1, 2]], dtype=np.int32)


def covers_exactly(corners, px, py):
    """Whether the centre, moved by (epsilon, epsilon^2), lies strictly inside: an independent wording of the top-left rule."""
    (ax, ay), (bx, by), (cx, cy) = [(Fraction(float(x)), Fraction(float(y))) for x, y, *_ in corners]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0:
        return False
    turn = 1 if area > 0 else -1
    for (ux, uy), (vx, vy) in (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay))):
        value = turn * ((vx - ux) * (py - uy) - (vy - uy) * (px - ux))
        # Derivatives in x and in y decide, in this order, where the value itself is zero.
        if (value, turn * (uy - vy), turn * (vx - ux)) <= (0, 0, 0):
            return False
    return True


def expected_coverage(corners, width, height):
    half = Fraction(1, 2)
    return np.array([[covers_exactly(corners, x + half, y + half) for x in range(width)] for y in range(height)])


def coverage_counts(camera, points, faces):
    """How many faces cover each pixel, drawing them one at a time."""
    total = np.zeros((camera.height, camera.width), dtype=np.int64)
    for number in range(len(faces)):
        total += rasterise(camera, points, faces, chosen=np.array([number], dtype=np.int32)).face == number
    return total


@pytest.mark.small
@pytest.mark.parametrize("grid", [0.5, 1.0, 1.0 / 256.0])
def test_a_triangle_covers_exactly_the_centres_it_should(grid):
    # On grids of ½ and 1 pixel nearly every triangle has centres on edges and corners.
    rng = np.random.default_rng(int(1 / grid))
    width, height = 9, 7
    hits = 0
    for _ in range(40):
        corners = np.round(rng.uniform(-3, 11, (3, 3)) / grid) * grid
        drawn = rasterise(flat_camera(width, height), *one_face(corners)).face == 0
        expected = expected_coverage(corners, width, height)
        assert np.array_equal(drawn, expected), corners
        hits += expected.sum()
    assert hits > 100


def test_wide_triangles_are_walked_exactly_too():
    # Wide rows are narrowed by a floating-point division first; slivers show whether it ever cuts too much.
    rng = np.random.default_rng(5)
    width, height = 64, 9
    for _ in range(30):
        corners = np.round(rng.uniform((-40, -4, 0), (104, 13, 1), (3, 3)) * 2.0) / 2.0
        drawn = rasterise(flat_camera(width, height), *one_face(corners)).face == 0
        assert np.array_equal(drawn, expected_coverage(corners, width, height)), corners


@pytest.mark.small
def test_the_worked_example():
    # The square [1,3]² with corners on whole pixels, as two triangles: four centres, each once.
    points = np.array([[1, 1, 0], [3, 1, 0], [3, 3, 0], [1, 3, 0]], dtype=np.float64)
    drawn = rasterise(flat_camera(4, 4), points, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)).face
    # The diagonal runs through the centres of (1,1) and (2,2); they belong to the upper triangle, whose left edge it is.
    assert drawn.tolist() == [[-1, -1, -1, -1], [-1, 0, 0, -1], [-1, 1, 0, -1], [-1, -1, -1, -1]]


@pytest.mark.small
def test_a_fan_with_its_hub_on_a_centre_covers_every_pixel_once():
    rim = [[0.5, 0.5], [4.5, 0.5], [8.5, 0.5], [8.5, 4.5], [8.5, 8.5], [4.5, 8.5], [0.5, 8.5], [0.5, 4.5]]
    points = np.array([[*p, 1.0] for p in [[4.5, 4.5], *rim]])
    faces = np.array([[0, 1 + i, 1 + (i + 1) % 8] for i in range(8)], dtype=np.int32)
    faces[::2] = faces[::2, ::-1]  # the winding must not matter
    expected = np.zeros((10, 10), dtype=int)
    expected[:8, :8] = 1  # centres 0.5 … 7.5: the right and the lower rim belong to nobody here
    assert np.array_equal(coverage_counts(flat_camera(10, 10), points, faces), expected)


def icosahedron():
    g = (1.0 + 5.0**0.5) / 2.0
    points = np.array([p for s in (-1, 1) for t in (-g, g) for p in ((0, s, t), (s, t, 0), (t, 0, s))], dtype=np.float64)
    near = np.isclose(np.linalg.norm(points[:, None] - points[None], axis=2), 2.0)
    faces = [(i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]]
    assert len(faces) == 20
    return points, np.array(faces, dtype=np.int32)


def convex_outline(points):
    """Corners of the convex hull in order, by rational orientation (gift wrapping)."""
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in points]
    hull, here = [], min(exact)
    while here not in hull:
        hull.append(here)
        other = next(p for p in exact if p != here)
        for p in exact:
            turn = (other[0] - here[0]) * (p[1] - here[1]) - (other[1] - here[1]) * (p[0] - here[0])
            if turn < 0 or (
                turn == 0 and abs(p[0] - here[0]) + abs(p[1] - here[1]) > abs(other[0] - here[0]) + abs(other[1] - here[1])
            ):
                other = p
        here = other
    return hull


@pytest.mark.parametrize("perspective", [False, True])
def test_a_closed_convex_body_is_watertight(perspective):
    points, faces = icosahedron()
    rng = np.random.default_rng(11)
    for _ in range(3):
        camera = Camera.framing(points, rng.normal(size=3), rng.normal(size=3), 40, 30, perspective=perspective)
        counts = coverage_counts(camera, points, faces)
        # Every pixel of the silhouette lies under one front face and one back face, and no pixel under anything else.
        assert set(np.unique(counts)) == {0, 2}
        snapped = np.floor(camera.project(points)[:, :2] * 256.0 + 0.5) / 256.0
        hull = convex_outline(snapped)
        fan = [(hull[0], hull[i], hull[i + 1]) for i in range(1, len(hull) - 1)]
        inside = sum(expected_coverage(triangle, 40, 30).astype(int) for triangle in fan)
        assert np.array_equal(counts == 2, inside == 1)
        nearest = rasterise(camera, points, faces)
        farthest = rasterise(camera, points, faces, keep="farthest")
        covered = counts == 2
        assert np.array_equal(nearest.face >= 0, covered)
        assert np.array_equal(farthest.face >= 0, covered)
        assert (farthest.depth[covered] >= nearest.depth[covered]).all()


@pytest.mark.small
def test_depth_follows_the_plane():
    corners = np.array([[-2.0, -3.0, 5.0], [20.0, 1.0, -1.0], [3.0, 17.0, 2.0]])
    drawn = rasterise(flat_camera(12, 10), *one_face(corners))
    rows, columns = np.nonzero(drawn.face == 0)
    assert len(rows) > 30
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    plane = corners[0, 2] - (normal[0] * (columns + 0.5 - corners[0, 0]) + normal[1] * (rows + 0.5 - corners[0, 1])) / normal[2]
    assert np.allclose(drawn.depth[rows, columns], plane, rtol=0, atol=1e-12)
    assert np.isposinf(drawn.depth[drawn.face < 0]).all()


@pytest.mark.small
def test_perspective_depth_is_the_distance_along_the_ray():
    camera = Camera(np.zeros(3), np.eye(3), 16, 16, 16.0, perspective=True, near=0.01)
    # The plane z = 2 + x + y/2: a ray (u, v, 1)·s meets it at s = 2 / (1 - u - v/2).
    corners = np.array([[x, y, 2.0 + x + y / 2.0] for x, y in ((-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0))])
    drawn = rasterise(camera, *one_face(corners))
    rows, columns = np.nonzero(drawn.face == 0)
    assert len(rows) > 20
    u, v = (columns + 0.5 - 8.0) / 16.0, (rows + 0.5 - 8.0) / 16.0
    # Corners are snapped to 1/256 pixel, so depth is right to that slope.
    assert np.allclose(camera.distance(drawn.depth)[rows, columns], 2.0 / (1.0 - u - v / 2.0), rtol=1e-3)


@pytest.mark.small
def test_the_nearest_and_the_farthest_face_win_and_ties_go_to_the_lower_number():
    square = np.array([[0, 0], [8, 0], [8, 8], [0, 8]], dtype=np.float64)
    points = np.concatenate([np.column_stack([square, np.full(4, z)]) for z in (3.0, 1.0, 2.0, 1.0, 3.0)])
    faces = np.array([[4 * i, 4 * i + 1, 4 * i + 2] for i in range(5)], dtype=np.int32)
    camera = flat_camera(8, 8)
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 3, 0, 1]):
        chosen = np.array(order, dtype=np.int32)
        nearest = rasterise(camera, points, faces, chosen=chosen)
        assert (nearest.face[0, 7], nearest.depth[0, 7]) == (1, 1.0)
        assert set(np.unique(nearest.face)) == {-1, 1}
        farthest = rasterise(camera, points, faces, chosen=chosen, keep="farthest")
        assert (farthest.face[0, 7], farthest.depth[0, 7]) == (0, 3.0)
        assert np.isneginf(farthest.depth[farthest.face < 0]).all()


@pytest.mark.small
@pytest.mark.parametrize(("keep", "order"), [("nearest", [1, 3, 2, 0, 4]), ("farthest", [0, 4, 2, 1, 3])])
def test_layers_peel_off_one_by_one_with_coplanar_faces_kept(keep, order):
    square = np.array([[0, 0], [8, 0], [8, 8]], dtype=np.float64)
    points = np.concatenate([np.column_stack([square, np.full(3, z)]) for z in (3.0, 1.0, 2.0, 1.0, 3.0)])
    faces = np.arange(15, dtype=np.int32).reshape(5, 3)
    camera = flat_camera(8, 8)
    layer, seen = None, []
    for _ in range(6):
        layer = rasterise(camera, points, faces, keep=keep, behind=layer)
        seen.append(int(layer.face[1, 6]))
    assert seen == [*order, -1]


@pytest.mark.small
def test_the_order_of_drawing_does_not_matter():
    rng = np.random.default_rng(2)
    points = rng.uniform(-2, 14, (30, 3))
    faces = rng.integers(0, 30, (40, 3)).astype(np.int32)
    camera = flat_camera(12, 12)
    first = rasterise(camera, points, faces)
    again = rasterise(camera, points, faces, chosen=rng.permutation(40).astype(np.int32))
    assert first.depth.tobytes() == again.depth.tobytes()
    assert first.face.tobytes() == again.face.tobytes()


@pytest.mark.small
def test_degenerate_faces_and_empty_scenes_draw_nothing():
    camera = flat_camera(6, 6)
    points = np.array([[0.5, 0.5, 0], [5.5, 5.5, 0], [2.5, 2.5, 0], [np.nan, 1, 1], [5, 0, 0]], dtype=np.float64)
    faces = np.array([[0, 1, 2], [0, 0, 1], [2, 2, 2], [0, 1, 3]], dtype=np.int32)
    assert (rasterise(camera, points, faces).face == -1).all()
    assert (rasterise(camera, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)).face == -1).all()
    assert (rasterise(camera, points, faces, chosen=np.zeros(0, dtype=np.int32)).face == -1).all()


@pytest.mark.small
@pytest.mark.parametrize("size", [1e3, 1e7, 1e12, 1e30])
def test_huge_triangles_cover_what_they_should(size):
    # A plane cut into four huge triangles that meet in the centre of pixel (4, 3): no pixel twice, none left out.
    points = np.array([[4.5, 3.5, 1], [4.5 + size, 3.5, 1], [4.5, 3.5 + size, 1], [4.5 - size, 3.5, 1], [4.5, 3.5 - size, 1]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]], dtype=np.int32)
    camera = flat_camera(9, 7)
    assert (coverage_counts(camera, points, faces) == 1).all()
    drawn = rasterise(camera, points, faces)
    assert [drawn.face[5, 7], drawn.face[5, 1], drawn.face[1, 1], drawn.face[1, 7]] == [0, 1, 2, 3]
    assert (drawn.depth == 1.0).all()


@pytest.mark.small
def test_a_floor_that_runs_under_the_camera_is_cut_at_the_near_plane():
    # Eye at the origin, y down: the floor y = 1 reaches from far behind to far ahead. Pixels above the horizon are empty,
    # pixels below it show the floor at distance 1/v, unless the near plane at 0.5 cuts it off (v > 2).
    camera = Camera(np.zeros(3), np.eye(3), 8, 48, 8.0, perspective=True, near=0.5)
    rng = np.random.default_rng(4)
    hub = np.array([[rng.uniform(-1, 1), 1.0, rng.uniform(-1, 1)]])
    rim = np.array([[-1e4, 1, -1e4], [3.0, 1, -1e4], [1e4, 1, -1e4], [1e4, 1, 1e4], [-7, 1, 1e4], [-1e4, 1, 1e4]])
    points = np.concatenate([hub, rim])
    faces = np.array([[0, 1 + i, 1 + (i + 1) % 6] for i in range(6)], dtype=np.int32)
    counts = coverage_counts(camera, points, faces)
    v = (np.arange(48) + 0.5 - 24.0) / 8.0
    expected = ((v > 0) & (v < 2)).astype(int)
    assert (counts == expected[:, None]).all()
    drawn = rasterise(camera, points, faces)
    seen = expected == 1
    assert np.allclose(camera.distance(drawn.depth)[seen], (1.0 / v[seen])[:, None], rtol=0.05)


@pytest.mark.small
def test_neighbours_cut_their_common_edge_in_the_same_point():
    rng = np.random.default_rng(9)
    for _ in range(50):
        a, b, c, d = rng.normal(size=(4, 3)) * 10.0 ** rng.integers(-3, 4)
        a[0], b[0] = -abs(a[0]), abs(b[0]) + 1.0
        results = []
        for polygon in (np.array([a, b, c]), np.array([b, a, d])):
            result = np.empty((10, 3))
            results.append({tuple(row) for row in result[: cut(polygon, 3, 0, 1.0, 0.5, result)]})
        common = {point for point in results[0] & results[1] if point[0] == 0.5}
        assert len(common) == 1


@pytest.mark.small
def test_what_lies_behind_the_eye_is_not_drawn():
    camera = Camera(np.zeros(3), np.eye(3), 8, 8, 8.0, perspective=True, near=0.5)
    corners = np.array([[-9.0, -9.0, 1.0], [9.0, -9.0, 1.0], [0.0, 18.0, 1.0]])
    assert (rasterise(camera, *one_face(corners)).face == 0).all()
    assert (rasterise(camera, *one_face(corners * (1, 1, -1))).face == -1).all()
    assert (rasterise(camera, *one_face(corners * (1, 1, 0.4))).face == -1).all()
    assert (rasterise(camera, *one_face(corners * (1, 1, 0))).face == -1).all()


@pytest.mark.small
def test_an_orthographic_camera_can_have_a_near_plane():
    camera = Camera(np.array([4.0, 4.0, 0.0]), np.eye(3), 8, 8, 1.0, near=3.0)
    # Depth equals x here: the part left of x = 3 is cut away.
    points = np.array([[0, 0, 0], [8, 0, 8], [8, 8, 8], [0, 8, 0]], dtype=np.float64)
    drawn = rasterise(camera, points, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)).face
    assert (drawn[:, :3] == -1).all()
    assert (drawn[:, 3:] >= 0).all()


@pytest.mark.small
def test_an_unknown_order_is_refused():
    with pytest.raises(InputError, match="keep"):
        rasterise(flat_camera(2, 2), np.zeros((1, 3)), np.zeros((0, 3), dtype=np.int32), keep="middle")
