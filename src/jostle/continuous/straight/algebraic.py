"""The last rung of exact queries: integers of any size and algebraic numbers.

Coordinates become integers of a common unit, and polynomials in t with integer coefficients decide (`polynomials.py` says which,
and why). The first contact is at a root of one of them: of the cubic f unless it is 0 throughout, else of the quadratics. Roots of
linear and quadratic polynomials, and of cubics with a rational root, are in closed form, and squaring gives the sign of another
polynomial there. Other roots of a cubic are bracketed by two neighbouring fractions k/2^m and (k+1)/2^m; their common divisor
reveals a common root with another polynomial.

Guarantee: exact for all float64 coordinates. It takes 0.1 to 0.5 ms per query, and only decides what `contact.py` leaves open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from jostle.continuous.straight.polynomials import POINT_TRIANGLE

Polynomial = list[int]
"""Coefficients, lowest power first, the last one not 0; the zero polynomial is empty."""

Linear = tuple[int, int]
Quadratic = tuple[int, int, int]
Vector = list[Linear]

BITS_BEFORE_DIVISOR = 12  # if a sign is still open in an interval this short, look for a common root
BITS_OF_TIME = 64
LONGEST_GUESS = 64


class Root(Protocol):
    """A time in [0,1] at which a polynomial is 0."""

    def sign_of(self, g: Polynomial) -> int:
        """Return the sign of another polynomial there."""

    def from_below(self) -> float:
        """Return the time, rounded down."""


def first_contact(kind: int, corners: Sequence[float]) -> float:
    """Return the first time of contact in [0,1], rounded down to a float64, or inf.

    `corners` holds 24 numbers: four points at t = 0, then the same at t = 1, in the order of `queries.certified_times`.
    """
    f, crosses, dots = _polynomials(kind, _integers(corners))
    times = [root.from_below() for root in _candidates(f, crosses, dots) if _is_contact(root, crosses, dots)]
    return min(times, default=math.inf)


def _candidates(f: Polynomial, crosses: list[list[Polynomial]], dots: list[Polynomial]) -> Iterator[Root]:
    """Yield the candidates for the first contact; f is 0 at each."""
    if f:
        yield from _roots(f)
        return
    yield Fraction(0, 1)
    # Always in a plane: contact begins where a cross product vanishes, in each of its components.
    deciding = [next((component for component in cross if component), []) for cross in crosses]
    if not any(deciding):
        deciding = dots  # always on a line
    for polynomial in deciding:
        if polynomial:
            yield from _roots(polynomial)


def _is_contact(root: Root, crosses: list[list[Polynomial]], dots: list[Polynomial]) -> bool:
    """Return whether there is contact at a root of f."""
    for axis in range(3):
        signs = {root.sign_of(cross[axis]) for cross in crosses}
        if 1 in signs and -1 in signs:
            return False
        if 1 in signs or -1 in signs:
            return True
    return any(root.sign_of(dot) <= 0 for dot in dots)


# From coordinates to polynomials


def _integers(corners: Sequence[float]) -> list[int]:
    ratios = [float(x).as_integer_ratio() for x in corners]
    unit = max(denominator for _, denominator in ratios)
    return [numerator * (unit // denominator) for numerator, denominator in ratios]


def _polynomials(kind: int, corners: list[int]) -> tuple[Polynomial, list[list[Polynomial]], list[Polynomial]]:
    """Return f, the cross products (three components each) and the dot products."""

    def between(i: int, j: int) -> Vector:
        """Return the vector from corner i to corner j: its start and its change."""
        start = [corners[3 * j + k] - corners[3 * i + k] for k in range(3)]
        end = [corners[12 + 3 * j + k] - corners[12 + 3 * i + k] for k in range(3)]
        return [(s, e - s) for s, e in zip(start, end, strict=True)]

    if kind == POINT_TRIANGLE:
        a, b, c = between(0, 1), between(0, 2), between(0, 3)
        crosses = [_cross(b, c), _cross(c, a), _cross(a, b)]
        f = _dot_cubic(a, crosses[0])
        dots = [_dot(b, c), _dot(c, a), _dot(a, b)]
    else:
        along_a, along_b, r = between(0, 1), between(2, 3), between(0, 2)
        crosses = [_cross(r, along_b), _cross(along_b, between(1, 2)), _cross(r, along_a), _cross(along_a, between(0, 3))]
        f = _dot_cubic(r, _cross(along_a, along_b))
        dots = [_dot(between(i, 2), between(i, 3)) for i in (0, 1)] + [_dot(between(j, 0), between(j, 1)) for j in (2, 3)]
    return f, [[_trimmed(component) for component in cross] for cross in crosses], [_trimmed(dot) for dot in dots]


def _product(a: Linear, b: Linear) -> Quadratic:
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1]


def _cross(a: Vector, b: Vector) -> list[Quadratic]:
    components = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        p, q = _product(a[i], b[j]), _product(a[j], b[i])
        components.append((p[0] - q[0], p[1] - q[1], p[2] - q[2]))
    return components


def _dot(a: Vector, b: Vector) -> Quadratic:
    x, y, z = (_product(a[k], b[k]) for k in range(3))
    return x[0] + y[0] + z[0], x[1] + y[1] + z[1], x[2] + y[2] + z[2]


def _dot_cubic(a: Vector, n: list[Quadratic]) -> Polynomial:
    f = [0, 0, 0, 0]
    for (a0, a1), (n0, n1, n2) in zip(a, n, strict=True):
        f[0] += a0 * n0
        f[1] += a0 * n1 + a1 * n0
        f[2] += a0 * n2 + a1 * n1
        f[3] += a1 * n2
    return _trimmed(f)


# Polynomials


def _trimmed(coefficients: Sequence[int]) -> Polynomial:
    end = len(coefficients)
    while end and coefficients[end - 1] == 0:
        end -= 1
    return list(coefficients[:end])


def _primitive(a: Polynomial) -> Polynomial:
    divisor = math.gcd(*a)
    return [x // divisor for x in a] if divisor > 1 else a


def _remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the primitive remainder of a multiple of a divided by b, of any sign."""
    a = list(a)
    while len(a) >= len(b):
        lead, shift = a[-1], len(a) - len(b)
        a = [x * b[-1] for x in a]
        for i, y in enumerate(b):
            a[i + shift] -= lead * y
        a = _trimmed(a)
    return _primitive(a) if a else a


