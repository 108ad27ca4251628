"""Table 1 of Guy and Debunne 2004, and what they say without numbers: all regions are found, and the time of a frame is bounded.

What the paper prints is in `printed.toml`; its milliseconds are of a PC of 2004: what is judged is who is ahead, and how much more
levels help. The bars of recall and frame times are this package's own, and say so. Scenes are `sphere_and_torus`,
`horseshoe_and_clover` and `dragon_and_bunny`.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.monte_carlo import frame_times, recall, table_1

KEY = "guy2004"
TITLE = "Guy, Debunne 2004: Monte-Carlo collision detection"
FIGURES: tuple[Experiment, ...] = (table_1.EXPERIMENT,)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (recall.EXPERIMENT, frame_times.EXPERIMENT)
