"""`jostle bench threads`: what is measured and how it is shown; nothing here depends on a clock."""

from typing import ClassVar

import pytest
from typer.testing import CliRunner

from jostle.bench import threads
from jostle.bench.process import Gone
from jostle.bench.scenarios import Sizes
from jostle.cli.app import app
from jostle.errors import InputError, JostleError

TINY = Sizes(blob_a=500, blob_b=500, batch_blob=200, batch=10, small_meshes=(20, 40), frames=1)


@pytest.mark.parametrize("task", threads.TASKS)
def test_a_task_runs_with_one_worker_and_with_two(task):
    run = threads.TASKS[task](TINY)
    first = [run(1) for _ in range(4)]  # bodies deform with four frames
    assert [str(answer) for answer in first] == [str(run(2)) for _ in range(4)]


class Fake:
    """A process that answers twice as slowly beside another one, and with two workers needs 0.6 of its time alone."""

    bursts: ClassVar = []

    def __init__(self, make, arguments, name):
        self.name = arguments[0]

    def start(self):
        pass

    def end(self):
        self.bursts.append("end")

    def ask(self, message, timeout):
        workers, _ = message
        self.bursts.append(workers)
        if self.name == "dies":
            return Gone("crashed", "its process died of SIGSEGV")
        return 0.010 if workers == 1 else 0.006


def test_shares_are_of_two_processes_at_once(monkeypatch):
    monkeypatch.setattr(threads, "ServerProcess", Fake)
    Fake.bursts = []
    (found,) = threads.measure(3, tasks=["x"])
    assert found.share == pytest.approx(100 / 0.6 / 200)
    assert found.milliseconds == [10.0] * 3
    assert Fake.bursts == [1, 2, 1, 2] + [1, 1, 1, 2] * 3 + ["end", "end"]


def test_a_process_that_dies_is_named(monkeypatch):
    monkeypatch.setattr(threads, "ServerProcess", Fake)
    with pytest.raises(JostleError, match="dies: its process died of SIGSEGV"):
        threads.measure(1, tasks=["dies"])


def test_the_lowest_share_comes_first():
    found = [threads.Measured("good", [2.0, 4.0, 3.0], [0.9, 1.1, 1.0]), threads.Measured("bad", [5.0], [0.5])]
    rows = threads.as_markdown(found).splitlines()[2:]
    assert rows == ["| bad | 5.0 | 0.50 | 0.50–0.50 |", "| good | 3.0 | 1.00 | 0.90–1.10 |"]


def test_a_task_that_does_not_exist_is_refused_with_those_that_do():
    result = CliRunner().invoke(app, ["bench", "threads", "--task", "nothing like it"])
    assert isinstance(result.exception, InputError)
    assert "1,000 poses of solids" in str(result.exception)