def _common_divisor(a: Polynomial, b: Polynomial) -> Polynomial:
    while b:
        a, b = b, (_remainder(a, b) if len(a) >= len(b) else a)
    return a


def _without_root(a: Polynomial, numerator: int, denominator: int) -> Polynomial:
    """Return a multiple of a / (denominator t - numerator), for a root of a."""
    quotient, carry, scale = [], 0, 1
    for x in reversed(a[1:]):  # Horner's scheme; the k-th value is over denominator^k
        carry = carry * numerator + x * scale
        quotient.append(carry)
        scale *= denominator
    count = len(quotient)
    return _primitive([q * denominator ** (count - 1 - k) for k, q in enumerate(quotient)][::-1])


def _value(a: Polynomial, numerator: int, denominator: int) -> int:
    """Return a(numerator / denominator) times a power of the positive denominator."""
    value, scale = 0, 1
    for x in reversed(a):
        value = value * numerator + x * scale
        scale *= denominator
    return value


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)


def _rounded_down(numerator: int, denominator: int) -> float:
    value = numerator / denominator
    top, bottom = value.as_integer_ratio()
    if top * denominator > numerator * bottom:
        value = math.nextafter(value, -math.inf)
    return min(1.0, max(0.0, value))


# Roots


def _roots(f: Polynomial) -> Iterator[Root]:
    """Yield the roots of a polynomial other than 0 in [0,1], each once, in no order."""
    f = _primitive(f)
    while len(f) == 4:
        if f[0] == 0:
            yield Fraction(0, 1)
            f = f[1:]
        elif sum(f) == 0:
            yield Fraction(1, 1)
            f = _without_root(f, 1, 1)
        else:
            divisor = _common_divisor(f, [f[1], 2 * f[2], 3 * f[3]])
            if len(divisor) == 1:
                yield from _roots_of_cubic(f)
                return
            # A double or triple root: all roots of this cubic are rational.
            twice = Fraction(-divisor[0], divisor[1]) if len(divisor) == 2 else Fraction(-divisor[1], 2 * divisor[2])
            f = _without_root(f, twice.numerator, twice.denominator)
    yield from _roots_of_quadratic(f)


