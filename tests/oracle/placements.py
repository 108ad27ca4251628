"""Placements of two solids in which surfaces share points: are the kinds of solids what their convex pieces say?

    python -m tests.oracle.placements COUNT [SEED [METHOD]]

tries COUNT placements of all kinds and prints how many of each there were.
"""

import collections
import sys

import numpy as np

import jostle
from jostle.geometry.pose import translation
from tests.oracle import pieces

ROTATIONS = pieces.rotations()
FAR = 4096  # between the pairs of one world


def cells(rng):
    """Two shapes of cells, boxes or prisms: turned, at half cells, and in a third of the cases sheared or inverted."""
    one = pieces.shape(pieces.NAMES[rng.integers(len(pieces.NAMES))], rng)
    other = pieces.shape(pieces.NAMES[rng.integers(len(pieces.NAMES))], rng)
    other = other.moved(ROTATIONS[rng.integers(24)], (0, 0, 0))
    reach = np.stack([one.vertices.min(axis=0) - other.vertices.max(axis=0), one.vertices.max(axis=0) - other.vertices.min(axis=0)])
    step = rng.choice((1, 2))
    shift = step * np.array([rng.integers(reach[0, k] // step, reach[1, k] // step + 1) for k in range(3)])
    other = other.moved(np.eye(3, dtype=int), shift)
    if rng.random() < 0.3:
        matrix = rng.integers(-2, 3, (3, 3))
        if round(np.linalg.det(matrix)) != 0:  # a reflection turns both inside out
            one, other = one.moved(matrix, (0, 0, 0)), other.moved(matrix, (0, 0, 0))
    return (one.inverted() if rng.random() < 0.1 else one), (other.inverted() if rng.random() < 0.1 else other)


def duplicates(rng):
    """A solid and itself, triangulated anew, or inverted."""
    name = pieces.NAMES[rng.integers(len(pieces.SHAPES))]
    one, other = pieces.shape(name, rng), pieces.shape(name, rng)
    return one, (other.inverted() if rng.random() < 0.3 else other)


def tetrahedra(rng):
    """Two tetrahedra on a small grid, which often share corners, edges and faces."""
    while True:
        size = rng.choice((2, 3, 5))
        corners = rng.integers(0, size, (8, 3))
        shared = rng.integers(0, 4)
        corners[4 : 4 + shared] = corners[:shared]
        one, other = pieces.of_corners(corners[:4]), pieces.of_corners(corners[4:])
        if one is not None and other is not None:
            return one, other


def nested(rng):
    """A solid within the bounds of one that is three times as large: inside of it, in its wall, in its hollow or through it."""
    one, other = (pieces.shape(pieces.NAMES[rng.integers(len(pieces.NAMES))], rng) for _ in range(2))
    one, other = one.moved(3 * np.eye(3, dtype=int), (0, 0, 0)), other.moved(ROTATIONS[rng.integers(24)], (0, 0, 0))
    room = one.vertices.max(axis=0) - np.ptp(other.vertices, axis=0)
    shift = np.array([rng.integers(0, max(1, room[k] + 1)) for k in range(3)]) - other.vertices.min(axis=0)
    other = other.moved(np.eye(3, dtype=int), shift)
    return (one, other) if rng.random() < 0.5 else (other, one)


KINDS = {"cells": cells, "duplicates": duplicates, "tetrahedra": tetrahedra, "nested": nested}


def placement(rng):
    """One pair of solids of any of the kinds."""
    name = rng.choice(list(KINDS), p=[0.55, 0.05, 0.2, 0.2])
    return KINDS[name](rng)


def check(pairs, method=None):
    """Detect all pairs in one world, far apart from each other, and compare; return how many there were of each kind."""
    world = jostle.World(method)
    for k, pair in enumerate(pairs):
        for solid in pair:
            world.add(jostle.Mesh(solid.vertices.astype(float), solid.faces, name=solid.name), translation((FAR * k, 0, 0)))
    report = world.detect(solid=True)
    kind_of = dict(zip(report.pairs, report.pairs.kind.tolist(), strict=True))
    contacts = report.contacts
    touched = pairs_of(contacts.select((contacts.face_a >= 0) & (contacts.face_b >= 0)))
    crossing = pairs_of(contacts.select(contacts.kind == jostle.Kind.CROSSING))
    assert not (contacts.kind == jostle.Kind.OVERLAPPING).any()
    assert all(a // 2 == b // 2 for a, b in kind_of)
    counts = collections.Counter()
    for k, (one, other) in enumerate(pairs):
        key = (2 * k, 2 * k + 1)
        kind, meet = kind_of.get(key, 0), pieces.interiors_meet(one, other)
        if key in crossing:
            right = kind == jostle.Kind.CROSSING and meet
        elif not meet:
            right = kind == (jostle.Kind.TOUCHING if key in touched else 0)
        elif key in touched:
            # A contained part without a contact of its own, such as one of two cells, is told as such if nothing else overlaps.
            several = any(part_count(solid) > 1 for solid in (one, other))
            right = kind == jostle.Kind.OVERLAPPING or (several and kind in (jostle.Kind.A_IN_B, jostle.Kind.B_IN_A))
        else:
            right = kind in (jostle.Kind.A_IN_B, jostle.Kind.B_IN_A)
        if not right:
            solids = "\n".join(f"{solid.name} {solid.vertices.tolist()} {solid.faces.tolist()}" for solid in (one, other))
            raise AssertionError(f"kind {kind}, but the interiors {'meet' if meet else 'are apart'}:\n{solids}")
        counts[jostle.Kind(kind).name if kind else "FREE"] += 1
    return counts


def pairs_of(contacts):
    return set(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True))


def part_count(solid):
    return int(jostle.Mesh(solid.vertices.astype(float), solid.faces).component_of_face.max()) + 1


def run(count, seed=0, method=None, at_once=200):
    """Try this many placements."""
    rng = np.random.default_rng(seed)
    counts = collections.Counter()
    while (done := sum(counts.values())) < count:
        counts += check([placement(rng) for _ in range(min(at_once, count - done))], method)
    return counts


if __name__ == "__main__":
    many, seed, method = (sys.argv[1:] + ["1000", "0", "wide_tree"][len(sys.argv) - 1 :])[:3]
    print(dict(run(int(many), int(seed), method)))  # noqa: T201
