"""Kernels are compiled once, whatever a call finds."""

from __future__ import annotations

import pytest

from jostle import Voxmap, World, translation
from jostle.kernels.jit import JIT_DISABLED
from jostle.methods.voxmap.hits import keep_hits
from jostle.shapes.build import icosphere


@pytest.mark.skipif(JIT_DISABLED, reason="kernels are plain functions")
def test_a_look_up_without_hits_compiles_nothing_more():
    world = World(Voxmap(accuracy=0.05))
    world.add(icosphere(3))
    body = world.add(icosphere(3))
    found = []
    for shift in (0.3, 1.3):  # the second is beside the first, and their boxes overlap
        body.pose = translation((shift, shift, shift))
        found.append(len(world.detect().contacts) > 0)
    assert found == [True, False]
    assert len(keep_hits.entry.overloads) == 1
