"""The cache of compiled kernels: a file per kernel, signature, target and options.

Numba's own cache is not safe to use: its key holds neither the callees nor the bounds checks (an edited callee in
another file, or checked beside unchecked code, is served stale), a truncated file raises at the user, and two
processes that save at once can swap code. Here

- the key holds the digest of every source that the kernel can see (`kernels/sources.py`), so that an edit there is a miss;
- the directory is named by the versions of the tools and the sources of `kernels/`;
- a file is written under a temporary name and renamed, and holds its whole key and a checksum, compared on load;
- every failure is a miss, never an error, and is counted in `cache_statistics`.

Looked up in order: a wheel of compiled kernels (`kernels/shipped.py`), the user's directory, the compiler.
Module globals that kernels read must follow from the sources; plain ones are part of the key nevertheless.
Files and directories that have not been used for long are removed, and the least recently used ones if they get too many.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba.core import caching, serialize, sigutils, types

from jostle.kernels.at_hand import file_prefix
from jostle.kernels.cache_folder import note_versions
from jostle.kernels.cache_state import cache_statistics, user_directory
from jostle.kernels.claims import ENDING, Claim, claim
from jostle.kernels.compile_setting import check_may_compile
from jostle.kernels.deferral import interrupted
from jostle.kernels.inner_code import rebuilt
from jostle.kernels.progress import compile_progress
from jostle.kernels.shipped import compile_settings, shipped_kernels
from jostle.kernels.sources import (
    OWN_PACKAGE,
    VERSIONED,
    PackageSources,
    ReachedSources,
    closure_constants,
    package_sources,
    plain,
    reached_sources,
    tools_digest,
    tools_text,
)

FORMAT = b"jostle kernel 2\n"
KEPT_DIRECTORIES = 4  # of other digests: other environments, and the last few states of `kernels/`
KEPT_BYTES = 256 << 20  # in one directory; a full set of kernels takes some 64 MB, and as much again for each further target
KEPT_SECONDS = 30 * 86400.0  # files unused for longer are removed
RECENT_SECONDS = 3600.0  # files used since are never removed
MARK_SECONDS = 600.0  # a use is recorded if the last record is older

Function = Callable[..., Any]
normalize_signature: Any = sigutils.normalize_signature
dumps: Any = serialize.dumps
Target = tuple[str, str, str]


def directory_name(package: str) -> str:
    """Return the directory name for a top-level package's kernels and these tools."""
    return f"{package}-kernels-{tools_digest()}"


@functools.cache
def _used_directory(directory: Path) -> Path:
    """Check once that nobody else can write to a directory, and mark it as used.

    Its files are unpickled; the mark protects it from pruning.
    """
    if hasattr(os, "geteuid"):
        status = directory.stat()
        if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & 0o022:
            raise PermissionError(f"{directory} can be written by others")
    with contextlib.suppress(OSError):
        os.utime(directory)
    return directory


@functools.cache
def prune(base: Path, package: str, current: str) -> int:
    """Remove outdated files and directories of a package's cache; return how many.

    Once per process. All but the most recently used few of the other directories named like ours go; in the current one, the files
    unused for long and, if it is too large, the least recently used ones; never anything used lately. A running process whose
    directory is removed only compiles again.
    """
    ours = re.compile(re.escape(package) + r"-kernels-[0-9a-f]{24}")
    found = []
    now = time.time()
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.name != current and entry.is_dir(follow_symlinks=False):
                found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
    old = [path for used, path in sorted(found, reverse=True)[KEPT_DIRECTORIES:] if used < now - RECENT_SECONDS]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old) + _prune_files(base / current, now)


def _prune_files(directory: Path, now: float) -> int:
    found = []
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith((".kernel", ".tmp", ENDING)) and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, entry.path))
    total = removed = 0
    for used, size, path in sorted(found, reverse=True):
        total += size
        abandoned = path.endswith((".tmp", ENDING))  # by a process that was killed while it wrote
        if used < now - RECENT_SECONDS and (abandoned or total > KEPT_BYTES or used < now - KEPT_SECONDS):
            with contextlib.suppress(OSError):
                Path(path).unlink()
                removed += 1
    return removed


