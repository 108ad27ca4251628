"""Experiments that are no figure of one paper, one file each, in an explicit tuple. To add one: write a file with an `EXPERIMENT`
and name it here. Figures of papers are in `papers/`, and `catalogue.py` finds both by name.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.experiments import deforming

EXPERIMENTS: tuple[Experiment, ...] = (deforming.EXPERIMENT,)
