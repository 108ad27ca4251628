"""Seeds (Guy and Debunne §3.1, §3.2): from a sample on one body to the closest on the other, and back to the closest on the first.

Samples are the facets of the coarsest level. Seeds come in an order in which successive ones are far apart, one body's and the
other's by turns, and go on in the next frame where they stopped; the first of a couple is drawn at random. With a priority (§3.2)
those come first that face the direction of motion, or a camera.

Deviation: a pass does not only look for the closest sample. It also tests each pair that it meets, and what is not parted is
refined to the end later on. So when all samples of one body have been seeds, every pair of coarsest facets was tested, and
nothing that touches can be left out: a search that ends is exact. In one body (§5.1) closest means: not adjacent, and facing, or
nearer than at rest.
"""

import math

from jostle.kernels.handles import float64_at
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import ROW, gap_of_facets, squared_distance
from jostle.methods.monte_carlo.flood import queue_root
from jostle.methods.monte_carlo.packed import BODY, CENTRE, COARSEST, COARSEST_END, FIRST, MOVING, SEEDS, are_neighbours, make_fresh
from jostle.methods.monte_carlo.workspace import (
    BODY_A,
    BODY_B,
    CLOSEST,
    COUPLE,
    COUPLE_FLOAT,
    CURSOR_A,
    DRAWN,
    ETA,
    ORDERED,
    PLACE,
    PLACE_END,
    SEED_BEST,
    SEED_COUPLE,
    SEED_FACET,
    SIDE,
    SLACK,
    STAGE,
    TOWARDS_A,
)

THERE, BACK, SWEEP = 1, 2, 3  # stages: over the other body, back over the first, over the other body for all that is not parted
PORTION = 256  # facets that a step of a pass looks at
FACING, NEARER = 0.3, 0.7  # n_a · n_b, and the share of the distance at rest, below which facets of one body may be a pair


@kernel(forceinline=True)
def over(bodies, couples, state, side):  # type: ignore[no-untyped-def]
    """Let the next pass go over the coarsest level of the body on a side."""
    body = couples[COUPLE * state[SEED_COUPLE] + BODY_A + side]
    state[PLACE], state[PLACE_END] = bodies[BODY * body + COARSEST], bodies[BODY * body + COARSEST_END]
    state[CLOSEST] = -1


@kernel
def draw_seed(data, bodies, seeds, couples, relative, state, numbers, couple):  # type: ignore[no-untyped-def]
    """Take the next seed of a couple and begin its pass."""
    at = COUPLE * couple
    side = couples[at + DRAWN] & 1
    couples[at + DRAWN] += 1
    body = couples[at + BODY_A + side]
    count = bodies[BODY * body + COARSEST_END] - bodies[BODY * body + COARSEST]
    towards = COUPLE_FLOAT * couple + TOWARDS_A + 4 * side
    f = 0
    for _ in range(count):
        cursor = couples[at + CURSOR_A + side] % count
        couples[at + CURSOR_A + side] = cursor + 1
        f = seeds[bodies[BODY * body + SEEDS] + cursor]
        if state[ORDERED] == 0:
            break
        i, share = ROW * f, relative[towards + 3]
        facing = data[i + 3] * (relative[towards] - share * data[i]) + data[i + 4] * (relative[towards + 1] - share * data[i + 1])
        if facing + data[i + 5] * (relative[towards + 2] - share * data[i + 2]) > 0.0:
            break
    state[SEED_COUPLE], state[SIDE], state[SEED_FACET], state[STAGE] = couple, side, f, THERE
    numbers[SEED_BEST] = math.inf
    over(bodies, couples, state, 1 - side)


@kernel
def go_on_passing(  # type: ignore[no-untyped-def]
    data, links, neighbour, stamps, bodies, couples, relative, deformation, table, payload, pending, state, numbers
):
    """Compare the seed with the next portion of facets, and turn back at the end; returns the number of tests."""
    couple, side, f, stage = state[SEED_COUPLE], state[SIDE], state[SEED_FACET], state[STAGE]
    a, b = couples[COUPLE * couple + BODY_A], couples[COUPLE * couple + BODY_B]
    moving = bodies[BODY * a + MOVING] + bodies[BODY * b + MOVING] > 0
    at = COUPLE_FLOAT * couple
    best, closest = numbers[SEED_BEST], state[CLOSEST]
    begin, end = state[PLACE], min(state[PLACE] + PORTION, state[PLACE_END])
    for g in range(begin, end):
        fa, fb = (f, g) if side == 0 else (g, f)
        if a == b:
            if stage == SWEEP:
                if g < f:
                    continue
            elif are_neighbours(links, neighbour, f, g):
                continue
            fa, fb = min(f, g), max(f, g)
        if moving:
            make_fresh(bodies, a, b, fa, fb, data, links, stamps, deformation)
        distance = squared_distance(data, fa, fb, relative, at)
        i, j = ROW * fa, ROW * fb
        total = (data[i + 6] + data[i + 7]) + (data[j + 6] + data[j + 7])
        far = total + (relative[at + SLACK] + relative[at + ETA] * total)
        if distance <= far * far and gap_of_facets(data, fa, fb, relative, at) <= 0.0:
            queue_root(table, payload, pending, state, couple, fa, fb)
        if distance < best and (a != b or may_meet_itself(data, bodies, a, fa, fb, distance)):
            best, closest = distance, g
    numbers[SEED_BEST], state[CLOSEST], state[PLACE] = best, closest, end
    if end == state[PLACE_END] and stage == THERE and closest >= 0:
        state[SIDE], state[SEED_FACET], state[STAGE] = 1 - side, closest, BACK
        numbers[SEED_BEST] = math.inf
        over(bodies, couples, state, side)
    return end - begin


@kernel
def may_meet_itself(data, bodies, body, fa, fb, distance):  # type: ignore[no-untyped-def]
    """Whether two facets of one body face each other, or are nearer than they were at rest; `distance` is squared."""
    i, j = ROW * fa, ROW * fb
    if (data[i + 3] * data[j + 3] + data[i + 4] * data[j + 4]) + data[i + 5] * data[j + 5] < FACING:
        return True
    rest = float64_at(bodies[BODY * body + CENTRE], bodies[BODY * body + CENTRE + 1])
    p, q = 3 * (fa - bodies[BODY * body + FIRST]), 3 * (fb - bodies[BODY * body + FIRST])
    x, y, z = rest[q] - rest[p], rest[q + 1] - rest[p + 1], rest[q + 2] - rest[p + 2]
    return distance < NEARER * NEARER * ((x * x + y * y) + z * z)
