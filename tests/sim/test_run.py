"""Scenes as simulations: initial velocities, kinematic bodies, counts of a run."""

import numpy as np
import pytest

from jostle.motion.record import Motion, Recorder
from jostle.scenes import make_scene, scene_of_world
from jostle.sim import SceneSimulation, run
from tests.tiny import box


def test_bodies_start_with_the_velocity_and_spin_of_the_scene():
    scene = make_scene("spheres", count=5, faces=168)
    steps = SceneSimulation(scene, dt=0.5)
    motion = scene.record(2)
    before = steps.world.poses.copy()
    assert np.array_equal(before, motion.poses[0])
    steps.step()
    # A frame is a step, whatever seconds it takes; spheres turn about the middle of their box.
    assert steps.world.poses[:, :3, 3] == pytest.approx(motion.poses[1][:, :3, 3], abs=1e-3)
    assert steps.world.poses == pytest.approx(motion.poses[1], abs=2e-3)
    assert steps.simulation.cube == scene.cube


@pytest.mark.parametrize("response", ["exchange", "impulse"])
def test_hands_are_led_and_shapes_follow_their_cycle(response):
    scene = make_scene("room", faces=168)
    steps, motion = SceneSimulation(scene, response=response), scene.record(6)
    names = [body.name for body in scene.bodies]
    for frame in range(1, 6):
        steps.step()
        for k in (names.index("grasping hand"), names.index("pushing hand")):
            assert np.array_equal(steps.world[k].pose, motion.poses[frame, k])
            assert not steps.simulation.free[k]
        for k, shapes in motion.vertices.items():
            assert np.array_equal(steps.world[k].vertices, shapes[frame])


def test_bodies_of_a_users_world_start_along_their_circles():
    from jostle import World

    world = World()
    world.add(box(), name="stays", static=True)
    world.add(box((3, 3, 3), (4, 4, 4)), name="goes")
    scene = scene_of_world(world, turn=0.01, period=5000)
    steps, motion = SceneSimulation(scene), scene.record(2)
    steps.step()
    assert steps.world.poses == pytest.approx(motion.poses[1], abs=1e-5)
    assert np.abs(motion.poses[1] - motion.poses[0]).max() > 1e-4
    assert steps.simulation.cube is None


def test_a_run_counts_and_records(tmp_path):
    scene = make_scene("spheres", count=8, faces=168, fill=0.2)
    steps = SceneSimulation(scene, response="impulse")
    recorder, seen = Recorder(steps.world), []
    done = run(steps, 60, recorder=recorder, progress=lambda frame, report: seen.append((frame, len(report.pairs))))
    assert (done.frames, done.complete) == (60, True)
    assert [frame for frame, _ in seen] == list(range(1, 61))
    assert done.pairs == sum(pairs for _, pairs in seen) > 0
    assert done.contacts > done.pairs
    assert done.energy_at_end == pytest.approx(done.energy_at_start, rel=1e-9)
    assert len(done.step_seconds) == len(done.detect_seconds) == 60
    assert all(0.0 < detect < step for detect, step in zip(done.detect_seconds, done.step_seconds, strict=True))
    recorder.motion("a run").save(tmp_path / "run.npz")
    motion = Motion.load(tmp_path / "run.npz")
    assert len(motion) == 61
    assert np.array_equal(motion.poses[-1], steps.world.poses)


def test_an_interrupted_run_keeps_what_it_did():
    steps = SceneSimulation(make_scene("spheres", count=3, faces=168))
    recorder = Recorder(steps.world)

    def stop_at_ten(frame, _):
        if frame == 10:
            raise KeyboardInterrupt

    done = run(steps, 1000, recorder=recorder, progress=stop_at_ten)
    assert (done.frames, done.complete, len(recorder)) == (10, False, 11)
