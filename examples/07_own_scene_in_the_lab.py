"""Your own machine in the laboratory: record your loop, replay it through methods, pick the best."""

import numpy as np

import jostle
from jostle import rotation, translation
from jostle.lab.experiment import RecordedMotion, own_experiment
from jostle.lab.run import LabRun
from jostle.scenes import Motion, Recorder
from jostle.shapes import build


def your_loop() -> Motion:
    # Two wheels that turn into each other, and a slide that moves back and forth beneath them.
    world = jostle.World()
    wheels = [world.add(build.torus(), name=f"wheel {k}") for k in range(2)]
    slide = world.add(build.box((1.2, 0.3, 0.3)), name="slide")
    recorder = Recorder(world)
    for step in range(40):
        angle = 2 * np.pi * step / 40
        upright = rotation((1, 0, 0), np.pi / 2)
        wheels[0].pose = rotation((0, 1, 0), angle) @ upright
        wheels[1].pose = translation((1.9, 0, 0)) @ rotation((1, 0, 0), 0.5 * angle) @ upright
        slide.pose = translation((np.cos(angle), 0, -1.25 + 0.2 * np.sin(2 * angle)))
        world.detect()
        recorder.capture()
    return recorder.motion("two wheels and a slide")


def main() -> None:
    motion = your_loop()
    motion.save("machine.npz")
    print(motion)

    # The same frames through each named method, each in its own process. On the command line:
    #     jostle lab run --motion machine.npz --methods "wide_tree, face_octree"
    #     jostle shot machine.npz --gif --out machine.gif
    experiment = own_experiment("machine", motion.title, RecordedMotion(motion), ("wide_tree", "face_octree"), len(motion))
    result = LabRun(experiment, quick=True).run()
    for run in result.points[0].runs:
        print(f"{run.method}: {run.status}, median {1e3 * (run.median or 0.0):.3f} ms, {sum(run.pairs)} touching pairs in all")
    print(result.advice)


if __name__ == "__main__":  # the processes of the laboratory import this file
    main()
