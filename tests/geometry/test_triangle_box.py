"""Both triangle–box tests against rational clipping: conservative and tight."""

import numpy as np
import pytest

from jostle.geometry import triangle_box
from tests.oracle.boxes import polygon_meets_box
from tests.values import bounds, triangles

WORKSPACE = np.empty(triangle_box.CLIP_WORKSPACE)


def says_clip(triangle, lower, upper):
    return bool(triangle_box.triangle_meets_box_clip(*triangles(triangle), *bounds([lower, upper]), WORKSPACE))


def says_sat(triangle, lower, upper):
    return bool(triangle_box.triangle_meets_box_sat(*triangles(triangle), *bounds([lower, upper])))


def random_box(rng):
    corners = rng.uniform(-1.0, 1.0, size=(2, 3))
    return corners.min(axis=0), corners.max(axis=0)


def random_case(rng):
    lower, upper = random_box(rng)
    return rng.normal(size=(3, 3)) * rng.choice([0.3, 1.0, 5.0]), lower, upper


def grazing_case(rng):
    """A point of the triangle is nearly on the box, and the triangle turns away."""
    lower, upper = random_box(rng)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    side = rng.integers(-1, 2, size=3)
    side[rng.integers(3)] = rng.choice([-1, 1])
    touch = middle + half * np.where(side == 0, rng.uniform(-1, 1, size=3), side)
    # The plane through the touch point with a normal in the outward cone of that feature leaves the box on one side.
    normal = side * rng.uniform(0.05, 1.0, size=3)
    normal /= np.linalg.norm(normal)
    in_plane = rng.normal(size=(3, 3))
    in_plane -= np.outer(in_plane @ normal, normal)
    if rng.random() < 0.5:
        in_plane -= rng.dirichlet(np.ones(3)) @ in_plane  # touch point inside the face
    else:
        share = rng.uniform(0.0, 1.0)
        in_plane -= (1 - share) * in_plane[0] + share * in_plane[1]  # touch point on an edge
        in_plane[2] += normal * rng.uniform(0.0, 2.0)  # the third corner is free to lift off
    return touch + in_plane + normal * rng.choice([0.0, 1e-16, -1e-16, 3e-16, 1e-15]), lower, upper


def degenerate_case(rng):
    triangle, lower, upper = grazing_case(rng) if rng.random() < 0.5 else random_case(rng)
    kind = rng.integers(4)
    if kind == 0:
        triangle[2] = triangle[1]
    elif kind == 1:
        triangle[:] = triangle[0]
    elif kind == 2:
        triangle[2] = (triangle[0] + triangle[1]) / 2
    else:
        upper = np.where(rng.random(3) < 0.5, lower, upper)  # a box without thickness
    return triangle, lower, upper


def grid_case(rng):
    """Small whole numbers: exact touching in every way."""
    corners = rng.integers(-2, 3, size=(2, 3)).astype(float)
    return rng.integers(-4, 5, size=(3, 3)).astype(float), corners.min(axis=0), corners.max(axis=0)


def placed(case, size, offset):
    triangle, lower, upper = case
    return triangle * size + offset * size, lower * size + offset * size, upper * size + offset * size


SCALES = [(1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1e-30, 0.0), (1e29, 0.0), (1.0, 1e7), (1e-9, 1e7)]
CASES = {"random": random_case, "grazing": grazing_case, "degenerate": degenerate_case, "grid": grid_case}


@pytest.mark.small
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("says", [says_clip, says_sat])
def test_never_wrongly_no_and_yes_too_often_only_within_the_padding(name, says):
    rng = np.random.default_rng(7)
    met, too_often, total = 0, 0, 0
    for size, offset in SCALES:
        for _ in range(60):
            triangle, lower, upper = placed(CASES[name](rng), size, offset)
            truth, said = polygon_meets_box(triangle, lower, upper), says(triangle, lower, upper)
            assert said or not truth, (triangle, lower, upper)
            if said and not truth:
                middle = (lower + upper) / 2
                reach = max(np.abs(triangle - middle).max(), np.abs(upper - middle).max())
                # Half an ulp of the coordinates can be lost in the box's centre, the rest is relative to the reach.
                grown = 2.0**-46 * reach + np.spacing(np.abs(lower).max())
                assert polygon_meets_box(triangle, lower, upper, grown), (triangle, lower, upper)
                too_often += 1
            met += truth
            total += 1
    assert 0.1 * total < met < 0.95 * total
    # Only cases made to graze come near the padding (touching grids cease to touch exactly when scaled by 1e-9).
    assert too_often <= {"random": 0.0, "grid": 0.03, "grazing": 0.6, "degenerate": 0.3}[name] * total


@pytest.mark.small
@pytest.mark.parametrize("says", [says_clip, says_sat])
def test_a_needle_past_a_corner(says):
    """Bounding boxes overlap and no vertex is inside: the later tests decide."""
    lower, upper = np.zeros(3), np.ones(3)
    needle = np.array([[2.1, 0.0, 0.5], [0.0, 2.1, 0.5], [0.0, 2.1, 0.6]])
    assert not says(needle, lower, upper)
    assert says(needle - [0.1, 0.0, 0.0], lower, upper)  # touches the edge x = y = 1 exactly
    assert not says(needle - [0.1 - 1e-12, 0.0, 0.0], lower, upper)


@pytest.mark.small
@pytest.mark.parametrize("says", [says_clip, says_sat])
def test_a_large_face_through_a_small_box(says):
    face = np.array([[-1e3, -1e3, -1e3], [1e3, -1e3, 0.0], [0.0, 1e3, 1e3]])
    inside = face.mean(axis=0)
    assert says(face, inside - 1e-6, inside + 1e-6)
    normal = np.cross(face[1] - face[0], face[2] - face[0])
    beside = inside + 1e-5 * normal / np.linalg.norm(normal)
    assert not says(face, beside - 1e-6, beside + 1e-6)


def test_the_default_is_one_of_the_two():
    assert triangle_box.triangle_meets_box is triangle_box.triangle_meets_box_sat
