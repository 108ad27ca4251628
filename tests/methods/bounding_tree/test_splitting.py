"""Splittings equal those of the paper, written plainly, face by face."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.random import below, random_state
from jostle.methods.bounding_tree.face_sets import SEED, FaceSets, open_sets, view_volume
from jostle.methods.bounding_tree.splitting.box_regions import first_faces, longest_axes, region_centres
from jostle.methods.bounding_tree.splitting.split import SPLITTINGS, ToSplit, split_sets
from jostle.methods.bounding_tree.tree import AABB, OBB, SPHERE
from jostle.methods.bounding_tree.volumes.quality import QUALITIES, box_size
from tests.methods.bounding_tree.sets import object_of, random_rotations, soup_mesh, soup_of

pytestmark = pytest.mark.small
COUNT = 60


def split_one(splitting, soup, degree, kind=OBB, quality="volume", means=None, last=True):
    """Split all faces; return the sets of faces of the parts."""
    count = len(soup.faces)
    sets = FaceSets(soup.vertices, soup.faces)
    box, _ = object_of("obb", soup.vertices, soup.faces, quality)
    starts, parts = np.empty((1, 7), np.int64), np.empty(1, np.int64)
    means = np.full((1, 6, 3), np.nan) if means is None else means
    ranges = np.zeros(1, np.int64), np.full(1, count)
    these = ToSplit(*ranges, np.full(1, degree), box[None], means, np.full(1, last), starts, parts)
    split_sets(SPLITTINGS[splitting], kind, QUALITIES[quality], sets, these)
    ends = starts[0, : parts[0] + 1].tolist()
    assert (ends[0], ends[-1]) == (0, count)
    found = [sets.order[low:high].tolist() for low, high in itertools.pairwise(ends)]
    assert all(found)
    assert sorted(itertools.chain(*found)) == list(range(count))
    return found


@kernel
def write_regions(box, degree, regions):
    region_centres(view_volume(box), degree, regions)


@kernel
def axes_by_length(box):
    return longest_axes(view_volume(box))


@kernel
def write_first_faces(addresses, begin, end, regions, degree, seeds):
    first_faces(open_sets(addresses), begin, end, regions, degree, seeds)


def as_sets(parts):
    return {frozenset(part) for part in parts}


def parts_of(label):
    return {frozenset(np.flatnonzero(label == j).tolist()) for j in np.unique(label)}


def some_soup(seed=0, count=COUNT):
    mesh = soup_mesh(count, seed)
    return soup_of(mesh.vertices * [1.0, 2.0, 3.0], mesh.faces)


# Figure 1


@pytest.mark.parametrize(
    ("degree", "expected"),
    [
        (2, [(-3, 0), (3, 0)]),
        (3, [(-4, 0), (0, 0), (4, 0)]),
        (4, [(-3, -1), (-3, 1), (3, -1), (3, 1)]),
        (5, [(-3, -1), (-3, 1), (3, -1), (3, 1), (0, 0)]),
        (6, [(-4, -1), (-4, 1), (0, -1), (0, 1), (4, -1), (4, 1)]),
    ],
)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_regions_of_a_box(degree, expected, order):
    half = np.array([6.0, 2.0, 1.0])  # along the longest axis, the second longest and the shortest
    axes = random_rotations(1, np.random.default_rng(0))[0]
    centre = np.array([10.0, 20.0, 30.0])
    box = np.concatenate([centre, half[list(order)], axes[list(order)].ravel(), [0.0]])
    regions = np.empty((6, 3))
    write_regions(box, degree, regions)
    np.testing.assert_allclose(regions[:degree], centre + np.array(expected) @ axes[:2], atol=1e-12)
    assert [order[k] for k in axes_by_length(box)] == [0, 1, 2]


def test_first_faces_are_nearest_and_distinct():
    corners = np.repeat([[0.0, 0, 0], [1.0, 0, 0], [5.0, 0, 0], [9.0, 0, 0]], 3, axis=0)
    sets = FaceSets(corners, np.arange(12, dtype=np.int32).reshape(-1, 3), np.array([3, 2, 1, 0], np.int32))
    regions = np.array([[1.1, 0, 0], [0.9, 0, 0], [8.0, 0, 0], [0.0] * 3, [0.0] * 3, [0.0] * 3])
    seeds = np.empty(6, np.int64)
    write_first_faces(sets.addresses, 0, 4, regions, 3, seeds)
    assert seeds[:3].tolist() == [2, 3, 0]  # entries of the list: faces 1, 0 and 3


# §3.1


def subsets_by_means(centres, degree):
    """§3.1 written plainly."""
    means = centres.mean(axis=0, keepdims=True)
    label = np.zeros(len(centres), int)
    for _ in range(2, degree + 1):
        own = np.linalg.norm(centres - means[label], axis=1)
        means = np.vstack([means, centres[own.argmax()]])
        while True:
            nearest = np.linalg.norm(centres[:, None] - means, axis=2).argmin(axis=1)
            if (nearest == label).all():
                break
            label = nearest
            means = np.array([centres[label == j].mean(axis=0) if (label == j).any() else means[j] for j in range(len(means))])
    return label


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
def test_without_optimisation(degree):
    for seed in range(5):
        soup = some_soup(seed)
        expected = parts_of(subsets_by_means(soup.centres, degree))
        assert as_sets(split_one("without_optimisation", soup, degree)) == expected
        assert len(expected) > 1


def test_without_optimisation_goes_on_from_the_degree_before():
    soup = some_soup()
    means = np.full((1, 6, 3), np.nan)
    box = np.empty((1, 16))
    starts, parts = np.empty((1, 7), np.int64), np.empty(1, np.int64)
    for degree in range(2, 7):
        ranges = np.zeros(1, np.int64), np.full(1, COUNT)
        these = ToSplit(*ranges, np.full(1, degree), box, means, np.zeros(1, bool), starts, parts)
        split_sets(SPLITTINGS["without_optimisation"], AABB, 0, soup, these)
        ends = starts[0, : parts[0] + 1].tolist()
        assert as_sets(soup.order[low:high].tolist() for low, high in itertools.pairwise(ends)) == parts_of(
            subsets_by_means(soup.centres, degree)
        )


# §3.2


def regions_and_seeds(soup, degree, quality):
    box, _ = object_of("obb", soup.vertices, soup.faces, quality)
    regions, seeds = np.empty((6, 3)), np.empty(6, np.int64)
    write_regions(box, degree, regions)
    write_first_faces(FaceSets(soup.vertices, soup.faces).addresses, 0, len(soup.faces), regions, degree, seeds)
    return box, regions[:degree], seeds[:degree].tolist()


def subsets_by_insertion(soup, degree, kind, quality):
    """§3.2 written plainly, the object of a subset computed anew each time."""
    box, _, seeds = regions_and_seeds(soup, degree, quality)
    axes = box[6:15].reshape(3, 3) if kind == OBB else np.eye(3)
    along = soup.vertices[soup.faces] @ axes.T

    def size(subset):
        points = along[subset].reshape(-1, 3)
        return box_size(Vec3(*(points.max(axis=0) - points.min(axis=0))), QUALITIES[quality])

    subsets = [[seed] for seed in seeds]
    waiting = [f for f in range(len(soup.faces)) if f not in seeds]
    state = random_state(SEED)
    while waiting:
        drawn = int(below(state, len(waiting)))
        face = waiting[drawn]
        waiting[drawn] = waiting[-1]
        waiting.pop()
        sizes = [size(subset) for subset in subsets]
        with_face = [size([*subset, face]) for subset in subsets]
        worst = [max([with_face[j], *sizes[:j], *sizes[j + 1 :]]) for j in range(degree)]
        best = min(range(degree), key=lambda j: (worst[j], with_face[j] - sizes[j], len(subsets[j])))
        subsets[best].append(face)
    return subsets


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kind", [AABB, OBB])
@pytest.mark.parametrize("quality", QUALITIES)
def test_insertion(degree, kind, quality):
    soup = some_soup(degree, 30)
    assert as_sets(split_one("insertion", soup, degree, kind, quality)) == as_sets(
        subsets_by_insertion(soup, degree, kind, quality)
    )


@pytest.mark.parametrize("degree", [2, 4, 6])
def test_insertion_with_spheres_makes_better_spheres_than_chance(degree):
    soup = some_soup(degree)
    _, _, seeds = regions_and_seeds(soup, degree, "volume")

    def worst(parts):
        return max(object_of("sphere", soup.vertices, soup.faces[list(part)])[1] for part in parts)

    parts = split_one("insertion", soup, degree, SPHERE)
    assert len(parts) == degree
    assert all(sum(seed in part for seed in seeds) == 1 for part in parts)  # the first faces belong to different subsets
    dealt = [list(range(j, COUNT, degree)) for j in range(degree)]
    assert worst(parts) < 0.8 * worst(dealt)


# §3.3


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
def test_modified_gottschalk(degree):
    soup = some_soup(degree)
    _, regions, _ = regions_and_seeds(soup, degree, "surface")
    label = np.linalg.norm(soup.centres[:, None] - regions, axis=2).argmin(axis=1)
    assert as_sets(split_one("gottschalk", soup, degree, SPHERE, "surface")) == parts_of(label)


def test_binary_gottschalk():
    soup = some_soup()
    box, _ = object_of("obb", soup.vertices, soup.faces)
    along = soup.centres @ box[6:15].reshape(3, 3)[box[3:6].argmax()]
    assert as_sets(split_one("binary_gottschalk", soup, 2)) == parts_of(along > along.mean())


def test_binary_gottschalk_takes_the_next_axis_where_the_longest_does_not_cut():
    # All centres have x = 0, the axis of the long faces; along y they differ.
    y = np.array([0.0, 3.0, 1.0, 4.0, 2.0, 5.0])[:, None, None] * [0.0, 1.0, 0.0]
    corners = y + np.array([[-9.0, 0.0, 0.0], [0.0, 0.0, 0.1], [9.0, 0.0, -0.1]])
    parts = split_one("binary_gottschalk", soup_of(corners.reshape(-1, 3)), 2)
    assert as_sets(parts) == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}


# Whatever the method


@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_faces_with_equal_centres_are_cut_into_equal_shares(splitting):
    face = np.array([[-1.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    soup = soup_of(np.tile(face, (10, 1)))
    assert list(map(len, split_one(splitting, soup, 2))) == [5, 5]
    if splitting != "insertion":  # which begins with different faces, whatever they are
        assert len(split_one(splitting, soup, 2, last=False)) == 1
