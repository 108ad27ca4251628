"""Threads over chunks: equal results for any workers, errors, forks, Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from jostle.kernels import pool
from jostle.kernels.pool import map_chunks, share_out
from tests.patience import let_helpers_begin

pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def _four_processors(monkeypatch):
    """Let there be threads on a machine with one processor too."""
    monkeypatch.setattr(pool, "usable_processors", lambda: 4)
    monkeypatch.setattr(pool, "_pools", {})


@pytest.mark.parametrize("workers", [1, 2, 4, 100, None])
@pytest.mark.parametrize(("count", "chunk"), [(0, 3), (1, 3), (3, 3), (10, 3), (1000, 7)])
def test_results_come_in_the_order_of_the_chunks(count, chunk, workers):
    def work(start, stop):
        time.sleep(1e-4 * (start % 3))  # later chunks may well be done first
        return list(range(start, stop))

    results = map_chunks(work, count, chunk, workers)
    assert [k for one in results for k in one] == list(range(count))
    assert all(len(one) == chunk for one in results[:-1])


def test_one_worker_stays_in_the_calling_thread_which_takes_part_beside_others():
    assert set(map_chunks(lambda *_: threading.get_ident(), 9, 3)) == {threading.get_ident()}
    meeting = threading.Barrier(2, timeout=20)

    def work(start, _):
        meeting.wait()
        return threading.get_ident()

    first, second = map_chunks(work, 2, 1, workers=2)
    assert first == threading.get_ident() != second


def test_several_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)
    assert map_chunks(lambda *_: meeting.wait() >= 0, 3, 1, workers=3) == [True] * 3


def test_never_more_threads_than_processors(monkeypatch):
    running, most, lock = 0, 0, threading.Lock()

    let_helpers_begin(monkeypatch)

    def work(start, stop):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    map_chunks(work, 40, 1, workers=40)
    assert 1 < most <= 4


@pytest.mark.parametrize("workers", [1, 4])
def test_the_error_of_the_lowest_chunk_is_raised_after_the_running_ones_have_ended(workers):
    running: set[int] = set()
    begun = []

    def work(start, stop):
        running.add(start)
        begun.append(start)
        try:
            time.sleep(0.03 if start == 2 else 0.001)
            if start in (2, 3):
                raise ValueError(f"chunk {start}")
        finally:
            running.discard(start)

    with pytest.raises(ValueError, match="chunk 2"):
        map_chunks(work, 1000, 1, workers)
    assert running == set()
    assert len(begun) < 1000
    assert map_chunks(lambda start, stop: start, 3, 1, workers) == [0, 1, 2]  # and the pool still works


def test_a_call_from_inside_a_worker_does_not_wait_for_workers():
    def outer(start, stop):
        return sum(map_chunks(lambda a, b: a, 10, 1, workers=4))

    assert map_chunks(outer, 16, 1, workers=4) == [45] * 16


def test_each_thread_does_its_tasks_with_a_share_of_its_own(monkeypatch):
    let_helpers_begin(monkeypatch)
    shares: list[list[tuple[int, int]]] = []

    def make_share():
        done: list[tuple[int, int]] = []
        shares.append(done)

        def do(task):
            time.sleep(0.001)
            done.append((task, threading.get_ident()))

        return do

    share_out(range(40), make_share, workers=4)
    assert 1 < len(shares) <= 4
    assert sorted(task for done in shares for task, _ in done) == list(range(40))
    assert all(len({thread for _, thread in done}) <= 1 for done in shares)
    assert shares[0][0] == (0, threading.get_ident())  # the caller makes the first share, and takes the first task


def test_a_helper_that_comes_late_is_not_waited_for():
    held = threading.Event()
    busy = pool._pool()
    for _ in range(4):
        busy.queue.put(lambda: held.wait(20.0) and None)
    try:
        begin = time.monotonic()
        assert map_chunks(lambda start, stop: start, 8, 1, workers=4) == list(range(8))
        assert not held.is_set()
        assert time.monotonic() - begin < 15.0
    finally:
        held.set()


def test_a_helper_that_comes_and_goes_is_not_taken_for_one_that_still_works(monkeypatch):
    """Of two helpers the second finds nothing to do and is done at once, while the first is at work."""
    queued, at_work = [], threading.Event()

    class LateSecond:
        queue = property(lambda self: self)

        def put(self, helper):
            queued.append(helper)
            if len(queued) == 1:
                threading.Thread(target=helper).start()
                at_work.wait(20.0)

    monkeypatch.setattr(pool, "_pool", LateSecond)

    def work(start, _):
        if threading.current_thread() is threading.main_thread():
            return start
        at_work.set()
        time.sleep(0.2)
        threading.Thread(target=queued[1]).start()
        time.sleep(0.2)
        return start

    assert map_chunks(work, 3, 1, workers=3) == [0, 1, 2]


def test_an_error_of_a_share_that_cannot_be_made_is_raised():
    caller, begun = threading.get_ident(), threading.Event()

    def make_share():
        if threading.get_ident() != caller:
            begun.set()
            raise MemoryError("no room for a share")
        return lambda task: begun.wait(20.0)

    with pytest.raises(MemoryError, match="share"):
        share_out(range(8), make_share, workers=2)


@pytest.mark.parametrize(("count", "chunk", "workers"), [(-1, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, -2)])
def test_senseless_numbers_are_refused(count, chunk, workers):
    with pytest.raises(ValueError, match="must"):
        map_chunks(lambda *_: None, count, chunk, workers)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no affinity")
def test_the_affinity_caps_the_processors(monkeypatch):
    monkeypatch.undo()
    assert pool.usable_processors() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5})
    assert pool.usable_processors() == 1


def run_script(text: str, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", text]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


FORKING = """
import os, signal, sys, time
from jostle.kernels import pool
pool.usable_processors = lambda: 3
def work(start, stop):
    time.sleep(0.01)
    return (os.getpid(), sum(range(start, stop)))
