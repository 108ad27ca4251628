"""The look-up against NumPy in float64: points into voxels, groups that are passed over, pairs left out, deep points."""

import numpy as np
import pytest

from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.handles import AddressTable
from jostle.methods.voxmap import look_up
from jostle.methods.voxmap.detector import arrays_of
from jostle.methods.voxmap.groups import CELL, FARTHEST, balls_of_groups, coarse_bounds, points_in_blocks
from jostle.methods.voxmap.look_up import MOST_ACROSS, LookUpState
from jostle.methods.voxmap.map import GridSize
from jostle.methods.voxmap.shape_arrays import MAP_BODY, SHELL_BODY, TASK
from tests.methods.voxmap.by_hand import ball, filled_ball, shape_of
from tests.tiny import random_pose

pytestmark = pytest.mark.small


class Look:
    """Shapes, one for each body, and the kernels over them."""

    def __init__(self, shapes, poses, both=False):
        self.shapes, self.poses, self.both = shapes, np.array(poses, float), both
        arrays = [arrays_of(shape, True) for shape in shapes]
        self.table, self.numbers = AddressTable(arrays), [numbers for *_, numbers in arrays]

    def place(self, body_a, body_b):
        count = len(body_a)
        tasks, frames = np.full((2 * count, TASK), -9, np.int32), np.empty((2 * count, 3, 4))
        shape_of_body = np.arange(len(self.shapes), dtype=np.int32)
        found = look_up.place_shells(
            np.array(body_a, np.int32), np.array(body_b, np.int32), 0, count, shape_of_body, self.table.table, self.poses,
            self.both, tasks, 0, frames,
        )  # fmt: skip
        return tasks[:found], frames[:found]

    def rows(self, tasks, frames, grouped=True, row_mode=look_up.ALL, operations=1 << 40, capacity=None, pairs=1):
        """Rows [(task, point)], points looked up, marks of pairs; `capacity` and `operations` make it stop and go on."""
        state, marks = np.zeros(1, LookUpState.dtype), np.zeros(pairs, np.uint8)
        capacity = capacity or 16 * look_up.PIECE * max(1, len(tasks))
        rows = np.empty((3, capacity), np.int32)
        found = []
        while True:
            look_up.look_up_shells(tasks, frames, self.table.table, grouped, False, row_mode, operations, state, marks, rows)
            next_task, _, n, looked_up = state.item()
            if next_task == len(tasks):
                found += zip(rows[0, :n].tolist(), rows[1, :n].tolist(), strict=True)
                assert (rows[2, :n] == 1).all()
                return found, looked_up, marks
            if n > capacity - look_up.PIECE:
                rows = np.concatenate([rows, np.empty_like(rows)], axis=1)
                capacity *= 2

    def places(self, giver, taker):
        """Shell points of one body in voxels of the other's map, in float64."""
        shell, at = self.shapes[giver], self.shapes[taker]
        relative = np.linalg.solve(self.poses[taker], self.poses[giver])
        body = (shell.points.astype(float) + shell.middle) @ relative[:3, :3].T + relative[:3, 3]
        return (body - at.origin) / at.voxel


def is_filled(filled, places):
    """Whether voxels at places (n,3) in voxels are filled; and how far each place is from the faces between voxels."""
    index = np.floor(places).astype(int)
    inside = ((index >= 0) & (index < filled.shape[::-1])).all(axis=1)
    index = np.where(inside[:, None], index, 0)
    return inside & filled[index[:, 2], index[:, 1], index[:, 0]], np.abs(places - np.round(places)).min(axis=1)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("grouped", [False, True])
