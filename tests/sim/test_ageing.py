"""Ages of pairs, active pairs, and frozen vertices."""

import numpy as np
import pytest

from jostle.sim.ageing import FrozenVertices, grow_older, simplify, update_speeds
from jostle.sim.back_projection import FacetPairs
from jostle.sim.facet_pairs import chosen_pairs, no_pairs, with_remembered
from jostle.sim.surfaces import FIXED, SOFT, Surfaces

pytestmark = pytest.mark.small


def pairs_of(faces, **columns):
    count = len(faces)
    ints = [np.array(column, np.int32) for column in (np.zeros(count), np.ones(count), *np.array(faces).T)]
    pairs = FacetPairs(
        *ints, np.ones(count), np.ones(count), np.ones(count, bool), np.zeros(count, bool), *(np.zeros(count) for _ in range(4))
    )
    for name, values in columns.items():
        getattr(pairs, name)[:] = values
    return pairs


def surfaces_of(face_part, faces_of_a=4):
    """Two bodies of single triangles, nearest to these nodes."""
    count = len(face_part)
    face = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    starts = np.array([0, faces_of_a, count], np.int32)
    vertices, eight = 3 * count, np.zeros((3 * count, 8))
    return Surfaces(
        np.array([SOFT, FIXED], np.int32), np.ones(2), 3 * starts, starts, face, np.zeros((vertices, 3)),
        eight.astype(np.int32), eight,
        np.zeros((count, 8), np.int32), np.zeros((count, 8)), np.array(face_part, np.int32),
    )  # fmt: skip


def test_pairs_age_in_seconds_while_they_are_still():
    pairs = pairs_of([(0, 4), (1, 5), (2, 6)], slip=[0.0, 0.9, 1.1])
    for _ in range(5):
        grow_older(pairs, 0.1, still=1.0, limit=10.0)
    assert pairs.age == pytest.approx([0.5, 0.5, 0.0])


def test_an_old_pair_may_be_a_little_faster_before_it_is_young_again():
    pairs = pairs_of([(0, 4), (1, 5), (2, 6)], slip=[1.5, 1.5, 2.5], age=[0.9, 1.1, 1.1])
    grow_older(pairs, 0.1, still=1.0, limit=1.0)
    assert pairs.age == pytest.approx([0.0, 1.2, 0.0])


def test_only_one_pair_of_two_nodes_is_worked_on_when_all_of_them_are_old():
    surfaces = surfaces_of([7, 7, 7, 8, -2, -2, -2, -2])
    pairs = pairs_of([(0, 4), (1, 5), (2, 6), (3, 7)], age=[2.0, 2.0, 2.0, 2.0], gap=[0.1, -0.3, 0.2, 5.0])
    simplify(pairs, surfaces, 1.0)
    assert pairs.work.tolist() == [False, True, False, True]
    pairs.gap[0] = -0.4  # the one that is worked on stays the one, so that they do not take turns
    simplify(pairs, surfaces, 1.0)
    assert pairs.work.tolist() == [False, True, False, True]
    pairs.age[2] = 0.0  # one of them moves: all pairs of its nodes are worked on at once, the others are not disturbed
    simplify(pairs, surfaces, 1.0)
    assert pairs.work.tolist() == [True, True, True, True]
    simplify(pairs, surfaces, np.inf)
    assert pairs.work.all()
    # Two bodies that are both soft: the nodes of both must be the same.
    pairs = pairs_of([(0, 4), (1, 5), (2, 6), (3, 7)], age=[2.0, 2.0, 2.0, 2.0])
    simplify(pairs, surfaces_of([7, 7, 7, 8, 20, 21, 20, 20]), 1.0)
    assert pairs.work.tolist() == [True, True, False, True]


def test_slip_is_the_speed_of_two_facets_relative_to_each_other_and_speed_that_of_the_faster():
    surfaces, rng = surfaces_of([0] * 8), np.random.default_rng(5)
    pairs, ways = pairs_of([(0, 4), (3, 6)]), rng.normal(size=(24, 3))
    update_speeds(surfaces, ways, pairs, 10.0)
    for p, (a, b) in enumerate(((0, 4), (3, 6))):
        one, other = (10.0 * ways[3 * face : 3 * face + 3].mean(axis=0) for face in (a, b))
        assert pairs.slip[p] == pytest.approx(np.linalg.norm(one - other))
        assert pairs.speed[p] == pytest.approx(max(np.linalg.norm(one), np.linalg.norm(other)))