def totals(): return [total for pid, total in pool.map_chunks(work, 100, 10, workers=3) if pid == os.getpid()]
before = totals()
time.sleep(0.3)        # all threads are idle: the parent's pool would start no others in the child
child = os.fork()
if child == 0:
    signal.alarm(20)   # rather than wait for ever for threads that are not there
    same = totals() == before and len(before) == 10
    sys.exit(0 if same else 1)
_, status = os.waitpid(child, 0)
assert totals() == before
print("child", os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_gets_a_pool_of_its_own():
    out, err = run_script(FORKING).communicate(timeout=60)
    assert (out, err) == ("child 0\n", "")


INTERRUPTED = """
import os, time
from jostle.kernels import pool
pool.usable_processors = lambda: 2
def work(start, stop):
    os.write(1, b"begun\\n")  # in one piece, unlike print
    time.sleep(2)
    os.write(1, b"ended\\n")
try:
    pool.map_chunks(work, 100, 1, workers=2)
except KeyboardInterrupt:
    os.write(1, b"heard\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_an_interrupt_is_heard_while_the_chunks_run_on():
    process = run_script(INTERRUPTED)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "heard\nended\n"  # the other one is not waited for, and no chunk was begun afterwards
    assert (err, process.returncode) == ("", 0)


def test_threads_that_live_on_keep_nothing_of_what_they_worked_on(monkeypatch):
    monkeypatch.setattr(pool, "usable_processors", lambda: 2)

    class Result:
        pass

    results = pool.map_chunks(lambda start, stop: Result(), 4, 1, workers=2)
    alive = [weakref.ref(result) for result in results]
    assert len(alive) == 4
    del results
    patience = time.monotonic() + 10.0  # a thread lets go a moment after the caller has its results
    while any(ref() is not None for ref in alive) and time.monotonic() < patience:
        time.sleep(0.01)
        gc.collect()
    assert [ref() for ref in alive] == [None] * 4
