"""Compare a contestant's answer with the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.bench.case import VALUES, Case, Found

SAME_DISTANCE = 1e-9  # in the units of the meshes, which are about 2 large
SAME_TIME = 1e-4  # of the step, early; a late time is always wrong
LATE = 1e-9  # the reference itself is early by up to this


@dataclass(frozen=True)
class Check:
    """The comparison of one frame, or the sum of several; uncounted fields are -1."""

    found: float  # rows, body pairs, touching poses, or the distance
    expected: float
    missed: int
    extra: int
    error: float = 0.0  # of a distance or a time
    allowed: float = SAME_DISTANCE  # the largest error of a right answer
    loose: bool = False  # rows compared without their bodies, which the peer does not name

    @property
    def correct(self) -> bool:
        """Whether the answer is right."""
        return self.missed <= 0 and self.extra <= 0 and self.error <= self.allowed


def compare(case: Case, found: Found, truth: Found) -> Check:
    """Compare an answer with the reference."""
    if case.question in VALUES:
        return _compare_values(case, found, truth)
    if case.question in ("any", "within") or found.kind == "flags":
        true = truth.data.astype(bool) if truth.kind == "flags" else np.array([len(truth.data) > 0])
        reported = found.data.astype(bool)
        if reported.shape != true.shape:
            raise ValueError(f"{reported.shape} answers came for {true.shape} questions")
        return Check(int(reported.sum()), int(true.sum()), int((true & ~reported).sum()), int((reported & ~true).sum()))
    if case.question == "bodies":
        return _compare_rows(np.unique(np.sort(found.data[:, :2], axis=1), axis=0), np.unique(truth.data[:, :2], axis=0))
    if found.kind == "loose-rows":
        check = _compare_rows(np.sort(found.data, axis=1), np.sort(truth.data[:, 2:], axis=1))
        return replace(check, loose=True)
    return _compare_rows(_ordered(found.data), truth.data)


def _compare_values(case: Case, found: Found, truth: Found) -> Check:
    """Compare numbers; of several, the one with the largest error is reported."""
    if found.data.shape != truth.data.shape:
        raise ValueError(f"{found.data.shape} answers came for {truth.data.shape} questions")
    with np.errstate(invalid="ignore"):
        errors = np.where(found.data == truth.data, 0.0, np.abs(found.data - truth.data))  # inf - inf is nan
    errors[np.isnan(errors)] = np.inf
    worst = int(errors.argmax())
    answer, expected = float(found.data[worst]), float(truth.data[worst])
    allowed = SAME_DISTANCE if case.question != "time" else LATE if answer > expected else SAME_TIME
    return Check(answer, expected, -1, -1, float(errors[worst]), allowed)


def total(checks: list[Check]) -> Check | None:
    """Sum the checks of several frames; distances and times keep the worst."""
    if not checks:
        return None
    if checks[0].missed < 0:
        return max(checks, key=lambda check: check.error)
    columns = zip(*((check.found, check.expected, check.missed, check.extra) for check in checks), strict=True)
    found, expected, missed, extra = (sum(column) for column in columns)
    return Check(found, expected, int(missed), int(extra), loose=checks[0].loose)


def _ordered(rows: NDArray[Any]) -> NDArray[Any]:
    """Order rows as the reference does: lower body first, then lower face."""
    rows = np.array(rows, np.int64)
    swap = (rows[:, 0] > rows[:, 1]) | ((rows[:, 0] == rows[:, 1]) & (rows[:, 2] > rows[:, 3]))
    rows[swap] = rows[swap][:, [1, 0, 3, 2]]
    return rows


def _compare_rows(found: NDArray[Any], true: NDArray[Any]) -> Check:
    """Compare rows as multisets: a row reported twice is one extra."""
    both = np.vstack([found, true]).astype(np.int64)
    _, inverse = np.unique(both, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    size = int(inverse.max(initial=-1)) + 1
    difference = np.bincount(inverse[: len(found)], minlength=size) - np.bincount(inverse[len(found) :], minlength=size)
    return Check(len(found), len(true), int(-difference[difference < 0].sum()), int(difference[difference > 0].sum()))
