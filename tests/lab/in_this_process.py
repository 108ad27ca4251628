"""Servers in the process of the tests: nothing is started, so that many small runs cost little."""

from types import SimpleNamespace
from unittest.mock import patch

from jostle.bench import worker
from jostle.lab import replay

# A process of tests holds so much that collecting it, before each replay, takes longer than most replays: 0.1 to 0.3 s.
NOTHING_TO_COLLECT = SimpleNamespace(collect=lambda: 0, disable=lambda: None, enable=lambda: None)


class InThisProcess:
    """The interface of `ServerProcess`, without a process."""

    def __init__(self, make_server, arguments, name, processors=(), daemon=True):
        self._make_server, self._arguments, self._server = make_server, arguments, None

    @property
    def running(self):
        return self._server is not None

    def start(self):
        self._server = self._make_server(*self._arguments)

    def ask(self, message, timeout):
        with patch.object(replay, "gc", NOTHING_TO_COLLECT), patch.object(worker, "gc", NOTHING_TO_COLLECT):
            return self._server(*message)

    def end(self):
        self._server = None
