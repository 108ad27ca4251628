"""What this paper prints, as a dict of its figures."""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "baciu1998"
PRINTED = values_printed("jostle.lab.papers.image_space")
BODIES = PRINTED["environment"]["bodies"]
FRAMES = PRINTED["environment"]["fewest_frames"]
