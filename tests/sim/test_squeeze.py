"""Two soft bodies between plates squeeze, bulge and part."""

import re
from pathlib import Path

import numpy as np
import pytest

from jostle import Budget, JostleError
from jostle.cli.app import app
from jostle.motion.record import Motion
from jostle.sim import SoftMaterial, Squeeze
from tests.sim.depth import depth, distances, mutual_depth

BODIES = ("lower", "upper")
ALLOWED_DEPTH = 0.007  # at rest, 0.35 % of the diameter: what a frozen vertex may be off the model (`tolerance`)
CLOSED, REST = 48, 102  # frames at which the plates are closed, and at which they open again


def extent(points):
    return points.max(axis=0) - points.min(axis=0)


def off_its_shape(points, shape):
    """The farthest that a vertex is off the shape, after the rotation and translation that fit best (Kabsch)."""
    points, shape = points - points.mean(axis=0), shape - shape.mean(axis=0)
    u, _, v = np.linalg.svd(points.T @ shape)
    u[:, 2] *= np.sign(np.linalg.det(u @ v))
    return float(np.linalg.norm(points @ (u @ v) - shape, axis=1).max())


def deepest_in_plates(simulation):
    plates = [simulation.world[name] for name in ("floor", "press")]
    return max(depth(simulation.world[name].world_vertices, p.world_vertices, p.mesh.faces) for name in BODIES for p in plates)


def test_two_bodies_squeeze_bulge_and_part_again():
    material, press = SoftMaterial(poisson=0.4, cells=6), 0.35
    squeeze = Squeeze(faces=500, press=press, lower=material, upper=material)
    simulation, deepest = squeeze.simulation, 0.0
    volume = {name: simulation.volume(name) for name in BODIES}
    start = {name: extent(simulation.positions(name)) for name in BODIES}
    for frame in range(1, squeeze.frames + 1):
        report = squeeze.step()
        if frame % 12 == 0:
            deepest = max(deepest, mutual_depth(simulation, *BODIES))
        if frame == REST:  # between the closed plates
            for name in BODIES:
                now = extent(simulation.positions(name))
                assert now[2] == pytest.approx((1.0 - press) * start[name][2], rel=0.08)  # the plates leave no more
                assert (now[:2] > 1.05 * start[name][:2]).all()  # it bulges
                # A solid that is free to the sides loses (1 - 2 ν) of what it is squeezed by; the plates hold it a little.
                lost = 1.0 - simulation.volume(name) / volume[name]
                assert 0.5 * (1.0 - 2.0 * 0.4) * press < lost < 1.3 * (1.0 - 2.0 * 0.4) * press
            assert mutual_depth(simulation, *BODIES) < ALLOWED_DEPTH
            assert deepest_in_plates(simulation) < ALLOWED_DEPTH
            assert simulation.elastic_energy > 10.0 * simulation.kinetic_energy
    assert deepest < 2.0 * ALLOWED_DEPTH  # while they move, too
    # They have parted, fly away from each other with what they had stored, and are as they were.
    assert len(report.contacts) == 0
    lower, upper = (simulation.positions(name) for name in BODIES)
    assert distances(lower, upper, simulation.world["upper"].mesh.faces).min() > 0.5
    speed = [
        simulation._velocities[: len(lower)].mean(axis=0)[2],
        simulation._velocities[len(lower) :][: len(upper)].mean(axis=0)[2],
    ]
    assert speed[0] < -0.2 < 0.2 < speed[1]
    for name in BODIES:
        assert simulation.volume(name) == pytest.approx(volume[name], rel=0.01)
        assert off_its_shape(simulation.positions(name), simulation.world[name].mesh.vertices) < 0.02  # 1 % of the diameter


def test_a_body_that_is_hard_to_compress_keeps_its_volume_and_bulges_more():
    bulge = []
    for poisson in (0.25, 0.49):
        material = SoftMaterial(poisson=poisson, cells=6)
        squeeze = Squeeze(faces=300, press=0.3, lower=material, upper=material, substeps=20)
        volume, before = squeeze.simulation.volume("lower"), extent(squeeze.simulation.positions("lower"))
        for _ in range(80):
            squeeze.step()
        lost = 1.0 - squeeze.simulation.volume("lower") / volume
        assert lost == pytest.approx((1.0 - 2.0 * poisson) * 0.3, rel=0.5, abs=0.01)
        bulge.append((extent(squeeze.simulation.positions("lower")) / before)[:2].mean() - 1.0)
    assert bulge[1] / bulge[0] == pytest.approx(0.49 / 0.25, rel=0.25)  # sides give way by ν times what it is squeezed by


