"""The cache of compiled kernels: one file for each kernel, signature, target and set of options.

Numba's own cache is not safe to use: its key holds neither the callees nor the bounds checks (an edited callee in
another file, or checked beside unchecked code, is served stale), a truncated file raises at the user, and two
processes that save at once can swap code. Here

- the directory is named by a digest of all Python sources and of the versions of the tools, so that any edit is a miss;
- a file is written under a temporary name and renamed, and holds its whole key and a checksum, compared on load;
- every failure is a miss, never an error, and is counted in `cache_statistics`.

Looked up in order: `_kernels/<directory>` inside the package (room for a wheel that ships compiled kernels: made by a run
with NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES='' and moved there), the user's directory, the compiler.
Module globals that kernels read must follow from the sources; plain ones are part of the key all the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.resources
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, compiler, serialize, sigutils

OWN_PACKAGE = __name__.partition(".")[0]
FORMAT = b"jostle kernel 1\n"
SHIPPED_TARGET = ("x86-64-v3", "")  # the CPU name and features that shipped kernels are compiled for
SHIPPED_NEEDS = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "cx16", "sahf", "xsave")
KEPT_DIRECTORIES = 8  # of other digests: other environments, and the last few states of the sources
RECENT_SECONDS = 3600.0  # a busy afternoon of edits leaves a directory of a megabyte for each state of the sources

Function = Callable[..., Any]
config: Any = numba.config
CompileResult: Any = compiler.CompileResult
normalize_signature: Any = sigutils.normalize_signature
dumps: Any = serialize.dumps
Target = tuple[str, str, str]


@dataclasses.dataclass
class CacheStatistics:
    """What the cache has done in this process. `failures` counts by reason; each of them cost at most a compilation."""

    hits: int = 0
    misses: int = 0
    saves: int = 0
    failures: Counter[str] = dataclasses.field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, for printing and for JSON."""
        return {"hits": self.hits, "misses": self.misses, "saves": self.saves, "failures": dict(self.failures)}


cache_statistics = CacheStatistics()


class PackageSources:
    """The digest of a package's `.py` files, and whether they have changed since it was taken.

    About 10 ms for 250 files of 12 kB. jostle's own sources always belong to it: any kernel may embed ours.
    """

    def __init__(self, package: str) -> None:
        versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, sys.implementation.cache_tag)
        digest = hashlib.sha256(repr(versions).encode())
        self._stamps: dict[str, tuple[int, int]] = {}
        self.package = package
        self.changed = False
        for root in dict.fromkeys((package, OWN_PACKAGE)):
            for name, file in _python_files(importlib.resources.files(root), root + "/"):
                if isinstance(file, Path):
                    self._stamps[str(file)] = _stamp(file)  # before reading: a write in between must show up later
                data = file.read_bytes()
                digest.update(f"{name}\0{len(data)}\0".encode())
                digest.update(data)
        self.directory_name = f"{package}-kernels-{digest.hexdigest()[:24]}"

    def check(self, file: str | None = None) -> bool:
        """Return False for good once a file (or any file) differs from what was digested.

        Code imported before and after an edit may then be mixed in this process, and must not be saved under either digest.
        """
        files = self._stamps if file is None else ([file] if file in self._stamps else [])
        if not self.changed:
            try:
                self.changed = any(_stamp(Path(one)) != self._stamps[one] for one in files)
            except OSError:
                self.changed = True
        return not self.changed


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def _python_files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".py"):
            yield prefix + entry.name, entry
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():  # a package's name has no dot
            yield from _python_files(entry, f"{prefix}{entry.name}/")


@functools.cache
def package_sources(package: str) -> PackageSources | None:
    """Return the sources of a top-level package; None for a script, a namespace or a package without sources."""
    module = sys.modules.get(package)
    if module is None or not hasattr(module, "__path__") or getattr(module, "__file__", None) is None:
        return None
    try:
        return PackageSources(package)
    except Exception as error:  # no sources, odd loaders: run uncached
        cache_statistics.failures[f"sources: {type(error).__name__}"] += 1
        return None


