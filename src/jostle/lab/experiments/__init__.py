"""Experiments that are not a figure of a paper, one file each.

To add one, write a file with an `EXPERIMENT` and list it here. `catalogue.py` finds these and the figures of `papers/` by name.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment
from jostle.lab.experiments import deforming

EXPERIMENTS: tuple[Experiment, ...] = (deforming.EXPERIMENT,)
