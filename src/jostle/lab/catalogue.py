"""Experiments and figures by name: `deforming`, `face_octree/fig_13`, `fig_06`."""

from __future__ import annotations

from jostle.errors import InputError
from jostle.lab.experiment import Experiment
from jostle.lab.experiments import EXPERIMENTS
from jostle.lab.papers import PAPERS


def every_experiment() -> tuple[Experiment, ...]:
    """Return the experiments and the figures of all papers."""
    return (*EXPERIMENTS, *(figure for paper in PAPERS for figure in paper.figures))


def experiments_named(name: str) -> tuple[Experiment, ...]:
    """Return the experiment or the paper's figures with this name; () if unknown."""
    for paper in PAPERS:
        if name == paper.name:
            return paper.figures
    found = tuple(each for each in every_experiment() if name in (each.name, each.name.rpartition("/")[2]))
    if len(found) > 1:
        raise InputError(f"several papers have {name!r}; choose among {', '.join(each.name for each in found)}")
    return found
