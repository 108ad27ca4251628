"""Face pairs along a motion: first times and features, shared queries, order and pruning."""

import numpy as np
import pytest

import jostle
from jostle.continuous import face_pairs
from jostle.continuous.face_pairs import Features, MovingSurface, first_times, slack
from jostle.continuous.interpolate import STRAIGHT, turn_between
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.methods.brute_force.moving_faces import meeting_faces
from jostle.shapes import build
from tests.oracle import rational
from tests.tiny import box

SAMPLES = 24


def soup(start, end, turn=STRAIGHT):
    """Unconnected triangles (n,3,3) as a moving surface."""
    return MovingSurface(
        np.ascontiguousarray(start, float).reshape(-1, 3),
        np.ascontiguousarray(end, float).reshape(-1, 3),
        np.arange(3 * len(start), dtype=np.int32).reshape(-1, 3),
        np.asarray(turn, float),
    )


def each_with_each(a, b):
    i, j = np.meshgrid(np.arange(len(a.faces)), np.arange(len(b.faces)), indexing="ij")
    return i.ravel().astype(np.int32), j.ravel().astype(np.int32)


def moved_mesh(mesh, start, end):
    return MovingSurface(
        transform_points(start, mesh.vertices), transform_points(end, mesh.vertices), mesh.faces, turn_between(start, end)
    )


def approaching_spheres(turning, level=2):
    ball = build.icosphere(level)
    start = translation((0.1, 0.2, 2.2)) @ rotation_about((1, 2, 3), 0.4)
    end = translation((0, 0, -1)) @ start @ rotation_about((0, 1, 0.3), 0.8 if turning else 0.0)
    a, b = moved_mesh(ball, start, end), moved_mesh(ball, np.eye(4), translation((0.2, 0, 0)))
    if not turning:
        a = a._replace(turn=STRAIGHT)
    return a, b, *meeting_faces(a, b, 0.0)[:2]


def exact_triangle(start, end, k):
    """A triangle with whole corners at the time k / SAMPLES, SAMPLES times as large: whole again."""
    return (SAMPLES * start + k * (end - start)).tolist()


@pytest.mark.small
def test_times_agree_with_rational_arithmetic_at_many_instants():
    rng = np.random.default_rng(2)
    for spread in (2, 3):
        a0, a1 = rng.integers(-spread, spread + 1, (2, 5, 3, 3))
        b0, b1 = rng.integers(-spread, spread + 1, (2, 4, 3, 3))
        a, b = soup(a0, a1), soup(b0, b1)
        face_a, face_b = each_with_each(a, b)
        found = first_times(a, b, face_a, face_b)
        hits = 0
        for row, (i, j) in enumerate(zip(face_a, face_b, strict=True)):
            touching = [
                k for k in range(SAMPLES + 1) if rational.kind(exact_triangle(a0[i], a1[i], k), exact_triangle(b0[j], b1[j], k))
            ]
            time = found.time[row]
            assert not touching or SAMPLES * time <= touching[0]
            assert (time == 0.0) == (0 in touching)
            if 0.0 < time < np.inf:
                hits += 1
                x = a0[i] + time * (a1[i] - a0[i])
                y = b0[j] + time * (b1[j] - b0[j])
                assert jostle.distance((x, [[0, 1, 2]]), (y, [[0, 1, 2]])).distance < 1e-5
        assert hits > 3


def placed_feature(surface, kind, vertices, time):
    return surface.placed(time)[vertices[:kind]]


@pytest.mark.parametrize("turning", [False, True])
def test_the_features_are_those_that_meet(turning):
    a, b, face_a, face_b = approaching_spheres(turning)
    found = first_times(a, b, face_a, face_b)
    rows = np.flatnonzero(np.isfinite(found.time))
    assert len(rows) > 20
    kinds = set()
    for row in rows[:60]:
        features = found.features.select(slice(row, row + 1))
        kinds.add((int(features.kind_a[0]), int(features.kind_b[0])))
        one = placed_feature(a, int(features.kind_a[0]), features.vertices_a[0], found.time[row])
        other = placed_feature(b, int(features.kind_b[0]), features.vertices_b[0], found.time[row])
        corners = [list(points) + [points[-1]] * (3 - len(points)) for points in (one, other)]
        assert jostle.distance((corners[0], [[0, 1, 2]]), (corners[1], [[0, 1, 2]])).distance < 1e-5
        assert set(features.vertices_a[0][: features.kind_a[0]]) <= set(a.faces[face_a[row]])
        assert set(features.vertices_b[0][: features.kind_b[0]]) <= set(b.faces[face_b[row]])
        assert (features.vertices_a[0][features.kind_a[0] :] == -1).all()
    assert {(1, 3), (3, 1), (2, 2)} >= kinds
    assert len(kinds) > 1


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("separation", [0.0, 0.01])
def test_a_face_pair_has_the_same_time_in_whatever_company(turning, separation):
    a, b, face_a, face_b = approaching_spheres(turning)
    whole = first_times(a, b, face_a, face_b, separation)
    rng = np.random.default_rng(0)
    for size in (1, 7, len(face_a) - 1):
        chosen = rng.choice(len(face_a), size, replace=False)
        part = first_times(a, b, face_a[chosen], face_b[chosen], separation)
        assert np.array_equal(part.time, whole.time[chosen])
        for one, other in zip(part.features, whole.features.select(chosen), strict=True):
            assert np.array_equal(one, other)


