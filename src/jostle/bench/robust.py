"""`jostle bench robust`: bad and extreme input, each case in its own process.

The table sets jostle beside what other libraries do with such input (python-fcl 0.7, coal 3.0, MeshLib 3.1, libigl 2.6, VTK 9.7,
IPC Toolkit 1.6, trimesh 5.2, open3d 0.20, measured on one machine). Each fresh process first answers a harmless question, so
compiling and loading kernels does not count against the time limit of its case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jostle
from jostle.bench import robust_answered as answered
from jostle.bench import robust_refused as refused
from jostle.bench.process import Gone, ServerProcess
from jostle.bench.robust_refused import BOX, Answer

if TYPE_CHECKING:
    from rich.console import Console

LIMIT_SECONDS = 60.0  # for one case; each takes less than a second
READY_SECONDS = 600.0  # for starting its process, which may have to compile
NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Case:
    """One kind of input: the required outcome, what other libraries do, and the test."""

    name: str
    expected: str
    peers: str  # what other libraries do, or NOT_TRIED
    run: Callable[[], Answer]  # at module level, so that it can be pickled


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: "ok", "wrong", "failed" (raised), "crashed" or "hung"."""

    name: str
    status: str
    expected: str
    came: str
    seconds: float | None  # of the case alone; None if it did not end
    peers: str

    @property
    def ok(self) -> bool:
        """Whether the outcome is as required."""
        return self.status == "ok"


_REFUSED = "an error that names the place"
_EXACT = "all face pairs, as counted in integers"

CASES: tuple[Case, ...] = (
    Case("one NaN vertex", _REFUSED, "FCL and coal count wrongly, differently each time; trimesh says free", refused.nan_vertex),
    Case("an infinite vertex", _REFUSED, NOT_TRIED, refused.infinite_vertex),
    Case(
        "an index out of range",
        _REFUSED,
        "FCL, coal, VTK, libigl, IPC Toolkit, trimesh, open3d crash or answer nonsense in silence",
        refused.index_out_of_range,
    ),
    Case("an index of -1", _REFUSED, "MeshLib hangs, VTK aborts, coal and libigl answer wrongly", refused.index_minus_one),
    Case("an empty mesh", _REFUSED, "FCL and trimesh crash", refused.empty_mesh),
    Case("wrong shapes and types", _REFUSED, NOT_TRIED, refused.wrong_shapes_and_types),
    Case("coordinates beyond the accepted range", _REFUSED, NOT_TRIED, refused.beyond_the_range),
    Case("a truncated file", "an error that names the file", NOT_TRIED, refused.truncated_file),
    Case("a pose that is not rigid", "refused, the body stays", NOT_TRIED, refused.pose_not_rigid),
    Case("a pose with NaN", "refused, the body stays", NOT_TRIED, refused.pose_with_nan),
    Case("a clearance of NaN", _REFUSED, "reported: a clash checker then called the model clean", refused.nan_clearance),
    Case(
        "wrong vertices for a deforming body", "refused, the body stays as it was", NOT_TRIED, refused.deforming_by_wrong_vertices
    ),
    Case("coplanar overlap", f"{_EXACT}; touching", "MeshLib finds none", partial(answered.coplanar_plates, 0.0)),
    Case("a vertex touches a vertex", f"{_EXACT}; touching", "MeshLib finds none", answered.vertex_touch),
    Case("an edge touches an edge", f"{_EXACT}; touching", "MeshLib finds none", answered.edge_touch),
    Case("an offset of 1e7", _EXACT, "MeshLib finds none, VTK two thirds", partial(answered.crossing_plates, 1.0, 1e7)),
    Case("coplanar overlap at 1e7", f"{_EXACT}; touching", NOT_TRIED, partial(answered.coplanar_plates, 1e7)),
    Case("a scale of 1e-9", _EXACT, "coal reports 1,414,325 pairs where there are 144", partial(answered.crossing_plates, 1e-9)),
    Case("coordinates of 1e28", _EXACT, NOT_TRIED, partial(answered.crossing_plates, 1e28)),
    Case(
        "a convex mesh stays a surface",
        "free inside; the one face it is pushed through outside",
        "trimesh turns it into a solid in silence and gives one contact with a meaningless face",
        answered.convex_stays_a_surface,
    ),
    Case(
        "one body wholly inside another",
        "surfaces free, solids contained, free in a hollow",
        "all say free, but for one call of MeshLib",
        answered.wholly_inside,
    ),
    Case(
        "more contacts than any cap", f"{_EXACT}; complete", "FCL and trimesh stop at their cap in silence", answered.no_contact_cap
    ),
    Case("faces without area, and the same face 1,000 times", _EXACT, NOT_TRIED, answered.degenerate_mesh),
    Case(
        "a report after the bodies moved",
        "the new one new, the old one as it was",
        "reported: a reused result of FCL keeps saying yes",
        answered.fresh_results,
    ),
    Case("writing into a pose in place", "an error, because the write would be lost", NOT_TRIED, answered.lost_writes),
    Case("a pickled world", "the copy answers the same", "asked for by users of FCL and trimesh", answered.pickled_world),
    Case("a forked world", "the child answers the same", NOT_TRIED, answered.forked_world),
    Case(
        "two threads on one world",
        "a BusyError for the second",
        "asked for: FCL does not state what threads may do",
        answered.two_threads,
    ),
)


