"""Compile progress: after a second, counts only grow; terminal and log."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from jostle.cli import console
from jostle.cli.console import Lines
from jostle.kernels import cache_state, progress
from jostle.kernels.progress import PAUSE_SECONDS, CompileProgress

pytestmark = pytest.mark.small


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def function(name: str):
    namespace: dict = {}
    exec(f"def {name}(): pass", namespace)
    return namespace[name]


OUTER, MIDDLE, INNER, UNUSED = map(function, ("outer", "middle", "inner", "unused"))
VISIBLE = {OUTER: {OUTER, MIDDLE, INNER, UNUSED}, MIDDLE: {MIDDLE, INNER}, INNER: {INNER}, UNUSED: {UNUSED}}


class Compiler:
    """Makes the calls of a dispatcher; each kernel takes seconds, then a tick."""

    def __init__(self, clock: Clock, report: CompileProgress) -> None:
        self.clock, self.report, self.counts = clock, report, []

    def compile(self, kernel, *callees, seconds=1.0, fails=False):
        self.report.enter()
        self.report.miss(kernel, VISIBLE.__getitem__)
        for callee in callees:
            callee()
        self.clock.seconds += seconds
        self.tick()
        self.report.leave(kernel, compiled=not fails, failed=fails)
        self.tick()

    def load(self, kernel):
        self.report.enter()
        self.report.leave(kernel, compiled=False, failed=False)

    def tick(self):
        self.report.tick()
        self.counts.append((self.report.done, self.report.needed))

    def compile_all(self, seconds=1.0):
        def middle():
            self.compile(MIDDLE, lambda: self.compile(INNER, seconds=seconds), seconds=seconds)

        self.compile(OUTER, middle, seconds=seconds)


@pytest.fixture
def stderr(monkeypatch):
    monkeypatch.delenv("JOSTLE_QUIET", raising=False)
    monkeypatch.delattr(sys, "ps1", raising=False)

    def use(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return use


@pytest.fixture
def compiler():
    clock = Clock()
    return Compiler(clock, CompileProgress(lambda: "; they are cached somewhere", now=clock))


def test_a_log_has_a_line_every_ten_seconds_and_one_at_the_end(compiler, stderr):
    log = stderr(io.StringIO())
    compiler.compile_all(seconds=6.0)
    compiler.clock.seconds += PAUSE_SECONDS / 2
    compiler.tick()  # more may come
    assert "compiled" not in log.getvalue()
    compiler.clock.seconds += PAUSE_SECONDS / 2
    compiler.tick()
    compiler.clock.seconds += 100.0
    compiler.tick()
    assert log.getvalue().splitlines() == [
        "jostle: compiling kernels, for the first use only: 0 of 4 ready, 6 s",
        "jostle: compiling kernels, for the first use only: 2 of 4 ready, 18 s",
        "jostle: compiled 3 kernels in 18 s; they are cached somewhere",
    ]


def test_less_than_a_second_is_not_worth_a_word(compiler, stderr):
    log = stderr(io.StringIO())
    compiler.compile_all(seconds=0.3)
    compiler.clock.seconds += PAUSE_SECONDS
    compiler.tick()
    compiler.report.finish()
    assert log.getvalue() == ""


def test_kernels_that_follow_each_other_are_one_piece_of_work(compiler, stderr):
    log = stderr(io.StringIO())
    for kernel in (INNER, MIDDLE, OUTER):
        compiler.compile(kernel, seconds=0.6)
        compiler.clock.seconds += PAUSE_SECONDS / 2  # which is not spent compiling
    compiler.report.finish()
    assert log.getvalue().splitlines() == [
        "jostle: compiling kernels, for the first use only: 1 of 2 ready, 1 s",
        "jostle: compiled 3 kernels in 2 s; they are cached somewhere",
    ]


def test_counts_only_grow_and_agree_at_the_end(compiler, stderr):
    stderr(io.StringIO())
    compiler.compile_all()
    assert compiler.counts[0] == (0, 4)
    assert compiler.counts[-1] == (4, 4)  # the one that was never called, too
    compiler.compile(OUTER)  # for other types of arguments
    compiler.load(MIDDLE)
    with_error = function("with_error")
    VISIBLE[with_error] = {with_error, INNER}
    compiler.compile(with_error, fails=True)
    assert compiler.counts[-1] == (5, 6)
    compiler.compile(with_error)  # again, and not counted again
    assert compiler.counts[-1] == (6, 6)
    assert all(done <= needed for done, needed in compiler.counts)
    assert compiler.counts == sorted(compiler.counts)
    assert [needed for _, needed in compiler.counts] == sorted(needed for _, needed in compiler.counts)


def test_loading_is_not_reported(compiler, stderr):
    log = stderr(io.StringIO())
    for _ in range(3):
        compiler.report.enter()
        compiler.clock.seconds += 5.0
        compiler.tick()
        compiler.report.leave(OUTER, compiled=False, failed=False)
    compiler.report.finish()
    assert log.getvalue() == ""


def screen(text: str) -> list[str]:
    """Return the lines that a terminal shows."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def test_a_terminal_has_one_line_that_is_rewritten_and_makes_room(compiler, stderr):
    terminal = stderr(Terminal())
    compiler.compile_all(seconds=2.0)
    assert terminal.getvalue().count("\r") > 4
    assert "\n" not in terminal.getvalue()
    assert screen(terminal.getvalue()) == [""]  # what the caller prints begins on an empty line
    compiler.report.finish()
    assert screen(terminal.getvalue()) == ["jostle: compiled 3 kernels in 6 s; they are cached somewhere", ""]


