"""What this paper prints, as a dict of its figures, and its algorithm with the settings that it prints.

The face octree of this package has settings of its own by default; figures show it, and beside it, where that costs little, the
paper's: level 6 (§4), the exact clipping of faces against boxes (§3.7), all boxes of bodies against all (§3.3).
"""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "kitamura1998"
PRINTED = values_printed("jostle.lab.papers.face_octree")
REAL_TIME = PRINTED["real_time"]["cycle_ms"] / 1e3  # seconds per cycle
AS_PRINTED = "face_octree(level=6, face_box='clip', broad='brute_force')"
AS_PRINTED_WORDS = "face_octree with the paper's settings"