def test_hits_are_the_points_in_filled_voxels(grouped, offset):
    rng = np.random.default_rng(2)
    checked = 0
    for seed in range(6):
        filled = rng.random((27, 33, 40)) < (0.5, 0.02)[seed % 2]
        cloud = rng.uniform(-1, 1, (700, 3)) * (14, 12, 10)
        order = np.lexsort(np.floor(cloud / 4).T)
        at = shape_of(filled, rng.normal(size=(3, 3)), 0.5, (3.0, -2.0, 1.0))
        middle_of_map = at.origin + 0.25 * at.cells
        far = np.array([1.0, -0.7, 0.4]) * offset
        poses = [translation(far) @ random_pose(rng, 1.0)]
        poses.append(poses[0] @ translation(middle_of_map) @ random_pose(rng, 3.0))
        look = Look([at, shape_of(filled[:4], cloud[order] * 0.5, 0.4)], poses)
        tasks, frames = look.place([0], [1])
        assert tasks[:, SHELL_BODY].tolist() == [1]
        found, looked_up, marks = look.rows(tasks, frames, grouped)
        expected, margin = is_filled(filled, look.places(1, 0))
        hits = np.zeros(700, bool)
        hits[[point for _, point in found]] = True
        certain = margin > 1e-4
        assert (hits == expected)[certain].all()
        assert [point for _, point in found] == sorted(point for _, point in found)
        assert looked_up == 704 if not grouped else looked_up <= 704
        assert marks.tolist() == [int(hits.any())]
        checked += int(expected.sum())
    assert checked > 300


def test_groups_save_look_ups_and_lose_no_hit():
    rng = np.random.default_rng(5)
    saved = []
    for _ in range(12):
        far = rng.normal(size=3)
        far *= rng.uniform(0.3, 2.1) / np.linalg.norm(far)
        look = Look([ball(40), ball(48, 0.9, 900)], [random_pose(rng, 0.0), translation(far) @ random_pose(rng, 0.0)])
        tasks, frames = look.place([0], [1])
        every, all_points, _ = look.rows(tasks, frames, grouped=False)
        some, fewer, _ = look.rows(tasks, frames, grouped=True)
        assert some == every
        saved.append(1 - fewer / max(1, all_points))
    assert max(saved) > 0.4


def test_groups_lose_no_hit_of_a_shell_that_is_huge_beside_the_map():
    """With `both` a coarse shell meets a fine map: 10⁶ of its voxels away from its middle float32 is off by tenths of a voxel."""
    rng = np.random.default_rng(0)
    filled, found = np.ones((8, 8, 8), bool), 0
    for _ in range(6):
        # Groups of which one half is just inside of the map, and the other 60 voxels off.
        inside = np.stack([8 - rng.uniform(0, 0.3, 100), *rng.uniform(1, 7, (2, 100))], axis=1)
        points = np.repeat(np.stack([inside, inside + np.array([60.0, 0, 0])], axis=1), 16, axis=1).reshape(-1, 3)
        turned = random_pose(rng, 0.0)
        middle = rng.uniform(1e5, 8e5) * np.array([1.0, 2.0, -1.5])
        shell = shape_of(filled, points @ turned[:3, :3], 1000.0, middle=middle @ turned[:3, :3])
        look = Look([shape_of(filled, np.zeros((1, 3))), shell], [np.eye(4), turned], both=True)
        tasks, frames = look.place([0], [1])
        of_shell = tasks[:, SHELL_BODY] == 1
        every, some = (look.rows(tasks[of_shell], frames[of_shell], grouped)[0] for grouped in (False, True))
        assert some == every
        found += len(every)
    assert found > 5000


def test_stopping_and_going_on_changes_nothing():
    look = Look(
        [ball(20), ball(24, 0.9, 1500, 1), ball(20, 0.5, 700, 2)], [np.eye(4), translation((0.7, 0, 0)), translation((0, 1, 0))]
    )
    tasks, frames = look.place([0, 0, 1], [1, 2, 2])
    assert len(tasks) == 3
    for grouped in (False, True):
        whole = look.rows(tasks, frames, grouped, pairs=3)
        assert len(whole[0]) > 300
        for operations, capacity in ((1, None), (300, None), (1 << 40, look_up.PIECE), (500, look_up.PIECE + 100)):
            assert look.rows(tasks, frames, grouped, operations=operations, capacity=capacity, pairs=3)[:2] == whole[:2]


def test_one_hit_is_the_first_one():
    look = Look(
        [ball(20), ball(24, 0.9, 1500, 1), ball(20, 0.5, 700, 2)], [np.eye(4), translation((0.7, 0, 0)), translation((0, 1, 0))]
    )
    tasks, frames = look.place([0, 0, 1], [1, 2, 2])
    every = look.rows(tasks, frames, pairs=3)[0]
    firsts = [next(row for row in every if row[0] == task) for task in sorted({task for task, _ in every})]
    for operations in (1 << 40, 1):
        found, fewer, _ = look.rows(tasks, frames, row_mode=look_up.ONE_PER_PAIR, pairs=3, operations=operations)
        assert found == firsts
        assert look.rows(tasks, frames, row_mode=look_up.ONE, pairs=3, operations=operations)[0] == firsts[:1]
    assert fewer < look.rows(tasks, frames, pairs=3)[1]


