"""The sources that a kernel can see: their digest is in its cache key.

So an edit elsewhere costs no compilation. What is compiled into a kernel comes from the globals of its module and of the kernels
that it calls: what a module defines itself, and what it imports. So a kernel's sources are its own module and every module that is
reachable from it by imports, at any depth of nesting, used or not. To be on the safe side:

- `import a.b` binds the package `a`, through which every module below it can be had: all of them count. So does everything
  below a package that is imported under a name of its own (`from a import b`, `import a.b as c`).
- `from a.b import c` counts `a.b`. It runs `a/__init__.py` as well, but no name of the importing module leads there, so that
  file does not count (jostle's own imports everything public). It counts where a name is taken out of it: where `c` is no
  module of the package `a.b`, or where the text of `a/b/__init__.py` has the word `c`, and may put something else there.
- Modules that import Numba can register types and overloads, which act without being imported: they count for every kernel.
- A module that imports by computed names, or an import that is not understood, counts as an import of everything.

The statements are found by regular expressions (an `ast` takes 30 times as long), which also match in comments and texts. The key
also holds the values of plain globals and the modules of all called kernels.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.resources
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from jostle.kernels.cached_property import cached_property

OWN_PACKAGE, _, _below = __name__.partition(".")
OWN_KERNELS = f"{OWN_PACKAGE}.{_below.partition('.')[0]}"  # its sources are in the name of the directory, for every kernel
CLOCK_STEP = 20_000_000  # ns by which the times of files may lag behind the clock
VERSIONED = frozenset({"numba", "llvmlite", "numpy"})  # packages whose versions stand for their sources

# No pattern that is searched for begins with \b: a literal beginning is found ten times as fast, and more is found, never less.
# The rest is a lookahead, so that every `import` is matched.
IMPORT = re.compile(r"import\b(?=(?:[ \t\f]|\\\n)*(\((?:[\w\s,\\]|#[^\n]*\n)*\)|\*|(?:[ \t\f.,\w]|\\\n)*))")
BEFORE = re.compile(r"(?:[ \t\f.\w]|\\\n)*\Z")  # the beginning of the statement, or more
FROM = re.compile(r"(?:.*\b)?from\b(.*)\Z", re.DOTALL)
COMPUTED = ("import_module", "__import__", "runpy", ".modules", "from sys")
RUN = re.compile(r"\b(?:exec|eval)\b")
HIDING = ("globals", "setattr", "vars", "__dict__", "*")

ImportFrom = tuple[str, tuple[str, ...]]
"""`from where import names`, with its leading dots; no names at all if they were not understood."""
ImportWhole = tuple[str, bool]
"""`import name`, and whether it gets a name of its own (`as`)."""


def import_statements(text: str) -> tuple[set[ImportFrom], set[ImportWhole]]:
    """Return at least the imports in a Python source, wherever they stand.

    Also what looks like one in comments and texts.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts, wholes = set(), set()
    for match in IMPORT.finditer(text):
        listed = re.sub(r"#[^\n]*\n", "\n", match[1]).replace("\\\n", " ").strip("() \t\f\n")
        begin = text.rfind("\n", 0, match.start()) + 1
        while begin > 1 and text[begin - 2] == "\\":  # a line that is continued
            begin = text.rfind("\n", 0, begin - 1) + 1
        before = FROM.match(BEFORE.search(text, begin, match.start())[0])  # type: ignore[index]  # it matches at least the empty text
        if before is not None:
            names = tuple(one.split()[0] for one in listed.split(",") if one.strip())
            parts.add((re.sub(r"[\s\\]+", "", before[1]), names))
        for one in re.sub(r"\s*\.\s*", ".", listed).split(","):  # after a `from` as well: it may stand in a text
            words = one.split()
            if words:
                wholes.add((words[0], words[1:2] == ["as"]))
    return parts, wholes


