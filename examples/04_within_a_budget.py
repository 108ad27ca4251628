"""Two large concave bodies at 30 frames a second, with a budget of two milliseconds per frame."""

import time

import numpy as np

import jostle
from jostle import scenes

MILLISECONDS = 2.0
motion = scenes.make_scene("dragon_and_bunny", faces=12_000, faces_b=16_000, frames=120).record()
world = motion.world("monte_carlo")
exact = motion.world("wide_tree")
budget = jostle.Budget(seconds=1e-3 * MILLISECONDS)

# The first queries compile and make the shells, so they stay out of the loop.
world.detect(budget=budget)
exact.detect()

took, found, there = [], 0, 0
for frame in range(len(motion.poses)):
    motion.apply(world, frame)
    begin = time.perf_counter()
    report = world.detect(budget=budget)
    took.append(1e3 * (time.perf_counter() - begin))
    motion.apply(exact, frame)
    true = exact.detect()
    found, there = found + len(report.contacts), there + len(true.contacts)
    if frame % 20 == 0:
        reached = report.reached
        state = "complete" if report.complete else f"chance of an undiscovered region {reached.undiscovered:.0%}"
        print(
            f"frame {frame}: {len(report.contacts)} of {len(true.contacts)} touching face pairs in {reached.regions} regions, "
            f"{reached.pairs} sample pairs tracked, {state}"
        )

middle, slow = np.percentile(took, [50, 99])
print(f"{found} of {there} rows found; a frame took {middle:.2f} ms (median), 99 of 100 at most {slow:.2f} ms")

# If time is short, answers can be coarser: faces up to this far apart may be reported as touching.
coarse = motion.world(jostle.MonteCarlo(error="auto"))
for frame in range(40, 60):
    motion.apply(coarse, frame)
    report = coarse.detect(budget=jostle.Budget(operations=2000))  # the same on every machine
print(f"2,000 operations a frame: faces up to {report.reached.error:.2f} apart count as touching, {len(report.contacts)} rows")
