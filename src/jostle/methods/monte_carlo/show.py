"""The overlays: shells in use, sample pairs, average planes.

A facet is in use while a followed sample pair is on it: coarse discs where bodies are apart, small ones where they are near, as in
Fig. 1 of Guy and Debunne; "level 0" (the mesh), "level 1", … show one level alone. A pair is the segment between the centres of its
facets; its average plane (Fig. 5) is a disc in the middle, as large as the smaller facet. Facets of deforming bodies follow their
vertices (§5.1): on the mesh by its three corners, above by weighted averages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay
from jostle.methods.monte_carlo.pair_list import SamplePairs
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.shells import discs_of_faces

OVERLAYS = ("", "shells", "pairs", "planes")


def overlay_of(what: str, pairs: SamplePairs, frame: Frame, shapes: Sequence[ShellShape]) -> Overlay:
    """Return shells, pairs and planes ("" for all), or one level's shells ("level 2")."""
    level = re.fullmatch(r"level (\d+)", what)
    if what not in OVERLAYS and level is None:
        raise InputError(f"what is {what!r}; choose one of {', '.join(OVERLAYS[1:])}, or 'level 0', 'level 1', … for one shell")
    discs: list[Floats] = [np.empty((0, 7))]
    segments = np.empty((0, 2, 3))
    titles = []
    one = _placed(pairs.body_a, pairs.facet_a, frame, shapes)
    other = _placed(pairs.body_b, pairs.facet_b, frame, shapes)
    if what in ("", "shells") or level is not None:
        shells, levels = _shells(pairs, np.concatenate([one, other]))
        chosen = np.ones(len(levels), bool) if level is None else levels == int(level[1])
        discs.append(shells[chosen])
        numbers, counts = np.unique(levels[chosen], return_counts=True)
        by_level = ", ".join(f"{count} of level {number}" for number, count in zip(numbers, counts, strict=True))
        titles.append(f"{chosen.sum()} facets" + (f" ({by_level})" if by_level else ""))
    if what in ("", "pairs"):
        segments = np.stack([one[:, :3], other[:, :3]], axis=1)
        titles.append(f"{len(segments)} sample pairs ({int(pairs.touching.sum())} touching)")
    if what in ("", "planes"):
        discs.append(average_planes(one, other))
        titles.append(f"{len(one)} average planes")
    return Overlay("; ".join(titles), segments=segments, discs=np.concatenate(discs))


def _shells(pairs: SamplePairs, discs: Floats) -> tuple[Floats, Ints]:
    """The discs in use, each once, by body and facet, and their levels."""
    body, facet = np.concatenate([pairs.body_a, pairs.body_b]), np.concatenate([pairs.facet_a, pairs.facet_b])
    level = np.concatenate([pairs.level_a, pairs.level_b])
    _, first = np.unique(body.astype(np.int64) << 32 | facet, return_index=True)
    return discs[first], level[first]


def average_planes(one: Floats, other: Floats) -> Floats:
    """Return the average planes (n,7) of discs (n,7), from a into b.

    The normal is n_a - n_b, or the line of centres where that vanishes.
    """
    across = one[:, 3:6] - other[:, 3:6]
    between = other[:, :3] - one[:, :3]
    parallel = np.linalg.norm(across, axis=1) < 1e-6
    across[parallel] = between[parallel]
    length = np.linalg.norm(across, axis=1)
    nowhere = length == 0.0
    across[nowhere], length[nowhere] = one[nowhere, 3:6], 1.0
    middle = 0.5 * one[:, :3] + 0.5 * other[:, :3]
    return np.concatenate([middle, across / length[:, None], np.minimum(one[:, 6:], other[:, 6:])], axis=1)


def _placed(body: Ints, facet: Ints, frame: Frame, shapes: Sequence[ShellShape]) -> Floats:
    """The discs (n,7) of facets of bodies, in the world."""
    discs = np.empty((len(body), 7))
    for number in np.unique(body).tolist():
        rows = body == number
        discs[rows] = discs_of(shapes[number], facet[rows], frame.vertices[number], bool(frame.bodies.deformable[number]))
        rotation, shift = frame.poses[number, :3, :3], frame.poses[number, :3, 3]
        discs[rows, :3] = discs[rows, :3] @ rotation.T + shift
        discs[rows, 3:6] = discs[rows, 3:6] @ rotation.T
    return discs


def discs_of(shape: ShellShape, facet: NDArray[Any], vertices: Floats, deformable: bool) -> Floats:
    """Return centre, normal and radius (n,7) of facets in body coordinates.

    Those of a deforming body follow its vertices.
    """
    discs = np.concatenate([shape.centre[facet], shape.normal[facet], shape.radius[facet][:, None]], axis=1)
    if deformable:
        own = facet < shape.level_first[1]  # of the mesh itself
        moved = discs_of_faces(vertices, shape.corner[facet[own]])
        discs[own] = np.concatenate([moved.centre, moved.normal, moved.radius[:, None]], axis=1)
        discs[~own, :6] = _carried(shape, facet[~own], vertices)
    return discs


def _carried(shape: ShellShape, facet: NDArray[Any], vertices: Floats) -> Floats:
    """Centres and normals (n,6) of coarser facets, carried by their corners' frames.

    As in `frames.py`.
    """
    corners = vertices[shape.anchor[facet]].reshape(-1, 3, 4, 3).mean(axis=2)
    along = corners[:, 1] - corners[:, 0]
    normal = _unit(np.cross(along, corners[:, 2] - corners[:, 0]), shape.normal[facet])
    along = _unit(along - (along * normal).sum(axis=1)[:, None] * normal, np.zeros_like(along))
    frame = np.stack([along, np.cross(normal, along), normal], axis=1)
    centre, direction = (np.einsum("nk,nkj->nj", shape.in_frame[facet, k : k + 3], frame) for k in (0, 3))
    return np.concatenate([corners.mean(axis=1) + centre, direction], axis=1)


def _unit(vectors: Floats, otherwise: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1)[:, None]
    return np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), otherwise)
