"""Functions for two meshes prepare them in each call, as their documentation says; a world and a pair prepare once."""

import inspect

import numpy as np
import pytest

import jostle
from tests.tiny import box

ABOVE = jostle.translation((0.0, 0.0, 3.0))
METHODS = {"wide_tree": jostle.WideTree, "bounding_tree": jostle.BoundingTree}


@pytest.fixture
def prepared(monkeypatch):
    """Names of the methods that prepared a mesh, in order."""
    found = []
    for name, method in METHODS.items():

        def prepare(self, mesh, progress=None, *, _name=name, _own=method.prepare_shape):
            found.append(_name)
            return _own(self, mesh)

        monkeypatch.setattr(method, "prepare_shape", prepare)
    return found


@pytest.mark.parametrize(
    ("call", "method", "meshes"),
    [
        (lambda a, b: jostle.collide(a, b, pose_b=ABOVE, method="wide_tree"), "wide_tree", 2),
        (lambda a, b: jostle.distance(a, b, pose_b=ABOVE, method="wide_tree"), "wide_tree", 2),
        (lambda a, b: jostle.self_collide(a, method="wide_tree"), "wide_tree", 1),
        (lambda a, b: jostle.first_contact(a, b, to_b=ABOVE), "bounding_tree", 2),
    ],
    ids=["collide", "distance", "self_collide", "first_contact"],
)
def test_one_call_prepares_its_meshes_anew(prepared, call, method, meshes):
    a, b = box(), box((2, 2, 2), (3, 3, 3))
    call(a, b)
    call(a, b)
    assert prepared == [method] * 2 * meshes


def test_a_world_and_a_pair_prepare_once(prepared):
    a, b = box(), box((2, 2, 2), (3, 3, 3))
    pair = jostle.Pair(a, b)
    world = jostle.World("wide_tree")
    first, second = world.add(a), world.add(b)
    for _ in range(3):
        assert pair.touches() is False
        assert pair.distance() == world.distance(first, second).distance
        assert not world.detect()
        assert not world.detect_many(np.array([world.poses] * 2)).touching.any()
    assert prepared == ["wide_tree"] * 4


@pytest.mark.parametrize("name", ["collide", "distance", "self_collide", "first_contact"])
def test_the_documentation_says_so_and_names_what_keeps_it(name):
    said = " ".join(inspect.getdoc(getattr(jostle, name)).split())
    assert "Each call prepares" in said
    assert "anew" in said
    assert "World" in said


def test_distances_are_said_to_be_of_surfaces():
    for call in (jostle.distance, jostle.World.distance):
        said = " ".join(inspect.getdoc(call).split())
        assert "is at a positive distance" in said
        assert "solid=True" in said
    assert jostle.distance(box(), box((0.4, 0.4, 0.4), (0.6, 0.6, 0.6))).distance == pytest.approx(0.4)
