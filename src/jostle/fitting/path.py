"""Recorded paths: the poses of one body, in a table for people and spreadsheets.

A file has the header `time,x,y,z,qw,qx,qy,qz` and one line per pose: an increasing time, the position of the mesh origin in the
world (the world's units), and the orientation as a unit quaternion, scalar part first. Empty lines and lines that begin with # are
skipped. Numbers are written so that they read back to the bit.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from os import PathLike

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.atomic_file import atomic_write
from jostle.errors import InputError
from jostle.geometry.quaternion import rotation_of_quaternion

HEADER = ("time", "x", "y", "z", "qw", "qx", "qy", "qz")
UNIT_TOLERANCE = 1e-3  # largest deviation of a quaternion's length from 1 in a file: enough for four written digits


@dataclass(frozen=True, eq=False)
class RecordedPath:
    """The path of one body.

    Parameters
    ----------
    poses : (n, 4, 4) float64
        Body to world, at least one; the body moves from each to the next along the shortest screw.
    times : (n,) float64, optional
        Increasing, in seconds or the recording's own unit; 0, 1, 2, … by default.
    body : str
        The body it is made for; "" for any.
    without : tuple of str
        Bodies that are removed before this path is taken.
    title : str
        A description for people.
    """

    poses: Floats
    times: Floats | None = None
    body: str = ""
    without: tuple[str, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        shape = cast.as_array(self.poses, "", "poses").shape
        if len(shape) != 3 or shape[1:] != (4, 4) or shape[0] == 0:
            raise InputError(f"poses has shape {shape}; a path is (n, 4, 4) with at least one pose")
        poses = cast.as_poses(self.poses, shape[0], lambda _: "path")
        times = np.arange(shape[0]) if self.times is None else cast.as_array(self.times, "", "times")
        times = times.astype(np.float64)
        if times.shape != shape[:1]:
            raise InputError(f"times has shape {times.shape}; it must be ({shape[0]},), one for each pose")
        wrong = ~(np.isfinite(times) & np.append(True, np.diff(times) > 0.0))
        if wrong.any():
            first = int(np.argmax(wrong))
            raise InputError(f"times[{first}] is {times[first]}; times are finite and grow from pose to pose")
        poses.flags.writeable = times.flags.writeable = False
        object.__setattr__(self, "poses", poses)
        object.__setattr__(self, "times", times)

    def __len__(self) -> int:
        return len(self.poses)

    def __repr__(self) -> str:
        of = f" of {self.body!r}" if self.body else ""
        return f"<RecordedPath{of}: {len(self)} poses>"


def read_path(file: str | PathLike[str]) -> RecordedPath:
    """Read a path; what cannot be used raises `InputError` with the file and the line."""
    source = cast.as_path(file, "file")
    try:
        if source.exists() and not source.is_file():  # a pipe or a device might never end
            raise InputError(f"{file}: the path cannot be read (it is no regular file)")
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"{file}: the path cannot be read ({reason})") from None
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    kept = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    if not kept or tuple(name.strip().lower() for name in kept[0][1].split(",")) != HEADER:
        line = f", line {kept[0][0]}" if kept else ""
        raise InputError(f"{file}{line}: the header of a path is {','.join(HEADER)}")
    rows: list[list[float]] = []
    for number, line in kept[1:]:
        rows.append(_numbers(line, f"{file}, line {number}"))
        if len(rows) > 1 and rows[-1][0] <= rows[-2][0]:
            raise InputError(f"{file}, line {number}: time is {rows[-1][0]:g} after {rows[-2][0]:g}; times grow from line to line")
    if not rows:
        raise InputError(f"{file}: there are no poses below the header")
    table = np.array(rows)
    poses = np.tile(np.eye(4), (len(table), 1, 1))
    for pose, row, (number, _) in zip(poses, table, kept[1:], strict=True):
        pose[:3, :3] = _rotation(row[4:], f"{file}, line {number}")
        pose[:3, 3] = row[1:4]
    try:
        return RecordedPath(poses, table[:, 0])
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def write_path(path: RecordedPath, file: str | PathLike[str]) -> None:
    """Write a path; it appears under its name only when it is whole."""
    assert path.times is not None
    rows = [
        [repr(float(number)) for number in (time, *pose[:3, 3], *quaternion_of(pose))]
        for time, pose in zip(path.times, path.poses, strict=True)
    ]
    write_table(file, HEADER, rows)


def write_table(file: str | PathLike[str], header: tuple[str, ...], rows: list[list[str]]) -> None:
    """Write lines of a table under a header, at once."""
    with atomic_write(cast.as_path(file, "file")) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def quaternion_of(pose: Floats) -> Floats:
    """(4,) the unit quaternion (w, x, y, z) of a pose's rotation, w >= 0."""
    r = pose[:3, :3]
    # Four times the squares of the components; starting from the largest keeps all digits.
    squares = np.array([1.0 + r[0, 0] + r[1, 1] + r[2, 2], *(1.0 + 2.0 * r[k, k] - np.trace(r) for k in range(3))])
    products = np.array(
        [
            [squares[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], squares[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], squares[2], r[1, 2] + r[2, 1]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[3]],
        ]
    )
    row = products[int(np.argmax(squares))]
    unit: Floats = row / np.linalg.norm(row)
    return -unit if unit[0] < 0.0 else unit


def _numbers(line: str, where: str) -> list[float]:
    words = [word.strip() for word in line.split(",")]
    if len(words) != len(HEADER):
        raise InputError(f"{where}: there are {len(words)} values; a pose has {len(HEADER)}: {','.join(HEADER)}")
    numbers = []
    for name, word in zip(HEADER, words, strict=True):
        try:
            number = float(word)
        except ValueError:
            raise InputError(f"{where}: {name} is {word!r}; it must be a number") from None
        if not np.isfinite(number):
            raise InputError(f"{where}: {name} is {word}; it must be finite")
        numbers.append(number)
    return numbers


def _rotation(quaternion: Floats, where: str) -> Floats:
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise InputError(f"{where}: the quaternion qw,qx,qy,qz has length {length:.6g}; it must be 1")
    return rotation_of_quaternion(*(quaternion / length))
