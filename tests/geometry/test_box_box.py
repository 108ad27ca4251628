"""Oriented against axis-aligned boxes, by rational clipping: never wrongly no."""

import numpy as np
import pytest

from jostle.geometry import box_box
from tests.oracle.boxes import oriented_box_meets_box
from tests.tiny import random_pose
from tests.values import vec3s


def says(away, axes, half, padding=0.0):
    table = np.empty((2, box_box.WIDTH))
    box_box.set_up_oriented_box(table, 1, *vec3s(axes), padding)
    return bool(box_box.oriented_box_meets_box(table, 1, *vec3s(away), *vec3s(half)))


def truth(away, axes, half, grown=0.0):
    return oriented_box_meets_box(away, axes, -half, half, grown)


def random_case(rng):
    axes = random_pose(rng)[:3, :3].T * rng.uniform(0.2, 1.0, (3, 1))
    return rng.uniform(-2.0, 2.0, 3), axes, rng.uniform(0.1, 1.0, 3)


def grazing_case(rng):
    """Boxes that touch but for rounding, along a separating axis."""
    _, axes, half = random_case(rng)
    x = np.eye(3)
    directions = [*x, *axes, *(np.cross(axes[k], x[m]) for k in range(3) for m in range(3))]
    direction = directions[rng.integers(15)] * rng.choice([-1, 1])

    def side(value):
        return np.sign(value) if abs(value) > 1e-12 else rng.choice([-1, 1, rng.uniform(-1, 1)])

    away = half * [side(value) for value in direction] + sum(axis * side(axis @ direction) for axis in axes)
    return away * (1.0 + rng.integers(-3, 4) * 2.0**-52), axes, half


def grid_case(rng):
    """Whole numbers and boxes along the axes: every exact touch, flat boxes too."""
    axes = np.eye(3)[rng.permutation(3)] * rng.integers(1, 3, (3, 1)) * rng.choice([-1.0, 1.0], (3, 1))
    return rng.integers(-4, 5, 3).astype(float), axes, rng.integers(0, 3, 3).astype(float)


def skew_case(rng):
    """Axes as far from a right angle as poses may be."""
    away, axes, half = grazing_case(rng)
    return away, axes + 3e-6 * rng.uniform(-1, 1, (3, 3)), half


CASES = {"random": random_case, "grazing": grazing_case, "grid": grid_case, "skew": skew_case}


@pytest.mark.small
@pytest.mark.parametrize("name", CASES)
def test_never_wrongly_no_and_yes_too_often_only_within_rounding(name):
    rng = np.random.default_rng(3)
    met = total = 0
    for scale in (1.0, 1e-29, 1e29):
        for _ in range(60):
            away, axes, half = (scale * part for part in CASES[name](rng))
            meets, said = truth(away, axes, half), says(away, axes, half)
            assert said or not meets, (away, axes, half)
            if said and not meets:
                reach = np.abs(away).max() + np.abs(axes).max() + half.max()
                assert truth(away, axes, half, (1e-4 if name == "skew" else 2.0**-45) * reach), (away, axes, half)
            met += meets
            total += 1
    assert 0.1 * total < met < 0.95 * total


@pytest.mark.small
def test_the_padding_reaches_as_far_as_it_says():
    rng = np.random.default_rng(4)
    changed = 0
    for _ in range(100):
        away, axes, half = random_case(rng)
        assert says(away, axes, half, 0.25) or not truth(away, axes, half, 0.25)
        assert truth(away, axes, half, 0.25 + 1e-9) or not says(away, axes, half, 0.25)
        changed += says(away, axes, half, 0.25) != says(away, axes, half)
    assert changed > 5
