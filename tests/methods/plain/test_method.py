"""plain: the bytes of the compiled methods, without a compiler."""

import subprocess
import sys

import numpy as np
import pytest

import jostle
from jostle.methods.plain import rows, signs
from jostle.shapes import build
from tests.methods.plain.compare import COLUMNS, PAIR_COLUMNS, differences, filled, same_bytes, size_of
from tests.methods.plain.families import FAMILIES, case


@pytest.mark.parametrize("family", FAMILIES)
def test_random_worlds_have_the_bytes_of_wide_tree(family):
    for seed in range(24):
        wrong, _ = differences(family, seed)
        assert wrong == []


@pytest.mark.parametrize("family", ["integer_grid", "lines_and_points", "several_bodies"])
def test_every_row_mode_has_the_bytes_of_brute_force(family):
    for seed in range(6):
        bodies = case(family, seed)
        plain, oracle = filled("plain", bodies), filled("brute_force", bodies)
        clearance = 0.1 * size_of(bodies)
        for mode in ("first", "pairs", "any"):
            for query in ({}, {"solid": True}, {"self_collision": True}, {"clearance": clearance}):
                one, other = plain.detect(rows=mode, **query), oracle.detect(rows=mode, **query)
                assert same_bytes(one.contacts, other.contacts, COLUMNS), (family, seed, mode, query)
                assert same_bytes(one.pairs, other.pairs, PAIR_COLUMNS), (family, seed, mode, query)


def test_filters_deforming_bodies_and_bodies_that_go():
    worlds = jostle.World("plain"), jostle.World("wide_tree")
    rng = np.random.default_rng(2)
    for world in worlds:
        for k in range(7):
            world.add(build.icosphere(1), jostle.translation((0.7 * k, 0.0, 0.0)), f"ball {k}", deformable=k % 3 == 0)
        world["ball 1"].static = world["ball 2"].static = True
        world.ignore("ball 3", "ball 4")
    for step in range(4):
        moved = 0.05 * rng.normal(size=worlds[0]["ball 3"].vertices.shape)
        for world in worlds:
            world["ball 3"].vertices = world["ball 3"].vertices + moved
            if step == 2:
                world.remove("ball 5")
        one, other = (world.detect() for world in worlds)
        assert len(one.contacts) > 50
        for report in ("pairs", "began", "ended"):
            assert same_bytes(getattr(one, report), getattr(other, report), PAIR_COLUMNS)
        assert same_bytes(one.contacts, other.contacts, COLUMNS)


def test_walls_on_a_grid_are_decided_by_float64_alone(monkeypatch):
    """512 boxes wall to wall: 197,000 rows, and no row needs a second look."""
    world = jostle.World("plain")
    box = build.box()
    for x, y, z in np.ndindex(8, 8, 8):
        world.add(box, jostle.translation((float(x), float(y), float(z))))
    for name in ("filtered_sign", "filtered_turn", "exact_sign"):
        monkeypatch.setattr(signs, name, None)
    report = world.detect()
    assert len(report.contacts) == 196_812
    assert report.counters.triangle_tests < 300_000


def test_few_rows_of_turned_walls_need_integers(monkeypatch):
    world = jostle.World("plain")
    pose = jostle.rotation((1, 2, 3), 0.7)
    for x, y, z in np.ndindex(3, 3, 3):
        world.add(build.box(), pose @ jostle.translation((float(x), float(y), float(z))))
    slow = []
    monkeypatch.setattr(signs, "_sign_by_python", lambda points: slow.append(points.shape[2]))
    assert len(world.detect().contacts) > 1000
    assert slow == []


def test_any_stops_at_the_first_bodies_that_touch(monkeypatch):
    world = jostle.World("plain")
    for k in range(400):
        world.add(build.box(), jostle.translation((0.9 * k, 0.0, 0.0)))
    whole = world.detect(rows="pairs").counters.triangle_tests
    report = world.detect(rows="any")
    assert list(report.pairs) == [(0, 1)]
    assert report.counters.triangle_tests < whole / 4


def test_memory_of_triangles_is_bounded(monkeypatch):
    sizes = []
    test = rows.triangles_touch
    monkeypatch.setattr(rows, "triangles_touch", lambda a, b, certain: sizes.append(a.shape[2]) or test(a, b, certain))
    sphere = build.icosphere(4)
    assert jostle.collide(sphere, sphere, method="plain")
    assert max(sizes) == rows.TRIANGLES_AT_ONCE


WITHOUT_NUMBA = """
import sys

class Refused:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is not wanted here")

sys.meta_path.insert(0, Refused())
import numpy as np
import jostle
from jostle.shapes import build

world = jostle.World("plain")
first = world.add(build.box())
second = world.add(build.box(), jostle.translation((0.5, 0.4, 0.3)))
soft = world.add(build.box(), jostle.translation((3.0, 0.0, 0.0)), deformable=True)
soft.vertices = soft.vertices * 1.1
world.set_poses(world.poses)
report = world.detect()
assert len(report.contacts) > 5 and np.isfinite(report.contacts.normal).all() and report.to_dicts()
for query in ({"solid": True}, {"self_collision": True, "adjacent": True}, {"clearance": 3.0}, {"rows": "first"},
              {"rows": "any"}, {"rows": "pairs"}):
    assert world.detect(**query)
assert world.distance(first, soft).distance > 0.0
second.pose = jostle.translation((9.0, 0.0, 0.0))
assert len(world.detect().ended) == 1
assert jostle.collide(build.box(), build.box(), method="plain", solid=True).pairs.kind.tolist() == [6]
world.remove(second)
world.detect()
"""


def test_numba_is_neither_imported_nor_needed():
    subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True)
