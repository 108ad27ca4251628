"""Vectors of length 1: their direction, and zeros."""

import numpy as np
import pytest

from jostle.geometry.unit_vectors import unit_vector, unit_vectors

pytestmark = pytest.mark.small


def test_vectors_keep_their_directions():
    vectors = np.random.default_rng(2).normal(size=(50, 3)) * 10.0 ** np.linspace(-30, 30, 50)[:, None]
    units = unit_vectors(vectors)
    assert np.allclose((units**2).sum(axis=1), 1.0, rtol=1e-15, atol=0)
    assert np.allclose((units * vectors).sum(axis=1), np.linalg.norm(vectors, axis=1), rtol=1e-14, atol=0)
    assert np.allclose([unit_vector(vector) for vector in vectors], units, rtol=1e-15, atol=0)


def test_zeros_stay_zeros():
    assert unit_vectors(np.array([[0.0, 0.0, 0.0], [0.0, -2.0, 0.0]])).tolist() == [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    assert unit_vectors(np.empty((0, 3))).shape == (0, 3)
