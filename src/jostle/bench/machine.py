"""The machine that measured: processor, system, versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from jostle.kernels.pool import usable_processors


def describe_machine() -> dict[str, Any]:
    """Return processor, core counts, load, system, and the versions that matter."""
    return {
        "cpu": _processor_name(),
        "cores": os.cpu_count(),
        "usable_cores": usable_processors(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": _version("numba"),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _processor_name() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