def first_row(times, face_a, face_b):
    row = np.lexsort((face_b, face_a, times.time))[0]
    return times.time[row], face_a[row], face_b[row], times.features.of_a(row), times.features.of_b(row)


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("separation", [0.0, 0.01])
@pytest.mark.parametrize("chunk", [1, 8, 128])
def test_looking_for_the_first_only_finds_the_same_first(monkeypatch, turning, separation, chunk):
    monkeypatch.setattr(face_pairs, "FIRST_CHUNK", chunk)
    a, b, face_a, face_b = approaching_spheres(turning)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(face_a))  # faces that share the corner that meets first are equally early
    face_a, face_b = face_a[order], face_b[order]
    whole = first_times(a, b, face_a, face_b, separation)
    for slackness in (0.0, 0.1, 1.0):
        # A lower bound: some time before the true one; any time for pairs that never meet.
        known = np.where(np.isfinite(whole.time), whole.time, 1.0) * (1.0 - slackness * rng.random(len(face_a)))
        found = first_times(a, b, face_a, face_b, separation, earliest=known, only_first=True)
        assert first_row(found, face_a, face_b) == first_row(whole, face_a, face_b)
        looked = np.isfinite(found.time)
        assert np.array_equal(found.time[looked], whole.time[looked])
        if slackness < 1.0 and chunk < 128:
            assert looked.sum() < np.isfinite(whole.time).sum()


def test_contact_at_the_start_ends_the_search_for_the_first(monkeypatch):
    a, b = moved_mesh(box(), translation((0.5, 0.25, 0.125)), translation((3, 0, 0))), moved_mesh(box(), np.eye(4), np.eye(4))
    face_a, face_b, _ = meeting_faces(a, b, 0.0)
    whole = first_times(a, b, face_a, face_b)
    monkeypatch.setattr(face_pairs, "certified_times", None)
    found = first_times(a, b, face_a, face_b, earliest=np.zeros(len(face_a)), only_first=True)
    assert first_row(found, face_a, face_b) == first_row(whole, face_a, face_b)
    assert first_row(found, face_a, face_b)[0] == 0.0


def test_each_pair_of_features_is_asked_once(monkeypatch):
    a, b, face_a, face_b = approaching_spheres(False)
    asked = []

    def counting(kind, corners, tolerance, real=face_pairs.certified_times):
        asked.append((kind, corners.copy()))
        return real(kind, corners, tolerance)

    monkeypatch.setattr(face_pairs, "certified_times", counting)
    first_times(a, b, face_a, face_b)
    assert sorted(kind for kind, _ in asked) == [0, 1]
    for _, corners in asked:
        assert len(np.unique(corners.reshape(len(corners), -1), axis=0)) == len(corners)
    # Far fewer than 15 for each pair of faces.
    assert 0 < sum(len(corners) for _, corners in asked) < 3 * len(face_a)


@pytest.mark.small
def test_touching_faces_at_the_start_have_the_features_that_touch():
    triangle = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
    cases = {
        ((1, 1, 0), (1, 1, 3), (3, 1, 3)): ("vertex", "face"),
        ((-1, -1, 0), (-1, -1, 3), (3, 3, 0)): ("face", "vertex"),  # an edge over the corner at the origin
        ((2, -1, -1), (2, 1, 1), (2, -1, 5)): ("edge", "edge"),
        ((1, 1, -1), (1, 1, 3), (3, 1, 3)): ("face", "face"),  # through it
    }
    for other, expected in cases.items():
        a, b = soup([other], np.add([other], (0, 0, 9))), soup([triangle], [triangle])
        found = first_times(a, b, np.zeros(1, np.int32), np.zeros(1, np.int32))
        assert found.time[0] == 0.0
        assert (found.features.of_a(0)[0], found.features.of_b(0)[0]) == expected


