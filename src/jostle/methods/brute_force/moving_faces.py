"""First contact times of all face pairs whose boxes over the whole step meet.

Nothing is pruned by time: this is the oracle of methods that do. Boxes hold both ends of a face's motion, and grow by the
separation and by how far arcs leave their chords.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.continuous.assemble import MovingRows
from jostle.continuous.face_pairs import WITHIN, first_times, kept_separation, slack, start_distance
from jostle.continuous.moving_surface import MovingSurface
from jostle.geometry.aabb import face_boxes

BOX_TESTS = 1 << 20  # at once


def swept_boxes(surface: MovingSurface, margin: float) -> tuple[Floats, Floats]:
    """Return lower and upper (m,3) of boxes around faces at all times, with a margin."""
    (lower_t0, upper_t0), (lower_t1, upper_t1) = (
        face_boxes(vertices, surface.faces) for vertices in (surface.vertices_t0, surface.vertices_t1)
    )
    margin += surface.most_bulge()
    lower, upper = np.minimum(lower_t0, lower_t1), np.maximum(upper_t0, upper_t1)
    if margin > 0.0:
        lower, upper = np.nextafter(lower - margin, -np.inf), np.nextafter(upper + margin, np.inf)
    return lower, upper


def meeting_faces(a: MovingSurface, b: MovingSurface, separation: float, welded: Ints | None = None) -> tuple[Ints, Ints, int]:
    """Return the face pairs whose swept boxes meet, and the number of box tests.

    With `welded` faces, a surface against itself: later faces only, without a common welded vertex.
    """
    margin = 0.5 * (separation + slack(a, b))
    lower_a, upper_a = swept_boxes(a, margin)
    lower_b, upper_b = (lower_a, upper_a) if welded is not None else swept_boxes(b, margin)
    step = max(1, BOX_TESTS // len(lower_b))
    found = []
    for first in range(0, len(lower_a), step):
        rows = slice(first, first + step)
        meet = np.ones((len(lower_a[rows]), len(lower_b)), bool)
        for k in range(3):
            meet &= (lower_a[rows, None, k] <= upper_b[None, :, k]) & (lower_b[None, :, k] <= upper_a[rows, None, k])
        pairs = np.argwhere(meet) + np.array([first, 0])
        if welded is not None:
            pairs = pairs[pairs[:, 0] < pairs[:, 1]]
            shared = (welded[pairs[:, 0], :, None] == welded[pairs[:, 1], None, :]).any(axis=(1, 2))
            pairs = pairs[~shared]
        found.append(pairs)
    face_a, face_b = np.concatenate(found).astype(np.int32).T
    return np.ascontiguousarray(face_a), np.ascontiguousarray(face_b), len(lower_a) * len(lower_b)


def find_moving_rows(
    number: int, a: MovingSurface, b: MovingSurface, separation: float, welded: Ints | None = None
) -> tuple[MovingRows, int]:
    """Return the meeting faces of body pair `number`, and the number of box tests."""
    face_a, face_b, tests = meeting_faces(a, b, WITHIN * separation, welded)
    if separation > 0.0:
        separation = kept_separation(separation, start_distance(a, b, face_a, face_b, np.inf))
    times = first_times(a, b, face_a, face_b, separation)
    rows = MovingRows(np.full(len(face_a), number, np.int32), face_a, face_b, times.time, times.features)
    return rows.select(np.isfinite(times.time)), tests
