"""The simulated environment of Lock and Wills 2000 (§7), and a little more: rigid bodies in a cube that collide.

    import jostle
    from jostle.sim import Simulation
    simulation = Simulation(world, velocity=velocities, cube=100.0, response="impulse", restitution=0.8, friction=0.3, dt=0.01)
    for _ in range(1000):
        report = simulation.step()

`jostle sim` does it for named scenes and files. `jostle` itself does not import this package.
"""

from __future__ import annotations

from jostle.sim.run import Run, SceneSimulation, run
from jostle.sim.world_step import Simulation

__all__ = ["Run", "SceneSimulation", "Simulation", "run"]