def _roots_of_quadratic(q: Polynomial) -> Iterator[Root]:
    if len(q) == 2:
        yield from _within(Fraction(-q[0], q[1]))
    elif len(q) == 3:
        below = q[1] * q[1] - 4 * q[0] * q[2]
        if below < 0:
            return
        root = math.isqrt(below)
        if root * root == below:
            yield from _within(Fraction(-q[1] - root, 2 * q[2]))
            if root:
                yield from _within(Fraction(-q[1] + root, 2 * q[2]))
        else:
            for side in (-1, 1):
                candidate = QuadraticRoot(q, below, side)
                if candidate.sign_of([0, 1]) > 0 and candidate.sign_of([-1, 1]) < 0:
                    yield candidate


def _within(time: Fraction) -> Iterator[Root]:
    if 0 <= time.numerator <= time.denominator:
        yield time


def _roots_of_cubic(f: Polynomial) -> Iterator[Root]:
    """Yield the roots of a cubic with simple roots only, and none at 0 or 1."""
    f0, f1, f2, f3 = f
    # Bernstein coefficients times 3: no more sign changes than roots, and a root where there is exactly one.
    nodes = [((3 * f0, 3 * f0 + f1, 3 * f0 + 2 * f1 + f2, 3 * (f0 + f1 + f2 + f3)), 0, 0)]
    found: list[Root] = []
    while nodes:
        (b0, b1, b2, b3), k, m = nodes.pop()
        signs = [_sign(b) for b in (b0, b1, b2, b3) if b]
        changes = sum(s != t for s, t in itertools.pairwise(signs))
        if changes == 0:
            continue
        if changes == 1:
            found.append(IsolatedRoot(f, k, m, signs[0]))
            continue
        middle = b0 + 3 * b1 + 3 * b2 + b3
        if middle == 0:
            time = Fraction(2 * k + 1, 2 << m)
            yield time
            yield from _roots_of_quadratic(_without_root(f, time.numerator, time.denominator))
            return
        nodes.append(((middle, 2 * (b1 + 2 * b2 + b3), 4 * (b2 + b3), 8 * b3), 2 * k + 1, m + 1))
        nodes.append(((8 * b0, 4 * (b0 + b1), 2 * (b0 + 2 * b1 + b2), middle), 2 * k, m + 1))
    yield from found


