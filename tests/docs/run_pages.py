"""Run the Python of pages: python run_pages.py FOLDER PAGE …, one page after the other, each in a folder of its own.

The blocks of a page share one namespace, as for a reader who copies them from top to bottom. What differs from the page is
printed, and the exit status is 1.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


class Block(NamedTuple):
    """A block of Python and what it is said to print, or None."""

    line: int
    code: str
    expected: str | None
    roughly: bool  # numbers may differ: times, and how far a budget comes


def blocks_of(text: str) -> list[Block]:
    """Return the blocks to run.

    ```python is run, ```python no-run is not. ```text right after a block is what that block prints, `…` in it stands for
    anything; in ```text roughly numbers may differ.
    """
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        if fence["info"].strip() != "python":
            continue
        words = after["info"].split() if after and not text[fence.end() : after.start()].strip() else []
        expected = after["body"] if after and words[:1] == ["text"] else None
        found.append(Block(text.count("\n", 0, fence.start()) + 1, fence["body"], expected, "roughly" in words))
    return found


def agrees(expected: str, printed: str, roughly: bool) -> bool:
    """Return whether a text is what the page says, up to spaces at ends of lines."""
    texts = ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (expected, printed)]
    if roughly:
        texts = [re.sub(r"\s+", " ", NUMBER.sub("0", text)) for text in texts]
    pattern = ".*?".join(map(re.escape, texts[0].split("…")))
    return re.fullmatch(pattern, texts[1], re.DOTALL) is not None


def faults_of(page: Path) -> list[str]:
    """Run a page in the present folder and return what is wrong."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        try:
            code = compile("\n" * block.line + block.code, str(page), "exec")  # tracebacks name the line of the page
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        except BaseException:
            return [f"{page}:{block.line}: the block fails\n{traceback.format_exc()}"]  # those after it build on it
        if block.expected is not None and not agrees(block.expected, printed.getvalue(), block.roughly):
            return [f"{page}:{block.line}: the page says\n{block.expected}but the block prints\n{printed.getvalue()}"]
    return []


def main() -> int:
    """Run all pages; the first argument is a folder whose files each page finds beside it."""
    files, *pages = sys.argv[1:]
    warnings.simplefilter("error")
    faults = []
    for page in pages:
        with tempfile.TemporaryDirectory(prefix="jostle-page-") as folder:
            shutil.copytree(files, folder, dirs_exist_ok=True)
            os.chdir(folder)
            faults += faults_of(Path(page))
            os.chdir(files)
    sys.stderr.write("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
