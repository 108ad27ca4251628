"""The experiments, one file each, in an explicit tuple. To add one: write a file with an `EXPERIMENT` and name it here."""

from __future__ import annotations

from jostle.errors import InputError
from jostle.lab.experiment import Experiment
from jostle.lab.experiments import deforming, shuttles, spheres

EXPERIMENTS: tuple[Experiment, ...] = (spheres.EXPERIMENT, shuttles.EXPERIMENT, deforming.EXPERIMENT)


def experiment_named(name: str) -> Experiment:
    """Return an experiment by its name."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise InputError(f"there is no experiment {name!r}; choose among {', '.join(each.name for each in EXPERIMENTS)}")
