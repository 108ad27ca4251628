"""The paper's values by figure."""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "lock2000"
PRINTED = values_printed("jostle.lab.papers.voxmap")
FRAMES = PRINTED["environment"]["frames"]
RUNS = PRINTED["environment"]["runs"]
INTERACTIVE = PRINTED["environment"]["interactive_hz"]
CUBE = PRINTED["environment"]["cube"]
MODERN = "wide_tree"
OURS = "voxmap"
