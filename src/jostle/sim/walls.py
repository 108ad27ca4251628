"""The walls of the cube reflect bodies by their bounding volumes (Lock and Wills 2000, §7).

The bounding volume is the ball about the centre of mass that holds the body at every turn, so a body that turns at a wall cannot
turn out of the cube; the component of the velocity across the wall is inverted, times the restitution, and the spin stays.
However fast a body is, it is reflected as often as its way within the step asks for: no body ever leaves the cube.
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
        # What was set beyond a wall and is on its way in goes on: it leads inward in any case.
        return side * (room - restitution * beyond), -side * (restitution * abs(velocity))
    rest = beyond % (2.0 * room)
    crossed = np.floor((beyond - rest) / (2.0 * room) + 0.5)  # the whole width, that many times after the first wall
    even = crossed % 2.0 == 0.0
    kept = 1.0 if restitution == 1.0 else restitution ** (crossed + 1.0)
    if even:
        return side * (room - rest), -kept * velocity
    return -side * (room - rest), kept * velocity
