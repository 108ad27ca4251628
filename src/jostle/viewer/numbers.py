"""The live numbers of the panel, as a small table."""

from __future__ import annotations

import math

from jostle.viewer.colours import AMBER, RED
from jostle.viewer.html import Html, fill, joined
from jostle.viewer.snapshot import MOST_ARROWS, Snapshot
from jostle.viewer.timings import Timings


def milliseconds(seconds: float) -> str:
    """Return a time as text with about three digits."""
    if math.isnan(seconds):
        return "–"
    value = 1e3 * seconds
    return f"{value:.3f} ms" if value < 10.0 else f"{value:.1f} ms" if value < 1000.0 else f"{seconds:.2f} s"


def as_html(snapshot: Snapshot | None, timings: Timings, bodies: int, faces: int, note: str = "", busy: float = 0.0) -> Html:
    """Return the table, or before the first detection that it is being prepared."""
    if snapshot is None:
        waited = f" ({busy:.0f} s)" if busy >= 1.0 else ""
        return _boxed(f"preparing: a first run compiles{waited} …")
    found = snapshot.found
    touching, near = len(found.pairs), found.near_pairs
    head_colour = f"rgb{RED}" if touching else f"rgb{AMBER}" if near else "rgb(70,130,90)"
    state = "touching" if touching else "near" if near else "free"
    runs = fill("<b>runs for {seconds} s …</b>", seconds=f"{busy:.1f}") if busy >= 0.5 else milliseconds(snapshot.seconds)
    rows: list[tuple[str, str, str]] = [  # name, value, small print
        ("touching pairs", f"{touching:,}", f" + {near:,} near" if near else ""),
        ("touching faces", f"{found.face_count:,}", ""),
        ("contacts", f"{found.face_pairs:,}", "" if found.complete else " (budget spent)"),
        ("detection now", runs, " (the first loads code)" if math.isnan(timings.median) else ""),
        ("median", milliseconds(timings.median), ""),
        ("worst", milliseconds(timings.worst), ""),
        ("bodies", f"{bodies:,}", ""),
        ("their faces", f"{faces:,}", ""),
    ]
    if len(found.points) == MOST_ARROWS and found.face_pairs > MOST_ARROWS:
        note = f"{MOST_ARROWS:,} of {found.face_pairs:,} contacts drawn" + (f"; {note}" if note else "")
    cells = joined(
        fill(
            '<tr><td style="opacity:.65;padding:1px 0">{name}</td>'
            '<td style="text-align:right;font-variant-numeric:tabular-nums">{value}{beside}</td></tr>',
            name=name, value=value, beside=fill("<small>{words}</small>", words=words) if words else "",
        )
        for name, value, words in rows
    )  # fmt: skip
    content = fill(
        '<b class="jostle-state" style="color:{colour};font-size:1.15em">{state}</b>'
        '<table style="width:100%">{cells}</table>{below}',
        colour=head_colour, state=state, cells=cells,
        below=fill('<div style="opacity:.65;margin-top:4px">{note}</div>', note=note) if note else "",
    )  # fmt: skip
    return _boxed(content)


def _boxed(content: str) -> Html:
    return fill(
        '<div class="jostle-numbers" style="padding:2px 14px 6px;font-size:.85em;line-height:1.45">{content}</div>', content=content
    )