def test_rounding_is_within_the_slack_of_the_guarantee_on_the_largest_maps():
    """Stripes across x, and points 0.0028 off their borders, in a map of 2048 voxels from a shell of as many."""
    rng = np.random.default_rng(8)
    filled = np.zeros((4, 4, MOST_ACROSS), bool)
    filled[:, :, ::2] = True
    at = shape_of(filled, np.zeros((1, 3)), 0.37)
    for trial in range(4):
        border = rng.integers(1, MOST_ACROSS - 1, 2000)
        side = rng.choice([-1.0, 1.0], 2000)
        places = np.stack([border + 0.0028 * side, rng.uniform(0.01, 3.99, 2000), rng.uniform(0.01, 3.99, 2000)], axis=1)
        relative = random_pose(rng, 0.0)
        relative[:3, 3] = rng.normal(size=3) * 1e3
        points = (places * at.voxel - relative[:3, 3]) @ np.linalg.inv(relative[:3, :3]).T
        # A shell whose middle is off the points, so that they are as far from it as the largest shell allows.
        aside = rng.normal(size=3)
        aside -= aside @ relative[:3, 0] * relative[:3, 0]
        aside *= np.sqrt(3.0) / 2 * MOST_ACROSS * at.voxel * 0.86 / np.linalg.norm(aside)
        shell = shape_of(filled[:, :, :8], points, 0.36, middle=points.mean(axis=0) + aside)
        assert np.linalg.norm(shell.points, axis=1).max() / at.voxel > 1700
        far = translation((1e6, -1e6, 3e5)) if trial % 2 else np.eye(4)
        look = Look([at, shell], [far, far @ relative])
        look.numbers[1]["origin"], look.numbers[1]["cells"] = -1e4, 1e5  # a map that holds the shell
        tasks, frames = look.place([0], [1])
        assert len(tasks) == 1
        hits = np.zeros(2000, bool)
        hits[[point for _, point in look.rows(tasks, frames, grouped=False)[0]]] = True
        assert (hits == ((border - (side < 0)) % 2 == 0)).all()


def test_pairs_that_are_left_out_have_no_hits_and_distant_ones_are():
    """Balls with no more room about them than they need, about to touch along any direction."""
    rng = np.random.default_rng(3)
    kept = dropped = touching = 0
    for _ in range(150):
        across, radii = rng.integers(30, 50, 2), rng.uniform(0.3, 1.0, 2)
        shapes = [ball(int(n), r, 300) for n, r in zip(across, radii, strict=True)]
        shapes = [shape._replace(radius=r + np.sqrt(1.5) * shape.voxel) for shape, r in zip(shapes, radii, strict=True)]
        away = rng.normal(size=3)
        away *= (radii.sum() + rng.uniform(-0.2, 0.8)) / np.linalg.norm(away)
        poses = [random_pose(rng, 0.0), translation(away) @ random_pose(rng, 0.0)]
        look = Look(shapes, poses, both=bool(rng.random() < 0.5))
        tasks, _ = look.place([0], [1])
        hits = any(is_filled(filled_ball(across[b]), look.places(a, b))[0].any() for a, b in ((0, 1), (1, 0)))
        touching += hits
        kept, dropped = kept + (len(tasks) > 0), dropped + (len(tasks) == 0)
        assert len(tasks) or not hits
    assert min(kept, dropped, touching) > 20


def test_who_gives_the_shell():
    def giver(a, b, both=False):
        return Look([a, b], [np.eye(4), np.eye(4)], both).place([0], [1])[0][:, SHELL_BODY].tolist()

    fine, coarse, thin = ball(20), ball(10), ball(20, points=50)
    assert giver(fine, coarse) == [0]
    assert giver(coarse, fine) == [1]
    assert giver(fine, thin) == [1]
    assert giver(thin, fine) == [0]
    assert giver(fine, ball(20)) == [0]
    assert giver(coarse, fine, both=True) == giver(fine, coarse, both=True) == [0, 1]


