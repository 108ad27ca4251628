"""What `solid=True` costs, against the same question without it, in processor time.

    python -m tests.oracle.flush_parts [ROUNDS [SCENE …]]

prints for each scene the medians of interleaved rounds. Scenes: "far", "flush", "deforming", "pockets".
"""

import sys
import time

import numpy as np

import jostle
from jostle.geometry.pose import translation
from jostle.shapes import build
from tests.oracle import pieces
from tests.tiny import box


def far_apart(count):
    """Boxes in a row, nine box lengths apart."""
    world = jostle.World()
    for k in range(count):
        world.add(box(), translation((10 * k, 0, 0)))
    return world


def flush(count, deformable=False):
    """Cells that fill a block of 25 × 20 × n, each a mesh of its own: sides are cut along diagonals or around middles."""
    rng = np.random.default_rng(0)
    world = jostle.World()
    for k in range(count):
        cell = pieces.shape("cell", rng)
        pose = translation(2 * np.array([k % 25, k // 25 % 20, k // 500]))
        world.add(jostle.Mesh(cell.vertices.astype(float), cell.faces), pose, deformable=deformable)
    return world


def deforming_balls():
    """Two balls of 20,480 faces that touch in a corner, of which one deforms."""
    world, ball = jostle.World(), build.icosphere(5)
    highest = ball.vertices[np.argmax(ball.vertices[:, 2])]
    lowest = ball.vertices[np.argmin(ball.vertices[:, 2])]
    body = world.add(ball, deformable=True)
    world.add(ball, translation(highest - lowest))
    return world, body


def pockets():
    """A block with 14 × 14 pockets that inverted shells cut out, so that it touches itself, and pins that fill them."""
    holes = [box((x + 0.25, y + 0.25, 1), (x + 0.75, y + 0.75, 2)) for x in range(14) for y in range(14)]
    block, world = box((0, 0, 0), (14, 14, 2)), jostle.World()
    for meshes, turn in (([block, *holes], -1), (holes, 1)):
        faces = [mesh.faces[:, :: turn if k else 1] + 8 * k for k, mesh in enumerate(meshes)]
        world.add(jostle.Mesh(np.vstack([mesh.vertices for mesh in meshes]), np.vstack(faces)))
    return world


def compare(name, world, rounds, inner=1, before=lambda: None, **query):
    """Print the medians of both questions, asked in turns."""
    taken = {False: [], True: []}
    for k in range(rounds + 1):
        for solid, seconds in taken.items():
            spent = 0.0
            for _ in range(inner):
                before()
                start = time.process_time()
                world.detect(solid=solid, **query)
                spent += time.process_time() - start
            if k > 0:  # the first round compiles, and prepares meshes
                seconds.append(spent / inner)
    plain, solid = (float(np.median(seconds)) for seconds in taken.values())
    print(f"{name:40} plain {1e6 * plain:10.1f} µs, solid {1e6 * solid:10.1f} µs, ratio {solid / plain:.2f}", flush=True)  # noqa: T201


def main(rounds=9, *scenes):
    """Measure the scenes, all by default."""
    rounds, scenes = int(rounds), scenes or ("far", "flush", "deforming", "pockets")
    if "far" in scenes:
        for count in (2, 10):
            compare(f"{count} boxes far apart", far_apart(count), rounds, 500)
    if "flush" in scenes:
        world = flush(5000)
        print(f"{len(world.detect().contacts):,} rows of 5,000 parts")  # noqa: T201
        for rows in ("faces", "pairs"):
            compare(f'flush parts, rows="{rows}"', world, rounds, rows=rows)
    if "deforming" in scenes:
        world, body = deforming_balls()

        def deform():
            body.vertices = body.vertices.copy()

        compare("a ball that deforms, and touches", world, rounds, 1, deform)
    if "pockets" in scenes:
        world = pockets()
        compare(f"a body that touches itself, {len(world.detect().contacts):,} rows", world, rounds)


if __name__ == "__main__":
    main(*sys.argv[1:])
