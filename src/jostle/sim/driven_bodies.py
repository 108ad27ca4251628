"""Kinematic bodies: velocity and spin from two poses, a step apart.

They have no finite mass: they push other bodies, and nothing pushes them.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.sim.state import centres_of


def kinematic_motion(poses_t0: Floats, poses: Floats, middle: Floats, dt: float) -> tuple[Floats, Floats, Floats]:
    """Return centre, velocity and spin (k,3) of bodies moved between two poses."""
    before, now = centres_of(poses_t0, middle), centres_of(poses, middle)
    # The skew part of the rotation between the two is its axis times the sine of its angle.
    turn = (poses[:, :3, None, :3] * poses_t0[:, None, :3, :3]).sum(axis=3)
    skew = 0.5 * np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=1)
    sine = np.sqrt((skew**2).sum(axis=1))
    angle = np.arctan2(sine, 0.5 * (turn[:, 0, 0] + turn[:, 1, 1] + turn[:, 2, 2] - 1.0))
    scale = np.divide(angle, sine, out=np.ones_like(sine), where=sine > 1e-12)
    return now, (now - before) / dt, skew * (scale / dt)[:, None]
