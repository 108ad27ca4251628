"""One kernel advances a soft simulation by one step, in substeps."""

import numpy as np

from jostle.kernels.jit import kernel
from jostle.sim.back_projection import project_pairs, set_planes, write_attitude
from jostle.sim.deform import advance_nodes, project_cells, project_springs, update_velocities
from jostle.sim.integrate import SEMI_IMPLICIT, tumble
from jostle.sim.surfaces import RIGID, SOFT
from jostle.sim.ties import fulfil_ties


@kernel
def advance_soft(  # type: ignore[no-untyped-def]
    surfaces, nodes, springs, cells, ties, frames, pairs, planes, gravity, h, substeps, friction, sticky
):  # fmt: skip
    """Advance by substeps of h seconds; return how often a pair was projected back.

    The response comes last in a substep, so that its separation is displayed; only the ties of nodes that it moved follow, for
    places and for shifts without velocity.
    """
    projected = 0
    away = np.empty((ties.node.shape[0], 3))
    set_planes(surfaces, nodes, frames, pairs, planes)
    for s in range(substeps):
        backwards = s % 2 == 1
        advance_nodes(nodes, gravity, h)
        move_frames(surfaces, frames, gravity, h)
        project_springs(nodes, springs, h, backwards)
        project_cells(nodes, cells, h, backwards)
        fulfil_ties(ties, nodes.place, away)
        projected += project_pairs(surfaces, nodes, frames, pairs, planes, h, friction, sticky, backwards)
        fulfil_ties(ties, nodes.place, away)
        fulfil_ties(ties, nodes.before, away)
        update_velocities(nodes, h)
    return projected


@kernel
def move_frames(surfaces, frames, gravity, h):  # type: ignore[no-untyped-def]
    """Move the frames of rigid and kinematic bodies."""
    for body in range(surfaces.kind.shape[0]):
        if surfaces.kind[body] == SOFT:
            continue
        for k in range(3):
            if surfaces.kind[body] == RIGID:
                frames.velocity[body, k] += h * gravity[k]
            frames.centre[body, k] += h * frames.velocity[body, k]
        qw, qx, qy, qz, sx, sy, sz = tumble(
            frames.attitude[body, 0], frames.attitude[body, 1], frames.attitude[body, 2], frames.attitude[body, 3],
            frames.spin[body, 0], frames.spin[body, 1], frames.spin[body, 2],
            frames.quotients[body, 0], frames.quotients[body, 1], frames.quotients[body, 2], h, SEMI_IMPLICIT,
        )  # fmt: skip
        frames.spin[body, 0], frames.spin[body, 1], frames.spin[body, 2] = sx, sy, sz
        write_attitude(frames, body, (qw, qx, qy, qz))
