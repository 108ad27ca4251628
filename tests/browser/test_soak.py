"""Half a minute of random dragging (JOSTLE_SOAK_SECONDS makes it longer): no exception, and memory does not grow."""

import subprocess
import sys

import pytest


@pytest.mark.long
def test_random_dragging_raises_nothing_and_memory_stays(browser):  # the browser: skipped where there is none
    done = subprocess.run([sys.executable, "-m", "tests.browser.soak"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
