"""The notebook whose kernel this process is: a line of its output that is rewritten. Needs no IPython."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from typing import Any

_numbers = itertools.count()
_is_forked = False  # a child of a kernel may not send to the notebook


def notebook_shell() -> Any:
    """Return IPython's shell if this process is the kernel of a notebook, else None."""
    ipython = sys.modules.get("IPython")
    if ipython is None or _is_forked:
        return None
    with contextlib.suppress(Exception):  # half imported, or another module of this name
        shell = ipython.get_ipython()
        return None if getattr(shell, "kernel", None) is None else shell
    return None


class NotebookLine:
    """A line of text in the output of a cell; later texts replace it, also after the cell has ended."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._name = f"jostle-{os.getpid()}-{next(_numbers)}"
        self._text: str | None = None

    def show(self, text: str) -> None:
        """Replace the text. It never raises."""
        if text != self._text:
            with contextlib.suppress(Exception):  # the notebook is gone: no reason to stop working
                known = {"transient": {"display_id": self._name}, "update": self._text is not None}
                self._shell.display_pub.publish({"text/plain": text}, {}, **known)
            self._text = text


def _forget_the_notebook() -> None:
    global _is_forked
    _is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_notebook)
