"""The rehearsal: it runs once in a process, and whatever the settings are it offends nobody."""

import pytest

import jostle
from jostle.methods.monte_carlo import rehearsal
from jostle.methods.monte_carlo.search import Search
from tests.tiny import tetrahedron

SETTINGS = [
    {"broad": "priority_queue(speed=1e-6)"},
    {"seeds": 1, "thorough": False, "most_pairs": 1},
    {"order": "camera", "camera": (0.0, 0.0, 5.0)},
    {"error": "auto", "levels": 1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=[next(iter(each)) for each in SETTINGS])
def test_the_first_world_of_a_process_is_ready_before_its_first_budget(settings, monkeypatch):
    frames = []
    begin = Search.begin_frame
    monkeypatch.setattr(rehearsal, "_rehearsed", False)
    monkeypatch.setattr(Search, "begin_frame", lambda *given, **named: (frames.append(given), begin(*given, **named))[1])
    for _ in range(2):
        world = jostle.World(jostle.MonteCarlo(**settings))
        world.add(tetrahedron())
        world.add(tetrahedron(0.1))
        world.prepare()
    assert len(frames) == 2  # those of one rehearsal
    assert len(world.detect(budget=jostle.Budget(seconds=0.5)).contacts) > 0
