"""`jostle lab`: replay one motion through every method; `list`, `run`, `report`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.console import open_console, print_machine, progress_shown
from jostle.cli.targets import check_target
from jostle.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from jostle.lab.experiment import Experiment
    from jostle.lab.run import LabRun
    from jostle.motion.record import Motion

OUT = Path("out") / "lab"
SCENE_FILES = (".glb", ".gltf", ".stl", ".obj", ".ply", ".off")

lab = typer.Typer(
    name="lab",
    help="Replay one motion through every method: times, counters, what each finds and misses.",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option(help="Folder of all results, with one subfolder per experiment.")]


@lab.command("list")
def list_all() -> None:
    """List experiments, the papers' figures, and scenes that can be run like them."""
    from jostle.lab.experiments import EXPERIMENTS
    from jostle.lab.papers import PAPERS
    from jostle.scenes import SCENES

    console = open_console()
    console.print(_listed("experiment", EXPERIMENTS))
    for paper in PAPERS:
        console.print(f"{paper.title} ({paper.key}); all of it: jostle lab run {paper.name}", highlight=False)
        console.print(_listed("figure", paper.figures))
    names = {each.name for each in EXPERIMENTS}
    others = ", ".join(name for name in SCENES if name not in names)
    console.print(f"scenes without claims to judge: {others}", highlight=False)
    console.print("your own: jostle lab run SCENE.glb, or --motion FILE.npz (jostle.motion.record)", highlight=False)


def _listed(kind: str, experiments: Sequence[Experiment]) -> Table:
    from rich.table import Table

    table = Table(kind, "what it shows", "swept", "methods", header_style="dim")
    table.columns[0].no_wrap = True
    for each in experiments:
        values = "" if each.parameter is None else f"{each.parameter}: {', '.join(map(str, each.values))}"
        table.add_row(each.name, each.title, values, ", ".join(each.methods))
    return table


@lab.command()
def run(
    what: Annotated[
        str | None,
        typer.Argument(
            help="An experiment, a figure, all figures of a paper, a scene (`jostle lab list`), or a file such as SCENE.glb.",
            show_default=False,
        ),
    ] = None,
    motion: Annotated[Path | None, typer.Option(help="A recorded motion (.npz) instead.", show_default=False)] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated methods, optionally with settings: 'wide_tree(build=sah),brute_force'.", show_default=False
        ),
    ] = None,
    out: Out = OUT,
    quick: Annotated[bool, typer.Option("--quick", help="Few values, frames and rounds: for a trial, without verdicts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result as JSON, one line per figure.")] = False,
    rounds: Annotated[int | None, typer.Option(min=1, help="Timed rounds (5, with --quick 2).", show_default=False)] = None,
    limit: Annotated[float, typer.Option(min=0.001, help="Seconds per method and value, without compiling.")] = 60.0,
) -> None:
    """Replay a scene through methods: same frames, interleaved, one process each.

    Writes summary.csv, frames.csv, result.json and plots; for a paper, one set per figure. A method that fails or is too slow
    gets a row that says so. Ctrl-C keeps the measurements so far. For your own scene the last line says which method suits it best,
    and why.
    """
    from jostle.lab.files import folder_for
    from jostle.lab.methods import methods_of
    from jostle.lab.run import LabRun

    chosen = None if methods is None else methods_of(methods)
    experiments = _experiments(what, motion)
    folders = [folder_for(out, experiment.name) for experiment in experiments]
    console = open_console(stderr=as_json)  # with --json standard output has only the result
    command = shlex.join(["jostle", *sys.argv[1:]])
    for experiment, folder in zip(experiments, folders, strict=True):
        lab_run = LabRun(experiment, chosen, quick, rounds, limit, command)
        _run_one(lab_run, folder, out, as_json, console)