@pytest.mark.small
def test_features_at_the_start_are_the_lowest_that_touch_by_rational_arithmetic():
    """Few points, so that degenerate, coplanar and coincident triangles are common."""
    rng = np.random.default_rng(3)
    a = MovingSurface(*rng.integers(0, 3, (2, 12, 3)).astype(float), rng.integers(0, 12, (16, 3)).astype(np.int32), STRAIGHT)
    b = MovingSurface(*rng.integers(0, 3, (2, 12, 3)).astype(float), rng.integers(0, 12, (16, 3)).astype(np.int32), STRAIGHT)
    face_a, face_b = each_with_each(a, b)
    found = first_times(a, b, face_a, face_b)
    features = set()
    for row in range(len(face_a)):
        p, q = a.vertices_t0[a.faces[face_a[row]]].tolist(), b.vertices_t0[b.faces[face_b[row]]].tolist()
        kind = rational.kind(p, q)
        assert (found.time[row] == 0.0) == (kind != 0)
        if kind == 0:
            continue
        edges = [(k, (k + 1) % 3, (k + 1) % 3) for k in range(3)]
        trials = [([p[k]] * 3, q) for k in range(3)] + [(p, [q[k]] * 3) for k in range(3)]
        trials += [([p[k] for k in one], [q[k] for k in other]) for one in edges for other in edges]
        code = next((k for k, trial in enumerate(trials) if kind != jostle.Kind.CROSSING and rational.kind(*trial)), len(trials))
        expected = (
            ("vertex", "face") if code < 3 else ("face", "vertex") if code < 6 else ("edge", "edge") if code < 15 else ("face",) * 2
        )
        one, other = found.features.of_a(row), found.features.of_b(row)
        assert (one[0], other[0]) == expected
        if code < 3:
            assert one[1] == (a.faces[face_a[row], code],)
        features.add(expected)
    assert len(features) == 4


@pytest.mark.small
def test_a_time_of_0_means_contact_at_the_start():
    triangle = np.array([[[0.0, 0, 0], [4, 0, 0], [0, 4, 0]]])
    height = 1e-13
    a = soup(np.add(triangle, (0.5, 0.5, height)), np.add(triangle, (0.5, 0.5, -1.0)))
    found = first_times(a, soup(triangle, triangle), np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert 0.0 < found.time[0] <= height


@pytest.mark.small
def test_no_face_pairs_have_no_times():
    a = soup(np.zeros((1, 3, 3)), np.ones((1, 3, 3)))
    none = np.empty(0, np.int32)
    for separation in (0.0, 1.0):
        for only_first in (False, True):
            found = first_times(a, a, none, none, separation, earliest=np.empty(0), only_first=only_first)
            assert found.time.shape == (0,)
            assert found.features.vertices_a.shape == (0, 3)
    assert Features.joined([]).kind_a.shape == (0,)


def test_root_finders_of_the_paper_find_plain_contacts():
    for turning in (False, True):
        a, b, face_a, face_b = approaching_spheres(turning)
        certified = first_times(a, b, face_a, face_b)
        falsi = first_times(a, b, face_a, face_b, roots="regula_falsi")
        linear = first_times(a, b, face_a, face_b, roots="linear_interpolation")
        hits = np.isfinite(certified.time)
        found = np.isfinite(falsi.time) & hits
        assert found.sum() > 0.9 * hits.sum()
        assert np.median(np.abs(falsi.time[found] - certified.time[found])) < 1e-6
        # A single interpolation is good for straight motions of rigid bodies only.
        assert np.isfinite(linear.time).sum() > 0.5 * hits.sum()


@pytest.mark.parametrize("roots", ["certified", "regula_falsi"])
def test_contacts_far_from_the_chord_of_an_arc_are_found(roots):
    """A blade turns from -1 to 1 rad: at both ends it is short of the post in front of it, on every axis."""
    blade = jostle.Mesh([[0.5, 0, 0], [1, 0, -0.1], [1, 0, 0.1]], [[0, 1, 2]])
    post = jostle.Mesh([[0.9, -0.2, 0], [0.95, 0.0, 0.01], [1.2, 0, 0]], [[0, 1, 2]])
    turn = rotation_about((0, 0, 1), 1.0)
    a, b = moved_mesh(blade, np.linalg.inv(turn), turn), moved_mesh(post, np.eye(4), np.eye(4))
    assert len(meeting_faces(a, b, 0.0)[0]) == 1
    found = first_times(a, b, np.zeros(1, np.int32), np.zeros(1, np.int32), roots=roots)
    assert 0.3 < found.time[0] < 0.5


def test_slack_bounds_how_far_apart_faces_are_at_their_contact():
    a, b, face_a, face_b = approaching_spheres(True)
    room = slack(a, b)
    assert 0.0 < room < 1e-10
    found = first_times(a, b, face_a, face_b, 0.01)
    for row in np.flatnonzero(np.isfinite(found.time))[:40]:
        one, other = a.placed(found.time[row]), b.placed(found.time[row])
        gap = jostle.distance((one[a.faces[face_a[row]]], [[0, 1, 2]]), (other[b.faces[face_b[row]]], [[0, 1, 2]])).distance
        assert gap <= 0.01 + room + 1e-12


def test_swept_boxes_hold_the_faces_at_all_times():
    from jostle.methods.brute_force.moving_faces import swept_boxes

    rng = np.random.default_rng(4)
    mesh = build.icosphere(1)
    for _ in range(5):
        start, turn = translation(rng.uniform(-2, 2, 3)), rotation_about(rng.normal(size=3), rng.uniform(0.1, 3.0))
        surface = moved_mesh(mesh, start, translation(rng.uniform(-3, 3, 3)) @ turn @ start)
        lower, upper = swept_boxes(surface, 0.0)
        for t in np.linspace(0, 1, 41):
            corners = surface.placed(t)[mesh.faces]
            assert (corners.min(axis=1) >= lower).all()
            assert (corners.max(axis=1) <= upper).all()
