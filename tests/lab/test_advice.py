"""The closing sentence: the fastest of the exact, and what the others lacked or missed."""

import pytest

from jostle.lab.advice import advise
from jostle.lab.results import MethodRun, Point
from tests.lab.test_results import a_run

pytestmark = pytest.mark.small


def advice(*runs, frames=4):
    return advise(Point(None, 2, 100, frames, list(runs)))


def at(method, milliseconds, **fields):
    return a_run(method, [1e-3 * milliseconds] * 4, **fields)


def test_the_fastest_of_the_exact_is_best():
    text = advice(at("slow", 30.0), at("quick", 2.0), at("wrong", 0.5, missed=3, extra=1))
    assert text.startswith(
        "quick serves this scene best: exact in all 4 frames (every touching face pair, 8 in total), "
        "the fastest of 2 exact methods, with a median of 2.00 ms per frame."
    )
    assert "slow is exact too and takes 15 times as long (30.00 ms)." in text
    assert "wrong is faster (0.500 ms), and missed 3 of 10 touching face pairs and reported 1 wrong touching face pairs." in text


def test_what_did_not_serve_says_why():
    text = advice(
        at("only", 2.0),
        MethodRun("a", "unsupported", "a needs closed meshes (trait needs: closed); body 'x' is open"),
        MethodRun("b", "too slow", "stopped after 3 of 4 frames: it exceeded its limit of 60 s"),
        MethodRun("c", "failed", "ValueError: no."),
        at("d", 1.0, status="interrupted", why="interrupted after 1 of 5 timed rounds"),
    )
    assert "the only exact method, with" in text
    assert "a does not serve it: a needs closed meshes (trait needs: closed); body 'x' is open." in text
    assert "b is too slow for it: stopped after 3 of 4 frames: it exceeded its limit of 60 s." in text
    assert text.count("ValueError: no.") == 1
    assert "no.." not in text
    assert "d was interrupted" in text


def test_faces_come_before_pairs_of_bodies():
    text = advice(at("pairs", 1.0, compared="body pairs"), at("faces", 2.0))
    assert text.startswith("faces serves this scene best")
    assert "the fastest that names faces" in text
    assert "pairs is faster (1.00 ms), but names body pairs only." in text


def test_where_nobody_is_exact_the_nearest_is_named():
    text = advice(at("far", 1.0, missed=5), at("near", 9.0, missed=1))
    assert text.startswith("No method was exact on this scene; near came closest: missed 1 of 9 touching face pairs over 4 frames")
    assert "far is faster" in text


def test_what_the_guarantee_of_an_approximate_method_allows_is_told_apart():
    band = {"compared": "body pairs", "guarantee": "within 0.1", "missed_beyond": 0, "extra_beyond": 0}
    text = advice(at("exact", 2.0), at("band", 1.0, extra=2, **band), at("broken", 1.0, extra=2, **band | {"extra_beyond": 1}))
    assert "band is faster (1.00 ms), and reported 2 wrong touching body pairs, as its guarantee allows (within 0.1)." in text
    assert "reported 2 wrong touching body pairs, 1 of them against its guarantee (within 0.1)." in text
    kept = advice(at("near", 9.0, extra=1), at("band", 9.0, extra=2, **band))
    assert kept.startswith("No method was exact on this scene; band came closest: reported 2 wrong touching body pairs")
    text = advice(at("exact", 2.0), at("loose", 1.0, missed=1, **band | {"guarantee": "no guarantee", "missed_beyond": 1}))
    assert "touching body pairs (no guarantee)." in text


def test_where_nobody_served_everybody_says_why():
    text = advice(MethodRun("a", "failed", "it broke"), MethodRun("b", "too slow", "stopped while preparing"))
    assert text == "No method finished this scene. a failed: it broke. b is too slow for it: stopped while preparing."


def test_what_was_not_put_to_the_test_is_told():
    none = {"contacts": [0] * 4, "pairs": [0] * 4}
    text = advice(at("a", 1.0, **none, rounds=0), at("b", 1.05, **none))
    assert "Nothing touched in any frame" in text
    assert "a was timed in its warm-up only" in text
    assert "b is exact too and takes as long" in text