def user_directory() -> Path:
    """Return where the cache directories stand: JOSTLE_CACHE_DIR, NUMBA_CACHE_DIR, XDG_CACHE_HOME/jostle or ~/.cache/jostle."""
    given = os.environ.get("JOSTLE_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    general = os.environ.get("XDG_CACHE_HOME")
    return (Path(general) if general else Path.home() / ".cache") / "jostle"


@functools.cache
def _shipped_directory(sources: PackageSources, triple: str) -> Path | None:
    if not triple.startswith("x86_64"):
        return None
    import llvmlite.binding as llvm

    file = sys.modules[sources.package].__file__
    directory = Path(file or "").parent / "_kernels" / sources.directory_name
    features = llvm.get_host_cpu_features()
    return directory if directory.is_dir() and all(features.get(name) for name in SHIPPED_NEEDS) else None


@functools.cache
def _used_directory(directory: Path) -> Path:
    """Check once that nobody else can write there (its files are unpickled) and mark it as used, against pruning."""
    if hasattr(os, "geteuid"):
        status = directory.stat()
        if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & 0o022:
            raise PermissionError(f"{directory} can be written by others")
    with contextlib.suppress(OSError):
        os.utime(directory)
    return directory


@functools.cache
def prune(base: Path, package: str, current: str) -> int:
    """Remove cache directories of older sources, once per process; return how many.

    Only directories named like ours, and never the current one, the most recently used few or any that was used lately.
    A running process whose directory goes all the same only compiles again.
    """
    ours = re.compile(re.escape(package) + r"-kernels-[0-9a-f]{24}")
    found = []
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.name != current and entry.is_dir(follow_symlinks=False):
                found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
    old = [path for used, path in sorted(found, reverse=True)[KEPT_DIRECTORIES:] if used < time.time() - RECENT_SECONDS]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)


def plain(value: object) -> bool:
    """Whether a value's repr says all about it: a number, a text, or tuples of these."""
    if type(value) is tuple:
        return all(plain(one) for one in value)
    return value is None or type(value) in (bool, int, float, complex, str)


def closure_constants(function: Function) -> str | None:
    """Return the closure's values as text, or None if any of them is not plain (or not there yet)."""
    try:
        values = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        return None
    return repr(values) if plain(values) else None


