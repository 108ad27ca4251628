"""The figures of Kitamura, Smith, Takemura and Kishino 1998, and §2.2.4.

`printed.toml` holds the paper's values. Its milliseconds are of 1998: the judges look at the shape of a curve and at who is ahead
by how much, never at a time itself. The docstrings of `jostle.scenes` say which numbers are the paper's.
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
