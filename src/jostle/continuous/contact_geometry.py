"""Segment and normal of rows at the times of their first contacts.

Faces that touch at t = 0 are described like static contacts. Later contacts are found slightly early, so there is no common point
yet: the segment joins the closest points, of the faces for NEAR rows and of the two features for TOUCHING ones. The normal of a
NEAR row is the direction between them. That of a TOUCHING row is the normal of its features (of the face that a vertex meets, or of
two edges), from a towards the side where b was, as a response or a motion along the contact plane needs it. Where there is none
(parallel edges, motion within the plane) it is the direction between the closest points of the faces shortly before, or else that
of the static rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.continuous.moving_bodies import MovingBodies, triangles_at
from jostle.continuous.moving_surface import MovingSurface
from jostle.geometry.contact import describe_rows
from jostle.geometry.contact_kind import NEAR, TOUCHING
from jostle.geometry.features import EDGE, NONE, VERTEX, Features
from jostle.geometry.unit_vectors import unit_vectors
from jostle.interface.frame import Frame
from jostle.report.report import Contacts, Details

SHORTLY_BEFORE = 1e-4  # of the step: the motion since then is far above rounding, and the side is still the same
LEAST_SINE = 1e-7  # of two edges: below this their normal is rounding
LEAST_WAY = 1e-12  # of the size of the faces: a shorter distance from a to b has no usable direction


def details_in_motion(bodies: MovingBodies, frame: Frame, rows: Contacts) -> Callable[[], Details]:
    """Return a function that computes segment and normal of these rows.

    Bodies are given by number.
    """
    time, kind, features = rows.time, rows.kind, rows.features
    surfaces = {number: bodies.of(frame, number) for number in {*rows.body_a.tolist(), *rows.body_b.tolist()}}

    def compute() -> Details:
        assert features is not None
        a, b = triangles_at(surfaces, rows.body_a, rows.face_a, time), triangles_at(surfaces, rows.body_b, rows.face_b, time)
        segment, normal = np.empty((len(kind), 2, 3)), np.empty((len(kind), 3))
        static = (time == 0.0) & (kind > NEAR)
        later = np.flatnonzero(~static & (kind == TOUCHING))
        if len(later) == 0:
            describe_rows(a, b, kind, segment, normal)
            return Details(segment=segment, normal=normal)
        faces_a, faces_b = a[later], b[later]
        met, before = features.select(later), np.maximum(0.0, time[later] - SHORTLY_BEFORE)
        where_a = _corners_of_features(surfaces, rows.body_a[later], rows.face_a[later], met.kind_a, met.vertices_a)
        where_b = _corners_of_features(surfaces, rows.body_b[later], rows.face_b[later], met.kind_b, met.vertices_b)
        a[later], b[later] = _chosen(faces_a, where_a), _chosen(faces_b, where_b)
        describe_rows(a, b, np.where(static, kind, NEAR).astype(np.uint8), segment, normal)
        was_a = triangles_at(surfaces, rows.body_a[later], rows.face_a[later], before)
        was_b = triangles_at(surfaces, rows.body_b[later], rows.face_b[later], before)
        across, between = _across(a[later], b[later], met), _chosen(was_b, where_b)[:, 0] - _chosen(was_a, where_a)[:, 0]
        side = (_across(_chosen(was_a, where_a), _chosen(was_b, where_b), met) * between).sum(axis=1)
        size = np.ptp(np.concatenate([faces_a, faces_b], axis=1), axis=1).max(axis=1)
        clear = (np.abs(side) > LEAST_WAY * size) & across.any(axis=1)
        others = _normals_of_faces(faces_a, faces_b, was_a, was_b, size)
        normal[later] = np.where(clear[:, None], across * np.sign(side)[:, None], others)
        return Details(segment=segment, normal=normal)

    return compute


def _corners_of_features(
    surfaces: Mapping[int, MovingSurface], body: Ints, face: Ints, kind: NDArray[np.uint8], vertices: Ints
) -> Longs:
    """Return (n,3) the corners of the faces of rows that make up their features.

    The last one is repeated; all three if no feature is known.
    """
    corners = np.empty((len(face), 3), np.int32)
    for number in np.unique(body).tolist():
        rows = body == number
        corners[rows] = surfaces[number].faces[face[rows]]
    last = np.maximum(kind, 1).astype(np.int64) - 1
    wanted = np.take_along_axis(vertices, np.minimum(np.arange(3), last[:, None]), axis=1)
    places: Longs = np.argmax(corners[:, None, :] == wanted[:, :, None], axis=2)
    places[kind == NONE] = (0, 1, 2)
    return places


def _chosen(triangles: Floats, where: Longs) -> Floats:
    return np.take_along_axis(triangles, where[:, :, None], axis=1)


def _across(a: Floats, b: Floats, features: Features) -> Floats:
    """Return (n,3) unit normals of features of a and b, of either sign, or zeros.

    Corners (n,3,3) as chosen.
    """
    on_face_of_b, edges = (features.kind_a == VERTEX)[:, None], (features.kind_a == EDGE)[:, None]
    first = np.where(on_face_of_b, b[:, 1] - b[:, 0], a[:, 1] - a[:, 0])
    second = np.where(on_face_of_b, b[:, 2] - b[:, 0], np.where(edges, b[:, 1] - b[:, 0], a[:, 2] - a[:, 0]))
    across = np.cross(unit_vectors(first), unit_vectors(second))
    return np.where(np.linalg.norm(across, axis=1, keepdims=True) > LEAST_SINE, unit_vectors(across), 0.0)


def _normals_of_faces(a: Floats, b: Floats, was_a: Floats, was_b: Floats, size: Floats) -> Floats:
    """Return (n,3) directions between closest points shortly before.

    Where these coincided, the normal of static contacts.
    """
    count = len(size)
    segment, normal, static = np.empty((count, 2, 3)), np.empty((count, 3)), np.empty((count, 3))
    describe_rows(a, b, np.full(count, TOUCHING, np.uint8), segment, static)
    describe_rows(was_a, was_b, np.full(count, NEAR, np.uint8), segment, normal)
    together = np.linalg.norm(segment[:, 1] - segment[:, 0], axis=1) <= LEAST_WAY * size
    return np.where(together[:, None], static, normal)
