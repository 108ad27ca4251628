"""Where in [0,1] is a contact of straight motions? Bisection on the signs of `moving_polynomials.py`, in floats.

An interval is free when all Bernstein coefficients of f have one sign beyond their error, or on some axis one cross is positive
and another negative throughout. It holds a contact when f has opposite signs at its ends and on some axis all crosses have the
same sign. Others are halved, the left half first, until they are short or only noise is left; these stay open. Where the corners
remain in one plane (`planar`), f says nothing: contact is where on some axis all crosses have the same sign.

Guarantee: an interval called free is free, a contact is a contact; what floats cannot tell is listed as open.
"""

from jostle.geometry.moving_polynomials import (
    CROSS_GROWTH_OF_HALVING,
    F_ERROR_OF_HALVING,
    crosses_into,
    cubic_into,
    kept_apart_by_an_axis,
    scaled_vectors_into,
    share_a_coordinate,
)
from jostle.kernels.jit import kernel

FREE, CONTACT, OPEN, HALVE = 0, 1, 2, 3

DEEPEST = 50
MOST_NODES = 200
MOST_OPEN = 15  # intervals; more than that and the whole rest is open
DEPTH_OF_NOISE = 30  # where f is noise in a node this deep, halving it further only costs time
DEPTH_OF_PLANAR_NOISE = 20
STACK = DEEPEST + 4

# Places in `found`: the time, the time by which contact is certain, the number of open intervals before it, and whether nothing is
# known of f, so that it may be 0 at all times.
TIME, CERTAIN, OPEN_COUNT, F_IS_NOISE = 0, 1, 2, 3


@kernel
def search(kind, corners, row, planar, finest, vectors, nodes, spans, errors, open_spans, found):
    """Decide query `row` of corners (n,8,3): FREE, CONTACT or OPEN.

    vectors (36,), nodes (54,40), spans (54,3: start, end, depth) and errors (12,) are workspace. With CONTACT or OPEN, found (4,)
    and open_spans (16,2) tell more: a contact is not before found[TIME] except in an open span.
    """
    found[TIME], found[CERTAIN], found[OPEN_COUNT], found[F_IS_NOISE] = 0.0, 0.0, 0.0, 0.0
    if not planar and kept_apart_by_an_axis(kind, corners, row):
        return FREE
    if not scaled_vectors_into(kind, corners, row, vectors):
        return CONTACT
    f_error = cubic_into(kind, vectors, nodes[0])
    planar = planar or share_a_coordinate(corners, row)
    low = min(min(nodes[0, 0], nodes[0, 1]), min(nodes[0, 2], nodes[0, 3]))
    high = max(max(nodes[0, 0], nodes[0, 1]), max(nodes[0, 2], nodes[0, 3]))
    if not planar and (low > f_error or high < -f_error):
        return FREE
    if not planar and low >= -f_error and high <= f_error:
        found[F_IS_NOISE] = 1.0
    crosses_into(kind, vectors, nodes[0], errors)
    f_growth = F_ERROR_OF_HALVING * max(high, -low)
    spans[0, 0], spans[0, 1], spans[0, 2] = 0.0, 1.0, 0.0
    top, visited, opened = 1, 0, 0
    while top > 0:
        top -= 1
        visited += 1
        depth = spans[top, 2]
        error = f_error + depth * f_growth
        verdict = _verdict(3 + kind, nodes[top], errors, error, depth, planar)
        if verdict == FREE:
            continue
        if verdict == CONTACT:
            found[OPEN_COUNT] = opened
            found[TIME] = found[CERTAIN] = spans[top, 0]
            if not planar:
                _narrow(nodes, spans, top, f_error, f_growth, finest, found)
            return CONTACT
        if verdict == OPEN or depth >= DEEPEST or visited >= MOST_NODES or opened >= MOST_OPEN:
            if opened > 0 and open_spans[opened - 1, 1] == spans[top, 0]:
                opened -= 1
            else:
                open_spans[opened, 0] = spans[top, 0]
            open_spans[opened, 1] = 1.0 if visited >= MOST_NODES or opened >= MOST_OPEN else spans[top, 1]
            opened += 1
            if visited >= MOST_NODES or open_spans[opened - 1, 1] == 1.0:
                break
            continue
        _halve(nodes[top], nodes[top + 1], 3 + kind)
        middle = 0.5 * (spans[top, 0] + spans[top, 1])
        spans[top + 1, 0], spans[top + 1, 1], spans[top, 0] = spans[top, 0], middle, middle
        spans[top, 2] = spans[top + 1, 2] = depth + 1.0
        top += 2
    found[OPEN_COUNT] = opened
    return OPEN if opened > 0 else FREE


