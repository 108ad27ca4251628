"""Ctrl-C during long work is heard soon and leaves the world usable."""

import subprocess
import sys

import pytest

CODE = """
import os, signal, threading, time
import numpy as np
import jostle
from jostle.shapes import build

world = jostle.World({method})
world.add(build.box())
world.add(build.box())
world.detect()                                   # compile first
a = world.add(build.blob(60000, seed=1))
b = world.add(build.blob(60000, seed=2))
sent = []

def interrupt():
    time.sleep(1.0)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    world.detect()
    print("finished")
except KeyboardInterrupt:
    print("heard after", time.perf_counter() - sent[0])
world.remove(a)
world.remove(b)
assert world.detect().touching
print("usable")
"""


@pytest.mark.parametrize(
    "method", ["'brute_force'", "'edge_face'", "jostle.FaceOctree(level=0)", "jostle.OctreeUpdate(level=0, body_level=0)"]
)
def test_ctrl_c_during_a_long_detect_is_heard_and_the_world_stays_usable(method):
    code = CODE.replace("{method}", method)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    heard, usable = result.stdout.splitlines()
    # Seconds of patience, not a measurement: without slices the work would take far longer than this.
    assert heard.startswith("heard after")
    assert float(heard.split()[-1]) < 2.0
    assert usable == "usable"
