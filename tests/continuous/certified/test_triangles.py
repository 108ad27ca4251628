"""First times of moving faces against dense sampling with its own distance and motions, rational arithmetic and known answers."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.continuous.certified.corners import STRAIGHT_ROUNDING, TURNING_ROUNDING
from jostle.continuous.certified.triangles import KEPT_SHARE, LEAST_GAP, MOST_STEPS, first_times_within
from jostle.errors import InputError
from tests.geometry.test_point_triangle import separation as exact_distance
from tests.oracle.moving import judge

STRAIGHT = np.array([0.0, 0.0, 1.0, 0.0])
KINDS = [(1, 3), (2, 2), (3, 3)]
EDGES = {1: [], 2: [(0, 1)], 3: [(0, 1), (1, 2), (2, 0)]}
Long = np.longdouble


def dot(a, b):
    return (a * b).sum(axis=-1)


def points_to_triangles(p, tri):
    """Distances of points (n,3) over the faces of triangles (n,3,3); inf where they are not over them."""
    a, u, v = tri[:, 0], tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0]
    n = np.cross(u, v)
    squared, w = dot(n, n), p - a
    beta, gamma = dot(np.cross(w, v), n), dot(np.cross(u, w), n)
    over = (squared > 0) & (beta >= 0) & (gamma >= 0) & (beta + gamma <= squared)
    return np.where(over, np.abs(dot(w, n)) / np.sqrt(np.where(squared > 0, squared, 1)), np.inf)


def points_to_segments(p, a, b):
    e = b - a
    squared = dot(e, e)
    t = np.clip(dot(p - a, e) / np.where(squared > 0, squared, 1), 0, 1)
    gap = p - (a + t[:, None] * e)
    return np.sqrt(dot(gap, gap))


def lines_between(a, b, c, d):
    """Distances of the lines ab and cd where their closest points are inside both segments; inf elsewhere."""
    n, r = np.cross(b - a, d - c), c - a
    squared = dot(n, n)
    s, t = dot(np.cross(r, d - c), n), dot(np.cross(r, b - a), n)
    inside = (squared > 0) & (s >= 0) & (s <= squared) & (t >= 0) & (t <= squared)
    return np.where(inside, np.abs(dot(r, n)) / np.sqrt(np.where(squared > 0, squared, 1)), np.inf)


def pierces(a, b, tri):
    """Whether the segments ab pass through the triangles."""
    n = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    low, high = dot(a - tri[:, 0], n), dot(b - tri[:, 0], n)
    t = low / np.where(low != high, low - high, 1)
    return (low * high < 0) & np.isfinite(points_to_triangles(a + t[:, None] * (b - a), tri))


def distances(a, b):
    """Distances of faces (n,p,3) and (n,q,3), in the precision of the arrays, by all pairs of features."""
    p, q = a.shape[1], b.shape[1]
    best = np.full(len(a), np.inf, dtype=a.dtype)
    for i in range(p):
        for j in range(q):
            best = np.minimum(best, np.sqrt(dot(a[:, i] - b[:, j], a[:, i] - b[:, j])))
    for first, second in ((a, b), (b, a)):
        for i in range(first.shape[1]):
            for k, m in EDGES[second.shape[1]]:
                best = np.minimum(best, points_to_segments(first[:, i], second[:, k], second[:, m]))
            if second.shape[1] == 3:
                best = np.minimum(best, points_to_triangles(first[:, i], second))
        for k, m in EDGES[first.shape[1]]:
            if second.shape[1] == 3:
                best = np.where(pierces(first[:, k], first[:, m], second), 0, best)
    for k, m in EDGES[p]:
        for r, s in EDGES[q]:
            best = np.minimum(best, lines_between(a[:, k], a[:, m], b[:, r], b[:, s]))
    return best


class Motion:
    """Faces (n,p,3) that turn about an axis through a centre each, by one angle, and shift along it: screws as in textbooks.

    Faces that do not turn shift in any direction, each corner on its own where `shift` says so.
    """

    def __init__(self, start, axis=(0.0, 0.0, 1.0), angle=0.0, centre=0.0, shift=0.0):
        self.start, self.angle = np.asarray(start, dtype=Long), Long(angle)
        self.axis = np.asarray(axis, dtype=Long) / np.linalg.norm(np.asarray(axis, dtype=np.float64))
        self.centre, self.shift = np.asarray(centre, dtype=Long), np.asarray(shift, dtype=Long)
        if angle != 0.0:
            self.shift = self.shift * self.axis

    @property
    def turn(self):
        return np.append(self.axis, self.angle).astype(np.float64)

    def at(self, time, rows=slice(None)):
        """Places at a time, or at one time for each row."""
        start = self.start[rows]
        centre, shift = (np.broadcast_to(x, self.start.shape)[rows] for x in (self.centre, self.shift))
        t = np.broadcast_to(np.asarray(time, dtype=Long), (len(start),))[:, None, None]
        arm, k = start - centre, self.axis
        axial = (arm @ k)[..., None] * k
        turned = (
            axial + np.cos(self.angle * t) * (arm - axial) + np.sin(self.angle * t) * np.cross(np.broadcast_to(k, arm.shape), arm)
        )
        return centre + turned + t * shift

    @property
    def ends(self):
        return self.at(0.0).astype(np.float64), self.at(1.0).astype(np.float64)


def random_motion(rng, n, corners, angle, spread=1.0, axis=None):
    start = rng.normal(size=(n, corners, 3)) + spread * rng.normal(size=(n, 1, 3))
    if angle == 0.0:
        return Motion(start, shift=1.5 * rng.normal(size=(n, 1, 3)) + 0.4 * rng.normal(size=start.shape))
    # A small angle has its axis far off, so that the way is not small.
    centre, axis = rng.normal(size=(n, 1, 3)) / min(1.0, angle), rng.normal(size=3) if axis is None else axis
    return Motion(start, axis, angle, centre, 1.5 * rng.normal(size=(n, 1, 1)))


def first_times(a, b, separation=0.0, **options):
    return first_times_within(*a.ends, a.turn, *b.ends, b.turn, separation, **options)


def largest_gap(a, b):
    """δ (n,) at the default tolerance."""
    every = np.concatenate([*a.ends, *b.ends], axis=1)
    size = (every.max(axis=1) - every.min(axis=1)).max(axis=1)
    turning = a.angle != 0 or b.angle != 0
    return np.maximum(1e-12, LEAST_GAP * (TURNING_ROUNDING if turning else STRAIGHT_ROUNDING)) * size


def check_against_samples(a, b, separation, found, samples):
    """No sample before the time found is within the separation, and the distance there is within δ of it."""
    rows = np.flatnonzero(distances(a.at(0.0), b.at(0.0)) > separation)  # the others have a rule of their own
    time, gap = found.time[rows], largest_gap(a, b)[rows]
    hit = np.isfinite(time)
    for share in np.linspace(0.0, 1.0, samples):
        at = share * np.where(hit, time, 1.0)
        assert (distances(a.at(at, rows), b.at(at, rows)) > separation - 1e-16).all()
    rows, time, gap = rows[hit], time[hit], gap[hit]
    there = distances(a.at(time, rows), b.at(time, rows))
    # The ends are rounded to float64, which moves a corner by up to 4 roundings of the largest coordinate.
    assert (there <= separation + gap + 1e-14).all()
    assert (found.steps < MOST_STEPS).all()
    return rows


ANGLES = [(0.0, 0.0), (0.0, 1.2), (0.05, 0.0), (2.0, 2.9), (1e-4, 3e-3), (1.5, 1.5)]


@pytest.mark.parametrize("separation", [0.0, 0.15])
@pytest.mark.parametrize("angles", ANGLES)
@pytest.mark.parametrize("kind", KINDS)
def test_never_missed_never_late_and_near_enough(kind, angles, separation):
    rng = np.random.default_rng(5)
    axis = [1.0, -2.0, 0.5] if angles[0] == angles[1] else None  # one turn for both is a case of its own
    a, b = (random_motion(rng, 300, corners, angle, 0.5, axis) for corners, angle in zip(kind, angles, strict=True))
    found = first_times(a, b, separation)
    hits = check_against_samples(a, b, separation, found, 40)
    assert len(hits) > 5
    back = first_times(b, a, separation) if kind != (1, 3) else first_times(a, b, separation)
    assert np.array_equal(np.isfinite(back.time), np.isfinite(found.time))
    # Times of slow approaches differ by what δ allows; no query here is slower than 1e-4 a step.
    both = np.isfinite(found.time)
    assert np.abs(back.time[both] - found.time[both]).max() < 1e-7


@pytest.mark.small
@pytest.mark.parametrize("angles", [(0.0, 0.0), (0.3, 0.0), (2.0, 2.9)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_pairs_against_samples(kind, angles):
    rng = np.random.default_rng(6)
    a, b = (random_motion(rng, 25, corners, angle, spread=0.7) for corners, angle in zip(kind, angles, strict=True))
    for separation in (0.0, 0.2):
        check_against_samples(a, b, separation, first_times(a, b, separation), 40)


@pytest.mark.parametrize("kind", [(1, 3), (2, 2)])
@pytest.mark.parametrize("grid", [2, 5, None])
def test_straight_motions_against_rational_arithmetic(kind, grid):
    """Integers that touch, graze and share planes, and random numbers. What is early or invented is nearer than δ."""
    rng = np.random.default_rng(8)
    n = 150
    corners = rng.normal(size=(n, 8, 3)) if grid is None else rng.integers(-grid, grid + 1, size=(n, 8, 3)).astype(float)
    p = kind[0]
    a, b = ((corners[:, s], corners[:, [k + 4 for k in s]]) for s in (list(range(p)), list(range(p, 4))))
    found = first_times_within(*a, STRAIGHT, *b, STRAIGHT)
    verdicts = [judge(p - 1, corners[i], float(found.time[i]), 1e-9) for i in range(n)]
    assert not {"missed", "late"} & set(verdicts)
    if grid is None:
        assert set(verdicts) == {""}
    for i in range(n):
        if verdicts[i] in ("early", "invented"):
            t = Fraction(float(found.time[i]))
            first, second = (
                [
                    [(1 - t) * Fraction(x) + t * Fraction(y) for x, y in zip(*c, strict=True)]
                    for c in zip(f[0][i], f[1][i], strict=True)
                ]
                for f in (a, b)
            )
            assert exact_distance_of(first, second) <= 1e-12 * 2 * max(1, grid)


def exact_distance_of(first, second):
    """The distance of faces with rational corners, scaled to whole numbers that float64 holds or else rounded at 1e-16."""
    return float(exact_distance(np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)))


def plate(size=5.0, height=0.0):
    """A triangle in the plane z = height around the origin, (1,3,3)."""
    return np.array([[[-size, -size, height], [size, -size, height], [0.0, size, height]]])


def only(motion_a, motion_b, separation=0.0):
    """The time of a single query, asked in both orders."""
    there, back = first_times(motion_a, motion_b, separation), first_times(motion_b, motion_a, separation)
    if np.isfinite(there.time[0]) or np.isfinite(back.time[0]):
        assert there.time[0] == pytest.approx(back.time[0], abs=1e-6)
    return float(there.time[0])


@pytest.mark.small
class TestKnownAnswers:
    def test_a_point_on_a_circle_meets_a_plane(self):
        angle = 2.0
        point = Motion([[[1.0, 0.0, 0.0]]], angle=angle)
        for share in (0.01, 0.3, 0.77, 0.999):
            direction = np.array([np.cos(share * angle), np.sin(share * angle), 0.0])
            wall = Motion([[0.1 * direction, 3.0 * direction, direction + np.array([0.0, 0.0, 5.0])]] - np.array([0.0, 0.0, 1.0]))
            assert only(point, wall) == pytest.approx(share, abs=1e-11)
            # At a separation the chord to the wall counts: its distance is sin(rest of the angle).
            assert only(point, wall, 0.01) == pytest.approx(max(0.0, share - np.arcsin(0.01) / angle), abs=1e-10)

    def test_a_propeller_that_turns_through_between_two_instants(self):
        blade = Motion([[[0.1, -0.05, 0.0], [2.0, 0.0, 0.0], [0.1, 0.05, 0.0]]], angle=3.0)
        stick = Motion([[[0.0, 1.0, -1.0], [0.0, 1.0, 1.0]]])
        leading = 2.0 * 0.05 / 1.9  # the edge from (0.1, 0.05) to (2, 0) is ahead of the middle line at radius 1 by about this
        time = only(stick, blade)
        assert (np.pi / 2 - leading) / 3.0 < time < np.pi / 2 / 3.0
        beyond = Motion([[[0.0, 2.001, -1.0], [0.0, 2.001, 1.0]]])
        assert only(beyond, blade) == np.inf

    def test_two_sticks_that_spin_towards_each_other(self):
        # 1 rad apart as seen along the axis, they turn towards each other by 0.8 and 0.7.
        first = Motion([[[0.0, 0.0, -0.5], [1.0, 0.0, 0.5]]], angle=0.8)
        second = Motion(
            [[[0.2 * np.cos(1), 0.2 * np.sin(1), 0.5], [0.8 * np.cos(1), 0.8 * np.sin(1), -0.5]]], axis=(0, 0, -1), angle=0.7
        )
        # Seen in cylinder coordinates they meet where both are at radius 1/2, z = 0, when the angles agree.
        assert only(first, second) == pytest.approx(1.0 / 1.5, abs=1e-11)

    def test_a_helix_into_a_plate(self):
        screw = Motion([[[1.0, 0.0, 1.0], [1.2, 0.0, 1.5], [1.0, 0.3, 1.7]]], angle=2.5, shift=-3.0)
        assert only(screw, Motion(plate())) == pytest.approx(1.0 / 3.0, abs=1e-11)
        assert only(screw, Motion(plate()), 0.1) == pytest.approx(0.9 / 3.0, abs=1e-11)

    def test_a_bullet_and_a_thin_plate(self):
        bullet = Motion([[[0.0, 0.0, 500.0], [0.1, 0.0, 500.2], [0.0, 0.1, 500.2]]], shift=[0.0, 0.0, -1000.0])
        assert only(bullet, Motion(plate())) == pytest.approx(0.5, abs=1e-10)

    @pytest.mark.parametrize("gap", [1e-6, 1e-8, 1e-10])
    def test_grazing(self, gap):
        """A corner on a circle passes over a plate at a gap, or dips below it by as much."""
        corners = np.array([[[0.0, 0.0, -1.0], [0.2, 0.1, -0.5], [-0.2, 0.1, -0.5]]])
        for tilt in (0.9, 0.2):
            back = Motion(corners, (0, 1, 0), -tilt).at(1.0)
            over, into = np.array([0.0, 0.0, 1.0 + gap]), np.array([0.0, 0.0, 1.0 - gap])
            assert only(Motion(back + over, (0, 1, 0), 2.0, over), Motion(plate())) == np.inf
            time = only(Motion(back + into, (0, 1, 0), 2.0, into), Motion(plate()))
            assert time == pytest.approx((tilt - np.arccos(1.0 - gap)) / 2.0, abs=1e-6)

    def test_edges_that_stay_parallel(self):
        first = Motion([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
        assert only(first, Motion([[[0.5, 1.0, 0.0], [2.0, 1.0, 0.0]]], shift=[0.0, -2.0, 0.0])) == pytest.approx(0.5, abs=1e-11)
        assert only(first, Motion([[[1.5, 1.0, 0.0], [2.0, 1.0, 0.0]]], shift=[0.0, -2.0, 0.0])) == np.inf
        assert only(first, Motion([[[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]], shift=[-2.0, 0.0, 0.0])) == pytest.approx(0.5, abs=1e-11)

    def test_ends_of_edges_that_meet_in_a_plane(self):
        """The distance falls like the square of the time left, and directions between closest points lose their digits."""
        start, end = [[-2, -1, 0], [0, -3, 0], [3, 2, 0], [0, 0, 0]], [[0, 3, 0], [-2, 2, 0], [0, 3, 0], [-2, -1, 0]]
        a_t0, a_t1, b_t0, b_t1 = (np.array([part], dtype=float) for part in (start[:2], end[:2], start[2:], end[2:]))
        for a in ((a_t0, a_t1), (np.concatenate([a_t0, a_t0[:, :1]], axis=1), np.concatenate([a_t1, a_t1[:, :1]], axis=1))):
            found = first_times_within(*a, STRAIGHT, b_t0, b_t1, STRAIGHT)
            assert found.time == pytest.approx([0.5], abs=1e-6)
            assert found.steps[0] < 20

    def test_what_moves_together_stays_apart(self):
        for gap in (1e-3, 1e-9):
            parts = [Motion(plate(1.0, height), (1, 2, 3), 2.5, [3.0, 0.0, 0.0], 2.0) for height in (0.0, gap)]
            found = first_times(*parts)
            assert found.time[0] == np.inf
            assert found.steps[0] <= 2
            assert first_times(*parts, 2 * gap).time[0] == np.inf

    def test_sheets_that_turn_as_one_on_straight_lines_stay_apart(self):
        """Their gap shrinks by cos 0.15 half way. A direction that stood still would serve for a thousandth of the step."""
        for gap in (1e-2, 1e-4, 1e-6):
            sheets = [Motion(plate(1.0, height), (1, 2, 0), 0.3, [1.0, 1.0, 0.0]) for height in (0.0, gap)]
            found = first_times_within(*sheets[0].ends, STRAIGHT, *sheets[1].ends, STRAIGHT)
            assert found.time[0] == np.inf
            assert found.steps[0] < 200
            half_way = [0.5 * (sheet.ends[0] + sheet.ends[1]) for sheet in sheets]
            kept = 0.5 * (1.0 + float(distances(*half_way)[0]) / gap) * gap  # between the least distance and the first
            ends = [np.concatenate([sheet.ends[k] for sheet in sheets]) for k in (0, 1)]
            there = first_times_within(ends[0][:1], ends[1][:1], STRAIGHT, ends[0][1:], ends[1][1:], STRAIGHT, kept)
            assert 0.0 < there.time[0] < 0.5

    def test_no_motion(self):
        here, there = Motion(plate()), Motion(plate(height=1.0))
        assert only(here, there) == np.inf
        assert only(here, there, 0.5) == np.inf
        assert only(here, Motion(plate())) == 0.0

    def test_faces_without_area_and_of_one_point(self):
        point = Motion(np.zeros((1, 3, 3)), shift=[0.0, 0.0, 2.0])
        assert only(point, Motion(np.array([[[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.5, 0.0, 1.0]]]))) == pytest.approx(
            0.5, abs=1e-11
        )
        assert only(point, Motion(np.full((1, 3, 3), [0.0, 0.0, 1.0]))) == pytest.approx(0.5, abs=1e-11)
        assert only(point, Motion(np.zeros((1, 3, 3)))) == 0.0


@pytest.mark.small
class TestTheStart:
    """What `separation` says of faces that are near each other when the step begins."""

    @pytest.mark.parametrize("share", [1.0, 0.999999, 0.5, 1e-3])
    def test_sliding_and_leaving_are_free_and_approaching_is_not(self, share):
        d = 0.01
        resting = Motion(plate())
        above = plate(0.5, share * d)
        slide = Motion(above, shift=[1.0, 0.5, 0.0])
        spin = Motion(above, angle=2.0)
        leave = Motion(above, shift=[0.3, 0.0, 2.0])
        lift = Motion(above, (1, 0, 0), 1.0, [0.0, -0.5, share * d])
        for motion in (slide, spin, leave, lift):
            assert only(resting, motion, d) == np.inf
        approach = Motion(above, shift=[0.3, 0.0, -1.0])
        assert only(resting, approach, d) == pytest.approx((1.0 - KEPT_SHARE) * share * d, rel=1e-2)

    def test_just_outside_the_separation_is_within_it(self):
        """A body that was stopped at separation + δ slides on."""
        d = 0.01
        for more in (1e-13, 1e-12, 1e-11):
            above = plate(0.5, d + more)
            assert only(Motion(plate()), Motion(above, shift=[1.0, 0.5, 0.0]), d) == np.inf

    @pytest.mark.parametrize("gap", [1e-10, 1e-9])
    def test_distances_whose_hundredth_is_rounding(self, gap):
        resting, above = Motion(plate()), plate(0.5, gap)
        assert only(resting, Motion(above, shift=[1.0, 0.5, 0.0]), 0.01) == np.inf
        assert only(resting, Motion(above, shift=[0.3, 0.0, 2.0]), 0.01) == np.inf
        assert only(resting, Motion(above, shift=[0.3, 0.0, -1.0]), 0.01) <= gap

    def test_touching(self):
        resting, above = Motion(plate()), plate(0.5)
        leave, slide = Motion(above, shift=[0.3, 0.0, 2.0]), Motion(above, shift=[0.3, 0.0, 0.0])
        # Coplanar faces leave to either side: a face alone has no inside.
        for motion in (leave, Motion(above, shift=[0.3, 0.0, -2.0])):
            assert only(resting, motion, 0.01) == np.inf
        into = Motion(above + np.array([[0, 0, 0.1], [0, 0, 0], [0, 0, 0.1]]), shift=[0.3, 0.0, -2.0])
        through = Motion(above + np.array([[0, 0, 0.1], [0, 0, 0], [0, 0, -0.1]]), shift=[0.0, 0.0, 2.0])
        for motion in (slide, into, through):
            assert only(resting, motion, 0.01) == 0.0
        for motion in (leave, slide, into, through):
            assert only(resting, motion, 0.0) == 0.0

    def test_touching_at_corners_and_edges(self):
        first = Motion(np.array([[[0.0, 0.0, 0.0], [-1.0, 0.5, 0.2], [-1.0, -0.5, -0.1]]]))
        corner = np.array([[[0.0, 0.0, 0.0], [1.0, 0.4, -0.3], [1.0, -0.6, 0.2]]])
        side = np.array([[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [1.0, -0.6, 0.2]]])
        beam = np.array([[[-0.5, 0.0, 0.025], [0.5, -1.0, 1.0], [0.5, 1.0, 1.0]]])
        for face in (corner, side):
            assert only(first, Motion(face, shift=[1.0, 0.3, 0.1]), 0.1) == np.inf
            assert only(first, Motion(face, (0, 0, 1), 0.5, [0.0, 3.0, 0.0]), 0.1) == np.inf  # leaves in +x
            assert only(first, Motion(face, shift=[-1.0, 0.0, 0.0]), 0.1) == 0.0
        assert only(first, Motion(beam, shift=[0.0, 0.0, 1.0]), 0.1) == np.inf
        assert only(first, Motion(beam, shift=[0.0, 0.0, -1.0]), 0.1) == 0.0

    def test_touching_in_one_plane_and_on_one_line(self):
        first = Motion(np.array([[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]]))
        second = np.array([[[0.0, 0.2, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]])
        assert only(first, Motion(second, shift=[0.5, 0.0, 0.0]), 0.1) == np.inf
        assert only(first, Motion(second, shift=[0.0, 0.0, 0.5]), 0.1) == np.inf
        assert only(first, Motion(second, shift=[0.0, 0.5, 0.0]), 0.1) == 0.0
        edge, on_it = Motion(np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])), np.array([[[0.5, 0.0, 0.0], [2.0, 0.0, 0.0]]])
        assert only(edge, Motion(on_it, shift=[0.1, 0.4, 0.3]), 0.1) == np.inf
        assert only(edge, Motion(on_it, shift=[0.1, 0.0, 0.0]), 0.1) == 0.0

    def test_leaving_and_coming_back(self):
        """A corner that leaves a plate along a tangent, and comes to another, or is caught up."""
        wheel = Motion(np.array([[[0.0, 0.0, 0.0], [0.1, 0.1, 0.4], [-0.1, 0.1, 0.4]]]), (0, 1, 0), 3.0, [0.0, 0.0, 1.0])
        assert only(Motion(plate()), wheel, 0.1) == np.inf
        assert 0.0 < only(Motion(plate(height=1.5)), wheel, 0.1) < 1.0
        # A point leaps to the height sin 2.5t, and the plate follows at the height t.
        rising, leap = Motion(plate(), shift=[0.0, 0.0, 1.0]), Motion(np.array([[[1.0, 0.0, 0.0]]]), (0, -1, 0), 2.5)
        assert only(rising, leap, 0.1) == pytest.approx(time_of_leap(), abs=1e-9)


def time_of_leap():
    """When sin 2.5t = t for the first time after 0."""
    low, high = 0.5, 1.25
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sin(2.5 * middle) > middle else (low, middle)
    return low


@pytest.mark.small
def test_features():
    up, height = [0.0, 0.0, -2.0], 1.0
    needle = np.array([[[3.0, 0.0, 2.0], [0.0, 0.0, height], [-3.0, 0.0, 2.0]]])
    for turned, code in ((needle, 1), (needle[:, [1, 2, 0]], 0), (needle[:, [2, 0, 1]], 2)):
        assert first_times(Motion(turned, shift=up), Motion(plate())).feature[0] == code
        assert first_times(Motion(plate()), Motion(turned, shift=up)).feature[0] == 3 + code
    # Edge 0 of the first comes down across edge 0 of the second, whose other edges are far.
    bar = np.array([[[-1.0, 0.3, height], [1.0, 0.3, height], [0.0, 0.3, 3.0]]])
    wall = np.array([[[0.1, -1.0, 0.0], [0.1, 1.0, 0.0], [0.1, 0.0, -3.0]]])
    for i in range(3):
        for j in range(3):
            a, b = np.roll(bar, i, axis=1), np.roll(wall, j, axis=1)
            assert first_times(Motion(a, shift=up), Motion(b)).feature[0] == 6 + 3 * i + j
    # Flat on flat: the lowest corner that is over the other face.
    assert first_times(Motion(plate(1.0, 1.0), shift=up), Motion(plate())).feature[0] == 0
    assert first_times(Motion(plate()), Motion(plate(1.0, 1.0), shift=up)).feature[0] == 3
    assert first_times(Motion(plate()), Motion(plate(1.0, 1.0))).feature[0] == -1


@pytest.mark.small
def test_small_angles_are_almost_straight():
    rng = np.random.default_rng(9)
    start, end = rng.normal(size=(20, 3, 3)), rng.normal(size=(20, 3, 3))
    other = rng.normal(size=(2, 20, 3, 3))
    straight = first_times_within(start, end, STRAIGHT, *other, STRAIGHT).time
    for angle in (1e-13, 1e-10):
        bent = first_times_within(start, end, np.array([0.6, 0.0, 0.8, angle]), *other, STRAIGHT).time
        assert np.isfinite(straight).sum() > 3
        assert np.allclose(bent, straight, rtol=0.0, atol=1e-8)


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_place_and_size_do_not_matter(scale):
    rng = np.random.default_rng(10)
    faces = rng.integers(-8, 9, size=(4, 12, 3, 3)) / 8.0
    turn = np.array([0.0, 1.0, 0.0, 0.5])
    there = first_times_within(*faces[:2], turn, *faces[2:], STRAIGHT, 0.125).time
    moved = scale * (faces + 1024.0)
    assert np.allclose(first_times_within(*moved[:2], turn, *moved[2:], STRAIGHT, scale * 0.125).time, there, rtol=0.0, atol=1e-9)


@pytest.mark.small
def test_refusals_and_empty_batches():
    face = np.zeros((2, 3, 3))
    with pytest.raises(InputError, match="separation"):
        first_times_within(face, face, STRAIGHT, face, face, STRAIGHT, -1.0)
    with pytest.raises(InputError, match="shapes"):
        first_times_within(face, face, STRAIGHT, face[:1], face[:1], STRAIGHT)
    with pytest.raises(InputError, match="shapes"):
        first_times_within(face, face[:, :2], STRAIGHT, face, face, STRAIGHT)
    found = first_times_within(face[:0], face[:0], STRAIGHT, face[:0], face[:0], STRAIGHT)
    assert found.time.shape == found.feature.shape == found.steps.shape == (0,)
