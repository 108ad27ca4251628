"""Random worlds of slivers against brute force: `python -m tests.methods.wide_tree.compare_slivers 10000`.

The first argument is the number of worlds, the second the first seed. Bodies are what slivers come in: pipes, cylinders, cones,
discs, beams, needles, sheets with holes, bundles of these in one mesh; upright and askew, thick and thin, at any scale and distance
from the origin; crossing at random, in parallel, or on a grid, where they touch. `wide_tree`, and the same with every node turned
at random, answer for rows, clearances, bodies against themselves, distances and deformed bodies. Prints what differs; exits with 1
if anything does.
"""

import itertools
import sys

import numpy as np

import jostle
from tests.methods.wide_tree.turned import Turned
from tests.tiny import random_pose

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")


def swept(outline, length, taper=1.0, open_ends=False):
    """An outline (n,2) swept along z; the far end is scaled by `taper`."""
    n = len(outline)
    near, far = np.c_[outline, np.zeros(n)], np.c_[taper * outline, np.full(n, length)]
    i, j = np.arange(n), (np.arange(n) + 1) % n
    faces = [np.c_[i, j, n + j], np.c_[i, n + j, n + i]]
    vertices = [near, far]
    if not open_ends:
        vertices.append([[0.0, 0.0, 0.0], [0.0, 0.0, length]])
        faces += [np.c_[np.full(n, 2 * n), j, i], np.c_[np.full(n, 2 * n + 1), n + i, n + j]]
    return np.concatenate(vertices), np.concatenate(faces)


def ring(count, radius):
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return radius * np.c_[np.cos(angle), np.sin(angle)]


def sheet(rng, thick):
    """A sheet of small faces with holes, wavy or flat, of one layer or two."""
    columns, rows = (int(n) for n in rng.integers(3, 12, 2))
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.4, 0.4, rows), indexing="ij"))
    top = np.c_[x, y, rng.choice([0.0, 0.05 * thick]) * np.sin(9.0 * x)]
    i = (np.arange(columns - 1)[:, None] * rows + np.arange(rows - 1)).ravel()
    faces = np.concatenate([np.c_[i, i + rows, i + 1], np.c_[i + rows, i + rows + 1, i + 1]])
    faces = faces[rng.random(len(faces)) < rng.choice([0.6, 1.0])]
    if len(faces) == 0 or rng.integers(2):
        return top, np.concatenate([faces, [[0, rows, 1]]])
    return np.concatenate([top, top - (0.0, 0.0, 0.1 * thick)]), np.concatenate([faces, faces[:, ::-1] + len(top)])


def part(rng):
    """Vertices and faces of a random part about as long as 1."""
    kind, thick = rng.integers(7), 10.0 ** rng.uniform(-3, -0.3)
    if kind == 0:
        return swept(ring(rng.integers(3, 40), thick), 1.0, open_ends=bool(rng.integers(2)))
    if kind == 1:
        return swept(ring(rng.integers(3, 40), thick), 1.0, taper=rng.choice([0.0, 0.1, 0.5]))
    if kind == 2:
        return swept(ring(rng.integers(8, 40), 0.5), thick)
    if kind == 3:
        outline = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]]) * thick
        return swept(outline, 1.0)
    if kind == 4:
        n = int(rng.integers(1, 60))
        start, along = (
            rng.uniform(-0.5, 0.5, (n, 1, 3)),
            rng.normal(size=(n, 1, 3)) if rng.integers(2) else np.array([[[1.0, 0.2, 0.1]]]),
        )
        corners = start + along * rng.uniform(0, 1, (n, 3, 1)) + 0.1 * thick * rng.normal(size=(n, 3, 3))
        return corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)
    if kind == 5:
        return sheet(rng, thick)
    pieces = [part(rng) for _ in range(rng.integers(2, 5))]
    placed = [v @ random_pose(rng)[:3, :3] + rng.uniform(-0.5, 0.5, 3) for v, _ in pieces]
    shift = np.cumsum([0] + [len(v) for v in placed])
    return np.concatenate(placed), np.concatenate([f + s for (_, f), s in zip(pieces, shift, strict=False)])


