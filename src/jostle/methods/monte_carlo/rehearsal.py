"""Load what a first frame needs before there is a budget to break.

Compiled kernels are loaded from disk on their first call: 120 ms for the first frame of a process, 5 ms more for the first frame in
which faces touch, and again for the first table that grows. So the first detector of a process makes two small bodies collide, one
of them deforming, and grows a table, on arrays of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector
from jostle.interface.query import Budget, Query
from jostle.kernels.arrays import read_only_view
from jostle.methods.monte_carlo.shape import ShellShape, prepare
from jostle.methods.monte_carlo.work import FULL_TABLE
from jostle.methods.monte_carlo.workspace import Workspace
from jostle.shapes.mesh import Mesh

CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
LONG = 1.0  # seconds of budget: loading must not be cut off

_rehearsed = False


def rehearse(start: Callable[[Bodies, tuple[ShellShape, ...]], Detector]) -> None:
    """Run two frames of a detector that `start` creates; once in a process."""
    global _rehearsed
    if _rehearsed:
        return
    _rehearsed = True  # set before, because the detector started here rehearses, too
    mesh = Mesh(np.array(CORNERS), np.array(FACES))
    shape, deformable = prepare(mesh, None, None), np.array([False, True])
    bodies = Bodies(np.arange(2, dtype=np.int32), ("first", "second"), (mesh, mesh), deformable)
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, 0, 3] = 0.1
    still = Frame.at_rest(bodies, poses)
    deformed = replace(still, vertices=(mesh.vertices, read_only_view(1.01 * mesh.vertices)), deformed=deformable, time=1.0)
    detector = start(bodies, (shape, shape))
    for frame in (still, deformed):
        detector.detect(frame, Query(budget=Budget(seconds=LONG)))
    Workspace(1).grow(FULL_TABLE)
