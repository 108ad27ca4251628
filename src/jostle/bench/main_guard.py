"""Check that a script that starts processes has a main guard.

A spawned process imports the main script. Without `if __name__ == "__main__":` it would repeat the script's work; Python
stops that with a long message, printed by processes whose output nobody reads.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType

from jostle.errors import InputError


def check_main_guard() -> None:
    """Raise `InputError` if each spawned process would repeat the main script's work."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    frame: FrameType | None = sys._getframe()
    while frame is not None and not (frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"):
        frame = frame.f_back
    if file is None or frame is None or frame.f_code.co_filename != file:
        return  # interactive, or not the file that is imported again
    line = _line_without_guard(Path(file), frame.f_lineno)
    if line is not None:
        raise InputError(
            f"{Path(file).name}, line {line}: put what the script does under if __name__ == '__main__': "
            "(jostle starts processes there, and each of them imports the script)"
        )


def _line_without_guard(file: Path, line: int) -> int | None:
    """Return the first line of the running statement; None if it tests `__name__`."""
    try:
        statements = ast.parse(file.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return None
    for statement in statements:
        if statement.lineno <= line <= (statement.end_lineno or line):
            guards = isinstance(statement, ast.If) and any(
                isinstance(name, ast.Name) and name.id == "__name__" for name in ast.walk(statement.test)
            )
            return None if guards else statement.lineno
    return None
