"""The kernel cache is never stale, shown on a small package in fresh processes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import jostle
from jostle.kernels import cache
from jostle.kernels.cache_folder import VERSIONS
from jostle.kernels.cache_state import CacheStatistics

pytestmark = pytest.mark.long  # and a pass with checked indices would only repeat it: the processes here have settings of their own

CALLEE = """
from jostle.kernels.jit import kernel

@kernel(forceinline=True)
def inner(values, index):
    return values[index] * 3
"""
CALLER = """
from jostle.kernels.jit import kernel
from trial.callee import inner

@kernel
def outer(values, index):
    return inner(values, index) + 1

@kernel
def twice(x):
    return x + x

@kernel(fastmath={"contract", "nsz"})
def square(x):
    return x * x
"""
ASK = """
import json, sys
import numpy as np
from trial.caller import outer, twice, square
from jostle.kernels.jit import cache_statistics
values = np.arange(8.0)[:4]     # an index of 5 is outside of the array but inside of its memory
try:
    answer = [outer(values, int(sys.argv[1])), twice(4.0), square(5.0)]
except IndexError:
    answer = "IndexError"
print(json.dumps({"answer": answer, **cache_statistics.as_dict()}))
"""
RIGHT = [7.0, 8.0, 25.0]


class Trial:
    """The package, jostle's kernels and the cache in one copyable folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "trial"
        self.cache = folder / "cache"

    def write(self) -> Trial:
        self.package.mkdir(parents=True)
        for name, text in {"__init__.py": "", "callee.py": CALLEE, "caller.py": CALLER}.items():
            (self.package / name).write_text(text)
        # A copy of our own: somebody may be editing the sources of jostle while the tests run, and the cache would notice.
        shutil.copytree(
            Path(cache.__file__).parent, self.folder / "jostle" / "kernels", ignore=shutil.ignore_patterns("__pycache__")
        )
        (self.folder / "jostle" / "__init__.py").write_text("")
        for name in ("_types.py", "errors.py"):  # kernels stand on nothing else
            shutil.copy(Path(jostle.__file__).parent / name, self.folder / "jostle")
        return self

    def copy(self, folder: Path) -> Trial:
        shutil.copytree(self.folder, folder / "copy")
        return Trial(folder / "copy")

    def start(self, *arguments: str, script: str = ASK, **extra: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_", "XDG_"))}
        # No .pyc files: an edit within the same second that keeps the size would be invisible to Python itself.
        environment |= {"PYTHONPATH": str(self.folder), "JOSTLE_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"JOSTLE_QUIET": "1"}
        command = [sys.executable, "-c", script, *arguments]
        return subprocess.Popen(command, env=environment | extra, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str, script: str = ASK, **extra: str) -> dict:
        return answer_of(self.start(*arguments or ("2",), script=script, **extra))

    @property
    def files(self) -> list[Path]:
        return sorted(file for file in self.cache.glob("trial-kernels-*/*") if file.name != VERSIONS)


def answer_of(process: subprocess.Popen[str]) -> dict:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    return json.loads(out)


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Trial:
    trial = Trial(tmp_path_factory.mktemp("filled") / "work").write()
    first = trial.run()
    assert first == {"answer": RIGHT, "hits": 0, "misses": 4, "saves": 4, "failures": {}}
    return trial


def assert_whole(files: list[Path]) -> None:
    assert files
    for file in files:
        content = file.read_bytes()
        body = content[len(cache.FORMAT) + 32 :]
        assert file.suffix == ".kernel"
        assert content == cache.FORMAT + hashlib.sha256(body).digest() + body


def test_a_second_run_compiles_nothing_even_from_another_place(filled, tmp_path):
    moved = filled.copy(tmp_path)
    # `inner` is embedded in `outer` and not asked for.
    assert moved.run() == {"answer": RIGHT, "hits": 3, "misses": 0, "saves": 0, "failures": {}}
    assert_whole(moved.files)


REFUSING = """
from jostle.kernels.jit import kernel

@kernel
def refusing(x):
    if x > 2:
        raise ValueError("too much", x)   # needs the environment of this kernel, to make a Python object of x
    return x

@kernel
def first(x):
    return refusing(x) + 1

@kernel
def second(x):
    return refusing(x) + 2
"""
REFUSE = """
import json, sys
from trial import refusing
from jostle.kernels.jit import cache_statistics
answer = []
for name in sys.argv[1:]:
    try:
        getattr(refusing, name)(3)
    except ValueError as error:
        answer.append(error.args)
print(json.dumps({"answer": answer, **cache_statistics.as_dict()}))
"""


def test_inner_forms_are_stored_as_bitcode_and_linked_into_new_callers(tmp_path):
    trial = Trial(tmp_path / "work").write()
    (trial.package / "refusing.py").write_text(REFUSING)
    refused = ["too much", 3]
    first = trial.run("first", script=REFUSE)
    assert first == {"answer": [refused], "hits": 0, "misses": 2, "saves": 2, "failures": {}}
    (inner,) = [file for file in trial.files if file.name.startswith("trial.refusing.refusing")]
    assert b"\x7fELF" not in inner.read_bytes()
    # The caller that is stored brings it along; the new one links it.
    both = trial.run("first", "second", script=REFUSE)
    assert both == {"answer": [refused] * 2, "hits": 2, "misses": 1, "saves": 1, "failures": {}}
    again = trial.run("second", "first", script=REFUSE)
    assert again == {"answer": [refused] * 2, "hits": 2, "misses": 0, "saves": 0, "failures": {}}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_directory_is_private_and_one_that_others_can_write_is_not_trusted(filled, tmp_path):
    trial = filled.copy(tmp_path)
    directory = trial.files[0].parent
    assert directory.stat().st_mode & 0o777 == 0o700
    directory.chmod(0o777)
    wary = trial.run()
    assert (wary["answer"], wary["hits"], wary["saves"]) == (RIGHT, 0, 0)
    assert wary["failures"] == {"load: PermissionError": 4, "save: PermissionError": 4}


def test_an_edited_callee_in_another_file_is_compiled_again(filled, tmp_path):
    trial = filled.copy(tmp_path)
    (trial.package / "callee.py").write_text(CALLEE.replace("* 3", "* 5"))
    edited = trial.run()
    assert edited["answer"] == [11.0, 8.0, 25.0]
    assert edited["hits"] == 0


REACHED = {
    "numbers.py": "import numpy as np\nTABLE = np.array([3.0, 4.0])\n",
    "tables.py": "def doubled():\n    from trial.numbers import TABLE\n    return 2.0 * TABLE\n",
    "far.py": "from trial.tables import doubled\nFACTORS = doubled()\n",
    "near.py": """
from jostle.kernels.jit import kernel
from trial import far

FACTORS = far.FACTORS

@kernel
def scaled(x):
    return x * FACTORS[1]

@kernel
def first(pair):
    return pair.first
""",
    "alone.py": "VALUE = 1\n",
    "pairs.py": "from typing import NamedTuple\n\nclass Both(NamedTuple):\n    first: float\n    second: float\n",
}
ASK_REACHED = """
import json
import trial.alone
from trial.near import first, scaled
from trial.pairs import Both
from jostle.kernels.jit import cache_statistics
answer = [scaled(10.0), first(Both(first=1.0, second=2.0))]
print(json.dumps({"answer": answer, **cache_statistics.as_dict()}))
"""


def test_an_edit_is_seen_by_the_kernels_that_can_reach_it_and_by_no_others(tmp_path):
    trial = Trial(tmp_path).write()
    for name, text in REACHED.items():
        (trial.package / name).write_text(text)

    def edit(name: str, old: str, new: str) -> None:
        file = trial.package / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def asked() -> list:
        report = trial.run(script=ASK_REACHED)
        assert report["failures"] == {}
        return [*report["answer"], report["hits"], report["saves"]]

    assert asked() == [80.0, 1.0, 0, 2]
    edit("alone.py", "1", "2")
    edit("callee.py", "* 3", "* 5")
    edit("__init__.py", "", "import trial.alone\n")
    assert asked() == [80.0, 1.0, 2, 0]
    edit("numbers.py", "4.0", "5.0")  # three imports away, one of them inside of a function
    assert asked() == [100.0, 1.0, 0, 2]
    edit("tables.py", "2.0", "3.0")
    assert asked() == [150.0, 1.0, 0, 2]
    # Fields are used by their names in a module that does not import their class.
    edit("pairs.py", "    first: float\n    second: float\n", "    second: float\n    first: float\n")
    assert asked() == [150.0, 1.0, 1, 1]


def test_an_edit_while_running_is_not_saved(filled, tmp_path):
    trial = filled.copy(tmp_path)
    edit = f"open({str(trial.package / 'callee.py')!r}, 'w').write({CALLEE.replace('* 3', '* 5')!r})\n"
    before_the_import = "import trial\nimport jostle.kernels.cache\njostle.kernels.cache.package_sources('trial')\n" + edit + ASK
    mixed = trial.run(script=before_the_import)
    assert (mixed["answer"], mixed["hits"], mixed["saves"]) == ([11.0, 8.0, 25.0], 0, 0)
    shutil.rmtree(trial.cache)
    (trial.package / "callee.py").write_text(CALLEE)
    after_the_import = ASK.replace("values =", edit.strip() + "\nvalues =")
    mixed = trial.run(script=after_the_import)
    assert (mixed["answer"], mixed["saves"]) == (RIGHT, 0)
    assert mixed["failures"] == {"uncached: sources changed while running": 4}
    (trial.package / "callee.py").write_text(CALLEE)
    after_a_call = ASK.replace("values =", "twice(4.0)\n" + edit.strip() + "\nvalues =")
    mixed = trial.run(script=after_a_call)
    assert (mixed["answer"], mixed["saves"]) == (RIGHT, 1)
    assert mixed["failures"] == {"uncached: sources changed while running": 3}
    shutil.rmtree(trial.cache)
    (trial.package / "callee.py").write_text(CALLEE)
    (trial.package / "alone.py").write_text("VALUE = 1\n")
    elsewhere = after_the_import.replace("callee.py", "alone.py")
    assert trial.run(script=elsewhere) == {"answer": RIGHT, "hits": 0, "misses": 4, "saves": 4, "failures": {}}
    assert (trial.package / "alone.py").read_text() != "VALUE = 1\n"


def test_checked_code_is_not_served_by_an_unchecked_cache(filled, tmp_path):
    trial = filled.copy(tmp_path)
    assert trial.run("5", NUMBA_BOUNDSCHECK="1")["answer"] == "IndexError"
    assert trial.run("5", NUMBA_BOUNDSCHECK="1")["hits"] == 1  # and is cached itself
    unchecked = trial.run("5")
    assert (unchecked["answer"][0], unchecked["hits"]) == (16.0, 3)


def test_unchecked_code_is_not_served_by_a_checked_cache(tmp_path):
    trial = Trial(tmp_path).write()
    checked = trial.run("5", NUMBA_BOUNDSCHECK="1")
    assert (checked["answer"], checked["saves"]) == ("IndexError", 2)
    unchecked = trial.run("5")
    assert (unchecked["answer"][0], unchecked["hits"]) == (16.0, 0)


def test_damaged_and_swapped_files_are_misses_and_old_directories_go(filled, tmp_path):
    trial = filled.copy(tmp_path)
    by_name = {file.name.split("-")[0]: file for file in trial.files}
    outer, twice, square = (by_name[f"trial.caller.{name}"] for name in ("outer", "twice", "square"))
    square.write_bytes(twice.read_bytes())  # whole, but another kernel's
    outer.write_bytes(outer.read_bytes()[: outer.stat().st_size // 2])
    content = bytearray(twice.read_bytes())
    content[-200] ^= 1  # a pickle would not notice
    twice.write_bytes(content)
    by_name["trial.callee.inner"].write_bytes(b"\x80garbage" * 100)
    for k in range(10):
        make_directory(trial.cache / f"trial-kernels-{k:024x}", age=1e6 + k)
    repaired = trial.run()
    assert repaired["answer"] == RIGHT
    assert repaired["failures"] == {"load: ValueError": 3, "load: LookupError": 1}
    assert (repaired["hits"], repaired["saves"]) == (0, 4)
    assert len(list(trial.cache.iterdir())) == 1 + cache.KEPT_DIRECTORIES
    assert trial.run() == {"answer": RIGHT, "hits": 3, "misses": 0, "saves": 0, "failures": {}}


CLEAR = """
import json
import numpy as np
from trial.caller import outer, twice, square
from jostle.kernels.cache_folder import clear_cache
from jostle.kernels.jit import cache_statistics
first = outer(np.arange(4.0), 2)
cleared = clear_cache()
answer = [first, twice(4.0), square(5.0), outer(np.arange(4.0), 2)]
print(json.dumps({"answer": answer[:3], "again": answer[3], "cleared": cleared, **cache_statistics.as_dict()}))
"""


def test_a_process_whose_cache_is_cleared_compiles_and_saves_again(filled, tmp_path):
    trial = filled.copy(tmp_path)
    cleared = trial.run(script=CLEAR)
    assert cleared == {"answer": RIGHT, "again": 7.0, "cleared": [4, 0], "hits": 1, "misses": 2, "saves": 2, "failures": {}}
    assert_whole(trial.files)
    assert len(trial.files) == 2


def test_six_processes_started_together_agree_and_leave_whole_files(tmp_path):
    trial = Trial(tmp_path).write()
    together = [trial.start("2") for _ in range(6)]
    for process in together:
        report = answer_of(process)
        assert (report["answer"], report["failures"]) == (RIGHT, {})
    assert len(trial.files) == 4
    assert_whole(trial.files)
    assert trial.run()["misses"] == 0


def test_a_cache_that_cannot_be_written_is_done_without(filled, tmp_path):
    trial = filled.copy(tmp_path)
    (tmp_path / "file").write_text("in the way")
    blocked = trial.run(JOSTLE_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert (blocked["answer"], blocked["hits"], blocked["saves"]) == (RIGHT, 0, 0)
    assert sum(blocked["failures"].values()) >= 4


ODD = """
import os
import numpy as np
from jostle.kernels.jit import kernel

FACTOR = int(os.environ["FACTOR"])
LARGE = np.arange(200_000.0)

def adding(amount):
    @kernel
    def add(x):
        return x + amount
    return add

def calling(other):
    @kernel
    def call(x):
        return other(x)
    return call

add_two, add_three = adding(2), adding(3)
call_two, call_three = calling(add_two), calling(add_three)

@kernel
def scaled(x):
    return x * FACTOR

@kernel
def deeper(x):
    return scaled(x) + 1

@kernel
def large(i):
    return LARGE[i]
"""
ASK_ODD = """
import json
from trial.odd import *
from jostle.kernels.jit import cache_statistics, KERNELS
answer = [call_three(1), call_two(1), add_two(1), add_three(1), deeper(10), large(7)]
print(json.dumps({"answer": answer, "kernels": len(KERNELS), **cache_statistics.as_dict()}))
"""


def test_kernels_that_depend_on_more_than_the_sources(tmp_path):
    trial = Trial(tmp_path).write()
    (trial.package / "odd.py").write_text(ODD)
    uncached = {"uncached: closure over other than plain constants": 2, "uncached: dynamic globals": 1}
    first = trial.run(script=ASK_ODD, FACTOR="3")  # two of the saved ones are called both by kernels and from Python
    assert (first["answer"], first["kernels"], first["saves"]) == ([4, 3, 3, 4, 31, 7.0], 7, 6)
    assert first["failures"] == uncached
    second = trial.run(script=ASK_ODD, FACTOR="3")
    assert (second["answer"], second["hits"], second["misses"], second["saves"]) == (first["answer"], 5, 3, 0)
    changed = trial.run(script=ASK_ODD, FACTOR="4")  # a global from outside of the sources, seen through a callee
    assert (changed["answer"], changed["hits"], changed["saves"]) == ([4, 3, 3, 4, 41, 7.0], 4, 2)


def make_directory(path: Path, age: float) -> Path:
    path.mkdir(parents=True)
    (path / "some.kernel").write_bytes(b"x")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


@pytest.mark.small
def test_pruning_keeps_what_is_current_recent_or_not_ours(tmp_path):
    day = 86400.0
    old = [make_directory(tmp_path / f"jostle-kernels-{k:024x}", age=(2 + k) * day) for k in range(10)]
    recent = [make_directory(tmp_path / f"jostle-kernels-{k + 64:024x}", age=60.0 * k) for k in range(3)]
    current = make_directory(tmp_path / f"jostle-kernels-{255:024x}", age=1000 * day)
    others = [make_directory(tmp_path / name, age=1000 * day) for name in ("photos", "jostle-kernels-1", f"trial-kernels-{1:024x}")]
    (tmp_path / f"jostle-kernels-{254:024x}").symlink_to(others[0], target_is_directory=True)
    removed = cache.prune.__wrapped__(tmp_path, "jostle", current.name)
    kept_of_old = cache.KEPT_DIRECTORIES - len(recent)
    assert removed == len(old) - kept_of_old
    assert [path.exists() for path in old] == [k < kept_of_old for k in range(len(old))]
    assert all(path.exists() for path in [*recent, current, *others])
    # Recently used ones stay even when they are many.
    many = [make_directory(tmp_path / f"jostle-kernels-{k + 1024:024x}", age=60.0) for k in range(20)]
    cache.prune.__wrapped__(tmp_path, "jostle", current.name)
    assert all(path.exists() for path in [*many, *recent, current])


@pytest.mark.small
def test_pruning_removes_files_that_were_not_used_for_long_or_are_too_many(monkeypatch, tmp_path):
    def file(name: str, age: float, size: int) -> Path:
        path = directory / name
        path.write_bytes(bytes(size))
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    day = 86400.0
    directory = tmp_path / f"jostle-kernels-{1:024x}"
    directory.mkdir()
    monkeypatch.setattr(cache, "KEPT_BYTES", 1000)
    recent = [file(f"recent{k}.kernel", age=60.0 * k, size=400) for k in range(3)]  # more than there is room for, but in use
    kept = [file("notes.txt", age=1000 * day, size=10), file("new.tmp", age=60.0, size=10)]
    gone = [file("least.kernel", age=2 * day, size=400), file("old.tmp", age=day, size=10)]
    assert cache.prune.__wrapped__(tmp_path, "jostle", directory.name) == 2
    assert [one.exists() for one in recent + kept + gone] == [True] * 5 + [False] * 2
    monkeypatch.setattr(cache, "KEPT_BYTES", 2000)
    within = [file(f"within{k}.kernel", age=(k + 1) * day, size=300) for k in range(2)]
    beyond = [file(f"beyond{k}.kernel", age=(k + 4) * day, size=300) for k in range(2)]  # the sum of the newer ones is 2110
    unused = [file("unused.kernel", age=cache.KEPT_SECONDS + day, size=1)]
    assert cache.prune.__wrapped__(tmp_path, "jostle", directory.name) == 3
    assert [one.exists() for one in recent + kept + within + beyond + unused] == [True] * 7 + [False] * 3
    # A use is a mark: it moves a file to the front.
    marked = file("marked.kernel", age=20 * day, size=1)
    cache._mark_as_used(marked)
    assert marked.stat().st_mtime > time.time() - 60
    cache._mark_as_used(directory / "none.kernel")


@pytest.mark.small
def test_lifted_loops_are_not_saved(monkeypatch, tmp_path):
    monkeypatch.setenv("JOSTLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "cache_statistics", CacheStatistics())
    one = cache.KernelCache(lambda x: x, "jostle.example", {})
    one.save_overload((), SimpleNamespace(lifted=("a loop",)))
    assert cache.cache_statistics.as_dict() == {"hits": 0, "misses": 0, "saves": 0, "failures": {"uncached: lifted loops": 1}}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.small
def test_where_the_cache_stands(monkeypatch, tmp_path):
    for name in ("JOSTLE_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert cache.user_directory() == tmp_path / ".cache" / "jostle"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "general"))
    assert cache.user_directory() == tmp_path / "general" / "jostle"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache.user_directory() == tmp_path / "numba"
    monkeypatch.setenv("JOSTLE_CACHE_DIR", str(tmp_path / "own"))
    assert cache.user_directory() == tmp_path / "own"
