"""A probe in a knee: contacts from voxel maps, and haptic forces at 1 kHz."""

import time

import numpy as np

import jostle
from jostle import haptics, scenes

STEPS = 2000
motion = scenes.make_scene("knee", faces=20_000, frames=STEPS).record()  # 0.07 mm a step: 7 cm/s at 1 kHz
world = motion.world(jostle.Voxmap(accuracy=0.4))  # mm
probe, stiffness = world["probe"], 5.0  # N per mm and mm²

# The first detect makes maps and shells, and the first force loads its kernel, so they stay out of the loop.
probe.teleport(motion.poses[STEPS // 2, -1])
haptics.force(world.detect(), probe, stiffness=stiffness)

seconds = []
for step in range(STEPS):
    begin = time.perf_counter()
    probe.pose = motion.poses[step, -1]
    report = world.detect()
    wrench = haptics.force(report, probe, stiffness=stiffness, about=probe.pose[:3, 3], limit=3.0)
    seconds.append(time.perf_counter() - begin)
    if step % 100 == 0 and wrench.contacts:
        touched = ", ".join(report.names[a] for a, _ in report.pairs)
        print(f"step {step}: {touched}, {wrench.contacts} points, {wrench.deepest:.2f} mm deep, {np.round(wrench.force, 2)} N")

middle, slow = np.percentile(seconds, [50, 99])
print(f"a step took {1e3 * middle:.2f} ms (median), 99 of 100 at most {1e3 * slow:.2f} ms; 1 kHz leaves 1 ms\n")

# A spring attaches the device: where the device enters the bone, the probe stays at the surface, and the hand feels the spring.
coupling = haptics.Coupling(stiffness=1.0, turning=500.0, reach=0.1)
probe.teleport(motion.poses[500, -1])
for step in range(500, STEPS):
    report = world.detect()
    wrench = haptics.force(report, probe, stiffness=stiffness, about=probe.pose[:3, 3])
    probe.pose = coupling.step(motion.poses[step, -1], probe.pose, wrench)
    if step % 100 == 0 and wrench.contacts:
        force, _ = coupling.pull(motion.poses[step, -1], probe.pose)
        print(f"step {step}: held at {wrench.deepest:.2f} mm, the hand feels {np.round(-force, 2)} N")
