"""Expansion arithmetic: exact sums and products of float64 numbers.

After Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates" (1997), §2. An
*expansion* is a run of components in a work array, from small to large, that do not overlap; its exact value is their
sum and its sign that of the last one. Zero components are dropped, so 0 is the empty run. Products are split after
Veltkamp and Dekker instead of using a fused multiply-add: the same bits on every machine.

Guarantee: exact as long as nothing overflows or underflows. Coordinates of 0 or 1e-30 … 1e31 are multiples of 2^-152,
so products of three are multiples of 2^-456 and far from both ends of the range. No kernel here may use fastmath.
"""

from jostle.kernels.jit import kernel

SPLITTER = 134217729.0  # 2^27 + 1


@kernel
def two_sum(a, b):
    """Return the rounded sum and what rounding lost."""
    total = a + b
    part_b = total - a
    return total, (a - (total - part_b)) + (b - part_b)


@kernel
def split(a):
    """Return a as the sum of two halves of at most 26 bits."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


@kernel
def product_of_split(a, b, b_high, b_low):
    """Return the rounded product and what rounding lost, for a `b` that is split already."""
    product = a * b
    a_high, a_low = split(a)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def put_difference(work, a, b, to):
    """Write the exact a - b at work[to:]; return the number of components (0 … 2)."""
    head, tail = two_sum(a, -b)
    count = 0
    if tail != 0.0:
        work[to] = tail
        count = 1
    if head != 0.0:
        work[to + count] = head
        count += 1
    return count


@kernel
def put_scaled(work, e, e_count, factor, to):
    """Write factor times the expansion at work[e:] to work[to:]; return the number of components (at most 2 e_count)."""
    if e_count == 0 or factor == 0.0:
        return 0
    high, low = split(factor)
    count = 0
    carry, lost = product_of_split(work[e], factor, high, low)
    if lost != 0.0:
        work[to] = lost
        count = 1
    for k in range(1, e_count):
        product, product_tail = product_of_split(work[e + k], factor, high, low)
        total, lost = two_sum(carry, product_tail)
        if lost != 0.0:
            work[to + count] = lost
            count += 1
        # |product| >= |total| here, so a fast two-sum would do; the full one costs nothing measurable.
        carry, lost = two_sum(product, total)
        if lost != 0.0:
            work[to + count] = lost
            count += 1
    if carry != 0.0:
        work[to + count] = carry
        count += 1
    return count


@kernel
def put_sum(work, e, e_count, f, f_count, to):
    """Write the sum of two expansions to work[to:], which overlaps neither; return the number of components."""
    count = 0
    carry = 0.0
    i = 0
    j = 0
    while i < e_count or j < f_count:
        # Merge by magnitude: each component is added to the running sum, what is lost is final.
        if j == f_count or (i < e_count and abs(work[e + i]) < abs(work[f + j])):
            component = work[e + i]
            i += 1
        else:
            component = work[f + j]
            j += 1
        carry, lost = two_sum(carry, component)
        if lost != 0.0:
            work[to + count] = lost
            count += 1
    if carry != 0.0:
        work[to + count] = carry
        count += 1
    return count