def run_case(case: Case, limit: float = LIMIT_SECONDS, ready: float = READY_SECONDS) -> Outcome:
    """Run one case in its own process; a process that dies or hangs is an outcome too."""
    process = ServerProcess(_Server, (case.run,), f"robust: {case.name}", daemon=False)  # a case may fork
    process.start()
    try:
        answer = process.ask(("warm_up",), ready)
        if answer is None:
            answer = process.ask(("run",), limit)
    finally:
        process.end()
    if isinstance(answer, Gone):
        answer = "hung" if answer.status == "timeout" else "crashed", answer.why, None
    status, came, seconds = answer
    return Outcome(case.name, status, case.expected, came, seconds, case.peers)


class _Server:
    """Runs one case, after a call that loads the kernels."""

    def __init__(self, run: Callable[[], Answer]) -> None:
        self._run = run

    def __call__(self, verb: str) -> tuple[str, str, float] | None:
        begin = time.perf_counter()
        try:
            if verb == "warm_up":
                jostle.collide(BOX, BOX, solid=True)
                return None
            answer = self._run()
            return "ok" if answer.ok else "wrong", answer.came, time.perf_counter() - begin
        except Exception as error:
            return "failed", f"{type(error).__name__}: {error}"[:300], time.perf_counter() - begin


# ---------------------------------------------------------------------- for people and for programs


def print_outcomes(console: Console, outcomes: list[Outcome]) -> None:
    """Print the table and a closing line."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="bad and extreme input", title_justify="left", title_style="bold", header_style="dim", show_lines=True)
    for heading in ("input", "what must come", "what came", "s", "", "what other libraries do"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "s" else "left", no_wrap=heading in ("s", ""))
    for outcome in outcomes:
        verdict = "[green]ok[/green]" if outcome.ok else f"[bold red]{outcome.status}[/bold red]"
        seconds = "–" if outcome.seconds is None else f"{outcome.seconds:.2f}"
        words = (outcome.name, outcome.expected, outcome.came)
        table.add_row(*(escape(word) for word in words), seconds, verdict, f"[dim]{escape(outcome.peers)}[/dim]")
    console.print(table)
    bad = [outcome.name for outcome in outcomes if not outcome.ok]
    sentence = f"[bold red]{len(bad)} of {len(outcomes)} are not ok: {escape(', '.join(bad))}[/bold red]"
    console.print(sentence if bad else f"all {len(outcomes)} ok", highlight=False)


def as_json(outcomes: list[Outcome], machine: dict[str, Any], command: str, interrupted: bool) -> dict[str, Any]:
    """Return everything, ready for `json.dump`."""
    rows = [{**asdict(outcome), "ok": outcome.ok} for outcome in outcomes]
    return {"command": command, "machine": machine, "interrupted": interrupted, "ok": all(o.ok for o in outcomes), "cases": rows}
