"""Overlays of a bounding tree: levels, visited nodes, swept volumes, contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.geometry.contact import describe_rows
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay, edges_of_boxes
from jostle.methods.bounding_tree.bodies import BodyTrees
from jostle.methods.bounding_tree.dynamic import Mover
from jostle.methods.bounding_tree.motions import instant_of, pads_of
from jostle.methods.bounding_tree.search import PosedPairs, StaticSearch
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF, RADIUS, SPHERE, Tree
from jostle.report.assemble import Rows

DEEPEST_SHOWN = 64


def overlay_of(trees: BodyTrees, search: StaticSearch, kind: int, frame: Frame, pairs: CandidatePairs, what: str) -> Overlay:
    """Return the overlay "level k" (default 0), "visited", "swept k" or "contacts"."""
    name, _, number = (what or "level 0").partition(" ")
    level = _level(number, what) if name == "level" or (name == "swept" and number) else 0
    if name == "level":
        parts = [_volumes(trees.tree(body), _at_level(trees.tree(body), level), frame.poses[body]) for body in range(len(frame))]
        return _drawn(f"volumes of level {level}", kind, parts)
    if name == "swept":
        parts = [_swept(trees.mover(frame, body), _at_level(trees.tree(body), level)) for body in range(len(frame))]
        return _drawn(f"swept volumes of level {level}", kind, parts)
    if what not in ("visited", "contacts"):
        raise InputError(f"what is {what!r}; the overlays are 'level 0', 'level 1', …, 'visited', 'swept 0', …, 'contacts'")
    posed = PosedPairs.of(pairs, trees.tree_of_body, frame.poses)
    rows, _ = search.find(trees.shapes, kind, posed, record=what == "visited")
    if what == "visited":
        visited = search.visited()
        parts = []
        for body in range(len(frame)):
            is_a, is_b = pairs.body_a[visited[:, 0]] == body, pairs.body_b[visited[:, 0]] == body
            nodes = np.unique(np.concatenate([visited[is_a, 1], visited[is_b, 2]]))
            parts.append(_volumes(trees.tree(body), nodes, frame.poses[body]))
        return _drawn("nodes visited", kind, parts)
    return _contacts(frame, pairs, rows)


def _level(number: str, what: str) -> int:
    if not number.isdecimal() or int(number) > DEEPEST_SHOWN:
        raise InputError(f"what is {what!r}; the number of a level is 0 … {DEEPEST_SHOWN}, as in 'level 3'")
    return int(number)


def _at_level(tree: Tree, level: int) -> Ints:
    """Return the nodes of a level, and the leaves above it."""
    found: Ints = np.flatnonzero((tree.level == level) | ((tree.level < level) & (tree.child_count == 0))).astype(np.int32)
    return found


def _volumes(tree: Tree, nodes: NDArray[np.integer], pose: Floats) -> Floats:
    """Return (n,16) volumes of nodes in the world."""
    volumes: Floats = tree.volumes[nodes]
    volumes[:, :3] = volumes[:, :3] @ pose[:3, :3].T + pose[:3, 3]
    volumes[:, AXES : AXES + 9] = (volumes[:, AXES : AXES + 9].reshape(-1, 3, 3) @ pose[:3, :3].T).reshape(-1, 9)
    return volumes


def _swept(mover: Mover, nodes: Ints) -> Floats:
    """Return (n,16) world volumes that hold nodes over the whole step.

    They are those of `sweep="enclosing"`, without halvings of time.
    """
    places = [instant_of(mover.tree.motion, t)["place"][0] for t in (0.0, 0.5, 1.0)]
    turned, origins = [np.array([place[row] for row in "uvw"]) for place in places], [place["origin"] for place in places]
    pad = pads_of(mover.tree.motion)[0]
    start, end = mover.tree.volumes_t0[nodes], mover.tree.volumes_t1[nodes]
    first = start[:, :3] @ turned[0].T + origins[0]
    shift = end[:, :3] @ turned[2].T + origins[2] - first
    volumes = np.maximum(start, end)
    volumes[:, CENTRE : CENTRE + 3] = first + 0.5 * shift
    axes = start[:, AXES : AXES + 9].reshape(-1, 3, 3) @ turned[1].T
    volumes[:, AXES : AXES + 9] = axes.reshape(-1, 9)
    turn = np.asarray(mover.surface.turn)[:3]
    blur = pad["per_radius"] * volumes[:, RADIUS] + pad["per_shift"] * np.linalg.norm(np.cross(turn, shift), axis=1)
    volumes[:, HALF : HALF + 3] += 0.5 * np.abs(np.einsum("nij,nj->ni", axes, shift)) + blur[:, None]
    volumes[:, RADIUS] += blur + 0.5 * np.linalg.norm(shift, axis=1)
    return volumes


def _drawn(title: str, kind: int, parts: list[Floats]) -> Overlay:
    """Return volumes (n,16) in the world as spheres, or as the edges of boxes."""
    volumes = np.concatenate([np.empty((0, 16)), *parts])
    if kind == SPHERE:
        return Overlay(title, spheres=np.ascontiguousarray(volumes[:, [0, 1, 2, RADIUS]]))
    half_axes = volumes[:, HALF : HALF + 3, None] * volumes[:, AXES : AXES + 9].reshape(-1, 3, 3)
    return Overlay(title, segments=edges_of_boxes(volumes[:, :3], half_axes))


def _contacts(frame: Frame, pairs: CandidatePairs, found: Rows) -> Overlay:
    """Show the touching faces and their common segments."""
    segments = np.empty((len(found.pair), 2, 3))
    faces: dict[int, list[Ints]] = {}
    for number in np.unique(found.pair).tolist():
        rows = np.flatnonzero(found.pair == number)
        corners = []
        for body, face in ((int(pairs.body_a[number]), found.face_a[rows]), (int(pairs.body_b[number]), found.face_b[rows])):
            faces.setdefault(int(frame.bodies.ids[body]), []).append(face)
            corners.append(frame.world_vertices(body)[frame.bodies.meshes[body].faces[face]])
        segment = np.empty((len(rows), 2, 3))
        describe_rows(corners[0], corners[1], found.kind[rows], segment, np.empty((len(rows), 3)))
        segments[rows] = segment
    marked = {body: np.unique(np.concatenate(touching)) for body, touching in faces.items()}
    return Overlay("contacts", segments=segments, points=segments.mean(axis=1), faces=marked)
