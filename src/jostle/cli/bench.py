"""`jostle bench`: compare jostle with other libraries.

`peers` measures the alternatives to jostle on the same meshes and poses. `robust` feeds jostle bad and extreme input on which some
of them crash, hang or answer nonsense. `start` measures what imports and first answers cost.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.console import open_console, print_machine, progress_bar
from jostle.cli.targets import check_target
from jostle.errors import InputError

bench = typer.Typer(name="bench", help="Measure jostle against other libraries.", no_args_is_help=True)


@bench.callback()
def _group() -> None:
    """Measure jostle against other libraries."""


@bench.command()
def peers(
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help="pair-all, pair-first, build, deform, self, distance, batch-poses, n-body or continuous; may be repeated. "
            "All by default.",
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
    checked against an exact reference. Ctrl-C prints the results so far.
    """
    from jostle.atomic_file import write_text
    from jostle.bench.machine import describe_machine
    from jostle.bench.markdown import as_markdown
    from jostle.bench.peers import PEERS
    from jostle.bench.run import Bench
    from jostle.bench.scenarios import FULL, QUICK, SCENARIOS, make_cases
    from jostle.bench.table import as_json, print_case
    from jostle.kernels.compile_setting import check_numba
    from jostle.registry import method_without_options

    chosen = list(PEERS) if names is None else [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in PEERS:
            raise InputError(f"there is no peer {name!r}; choose among {', '.join(PEERS)}")
    check_target("--json", json_file)
    check_target("--markdown", page)
    for each in scenario or []:
        if each not in SCENARIOS:
            raise InputError(f"there is no scenario {each!r}; choose among {', '.join(SCENARIOS)}")
    chosen_method = method_without_options(method, "--method", "the scenarios define queries and threads")
    if chosen_method is None:
        raise InputError("--method names no method; leave it out for wide_tree")
    check_numba("the exact reference")
    sizes = QUICK if quick else FULL
    console = open_console()
    machine = describe_machine()
    print_machine(console, machine)
    with progress_bar(console) as show:
        run = Bench(chosen, rounds or (3 if quick else 15), chosen_method, lambda what, done, steps: show(done, what, steps))
        cases = (case for name in dict.fromkeys(scenario or SCENARIOS) for case in make_cases(name, sizes))
        run.run(cases, lambda result: print_case(console, result))
    command = shlex.join(["jostle", *sys.argv[1:]])
    if page is not None:
        write_text(page, as_markdown(run.result, machine, command))
        console.print(f"written to {page}", highlight=False)
    if json_file is not None:
        write_text(json_file, json.dumps(as_json(run.result, machine, command), indent=1) + "\n")
        console.print(f"written to {json_file}", highlight=False)
    if run.result.interrupted:
        console.print("[yellow]interrupted: the results above are partial[/yellow]")
        raise typer.Exit(130)


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
