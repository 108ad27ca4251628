"""Whole worlds on the device: the pairs and rows that software finds, from several threads too."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jostle
from jostle.methods.image_space.gpu import device as finding
from jostle.shapes import build
from tests.methods.image_space.gpu.pixel_truth import random_pose


def crowd(renderer, test="interval", seed=10):
    rng = np.random.default_rng(seed)
    world = jostle.World(method=jostle.ImageSpace(renderer=renderer, test=test, resolution=24))
    meshes = [build.cone(face_count=60), build.torus(), build.icosphere(2, 0.6)]
    for k in range(9):
        world.add(meshes[k % 3], pose=random_pose(rng, rng.uniform(-0.9, 0.9, 3)))
    return world


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_a_world_on_the_device_reports_what_software_reports(device, test):
    drawn, software = crowd("wgpu", test), crowd("software", test)
    rng = np.random.default_rng(11)
    for _ in range(3):
        poses = np.array([random_pose(rng, rng.uniform(-0.9, 0.9, 3)) for _ in range(9)])
        drawn.set_poses(poses)
        software.set_poses(poses)
        a, b = drawn.detect(), software.detect()
        assert 5 < len(b.pairs) < 36
        np.testing.assert_array_equal(a.pairs.body_a, b.pairs.body_a)
        np.testing.assert_array_equal(a.pairs.body_b, b.pairs.body_b)
        np.testing.assert_array_equal(a.contacts.point, b.contacts.point)


def test_worlds_in_several_threads_share_the_device(device):
    alone = [crowd("wgpu", seed=seed).detect().pairs for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda seed: crowd("wgpu", seed=seed).detect().pairs, range(6)))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.body_a, b.body_a)
        np.testing.assert_array_equal(a.body_b, b.body_b)


def test_auto_takes_software_where_the_device_is_a_program_on_the_processor(device, monkeypatch):
    monkeypatch.setattr(device, "is_real", False)
    assert len(crowd("auto").detect().pairs) == len(crowd("software").detect().pairs)


def test_a_world_without_a_device_says_what_to_install(monkeypatch):
    monkeypatch.setattr(finding, "_found", {})
    monkeypatch.setattr(finding, "_adapters", list)
    with pytest.raises(jostle.InputError, match="mesa-vulkan-drivers"):
        crowd("wgpu").detect()
    assert finding._found
