"""Check two mesh files: which faces touch, where, and how far apart they are otherwise."""

import jostle
from jostle import translation
from jostle.shapes import build
from jostle.shapes.save import save

# Two files to check; use your own: STL, OBJ, PLY, OFF, GLB and more.
save(build.torus(), "torus.stl")
save(build.icosphere(2, 0.4), "ball.obj")

# On the command line: jostle check torus.stl ball.obj --translate 0.9 0 0.2
torus, ball = jostle.load("torus.stl"), jostle.load("ball.obj")
report = jostle.collide(torus, ball, pose_b=translation((0.9, 0.0, 0.2)))
print(report)
print("the first face pair:", report.to_dicts()[0])

small = build.icosphere(2, 0.1)
print("a small ball in the hole of the torus:", jostle.collide(torus, small))
print("inside its tube, as solids:", jostle.collide(torus, small, pose_b=translation((0.7, 0, 0)), solid=True))
print("distance:", jostle.distance(torus, ball, pose_b=translation((0.0, 0.0, 2.0))))
