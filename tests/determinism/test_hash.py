"""One hash of the rows of fixed scenes: the same for every method, number of threads, process and machine.

Rows follow from the world vertices alone, and those from three products and three sums of float64, which every processor rounds
alike. The scenes use no function whose last bit depends on the system: coordinates are multiples of 2^-10, rotations come from
whole quaternions.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import jostle

HASH = "ca3e01b1e5584f5ef3be0e668c51d38838261a1aa594a5c2fcd31b0789121b44"


def soup(rng, count):
    corners = rng.integers(-512, 513, (count, 3, 3)) / 1024.0
    return jostle.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def pose_of_whole_numbers(rng):
    w, x, y, z = (int(n) for n in rng.integers(-4, 5, 4))
    w = w or 1
    n = w * w + x * x + y * y + z * z
    pose = np.eye(4)
    pose[:3, :3] = np.array(
        [
            [n - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), n - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), n - 2 * (x * x + y * y)],
        ]
    ) / float(n)
    pose[:3, 3] = rng.integers(-256, 257, 3) / 1024.0
    return pose


def hash_of_rows(method: str | None, workers: int | None) -> str:
    """Detect in scenes of rigid, deformed and self-colliding soups, and return the hash of all rows in order."""
    digest = hashlib.sha256()
    rng = np.random.default_rng(20)
    for scene in range(4):
        world = jostle.World(method, workers=workers)
        for k in range(5 if scene < 3 else 24):
            world.add(soup(rng, 60 if scene < 3 else 12), pose_of_whole_numbers(rng), deformable=k == 1)
        if scene == 1:
            world[1].vertices = world[1].vertices + rng.integers(-64, 65, (180, 3)) / 1024.0
        report = world.detect(itself=scene == 2, clearance=0.0)
        contacts = report.contacts
        assert len(contacts) > 500
        for column in (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind):
            digest.update(np.ascontiguousarray(column, dtype="<i4").tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize(("method", "workers"), [("brute_force", 1), ("wide_tree", 1), ("wide_tree", 2), ("wide_tree", 4)])
def test_the_rows_of_fixed_scenes_have_one_hash(method, workers):
    assert hash_of_rows(method, workers) == HASH


def test_another_process_with_another_hash_seed_has_the_same_hash():
    code = "from tests.determinism.test_hash import hash_of_rows; print(hash_of_rows(None, None))"
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == HASH
