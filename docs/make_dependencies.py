"""Make docs/dependencies.md again (`make dependencies`): each locked package, its version, its licence, and who asks for it."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
LOCKS = {"requirements-demo.lock": "commands", "requirements.lock": "tests", "requirements-docs.lock": "documents"}

HEAD = """# Dependencies and their licences

Everything that `make demo`, `make test` and `make docs` install, made by `make dependencies` from the lock files and
from what the packages say of themselves. *Commands* is what the library, its commands and the viewer need; *tests* is
needed only to work on jostle, *documents* only to build this site and to run the notebooks.

- Lock files carry the hash of every file (`pip install --require-hashes`); `make lock` resolves them again.
- Nothing is fetched at run time: jostle opens no connections. The tour requests the page that it has just opened on
  this machine, once.
- The peers of `jostle bench` (extra `bench`) are not locked: choose their versions yourself.

| package | version | licence | needed for | asked for by |
|---|---|---|---|---|
"""


def canonical(name: str) -> str:
    """Return a package's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(file: Path) -> dict[str, str]:
    """Return the version of each package that a lock file pins."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonical(name): version for name, version in pins}


def licence_of(name: str) -> str:
    """Return the licence that a package states: an SPDX expression, a classifier, or the first line of its text."""
    distribution = metadata.distribution(name)
    package = distribution.metadata
    expression = package.get("License-Expression")
    if expression:
        return str(expression)
    classifiers = [c.rsplit(" :: ", 1)[-1] for c in package.get_all("Classifier") or [] if c.startswith("License ::")]
    named = [c for c in classifiers if c != "OSI Approved"]
    if named:
        return ", ".join(named)
    text = str(package.get("License") or "").strip()
    for file in distribution.files or []:
        if not text and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
            text = file.read_text(encoding="utf-8").strip()
    return text.splitlines()[0][:60] if text else "not stated"


def askers() -> dict[str, set[str]]:
    """Return for each package which others, or which extra of jostle, ask for it."""
    found: dict[str, set[str]] = {}
    for distribution in metadata.distributions():
        asking = canonical(distribution.metadata["Name"])
        for requirement in distribution.requires or []:
            name = canonical(re.match(r"[A-Za-z0-9._-]+", requirement).group())  # type: ignore[union-attr]
            extra = re.search(r"""extra\s*==\s*['"]([^'"]+)""", requirement)
            if asking == "jostle":
                found.setdefault(name, set()).add(f"jostle[{extra.group(1)}]" if extra else "jostle")
            elif not extra:
                found.setdefault(name, set()).add(asking)
    return found


def page() -> str:
    """Return the page."""
    wanted_by = askers()
    needed = {file: locked(ROOT / file) for file in LOCKS}
    versions = {name: version for pins in reversed(needed.values()) for name, version in pins.items()}
    rows = []
    for name in sorted(versions):
        purpose = next(purpose for file, purpose in LOCKS.items() if name in needed[file])
        known = (by for by in wanted_by.get(name, ()) if by != "jostle[all]" and by.partition("[")[0] in {*versions, "jostle"})
        asking = ", ".join(sorted(known))
        rows.append(f"| {name} | {versions[name]} | {licence_of(name)} | {purpose} | {asking or 'the build'} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
