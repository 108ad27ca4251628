"""`jostle warmup`: compile all kernels ahead of time, showing progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.console import progress_shown
from jostle.errors import JostleError

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.kernels.warmup import Outcome

MODULES = ("jostle.cli.warmups", "jostle.cli.rare_warmups")
MOST_FAILURES = 3  # in a message: with JOSTLE_COMPILE=never, and without Numba, every entry fails for the same reason


def warmup(
    processes: Annotated[int, typer.Option(min=1, help="Number of parallel compile processes.")] = 2,
) -> None:
    """Compile all kernels ahead of time: some minutes, once per version of jostle."""
    from rich.console import Console

    from jostle.kernels.cache_state import user_directory

    console = Console()
    seconds = compile_with_progress(console, processes)
    console.print(f"ready in {seconds:.1f} s; compiled code is cached in {user_directory()}", highlight=False)


def compile_with_progress(console: Console, processes: int = 2, entries: Sequence[str] | None = None) -> float:
    """Compile uncached kernels of all or some entries; return the seconds it took."""
    import importlib
    import time

    from jostle.kernels.compile_setting import check_numba, may_compile
    from jostle.kernels.jit import JIT_DISABLED
    from jostle.kernels.warmup import WARMUPS, warm_up

    may_compile()  # a setting that means nothing is refused once, not by every process
    if not JIT_DISABLED:
        check_numba("compiling")
    begin = time.perf_counter()
    with progress_shown(console, "compiling (first use only)") as show:
        for module in MODULES:
            importlib.import_module(module)
        show("", 0, len(WARMUPS if entries is None else entries))

        def progress(done: int, total: int, name: str, compiled: int) -> None:
            show(f"{name}, {compiled} kernels" if name else f"{compiled} kernels", done, total)

        outcomes = warm_up(MODULES, entries, processes=processes, progress=progress)
        assert len(outcomes) == len(WARMUPS if entries is None else entries)
    check_outcomes(outcomes)
    return time.perf_counter() - begin


def check_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Raise if an entry failed, with the first reasons."""
    failed = [f"{name}: {error}" for name, _, error in outcomes if error is not None]
    if failed:
        more = f"\nand {len(failed) - MOST_FAILURES} more" if len(failed) > MOST_FAILURES else ""
        raise JostleError("some kernels did not compile:\n" + "\n".join(failed[:MOST_FAILURES]) + more)
