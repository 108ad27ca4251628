"""Snapshot: one detection as a page shows it, in plain arrays by body number."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from jostle._types import Floats, Ints
from jostle.interface.overlay import Overlay
from jostle.report.report import Kind, Report

MOST_ARROWS = 2000  # contacts drawn as points and arrows; the panel says when there are more


@dataclass(frozen=True, eq=False)
class Found:
    """The findings of a detection, by body.

    Parameters
    ----------
    touching, near : dict of body number to face numbers
        Faces that touch, and faces only within the clearance.
    pairs : frozenset of (int, int)
        Pairs of bodies that touch.
    near_pairs, face_pairs : int
        Number of pairs that are only near, and of the report's rows.
    points, normals : (k, 3)
        Contacts, if requested; normals are NaN where a method reports none.
    complete : bool
        False if a budget ended the search.
    """

    touching: dict[int, Ints] = field(default_factory=dict)
    near: dict[int, Ints] = field(default_factory=dict)
    pairs: frozenset[tuple[int, int]] = frozenset()
    near_pairs: int = 0
    face_pairs: int = 0
    points: Floats = field(default_factory=lambda: np.empty((0, 3)))
    normals: Floats = field(default_factory=lambda: np.empty((0, 3)))
    complete: bool = True

    @property
    def bodies(self) -> frozenset[int]:
        """Bodies that touch any other."""
        return frozenset(body for pair in self.pairs for body in pair)

    @property
    def face_count(self) -> int:
        """The number of touching faces."""
        return sum(len(faces) for faces in self.touching.values())


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a session."""

    poses: Floats  # (n, 4, 4)
    vertices: dict[int, Floats]  # of the bodies that deform
    found: Found
    began: frozenset[tuple[int, int]]  # pairs that touch now and did not before
    seconds: float  # of the detection
    frame: int = 0  # of the motion, if there is one
    overlay: Overlay | None = None


def found_in(report: Report, with_points: bool) -> Found:
    """Return a report's findings by body.

    Contact points are computed only if requested, or if a method reports nothing else.
    """
    contacts, pairs = report.contacts, report.pairs
    touches = pairs.kind > Kind.NEAR
    touching_pairs = frozenset(zip(pairs.body_a[touches].tolist(), pairs.body_b[touches].tolist(), strict=True))
    red: dict[int, Ints] = {}
    amber: dict[int, Ints] = {}
    both = ((contacts.body_a, contacts.face_a), (contacts.body_b, contacts.face_b))
    for rows, marked in ((contacts.kind > Kind.NEAR, red), (contacts.kind == Kind.NEAR, amber)):
        for body in np.unique(np.concatenate([column[rows] for column, _ in both])).tolist():
            faces = np.unique(np.concatenate([face[rows & (column == body)] for column, face in both]))
            faces = faces[faces >= 0]
            if len(faces):
                marked[body] = faces
    for body, faces in red.items():
        if body in amber:
            amber[body] = np.setdiff1d(amber[body], faces)
    points, normals = np.empty((0, 3)), np.empty((0, 3))
    if len(contacts) and (with_points or not (red or amber)):
        shown = contacts.select(np.arange(min(len(contacts), MOST_ARROWS)))
        points, normals = shown.point, shown.normal
    near_pairs = int((~touches).sum())
    return Found(red, amber, touching_pairs, near_pairs, len(contacts), points, normals, report.complete)


def with_pressed(found: Found, body_a: Ints, body_b: Ints, face_a: Ints, face_b: Ints) -> Found:
    """Return the findings with pressing faces as touching, and without near ones."""
    red = dict(found.touching)
    bodies, faces = np.concatenate([body_a, body_b]), np.concatenate([face_a, face_b])
    for body in np.unique(bodies).tolist():
        red[body] = np.union1d(red.get(body, np.empty(0, np.int32)), faces[bodies == body]).astype(np.int32)
    low, high = np.minimum(body_a, body_b), np.maximum(body_a, body_b)
    pairs = found.pairs | frozenset(zip(low.tolist(), high.tolist(), strict=True))
    return replace(found, touching=red, near={}, pairs=pairs, near_pairs=0)
