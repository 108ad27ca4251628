"""Bodies of boxes on whole numbers, some inside out, that touch and pass through themselves: are their kinds what cells say?

    python -m tests.oracle.wound_cells COUNT [SEED]

tries COUNT pairs. Each unit cell has a winding number, the sum of the boxes that hold it; two interiors meet where one cell has
both. Imports of jostle nothing but the question.
"""

import collections
import itertools
import sys

import numpy as np

import jostle

SIZE = 4  # cells along each side
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
SHEARS = [np.eye(3, dtype=int), np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]]), np.array([[2, 1, 0], [0, 1, 1], [1, 0, 3]])]


def body(rng, count):
    """Vertices, faces and winding numbers (SIZE, SIZE, SIZE) of boxes; every side is cut along one of its diagonals, at random."""
    vertices, faces, wound = [], [], np.zeros((SIZE, SIZE, SIZE), int)
    for k in range(count):
        ends = np.sort(np.array([rng.choice(SIZE + 1, 2, replace=False) for _ in range(3)]), axis=1)
        if k == 0 and rng.random() < 0.5:  # a block for pockets to be cut out of
            ends = np.array([(0, SIZE), (0, SIZE), (0, rng.integers(2, SIZE + 1))])
        turned = rng.random() < 0.4 and k > 0
        wound[tuple(slice(*each) for each in ends)] += -1 if turned else 1
        start = len(vertices)
        vertices += [[ends[axis][(corner >> axis) & 1] for axis in range(3)] for corner in range(8)]
        for quad in QUADS:
            a, b, c, d = quad if rng.random() < 0.5 else quad[1:] + quad[:1]
            for face in ((a, b, c), (a, c, d)):
                faces.append([start + corner for corner in (face[::-1] if turned else face)])
    return np.array(vertices), np.array(faces), wound


def pair(rng):
    """Two meshes, and whether their interiors meet."""
    one, other = body(rng, rng.integers(1, 6)), body(rng, rng.integers(1, 3))
    shear = SHEARS[rng.integers(len(SHEARS))]
    # Planes across an axis stay planes whatever their places are rounded to.
    places = np.sort(rng.uniform(-1, 1, (3, SIZE + 1)) * 10.0 ** rng.integers(-3, 7), axis=1)
    rounded = shear is SHEARS[0] and rng.random() < 0.7
    meshes = [
        jostle.Mesh(places[np.arange(3), vertices] if rounded else vertices @ shear.T.astype(float), faces)
        for vertices, faces, _ in (one, other)
    ]
    return meshes, bool(((one[2] != 0) & (other[2] != 0)).any())


def check(rng, counts):
    """Try one pair; count its kind."""
    meshes, meet = pair(rng)
    report = jostle.collide(*meshes, solid=True)
    kind = jostle.Kind(int(report.pairs.kind[0])).name if len(report.pairs) else "FREE"
    if kind in ("TOUCHING", "FREE", "OVERLAPPING"):
        right = (kind == "OVERLAPPING") == meet
        assert right, f"{kind}, but the interiors {'meet' if meet else 'are apart'}: {[m.vertices.tolist() for m in meshes]}"
    counts[f"{kind}{' itself' if any(mesh.touches_itself for mesh in meshes) else ''}"] += 1


def run(count, seed=0):
    """Try this many pairs; return how many there were of each kind."""
    rng, counts = np.random.default_rng(seed), collections.Counter()
    for _ in itertools.repeat(None, count):
        check(rng, counts)
    return counts


if __name__ == "__main__":
    print(dict(run(int(sys.argv[1]), int([*sys.argv, "0"][2]))))  # noqa: T201
