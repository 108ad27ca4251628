"""Regions of contact: rows compared with rows, surfaces whose curves of intersection are known, and for how long one is missed."""

import numpy as np
import pytest

from jostle import Mesh, World
from jostle.geometry.pose import rotation_about, translation
from jostle.lab.regions import MissedFor, Regions, regions_of
from jostle.shapes import build


def rows_of(report):
    contacts = report.contacts
    return np.stack([contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b], axis=1).astype(np.int64)


def touching(*placed, **options):
    """The rows of bodies (mesh, pose), and their meshes."""
    world = World()
    for number, (mesh, pose) in enumerate(placed):
        world.add(mesh, pose, f"body {number}")
    return rows_of(world.detect(**options)), [mesh for mesh, _ in placed]


def adjacent(row, other, meshes):
    """Whether two rows hang together, by the words of the definition."""

    def sides(each):
        return [(int(each[0]), int(each[2])), (int(each[1]), int(each[3]))]

    def share(one, two):
        corners = [set(meshes[body].welded_faces[face].tolist()) for body, face in (one, two)]
        return one[0] == two[0] and bool(corners[0] & corners[1])

    (a, b), (c, d) = sides(row), sides(other)
    if (row[0], row[1]) != (other[0], other[1]):
        return False
    ways = [(a, b, c, d)] if row[0] != row[1] else [(a, b, c, d), (a, b, d, c)]
    return any((p == r and share(q, s)) or (q == s and share(p, r)) for p, q, r, s in ways)


def by_pairs(rows, meshes):
    """Labels by comparing each row with each, until nothing changes."""
    label = list(range(len(rows)))
    near = [[j for j in range(len(rows)) if adjacent(rows[i], rows[j], meshes)] for i in range(len(rows))]
    changed = True
    while changed:
        changed = False
        for i, others in enumerate(near):
            least = min([label[i], *(label[j] for j in others)])
            changed = changed or least != label[i]
            label[i] = least
    firsts = sorted(set(label))
    return [firsts.index(each) for each in label]


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_regions_are_those_of_rows_compared_with_rows(seed):
    rng = np.random.default_rng(seed)
    # Some vertices are there twice, with equal coordinates: they are one.
    meshes = [build.icosphere(1), Mesh(*_apart(build.box())), build.torus(0.7, 0.3, 6, 4)]
    rows = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        chosen = rng.integers(0, len(meshes[a].faces) * len(meshes[b].faces), 25)
        rows += [(a, b, *divmod(int(each), len(meshes[b].faces))) for each in np.unique(chosen)]
    rows += [(0, 0, f, g) for f, g in np.unique(np.sort(rng.integers(0, 80, (25, 2)), axis=1), axis=0).tolist() if f < g]
    rows = np.array(sorted(rows))
    found = regions_of(rows, meshes)
    assert found.label.tolist() == by_pairs(rows, meshes)
    assert found.count == len(set(found.label.tolist())) < len(rows)
    assert found.sizes.sum() == len(rows)


def _apart(mesh):
    """The same faces, no two of which have a vertex number in common."""
    return mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3)


def test_a_region_is_a_curve_of_intersection():
    ball, ring = build.icosphere(3), build.torus(0.7, 0.3, 48, 24)
    sheet = build.plate(7, 7, (4.0, 4.0))
    across = rotation_about((1.0, 0.1, 0.0), 0.5 * np.pi)
    tilted = translation((0.013, 0.021, 0.007)) @ rotation_about((0.2, 1.0, 0.1), 0.3)
    assert regions_of(*touching((ball, None), (ball, translation((0.9, 0.31, 0.17))))).count == 1
    assert regions_of(*touching((ring, None), (sheet, tilted @ across))).count == 2  # two rings where it is cut across
    assert (
        regions_of(*touching((ring, None), (sheet, translation((0.0, 0.0, 0.013)) @ rotation_about((1.0, 0.3, 0.0), 0.01)))).count
        == 2
    )
    in_the_hole = build.icosphere(4, 0.45), translation((0.003, 0.002, 0.001))
    assert regions_of(*touching((ring, None), in_the_hole)).count == 2  # above and below what is shared
    small = build.icosphere(2, 0.2)
    several = regions_of(*touching((sheet, None), *((small, translation((0.9 * k - 1.3, 0.1, 0.05))) for k in range(4))))
    assert several.count == 4
    assert sorted({tuple(row) for row in several.rows[:, :2].tolist()}) == [(0, 1), (0, 2), (0, 3), (0, 4)]


