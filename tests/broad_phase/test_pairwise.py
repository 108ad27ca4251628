"""Pairwise and PairTest work for one more release, with a warning."""

import numpy as np
import pytest

import jostle
from jostle.broad_phase.pairwise import PairTest, Pairwise
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.geometry.pose import translation
from jostle.interface.traits import Answer, Serve
from tests.all_faces_behind import AllFaces, AllFacesBehind
from tests.tiny import box, tetrahedron


@pytest.mark.small
@pytest.mark.parametrize(("name", "found"), [("Pairwise", Pairwise), ("PairTest", PairTest)])
def test_the_public_names_are_there_with_a_warning_that_names_what_takes_their_place(name, found):
    with pytest.warns(DeprecationWarning, match=f"jostle.{name} .*broad_phase.candidates.Candidates"):
        assert getattr(jostle, name) is found
    assert name not in dir(jostle)


@pytest.mark.small
def test_traits_are_those_of_the_narrow_phase_less_what_pairs_cannot_do():
    method = Pairwise(UniformGrid(), AllFaces())
    assert Answer.FACES in method.traits.answers
    assert Answer.DISTANCE not in method.traits.answers
    assert Serve.SOLID in method.traits.serves
    world = jostle.World(method)
    world.add(box())
    world.add(box())
    with pytest.raises(jostle.Unsupported, match="distance"):
        world.distance(0, 1)
    assert repr(method) == "Pairwise(broad=UniformGrid(cell=None), narrow=AllFaces())"


def test_it_finds_what_a_detector_with_candidates_finds():
    old, new = jostle.World(Pairwise(UniformGrid(), AllFaces())), jostle.World(AllFacesBehind())
    for world in (old, new):
        for k in range(10):
            world.add(tetrahedron(), translation((0.9 * k, 0, 0)))
    for options in ({}, {"itself": True}, {"clearance": 0.85}):
        expected, report = new.detect(**options), old.detect(**options)
        assert len(expected.contacts)
        assert report.to_array().tobytes() == expected.to_array().tobytes()
        assert report.counters == expected.counters
    old.remove(0)
    assert old.detect().counters.body_pairs == 8
    np.testing.assert_array_equal(old.overlay().boxes, new.overlay().boxes[1:])
