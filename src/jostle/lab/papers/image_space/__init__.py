"""The figures of Baciu, Wong and Sun 1998: 5 to 9 and table 1, and §5.2.

`printed.toml` holds the paper's values; its charts are judged by the text. Its milliseconds are of a graphics workstation of 1997:
the judges look at who is ahead, what is found, and how time grows with triangles. Scenes are `ellipsoids`, `truncated_cones`,
`cones`, `combs` and `grasping`; `contenders.py` lists the stand-ins for the paper's libraries.
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
