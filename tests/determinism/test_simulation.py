"""A simulation of 1,000 frames has one hash over all poses, whatever the number of threads, and again in another process.

Runs are compared with each other: the scene has sines in its poses, whose last bit depends on the system. Forty bodies are too few
to be dealt out to threads, so what is worth a portion is set low, and portions are counted.
"""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from jostle import World
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.pool import map_chunks, share_out
from jostle.methods.voxmap import detector as voxmap_detector
from jostle.methods.wide_tree import parallel as wide_tree_threads
from jostle.registry import METHODS
from jostle.shapes import build
from jostle.sim import Simulation

FRAMES, BODIES, CUBE = 1000, 40, 10.0
SETTINGS = {"wide_tree": {}, "voxmap": {"across": 16}}
dealt = 0  # calls that dealt out more than one portion


def counted(function, count, chunk, workers=1):
    global dealt
    dealt += workers != 1 and count > chunk
    return map_chunks(function, count, chunk, workers)


def shared(tasks, make_share, workers=1):
    global dealt
    dealt += workers != 1 and len(tasks) > 1
    share_out(tasks, make_share, workers)


@functools.cache
def hash_of_poses(method: str, response: str, workers: int) -> tuple[str, int]:
    """Simulate boxes and icosahedra, and return the hash of the poses of all frames, and how many pairs touched."""
    rng = np.random.default_rng(7)
    meshes = [build.box((1.0, 0.7, 0.5)), build.icosahedron(0.5)]
    world = World(METHODS[method](**SETTINGS[method]), workers=workers)
    for k in range(BODIES):
        pose = translation(rng.uniform(-4.0, 4.0, 3)) @ rotation_about(rng.normal(size=3), rng.uniform(0.0, 6.0))
        world.add(meshes[k % 2], pose, f"body {k}")
    simulation = Simulation(
        world,
        velocity=2.0 * rng.normal(size=(BODIES, 3)),
        spin=2.0 * rng.normal(size=(BODIES, 3)),
        cube=CUBE,
        response=response,
        friction=0.2 if response == "impulse" else 0.0,
        restitution=0.9 if response == "impulse" else 1.0,
        dt=0.02,
    )
    content, pairs = hashlib.sha256(), 0
    wide, voxels = (functools.partial(patch.multiple, module) for module in (wide_tree_threads, voxmap_detector))
    with wide(ALONE=1, FEW=0, CHUNK=4, share_out=shared), voxels(PIECES_APART=1, MOST_CHUNKS=4, map_chunks=counted):
        for _ in range(FRAMES):
            pairs += len(simulation.step().pairs)
            content.update(world.poses.tobytes())
    return content.hexdigest(), pairs


@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize("response", ["exchange", "impulse"])
def test_threads_change_nothing(method, response):
    first, pairs = hash_of_poses(method, response, 1)
    assert pairs > 100
    before = dealt
    assert hash_of_poses(method, response, 2) == (first, pairs)
    assert dealt - before > 100


def test_another_process_gets_the_same_hash():
    code = "from tests.determinism.test_simulation import hash_of_poses; print(hash_of_poses('wide_tree', 'impulse', 2)[0])"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True, capture_output=True, text=True
    ).stdout
    assert printed.split() == [hash_of_poses("wide_tree", "impulse", 1)[0]]
