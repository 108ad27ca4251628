"""The command line: one file per command; `jostle --help` lists them.

Exit status of every command: 2 for bad input, 3 for a fault of jostle itself, 130 when interrupted; 0 and 1 are answers.
(A Python traceback would exit with 1, which `jostle check` uses for "touching": so faults are caught here.)
"""

from __future__ import annotations

import sys
import traceback


def main() -> None:
    """Run the command line."""
    from jostle.cli.app import app
    from jostle.errors import JostleError

    try:
        app()
    except JostleError as error:
        print(f"jostle: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("jostle: interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception:
        traceback.print_exc()
        print("jostle: this is a fault in jostle; please report it with the lines above", file=sys.stderr)
        sys.exit(3)
