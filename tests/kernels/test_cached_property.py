"""Attributes that are computed on first use, without a lock."""

from __future__ import annotations

import functools
import inspect
import threading

import pytest

import jostle
from jostle.kernels.cached_property import cached_property

pytestmark = pytest.mark.small


class Box:
    def __init__(self, compute):
        self.compute = compute

    @cached_property
    def value(self):
        """What the box holds."""
        return self.compute()


def test_it_is_computed_once_and_can_be_forgotten():
    counted = []
    box = Box(lambda: counted.append(1) or len(counted))
    assert (box.value, box.value, box.__dict__["value"]) == (1, 1, 1)
    del box.value
    assert box.value == 2
    assert inspect.getdoc(Box.value) == "What the box holds."


def test_an_error_is_not_kept():
    answers = iter([None, 3])
    box = Box(lambda: 1 + next(answers))
    with pytest.raises(TypeError):
        _ = box.value
    assert box.value == 4


def test_another_object_does_not_wait_and_two_threads_get_the_value_of_the_first():
    computing, go_on = threading.Event(), threading.Event()

    def slowly():
        computing.set()
        assert go_on.wait(30)
        return object()

    late, seen = Box(slowly), []
    thread = threading.Thread(target=lambda: seen.append(late.value))
    thread.start()
    assert computing.wait(30)
    assert Box(lambda: 5).value == 5
    late.compute = object
    first = late.value
    go_on.set()
    thread.join()
    assert seen == [first]


@pytest.mark.parametrize("owner", [jostle.Mesh, jostle.Bodies])
def test_meshes_and_bodies_hold_no_lock_while_they_compute(owner):
    assert not [name for name, value in vars(owner).items() if isinstance(value, functools.cached_property)]
