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
from jostle.interface.traits import EXACT, Answer
from jostle.registry import METHODS
from tests.methods.wide_tree.turned import Turned

HASH = "ca3e01b1e5584f5ef3be0e668c51d38838261a1aa594a5c2fcd31b0789121b44"
RIGID_ALONE = {"octree_update"}
NOT_ITSELF = {"face_octree", "edge_face", "octree_update"}
METHODS_AND_WORKERS = [
    *[("brute_force", 1), ("plain", 1), ("edge_face", 1), ("octree_update", 1), ("bounding_tree", 1)],
    *[(method, workers) for method in ("wide_tree", "face_octree") for workers in (1, 2, 4)],
    *[(Turned(), workers) for workers in (1, 2)],
]


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


def world_of(method, workers, meshes, poses, moved):
    """A world in which body 1 can deform, its vertices moved if they are given; rigid in that shape where the method needs it."""
    world = jostle.World(method, workers=workers)
    for k, (mesh, pose) in enumerate(zip(meshes, poses, strict=True)):
        if method in RIGID_ALONE and k == 1:
            with pytest.raises(jostle.Unsupported, match="rigid"):
                world.add(mesh, pose, deformable=True)
            world.add(mesh if moved is None else jostle.Mesh(moved, mesh.faces), pose)
        else:
            world.add(mesh, pose, deformable=k == 1)
    if moved is not None and method not in RIGID_ALONE:
        world[1].vertices = moved
    return world


def rows_of(world, **options):
    """(n,5) the rows in their order: bodies, faces, kind."""
    contacts = world.detect(clearance=0.0, **options).contacts
    return np.stack([contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind], axis=1).astype("<i4")


def with_rows_of_single_bodies(rows, truth):
    """The rows of all pairs of bodies, and of the truth those of faces of one body, in order."""
    everything = np.concatenate([rows, truth[truth[:, 0] == truth[:, 1]]])
    return everything[np.lexsort(everything[:, 3::-1].T)]


def hash_of_rows(method: str | None, workers: int | None) -> str:
    """Detect in scenes of rigid, deformed and self-colliding soups, and return the hash of all rows in order.

    Methods that do not look for contacts of a body with itself get those rows from brute_force, and only those: whatever a method
    answers is its own, and one hash stands for all of them.
    """
    digest = hashlib.sha256()
    rng = np.random.default_rng(20)
    for scene in range(4):
        meshes, poses = [], []
        for _ in range(5 if scene < 3 else 24):
            meshes.append(soup(rng, 60 if scene < 3 else 12))
            poses.append(pose_of_whole_numbers(rng))
        moved = meshes[1].vertices + rng.integers(-64, 65, (180, 3)) / 1024.0 if scene == 1 else None
        world = world_of(method, workers, meshes, poses, moved)
        if scene == 2 and method in NOT_ITSELF:
            with pytest.raises(jostle.Unsupported, match="self"):
                world.detect(itself=True)
            rows = rows_of(world)
            assert (rows[:, 0] < rows[:, 1]).all()
            rows = with_rows_of_single_bodies(rows, rows_of(world_of("brute_force", 1, meshes, poses, moved), itself=True))
        else:
            rows = rows_of(world, itself=scene == 2)
        assert len(rows) > 500
        for column in rows.T:
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def test_every_exact_method_is_among_them():
    exact = {name for name, made in METHODS.items() if made().traits.answers.get(Answer.FACES) == EXACT}
    assert exact <= {method for method, _ in METHODS_AND_WORKERS}


@pytest.mark.parametrize(("method", "workers"), METHODS_AND_WORKERS)
def test_the_rows_of_fixed_scenes_have_one_hash(method, workers):
    assert hash_of_rows(method, workers) == HASH


def test_another_process_with_another_hash_seed_has_the_same_hash():
    code = "from tests.determinism.test_hash import hash_of_rows; print(hash_of_rows(None, None))"
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == HASH