def test_a_narrow_terminal_is_not_wrapped(compiler, stderr, monkeypatch):
    terminal = stderr(Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    compiler.compile(OUTER, seconds=2.0)
    assert max(map(len, re.split("[\r\n]", terminal.getvalue()))) == 29


class Page:
    """The output of a notebook's cell, as a fake of IPython's shell."""

    kernel = object()

    def __init__(self) -> None:
        self.display_pub, self.shown, self.updates = self, {}, []

    def publish(self, data, metadata, transient, update):
        assert update is (transient["display_id"] in self.shown)
        assert set(data) == {"text/plain"}
        self.shown[transient["display_id"]] = data["text/plain"]
        self.updates.append(data["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    page = Page()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: page))
    monkeypatch.setattr(sys, "ps1", "In : ", raising=False)  # IPython has one
    return page


def test_a_notebook_has_one_line_that_is_rewritten(compiler, stderr, notebook):
    stream = stderr(io.StringIO())
    compiler.compile_all()
    compiler.clock.seconds += 2 * PAUSE_SECONDS
    compiler.tick()
    assert list(notebook.shown.values()) == ["jostle: compiled 3 kernels in 3 s; they are cached somewhere"]
    assert notebook.updates[0] == "jostle: compiling kernels, for the first use only: 0 of 4 ready, 1 s"
    compiler.compile(UNUSED, seconds=2.0)
    compiler.tick()
    assert len(notebook.shown) == 2  # in the output of a later cell
    assert stream.getvalue() == ""


def test_a_notebook_that_is_gone_is_no_error(compiler, stderr, notebook):
    stderr(io.StringIO())
    notebook.publish = None
    compiler.compile_all()
    compiler.clock.seconds += 2 * PAUSE_SECONDS
    compiler.tick()


@pytest.mark.parametrize("module", [None, SimpleNamespace(), SimpleNamespace(get_ipython=lambda: None)])
def test_without_a_kernel_lines_go_to_stderr(compiler, stderr, monkeypatch, module):
    monkeypatch.setitem(sys.modules, "IPython", module)
    stream = stderr(io.StringIO())
    compiler.compile_all()
    assert "compiling kernels" in stream.getvalue()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_a_kernel_does_not_write_to_its_notebook(notebook):
    code = (
        "import os, sys; from types import SimpleNamespace; "
        "sys.modules['IPython'] = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)); "
        "from jostle.kernels.notebook import notebook_shell; assert notebook_shell(); "
        "child = os.fork() or os._exit(notebook_shell() is not None); sys.exit(os.waitpid(child, 0)[1])"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_an_interrupt_that_waits_is_reported(compiler, stderr):
    terminal = stderr(Terminal())
    compiler.report.is_interrupted = lambda: True
    compiler.compile(OUTER, seconds=2.0)
    assert "jostle: interrupted, stops after the present kernel: 0 of 4 ready, 2 s" in terminal.getvalue()


def test_silence(compiler, stderr, monkeypatch):
    log = stderr(io.StringIO())
    monkeypatch.setenv("JOSTLE_QUIET", "1")
    compiler.compile_all(seconds=20.0)
    compiler.report.finish()
    monkeypatch.setenv("JOSTLE_QUIET", "0")
    with compiler.report.silent():
        compiler.compile(OUTER, seconds=20.0)
        compiler.report.finish()
    assert log.getvalue() == ""
    compiler.compile(OUTER, seconds=20.0)
    assert log.getvalue().count("\n") == 1
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    compiler.clock.seconds += PAUSE_SECONDS
    compiler.tick()  # a prompt is there, and must not be overwritten
    assert (log.getvalue().count("\n"), compiler.report.needed) == (1, 0)


class Full(io.StringIO):
    def write(self, _text):
        raise OSError(28, "No space left on device")


def test_a_stream_that_cannot_be_written_is_no_error(compiler, stderr):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed, Full()):
        stderr(stream)
        compiler.compile(OUTER, seconds=20.0)
        compiler.report.finish()


def test_what_cannot_be_counted_or_said_is_no_error(stderr):
    def broken(*_):
        raise RuntimeError("on purpose")

    log, clock = stderr(io.StringIO()), Clock()
    report = CompileProgress(broken, now=clock)
    report.enter()
    report.miss(OUTER, broken)
    clock.seconds += 2.0
    report.tick()
    report.leave(OUTER, compiled=True, failed=False)
    report.finish()
    assert log.getvalue().splitlines() == [
        "jostle: compiling kernels, for the first use only: 0 of 1 ready, 2 s",
        "jostle: compiled 1 kernel in 2 s",
    ]


def test_a_thread_watches_and_ends_with_the_work(stderr, monkeypatch):
    log = stderr(io.StringIO())
    monkeypatch.setattr(progress, "TICK_SECONDS", 0.001)
    clock = Clock()
    report = CompileProgress(now=clock, watched=True)
    report.enter()
    report.miss(OUTER, VISIBLE.__getitem__)
    watcher = report._watcher
    clock.seconds += 5.0
    while not log.getvalue():
        assert watcher.is_alive()
    report.leave(OUTER, compiled=True, failed=False)
    clock.seconds += PAUSE_SECONDS
    watcher.join(30.0)
    assert not watcher.is_alive()
    assert report._watcher is None
    assert log.getvalue().splitlines()[-1] == "jostle: compiled 1 kernel in 5 s"
    report.stop()


def test_lines_of_a_command():
    clock, lines = Clock(), []
    shown = Lines(lines.append, "compiling", clock)
    for k in range(31):
        clock.seconds = 100.0 + k
        if k == 5:
            shown.show("bounding trees", 3, 13)
        if k == 15:
            shown.show("voxel maps", 3.5, 13.0)
        shown.tick()
    assert lines == ["compiling, 1 s", "compiling 3 of 13, bounding trees, 11 s", "compiling, voxel maps, 21 s"]


@pytest.mark.parametrize(("quiet", "lines"), [("", 2), ("0", 2), ("1", 0)])
def test_a_command_writes_lines_to_a_log_unless_it_is_quiet(quiet, lines, monkeypatch):
    monkeypatch.setenv("JOSTLE_QUIET", quiet)
    ticks = []

    @contextlib.contextmanager
    def ticking(seconds, tick):
        ticks.append(tick)
        yield

    monkeypatch.setattr(progress, "ticking", ticking)
    clock = Clock()
    monkeypatch.setattr(console, "Lines", functools.partial(Lines, now=clock))
    log = io.StringIO()
    with console.progress_shown(Console(file=log, width=30), "compiling (first use only)") as show:
        for seconds in range(12):
            clock.seconds = 100.0 + seconds
            show(f"{seconds} kernels; measuring something", 1, 13)
            for tick in ticks:
                tick()
    expected = [f"compiling (first use only) 1 of 13, {seconds} kernels; measuring something, {seconds} s" for seconds in (1, 11)]
    assert log.getvalue().splitlines() == expected[:lines]  # one line each, however narrow the console is


CHAIN = """
from jostle.kernels.jit import kernel

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) * 2
"""
# A clock that goes on by six seconds with every kernel that is not in the cache.
ASK = """
from jostle.kernels.cache import compile_progress
seconds, miss = 0.0, compile_progress.miss
compile_progress._now = compile_progress._line._now = lambda: seconds
compile_progress._watched = False
def slow_miss(*arguments):
    global seconds
    miss(*arguments)
    seconds += 6.0
    compile_progress.tick()
compile_progress.miss = slow_miss
from trial.chain import outer
assert outer(3) == 8
assert outer(3) == 8
"""


def test_a_script_with_an_empty_cache_reports_and_one_with_a_full_cache_does_not(tmp_path):
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "__init__.py").write_text("")
    (tmp_path / "trial" / "chain.py").write_text(CHAIN)
    cache = tmp_path / "cache"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_"))}
    path = os.pathsep.join([str(tmp_path), str(Path(progress.__file__).parents[2])])
    environment = clean | {"PYTHONPATH": path, "JOSTLE_CACHE_DIR": str(cache)}

    def asked(**extra) -> list[str]:
        command = [sys.executable, "-W", "error", "-c", ASK]
        done = subprocess.run(command, env=environment | extra, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        return done.stderr.splitlines()

    reported = [
        "jostle: compiling kernels, for the first use only: 0 of 2 ready, 6 s",
        f"jostle: compiled 2 kernels in 12 s; they are cached in {cache}",
    ]
    assert asked() == reported
    assert asked() == []
    assert asked(JOSTLE_CACHE_DIR=str(tmp_path / "other"), JOSTLE_QUIET="1") == []
    (tmp_path / "file").write_text("in the way")
    blocked = asked(JOSTLE_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert blocked[:-1] == reported[:1]
    assert "not all could be cached" in blocked[-1]
    assert "JOSTLE_CACHE_DIR" in blocked[-1]


@pytest.mark.small
def test_the_last_line_does_not_claim_a_cache_that_has_nothing(monkeypatch):
    statistics = cache_state.CacheStatistics()
    monkeypatch.setattr(cache_state, "cache_statistics", statistics)
    assert "they are cached in" in cache_state.where_kept()
    statistics.failures["uncached: not in a package with sources"] = 3
    assert cache_state.where_kept() == "; not all can be cached (not in a package with sources)"
