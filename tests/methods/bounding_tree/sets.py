"""Sets of faces for tests of bounding trees, and the bounding object of a set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from jostle.methods.bounding_tree.face_sets import FaceSets
from jostle.methods.bounding_tree.fit import enclose, measure
from jostle.methods.bounding_tree.tree import KINDS, ROW, SPHERE
from jostle.methods.bounding_tree.volumes.quality import QUALITIES
from jostle.shapes.mesh import Mesh


def soup_mesh(count: int, seed: int = 0, size: float = 0.1) -> Mesh:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.0, 1.0, (count, 1, 3)) + rng.normal(0.0, size, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def plate(rows: int, columns: int) -> Mesh:
    """A flat plate, which shares its vertices."""
    x, y = np.meshgrid(np.arange(columns + 1.0), np.arange(rows + 1.0))
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    faces = np.r_[np.c_[first, first + 1, first + columns + 1], np.c_[first + 1, first + columns + 2, first + columns + 1]]
    return Mesh(np.c_[x.ravel(), y.ravel(), 0.0 * x.ravel()], faces)


def degenerate_meshes() -> dict[str, Mesh]:
    count = 60
    numbers = np.arange(3 * count).reshape(-1, 3)
    face = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    loose = soup_mesh(count).vertices
    along = np.sort(loose[:, :1], axis=0)
    small = 2.0 ** -np.arange(3 * count, dtype=float).clip(0, 90)
    return {
        "one face": Mesh(face, [[0, 1, 2]]),
        "one face that is a point": Mesh(face, [[1, 1, 1]]),
        "all identical": Mesh(np.tile(face, (count, 1)), numbers),
        "the same three vertices": Mesh(face, np.tile([0, 1, 2], (count, 1))),
        "all in one point": Mesh(np.full((3, 3), 5.0), np.tile([0, 1, 2], (count, 1))),
        "all at the origin": Mesh(np.zeros((3, 3)), np.tile([0, 1, 2], (count, 1))),
        "all in one plane": Mesh(loose * [1.0, 1.0, 0.0], numbers),
        "all on one line": Mesh(along * [[0.0, 1.0, 0.0]], numbers),
        "all on a slanted line": Mesh(along * [[1.0, 1.0, 1.0]], numbers),
        "one long sliver": Mesh([[-1e9, 0, 0], [1e9, 1e-9, 0], [0, 1e-9, 0]], [[0, 1, 2]]),
        "one far away": Mesh(np.vstack([loose, 1e9 + face]), np.vstack([numbers, 3 * count + np.arange(3)])),
        "smaller and smaller": Mesh(np.c_[small, 0.5 * small, 0 * small], numbers),
        "two clusters": Mesh(np.tile(np.vstack([face, face + 1e3]), (count // 2, 1)), numbers),
        "from the smallest to the largest": Mesh(
            np.vstack([1e-30 * np.round(1e3 * loose), 1e30 * face]), np.vstack([numbers, 180 + np.arange(3)])
        ),
    }


def soup_of(vertices, faces=None) -> FaceSets:
    vertices = np.ascontiguousarray(vertices, float)
    faces = np.arange(len(vertices)).reshape(-1, 3) if faces is None else faces
    return FaceSets(vertices, np.ascontiguousarray(faces, np.int32))


def object_of(kind: str, vertices, faces=None, quality: str = "volume"):
    """Return the bounding object (16,) of a set of faces, and its measure."""
    soup = soup_of(vertices, faces)
    ranges = np.zeros(1, np.int64), np.full(1, len(soup.faces))
    volumes, measures = np.empty((1, ROW)), np.empty(1)
    enclose(KINDS[kind], QUALITIES[quality], soup, *ranges, volumes)
    measure(KINDS[kind], QUALITIES[quality], soup, *ranges, volumes, measures)
    return volumes[0], float(measures[0])


def holds_exactly(kind: int, volume, points) -> bool:
    """Return whether a volume holds points, in rational arithmetic."""
    centre, half, axes, radius = (
        list(map(Fraction, part.tolist())) for part in (volume[:3], volume[3:6], volume[6:15], volume[15:])
    )
    for point in points:
        offset = [Fraction(float(x)) - c for x, c in zip(point, centre, strict=True)]
        if sum(x * x for x in offset) > radius[0] ** 2:
            return False
        if kind != SPHERE:
            along = [abs(sum(a * x for a, x in zip(axes[3 * k : 3 * k + 3], offset, strict=True))) for k in range(3)]
            if any(reach > most for reach, most in zip(along, half, strict=True)):
                return False
    return True


def random_rotations(count: int, rng: np.random.Generator):
    """Return (count, 3, 3) rotations, evenly distributed."""
    w, x, y, z = (rng.normal(size=(count, 4)) @ np.eye(4)).T
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z),
        2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return np.stack(rows, axis=-1).reshape(-1, 3, 3)
