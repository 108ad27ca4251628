"""The command-line application: its name, help and commands."""

from __future__ import annotations

from typing import Annotated

import typer

import jostle
from jostle.cli.bench import bench
from jostle.cli.cache import cache
from jostle.cli.check import check
from jostle.cli.demo import demo
from jostle.cli.fit import fit
from jostle.cli.lab import lab
from jostle.cli.methods import methods
from jostle.cli.shot import shot
from jostle.cli.sim import sim
from jostle.cli.view import view
from jostle.cli.warmup import warmup

app = typer.Typer(
    name="jostle",
    help="Find which faces of moving triangle meshes touch, where and when. "
    "Start with [bold]jostle check A.stl B.stl[/bold]. The first run compiles; [bold]jostle warmup[/bold] compiles ahead of time.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"jostle {jostle.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Handle options before a command; the help text is the application's."""


for command in (check, methods, warmup, cache, demo, fit, sim, shot, view):  # in the order a newcomer meets them
    app.command()(command)
app.add_typer(lab, name="lab")
app.add_typer(bench, name="bench")
