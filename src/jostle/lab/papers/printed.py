"""The values that a paper prints, from the data file in its folder."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def values_printed(package: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a package's `printed.toml`, one for each figure."""
    return tomllib.loads(resources.files(package).joinpath("printed.toml").read_text(encoding="utf-8"))
