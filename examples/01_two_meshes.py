"""Do two meshes touch, with which faces, where, and how far apart are they otherwise?"""

import jostle
from jostle.motion.pose import translation
from jostle.shapes import build

torus, ball = build.torus(), build.icosphere(2, 0.4)

report = jostle.collide(torus, ball, pose_b=translation((0.9, 0.0, 0.2)))
print(report)
print("the first face pair:", report.to_dicts()[0])

print("in the hole of the torus:", jostle.collide(torus, build.icosphere(2, 0.1)))
print("inside its tube, as solids:", jostle.collide(torus, build.icosphere(2, 0.1), pose_b=translation((1, 0, 0)), solid=True))
print("distance:", jostle.distance(torus, ball, pose_b=translation((0.0, 0.0, 2.0))))
