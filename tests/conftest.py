"""What holds for all tests: Ctrl-C in background runs, runs of a share of the cases, and recorded durations.

A run that was started in the background ignores Ctrl-C, and so would every process that the tests start. `--one-in N` runs the
first case of every test and every N-th of its others: each test takes part, and a pass that looks for one kind of fault in all
kernels (indices out of bounds) need not repeat every case of the run before it. `--quick` runs the first case of every test that
`tests/durations.txt` does not list as slow; `--record-durations` writes that file. The processes of a run share proofs
(`tests/oracle/kept_proofs.py`).
"""

import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from jostle.world import gears
from tests.oracle.kept_proofs import FOLDER

os.environ["JOSTLE_QUIET"] = "1"  # what a command writes to stderr must not depend on what is compiled already

DURATIONS = Path(__file__).with_name("durations.txt")
SLOW = 0.25  # seconds; tests that take longer are listed, and no part of a quick run

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--one-in", type=int, default=1, metavar="N", help="run one in N cases of each test, the first among them")
    parser.addoption("--quick", action="store_true", help=f"run the first case of each test that is not in {DURATIONS.name}")
    parser.addoption("--record-durations", action="store_true", help=f"write the tests above {SLOW} s to {DURATIONS.name}")


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # the process that starts the others
        os.environ[FOLDER] = config.folder_of_proofs = tempfile.mkdtemp(prefix="jostle-proofs-")
        if config.getoption("--record-durations"):
            config.pluginmanager.register(RecordedDurations())


def pytest_unconfigure(config):
    folder = getattr(config, "folder_of_proofs", None)
    if folder is not None:
        os.environ.pop(FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def high_gear():
    """Let worlds without a named method begin on `wide_tree`, so that what a test sees does not depend on those before it."""
    gears.LEDGER.spent = gears.COMPILING


def function_of(nodeid):
    """Return the name of a test without its parameters."""
    return nodeid.partition("[")[0]


def pytest_collection_modifyitems(config, items):
    every, quick, seen = config.getoption("--one-in"), config.getoption("--quick"), Counter()
    if every == 1 and not quick:
        return
    slow = {line.split()[1] for line in DURATIONS.read_text().splitlines()} if quick else ()
    kept, left_out = [], []
    for item in items:
        test = function_of(item.nodeid)
        runs = seen[test] == 0 and test not in slow if quick else seen[test] % every == 0
        (kept if runs else left_out).append(item)
        seen[test] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


class RecordedDurations:
    """The longest case of each test, with its set-up."""

    def __init__(self):
        self.cases = Counter()

    def pytest_runtest_logreport(self, report):
        self.cases[report.nodeid] += report.duration

    def pytest_sessionfinish(self):
        longest = Counter()
        for nodeid, seconds in self.cases.items():
            longest[function_of(nodeid)] = max(longest[function_of(nodeid)], seconds)
        slow = sorted((-seconds, test) for test, seconds in longest.items() if seconds > SLOW)
        DURATIONS.write_text("".join(f"{-seconds:7.2f} {test}\n" for seconds, test in slow))
