"""FirstContact: the result of `jostle.first_contact`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jostle._types import Floats
from jostle.geometry.features import Feature, Features
from jostle.report.report import Contacts


@dataclass(frozen=True, eq=False)
class FirstContact:
    """When and where two bodies first meet along a motion; true if they do.

    Features are given by the vertices of the mesh: ("vertex", (i,)), ("edge", (i, j)) or ("face", (i, j, k)).

    Examples
    --------
    >>> above, below = jostle.translation((0, 0, 9)), jostle.translation((0, 0, -9))
    >>> first = jostle.first_contact("ball.stl", "wall.obj", to_a=below, pose_a=above)
    >>> round(first.time, 3), first.feature_b[0]
    (0.444, 'face')
    """

    time: float  # 0 … 1 within the motion, inf if they never meet
    face_a: int = -1
    face_b: int = -1
    feature_a: Feature | None = None
    feature_b: Feature | None = None
    point: Floats | None = None  # (3,) world, at that time
    normal: Floats | None = None  # (3,) unit, from a into b

    def __bool__(self) -> bool:
        return self.time <= 1.0

    @staticmethod
    def of(contacts: Contacts) -> FirstContact:
        """Return the earliest row; ties go to the first."""
        if len(contacts) == 0:
            return FirstContact(math.inf)
        row = int(np.argmin(contacts.time))
        features = Features.none(len(contacts)) if contacts.features is None else contacts.features
        return FirstContact(
            float(contacts.time[row]),
            int(contacts.face_a[row]),
            int(contacts.face_b[row]),
            features.of_a(row),
            features.of_b(row),
            contacts.point[row],
            contacts.normal[row],
        )