def _visible_at_run_time(function: Function) -> Iterator[tuple[Function, list[str]]]:
    """Yield a kernel and those it calls by name, each with the plain globals it sees.

    At any depth. All of it is compiled in. Most follows from the sources; this also covers what was replaced at run time.
    """
    waiting, seen = [function], {function}
    while waiting:
        one = waiting.pop()
        found = []
        names = one.__code__.co_names
        spaces = {id(one.__globals__)}
        nested = [one.__globals__]
        for space in nested:  # which grows: a.b.c is c in the module b in the module a
            for value in map(space.get, names):
                if isinstance(value, ModuleType) and id(value.__dict__) not in spaces:
                    spaces.add(id(value.__dict__))
                    nested.append(value.__dict__)
        for name in names:
            for value in (space[name] for space in nested if name in space):
                callee = getattr(value, "py_func", None)
                if isinstance(callee, FunctionType) and callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
                elif plain(value):
                    found.append(f"{name}={value!r}")
        yield one, found


def _visible_kernels(function: Function) -> set[Function]:
    return {one for one, _ in _visible_at_run_time(function)}


def _digest_of_visible(function: Function) -> tuple[str, set[str]]:
    """Return the digest of what a kernel sees at run time, and its kernels' modules."""
    digest, modules = hashlib.sha256(), set()
    for one, constants in _visible_at_run_time(function):
        digest.update("\n".join([f"{one.__module__}.{one.__qualname__}:{one.__code__.co_firstlineno}", *constants, ""]).encode())
        modules |= {str(one.__module__), str(one.__globals__.get("__name__"))}
    return digest.hexdigest(), modules


def _fields(sig: Any) -> list[tuple[str, ...]]:
    """Return the fields of the NamedTuples among the arguments.

    Kernels use them by name, without an import.
    """
    waiting, seen, found = list(normalize_signature(sig)[0]), set(), []
    while waiting:
        one = waiting.pop()
        if isinstance(one, (tuple, list)):
            waiting += one
        elif isinstance(one, types.Type) and id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, types.BaseNamedTuple):
                found.append(tuple(one.fields))  # type: ignore[attr-defined]
            waiting += vars(one).values()
    return found


class UncachedError(Exception):
    """A kernel that cannot be cached; the message is the reason that gets counted."""


