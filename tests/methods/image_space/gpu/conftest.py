"""The device of the tests: skipped with the reason where there is none, required where JOSTLE_REQUIRE_GPU is 1.

A device that is there and decides wrongly is no reason to skip: more likely than not a shader has been broken.
"""

import os

import pytest

from jostle.errors import InputError
from jostle.methods.image_space import gpu


@pytest.fixture
def device():
    try:
        return gpu.device.shared_device(only_real=False)
    except InputError as error:
        if os.environ.get("JOSTLE_REQUIRE_GPU") == "1":
            pytest.fail(f"JOSTLE_REQUIRE_GPU is 1, and {error}")
        if "start-up check" in str(error) or "refused the pipelines" in str(error):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def renderer(device):
    return gpu.start()
