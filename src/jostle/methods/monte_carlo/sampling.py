"""Seeds (§3.1, §3.2): to the closest sample on the other body, and back.

Samples are the facets of the coarsest level. Successive seeds are far apart, alternate between the two bodies, and resume in the
next frame where they stopped; the first of a body pair is random. With a priority (§3.2), those that face the direction of motion,
or a camera, come first.

| stage | the pass visits | leaves to |
|---|---|---|
| `NO_PASS` | nothing: there is no current seed | `THERE` (`draw_seed`), `SWEEP` (`next_item.begin_sweep`) |
| `THERE` | the other body, for the sample closest to the seed | `BACK`, or `NO_PASS` where there is none |
| `BACK` | the seed's body, for the sample closest to that | `NO_PASS`: the two are the new pair |
| `SWEEP` | the other body, for all samples not separated from the seed | `NO_PASS` |

Deviation: a pass does not only look for the closest sample. It also tests each pair that it visits, and pairs that are not
separated are refined to the end later. So when all samples of one body have been seeds, every root pair was tested, and nothing
that touches is missed: a search that ends is exact. Within one body (§5.1), closest means not adjacent, and facing or nearer than
at rest.
"""

from __future__ import annotations

import math

from jostle.geometry.vector import Vec3, dot, minus, point_from, times
from jostle.kernels.handles import float64_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import farthest_middles, gap_of_facets, squared_distance
from jostle.methods.monte_carlo.flood import queue_root
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.work import Aim, Facet, FacetPair, Work, in_order

NO_PASS, THERE, BACK, SWEEP = range(4)
PORTION = 256  # facets that a step of a pass visits
FACING, NEARER = 0.3, 0.7  # n_a · n_b, and the share of the distance at rest, below which facets of one body may be a pair


@kernel(forceinline=True)
def begin_pass(work: Work, side: int) -> None:
    """Begin the seed's pass over the coarsest level of the body on a side."""
    state = work.state
    body = work.bodies[work.body_pairs[state.seed_body_pair].body[side]]
    state.pass_next, state.pass_end = body.coarsest, body.coarsest_end
    state.seed_closest, state.seed_distance = -1, math.inf


@kernel(forceinline=True)
def faces_towards(facet: Facet, aim: Aim) -> bool:
    """Return whether a facet faces the direction of motion, or the camera."""
    d = minus(Vec3(aim.x, aim.y, aim.z), times(aim.share, point_from(facet.middle, 0)))
    return dot(point_from(facet.axis, 0), d) > 0.0


@kernel
def draw_seed(work: Work, number: int) -> None:
    """Draw the next seed of a body pair and begin its pass."""
    state, body_pair, relative = work.state, work.body_pairs[number], work.relative[number]
    side = as_int64(body_pair.drawn) & 1
    body_pair.drawn += 1
    body = work.bodies[body_pair.body[side]]
    aim = relative.aim_b if side else relative.aim_a
    count = body.coarsest_end - body.coarsest
    f = as_int64(body.first)
    for _ in range(count):
        cursor = body_pair.cursor[side] % count
        body_pair.cursor[side] = cursor + 1
        f = as_int64(work.seed_order[body.seeds + cursor])
        if work.task.order == 0 or faces_towards(work.facets[f], aim):
            break
    state.seed_body_pair, state.seed_side, state.seed_facet, state.seed_stage = number, side, f, THERE
    begin_pass(work, 1 - side)


@kernel
def resume_pass(work: Work) -> int:
    """Compare the seed with the next portion of facets; turn back at the end.

    Returns the number of tests.
    """
    state = work.state
    stage, side, body_pair = state.seed_stage, state.seed_side, work.body_pairs[state.seed_body_pair]
    one_body = body_pair.body[0] == body_pair.body[1]
    begin, end = state.pass_next, min(state.pass_next + PORTION, state.pass_end)
    best, closest = state.seed_distance, state.seed_closest
    for g in range(begin, end):
        pair = pair_with_seed(work, g)
        if one_body:
            if (g < state.seed_facet) if stage == SWEEP else are_neighbours(work, pair):
                continue
            pair = in_order(pair)
        make_fresh(work, pair)
        distance, far = squared_distance(work, pair), farthest_middles(work, pair)
        if distance <= far * far and gap_of_facets(work, pair) <= 0.0:
            queue_root(work, pair)
        if distance < best and (not one_body or may_meet_itself(work, pair, distance)):
            best, closest = distance, g
    state.seed_distance, state.seed_closest, state.pass_next = best, closest, end
    if end == state.pass_end and stage == THERE and closest >= 0:
        state.seed_side, state.seed_facet, state.seed_stage = 1 - side, closest, BACK
        begin_pass(work, side)
    return end - begin


@kernel(forceinline=True)
def pair_with_seed(work: Work, g: int) -> FacetPair:
    """Return the pair of the seed and a facet of the other side."""
    state = work.state
    f, body_pair = state.seed_facet, state.seed_body_pair
    return FacetPair(body_pair, f, g) if state.seed_side == 0 else FacetPair(body_pair, g, f)


@kernel
def may_meet_itself(work: Work, pair: FacetPair, distance: float) -> bool:
    """Return whether two facets of one body face each other, or came nearer.

    `distance` is squared.
    """
    if dot(point_from(work.facets[pair.a].axis, 0), point_from(work.facets[pair.b].axis, 0)) < FACING:
        return True
    body = work.bodies[work.body_pairs[pair.body_pair].body[0]]
    rest = float64_at(body.centre.address, body.centre.length)
    d = minus(point_from(rest, 3 * (pair.b - body.first)), point_from(rest, 3 * (pair.a - body.first)))
    return distance < NEARER * NEARER * dot(d, d)
