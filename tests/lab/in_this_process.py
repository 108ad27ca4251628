"""Methods that replay in the very process of the tests: nothing is started, so that many small runs cost little."""

from jostle.lab.replay import Replayer


class InThisProcess:
    """What the laboratory asks of a process, without one."""

    def __init__(self, make_server, arguments, name, processors=()):
        assert make_server is Replayer
        self._arguments, self._server = arguments, None

    @property
    def running(self):
        return self._server is not None

    def start(self):
        self._server = Replayer(*self._arguments)

    def ask(self, message, timeout):
        return self._server(*message)

    def end(self):
        self._server = None
