"""`jostle sim SCENE`: simulate colliding rigid bodies or squeezed soft ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.console import open_console, progress_bar
from jostle.cli.names import on_terminal
from jostle.cli.targets import check_target
from jostle.errors import InputError
from jostle.registry import method_without_options, name_of

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.interface.method import Method
    from jostle.motion.record import Recorder
    from jostle.report.report import Report
    from jostle.scenes import Scene
    from jostle.sim import Run, SceneSimulation, Squeeze
    from jostle.sim.run import Steps

Gravity = tuple[float, float, float]

SQUEEZE_TITLE = "two soft bodies between two plates"
SQUEEZE_OPTIONS = ("frames", "method", "dt", "friction", "seed", "workers", "record")  # the others are for rigid bodies


def sim(
    context: typer.Context,
    scene: Annotated[
        str,
        typer.Argument(
            help="A built-in scene, optionally with parameters: 'spheres(count=40)'; a GLB or glTF file; a world saved as .npz; "
            "squeeze, or 'squeeze(faces=5000, press=0.35, finer=1)': two soft bodies between two plates.",
            show_default=False,
        ),
    ],
    frames: Annotated[int | None, typer.Option(min=1, help="Number of steps; by default the scene's.", show_default=False)] = None,
    method: Annotated[
        str | None, typer.Option(help="Detection method, optionally with settings: 'voxmap(accuracy=1)'.", show_default=False)
    ] = None,
    response: Annotated[
        str, typer.Option(help="exchange (of velocities, as in the paper) or impulse (at the contact points).")
    ] = "exchange",
    integrator: Annotated[str, typer.Option(help="semi_implicit, or explicit (the paper's; energy may grow).")] = "semi_implicit",
    dt: Annotated[
        float | None,
        typer.Option(
            help="Seconds per step; 1 by default, 1/60 for squeeze. Scenes give velocities per step, whatever its length.",
            show_default=False,
        ),
    ] = None,
    gravity: Annotated[Gravity | None, typer.Option(help="X Y Z, in length units per second squared.", show_default=False)] = None,
    restitution: Annotated[float, typer.Option(help="Restitution of bodies and walls, 0 … 1; with impulse only.")] = 1.0,
    friction: Annotated[float, typer.Option(help="Friction coefficient between bodies; with impulse or squeeze only.")] = 0.0,
    density: Annotated[float | None, typer.Option(help="Density of all bodies.", show_default=False)] = None,
    mass: Annotated[float | None, typer.Option(help="Mass of each body.", show_default=False)] = None,
    cube: Annotated[
        float | None,
        typer.Option(
            help="Edge of the cube around the origin whose walls reflect, 0 for no walls; by default the scene's.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed of the scene.", show_default=False)] = None,
    workers: Annotated[int, typer.Option(min=1, help="Detection threads; the motion does not depend on their number.")] = 1,
    record: Annotated[
        Path | None, typer.Option(help="Write the motion (.npz), for jostle lab run --motion.", show_default=False)
    ] = None,
) -> None:
    """Simulate bodies that move, collide with walls and each other, and respond.

    Prints frames, contacts, energy at start and end, and detection times. Ctrl-C ends the run and keeps the frames so far.
    Exit status: 0 done, 2 bad input, 130 interrupted.
    """
    chosen = method_without_options(method, "--method", "a simulation tests single instants")
    check_target("--record", record, (scene,))
    console = open_console()
    if scene.partition("(")[0].strip() == "squeeze" and not Path(scene).is_file():
        refused = [name for name in context.params if name not in (*SQUEEZE_OPTIONS, "scene") and _given(context, name)]
        if refused:
            raise InputError(f"--{refused[0]} is for rigid bodies; squeeze takes --{', --'.join(SQUEEZE_OPTIONS)}")
        squeeze = _squeeze(scene, seed, chosen, {"friction": friction, "workers": workers} | ({} if dt is None else {"dt": dt}))
        _introduce_squeeze(console, squeeze)
        _simulate(console, squeeze, squeeze.frames if frames is None else frames, record, SQUEEZE_TITLE, pulled=False)
        return
    from jostle.scenes.named_bodies import read_scene
    from jostle.sim import SceneSimulation

    made = read_scene(scene, seed, "; and squeeze")
    settings: dict[str, Any] = {} if cube is None else {"cube": cube if cube != 0.0 else None}
    settings |= {"gravity": (0.0, 0.0, 0.0) if gravity is None else gravity, "dt": 1.0 if dt is None else dt}
    settings |= {"restitution": restitution, "friction": friction, "density": density, "mass": mass}
    steps = SceneSimulation(made, chosen, workers=workers, response=response, integrator=integrator, **settings)
    _introduce(console, made, steps)
    pulled = bool(gravity is not None and any(gravity))
    _simulate(console, steps, made.frames if frames is None else frames, record, f"{made.title}, simulated with {response}", pulled)


def _simulate(
    console: Console, steps: SceneSimulation | Squeeze, frames: int, record: Path | None, title: str, pulled: bool
) -> None:
    """Run, record and sum up."""
    from jostle.motion.record import Recorder

    recorder = None if record is None else Recorder(steps.world)
    done = _run(console, steps, frames, recorder)
    if record is not None and recorder is not None and len(recorder):
        recorder.motion(title).save(record)
        console.print(f"{len(recorder)} frames written to {on_terminal(record)}", highlight=False)
    _print(console, done, pulled)
    if not done.complete:
        raise typer.Exit(130)


def _given(context: typer.Context, name: str) -> bool:
    """Return whether an option is on the command line rather than a default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _squeeze(text: str, seed: int | None, method: Method | None, settings: dict[str, Any]) -> Squeeze:
    """Return the squeeze described by a text with parameters."""
    from jostle.interface.query import Budget
    from jostle.settings_text import parse_settings, split_name
    from jostle.sim import SoftMaterial, Squeeze

    known = ["faces", "roughness", "press", "cells", "finer", "sticky", "substeps", "old_after", "merge_after", "budget"]
    written = parse_settings(split_name(text, "scene")[1], "scene squeeze", known, f"it has {', '.join(known)}")
    if written.get("budget") is not None:
        written["budget"] = Budget(seconds=written["budget"])
    material = SoftMaterial(**{name: written.pop(name) for name in ("cells", "finer") if name in written})
    return Squeeze(lower=material, upper=material, method=method, seed=0 if seed is None else seed, **(settings | written))


