"""What is installed: every file by its hash, in one version, under a licence that docs/dependencies.md names."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements-demo.lock", "requirements.lock", "requirements-docs.lock")


def entries(lock: str) -> dict[str, tuple[str, int]]:
    """Return version and number of hashes of each package of a lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        pin = re.match(r"([A-Za-z0-9._-]+)==(\S+)", line)
        assert pin, f"{lock}: {line!r} is not a pin"
        found[pin[1].lower().replace("_", "-")] = (pin[2], len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", line)))
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_and_has_hashes(lock):
    packages = entries(lock)
    assert {"numpy", "numba", "mkdocs" if "docs" in lock else "hatchling"} <= packages.keys()
    assert not [name for name, (_, hashes) in packages.items() if hashes == 0]


def test_the_locks_agree_on_versions():
    """One environment may hold all of them, in any order of installing."""
    demo, tests, documents = ({name: version for name, (version, _) in entries(lock).items()} for lock in LOCKS)
    assert demo.keys() <= tests.keys()
    assert {name: tests[name] for name in demo} == demo
    shared = documents.keys() & tests.keys()
    assert {name: tests[name] for name in shared} == {name: documents[name] for name in shared}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_pin_holds_for_every_python(lock):
    """A requirement for one Python alone has its marker; its pin must not, or others install none."""
    assert " ; " not in (ROOT / lock).read_text(encoding="utf-8")


def test_every_licence_is_listed():
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S+) \| (\S+) \| ([^|]+) \|", page, re.MULTILINE)
    listed = {name: (version, licence) for name, version, licence in rows}
    locked = {name: version for lock in LOCKS for name, (version, _) in entries(lock).items()}
    assert locked.items() == {name: version for name, (version, _) in listed.items() if name in locked}.items()
    assert not [name for name in locked if listed[name][1] == "not stated"]


def test_jostle_opens_no_connection_of_its_own():
    """The tour asks the page that it has opened on this machine; nothing else knows how to ask."""
    asking = re.compile(r"^\s*(?:import|from)\s+(urllib\.request|http\.client|requests|httpx|aiohttp|ftplib)\b", re.MULTILINE)
    sources = (ROOT / "src/jostle").rglob("*.py")
    assert {str(s.relative_to(ROOT / "src/jostle")) for s in sources if asking.search(s.read_text(encoding="utf-8"))} == {
        "cli/tour/viewer.py"
    }


def test_what_is_claimed_is_what_was_tested():
    """Every Python of the classifiers has its rows in docs/versions.md, with the lowest versions that the requirements allow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [
        found[1] for line in project["classifiers"] if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert project["requires-python"] == f">={pythons[0]}"
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    tested = re.findall(r"^\| (3\.\d+)\.\d+ \| (oldest|newest|without Numba) \| (\S+) \| (\S+) \|", page, re.MULTILINE)
    assert sorted({python for python, *_ in tested}) == pythons
    bounds = runpy.run_path(str(ROOT / "release" / "versions.py"))["bounds"]
    for python in pythons:
        rows = {kind: (numpy, numba) for at, kind, numpy, numba in tested if at == python}
        assert rows.keys() == {"oldest", "newest", "without Numba"}
        assert rows["oldest"] == tuple(bounds(python)[name][0] for name in ("numpy", "numba"))
        for name, version in zip(("numpy", "numba"), rows["newest"], strict=True):
            upper = bounds(python)[name][1]
            below = [int(part) for part in version.split(".")[:2]]
            assert [below[0], below[1] + 1] == [int(part) for part in upper.split(".")], "another minor version could be allowed"
    locked = entries("requirements.lock")
    assert {name: locked[name][0] for name in ("numpy", "numba")} == dict(
        zip(("numpy", "numba"), newest_of(tested, "3.11"), strict=True)
    )


def newest_of(tested: list[tuple[str, str, str, str]], python: str) -> tuple[str, str]:
    return next((numpy, numba) for at, kind, numpy, numba in tested if (at, kind) == (python, "newest"))
