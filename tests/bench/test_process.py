"""A server in a process of its own: answers, deaths, silence and Ctrl-C."""

import os
import signal
import sys
import time

import pytest

from jostle.bench.process import Gone, ServerProcess


class Server:
    """Does what it is told."""

    def __init__(self, greeting):
        self._greeting = greeting

    def __call__(self, verb, *arguments):
        if verb == "greet":
            print("spoken aloud")  # noqa: T201
            return f"{self._greeting}, {arguments[0]}", os.environ.get("OMP_NUM_THREADS")
        if verb == "sleep":
            time.sleep(arguments[0])
        if verb == "exit":
            sys.stderr.write("the last words\n")
            os._exit(5)
        return None


@pytest.fixture
def process():
    made = ServerProcess(Server, ("hello",), "a server")
    yield made
    made.end()


def test_it_answers_dies_with_its_last_words_and_starts_again(process, capfd, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert process.ask(("greet", "you"), 1.0) == Gone("crashed", "its process is gone")
    process.start()
    assert process.ask(("greet", "you"), 60.0) == ("hello, you", "1")
    assert "OMP_NUM_THREADS" not in os.environ
    assert process.ask(("exit",), 60.0) == Gone("crashed", "its process ended with code 5: the last words")
    assert not process.running
    process.start()
    assert process.ask(("greet", "again"), 60.0)[0] == "hello, again"
    assert "spoken" not in "".join(capfd.readouterr())


def test_who_does_not_answer_in_time_is_ended(process):
    process.start()
    assert process.ask(("greet", "you"), 60.0)
    begin = time.monotonic()
    assert process.ask(("sleep", 60.0), 0.3) == Gone("timeout", "no answer within 0.3 s")
    assert time.monotonic() - begin < 30.0
    assert not process.running


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are held back on POSIX systems only")
def test_ctrl_c_is_for_the_owner_alone_even_while_the_process_starts(process):
    process.start()
    for _ in range(20):
        os.kill(process._process.pid, signal.SIGINT)
        time.sleep(0.01)
    assert process.ask(("greet", "you"), 60.0)[0] == "hello, you"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
