"""A world of moving bodies: which pairs begin and stop touching, and a picture."""

import numpy as np

import jostle
from jostle import rotation, translation
from jostle.render import save_picture
from jostle.shapes import build

world = jostle.World()
floor = world.add(build.box((4, 4, 0.1)), translation((0, 0, -0.55)), "floor", static=True)
bodies = [world.add(build.shuttle(), name=f"shuttle {k}") for k in range(3)]

for step in range(20):
    angle = 2 * np.pi * step / 20
    poses = [world["floor"].pose]
    for k in range(len(bodies)):
        turned = rotation((0, 0, 1), angle * (1 + 0.3 * k))
        poses.append(turned @ translation((0.4 * k - 0.2, 0.0, 0.5 * np.cos(angle + k) - 0.1)))
    world.set_poses(poses)
    report = world.detect()
    for a, b in report.began:
        print(f"step {step}: {report.names[a]} and {report.names[b]} begin to touch")
    for a, b in report.ended:
        print(f"step {step}: {report.names[a]} and {report.names[b]} part")

save_picture("moving_world.png", [body.mesh for body in world], world.poses, highlight=[report.faces_of(body) for body in world])
print("the last step is in moving_world.png")
