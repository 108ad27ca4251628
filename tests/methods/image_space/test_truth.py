"""Random pairs against the truth about solids: what a picture may miss, and that it adds nothing.

Whether two solids meet, and how deep, is proved in fractions (`tests/oracle/solids.py`). A sampled picture never reports what is
apart, and what it misses holds no ball of half the diagonal of a pixel; a conservative one misses nothing, and what it adds is
nearer than the diagonal of a pixel. `JOSTLE_PAIRS=10000` looks at more pairs than the suite has time for.
"""

import functools
import os
from typing import NamedTuple

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.shapes import build
from tests.oracle import solids
from tests.oracle.rows import world_vertices
from tests.tiny import box, random_pose, tetrahedron

COUNT = int(os.environ.get("JOSTLE_PAIRS", "400"))
RESOLUTION = 32
APART = 4.0  # from the middle of one pair to the next: none of them meets another
MESHES = [build.cone(14), box((-0.5, -0.3, -0.4), (0.5, 0.3, 0.4)), build.icosphere(1, 0.5), build.polytope36(3), tetrahedron()]


class Placed(NamedTuple):
    """A pair of bodies; moved away by `parts_after` the second parts from the first, NaN where that is not known."""

    meshes: tuple[jostle.Mesh, jostle.Mesh]
    poses: tuple[np.ndarray, np.ndarray]
    parts_after: float

    @property
    def triangles(self):
        made = []
        for mesh, pose in zip(self.meshes, self.poses, strict=True):
            points = world_vertices(pose, mesh.vertices)
            made.append([[points[k] for k in face] for face in mesh.faces.tolist()])
        return made


@functools.cache
def pairs():
    """Half of them random, half moved along a line until they almost touch, by a gap or an overlap of every size."""
    rng = np.random.default_rng(2)
    side = int(np.ceil(COUNT ** (1 / 3)))
    made = []
    for k in range(COUNT):
        a, b = rng.integers(len(MESHES), size=2)
        place = APART * np.array(np.unravel_index(k, (side, side, side)), float)
        pose_a, pose_b = (translation(place) @ random_pose(rng, 0.0) for _ in range(2))
        away = rng.normal(size=3)
        away /= np.linalg.norm(away)
        how_far, parts_at = rng.uniform(0.1, 1.1), np.nan
        if k % 2:
            parts_at = touching_distance(MESHES[a], pose_a, MESHES[b], pose_b, away)
            how_far = parts_at + rng.choice([-1, 1]) * 10 ** rng.uniform(-6, -1)
        made.append(Placed((MESHES[a], MESHES[b]), (pose_a, translation(away * how_far) @ pose_b), parts_at - how_far))
    return made


def touching_distance(mesh_a, pose_a, mesh_b, pose_b, away):
    """How far b must go to part from a; only a way to make pairs that are nearly touching."""
    pair = jostle.Pair(mesh_a, mesh_b)

    def touches(how_far):
        return pair.touches(pose_a, translation(away * how_far) @ pose_b)

    low = next(how_far for how_far in np.linspace(2.5, 0.0, 51) if touches(how_far))
    high = low + 0.05
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if touches(middle) else (low, middle)
    return high


@functools.cache
def depth_of(number):
    return float(solids.largest_erosion(*pairs()[number].triangles))


def is_less_deep_than(number, r):
    """Whether no ball of radius r is in both: two that share one do not part before they have moved by its diameter."""
    return pairs()[number].parts_after < 2 * r or depth_of(number) < r


def is_nearer_than(number, r):
    """Whether the distance is not proved to be larger than r; two that meet after they have moved by less are nearer."""
    return -pairs()[number].parts_after < r or not solids.farther_apart(*pairs()[number].triangles, r)


@functools.cache
def exact():
    return reported_by(jostle.WideTree(), solid=True)


def reported_by(method, **query):
    """The numbers of the pairs that a method reports."""
    world = jostle.World(method)
    for placed in pairs():
        for mesh, pose in zip(placed.meshes, placed.poses, strict=True):
            world.add(mesh, pose)
    found = list(world.detect(rows="pairs", **query).pairs)
    assert all(b == a + 1 and a % 2 == 0 for a, b in found)
    return {a // 2 for a, _ in found}


def longest_edge(number):
    return max(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in pairs()[number].meshes)


def test_the_exact_engine_tells_what_fractions_prove():
    """Only so is it the truth for the pairs that are not looked at one by one below."""
    for number in range(0, COUNT, max(1, COUNT // 30)):
        assert (depth_of(number) >= 0) == (number in exact())


@pytest.mark.parametrize("test", ["interval", "stencil"])
@pytest.mark.parametrize("view", ["x", "centres", "separating", "axes"])
def test_a_picture_reports_only_what_meets_and_misses_less_than_half_a_diagonal(test, view):
    found = reported_by(jostle.ImageSpace(resolution=RESOLUTION, test=test, view=view))
    for number in found - exact():
        pytest.fail(f"pair {number} is reported, and {-depth_of(number):g} apart")
    missed = exact() - found
    for number in missed:
        assert is_less_deep_than(number, 1.23 / RESOLUTION * longest_edge(number))
    assert len(found) > COUNT // 5
    assert 0 < len(missed) < COUNT // 3


@pytest.mark.parametrize("view", ["z", "centres", "separating", "axes"])
def test_a_conservative_picture_misses_nothing_and_adds_what_is_nearer_than_a_diagonal(view):
    found = reported_by(jostle.ImageSpace(resolution=RESOLUTION, conservative=True, view=view))
    assert exact() <= found
    for number in found - exact():
        assert is_nearer_than(number, 2.46 / RESOLUTION * longest_edge(number))
    assert len(found) < COUNT


def test_finer_pictures_miss_less():
    missed = [len(exact() - reported_by(jostle.ImageSpace(resolution=n))) for n in (4, 16, 64)]
    assert missed[0] > missed[1] > missed[2]
