"""Signals during compiling or loading are raised right after it; nothing breaks."""

from __future__ import annotations

import contextlib
import contextvars
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from jostle.kernels import deferral
from jostle.kernels.deferral import InterruptedCompilation, stop_if_interrupted, with_signals_deferred
from jostle.kernels.jit import JIT_DISABLED, kernel

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
INTERRUPTS = int(os.environ.get("JOSTLE_INTERRUPTS", "300"))  # of loads; of compilations a tenth

CHAIN = """
from jostle.kernels.jit import kernel

@kernel
def first(a):
    return a[0] * 2.0

@kernel
def second(a):
    return first(a) + a[1]

@kernel
def third(a):
    return second(a) + first(a) * a[2]
"""
# A timer interrupts at a random moment, and after that at short intervals, until the call has ended.
INTERRUPTED = """
import json, random, signal, sys, time
from collections import Counter
import numpy as np
from chained.kernels import first, second, third

class Stop(Exception):
    pass

def interrupt(*_):
    if armed:
        raise kind

def forget(compiling):
    for one in (third.entry, third.inner, second.inner, first.inner):
        one._make_finalizer()()
        one._reset_overloads()
        if compiling:
            one._cache.flush()

armed, kind, seen = False, Stop, Counter()
signal.signal(signal.SIGALRM, interrupt)
values, right = np.array([1.0, 2.0, 3.0]), 10.0
random.seed(1)
for compiling, count in ((True, int(sys.argv[1]) // 10), (False, int(sys.argv[1]))):
    forget(compiling)
    begin = time.perf_counter()
    assert third(values) == right
    usual = time.perf_counter() - begin
    for k in range(count):
        forget(compiling)
        kind = (KeyboardInterrupt, Stop)[k % 2]
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, usual), random.choice([0.0, usual / 50]))
            assert third(values) == right
            armed = False
            seen["completed"] += 1
        except (KeyboardInterrupt, Stop) as heard:
            armed = False
            assert type(heard) is kind
            seen["interrupted"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert third(values) == right
print(json.dumps(seen))
"""


@pytest.fixture
def chained(tmp_path) -> dict[str, str]:
    """The environment of a process with a chain of kernels and its own cache."""
    (tmp_path / "chained").mkdir()
    (tmp_path / "chained" / "__init__.py").write_text("")
    (tmp_path / "chained" / "kernels.py").write_text(CHAIN)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join([str(tmp_path), str(Path(deferral.__file__).parents[2])])
    return clean | {"PYTHONPATH": path, "JOSTLE_CACHE_DIR": str(tmp_path / "cache")}


@posix
@pytest.mark.long
def test_interrupts_while_compiling_and_loading_break_nothing(chained):
    command = [sys.executable, "-c", INTERRUPTED, str(INTERRUPTS)]
    done = subprocess.run(command, env=chained, capture_output=True, text=True, timeout=60 + INTERRUPTS, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert sum(seen.values()) == INTERRUPTS + INTERRUPTS // 10
    assert seen["interrupted"] > INTERRUPTS // 20


# An interrupt for every kernel that is not in the cache: heard when the innermost of them is done.
AGAIN_AND_AGAIN = """
import json, os, signal
import numpy as np
from chained.kernels import first, second, third
from jostle.kernels import cache, deferral

def interrupt(*_):
    raise KeyboardInterrupt

def interrupted_miss(*arguments, miss=cache.compile_progress.miss):
    miss(*arguments)
    job = deferral._here.job
    before = len(job.raised)
    os.kill(os.getpid(), signal.SIGINT)
    while len(job.raised) == before:
        pass

signal.signal(signal.SIGINT, interrupt)
cache.compile_progress.miss = interrupted_miss
seen = []
while True:
    try:
        answer = third(np.array([1.0, 2.0, 3.0]))
        break
    except KeyboardInterrupt:
        seen.append([len(one.overloads) for one in (first.inner, second.inner, third.entry)])
print(json.dumps([seen, answer, cache.cache_statistics.saves]))
"""


@posix
def test_calls_that_are_always_interrupted_come_to_an_end_kernel_by_kernel(chained):
    command = [sys.executable, "-c", AGAIN_AND_AGAIN]
    done = subprocess.run(command, env=chained, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], 10.0, 3]


class Heard(Exception):
    """Raised by a handler."""


@pytest.fixture
def raising(monkeypatch):
    """Let SIGALRM raise `Heard`, and SIGUSR1 KeyboardInterrupt."""

    def handler(number, _frame):
        raise Heard if number == signal.SIGALRM else KeyboardInterrupt

    before = {number: signal.signal(number, handler) for number in (signal.SIGALRM, signal.SIGUSR1)}
    yield
    for number, old in before.items():
        signal.signal(number, old)


