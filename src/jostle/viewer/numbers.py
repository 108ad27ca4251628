"""The live numbers of the panel, as a small table."""

from __future__ import annotations

import html
import math

from jostle.viewer.colours import AMBER, RED
from jostle.viewer.snapshot import MOST_ARROWS, Snapshot
from jostle.viewer.timings import Timings


def milliseconds(seconds: float) -> str:
    """A time for people: three digits are enough."""
    if math.isnan(seconds):
        return "–"
    value = 1e3 * seconds
    return f"{value:.3f} ms" if value < 10.0 else f"{value:.1f} ms" if value < 1000.0 else f"{seconds:.2f} s"


def as_html(snapshot: Snapshot | None, timings: Timings, bodies: int, faces: int, note: str = "", busy: float = 0.0) -> str:
    """Return the table; before the first detection it says that it is being prepared."""
    if snapshot is None:
        waited = f" ({busy:.0f} s)" if busy >= 1.0 else ""
        return f'<div class="jostle-numbers" style="{_BOX}">preparing: a first run compiles{waited} …</div>'
    found = snapshot.found
    touching, near = len(found.pairs), found.near_pairs
    head_colour = f"rgb{RED}" if touching else f"rgb{AMBER}" if near else "rgb(70,130,90)"
    state = "touching" if touching else "near" if near else "free"
    rows = [
        ("touching pairs", f"{touching:,}" + (f" <small>+ {near:,} near</small>" if near else "")),
        ("touching faces", f"{found.face_count:,}"),
        ("contacts", f"{found.face_pairs:,}" + ("" if found.complete else " <small>(budget spent)</small>")),
        ("detection now", milliseconds(snapshot.seconds)),
        ("median", milliseconds(timings.median)),
        ("worst", milliseconds(timings.worst)),
        ("bodies, faces", f"{bodies:,}, {faces:,}"),
    ]
    if busy >= 0.5:
        rows[3] = ("detection now", f"<b>runs for {busy:.1f} s …</b>")
    if len(found.points) == MOST_ARROWS and found.face_pairs > MOST_ARROWS:
        note = f"{MOST_ARROWS:,} of {found.face_pairs:,} contacts drawn" + (f"; {note}" if note else "")
    cells = "".join(
        f'<tr><td style="opacity:.65;padding:1px 0">{name}</td>'
        f'<td style="text-align:right;font-variant-numeric:tabular-nums">{value}</td></tr>'
        for name, value in rows
    )
    below = f'<div style="opacity:.65;margin-top:4px">{html.escape(note)}</div>' if note else ""
    head = f'<b class="jostle-state" style="color:{head_colour};font-size:1.15em">{state}</b>'
    return f'<div class="jostle-numbers" style="{_BOX}">{head}<table style="width:100%">{cells}</table>{below}</div>'


_BOX = "padding:2px 14px 6px;font-size:.85em;line-height:1.45"