def _run_one(lab_run: LabRun, folder: Path, out: Path, as_json: bool, console: Console) -> None:
    """Measure, write and draw; exit with 130 after Ctrl-C."""
    from jostle.lab.files import write_files
    from jostle.lab.table import print_result

    measure_with_progress(lab_run, console)
    result = lab_run.result
    if result.interrupted and not any(run.frame_seconds for point in result.points for run in point.runs):
        console.print("[yellow]interrupted before anything was measured; nothing is written[/yellow]")
        raise typer.Exit(130)
    write_files(result, folder)
    if as_json:
        print(json.dumps(result.to_json(), allow_nan=False))
    else:
        print_result(console, result)
    console.print(f"written to {folder}", highlight=False)
    draw_and_write_page(lab_run, folder, out, console, lab_run.motion)
    if result.interrupted:
        console.print("[yellow]interrupted: the results above are partial[/yellow]")
        raise typer.Exit(130)


@lab.command()
def report(
    out: Out = OUT,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the verdicts to this file, as Markdown.", show_default=False)
    ] = None,
) -> None:
    """Make one HTML page of all experiments in a results folder."""
    from jostle.atomic_file import write_text
    from jostle.lab.files import read_results
    from jostle.lab.markdown import verdicts_as_markdown
    from jostle.lab.page import write_page

    check_target("--markdown", markdown)
    results = read_results(out)
    if not results:
        raise InputError(f"--out {out}: this folder has no results yet; run jostle lab run NAME --out {out} first")
    console = open_console()
    console.print(f"written to {write_page(results, out)}", highlight=False)
    if markdown is not None:
        write_text(markdown, verdicts_as_markdown(results))
        console.print(f"written to {markdown}", highlight=False)


def _experiments(what: str | None, motion: Path | None) -> tuple[Experiment, ...]:
    """Return the experiments to run: built-in ones, figures, a scene, file or motion."""
    from jostle.lab.catalogue import every_experiment, experiments_named
    from jostle.lab.experiment import RecordedMotion, own_experiment
    from jostle.lab.papers import PAPERS
    from jostle.motion.record import Motion
    from jostle.registry import METHODS
    from jostle.scenes import SCENES, make_scene, scene_of_file

    if (what is None) == (motion is None):
        raise InputError("give either what to run (jostle lab list) or --motion FILE.npz")
    every = tuple(METHODS)
    taken = [each.name for each in every_experiment()]
    if motion is not None:
        recorded = Motion.load(motion)
        title = recorded.title or f"{motion.name}: {len(recorded.names)} bodies"
        return (own_experiment(_free_name(motion.stem, taken), title, RecordedMotion(recorded), every, len(recorded)),)
    assert what is not None
    found = experiments_named(what)
    if found:
        return found
    if what in SCENES:
        scene = make_scene(what)
        return (own_experiment(what, scene.title, scene, every),)
    file = Path(what)
    if file.suffix.lower() not in SCENE_FILES and not file.exists():
        names = ", ".join([*taken, *(paper.name for paper in PAPERS), *(name for name in SCENES if name not in taken)])
        raise InputError(f"there is no experiment, scene or file {what!r}; choose among {names}, or name a file such as SCENE.glb")
    scene = scene_of_file(file)
    return (own_experiment(_free_name(file.stem, taken), scene.title, scene, every),)


def _free_name(stem: str, taken: Sequence[str]) -> str:
    """Return a name for a user's results that no experiment or paper has."""
    return f"own-{stem}" if stem in {name.partition("/")[0] for name in taken} else stem


def measure_with_progress(lab_run: LabRun, console: Console) -> None:
    """Measure, showing progress."""
    print_machine(console, lab_run.result.machine)
    with progress_shown(console, "measuring", transient=True) as show:
        lab_run.show_progress(show)
        lab_run.run()


def draw_and_write_page(lab_run: LabRun, folder: Path, out: Path, console: Console, motion: Motion | None) -> Path:
    """Draw the plots and pictures of a motion, and update the page; return its path.

    The data is safe by now, so a missing matplotlib is only a warning.
    """
    from jostle.lab.files import read_results

    try:
        from jostle.lab.plots import draw_experiment

        draw_experiment(lab_run.result, folder, motion)
        if lab_run.experiment.pictures is not None:
            lab_run.experiment.pictures(folder)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        console.print("[yellow]no plots: matplotlib is missing; pip install 'jostle\\[lab]'. The data is kept.[/yellow]")
    from jostle.lab.page import write_page

    page = write_page(read_results(out), out)
    console.print(f"all experiments so far: {page}", highlight=False)
    return page
