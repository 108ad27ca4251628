"""Lattices are refined before a probable collision, and coarse again after it."""

import numpy as np
import pytest

from jostle.sim import SoftMaterial, SoftSimulation, Squeeze
from jostle.sim.refinement import cells_with_faces
from tests.sim.depth import mutual_depth

BODIES = ("lower", "upper")
ALLOWED_DEPTH = 0.007  # at rest, as without refinement (test_squeeze.py)
REST = 102  # the frame at which the plates open again


def a_squeeze(method="wide_tree", faces=500, cells=6, **settings):
    material = SoftMaterial(cells=cells, finer=1)
    return Squeeze(faces=faces, method=method, lower=material, upper=material, **settings)


def cells_of_pairs(simulation, row):
    """(c,) the cells of a body with a facet that has met another one."""
    pairs, first = simulation.pairs, simulation._arrays.surfaces.first_face
    met = np.zeros(first[row + 1] - first[row], bool)
    met[pairs.face_a[pairs.held & (pairs.body_a == row)] - first[row]] = True
    met[pairs.face_b[pairs.held & (pairs.body_b == row)] - first[row]] = True
    return cells_with_faces(simulation._lattices._resolutions[row], met)


@pytest.mark.parametrize("method", ["wide_tree", "monte_carlo"])
def test_bodies_are_fine_where_they_meet_before_they_do_and_coarse_again_when_they_have_parted(method):
    squeeze = a_squeeze(method)
    simulation = squeeze.simulation
    masses = [simulation._arrays.mass[slice(*simulation._arrays.first_node[row : row + 2])].sum() for row in (0, 1)]
    deepest, when_split, when_met = 0.0, None, None
    for frame in range(1, squeeze.frames + 1):
        split = [simulation.split_cells(name).copy() for name in BODIES]
        squeeze.step()
        if frame <= REST:
            for row in (0, 1):
                met = cells_of_pairs(simulation, row)
                assert split[row][met].all() or frame == 1  # as it was before this step
                when_met = frame if when_met is None and met.any() else when_met
            when_split = frame if when_split is None and simulation.split_cells("lower").any() else when_split
        if frame % 20 == 0:
            deepest = max(deepest, mutual_depth(simulation, *BODIES))
        if frame == REST:
            assert mutual_depth(simulation, *BODIES) < ALLOWED_DEPTH
            # The middle of the lower body is coarse, its top and bottom are not.
            cells = simulation._lattices._resolutions[0].coarse
            height = np.abs(cells.node[cells.cell].mean(axis=1)[:, 2])
            assert simulation.split_cells("lower")[height < 0.2].mean() < 0.3
            assert simulation.split_cells("lower")[height > 0.6].sum() >= 16
    assert when_split < when_met
    if method == "monte_carlo":
        assert when_split == 1  # samples are fine while the bodies are still apart
    assert deepest < 2.0 * ALLOWED_DEPTH
    for row, name in enumerate(BODIES):
        assert not simulation.split_cells(name).any()
        nodes = slice(*simulation._arrays.first_node[row : row + 2])
        assert simulation._arrays.mass[nodes].sum() == pytest.approx(masses[row], rel=1e-12)
        assert simulation._lattices.lattices[row] is simulation._lattices._resolutions[row].coarse


def test_splits_and_merges_keep_mass_momentum_and_angular_momentum(monkeypatch):
    squeeze = a_squeeze(faces=200, cells=4, roughness=0.2, merge_after=0.05)
    refine = SoftSimulation._refine
    more, fewer = 0, 0

    def state(simulation):
        return np.array([simulation._arrays.mass.sum(), *simulation.momentum, *simulation.angular_momentum])

    def refine_and_compare(simulation, seconds):
        nonlocal more, fewer
        before, count = state(simulation), len(simulation._arrays.mass)
        scale = np.abs(simulation._arrays.mass[:, None] * simulation._arrays.nodes.velocity).sum()
        refine(simulation, seconds)
        more, fewer = more + (len(simulation._arrays.mass) > count), fewer + (len(simulation._arrays.mass) < count)
        assert np.abs(state(simulation) - before)[0] < 1e-12 * before[0]
        assert np.abs(state(simulation) - before)[1:].max() <= 1e-12 * scale

    monkeypatch.setattr(SoftSimulation, "_refine", refine_and_compare)
    for _ in range(160):
        squeeze.step()
    assert more > 5
    assert fewer > 2


@pytest.mark.parametrize("method", ["wide_tree", "monte_carlo"])
def test_equal_inputs_give_equal_bits(method):
    shapes = []
    for _ in range(2):
        squeeze = a_squeeze(method, faces=200, cells=4, roughness=0.3, merge_after=0.1)
        for _ in range(40):
            squeeze.step()
        assert squeeze.simulation.split_cells("upper").any()
        shapes.append(b"".join(squeeze.simulation.positions(name).tobytes() for name in BODIES))
    assert shapes[0] == shapes[1]


def test_a_step_that_raises_has_split_nothing(monkeypatch):
    wanted, found = a_squeeze(faces=200, cells=4), a_squeeze(faces=200, cells=4)
    refine = SoftSimulation._refine
    raised = 0

    def refine_and_fail(simulation, seconds):
        refine(simulation, seconds)
        raise RuntimeError("here")

    for _ in range(12):
        before = found.simulation.positions("lower").copy(), found.simulation.split_cells("lower").copy()
        if found.simulation.frames > 0:
            with monkeypatch.context() as patch:
                patch.setattr(SoftSimulation, "_refine", refine_and_fail)
                with pytest.raises(RuntimeError, match="here"):
                    found.step()
            assert (found.simulation.positions("lower") == before[0]).all()
            assert (found.simulation.split_cells("lower") == before[1]).all()
            raised += 1
        found.step()
        wanted.step()
    assert raised == 11
    assert found.simulation.split_cells("lower").any()
    assert (found.simulation.positions("lower") == wanted.simulation.positions("lower")).all()


def test_pairs_of_the_last_step_that_are_still_near_are_kept_though_a_report_lacks_them():
    kept = []
    for finer in (0, 1):
        material = SoftMaterial(cells=4, finer=finer)
        squeeze = Squeeze(faces=200, lower=material, upper=material)
        for _ in range(20):
            squeeze.step()
        simulation, nothing = squeeze.simulation, np.empty(0, np.int32)
        assert simulation.pairs.held.any()
        held = set(zip(simulation.pairs.face_a[simulation.pairs.held], simulation.pairs.face_b[simulation.pairs.held], strict=True))
        simulation._choose((nothing,) * 4, True, simulation._next_query())
        left = set(zip(simulation.pairs.face_a, simulation.pairs.face_b, strict=True))
        kept.append(len(held & left) / len(held))
    assert kept[0] == 0.0
    assert kept[1] > 0.9


def test_a_body_that_may_not_be_refined_has_no_cells_to_split():
    squeeze = Squeeze(faces=200, lower=SoftMaterial(cells=4), upper=SoftMaterial(cells=4, finer=1))
    for _ in range(30):
        squeeze.step()
    assert len(squeeze.simulation.split_cells("lower")) == 0
    assert squeeze.simulation.split_cells("upper").any()
