"""A cloth falls over a ball: deforming vertices, contacts that push back, and self-collision."""

import numpy as np

import jostle
from jostle import translation
from jostle.pictures import Look, picture_of
from jostle.render import write_gif
from jostle.shapes import build

SIDE, STEPS = 24, 45
across = np.linspace(-1.1, 1.1, SIDE)
cloth_points = np.array([(x, y, 0.62) for x in across for y in across])
corner = np.array([i * SIDE + j for i in range(SIDE - 1) for j in range(SIDE - 1)])
quads = np.stack([corner, corner + SIDE, corner + SIDE + 1, corner + 1], axis=1)
cloth_faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])

world = jostle.World()
ball = world.add(build.icosphere(3, 0.5), name="ball", static=True)
world.add(build.box((3, 3, 0.1)), translation((0, 0, -0.6)), "floor", static=True)
cloth = world.add((cloth_points, cloth_faces), name="cloth", deformable=True)

# Threads: neighbours, and second neighbours against bending, keep their distance.
number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
directions = (
    (number[1:], number[:-1]),
    (number[:, 1:], number[:, :-1]),
    (number[2:], number[:-2]),
    (number[:, 2:], number[:, :-2]),
)
threads = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in directions])
length = np.linalg.norm(cloth_points[threads[:, 0]] - cloth_points[threads[:, 1]], axis=1)
shares = np.bincount(threads.ravel(), minlength=len(cloth_points))[:, None]

points, before, pictures = cloth_points.copy(), cloth_points.copy(), []
for step in range(STEPS):
    points, before = points + 0.97 * (points - before) - np.array([0, 0, 0.0016]), points
    for _ in range(12):
        apart = points[threads[:, 1]] - points[threads[:, 0]]
        now = np.linalg.norm(apart, axis=1)
        pull = 0.5 * ((now - length) / now)[:, None] * apart
        moved = np.zeros_like(points)
        np.add.at(moved, threads[:, 0], pull)
        np.add.at(moved, threads[:, 1], -pull)
        points = points + 1.5 * moved / shares
        outward = np.linalg.norm(points, axis=1, keepdims=True)
        points = np.where(outward < 0.52, points * (0.52 / outward), points)  # the ball, slightly enlarged
        points[:, 2] = np.maximum(points[:, 2], -0.53)
    cloth.vertices = points
    report = world.detect(clearance=0.03)
    if step % 9 == 8:
        folds = world.detect(self_collision=True).between(cloth, cloth)
        near = len(report.faces_of(cloth))
        print(f"step {step}: {near} faces of the cloth within 0.03 of something, {len(folds)} pairs of its own faces touch")
    if step % 5 == 4:
        pictures.append(picture_of(world, report, Look(320, 240, samples=2, see_through="nothing")))

write_gif("cloth.gif", pictures, 0.1)
print("the fall is in cloth.gif")
