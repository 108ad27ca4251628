"""`jostle cache`: where compiled kernels are kept, how many, and clearing them."""

from __future__ import annotations

from typing import Annotated

import typer

from jostle.errors import InputError, JostleError


def cache(
    info: Annotated[bool, typer.Option("--info", help="List the kernels by version (the default).")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all compiled kernels.")] = False,
) -> None:
    """Show or clear the cache of compiled kernels.

    Clearing is safe beside running processes: they compile again what they do not find.
    """
    from jostle.kernels.cache_state import user_directory

    if info and clear:
        raise InputError("jostle cache: --info and --clear are two commands; give one of them")
    try:
        folder = user_directory()
    except RuntimeError as error:  # there is no home
        raise JostleError(f"jostle cache: there is no folder for it ({error}); JOSTLE_CACHE_DIR names one") from None
    if clear:
        _clear(str(folder))
    else:
        _print(str(folder))


def _clear(folder: str) -> None:
    from jostle.cli.names import visible
    from jostle.kernels.cache_folder import clear_cache

    removed, left = clear_cache()
    print(f"removed {_kernels(removed)} from {visible(folder)}")
    if left:
        raise JostleError(
            f"{folder}: {_kernels(left)} could not be removed; close the programs that use them, or check its permissions"
        )


def _print(folder: str) -> None:
    from jostle.cli.names import visible
    from jostle.kernels.cache_folder import cache_directories

    found = cache_directories()
    count, size = sum(one.kernels for one in found), sum(one.bytes for one in found)
    print(f"{visible(folder)}: {_kernels(count)}, {_megabytes(size)}")
    for one in found:
        print(f"  {one.path.name}: {_kernels(one.kernels)}, {_megabytes(one.bytes)}, last used {_day(one.used)}")
        print(f"    {visible(one.versions) or 'versions unknown'}")


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count:,} kernels"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _day(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%d", time.localtime(seconds))
