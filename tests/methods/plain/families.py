"""Random small worlds of every degree of degeneracy, by family and seed."""

from itertools import product

import numpy as np

BOX_VERTICES = np.array(list(product((0.0, 1.0), repeat=3)))
# Two triangles for each side: the corners of a side, in order, are numbers of BOX_VERTICES.
BOX_FACES = np.array(
    [half for a, b, c, d in [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
     for half in ((a, b, c), (a, c, d))], np.int32,
)  # fmt: skip


def random_rotation(rng):
    """A rotation matrix, by a random unit quaternion."""
    w, x, y, z = (q := rng.normal(size=4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def placed(rotation=None, shift=(0.0, 0.0, 0.0)):
    pose = np.eye(4)
    if rotation is not None:
        pose[:3, :3] = rotation
    pose[:3, 3] = shift
    return pose


def anywhere(rng, turns=True, reach=0.3):
    return placed(random_rotation(rng) if turns else None, reach * rng.normal(size=3))


def quarter_turn(rng):
    while True:
        rotation = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
        if np.linalg.det(rotation) > 0:
            return placed(rotation, rng.integers(-1, 2, 3))


def soup(rng, vertices):
    """Any triples of the vertices as faces, repeated corners among them."""
    return np.asarray(vertices, float), rng.integers(0, len(vertices), (int(rng.integers(1, 25)), 3)).astype(np.int32)


def grid_points(rng, size=4):
    return rng.integers(0, size, (int(rng.integers(3, 14)), 3)).astype(float)


def normal_points(rng):
    return rng.normal(size=(int(rng.integers(3, 14)), 3))


def general(rng):
    return [(soup(rng, normal_points(rng)), anywhere(rng)) for _ in range(2)]


def integer_grid(rng):
    return [(soup(rng, grid_points(rng)), placed()) for _ in range(2)]


def turned_grid(rng):
    pose = anywhere(rng)
    return [(soup(rng, grid_points(rng)), pose) for _ in range(2)]


def quarter_turns(rng):
    return [(soup(rng, grid_points(rng, 3)), quarter_turn(rng)) for _ in range(2)]


def one_plane(rng):
    pose = anywhere(rng, bool(rng.integers(2)))
    flat = np.array([1.0, 1.0, 0.0])
    return [(soup(rng, normal_points(rng) * flat + 0.25 * (1 - flat)), pose) for _ in range(2)]


def shared_corners(rng):
    points, pose = normal_points(rng), anywhere(rng)
    return [(soup(rng, points), pose), (soup(rng, points), pose)]


def lines_and_points(rng):
    directions = rng.integers(-2, 3, (2, 3))
    points = directions[rng.integers(0, 2, 9)] * rng.integers(-3, 4, (9, 1)) + rng.integers(0, 2, (9, 1))
    pose = anywhere(rng) if rng.integers(2) else placed()
    return [(soup(rng, points), pose), (soup(rng, points), pose)]


def boxes(rng):
    pose, step = anywhere(rng, bool(rng.integers(2))), rng.choice([0.1, 1.0, 1 / 3])
    return [((step * (BOX_VERTICES * rng.integers(1, 4, 3) + rng.integers(-2, 3, 3)), BOX_FACES), pose) for _ in range(2)]


def far_away(rng):
    size, pose = rng.choice([1e-8, 1e-3, 1.0]), anywhere(rng, bool(rng.integers(2)))
    pose[:3, 3] += 1e7
    other = pose.copy() if rng.integers(2) else anywhere(rng, bool(rng.integers(2)))
    other[:3, 3] = pose[:3, 3] + size * rng.integers(0, 2, 3)
    return [(soup(rng, size * grid_points(rng)), pose), (soup(rng, size * grid_points(rng)), other)]


def tiny(rng):
    return [(soup(rng, 1e-9 * grid_points(rng)), anywhere(rng, reach=1e-10)) for _ in range(2)]


def all_sizes(rng):
    def points():
        size = 10.0 ** rng.integers(-29, 29, (9, 3)) * rng.uniform(0.1, 1.0, (9, 3))
        return rng.choice([-1.0, 0.0, 1.0], (9, 3)) * size

    return [(soup(rng, points()), placed()) for _ in range(2)]


def single_precision(rng):
    one, other = (rng.normal(size=(9, 3)).astype(np.float32).astype(float) for _ in range(2))
    other[:4] = one[:4]
    return [(soup(rng, one), placed()), (soup(rng, other), placed())]


PAIRS = {
    family.__name__: family
    for family in (
        general, integer_grid, turned_grid, quarter_turns, one_plane, shared_corners,
        lines_and_points, boxes, far_away, tiny, all_sizes, single_precision,
    )
}  # fmt: skip


def several_bodies(rng):
    """Bodies of some families in one world, up to a dozen."""
    names = ["integer_grid", "quarter_turns", "general", "boxes", "shared_corners"]
    return [body for _ in range(int(rng.integers(1, 6))) for body in PAIRS[str(rng.choice(names))](rng)]


FAMILIES = PAIRS | {"several_bodies": several_bodies}


def case(family, seed):
    """Bodies [((vertices, faces), pose)] of one random world."""
    return FAMILIES[family](np.random.default_rng([seed, *family.encode()]))