def send(*numbers: int) -> None:
    """Send signals to this process, and return when the main thread has heard them."""
    job = deferral._here.job
    for k, number in enumerate(numbers):
        os.kill(os.getpid(), number)
        while len(job.raised) <= k:
            pass


@posix
@pytest.mark.small
def test_an_interrupt_is_raised_when_the_work_is_done(raising):
    steps = []

    def work():
        send(signal.SIGALRM)
        steps.append("done")

    with pytest.raises(Heard) as caught:
        with_signals_deferred(work)
    assert steps == ["done"]
    assert "handler" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


@posix
@pytest.mark.small
def test_of_several_interrupts_the_first_that_nobody_catches_by_accident_is_raised(raising):
    with pytest.raises(KeyboardInterrupt):
        with_signals_deferred(lambda: send(signal.SIGALRM, signal.SIGUSR1, signal.SIGALRM))


@posix
@pytest.mark.small
def test_a_chain_ends_between_two_kernels(raising):
    steps = []

    def work():
        stop_if_interrupted()
        steps.append("first")
        send(signal.SIGALRM)
        try:
            stop_if_interrupted()
        except Exception:
            steps.append("caught as an error of the compiler")
        steps.append("second")

    with pytest.raises(Heard):
        with_signals_deferred(work)
    assert steps == ["first"]
    stop_if_interrupted()  # nothing waits any more


@pytest.mark.small
def test_results_errors_and_context_come_back():
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    assert with_signals_deferred(lambda: (variable.get(), threading.get_ident() != threading.main_thread().ident)) == (7, True)

    def fails():
        raise LookupError("on purpose")

    with pytest.raises(LookupError, match="on purpose") as caught:
        with_signals_deferred(fails)
    assert "fails" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert caught.value.__context__ is None
    assert not deferral._running


@pytest.mark.small
def test_other_threads_and_a_compiler_that_calls_work_where_they_are():
    idents = []

    def note():
        idents.append(threading.get_ident())

    thread = threading.Thread(target=with_signals_deferred, args=(note,))
    thread.start()
    ident = thread.ident
    thread.join()
    with global_compiler_lock:
        with_signals_deferred(note)
    assert idents == [ident, threading.main_thread().ident]


@pytest.mark.small
def test_without_a_thread_to_be_had_the_work_is_done_here(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(deferral._thread, "start_new_thread", refuse)
    assert with_signals_deferred(threading.get_ident) == threading.main_thread().ident


@pytest.mark.small
@pytest.mark.skipif(not hasattr(ffi.lib, "_lock"), reason="this llvmlite has another lock")
def test_a_lock_that_an_interrupt_left_behind_is_released():
    def work():
        with ffi.lib._lock:
            return "done"

    lock = ffi.lib._lock._lock
    for _ in range(2):
        lock.acquire()
    assert with_signals_deferred(work) == "done"
    assert not lock._is_owned()


FORKING = ("-W", "ignore:This process:DeprecationWarning")  # since Python 3.12 every fork beside another thread warns

FORKED = """
import os, signal, sys, threading, time
import numpy as np
from chained.kernels import second, third
from numba.core.compiler_lock import global_compiler_lock
values = np.array([1.0, 2.0, 3.0])
if sys.argv[1] == "handler":  # forks while the main thread waits
    def handler(*_):
        global child
        child = os.fork()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    answer = third(values)
else:
    thread = threading.Thread(target=third, args=(values,))
    thread.start()
    while not second.inner._compiling_counter and not third.entry.overloads:
        pass
    child = os.fork()
    answer = third(values) + second(values) - 4.0
if child == 0:
    os._exit(0 if answer == 10.0 else 5)
assert answer == 10.0
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("where", ["handler", "thread"])
def test_a_process_that_is_forked_while_a_kernel_is_compiled_can_compile(chained, where):
    done = subprocess.run(
        [sys.executable, *FORKING, "-c", FORKED, where], env=chained, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


LEFT_ALONE = """
import os
from jostle.kernels import deferral
def work():
    while not deferral.interrupted():  # until the interpreter ends
        pass
    os.write(1, b"finished\\n")
    deferral.stop_if_interrupted()
    os.write(1, b"went on\\n")
job = deferral._Job(work)
job.start()
while not job.claimed:
    pass
"""


def test_the_interpreter_waits_for_a_helper_that_was_left_alone(chained):
    done = subprocess.run([sys.executable, "-c", LEFT_ALONE], env=chained, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "finished\n", "")


@kernel
def not_typed(values):
    return values.nothing


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_errors_of_the_compiler_reach_the_caller():
    from numba.core.errors import TypingError

    for _ in range(2):
        with pytest.raises(TypingError, match="Unknown attribute 'nothing'"):
            not_typed(np.zeros(3))
    assert InterruptedCompilation.__mro__[1] is BaseException


# Numba is imported by the first call. The timer goes on until the call has succeeded.
IMPORTING = """
import signal, sys
import numpy as np
from chained.kernels import third

def interrupt(*_):
    raise KeyboardInterrupt

assert "numba" not in sys.modules
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]), 0.3)
heard = 0
while True:
    try:
        answer = third(np.array([1.0, 2.0, 3.0]))
        signal.setitimer(signal.ITIMER_REAL, 0)
        break
    except KeyboardInterrupt:
        heard += 1
