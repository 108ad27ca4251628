"""The paper's values by figure, and its algorithm with the printed settings.

Figures show the face octree with the defaults of this package and, where that costs little, with the paper's settings: level 6
(§4), exact clipping of faces against boxes (§3.7), all boxes of bodies against all (§3.3).
"""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "kitamura1998"
PRINTED = values_printed("jostle.lab.papers.face_octree")
REAL_TIME = PRINTED["real_time"]["cycle_ms"] / 1e3  # seconds per cycle
AS_PRINTED = "face_octree(level=6, face_box='clip', broad='brute_force')"
AS_PRINTED_WORDS = "face_octree with the paper's settings"
