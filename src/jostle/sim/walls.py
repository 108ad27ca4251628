"""Walls of the cube, which reflect bounding balls (Lock and Wills 2000, §7).

The bounding volume is the ball about the centre of mass that holds the body in every orientation, so a body cannot turn out of the
cube. The velocity across the wall is inverted, times the restitution; the spin stays. A fast body is reflected as often as its step
requires: no body ever leaves the cube.
"""

import numpy as np

from jostle.kernels.jit import kernel


@kernel
def reflected(place, velocity, room, restitution):  # type: ignore[no-untyped-def]
    """Return position and velocity along one axis after reflection at ±room."""
    if -room <= place <= room:
        return place, velocity
    if room <= 0.0:  # the ball fills the cube
        return 0.0, -restitution * velocity
    side = 1.0 if place > 0.0 else -1.0
    beyond = abs(place) - room
    if beyond < 2.0 * room:
        # The result is directed inward, even for bodies placed beyond a wall.
        return side * (room - restitution * beyond), -side * (restitution * abs(velocity))
    rest = beyond % (2.0 * room)
    crossed = np.floor((beyond - rest) / (2.0 * room) + 0.5)  # full widths after the first wall
    even = crossed % 2.0 == 0.0
    kept = 1.0 if restitution == 1.0 else restitution ** (crossed + 1.0)
    if even:
        return side * (room - rest), -kept * velocity
    return -side * (room - rest), kept * velocity
