"""The figures of Baciu, Wong and Sun 1998: 5 and 9, 6 and 7 (the combs), table 1 (fig. 8); and what §5.2 says without one.

What the paper prints is in `printed.toml`; of its charts there is only what the text says of them. Its milliseconds are of a
graphics workstation of 1997: what is judged is who is ahead, what is found, and how time grows with triangles. Scenes are
`ellipsoids`, `truncated_cones`, `cones`, `combs` and `grasping`; who stands in for the libraries of the paper says `contenders.py`.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.papers.image_space import cones_compared, fig_06_07_combs, fig_09_random_motion, table_1_grasping

KEY = "baciu1998"
TITLE = "Baciu, Wong, Sun 1998: RECODE, an image-based collision detection algorithm"
FIGURES: tuple[Experiment, ...] = (
    *fig_09_random_motion.EXPERIMENTS,
    *fig_06_07_combs.EXPERIMENTS,
    table_1_grasping.EXPERIMENT,
)
WITHOUT_A_FIGURE: tuple[Experiment, ...] = (cones_compared.EXPERIMENT,)
