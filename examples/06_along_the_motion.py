"""A plate flies through a wall in one step: when does it touch, and how far may it go?"""

import numpy as np

import jostle
from jostle import rotation, translation
from jostle.render import save_picture
from jostle.shapes import build

wall, plate = build.box((0.05, 2.0, 2.0)), build.box((0.4, 0.3, 0.02))
start = translation((-1.5, 0.0, 0.0))
end = translation((1.5, 0.2, 0.0)) @ rotation((0.0, 1.0, 0.0), 2.5)

# Nothing touches at either end: a test of single instants misses the contact.
print("at the start:", jostle.collide(wall, plate, pose_b=start))
print("at the end:  ", jostle.collide(wall, plate, pose_b=end))

first = jostle.first_contact(wall, plate, to_b=end, pose_b=start)
print(f"in between:   at {first.time:.4f} of the step, {first.feature_a} meets {first.feature_b} at {np.round(first.point, 3)}")

# In a world, the step goes from the last detect to the current poses.
world = jostle.World("bounding_tree")
world.add(wall, name="wall", static=True)
flying = world.add(plate, start, "plate")
flying.pose = end
world.move_to(world.safe_step(separation=0.01))  # back up to 0.01 before contact
gap = jostle.distance(wall, plate, pose_b=flying.pose).distance
print(f"as far as it may go: x = {flying.pose[0, 3]:.4f}, {gap:.4f} from the wall")

stopped = flying.pose

# A step that ends before the wall is free, one through it is not.
for x in (-0.9, 1.5):
    flying.teleport(start)
    flying.pose = translation((x, 0.0, 0.0))
    report = world.detect(motion=True)
    print(f"to x = {x}:", f"first contact at {report.pairs.time[0]:.3f}" if report else "free all the way")

save_picture(
    "along_the_motion.png", [wall, plate, plate, plate], [np.eye(4), start, stopped, end], see_through="bodies", ground=True
)
print("along_the_motion.png shows the start, the stop and the end")
