"""Compiled kernels that are installed with a wheel. Needs Numba.

The wheel `jostle-kernels` (`make kernels`, docs/compiled_kernels.md) holds the cache files of all kernels of jostle, compiled for a
processor that most machines have. It installs a package of data, which is looked at before the user's cache and never imported:

    jostle_kernels/__init__.py
    jostle_kernels/manifest.json      what the code was made from and for
    jostle_kernels/code/*.kernel      files of the cache, as `kernels/cache.py` writes and reads them

Any other package with kernels may bring its own: `trial_kernels` for `trial`.

**Which wheel.** The manifest is compared as a whole, once per process, before any file is opened. A wheel that differs in
anything is ignored, with one sentence on stderr. After that each kernel is found by the key that it would have in the user's cache,
with another target in it, so a file is loaded only if signature, sources, constants and options agree too.

| in the manifest | agrees if equal | instead of, in the user's cache |
|---|---|---|
| sources | digest of all sources of the package and of jostle | sources that a kernel reaches; these are in its key as well |
| python | suffix of extension modules and number of the bytecode: implementation, minor version, ABI | whole version, with build |
| numba, llvmlite | version | the same |
| numpy | major and minor version: a bug-fix release changes neither types nor the memory of arrays | whole version |
| triple | LLVM's name of the platform | the same, in the key |
| settings | bounds checks, optimization, vectorization, SVML | the same, in the key |
| cpu, features | see below | name and features of this processor, in the key |

**Which processor.** Numba compiles for the processor that it finds, or for NUMBA_CPU_NAME and NUMBA_CPU_FEATURES. Shipped code is
compiled for a named baseline (`TARGETS`), and admitted if this processor has what the baseline needs. It is neither stored in the
user's cache nor found there: the target in a key there is this processor. A kernel that the wheel lacks is compiled for
this processor. The inner forms that it calls may come from the wheel: they are bitcode without a target of their own, and
become machine code with their caller.

**Whose choice.** Whoever sets NUMBA_CPU_NAME or NUMBA_BOUNDSCHECK asks for other code than the wheel's, and gets it without a
sentence. JOSTLE_COMPILED=0 ignores all wheels.

Files of a wheel are trusted like the modules beside them: both are code.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.machinery
import importlib.util
import json
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import codegen

from jostle.kernels.at_hand import CODE, wheel_folder
from jostle.kernels.progress import StatusLine, is_quiet
from jostle.kernels.sources import OWN_PACKAGE, package_sources

MANIFEST = "manifest.json"
Settings = tuple[Any, ...]
config: Any = numba.config
get_host_cpu_features: Any = codegen.get_host_cpu_features


@dataclasses.dataclass(frozen=True)
class Baseline:
    """A processor that shipped code is compiled for.

    Attributes
    ----------
    cpu, features : str
        As for NUMBA_CPU_NAME and NUMBA_CPU_FEATURES.
    needs : tuple of str
        LLVM's names of what a processor must have to run the code, beyond what the platform demands of all.
    """

    cpu: str
    features: str
    needs: tuple[str, ...]


X86_64_V3 = ("avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave")
TARGETS = {
    "x86_64": Baseline("x86-64-v3", "", X86_64_V3),
    "aarch64": Baseline("generic", "", ()),
    "arm64": Baseline("apple-m1", "", ()),  # LLVM calls Apple's platform so; the M1 was the first there
}
"""Baselines by the first part of LLVM's triple."""


@dataclasses.dataclass(frozen=True)
class Wheel:
    """The compiled kernels of one wheel.

    Attributes
    ----------
    folder : Path
        Folder of the files.
    cpu, features : str
        The target in the keys of its kernels.
    """

    folder: Path
    cpu: str
    features: str


class IgnoredError(Exception):
    """A wheel that is not used; the message is the reason.

    It is empty if the user asks for other code.
    """


def compile_settings() -> Settings:
    """Return Numba's settings that change compiled code."""
    vectorizers = (config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
    return (config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT, *vectorizers, bool(config.USING_SVML))


def made_from(package: str) -> dict[str, Any]:
    """Return what compiled kernels of a package depend on, except the target.

    These are entries of the manifest.
    """
    sources = {name: package_sources(name) for name in sorted({package, OWN_PACKAGE})}
    return {
        "python": f"{importlib.machinery.EXTENSION_SUFFIXES[0]} {importlib.util.MAGIC_NUMBER.hex()}",
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": ".".join(np.__version__.split(".")[:2]),
        "sources": {name: one.digest for name, one in sources.items() if one is not None},
    }


def distribution(package: str) -> str:
    """Return the name of a package's wheel."""
    return f"{package}-kernels"


@functools.cache
def shipped_kernels(package: str, triple: str) -> Wheel | None:
    """Return the installed kernels of a package for this process, or None.

    The first call explains on stderr why an installed wheel is ignored.
    """
    folder = wheel_folder(package)
    if folder is None:
        return None
    try:
        return _admitted(folder, package, triple)
    except IgnoredError as reason:
        if str(reason) and not is_quiet():
            cure = f"pip install --upgrade '{package}[compiled]' replaces them, pip uninstall {distribution(package)} removes them"
            StatusLine().end(f"jostle: ignoring the compiled kernels in {folder}: {reason}; {cure}")
        return None


def _admitted(folder: Path, package: str, triple: str) -> Wheel:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        settings, needs = tuple(manifest["settings"]), tuple(manifest["needs"])
        wheel = Wheel(folder / CODE, manifest["cpu"], manifest["features"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise IgnoredError(f"{MANIFEST} cannot be read ({type(error).__name__})") from None
    for name, here in {"triple": triple, **made_from(package)}.items():
        made = manifest.get(name)
        if made != here:
            raise IgnoredError(_difference(name, made, here))
    asked = (config.CPU_NAME, config.CPU_FEATURES)
    if settings != compile_settings() or asked not in ((None, None), (wheel.cpu, wheel.features)):
        raise IgnoredError
    host = get_host_cpu_features().split(",") if needs else []
    missing = [one for one in needs if f"+{one}" not in host]
    if missing:
        raise IgnoredError(f"they are for {wheel.cpu}, and this processor lacks {', '.join(missing)}")
    return wheel


def _difference(name: str, made: Any, here: Any) -> str:
    if name == "sources":
        return "they are of other sources than those installed"
    title = {"python": "Python", "numba": "Numba", "numpy": "NumPy", "triple": "platform"}.get(name, name)
    return f"they are for {title} {made}, this is {here}"