@dataclasses.dataclass(eq=False)
class SourceFile:
    """One source file as read with its package.

    `changed` if it may differ from what was imported.
    """

    name: str
    is_package: bool
    data: bytes
    file: Path | None
    stamp: tuple[int, int] | None
    changed: bool = False

    @cached_property
    def text(self) -> str:
        """The source; import statements have no undecodable bytes."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def digest(self) -> bytes:
        """The hash of the source."""
        return hashlib.sha256(self.data).digest()

    @cached_property
    def imports(self) -> tuple[set[ImportFrom], set[ImportWhole]]:
        """The import statements, with absolute names."""
        parts, wholes = import_statements(self.text)
        return {(self._absolute(where), names) for where, names in parts}, wholes

    def _absolute(self, where: str) -> str:
        bare = where.lstrip(".")
        levels = len(where) - len(bare)
        if levels == 0:
            return where
        parents = self.name.split(".")
        if levels > self.is_package:
            parents = parents[: self.is_package - levels]
        return ".".join([*parents, *([bare] if bare else [])])

    def check(self) -> bool:
        """Return False once the file differs from what was read, and ever after.

        Memory and digest may then differ.
        """
        if not self.changed and self.file is not None:
            try:
                self.changed = _stamp(self.file) != self.stamp
            except OSError:
                self.changed = True
        return not self.changed


class PackageSources:
    """The `.py` files of a package, read once: 6 ms for 180 files of 6 kB.

    They are read when the first kernel is compiled or loaded, long after modules were imported. So a file that has changed since
    the package was noted counts as changed: it may not be what was imported.
    """

    def __init__(self, package: str, folder: Traversable) -> None:
        self.package = package
        noted = _noted.get(package)
        self._checked = False
        self.modules: dict[str, SourceFile] = {}
        self.folders: set[str] = set()
        for names, entry in _python_files(folder, (package,)):
            file = entry if isinstance(entry, Path) else None
            stamp = None if file is None else _stamp(file)  # before reading: a write in between must show up later
            changed = noted is not None and file is not None and _last_change(file) > noted - CLOCK_STEP
            is_package = names[-1] == "__init__"
            name = ".".join(names[:-1] if is_package else names)
            self.modules[name] = SourceFile(name, is_package, entry.read_bytes(), file, stamp, changed)
            self.folders.update(".".join(names[:k]) for k in range(1, len(names)))
        self.acting_anywhere = [name for name, one in self.modules.items() if b"numba" in one.data and self._imports_numba(one)]

    @cached_property
    def digest(self) -> str:
        """The hash of all sources: 2 ms for 640 files."""
        digest = hashlib.sha256()
        for name, one in sorted(self.modules.items()):
            digest.update(name.encode() + b"\0" + one.digest)
        return digest.hexdigest()

    @staticmethod
    def _imports_numba(module: SourceFile) -> bool:
        parts, wholes = module.imports
        return any(name.partition(".")[0] == "numba" for name, _ in parts | wholes)

    def check_once(self) -> None:
        """Look for files changed since they were read, when a first kernel is requested.

        A module that was edited in between and then imported is no longer what the digest says. Edits after the imports do not
        affect what is loaded, and what is saved is checked again.
        """
        if not self._checked:
            self._checked = True
            for one in self.modules.values():
                one.check()

    def has(self, name: str) -> bool:
        """Return whether there is such a module or folder of modules."""
        return name in self.modules or name in self.folders

    def below(self, name: str) -> list[str]:
        """Return a module and everything inside it."""
        if name not in self.folders:
            return [name] if name in self.modules else []
        return [one for one in self.modules if one == name or one.startswith(name + ".")]


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def _last_change(file: Path) -> int:
    """Return when a file was last changed, by content or status.

    An older file may have taken its place.
    """
    status = file.stat()
    return max(status.st_mtime_ns, status.st_ctime_ns)


_noted: dict[str, int] = {}


def note_package(package: str) -> None:
    """Note that a package defines kernels; its sources are as of now."""
    if package not in _noted:
        _noted[package] = time.time_ns()


def _python_files(folder: Traversable, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".py"):
            yield (*names, entry.name[:-3]), entry
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():  # a package's name has no dot
            yield from _python_files(entry, (*names, entry.name))


_known: dict[str, PackageSources | None] = {}


def package_sources(package: str) -> PackageSources | None:
    """Return the sources of a top-level package, None if it has none.

    A script, a namespace or a package without sources has none.
    """
    if package not in _known:
        module = sys.modules.get(package)
        whole = module is not None and hasattr(module, "__path__") and getattr(module, "__file__", None) is not None
        try:
            found = PackageSources(package, importlib.resources.files(package)) if whole else None
        except Exception:  # an odd loader: remembered, unlike an interrupt
            _known.setdefault(package, None)
            raise
        _known.setdefault(package, found)
    return _known[package]


@functools.cache
def tools_digest() -> str:
    """Return the digest of the tools' versions and this folder's sources.

    It names the directory of the cache.
    """
    import llvmlite
    import numba

    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, sys.implementation.cache_tag)
    digest = hashlib.sha256(repr(versions).encode())
    own = package_sources(OWN_PACKAGE)
    for name in [] if own is None else own.below(OWN_KERNELS):
        assert own is not None
        digest.update(name.encode() + b"\0" + own.modules[name].digest)
    return digest.hexdigest()[:24]


def tools_text() -> str:
    """Return the versions of the tools for people."""
    import llvmlite
    import numba

    versions = (("numba", numba.__version__), ("llvmlite", llvmlite.__version__), ("numpy", np.__version__))
    return ", ".join(f"{name} {version}" for name, version in (*versions, ("Python", sys.version.partition(" ")[0])))


class ReachedSources:
    """The modules that a kernel can see, and their digest."""

    def __init__(self, modules: list[SourceFile]) -> None:
        self._modules = modules
        digest = hashlib.sha256()
        for one in modules:
            digest.update(one.name.encode() + b"\0" + one.digest)
        self.digest = digest.hexdigest()

    @property
    def names(self) -> list[str]:
        """Names of the modules, sorted."""
        return [one.name for one in self._modules]

    @property
    def changed(self) -> bool:
        """Whether any of them has changed."""
        return any(one.changed for one in self._modules)

    def check(self) -> bool:
        """Return False once any of them has changed.

        Code from before and after must not be saved under either digest.
        """
        for one in self._modules:  # all of them: a change concerns other kernels too
            one.check()
        return not self.changed


class ImportGraph:
    """The imports of each module of some packages within these packages."""

    def __init__(self, packages: Iterable[PackageSources]) -> None:
        self._packages = {one.package: one for one in packages}
        self._modules = {name: one for package in self._packages.values() for name, one in package.modules.items()}
        self._seen: dict[str, set[str]] = {}
        own = self._packages.get(OWN_PACKAGE)
        self._always = own.below(OWN_KERNELS) if own is not None else []
        self._always += [name for package in self._packages.values() for name in package.acting_anywhere]

    def reached(self, roots: frozenset[str]) -> ReachedSources:
        """Return what some modules can see; everything if one of them has no source."""
        reached: set[str] = set()
        waiting = {*self._always, *(roots if roots <= self._modules.keys() else self._modules)}
        while waiting:
            reached |= waiting
            waiting = set().union(*map(self._seen_from, waiting)) - reached
        return ReachedSources([self._modules[name] for name in sorted(reached)])

    def _seen_from(self, name: str) -> set[str]:
        if name not in self._seen:
            module = self._modules[name]
            own_kernels = name == OWN_KERNELS or name.startswith(OWN_KERNELS + ".")  # import computed names, but not for kernels
            computed = not own_kernels and _imports_computed_names(module.text)
            self._seen[name] = set(self._modules) if computed else set(self._imported(module))
        return self._seen[name]

    def _imported(self, module: SourceFile) -> Iterator[str]:
        parts, wholes = module.imports
        for name, named in wholes:
            package = self._packages.get(name.partition(".")[0])
            if package is not None:
                yield from package.below(name if named and package.has(name) else package.package)
        for where, names in parts:
            package = self._packages.get(where.partition(".")[0])
            if package is None:
                continue
            if where in package.folders:
                yield from _taken_from(package, where, names)
            else:
                yield from [where] if where in package.modules and names else self._modules


def _imports_computed_names(text: str) -> bool:
    return any(word in text for word in COMPUTED) or (("exec" in text or "eval" in text) and RUN.search(text) is not None)


def _taken_from(package: PackageSources, where: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the modules that `from where import names` leads to.

    `where` is a package or a folder of modules.
    """
    if not names or "*" in names:
        yield from package.below(where)
        return
    init = package.modules.get(where)
    hidden = init is not None and any(word in init.text for word in HIDING)
    for name in names:
        inside = f"{where}.{name}"
        found = package.has(inside)
        if found:
            yield from package.below(inside)
        if init is not None and (not found or hidden or re.search(rf"\b{name}\b", init.text)):
            yield where
        elif not found:
            yield from package.modules  # not a source of ours, perhaps an extension module


@functools.cache
def _graph(names: frozenset[str]) -> ImportGraph:
    packages = [one for one in map(package_sources, sorted(names)) if one is not None]
    for one in packages:
        one.check_once()
    return ImportGraph(packages)


@functools.cache
def reached_sources(roots: frozenset[str], packages: frozenset[str]) -> ReachedSources:
    """Return what modules of some top-level packages can see within them."""
    return _graph(packages).reached(roots)


def plain(value: object) -> bool:
    """Return whether a value's repr determines it: a number, text, or tuples of these."""
    if type(value) is tuple:
        return all(plain(one) for one in value)
    return value is None or type(value) in (bool, int, float, complex, str)


def closure_constants(function: Callable[..., Any]) -> str | None:
    """Return the closure's values as text, None if any is not plain or not yet set."""
    try:
        values = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        return None
    return repr(values) if plain(values) else None
