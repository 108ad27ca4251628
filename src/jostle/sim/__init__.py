"""Simulation: rigid bodies that collide in a cube, and soft bodies.

    import jostle
    from jostle.sim import Simulation, SoftMaterial, SoftSimulation
    simulation = Simulation(world, velocity=velocities, cube=100.0, response="impulse", restitution=0.8, friction=0.3, dt=0.01)
    for _ in range(1000):
        report = simulation.step()
    soft = SoftSimulation(world, {"ball": SoftMaterial(young=2e4)}, gravity=(0, 0, -9.81), friction=0.3, dt=1 / 60)
    report = soft.step()

`jostle sim` does it for named scenes and files. `jostle` itself does not import this package.
"""

from __future__ import annotations

from jostle.sim.deform import SoftMaterial
from jostle.sim.run import Run, SceneSimulation, run
from jostle.sim.soft import SoftSimulation
from jostle.sim.squeeze import Squeeze
from jostle.sim.world_step import Simulation

__all__ = ["Run", "SceneSimulation", "Simulation", "SoftMaterial", "SoftSimulation", "Squeeze", "run"]
