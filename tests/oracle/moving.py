"""When do moving points, triangles and edges touch? Rational arithmetic and Sturm's theorem, nothing shared with the package.

Contact at a time is stated by barycentric coordinates: with n the normal of the triangle (or of the two edges), by the signs of
n · (B × C) and the like, polynomials of degree 4, and where n is 0 by corners on segments. Possible times are the roots of the
volume, or, where that is 0 throughout, of everything that is in a condition. A root is kept as an interval; the sign of another
polynomial there is a Tarski query: the difference of sign changes in the remainder sequence of (f, f' g) between the two ends.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import gcd

Polynomial = list[int]


def trimmed(a) -> Polynomial:
    a = list(a)
    while a and a[-1] == 0:
        a.pop()
    return a


def added(a, b, factor=1) -> Polynomial:
    size = max(len(a), len(b))
    a, b = list(a) + [0] * (size - len(a)), list(b) + [0] * (size - len(b))
    return trimmed(x + factor * y for x, y in zip(a, b, strict=True))


def times(a, b) -> Polynomial:
    out = [0] * (len(a) + len(b) - 1) if a and b else []
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return trimmed(out)


def derivative(a) -> Polynomial:
    return [i * x for i, x in enumerate(a)][1:]


def reduced(a) -> Polynomial:
    common = gcd(*a) if a else 1
    return [x // common for x in a]


def remainder(a, b) -> Polynomial:
    """A positive multiple of the remainder of a by b."""
    a, lead = list(a), b[-1]
    while len(a) >= len(b):
        factor = a[-1] * (1 if lead > 0 else -1)
        a = [x * abs(lead) for x in a]
        for i, y in enumerate(b):
            a[len(a) - len(b) + i] -= factor * y
        a = trimmed(a[:-1])
    return reduced(a)


def value(a, t: Fraction) -> int:
    """A positive multiple of a(t)."""
    total, scale = 0, 1
    for x in reversed(a):
        total, scale = total * t.numerator + x * scale, scale * t.denominator
    return total


def tarski(f, g, low: Fraction, high: Fraction) -> int:
    """The sum of the signs of g at the roots of f in (low, high); f is 0 at neither end."""
    sequence = [f, times(derivative(f), g)]
    while sequence[-1]:
        rest = remainder(sequence[-2], sequence[-1]) if len(sequence[-2]) >= len(sequence[-1]) else sequence[-2]
        sequence.append([-x for x in rest])

    def changes(t):
        signs = [v > 0 for v in (value(p, t) for p in sequence) if v]
        return sum(s != r for s, r in pairwise(signs))

    return changes(low) - changes(high)


class Root:
    """A root of f in [0,1]: low itself if low = high, else the only one in between, where f is 0 at neither end."""

    def __init__(self, f, low: Fraction, high: Fraction) -> None:
        self.f, self.low, self.high = f, low, high

    def sign(self, g) -> int:
        if self.low == self.high:
            v = value(g, self.low)
            return (v > 0) - (v < 0)
        return tarski(self.f, g, self.low, self.high)

    def compared_with(self, t: float) -> int:
        """-1, 0 or 1: before, at or after a time."""
        exact = Fraction(t)
        return self.sign([-exact.numerator, exact.denominator])


def roots(f) -> list[Root]:
    """Return the different roots of f in [0,1]."""
    found = []
    for end in (0, 1):
        here = Fraction(end)
        if f and value(f, here) == 0:
            found.append(Root(f, here, here))
        while f and value(f, here) == 0:
            f = divided(f, here)
    waiting = [(Fraction(0), Fraction(1))] if len(f) > 1 else []
    while waiting:
        low, high = waiting.pop()
        count = tarski(f, [1], low, high)
        if count == 1:
            found.append(Root(f, low, high))
        elif count > 1:
            middle = (low + high) / 2
            if value(f, middle) == 0:
                found.append(Root(f, middle, middle))
                while value(f, middle) == 0:
                    f = divided(f, middle)
                return [*found, *(root for root in roots(f) if all(not same(root, other) for other in found))]
            waiting += [(low, middle), (middle, high)]
    return found


def same(a: Root, b: Root) -> bool:
    return a.low == a.high and b.low == b.high and a.low == b.low


def divided(f, t: Fraction) -> Polynomial:
    """A multiple of f / (x - t)."""
    out: list[Fraction] = []
    carry = Fraction(0)
    for x in reversed(f[1:]):
        carry = carry * t + x
        out.append(carry)
    scale = 1
    for q in out:
        scale = scale * q.denominator // gcd(scale, q.denominator)
    return reduced([int(q * scale) for q in reversed(out)])


def cross(a, b):
    return [added(times(a[i], b[j]), times(a[j], b[i]), -1) for i, j in ((1, 2), (2, 0), (0, 1))]


def dot(a, b) -> Polynomial:
    total: Polynomial = []
    for x, y in zip(a, b, strict=True):
        total = added(total, times(x, y))
    return total


class MovingQuery:
    """A point and a triangle (kind 0) or two edges (kind 1), corners (8,3): four at t = 0, then at t = 1."""

    def __init__(self, kind: int, corners) -> None:
        exact = [[Fraction(float(x)) for x in corner] for corner in corners]
        unit = 1
        for corner in exact:
            for x in corner:
                unit = max(unit, x.denominator)
        whole = [[int(x * unit) for x in corner] for corner in exact]
        self.corners = [[trimmed((s, e - s)) for s, e in zip(whole[i], whole[4 + i], strict=True)] for i in range(4)]
        self.kind = kind
        p, a, b, c = self.corners
        if kind == 0:
            edge_1, edge_2 = self.way(a, b), self.way(a, c)
            self.n = cross(edge_1, edge_2)
            self.volume = dot(self.way(p, a), self.n)
            pairs = [(b, c), (c, a), (a, b)]
            self.conditions = [dot(self.n, cross(self.way(p, s), self.way(p, e))) for s, e in pairs]
            self.corner_on_segment = [(p, s, e) for s, e in pairs]
        else:
            first, second, gap = self.way(p, a), self.way(b, c), self.way(p, b)
            self.n = cross(first, second)
            self.volume = dot(gap, self.n)
            size = dot(self.n, self.n)
            on_first, on_second = dot(cross(gap, second), self.n), dot(cross(gap, first), self.n)
            self.conditions = [on_first, added(size, on_first, -1), on_second, added(size, on_second, -1)]
            self.corner_on_segment = [(p, b, c), (a, b, c), (b, p, a), (c, p, a)]

    @staticmethod
    def way(a, b):
        return [added(y, x, -1) for x, y in zip(a, b, strict=True)]

    def segment_conditions(self):
        for corner, start, end in self.corner_on_segment:
            s, e = self.way(corner, start), self.way(corner, end)
            yield cross(s, e), dot(s, e)

    def is_contact(self, root: Root) -> bool:
        if root.sign(self.volume) != 0:
            return False
        if any(root.sign(component) != 0 for component in self.n):
            return all(root.sign(condition) >= 0 for condition in self.conditions)
        for vanishing, between in self.segment_conditions():
            if all(root.sign(component) == 0 for component in vanishing) and root.sign(between) <= 0:
                return True
        return False

    def contacts(self) -> list[Root]:
        """Return times of contact, the first one among them; none if there is no contact in [0,1]."""
        if self.volume:
            possible = roots(self.volume)
        else:
            possible = [Root([0, 1], Fraction(0), Fraction(0))]
            polynomials = [*self.n, *self.conditions]
            for vanishing, between in self.segment_conditions():
                polynomials += [*vanishing, between]
            distinct = {tuple(reduced(p)) for p in polynomials if p}
            possible += [root for p in distinct for root in roots(list(p))]
        return [root for root in possible if self.is_contact(root)]


def judge(kind: int, corners, time: float, tolerance: float) -> str:
    """Say what is wrong with a first time of contact (inf: none): nothing (""), "missed", "invented", "late" or "early"."""
    contacts = MovingQuery(kind, corners).contacts()
    if not contacts:
        return "" if time == float("inf") else "invented"
    if time == float("inf"):
        return "missed"
    if any(root.compared_with(time) < 0 for root in contacts):
        return "late"
    return "" if any(root.compared_with(time + tolerance) <= 0 for root in contacts) else "early"