def world_of(rng):
    """Meshes, poses and options of a random world."""
    # From eight bodies on, boxes of slender ones are trimmed.
    count = int(rng.integers(2, 5)) if rng.random() < 0.9 else 9
    scale, arranged = float(10.0 ** rng.choice([0, 0, 0, -9, -3, 4, 7])), rng.integers(4)
    meshes, poses = [], []
    away = rng.normal(size=3) * float(rng.choice([0, 0, 1.0, 1e3, 1e7])) * scale
    for _ in range(count):
        vertices, faces = part(rng)
        if arranged == 1:  # on a grid: vertices and edges touch
            vertices = np.round(vertices * 8.0) / 8.0
        elif rng.integers(2):
            vertices = vertices @ random_pose(rng)[:3, :3]
        meshes.append(jostle.Mesh(vertices * scale, faces))
        pose = random_pose(rng, 0.4)
        if arranged <= 1:
            pose[:3, :3] = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
            pose[:3, :3] *= np.sign(np.linalg.det(pose[:3, :3]))
            pose[:3, 3] = np.round(pose[:3, 3] * 8.0) / 8.0
        elif arranged == 2 and poses:  # nearly in parallel
            pose[:3, :3] = poses[0][:3, :3]
        pose[:3, 3] = pose[:3, 3] * scale + away
        poses.append(pose)
    query = {"rows": str(rng.choice(["faces", "faces", "pairs", "first", "any"]))}
    if rng.random() < 0.3:
        query["clearance"] = scale * float(rng.choice([1e-6, 0.01, 0.3]))
    if rng.random() < 0.3:
        query |= {"self_collision": True, "adjacent": bool(rng.integers(2))}
    return meshes, poses, query, bool(rng.random() < 0.2)


def answers_of(method, seed):
    """What a method says of the world of a seed, as bytes."""
    rng = np.random.default_rng(seed)
    meshes, poses, query, deforming = world_of(rng)
    world = jostle.World(method)
    bodies = [world.add(mesh, pose, deformable=deforming) for mesh, pose in zip(meshes, poses, strict=True)]
    reports = [world.detect(**query)]
    if deforming:
        for body in bodies:
            v = body.vertices
            body.vertices = v + 0.05 * np.ptp(v, axis=0).max() * np.sin(7.0 * v[:, [1, 2, 0]] / (np.abs(v).max() + 1e-300))
        reports.append(world.detect(**query))
    said = []
    for report in reports:
        pairs = (report.pairs.body_a, report.pairs.body_b, report.pairs.kind, report.pairs.distance)
        columns = pairs[:0] if query["rows"] == "any" else pairs
        said.append([bool(len(report.pairs.body_a)), *(c.tobytes() for c in columns)])
        # Without a clearance the first row may be any of the pair.
        if query["rows"] == "faces" or (query["rows"] == "first" and "clearance" in query):
            said[-1] += [getattr(report.contacts, name).tobytes() for name in COLUMNS]
    for a, b in itertools.combinations(bodies, 2):
        closest = world.distance(a, b)
        said.append((closest.distance, (closest.face_a, closest.face_b) if closest.distance > 0.0 else None))
    return said


def main(count, first):
    touching = different = 0
    for seed in range(first, first + count):
        expected = answers_of("brute_force", seed)
        touching += expected[0][0]
        for method in ("wide_tree", Turned(seed=seed)):
            if answers_of(method, seed) != expected:
                different += 1
                sys.stdout.write(f"seed {seed}: {method} differs\n")
                sys.stdout.flush()
    sys.stdout.write(f"seeds {first} … {first + count - 1}: {touching} touch, {different} differ\n")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
