"""Settings of the panel under both names of self-collision, and their checks."""

from dataclasses import replace

import pytest

import jostle
from jostle.viewer.settings import Settings


def test_the_older_name_of_self_collision_sets_replaces_and_reads():
    assert Settings() == Settings(self_collision=False)
    older = Settings(itself=True)
    assert older == Settings(self_collision=True)
    assert older.itself is older.self_collision is True
    assert replace(Settings(clearance=0.5), itself=True) == Settings(clearance=0.5, self_collision=True)
    assert replace(older, self_collision=False).itself is False
    with pytest.raises(jostle.InputError, match="itself is 'yes'"):
        Settings(itself="yes")
