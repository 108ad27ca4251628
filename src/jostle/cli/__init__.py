"""The command line, one file per command.

Exit status of every command: 2 for bad input and for output that cannot be written, 3 for a bug in jostle, 130 when
interrupted, 141 when the reader of the output has gone; 0 and 1 are answers.
(A Python traceback would exit with 1, which `jostle check` uses for "touching", so bugs are caught here.)
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback

NOBODY_READS = 141
# Errors about a path that the user gave: not bugs in jostle.
REFUSALS = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENOTDIR, errno.EROFS, errno.ENOSPC)


def main() -> None:
    """Run the command line."""
    from jostle.cli.names import visible
    from jostle.errors import JostleError

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark
    try:
        _run()
    except JostleError as error:
        print("jostle:", visible(str(error), keep="\n"), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("jostle: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        _drop_output()
        sys.exit(NOBODY_READS)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # no file: what was printed
            _drop_output()
            print(f"jostle: the output cannot be written ({error.strerror or error})", file=sys.stderr)
            sys.exit(2)
        if isinstance(error, OSError) and error.errno in REFUSALS:
            print(f"jostle: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
            sys.exit(2)
        traceback.print_exc()
        print("jostle: this is a bug in jostle; please report it with the lines above", file=sys.stderr)
        sys.exit(3)


def _run() -> None:
    from jostle.cli.app import app

    try:
        app()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer makes it status 1, which is an answer
            raise end.__context__ from None
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):  # typer makes it a silent 130
            raise KeyboardInterrupt from None
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where errors can still be reported
        raise


def _drop_output() -> None:
    """Discard pending output: Python would try to flush it at exit, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
