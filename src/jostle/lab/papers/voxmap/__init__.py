"""The figures of Lock and Wills 2000: 7 and 11 to 14, and claims of §8 and §9.

`printed.toml` holds the paper's values. Its update rates are of a Pentium at 166 MHz: the judges look at the shape of a curve and
at who is ahead from where on. Its times include motion and response; ours are of replayed motions, so that all pruners see the same
frames: setting poses, broad phase and look-up. Scenes are `polytopes` and `stellated`.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.voxmap import (
    fig_07_colliding,
    fig_11_voxels,
    fig_12_shell_points,
    fig_13_fixed_and_varied,
    fig_14_bodies,
    half_accuracy,
    two_cores,
)

KEY = "lock2000"
TITLE = "Lock, Wills 2000: VoxColliDe, voxel collision detection for virtual environments"
FIGURES: tuple[Experiment, ...] = (
    fig_07_colliding.EXPERIMENT,
    fig_11_voxels.EXPERIMENT,
    fig_12_shell_points.EXPERIMENT,
    fig_13_fixed_and_varied.EXPERIMENT,
    fig_14_bodies.EXPERIMENT,
)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (half_accuracy.EXPERIMENT, two_cores.EXPERIMENT)
