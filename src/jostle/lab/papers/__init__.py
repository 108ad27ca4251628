"""The figures of papers: a folder for each paper, a file for each figure.

To add a paper, add a folder named after its method, with its figures and a data file of its printed values, and name it in
`PAPERS`.
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle.lab.experiment import Experiment
from jostle.lab.papers import bounding_tree, face_octree, image_space, monte_carlo, voxmap


@dataclass(frozen=True)
class Paper:
    """A paper and its figures that are measured again."""

    name: str  # of its method and its folder
    key: str  # in docs/references.bib
    title: str
    figures: tuple[Experiment, ...]  # and claims without one


PAPERS: tuple[Paper, ...] = (
    Paper("face_octree", face_octree.KEY, face_octree.TITLE, face_octree.FIGURES + face_octree.WITHOUT_A_FIGURE),
    Paper("bounding_tree", bounding_tree.KEY, bounding_tree.TITLE, bounding_tree.FIGURES + bounding_tree.WITHOUT_A_FIGURE),
    Paper("image_space", image_space.KEY, image_space.TITLE, image_space.FIGURES + image_space.WITHOUT_A_FIGURE),
    Paper("voxmap", voxmap.KEY, voxmap.TITLE, voxmap.FIGURES + voxmap.WITHOUT_A_FIGURE),
    Paper("monte_carlo", monte_carlo.KEY, monte_carlo.TITLE, monte_carlo.FIGURES + monte_carlo.WITHOUT_A_FIGURE),
)
