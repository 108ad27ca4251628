"""Your own world in a browser: draggable bodies, touching faces in red, a motion that plays.

Needs pip install 'jostle[viewer]'.
"""

import sys
import time
import urllib.request

import numpy as np

import jostle
from jostle import rotation, translation
from jostle.scenes import Recorder
from jostle.shapes import build
from jostle.viewer.frames import RecordedFrames
from jostle.viewer.open_session import open_session
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import Subject

# A ball rolls through a horseshoe; the frames are recorded once and played as often as you like.
world = jostle.World()
world.add(build.horseshoe(), rotation((1, 0, 0), np.pi / 2), "horseshoe")
ball = world.add(build.icosphere(3, 0.35), name="ball")
recorder = Recorder(world)
for step in range(60):
    ball.pose = translation((0.0, 1.2 - 0.04 * step, 0.3)) @ rotation((1, 0, 0), 0.12 * step)
    world.detect()
    recorder.capture()
motion = recorder.motion("a ball rolls through a horseshoe")

session = Session(Subject("rolling", motion.title, motion.first(1), RecordedFrames(motion)), Settings(method="wide_tree"))
with open_session(session, play=True) as address:
    print(f"{len(motion)} frames of {motion.title!r}: open {address} in a browser")
    try:
        while sys.stdout.isatty():  # until Ctrl-C; without a terminal, one request will do
            time.sleep(1.0)
        print("the page answers:", urllib.request.urlopen(address, timeout=60).status)
    except KeyboardInterrupt:
        print("closed")
# The same without Python: jostle view motion.npz --play