@pytest.mark.small
def test_a_region_of_a_body_with_itself_has_its_faces_on_either_side():
    strip = build.plate(4, 1, (4.0, 1.0))
    # Faces 0, 2, 4 … follow each other: (0, 5) and (5, 2)… are told as (0, 5) and (2, 5).
    rows = np.array([(0, 0, 0, 5), (0, 0, 2, 5), (0, 0, 5, 6)])
    corners = strip.welded_faces
    label = regions_of(rows, [strip]).label.tolist()
    assert label == by_pairs(rows, [strip])
    assert set(corners[0].tolist()) & set(corners[2].tolist())
    assert label[0] == label[1]


@pytest.mark.small
def test_no_rows_have_no_regions():
    none = regions_of(np.empty((0, 4), np.int32), [])
    assert (none.count, none.faces(), none.sizes.tolist(), none.reported(np.empty((0, 4))).tolist()) == (0, 0, [], [])


@pytest.mark.small
def test_what_is_reported_and_how_many_faces_that_are():
    rows = np.array([(0, 1, 4, 7), (0, 1, 4, 8), (0, 1, 9, 1), (0, 2, 4, 7), (1, 2, 7, 7)])
    regions = Regions(rows, np.array([0, 0, 1, 2, 3]))
    assert regions.reported(rows[[1]]).tolist() == [True, False, False, False]
    assert regions.reported(rows[[2, 3]].astype(np.int32)).tolist() == [False, True, True, False]
    assert regions.reported(np.array([(0, 1, 8, 4), (1, 2, 4, 7)])).tolist() == [False] * 4
    # Body 0 has 4 and 9, body 1 has 7, 8 and 1, body 2 has 7.
    assert regions.faces() == 6
    assert regions.faces(np.array([True, False, False, False])) == 3
    assert regions.faces(np.array([False, False, True, True])) == 3
    assert regions.faces(np.zeros(4, bool)) == 0


@pytest.mark.small
def test_for_how_long_a_region_is_missed():
    sheet = build.plate(10, 10)
    meshes = [sheet, sheet]
    far = len(sheet.faces) - 1

    def regions(*faces):
        return regions_of(np.array([(0, 1, face, face) for face in faces]), meshes)

    def told(*values):
        return np.array(values, bool)

    watch = MissedFor(meshes)
    both = regions(0, far)
    assert both.count == 2
    large = told(1, 1)
    assert watch.follow(both, told(1, 0), large).tolist() == [1, 0]
    assert watch.follow(regions(0, far), told(1, 1), large).tolist() == [2, 1]
    # The first slides by a face to one that shares a vertex with where it was; the same frame asked again is no later one.
    assert watch.follow(regions(2, far), told(1, 1), large).tolist() == [3, 2]
    assert watch.follow(regions(2, far), told(1, 0), large, again=True).tolist() == [3, 0]
    # For a while it is too small to be counted; then it goes on. The other begins anew.
    assert watch.follow(regions(2, far), told(1, 1), told(0, 1)).tolist() == [3, 1]
    assert watch.follow(regions(2, far), told(1, 1), large).tolist() == [4, 2]
    # Once reported, it is at its beginning.
    assert watch.follow(regions(2, far), told(0, 1), large).tolist() == [0, 3]
    assert watch.follow(regions(2, far), told(1, 1), large).tolist() == [1, 4]
    # A region elsewhere is another one.
    assert watch.follow(regions(100), told(1), told(1)).tolist() == [1]


@pytest.mark.small
def test_a_region_that_slides_by_more_than_a_face_is_still_the_same():
    # 200 faces along an edge of 1: a face is 0.005 long, and 1 % of the size 0.014.
    strip = build.plate(200, 1, (1.0, 1.0))
    ends = strip.vertices[strip.faces].max(axis=1)[:, 0]

    def at(place):
        face = int(np.argmin(np.abs(ends - (strip.bounds[0, 0] + place))))
        return regions_of(np.array([(0, 1, face, face)]), [strip, strip])

    yes, watch = np.array([True]), MissedFor([strip, strip])
    assert watch.follow(at(0.1), yes, yes).tolist() == [1]
    assert watch.follow(at(0.112), yes, yes).tolist() == [2]
    assert watch.follow(at(0.100), yes, yes).tolist() == [3]
    assert watch.follow(at(0.2), yes, yes).tolist() == [1]
    # On one body it stays where it was, and slides along the other.
    resting = np.array([(0, 1, 0, int(np.argmax(ends)))])
    sliding = np.array([(0, 1, 0, 0)])
    watch = MissedFor([strip, strip])
    assert watch.follow(regions_of(resting, [strip, strip]), yes, yes).tolist() == [1]
    assert watch.follow(regions_of(sliding, [strip, strip]), yes, yes).tolist() == [2]
