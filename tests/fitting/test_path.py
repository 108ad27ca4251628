"""Recorded paths: files that read back to the bit, bad ones named by their line."""

import os

import numpy as np
import pytest

from jostle import InputError
from jostle.fitting import RecordedPath, read_path, write_path
from jostle.fitting.path import quaternion_of
from jostle.geometry.pose import rotation_about, translation
from tests.tiny import random_pose

pytestmark = pytest.mark.small

HEADER = "time,x,y,z,qw,qx,qy,qz\n"


def test_a_path_comes_back_from_its_file(tmp_path):
    rng = np.random.default_rng(3)
    poses = [random_pose(rng, 1e3) for _ in range(50)]
    poses += [rotation_about(axis, angle) for axis in np.eye(3) for angle in (np.pi, -np.pi / 2, 1e-9, 0.0, np.pi - 1e-9)]
    times = np.cumsum(rng.uniform(0.01, 2.0, len(poses))) - 7.0
    write_path(RecordedPath(np.array(poses), times), tmp_path / "p.csv")
    again = read_path(tmp_path / "p.csv")
    assert again.times.tobytes() == times.tobytes()
    assert again.poses[:, :3, 3].tobytes() == np.array(poses)[:, :3, 3].tobytes()
    assert np.abs(again.poses - poses).max() < 1e-15 * 8
    assert not again.poses.flags.writeable
    # What was read once is written the same way for ever.
    write_path(again, tmp_path / "q.csv")
    first, second = (np.loadtxt(tmp_path / name, delimiter=",", skiprows=1) for name in ("p.csv", "q.csv"))
    assert np.abs(first - second).max() < 1e-15 * 8
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.csv", "q.csv"]


def test_quaternions_are_the_rotation():
    rng = np.random.default_rng(4)
    for _ in range(200):
        pose, v = random_pose(rng), rng.normal(size=3)
        w, *xyz = quaternion_of(pose)
        u = np.array(xyz)
        assert w >= 0.0
        assert w * w + u @ u == pytest.approx(1.0, abs=1e-15 * 4)
        turned = v + 2.0 * np.cross(u, np.cross(u, v) + w * v)
        assert turned == pytest.approx(pose[:3, :3] @ v, abs=1e-14)


def test_comments_empty_lines_spaces_and_a_byte_order_mark_are_fine(tmp_path):
    text = "\ufeff# a recording\n\n Time , x,y,z,qw,qx,qy,qz\n0,1,2,3,1,0,0,0\n\n# half way\n 0.5, 1,2,4, 0.7071, 0.7071,0,0\r\n"
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    path = read_path(tmp_path / "p.csv")
    assert path.times.tolist() == [0.0, 0.5]
    assert path.poses[0] == pytest.approx(translation((1, 2, 3)))
    assert path.poses[1] == pytest.approx(translation((1, 2, 4)) @ rotation_about((1, 0, 0), np.pi / 2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"p\.csv: the header of a path is time,x"),
        ("t,x,y\n1,2,3\n", r"p\.csv, line 1: the header"),
        ("# c\n\n1,0,0,0,1,0,0,0\n", r"p\.csv, line 3: the header"),
        (HEADER, "there are no poses"),
        (HEADER + "0,0,0,0,1,0,0,0\n1,0,0,0,1,0,0\n", r"line 3: there are 7 values; a pose has 8"),
        (HEADER + "0,0,0,0,1,0,0,0\n\n1,0,zero,0,1,0,0,0\n", r"line 4: y is 'zero'"),
        (HEADER + "0,0,0,nan,1,0,0,0\n", r"line 2: z is nan; it must be finite"),
        (HEADER + "0,0,0,0,1,0,0,0\n0,0,0,0,1,0,0,0\n", r"line 3: time is 0 after 0"),
        (HEADER + "0,0,0,0,1,1,0,0\n", r"line 2: the quaternion .* length 1\.414"),
        (HEADER + "0,0,0,0,0,0,0,0\n", r"line 2: the quaternion .* length 0"),
        (HEADER + "0,1e31,0,0,1,0,0,0\n", "beyond"),
    ],
)
def test_bad_files_are_named_with_the_line(tmp_path, text, words):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_path(tmp_path / "p.csv")


def test_files_that_are_no_text_or_not_there(tmp_path):
    (tmp_path / "p.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="not a text file"):
        read_path(tmp_path / "p.csv")
    with pytest.raises(InputError, match=r"none\.csv.*cannot be read"):
        read_path(tmp_path / "none.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    for target in (tmp_path / "pipe.csv", tmp_path):
        with pytest.raises(InputError, match="it is no regular file"):
            read_path(target)
    with pytest.raises(InputError, match="cannot be written"):
        write_path(RecordedPath(np.eye(4)[None]), tmp_path / "no" / "p.csv")


@pytest.mark.parametrize(
    ("poses", "times", "words"),
    [
        (np.eye(4), None, r"\(n, 4, 4\)"),
        (np.empty((0, 4, 4)), None, "at least one pose"),
        (np.ones((2, 4, 4)), None, "poses"),
        (np.tile(np.eye(4), (2, 1, 1)), [0.0], "times has shape"),
        (np.tile(np.eye(4), (2, 1, 1)), [1.0, 1.0], r"times\[1\]"),
        (np.tile(np.eye(4), (2, 1, 1)), [0.0, np.inf], r"times\[1\]"),
    ],
)
def test_what_is_no_path_is_refused(poses, times, words):
    with pytest.raises(InputError, match=words):
        RecordedPath(poses, times)
