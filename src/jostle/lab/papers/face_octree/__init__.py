"""The figures of Kitamura, Smith, Takemura and Kishino 1998: 6, 7, 8, 12, 13, 14, and 16 to 18 in one; and §2.2.4, without one.

What the paper prints is in `printed.toml`. Its milliseconds are of 1998: what is judged is the shape of a curve, who is ahead and
by how much, never a time itself. Scenes are in `jostle.scenes`, whose docstrings say which numbers are the paper's.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.face_octree import (
    fig_06_two_spheres,
    fig_07_faces,
    fig_08_shuttles,
    fig_12_interactive,
    fig_13_separating_planes,
    fig_14_octree_update,
    fig_16_17_18_closest_features,
    number_of_bodies,
)

KEY = "kitamura1998"
TITLE = "Kitamura, Smith, Takemura, Kishino 1998: a real-time algorithm for deformable polyhedral objects"
FIGURES: tuple[Experiment, ...] = (
    fig_06_two_spheres.EXPERIMENT,
    fig_07_faces.EXPERIMENT,
    fig_08_shuttles.EXPERIMENT,
    fig_12_interactive.EXPERIMENT,
    fig_13_separating_planes.EXPERIMENT,
    fig_14_octree_update.EXPERIMENT,
    fig_16_17_18_closest_features.EXPERIMENT,
)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (number_of_bodies.EXPERIMENT,)
