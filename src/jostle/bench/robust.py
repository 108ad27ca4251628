"""`jostle bench robust`: bad and extreme input, each case in its own process.

The table of what well-known libraries do with such input (python-fcl 0.7, coal 3.0, MeshLib 3.1, libigl 2.6, VTK 9.7, IPC Toolkit
1.6, trimesh 5.2, open3d 0.20, as measured on one machine) stands beside what came from jostle. Each process is started fresh; it
first answers a harmless question, so that compiling and loading kernels is outside the time limit of its case. What it prints goes
to a file, of which a crash shows the last line.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jostle
from jostle.bench import robust_answered as answered
from jostle.bench import robust_refused as refused
from jostle.bench.robust_refused import BOX, Answer

if TYPE_CHECKING:
    from rich.console import Console

LIMIT_SECONDS = 60.0  # for one case; each takes less than a second
READY_SECONDS = 600.0  # for starting its process, which may have to compile
LISTEN_SECONDS = 0.1  # how often to look up while waiting, so that Ctrl-C is heard on every system
NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Case:
    """One kind of input: the required outcome, what other libraries do, and how it is tried."""

    name: str
    expected: str
    peers: str  # what was seen of other libraries; NOT_TRIED where nobody looked
    run: Callable[[], Answer]  # at module level: it travels to its process by name


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    `status` is "ok", "wrong" (an answer, but not the right one), "failed" (raised), "crashed" or "hung".
    """

    name: str
    status: str
    expected: str
    came: str
    seconds: float | None  # of the case alone; None when it did not end
    peers: str

    @property
    def ok(self) -> bool:
        """Whether the outcome is as required."""
        return self.status == "ok"


_REFUSED = "an error that names the place"
_EXACT = "all face pairs, as counted on whole numbers"

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
    Case("coplanar overlap", f"{_EXACT}; touching", "MeshLib finds none", answered.coplanar_overlap),
    Case("a vertex touches a vertex", f"{_EXACT}; touching", "MeshLib finds none", answered.vertex_touch),
    Case("an edge touches an edge", f"{_EXACT}; touching", "MeshLib finds none", answered.edge_touch),
    Case("an offset of 1e7", _EXACT, "MeshLib finds none, VTK two thirds", answered.offset_of_ten_million),
    Case("coplanar overlap at 1e7", f"{_EXACT}; touching", NOT_TRIED, answered.coplanar_overlap_far_away),
    Case("a scale of 1e-9", _EXACT, "coal reports 1,414,325 pairs where there are 144", answered.scale_of_a_billionth),
    Case("coordinates of 1e28", _EXACT, NOT_TRIED, answered.huge_coordinates),
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
        "the second is told so (BusyError)",
        "asked for: FCL does not state what threads may do",
        answered.two_threads,
    ),
)


def run_case(case: Case, limit: float = LIMIT_SECONDS, ready: float = READY_SECONDS) -> Outcome:
    """Run one case in its own process; a process that dies or hangs is an outcome too."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    handle, name = tempfile.mkstemp(prefix="jostle-robust-", suffix=".txt")
    os.close(handle)
    # Not a daemon: a case may have a child of its own.
    process = context.Process(target=_serve, args=(case.run, theirs, name), name=f"robust: {case.name}")
    process.start()
    theirs.close()
    try:
        status, came, seconds = _listen(ours, process, Path(name), limit, ready)
    finally:
        process.kill()
        process.join()
        ours.close()
        Path(name).unlink(missing_ok=True)
    return Outcome(case.name, status, case.expected, came, seconds, case.peers)


def _listen(pipe: Connection[Any, Any], process: Any, messages: Path, limit: float, ready: float) -> tuple[str, str, float | None]:
    """Wait for "ready" and then for the answer; return status, outcome and seconds."""
    try:
        for what, allowed in (("start", ready), ("answer", limit)):
            end = time.monotonic() + allowed
            while not pipe.poll(LISTEN_SECONDS):
                if time.monotonic() > end:
                    return "hung", f"no {what} within {allowed:g} s", None
            message = pipe.recv()
            if what == "start" and message != "ready":
                break  # it could not even start: that is its answer
    except (EOFError, OSError):
        return "crashed", _epitaph(process, messages), None
    status, came, seconds = message
    return status, came, seconds


def _epitaph(process: Any, messages: Path) -> str:
    """Return how a process died, with the last line it wrote."""
    process.join(2.0)
    code = process.exitcode
    how = f"its process ended with code {code}"
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            how = f"its process died of {signal.Signals(-code).name}"
    lines = messages.read_text(errors="replace").strip().splitlines()
    return how + (f": {lines[-1][:200]}" if lines else "")


def _serve(run: Callable[[], Answer], pipe: Connection[Any, Any], messages: str) -> None:
    """Be the process of a case."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the bench alone
    with Path(messages).open("a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    begin = time.perf_counter()
    try:
        jostle.collide(BOX, BOX, solid=True)
        pipe.send("ready")
        begin = time.perf_counter()
        answer = run()
        pipe.send(("ok" if answer.ok else "wrong", answer.came, time.perf_counter() - begin))
    except Exception as error:
        pipe.send(("failed", f"{type(error).__name__}: {error}"[:300], time.perf_counter() - begin))


# ---------------------------------------------------------------------- for people and for programs


def print_outcomes(console: Console, outcomes: list[Outcome]) -> None:
    """Print the table, and a last line that counts."""
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
