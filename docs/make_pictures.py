"""Make the pictures of the gallery again: run every command of docs/gallery.md as it stands there (`make pictures`).

python docs/make_pictures.py            # all of them
python docs/make_pictures.py voxmap     # those whose command has this word
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent


def commands() -> list[list[str]]:
    """Return the commands of the page, a backslash at the end of a line joining it with the next."""
    blocks = re.findall(r"```\n(jostle .*?)```", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    return [shlex.split(line)[1:] for line in lines]


def main() -> None:
    """Run those that were asked for, in one process: most of the time of each would go into loading compiled code."""
    from jostle.cli.app import app

    os.chdir(DOCS.parent)
    for words in commands():
        if all(any(wanted in word for word in words) for wanted in sys.argv[1:]):
            print("jostle", shlex.join(words), flush=True)
            app(words, standalone_mode=False)


if __name__ == "__main__":
    main()