@kernel(forceinline=True)
def _verdict(crosses, node, errors, f_error, depth, planar):
    """What the coefficients of a node (40,) say: FREE, CONTACT (planar: at its start), OPEN (halving is of no use) or HALVE."""
    low = min(min(node[0], node[1]), min(node[2], node[3]))
    high = max(max(node[0], node[1]), max(node[2], node[3]))
    if not planar and (low > f_error or high < -f_error):
        return FREE
    growth = 1.0 + CROSS_GROWTH_OF_HALVING * depth
    same, same_at_start, some_clear, mixed = False, False, False, False
    for k in range(3):
        some_above, some_below, all_above, all_below = False, False, True, True
        starts_above, starts_below, clear, noise, counted = True, True, False, False, False
        for j in range(crosses):
            at = 4 + 9 * j + 3 * k
            x0, x1, x2 = node[at], node[at + 1], node[at + 2]
            error = errors[3 * j + k] * growth
            if error == 0.0:
                continue  # 0 at all times: the usual case of parts along the axes, where such a cross has no say
            counted = True
            least, most = min(x0, min(x1, x2)), max(x0, max(x1, x2))
            above, below = least > error, most < -error
            some_above, some_below = some_above or above, some_below or below
            all_above, all_below = all_above and above, all_below and below
            starts_above, starts_below = starts_above and x0 > error, starts_below and x0 < -error
            if most > error or least < -error:
                clear = True
            else:
                noise = True
        if some_above and some_below:
            return FREE
        same = same or (counted and (all_above or all_below))
        same_at_start = same_at_start or (counted and (starts_above or starts_below))
        some_clear = some_clear or clear
        mixed = mixed or (clear and noise)
    if planar:
        if same_at_start:
            return CONTACT
        return OPEN if not some_clear or (mixed and depth > DEPTH_OF_PLANAR_NOISE) else HALVE
    if same and ((node[0] > f_error and node[3] < -f_error) or (node[0] < -f_error and node[3] > f_error)):
        return CONTACT
    f_is_noise = high <= f_error and low >= -f_error
    return OPEN if not some_clear or (f_is_noise and (same or depth > DEPTH_OF_NOISE)) else HALVE


@kernel(forceinline=True)
def _halve(node, left, crosses):
    """De Casteljau at the middle: the left half into left (40,), the right half stays in node (40,)."""
    b0, b1, b2, b3 = node[0], node[1], node[2], node[3]
    l1, m, r2 = 0.5 * (b0 + b1), 0.5 * (b1 + b2), 0.5 * (b2 + b3)
    l2, r1 = 0.5 * (l1 + m), 0.5 * (m + r2)
    middle = 0.5 * (l2 + r1)
    left[0], left[1], left[2], left[3] = b0, l1, l2, middle
    node[0], node[1], node[2] = middle, r1, r2
    for at in range(4, 4 + 9 * crosses, 3):
        x0, x1, x2 = node[at], node[at + 1], node[at + 2]
        l1, r1 = 0.5 * (x0 + x1), 0.5 * (x1 + x2)
        middle = 0.5 * (l1 + r1)
        left[at], left[at + 1], left[at + 2] = x0, l1, middle
        node[at], node[at + 1] = middle, r1


@kernel
def _narrow(nodes, spans, top, f_error, growth, finest, found):
    """Find the first root of f in the interval `top`, on which all crosses agree: found[TIME] before it, found[CERTAIN] after one.

    The same bisection for f alone, in the rows of the stack from `top` on. Ends early where f is noise.
    """
    last = top
    found[CERTAIN] = spans[top, 1]
    while top >= last:
        node, start, end, depth = nodes[top], spans[top, 0], spans[top, 1], spans[top, 2]
        error = f_error + depth * growth
        b0, b1, b2, b3 = node[0], node[1], node[2], node[3]
        low, high = min(min(b0, b1), min(b2, b3)), max(max(b0, b1), max(b2, b3))
        if low > error or high < -error:
            top -= 1
            continue
        found[TIME] = start
        if (b0 > error and b3 < -error) or (b0 < -error and b3 > error):
            found[CERTAIN] = min(found[CERTAIN], end)
        if end - start <= finest or depth >= DEEPEST or (low >= -error and high <= error):
            return
        _halve(node, nodes[top + 1], 0)
        middle = 0.5 * (start + end)
        spans[top + 1, 0], spans[top + 1, 1], spans[top, 0] = start, middle, middle
        spans[top, 2] = spans[top + 1, 2] = depth + 1.0
        top += 1