def test_deep_points_are_looked_up_where_nothing_hits():
    outer, inner = ball(8, 2.0), ball(4, 0.2)
    # The outer ball has the finer voxels, and a shell that hits nothing: what is left is the deep point of the inner one.
    cells, words = np.array([400, 400, 400]), np.full(10**6, -1).view(np.uint64)
    silent = outer._replace(points=outer.points[:0], voxel=0.01, cells=cells, words=words)
    look = Look([inner, silent], [translation((5, 5, 5)), translation((5, 5.5, 5))])
    tasks, _ = look.place([0], [1])
    assert tasks[:, MAP_BODY].tolist() == [0]
    rows = np.empty((1, 2), np.int32)
    marks = np.zeros(1, np.uint8)
    arguments = look.table.table, look.poses, marks, rows
    assert look_up.look_up_deep_points(tasks, *arguments) == 1
    assert rows.tolist() == [[0, -1]]
    look.poses[0] = translation((5, 7.6, 5))
    assert look_up.look_up_deep_points(tasks, *arguments) == 0
    look.poses[0], marks[0] = translation((5, 5, 5)), 1
    assert look_up.look_up_deep_points(tasks, *arguments) == 0


def test_coarse_bounds_are_below_every_distance():
    rng = np.random.default_rng(4)
    for shape, count in (((30, 17, 41), 3), ((8, 8, 8), 1), ((40, 40, 40), 0), ((9, 150, 5), 1)):
        filled = np.zeros(shape, bool)
        for place in rng.integers(0, shape, (count, 3)):
            filled[tuple(place)] = True
        of_it = shape_of(filled, np.zeros((1, 3)))
        bounds = coarse_bounds(of_it.words, GridSize(*of_it.cells.tolist()))
        cells = [n // CELL + 1 for n in shape]
        assert len(bounds) == np.prod(cells)
        corners = np.argwhere(filled)
        for k, j, i in np.ndindex(*cells):
            bound = bounds[(k * cells[1] + j) * cells[2] + i]
            if count == 0:
                assert bound == CELL * FARTHEST
                continue
            low = CELL * np.array([k, j, i])
            gap = np.maximum(np.maximum(corners - (low + CELL), low - (corners + 1)), 0)
            true = np.sqrt((gap**2).sum(axis=1).min())
            assert bound <= true
            assert bound >= min(true - CELL * np.sqrt(3), CELL * FARTHEST)


def test_balls_hold_their_groups_and_blocks_their_points():
    for count in (0, 1, 31, 32, 33, 256, 700):
        points = np.random.default_rng(count).normal(size=(count, 3)).astype(np.float32)
        blocks = points_in_blocks(points).reshape(-1, 3, 8).transpose(0, 2, 1).reshape(-1, 3)
        assert len(blocks) % look_up.PIECE == 0
        assert np.array_equal(blocks[:count], points)
        assert np.isnan(blocks[count:]).all()
        balls = balls_of_groups(points).reshape(-1, 4, 8).transpose(0, 2, 1).reshape(-1, 4).astype(float)
        groups = -(-count // look_up.GROUP)
        assert np.isnan(balls[groups:]).all()
        for k, point in enumerate(points.astype(float)):
            centre = balls[k // look_up.GROUP]
            assert np.linalg.norm(point - centre[:3]) <= centre[3] * (1 + 1e-7)
        assert len(balls) * look_up.GROUP == len(blocks)


def test_a_shell_turned_by_a_pose_that_is_not_quite_orthonormal_is_placed_by_solving():
    look = Look([ball(20), ball(24, 0.5, 300)], [np.eye(4), translation((0.9, 0.1, 0.2)) @ rotation_about((1, 1, 0), 0.3)])
    look.poses[0, :3, :3] *= 1 + 4e-6
    look.poses[:, :3, 3] += 1e4
    _, frames = look.place([0], [1])
    places = look.places(1, 0)
    moved = look.shapes[1].points.astype(float) @ frames[0, :, :3].T + frames[0, :, 3]
    assert np.abs(moved - places).max() < 1e-7
