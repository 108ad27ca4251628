"""Polygons and oriented boxes against axis-aligned boxes, in rational numbers: imports nothing of jostle."""

from fractions import Fraction
from itertools import product


def exactly(point):
    """The coordinates of a point as fractions."""
    return [Fraction(float(value)) for value in point]


def polygon_meets_box(polygon, lower, upper, grown=0):
    """Clip a convex polygon by the six half-spaces of a closed box, grown by a length; whether anything is left."""
    polygon, grown = [exactly(point) for point in polygon], Fraction(grown)
    return _clipped(polygon, [value - grown for value in exactly(lower)], [value + grown for value in exactly(upper)])


def oriented_box_meets_box(centre, half_axes, lower, upper, grown=0):
    """Whether the parallelepiped centre ± u ± v ± w meets a closed box that is grown by a length."""
    grown = Fraction(grown)
    lower, upper = [value - grown for value in exactly(lower)], [value + grown for value in exactly(upper)]
    centre, axes = exactly(centre), [exactly(axis) for axis in half_axes]
    for k, side in product(range(3), (1, -1)):
        u, v = axes[k - 1], axes[k - 2]
        middle = [c + side * w for c, w in zip(centre, axes[k], strict=True)]
        face = [[m + p * a + q * b for m, a, b in zip(middle, u, v, strict=True)] for p, q in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        if _clipped(face, lower, upper):
            return True
    # No face of the one meets the other: then they are apart, or the axis-aligned box lies inside.
    return _is_inside([(low + high) / 2 for low, high in zip(lower, upper, strict=True)], centre, axes)


def _clipped(polygon, lower, upper):
    for axis in range(3):
        for sign, bound in ((1, upper[axis]), (-1, -lower[axis])):
            kept = []
            for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
                over, next_over = sign * here[axis] - bound, sign * there[axis] - bound
                if over <= 0:
                    kept.append(here)
                if (over <= 0) != (next_over <= 0):
                    t = over / (over - next_over)
                    kept.append([p + t * (q - p) for p, q in zip(here, there, strict=True)])
            polygon = kept
    return bool(polygon)


def _is_inside(point, centre, axes):
    away = [p - c for p, c in zip(point, centre, strict=True)]
    volume = _determinant(*axes)
    for k in range(3):
        columns = list(axes)
        columns[k] = away
        if abs(_determinant(*columns)) > abs(volume):
            return False
    return True


def _determinant(u, v, w):
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
