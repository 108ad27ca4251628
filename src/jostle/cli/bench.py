"""`jostle bench`: compare jostle with other libraries.

`peers` measures the alternatives to jostle on the same meshes and poses. `robust` feeds jostle bad and extreme input on which some
of them crash, hang or answer nonsense. `start` measures what imports and first answers cost, `threads` what two workers reach
of two processes.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.console import open_console, print_machine, progress_bar
from jostle.cli.targets import check_target
from jostle.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.bench.case import Case
    from jostle.bench.run import CaseResult, Result

KINDS_SCENARIO = "kinds"

bench = typer.Typer(name="bench", help="Measure jostle against other libraries.", no_args_is_help=True)


@bench.callback()
def _group() -> None:
    """Measure jostle against other libraries."""


@bench.command()
def peers(
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help="pair-all, pair-first, build, deform, self, distance, batch-poses, n-body, continuous or kinds; may be repeated. "
            "All but kinds by default.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="One kind of mesh, such as pipe, of the scenario kinds; may be repeated.", show_default=False),
    ] = None,
    meshes: Annotated[
        Path | None,
        typer.Option(
            help="A folder of meshes that replace the organic ones of the scenario kinds.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--peers", help="Some of fcl,coal,meshlib,ipctk,libigl; all by default.", show_default=False),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds per case (15, with --quick 3).", show_default=False)] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write all measurements to this file.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write the tables to this file, as in docs/benchmarks.md.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small meshes and few rounds: for a trial, not for comparison.")] = False,
    method: Annotated[str, typer.Option(help="jostle's method, optionally with settings: 'voxmap(accuracy=0.01)'.")] = "wide_tree",
) -> None:
    """Compare jostle with python-fcl, Coal, MeshLib, IPC Toolkit and libigl.

    Needs the extra "bench". Same meshes and poses, one thread and one process each, interleaved rounds, medians. Answers are
    checked against an exact reference. Ctrl-C prints the results so far. The scenario kinds takes 45 minutes, with --quick two.
    """
    from jostle.atomic_file import write_text
    from jostle.bench.kinds import table as kinds_table
    from jostle.bench.machine import describe_machine
    from jostle.bench.markdown import as_markdown
    from jostle.bench.peers import PEERS
    from jostle.bench.run import ROW_SECONDS, Bench
    from jostle.bench.table import as_json
    from jostle.kernels.compile_setting import check_numba
    from jostle.registry import method_without_options, name_of

    chosen = list(PEERS) if names is None else [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in PEERS:
            raise InputError(f"there is no peer {name!r}; choose among {', '.join(PEERS)}")
    check_target("--json", json_file)
    check_target("--markdown", page)
    scenarios = _checked_scenarios(scenario, kind, meshes)
    chosen_method = method_without_options(method, "--method", "the scenarios define queries and threads")
    if chosen_method is None:
        raise InputError("--method names no method; leave it out for wide_tree")
    check_numba("the exact reference")
    console = open_console()
    machine = describe_machine()
    print_machine(console, machine)
    cases, of_kinds = _cases(scenarios, kind, meshes, quick)
    with progress_bar(console) as show:
        row_seconds = ROW_SECONDS / 5.0 if quick else ROW_SECONDS
        rounds = rounds or (3 if quick else 15)
        run = Bench(chosen, rounds, chosen_method, lambda what, done, steps: show(done, what, steps), row_seconds)
        run.run(cases, lambda result: _print_result(console, run.result, result, of_kinds, name_of(chosen_method)))
    command = shlex.join(["jostle", *sys.argv[1:]])
    compared = kinds_table.compared(run.result.cases, name_of(chosen_method))
    if compared:
        kinds_table.print_tables(console, compared)
    if page is not None:
        write_text(page, as_markdown(run.result, machine, command, compared))
        console.print(f"written to {page}", highlight=False)
    if json_file is not None:
        content = as_json(run.result, machine, command) | ({"kinds": kinds_table.as_json(compared)} if compared else {})
        write_text(json_file, json.dumps(content, indent=1) + "\n")
        console.print(f"written to {json_file}", highlight=False)
    if run.result.interrupted:
        console.print("[yellow]interrupted: the results above are partial[/yellow]")
        raise typer.Exit(130)


def _checked_scenarios(scenario: list[str] | None, kind: list[str] | None, meshes: Path | None) -> list[str]:
    """Return the scenarios to run; a kind or a folder of meshes alone asks for the kinds."""
    from jostle.bench.kinds.catalogue import KINDS
    from jostle.bench.scenarios import SCENARIOS

    scenarios = list(dict.fromkeys(scenario or ([KINDS_SCENARIO] if kind or meshes else SCENARIOS)))
    for each in scenarios:
        if each not in (*SCENARIOS, KINDS_SCENARIO):
            raise InputError(f"there is no scenario {each!r}; choose among {', '.join(SCENARIOS)}, {KINDS_SCENARIO}")
    for each in kind or []:
        if each not in KINDS:
            raise InputError(f"there is no kind {each!r}; choose among {', '.join(KINDS)}")
    if (kind or meshes) and KINDS_SCENARIO not in scenarios:
        raise InputError("--kind and --meshes belong to the scenario kinds; add --scenario kinds")
    return scenarios


def _cases(scenarios: list[str], kind: list[str] | None, meshes: Path | None, quick: bool) -> tuple[Iterator[Case], int]:
    """Return all cases, made one after the other, and the number of those of the kinds."""
    from jostle.bench.kinds import part
    from jostle.bench.kinds.catalogue import KINDS
    from jostle.bench.kinds.questions import KindCases
    from jostle.bench.scenarios import FULL, QUICK, make_cases

    sizes = QUICK if quick else FULL
    chosen = [name for name in KINDS if name in (kind or KINDS)] if KINDS_SCENARIO in scenarios else []
    kinds = KindCases(chosen, part.QUICK if quick else part.FULL, meshes, one_each=quick)
    cases = (case for name in scenarios for case in (kinds if name == KINDS_SCENARIO else make_cases(name, sizes)))
    return cases, len(kinds)


def _print_result(console: Console, so_far: Result, result: CaseResult, of_kinds: int, method: str) -> None:
    """Print a case as a table, or as a line if it is one of many of the kinds."""
    from jostle.bench.kinds import table as kinds_table
    from jostle.bench.table import print_case

    if result.label is None:
        print_case(console, result)
        return
    (case,) = kinds_table.compared([result], method)
    number = sum(each.label is not None for each in so_far.cases)
    console.print(f"{number} of {of_kinds}: {kinds_table.one_line(case)}", highlight=False, markup=False, soft_wrap=True)


@bench.command()
def robust(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all outcomes to this file.", show_default=False)] = None,
) -> None:
    """Feed jostle bad and extreme input; list what other libraries do with it.

    Each case runs in its own process. Exit status: 0 all outcomes are as required, 1 some are not.
    """
    from jostle.atomic_file import write_text
    from jostle.bench import robust as bad_input
    from jostle.bench.machine import describe_machine
    from jostle.cli.warmup import compile_with_progress

    check_target("--json", json_file)
    console = open_console()
    compile_with_progress(console)
    outcomes: list[bad_input.Outcome] = []
    interrupted = False
    with console.status("") as line:
        try:
            for number, case in enumerate(bad_input.CASES, 1):
                line.update(f"{number} of {len(bad_input.CASES)}: {case.name}")
                outcomes.append(bad_input.run_case(case))
        except KeyboardInterrupt:
            interrupted = True
    bad_input.print_outcomes(console, outcomes)
    if json_file is not None:
        command = shlex.join(["jostle", *sys.argv[1:]])
        write_text(json_file, json.dumps(bad_input.as_json(outcomes, describe_machine(), command, interrupted), indent=1) + "\n")
        console.print(f"written to {json_file}", highlight=False)
    if interrupted:
        console.print("[yellow]interrupted: the results above are partial[/yellow]")
        raise typer.Exit(130)
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(1)


@bench.command()
def start(rounds: Annotated[int, typer.Option(min=1, help="Fresh processes of each kind.")] = 9) -> None:
    """Measure imports and first answers in fresh processes, as ratios to import numpy.

    CPU time, interleaved rounds, medians. The cache of kernels is a temporary one; what is compiled for it is compiled once.
    """
    from jostle.bench.machine import describe_machine
    from jostle.bench.start import as_markdown, measure
    from jostle.kernels.compile_setting import check_numba

    check_numba("measuring compiled starts")
    console = open_console()
    print_machine(console, describe_machine())
    with progress_bar(console) as show:
        found = measure(rounds, lambda done, steps, what: show(done, what, steps))
    console.print(as_markdown(found), highlight=False, markup=False)


@bench.command()
def threads(
    task: Annotated[list[str] | None, typer.Option(help="Words of a task's name; may be repeated.", show_default=False)] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Bursts of each kind.")] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Small meshes: for a trial.")] = False,
) -> None:
    """Measure two workers against two processes: what share of their throughput they reach.

    Wall time, interleaved bursts of half a second, medians; on a machine with nothing else to do.
    """
    from jostle.bench.machine import describe_machine
    from jostle.bench.threads import TASKS, as_markdown, measure
    from jostle.kernels.compile_setting import check_numba

    chosen = [name for name in TASKS if task is None or any(words in name for words in task)]
    if not chosen:
        raise InputError(f"--task names no task; there are: {'; '.join(TASKS)}")
    check_numba("measuring threads")
    console = open_console()
    print_machine(console, describe_machine())
    with progress_bar(console) as show:
        found = measure(rounds, quick, chosen, lambda done, steps, what: show(done, what, steps))
    console.print(as_markdown(found), highlight=False, markup=False)