assert answer == 10.0
assert heard > 0
"""


@posix
@pytest.mark.skipif(JIT_DISABLED, reason="nothing is imported")
@pytest.mark.parametrize("delay", ["0.002", "0.1"])
def test_an_interrupt_while_numba_is_imported_breaks_nothing(chained, delay):
    command = [sys.executable, "-c", IMPORTING, delay]
    done = subprocess.run(command, env=chained, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


# The thread imports Numba when the process is forked: `numba` is among the modules before it is whole.
FORKED_WHILE_IMPORTING = """
import os, sys, threading
import numpy as np
from chained.kernels import third

values = np.array([1.0, 2.0, 3.0])
thread = threading.Thread(target=third, args=(values,))
thread.start()
while sys.argv[1] not in sys.modules:
    pass
child = os.fork()
answer = third(values)
if child == 0:
    os._exit(0 if answer == 10.0 else 5)
assert answer == 10.0
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.skipif(JIT_DISABLED, reason="nothing is imported")
@pytest.mark.parametrize("module", ["numba", "numba.core.types", "numba.core.registry"])
def test_a_process_that_is_forked_while_numba_is_imported_can_compile(chained, module):
    command = [sys.executable, *FORKING, "-c", FORKED_WHILE_IMPORTING, module]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=chained, text=True, start_new_session=True, **pipes) as process:
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # both, as each may wait for ever
    assert (process.returncode, said) == (0, "")


def test_a_fork_waits_for_the_compiler_that_an_import_has_just_made(monkeypatch):
    made, compiler_lock = [], threading.RLock()

    class ImportLock:
        def acquire(self):
            made.append(compiler_lock)  # the import has ended meanwhile

        def release(self):
            pass

    monkeypatch.setattr(deferral, "_import_lock", ImportLock())
    monkeypatch.setattr(deferral, "_compiler_lock", lambda: made[0] if made else None)
    deferral._hold_before_fork()
    assert deferral._held_for_fork[1:] == [compiler_lock]
    deferral._release_after_fork()
    assert deferral._held_for_fork == []


MADE_BY_THE_IMPORT = """
import sys
from jostle.kernels.deferral import load_numba
load_numba("jostle.kernels.dispatch")
from numba.core.registry import cpu_target
assert "numpy.ma" in sys.modules
assert vars(cpu_target).keys() >= {"_toplevel_target_context", "_toplevel_typing_context"}
"""


def test_what_numba_makes_under_a_lock_is_made_while_forks_wait(chained):
    command = [sys.executable, "-c", MADE_BY_THE_IMPORT]
    done = subprocess.run(command, env=chained, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


CALLED_BY_NUMBA_FIRST = """
import numba
import numpy as np
from chained.kernels import third

@numba.njit
def twice(values):
    return 2.0 * third(values)

assert twice(np.array([1.0, 2.0, 3.0])) == 20.0
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_the_first_call_may_come_from_a_numba_function_of_the_user(chained):
    command = [sys.executable, "-c", CALLED_BY_NUMBA_FIRST]
    done = subprocess.run(command, env=chained, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


DEEP = """
import sys, threading
import numpy as np
from chained.kernels import third

heard = []
def call(depth):
    return call(depth - 1) if depth else third(np.array([1.0, 2.0, 3.0]))

def descend():
    for depth in range(sys.getrecursionlimit() - 10, 0, -30):
        try:
            heard.append(call(depth))
        except RecursionError:
            heard.append(None)

thread = threading.Thread(target=descend)
thread.start()
thread.join()
assert None in heard
assert heard[-1] == 10.0
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is imported")
def test_a_first_call_by_a_thread_that_has_recursed_deeply_does_not_cut_off_the_import_of_numba(chained):
    done = subprocess.run([sys.executable, "-c", DEEP], env=chained, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
