"""The figures of Eckstein and Schömer 1999: 4 and 5, and the degrees of §5.

`printed.toml` holds the few values that the paper prints; fig. 4 and 5 are judged by the text. Its milliseconds are of 1999: the
judges look at who is ahead by how much, never at a time itself. The scene `headlight` and its motion (`removal.py`) are ours.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.bounding_tree import degrees, fig_04_building_methods, fig_05_along_the_motion

KEY = "eckstein1999"
TITLE = "Eckstein, Schömer 1999: dynamic collision detection in virtual reality applications"
FIGURES: tuple[Experiment, ...] = (fig_04_building_methods.EXPERIMENT, fig_05_along_the_motion.EXPERIMENT)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (degrees.EXPERIMENT,)
