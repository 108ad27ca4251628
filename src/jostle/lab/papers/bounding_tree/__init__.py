"""The figures of Eckstein and Schömer 1999: 4 and 5, and what §5 says of degrees without one.

What the paper prints is in `printed.toml`, which is little: its plots of fig. 4 and 5 are judged by what the text says of them. Its
milliseconds are of 1999: what is judged is who is ahead and by how much, never a time itself. The scene is `headlight`, its motion
is in `removal.py`; both are ours.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.bounding_tree import degrees, fig_04_building_methods, fig_05_along_the_motion

KEY = "eckstein1999"
TITLE = "Eckstein, Schömer 1999: dynamic collision detection in virtual reality applications"
FIGURES: tuple[Experiment, ...] = (fig_04_building_methods.EXPERIMENT, fig_05_along_the_motion.EXPERIMENT)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (degrees.EXPERIMENT,)
