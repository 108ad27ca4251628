"""Plain numbers as the values that kernels take."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jostle.geometry.triangle import Bounds, Segment, Triangle
from jostle.geometry.vector import Vec2, Vec3


def vec2s(numbers: Iterable[float]) -> list[Vec2]:
    """Return points of a plane, two numbers each."""
    return [Vec2(*row) for row in _rows(numbers, 2)]


def vec3s(numbers: Iterable[float]) -> list[Vec3]:
    """Return points, three numbers each."""
    return [Vec3(*row) for row in _rows(numbers, 3)]


def segments(numbers: Iterable[float]) -> list[Segment]:
    """Return segments, six numbers each."""
    return [Segment(*vec3s(row)) for row in _rows(numbers, 6)]


def triangles(numbers: Iterable[float]) -> list[Triangle]:
    """Return triangles, nine numbers each."""
    return [Triangle(*vec3s(row)) for row in _rows(numbers, 9)]


def bounds(numbers: Iterable[float]) -> list[Bounds]:
    """Return boxes, six numbers each."""
    return [Bounds(*vec3s(row)) for row in _rows(numbers, 6)]


def _rows(numbers: Iterable[float], width: int) -> list[list[float]]:
    rows: list[list[float]] = np.asarray(numbers, np.float64).reshape(-1, width).tolist()
    return rows