class KernelCache(caching._Cache):
    """The cache of one kernel, with the interface of Numba's dispatcher."""

    def __init__(self, function: Function, name: str, options: dict[str, Any]) -> None:
        self._function = function
        self._name = name
        self._options = {key: tuple(sorted(one)) if isinstance(one, set) else one for key, one in options.items()}
        self._sources = self._package_sources(name.partition(".")[0])
        self._enabled = True
        self._claims: list[Claim] = []
        self._last_key, self._last_identity = "", (0, 0)  # of the file that was looked for last
        self._file_prefix = file_prefix(name)

    @staticmethod
    def _package_sources(package: str) -> PackageSources | None:
        try:
            return package_sources(package) if package_sources(OWN_PACKAGE) is not None else None
        except Exception as error:  # no sources, odd loaders: run uncached
            cache_statistics.failures[f"sources: {type(error).__name__}"] += 1
            return None

    @property
    def cache_path(self) -> str | None:
        """The user's directory for kernels of this package."""
        return None if self._sources is None else str(user_directory() / directory_name(self._sources.package))

    def enable(self) -> None:
        """Use the cache again."""
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
        """Return the compiled kernel for a signature, or None to have it compiled."""
        found = None
        if self._enabled:
            with self._failures_counted("load"):
                found = self._load(sig, target_context)
        if found is None:
            check_may_compile(self._name)
            compile_progress.miss(self._function, _visible_kernels)
            if self._enabled and self._last_key:
                with self._failures_counted("load"):
                    found = self._claim(sig, target_context)
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

    def release_claims(self) -> None:
        """Let other processes have what this one was compiling."""
        while self._claims:
            self._claims.pop().release()

    @contextlib.contextmanager
    def _failures_counted(self, doing: str) -> Iterator[None]:
        try:
            yield
        except UncachedError as reason:
            if doing == "save":  # the load before failed for the same reason
                cache_statistics.failures[f"uncached: {reason}"] += 1
        except Exception as error:
            cache_statistics.failures[f"{doing}: {type(error).__name__}"] += 1

    def _usable_sources(self) -> PackageSources:
        if self._sources is None:
            raise UncachedError("not in a package with sources")
        return self._sources

    def _keys(self, sig: Any, targets: list[Target]) -> tuple[list[str], ReachedSources]:
        """Return the key of a signature for each target, and the kernel's sources."""
        closure = closure_constants(self._function)
        if closure is None:
            raise UncachedError("closure over other than plain constants")
        if not plain(tuple(self._options.values())):
            raise UncachedError("options other than plain constants")
        signature = str(normalize_signature(sig))
        if " at 0x" in signature:
            raise UncachedError("a function among the arguments")
        constants, modules = _digest_of_visible(self._function)
        roots = frozenset(one for one in modules if one.partition(".")[0] not in VERSIONED)
        packages = frozenset(one.partition(".")[0] for one in roots) | {OWN_PACKAGE}
        if any(self._package_sources(one) is None for one in packages):
            raise UncachedError("a callee that is not in a package with sources")
        reached = reached_sources(roots, packages)
        if reached.changed:
            raise UncachedError("sources changed while running")
        place = (self._name, self._function.__code__.co_firstlineno)
        what = (place, signature, _fields(sig))
        how = (compile_settings(), sorted(self._options.items()), closure, constants, reached.digest)
        return [repr((*what, target, *how)) for target in targets], reached

    def _file(self, directory: Path, key: str) -> Path:
        return directory / f"{self._file_prefix}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.kernel"

    def _load(self, sig: Any, target_context: Any) -> Any:
        self._last_key, self._last_identity = "", (0, 0)
        sources = self._usable_sources()
        target: Target = target_context.codegen().magic_tuple()
        wheel = shipped_kernels(sources.package, target[0])
        shipped: list[Target] = [] if wheel is None else [(target[0], wheel.cpu, wheel.features)]
        (key, *other), _ = self._keys(sig, [target, *shipped])
        self._last_key = key
        if wheel is not None:
            with self._failures_counted("load"):
                found = self._read(self._file(wheel.folder, other[0]), other[0], sig, target_context)
                if found is not None:
                    return found
        try:
            directory = _used_directory(user_directory() / directory_name(sources.package))
        except FileNotFoundError:
            return None
        file = self._file(directory, key)
        self._last_identity = _identity(file)
        found = self._read(file, key, sig, target_context)
        if found is not None:
            _mark_as_used(file)
        return found

    def _claim(self, sig: Any, target_context: Any) -> Any:
        """Claim a kernel; return it if another process has compiled it meanwhile."""
        key = self._last_key
        try:
            file = self._file(_made_directory(user_directory(), self._usable_sources().package), key)
        except OSError:  # counted when it is saved
            return None
        made = claim(file, give_up=interrupted)
        if made is not None:
            self._claims.append(made)
        return None if _identity(file) == self._last_identity else self._read(file, key, sig, target_context)

    def _read(self, file: Path, key: str, sig: Any, target_context: Any) -> Any:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
        start = len(FORMAT) + 32
        body = content[start:]
        if content[:start] != FORMAT + hashlib.sha256(body).digest():
            raise ValueError("a damaged file")
        stored_key, _, payload = body.partition(b"\0")
        if stored_key != key.encode():
            raise LookupError("another key")
        found = rebuilt(target_context, *pickle.loads(payload))
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
        (key,), reached = self._keys(sig, [result.codegen.magic_tuple()])
        if not reached.check():
            raise UncachedError("sources changed while running")
        body = key.encode() + b"\0" + dumps(result._reduce())
        base = user_directory()
        directory = _made_directory(base, sources.package)
        _write_whole(self._file(directory, key), FORMAT + hashlib.sha256(body).digest() + body)
        note_versions(directory, tools_text())
        prune(base, sources.package, directory.name)


def _made_directory(base: Path, package: str) -> Path:
    """Return the user's directory for a package's kernels, made if new."""
    directory = base / directory_name(package)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _used_directory(directory)


def _identity(file: Path) -> tuple[int, int]:
    """Return what changes when a file is replaced; zeros if there is none."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def _mark_as_used(file: Path) -> None:
    """Set a file's time to now, against pruning; rarely, since a write is slow."""
    with contextlib.suppress(OSError):
        if file.stat().st_mtime < time.time() - MARK_SECONDS:
            os.utime(file)


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