def test_the_softer_body_gives_way_more():
    soft, stiff = SoftMaterial(young=1e4, cells=6), SoftMaterial(young=8e4, cells=6)
    squeeze = Squeeze(faces=500, press=0.2, lower=soft, upper=stiff, old_after=None)
    for _ in range(90):
        squeeze.step()
    simulation = squeeze.simulation
    flattened = [2.0 - extent(simulation.positions(name))[2] for name in BODIES]
    assert flattened[0] > 2.5 * flattened[1] > 0.0
    # The plane of contact has moved into the softer one.
    assert simulation.positions("lower")[:, 2].max() < -0.05


@pytest.mark.parametrize("budget", [None, Budget(operations=20_000)])
def test_a_method_within_a_budget_will_do(budget):
    material = SoftMaterial(cells=6)
    squeeze = Squeeze(faces=500, lower=material, upper=material, method="monte_carlo", budget=budget)
    for _ in range(REST):
        squeeze.step()
    assert extent(squeeze.simulation.positions("lower"))[2] < 1.5
    # A budget may miss pairs for a few frames: what overlaps meanwhile is set apart when they are found.
    assert mutual_depth(squeeze.simulation, *BODIES) < (ALLOWED_DEPTH if budget is None else 3.0 * ALLOWED_DEPTH)
    assert deepest_in_plates(squeeze.simulation) < (ALLOWED_DEPTH if budget is None else 3.0 * ALLOWED_DEPTH)


def test_a_squeeze_is_recorded_and_equal_inputs_give_equal_bits(tmp_path):
    shapes = []
    for _ in range(2):
        motion = Squeeze(faces=200, roughness=0.3, lower=SoftMaterial(cells=4), upper=SoftMaterial(cells=4)).record(40)
        shapes.append(motion.vertices[0])
    assert (shapes[0] == shapes[1]).all()
    assert len(motion) == 40
    assert set(motion.vertices) == {0, 1}
    assert (motion.poses[0, 2:] != motion.poses[-1, 2:]).any()
    motion.save(tmp_path / "squeeze.npz")
    again = Motion.load(tmp_path / "squeeze.npz")
    assert (again.vertices[1] == motion.vertices[1]).all()


@pytest.fixture
def jostle(capsys):
    """The command in this process: most of its time would go into loading compiled code."""

    def run(*arguments):
        code = app([str(word) for word in arguments], standalone_mode=False)
        return 0 if code is None else code, capsys.readouterr().out

    return run


def test_a_squeeze_on_the_command_line(jostle, tmp_path):
    file, scene = tmp_path / "out.npz", "squeeze(faces=200, press=0.3, budget=0.01, cells=6, finer=1)"
    code, text = jostle("sim", scene, "--method", "monte_carlo", "--friction", 0.2, "--frames", 30, "--record", file)
    assert code == 0
    assert "4 bodies, 424 faces" in text
    assert "monte_carlo, back projection, 0.01667 s a step in 10 substeps, 6 cells across, halved where" in text
    assert "30 frames, " in text
    assert "%" not in text.split("energy ")[1].splitlines()[0]  # no share of the rounding error that it starts with
    assert re.search(r"detection median \S+ ms, worst \S+ ms; step median \S+ ms", text)
    motion = Motion.load(file)
    assert len(motion) == 31
    assert set(motion.vertices) == {0, 1}
    assert np.abs(motion.vertices[0][-1] - motion.vertices[0][0]).max() > 0.05  # it is deformed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squeeze(colour=red)"], "scene squeeze has no setting 'colour'; it has faces"),
        (["squeeze", "--response", "exchange"], "--response is for rigid bodies; squeeze takes --frames"),
        (["squeeze", "--gravity", "0", "0", "-1"], "--gravity is for rigid bodies"),
        (["squeeze(press=2)"], "press is 2.0"),
        (["squeeze(finer=2)"], "SoftMaterial: finer is 2"),
        (["squeeze(faces=100, budget=0.01)"], "budget"),
        (["squeeze", "--method", "image_space"], "image_space"),
        (["squeeze", "--dt", "0"], "dt is 0.0"),
        (["nothing"], "and squeeze"),
    ],
)
def test_what_the_command_refuses_in_one_sentence(jostle, arguments, message):
    with pytest.raises(JostleError, match=re.escape(message)) as error:
        jostle("sim", *arguments)
    assert "\n" not in str(error.value)


def test_the_examples_of_the_document_run():
    page = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 2
    for example in examples:
        exec(compile(example, "docs/simulation.md", "exec"), {"__name__": "example"})
