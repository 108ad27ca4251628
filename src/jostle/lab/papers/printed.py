"""The values that a paper prints, from the one data file of its folder."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def values_printed(package: str) -> dict[str, dict[str, Any]]:
    """Return the tables of `printed.toml` in a package: one for each figure, with its place in the paper."""
    return tomllib.loads(resources.files(package).joinpath("printed.toml").read_text(encoding="utf-8"))
