"""Table 1 of Guy and Debunne 2004, and its claims on recall and frame times.

`printed.toml` holds the paper's values; its milliseconds are of a PC of 2004: the judges look at who is ahead and how much more
levels help. The thresholds of recall and frame times are ours, and say so. Scenes are `sphere_and_torus`, `horseshoe_and_clover`
and `dragon_and_bunny`.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.monte_carlo import frame_times, recall, table_1

KEY = "guy2004"
TITLE = "Guy, Debunne 2004: Monte-Carlo collision detection"
FIGURES: tuple[Experiment, ...] = (table_1.EXPERIMENT,)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (recall.EXPERIMENT, frame_times.EXPERIMENT)
