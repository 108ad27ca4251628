"""The overlay: separating planes, each a disc half-way between its bodies."""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.interface.body_pairs import CandidatePairs, pair_key
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay
from jostle.methods.separating_plane.vertices import Vertices
from jostle.report.report import Pairs


def discs_of_planes(pairs: CandidatePairs, meeting: Pairs, normals: Floats, shapes: tuple[Vertices, ...], frame: Frame) -> Overlay:
    """Return a disc, and its normal as a segment, per pair that a plane separates.

    Discs are as large as the smaller body. `normals` (k,3) are those of the pairs, `meeting` the pairs that no plane separates.
    """
    free = ~np.isin(pair_key(pairs.body_a, pairs.body_b), pair_key(meeting.body_a, meeting.body_b))
    world = [shape.points.reshape(-1, 3) @ pose[:3, :3].T + pose[:3, 3] for shape, pose in zip(shapes, frame.poses, strict=True)]
    discs = np.empty((int(free.sum()), 7))
    for disc, a, b, normal in zip(discs, pairs.body_a[free], pairs.body_b[free], normals[free], strict=True):
        middle = 0.5 * (world[a] @ normal).max() + 0.5 * (world[b] @ normal).min()
        centre = 0.5 * (world[a].mean(axis=0) + world[b].mean(axis=0))
        disc[:3] = centre + (middle - centre @ normal) * normal
        disc[3:6] = normal
        disc[6] = min(shapes[a].sphere[3], shapes[b].sphere[3])
    ends = np.stack([discs[:, :3], discs[:, :3] + 0.25 * discs[:, 6:] * discs[:, 3:6]], axis=1)
    return Overlay("separating planes", discs=discs, segments=ends)
