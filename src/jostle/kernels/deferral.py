"""Signals wait while a kernel is compiled or loaded.

llvmlite calls Python functions from inside LLVM, and an exception raised there by a signal handler can end the process. Python runs
handlers in the main thread only. So the main thread passes this work to a helper thread and waits; exceptions of handlers are kept,
and raised as soon as the current kernel is done, also between the kernels of a chain.

Replacing the handlers for a while would need no thread, but changes global state, and loses an interrupt that comes between two of
the replacements. Here an interrupt is safe at any moment: the helper finishes its kernel by itself.

Not covered is a kernel called by a user's own Numba function: the main thread compiles already, and a helper would wait for it.
This module needs no Numba: Numba itself is imported under its protection (`load_numba`).
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import contextvars
import importlib
import logging  # noqa: F401  # as Numba does; here first, so that its fork hook runs after ours (see below)
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

LISTEN_SECONDS = 0.2  # polling interval of the main thread; handlers run then if the signal did not wake it
STACK_BYTES = 16 << 20  # LLVM recurses; a thread gets as little as 128 kB on some systems

Result = TypeVar("Result")


class InterruptedCompilation(BaseException):
    """Ends a chain of kernels in the helper thread.

    The main thread raises its handler's exception instead.
    """


class _Job:
    """One call for the helper thread."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.process = os.getpid()
        self.raised: list[BaseException] = []
        self.claimed = False
        self.finished = False
        self.result: Any = None
        self.error: BaseException | None = None
        self._claim = _thread.allocate_lock()
        self._end = _thread.allocate_lock()
        self._end.acquire()
        self._context = contextvars.copy_context()

    def start(self) -> None:
        """Start a helper thread.

        An interrupt may hide whether one was started: then there are two, and one of them returns at once.
        """
        before = threading.stack_size(STACK_BYTES)
        try:
            _thread.start_new_thread(self.run, ())  # a `Thread` waits inside `start`, and does not survive an interrupt there
        except (RuntimeError, MemoryError) as error:
            if isinstance(error, RuntimeError) and "new thread" not in str(error):
                raise  # raised by a handler
            self.run()  # no thread is available
        finally:
            threading.stack_size(before)

    def run(self) -> None:
        """Run the job; called in the helper thread."""
        if not self._claim.acquire(blocking=False):
            return
        self.claimed = True
        _running.add(self)
        _here.job = self
        try:
            self.result = self._context.run(self.function)
        except BaseException as error:
            self.error = error
        finally:
            _here.job = None
            self.finished = True
            _running.discard(self)
            self._end.release()

    def wait(self) -> None:
        """Wait for the helper, keeping exceptions of handlers."""
        while True:
            try:
                while not self.finished and self.process == os.getpid():
                    _release_llvm()
                    if not self.claimed:
                        self.start()
                    self._end.acquire(timeout=LISTEN_SECONDS)
                return
            except BaseException as error:  # no calls here: Python checks for signals after each
                self.raised = [*self.raised, error]


_running: set[_Job] = set()
_here = threading.local()


def with_signals_deferred(function: Callable[[], Result]) -> Result:
    """Call a function that compiles or loads kernels, with signals deferred.

    Exceptions of signal handlers are raised after it.
    """
    if _thread.get_ident() != threading.main_thread().ident or _is_compiling():
        return function()
    return _by_helper(function)


def _by_helper(function: Callable[[], Result]) -> Result:
    job = _Job(function)
    while True:
        try:
            job.wait()
            break
        except BaseException as error:  # raised at the one step of `wait` that does not catch it
            job.raised = [*job.raised, error]
    # The first, but Ctrl-C before ordinary exceptions, which may be caught.
    outcome = min(job.raised, key=lambda one: isinstance(one, Exception), default=job.error)
    job.raised, job.error = [], None
    if outcome is not None:
        try:
            raise outcome
        finally:
            del outcome  # its traceback refers to this frame
    if not job.finished:  # a handler forked, and the helper stayed in the parent
        return function()
    return job.result


def stop_if_interrupted() -> None:
    """End the chain between two kernels if an interrupt is pending."""
    job: _Job | None = getattr(_here, "job", None)
    if job is not None and job.raised:
        raise InterruptedCompilation


def interrupted() -> bool:
    """Return whether an interrupt waits for a kernel to be compiled or loaded."""
    return any(job.raised for job in tuple(_running))


def load_numba(module: str) -> Any:
    """Import a module that needs Numba, with signals deferred.

    An interrupted import of Numba cannot always be repeated. The import has a stack of its own in every thread: one that has
    recursed deeply would interrupt it.
    """
    if module not in _loaded:
        _loaded[module] = _imported(module) if _is_compiling() else _by_helper(lambda: _imported(module))
    return _loaded[module]


def _imported(module: str) -> Any:
    with _import_lock:
        return importlib.import_module(module)


def _compiler_lock() -> Any:
    """Return Numba's lock, None before Numba is imported."""
    module = sys.modules.get("numba.core.compiler_lock")
    return getattr(module, "global_compiler_lock", None)


def _is_compiling() -> bool:
    lock = _compiler_lock()
    return lock is not None and bool(lock.is_locked())


def _release_llvm() -> None:
    """Release llvmlite's lock if this thread holds it outside of llvmlite.

    An interrupt while the garbage collector disposes of LLVM's objects leaves the lock held, and the helper would wait forever.
    """
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock: Any = getattr(getattr(library, "_lock", None), "_lock", None)
    while lock is not None and lock._is_owned():
        lock.release()


@atexit.register
def _finish() -> None:
    """Wait for a remaining helper: its kernel must end before the interpreter."""
    for job in tuple(_running):
        job.raised = [SystemExit()]
    while _running:
        with contextlib.suppress(BaseException):
            time.sleep(0.02)


_loaded: dict[str, Any] = {}
_import_lock = threading.RLock()
_held_for_fork: list[Any] = []


def _hold_before_fork() -> None:
    """Wait until no other thread imports Numba or compiles.

    A process forked meanwhile would wait for it forever. The hook registered last is called first. That of `logging` takes a lock
    that the import of Numba needs, so it must be called after this one.
    """
    _import_lock.acquire()
    _held_for_fork.append(_import_lock)
    compiler_lock = _compiler_lock()  # only now: the import that was waited for has made it, and its thread may compile already
    if compiler_lock is not None:
        compiler_lock.acquire()
        _held_for_fork.append(compiler_lock)


def _release_after_fork() -> None:
    while _held_for_fork:
        _held_for_fork.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_before_fork, after_in_parent=_release_after_fork, after_in_child=_release_after_fork)
    os.register_at_fork(after_in_child=_running.clear)