def _introduce_squeeze(console: Console, squeeze: Squeeze) -> None:
    world, simulation = squeeze.world, squeeze.simulation
    faces = sum(len(body.mesh.faces) for body in world)
    console.print(f"{SQUEEZE_TITLE}: {len(world)} bodies, {faces:,} faces", highlight=False)
    how = f"{name_of(world.method)}, back projection, {simulation.dt:.4g} s a step in {simulation.substeps} substeps"
    cells = simulation.material("lower")
    lattice = f"{cells.cells} cells across" + (", halved where a collision is probable" if cells.finer else "")
    console.print(f"{how}, {lattice}", highlight=False)


def _introduce(console: Console, scene: Scene, steps: SceneSimulation) -> None:
    simulation = steps.simulation
    faces = sum(len(body.mesh.faces) for body in scene.bodies)
    walls = "no walls" if simulation.cube is None else f"cube of {simulation.cube:.6g}"
    console.print(f"{on_terminal(scene.title)}: {len(scene.bodies)} bodies, {faces:,} faces, {walls}", highlight=False)
    how = f"{name_of(steps.world.method)}, {simulation.response}, {simulation.integrator}, {simulation.dt:g} s a step"
    console.print(how, highlight=False)


def _run(console: Console, steps: Steps, frames: int, recorder: Recorder | None) -> Run:
    """Run with a progress bar; the first step compiles or loads the code."""
    from jostle.sim import run

    with progress_bar(console, frames) as show:

        def progress(frame: int, report: Report) -> None:
            show(frame, f"frame {frame} of {frames}, {len(report.pairs)} pairs touch")

        return run(steps, frames, recorder=recorder, progress=progress)


def _print(console: Console, done: Run, pulled: bool) -> None:
    import numpy as np

    if not done.complete:
        console.print(f"[yellow]interrupted[/yellow] after {done.frames} frames; the numbers below are for these", highlight=False)
    rows = f", {done.contacts:,} contact rows" if done.contacts else ""
    console.print(f"{done.frames:,} frames, {done.pairs:,} touching pairs{rows} in all", highlight=False)
    start, end = done.energy_at_start, done.energy_at_end
    # A percentage means nothing with gravity, where energy has no natural zero, nor for a rounding error.
    change = f" ({100.0 * (end / start - 1.0):+.3g} %)" if start > 1e-12 * end and not pulled else ""
    console.print(f"energy {start:.6g} at the start, {end:.6g} at the end{change}", highlight=False)
    if done.frames > 1:  # the first step loads the code
        detect, step = 1e3 * np.array(done.detect_seconds[1:]), 1e3 * np.array(done.step_seconds[1:])
        console.print(
            f"detection median {np.median(detect):.3f} ms, worst {detect.max():.3f} ms; step median {np.median(step):.3f} ms, "
            f"of which detection {100.0 * np.median(detect / step):.0f} % (without the first)",
            highlight=False,
            style="dim",
        )
