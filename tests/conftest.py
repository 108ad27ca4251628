"""Setup of all tests: Ctrl-C in background runs, and runs of a share of the cases.

A run that was started in the background ignores Ctrl-C, and so would every process that the tests start. `--one-in N` runs the
first case of every test and every N-th of its others: each test takes part, and a pass that looks for one kind of fault in all
kernels (indices out of bounds) need not repeat every case of the run before it. The processes of a run share what is proved
(`tests/oracle/kept_proofs.py`).
"""

import os
import shutil
import signal
import tempfile
from collections import Counter

from tests.oracle.kept_proofs import FOLDER

os.environ["JOSTLE_QUIET"] = "1"  # what a command writes to stderr must not depend on what is compiled already

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--one-in", type=int, default=1, metavar="N", help="run one in N cases of each test, the first among them")


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # the process that starts the others
        os.environ[FOLDER] = config.folder_of_proofs = tempfile.mkdtemp(prefix="jostle-proofs-")


def pytest_unconfigure(config):
    folder = getattr(config, "folder_of_proofs", None)
    if folder is not None:
        os.environ.pop(FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    every, seen = config.getoption("--one-in"), Counter()
    if every == 1:
        return
    kept, left_out = [], []
    for item in items:
        test = item.nodeid.partition("[")[0]
        (left_out if seen[test] % every else kept).append(item)
        seen[test] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
