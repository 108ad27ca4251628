"""One warm default `detect`: how many modules of Python it enters, and how often it builds its rows."""

import sys

import numpy as np
import pytest

import jostle
from jostle.report import assemble
from jostle.report.report import Contacts, Pairs
from jostle.shapes.build import icosphere

MOST_MODULES = 15


def touching_spheres(removed: int = 0) -> jostle.World:
    """Return a world of two touching spheres that has detected once; ids and numbers differ after bodies were removed."""
    world = jostle.World()
    for _ in range(removed):
        world.remove(world.add(icosphere(1)))
    world.add(icosphere(1), name="first")
    world.add(icosphere(1), jostle.translation((1.5, 0.0, 0.0)), "second")
    assert world.detect()
    return world


def modules_entered(world: jostle.World) -> set[str]:
    """Return the modules of jostle whose functions one `detect` calls; compiled kernels are not seen."""
    entered: set[str] = set()

    def note(frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.split(".")[0] == "jostle":
            entered.add(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        world.detect()
    finally:
        sys.setprofile(before)
    return entered


def test_a_detect_enters_few_modules():
    world = touching_spheres()
    world["second"].pose = jostle.translation((1.4, 0.0, 0.0))
    entered = modules_entered(world)
    assert {"jostle.world.world", "jostle.methods.wide_tree.detector", "jostle.report.assemble"} <= entered
    assert len(entered) <= MOST_MODULES, sorted(entered)


@pytest.mark.parametrize("removed", [0, 3])
def test_a_detect_builds_its_rows_once(removed, monkeypatch):
    world = touching_spheres(removed)
    made, passed = [], []
    construct, unchecked, report_of = Contacts.__init__, Contacts.unchecked.__func__, assemble.report_of

    def count(record, *in_order, **columns):
        made.append(type(record))
        construct(record, *in_order, **columns)

    def count_unchecked(record, columns):
        made.append(record)
        return unchecked(record, columns)

    def note(rows, *others):
        passed.append(rows)
        return report_of(rows, *others)

    for record in (Contacts, Pairs):
        monkeypatch.setattr(record, "__init__", count)
        monkeypatch.setattr(record, "unchecked", classmethod(count_unchecked))
    monkeypatch.setattr("jostle.methods.wide_tree.detector.report_of", note)
    contacts = world.detect().contacts
    assert sorted(each.__name__ for each in made) == ["Contacts", "Pairs"]
    (rows,) = passed
    assert len(contacts) == len(rows.face_a) > 0
    for name in ("face_a", "face_b", "kind", "distance"):  # the very arrays that the search wrote
        assert getattr(contacts, name) is getattr(rows, name), name
    assert np.unique(contacts.body_a).tolist() == [removed]
    assert np.unique(contacts.body_b).tolist() == [removed + 1]