class Fraction:
    """A rational root, not necessarily in lowest terms."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int) -> None:
        if denominator < 0:
            numerator, denominator = -numerator, -denominator
        self.numerator, self.denominator = numerator, denominator

    def sign_of(self, g: Polynomial) -> int:
        """Return the sign of any polynomial."""
        return _sign(_value(g, self.numerator, self.denominator))

    def from_below(self) -> float:
        """Return the time, rounded down."""
        return _rounded_down(self.numerator, self.denominator)


class QuadraticRoot:
    """A root (-q1 ± √Δ) / 2 q2 of a quadratic, where Δ is not a square."""

    __slots__ = ("_below", "_q", "_side")

    def __init__(self, q: Polynomial, below: int, side: int) -> None:
        self._q, self._below, self._side = q, below, side

    def sign_of(self, g: Polynomial) -> int:
        """The sign of a polynomial of degree 2 at most."""
        q0, q1, q2 = self._q
        g0, g1, g2 = (*g, 0, 0, 0)[:3]
        # q2 g = g2 q + c1 t + c0, and 2 q2 (c1 t + c0) = whole ± c1 √Δ at the root.
        c1, c0 = q2 * g1 - q1 * g2, q2 * g0 - q0 * g2
        whole, surd = 2 * q2 * c0 - q1 * c1, self._side * c1
        if whole == 0 or surd == 0 or (whole > 0) == (surd > 0):
            return _sign(whole or surd)
        return _sign(whole) if whole * whole > surd * surd * self._below else _sign(surd)

    def from_below(self) -> float:
        """The time, rounded down from below by 2^-64 at most."""
        _, q1, q2 = self._q
        shift = max(0, BITS_OF_TIME - q2.bit_length())
        root = math.isqrt(self._below << (2 * shift))
        bounds = [(-q1 << shift) + self._side * surd for surd in (root, root + 1)]
        denominator = 2 * q2 << shift
        if denominator < 0:
            bounds, denominator = [-bound for bound in bounds], -denominator
        return _rounded_down(min(bounds), denominator)


class IsolatedRoot:
    """The only root of a cubic in (k/2^m, (k+1)/2^m), which is not 0 at the ends."""

    __slots__ = ("_f", "_fraction", "_k", "_m", "_sign_before", "_step")

    def __init__(self, f: Polynomial, k: int, m: int, sign_before: int) -> None:
        self._f, self._k, self._m, self._sign_before = f, k, m, sign_before
        self._fraction: Fraction | None = None  # the root itself, once an end of an interval meets it
        self._step = 4

    def sign_of(self, g: Polynomial) -> int:
        """The sign of a polynomial of degree 2 at most."""
        divisor: Polynomial | None = None
        g0, g1, g2 = (*g, 0, 0, 0)[:3]
        while self._fraction is None:
            k, unit = self._k, 1 << self._m
            # Twice the Bernstein coefficients on the interval.
            low = 2 * (g0 * unit * unit + g1 * unit * k + g2 * k * k)
            middle = 2 * g0 * unit * unit + g1 * unit * (2 * k + 1) + 2 * g2 * k * (k + 1)
            high = 2 * (g0 * unit * unit + g1 * unit * (k + 1) + g2 * (k + 1) * (k + 1))
            if low == middle == high == 0:
                return 0
            if low >= 0 and middle >= 0 and high >= 0:
                return 1
            if low <= 0 and middle <= 0 and high <= 0:
                return -1
            if divisor is None and self._m >= BITS_BEFORE_DIVISOR:
                divisor = _common_divisor(self._f, _primitive(_trimmed(g)))
                if _sign(_value(divisor, k, unit)) * _sign(_value(divisor, k + 1, unit)) < 0:
                    return 0
            self._refine()
        return self._fraction.sign_of(g)

    def from_below(self) -> float:
        """The time, rounded down from below by 2^-64 at most."""
        while self._fraction is None and self._m < BITS_OF_TIME:
            self._refine()
        if self._fraction is not None:
            return self._fraction.from_below()
        return _rounded_down(self._k, 1 << self._m)

    def _refine(self) -> None:
        """Shrink the interval by quadratic interval refinement (Abbott).

        The next interval is the cell where a secant meets 0, if it holds the root, else a half.
        """
        k, m, step = self._k, self._m, self._step
        if step > 1:
            low, high = _value(self._f, k, 1 << m), _value(self._f, k + 1, 1 << m)
            cell = (low << step) // (low - high)
            if self._take_if_inside((k << step) + min(cell, (1 << step) - 1), m + step):
                self._step = min(2 * step, LONGEST_GUESS)
                return
            self._step = step // 2
        if not self._take_if_inside(2 * k, m + 1):
            self._k, self._m = 2 * k + 1, m + 1

    def _take_if_inside(self, k: int, m: int) -> bool:
        before, after = _sign(_value(self._f, k, 1 << m)), _sign(_value(self._f, k + 1, 1 << m))
        if before == 0 or after == 0:
            self._fraction = Fraction(k if before == 0 else k + 1, 1 << m)
            return True
        if before == self._sign_before and after != self._sign_before:
            self._k, self._m = k, m
            return True
        return False
