"""What the tests of the laboratory share."""

import pytest

from jostle.lab import measure
from tests.lab.in_this_process import InThisProcess


@pytest.fixture
def in_this_process(monkeypatch):
    """Methods replay in the process of the tests."""
    monkeypatch.setattr(measure, "ServerProcess", InThisProcess)
