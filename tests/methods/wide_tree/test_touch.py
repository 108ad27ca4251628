"""`Pair.touches` in one call of a kernel: poses that are left out or wrong, and a search that stops before its end."""

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.methods.wide_tree import touch
from jostle.methods.wide_tree.pair_work import MOST_NEW, WaitingNodes
from jostle.shapes.build import blob, box
from tests.tiny import random_pose


def test_a_pose_that_is_left_out_is_the_identity_whatever_came_before():
    pair, away = jostle.Pair(box(), box()), translation((5.0, 0.0, 0.0))
    assert pair.touches()
    assert not pair.touches(away)
    assert pair.touches(away, away)
    assert pair.touches()
    assert not pair.touches(None, away)
    assert pair.distance(away) == pair.distance(None, away) == 4.0
    assert pair.touches()
    assert pair.distance() == 0.0


@pytest.mark.parametrize("wrong", [2.0 * np.eye(4), np.full((4, 4), np.nan), np.eye(3), "a pose", np.diag([1.0, 1.0, -1.0, 1.0])])
@pytest.mark.parametrize("named", ["pose_a", "pose_b"])
def test_a_wrong_pose_is_named_and_forgotten(wrong, named):
    pair = jostle.Pair(box(), box())
    for ask in (pair.touches, pair.distance, lambda **poses: pair.touches(**poses, clearance=0.1)):
        with pytest.raises(InputError, match=named):
            ask(**{named: wrong})
        assert pair.touches()
        assert not pair.touches(None, translation((5.0, 0.0, 0.0)))


def test_a_search_without_room_goes_on_with_more_and_answers_the_same():
    mesh, rng = blob(2_000, seed=1), np.random.default_rng(5)
    pair, cramped = jostle.Pair(mesh, mesh), jostle.Pair(mesh, mesh)
    answers, stops = [], 0
    for _ in range(20):
        (search,) = cramped._touch_searches
        search._work.replace(stack=np.zeros(MOST_NEW, WaitingNodes.dtype))
        search._ask()
        pose = random_pose(rng)
        pose[:3, 3] *= rng.uniform(1.0, 2.2) / np.linalg.norm(pose[:3, 3])
        stops += touch.touch(search._addresses, _placed(cramped, pose)) == touch.UNFINISHED
        answers.append(pair.touches(None, pose))
        assert cramped.touches(None, pose) == answers[-1]
        assert cramped.touches(None, pose) == answers[-1]  # with arrays that may have grown
    assert len(set(answers)) == 2
    assert stops > 5


def _placed(pair, pose):
    pair._place(None, pose)
    return pair._pairs.poses