def _global_constants(function: Function) -> str:
    """Text of the plain globals that a kernel and the kernels it calls by name can see: they are compiled in."""
    waiting, seen, found = [function], {function}, []
    while waiting:
        one = waiting.pop()
        found.append(f"{one.__module__}.{one.__qualname__}:{one.__code__.co_firstlineno}")
        names = one.__code__.co_names
        spaces = [one.__globals__]
        spaces += [space.__dict__ for name in names if isinstance(space := one.__globals__.get(name), ModuleType)]
        for name in names:
            for value in (space[name] for space in spaces if name in space):
                callee = getattr(value, "py_func", None)
                if isinstance(callee, FunctionType) and callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
                elif plain(value):
                    found.append(f"{name}={value!r}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


class UncachedError(Exception):
    """A kernel that cannot be cached; the message is the reason that gets counted."""


class KernelCache(caching._Cache):
    """The cache of one kernel, in the form that Numba's dispatcher asks for."""

    def __init__(self, function: Function, name: str, options: dict[str, Any]) -> None:
        self._function = function
        self._name = name
        self._options = {key: tuple(sorted(one)) if isinstance(one, set) else one for key, one in options.items()}
        self._sources = package_sources(name.partition(".")[0])
        self._enabled = True
        self._file_prefix = re.sub(r"[^\w.]+", "_", name)[-80:]
        if self._sources is not None:
            self._sources.check(function.__code__.co_filename)

    @property
    def cache_path(self) -> str | None:
        """The user's directory for this state of the sources."""
        return None if self._sources is None else str(user_directory() / self._sources.directory_name)

    def enable(self) -> None:
        """Look into the cache again."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the files of this kernel, so that the next call compiles."""
        with contextlib.suppress(Exception):
            for file in Path(self.cache_path or "").glob(f"{self._file_prefix}-*.kernel"):
                file.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature, or None."""
        target_context.refresh()
        found = None
        if self._enabled:
            with self._failures_counted("load"):
                found = self._load(sig, target_context)
        if found is None:
            cache_statistics.misses += 1
        else:
            cache_statistics.hits += 1
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to the user's directory."""
        if self._enabled:
            with self._failures_counted("save"):
                self._save(sig, data)
                cache_statistics.saves += 1

    @contextlib.contextmanager
    def _failures_counted(self, doing: str) -> Iterator[None]:
        try:
            yield
        except UncachedError as reason:
            if doing == "save":  # the load before has met the same reason
                cache_statistics.failures[f"uncached: {reason}"] += 1
        except Exception as error:
            cache_statistics.failures[f"{doing}: {type(error).__name__}"] += 1

    def _usable_sources(self) -> PackageSources:
        if self._sources is None:
            raise UncachedError("not in a package with sources")
        if self._sources.changed:
            raise UncachedError("sources changed while running")
        return self._sources

    def _key(self, sig: Any, target: Target) -> str:
        closure = closure_constants(self._function)
        if closure is None:
            raise UncachedError("closure over other than plain constants")
        if not plain(tuple(self._options.values())):
            raise UncachedError("options other than plain constants")
        types = str(normalize_signature(sig))
        if " at 0x" in types:
            raise UncachedError("a function among the arguments")
        settings = (config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
        place = (self._name, self._function.__code__.co_firstlineno)
        return repr((place, types, target, settings, sorted(self._options.items()), closure, _global_constants(self._function)))

    def _file(self, directory: Path, key: str) -> Path:
        return directory / f"{self._file_prefix}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.kernel"

    def _load(self, sig: Any, target_context: Any) -> Any:
        sources = self._usable_sources()
        target: Target = target_context.codegen().magic_tuple()
        shipped = _shipped_directory(sources, target[0])
        if shipped is not None:
            found = self._read(shipped, self._key(sig, (target[0], *SHIPPED_TARGET)), sig, target_context)
            if found is not None:
                return found
        key = self._key(sig, target)
        try:
            directory = _used_directory(user_directory() / sources.directory_name)
        except FileNotFoundError:
            return None
        return self._read(directory, key, sig, target_context)

    def _read(self, directory: Path, key: str, sig: Any, target_context: Any) -> Any:
        try:
            content = self._file(directory, key).read_bytes()
        except FileNotFoundError:
            return None
        start = len(FORMAT) + 32
        body = content[start:]
        if content[:start] != FORMAT + hashlib.sha256(body).digest():
            raise ValueError("a damaged file")
        stored_key, _, payload = body.partition(b"\0")
        if stored_key != key.encode():
            raise LookupError("another key")
        found = CompileResult._rebuild(target_context, *pickle.loads(payload))
        # Names of types are not unique (two NamedTuples may share one), their identities are.
        if tuple(found.signature.args) != tuple(normalize_signature(sig)[0]):
            raise LookupError("other types of the same name")
        return found

    def _save(self, sig: Any, result: Any) -> None:
        sources = self._usable_sources()
        if result.lifted:
            raise UncachedError("lifted loops")
        if result.library.has_dynamic_globals:
            raise UncachedError("dynamic globals")
        key = self._key(sig, result.codegen.magic_tuple())
        if not sources.check():
            raise UncachedError("sources changed while running")
        body = key.encode() + b"\0" + dumps(result._reduce())
        base = user_directory()
        directory = base / sources.directory_name
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _used_directory(directory)
        _write_whole(self._file(directory, key), FORMAT + hashlib.sha256(body).digest() + body)
        prune(base, sources.package, sources.directory_name)


def _write_whole(file: Path, content: bytes) -> None:
    """Write under a temporary name and rename: readers see the whole file or none."""
    handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
