"""The command line in this process: starting one costs half a second, and loading compiled code in it a few more."""

import sys
from typing import NamedTuple

import pytest

from jostle.cli import main


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def jostle(monkeypatch, capsys):
    """Run a command through `main`, with its messages and exit status."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["jostle", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Result(end.value.code or 0, captured.out, captured.err)

    return run