def test_vertices_of_old_pairs_are_displayed_where_they_were():
    surfaces, frozen = surfaces_of([0] * 8), FrozenVertices(24)
    pairs = pairs_of([(0, 4), (1, 5)], age=[2.0, 0.5], speed=[0.0, 0.0])
    points = np.random.default_rng(0).normal(size=(24, 3))
    assert (frozen.display(points, pairs, surfaces, 1.0, 0.1, 0.01) == points).all()
    assert np.flatnonzero(frozen.frozen).tolist() == [0, 1, 2, 12, 13, 14]
    moved = points + 0.001
    shown = frozen.display(moved, pairs, surfaces, 1.0, 0.1, 0.01)
    assert (shown[frozen.frozen] == points[frozen.frozen]).all()
    assert (shown[~frozen.frozen] == moved[~frozen.frozen]).all()
    assert len(frozen) == 6
    # The model has gone too far: what is displayed is never farther off than the tolerance, and the pair begins anew.
    moved[0] += 0.02
    shown = frozen.display(moved, pairs, surfaces, 1.0, 0.1, 0.01)
    assert (shown[0] == moved[0]).all()
    assert pairs.age.tolist() == [0.0, 0.5]
    assert np.abs(shown - moved).max() < 0.01
    # A pair whose bodies move together is old, and yet not frozen.
    pairs = pairs_of([(0, 4)], age=[2.0], speed=[1.0])
    assert (frozen.display(moved, pairs, surfaces, 1.0, 0.1, 0.01) == moved).all()


def lattice_of_triangles(height):
    """Four triangles side by side that look up, and four above them that look down."""
    shape = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    below = [shape + np.array([1.5 * k, 0.0, 0.0]) for k in range(4)]
    above = [shape[::-1] + np.array([1.5 * k + 0.1, 0.0, height]) for k in range(4)]
    return np.array(below + above).reshape(-1, 3)


def all_rows():
    a, b = (column.ravel().astype(np.int32) for column in np.meshgrid(range(4), range(4), indexing="ij"))
    return np.zeros(16, np.int32), np.ones(16, np.int32), a, b


def test_each_facet_takes_its_closest_partner_and_pairs_keep_their_age():
    surfaces, points = surfaces_of([0] * 8), lattice_of_triangles(0.1)
    pairs = chosen_pairs(all_rows(), surfaces, points, no_pairs())
    assert pairs.face_a.tolist() == [0, 1, 2, 3]
    assert pairs.face_b.tolist() == [4, 5, 6, 7]
    assert not pairs.age.any()
    pairs.age[:], pairs.held[1] = [1.0, 2.0, 3.0, 4.0], True
    points[12:] += [0.7, 0.0, 0.0]  # now 0.8 to the right: 0.7 from the next one to the left, which is not clearly closer
    again = chosen_pairs(all_rows(), surfaces, points, pairs)
    kept = again.face_b - again.face_a == 4
    assert again.age[kept].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert again.held.sum() == 1
    points[12:] += [0.6, 0.0, 0.0]
    again = chosen_pairs(all_rows(), surfaces, points, pairs)
    assert (again.face_a.tolist(), again.face_b.tolist()) == ([0, 1, 2, 3, 3], [4, 4, 5, 6, 7]) or not again.age[1:].all()


def test_pairs_of_the_last_step_are_remembered_where_a_report_is_not_complete_and_they_are_near():
    surfaces, points = surfaces_of([0] * 8), lattice_of_triangles(0.1)
    pairs = pairs_of([(0, 4), (1, 5), (2, 6), (3, 7)], gap=[0.01, 0.05, -0.3, 0.01])
    points[21:] += [2.0, 0.0, 0.0]  # the last one has slid away, along its plane
    one_row = tuple(np.array([number], np.int32) for number in (0, 1, 2, 2))
    rows = with_remembered(one_row, pairs, surfaces, points, 0.02)
    assert np.array(rows).T.tolist() == [[0, 1, 0, 0], [0, 1, 2, 2]]
    rows = with_remembered(one_row, pairs, surfaces, points, 0.06)
    assert np.array(rows).T.tolist() == [[0, 1, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2]]


def test_facets_that_look_away_do_not_push():
    surfaces, points = surfaces_of([0] * 8), lattice_of_triangles(0.1)
    assert len(chosen_pairs(all_rows(), surfaces._replace(outward=np.array([-1.0, 1.0])), points, no_pairs()).age) == 0
    # An open mesh has two sides: the one that looks at the other is taken.
    pairs = chosen_pairs(all_rows(), surfaces._replace(outward=np.zeros(2)), points, no_pairs())
    assert (pairs.side_a == 1.0).all()
    pairs = chosen_pairs(all_rows(), surfaces._replace(outward=np.zeros(2)), lattice_of_triangles(-0.1), no_pairs())
    assert (pairs.side_a == -1.0).all()
    assert (pairs.side_b == -1.0).all()


def test_bodies_that_nothing_moves_have_no_pairs():
    surfaces, points = surfaces_of([0] * 8), lattice_of_triangles(0.1)
    fixed = surfaces._replace(kind=np.array([FIXED, FIXED], np.int32))
    assert len(chosen_pairs(all_rows(), fixed, points, no_pairs()).age) == 0
