"""The paper's values by figure."""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "baciu1998"
PRINTED = values_printed("jostle.lab.papers.image_space")
BODIES = PRINTED["environment"]["bodies"]
FRAMES = PRINTED["environment"]["fewest_frames"]
