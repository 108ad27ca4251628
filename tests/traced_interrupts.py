"""Interrupts at every place where Python hears one: at the start of functions, after calls, and where loops go round.

A trace function raises `KeyboardInterrupt` at the k-th such place of a call, in the code of jostle and of what it builds its locks
and contexts on, or does there what a signal handler or another thread may do. It raises one bytecode later than Python would; where
another handler stands there (the end of a `with` block), the place is left out, and left to `tests/interrupts.py`.
"""

import dis
import functools
import sys
from pathlib import Path

import jostle

FOLDER = str(Path(jostle.__file__).parent)
PLACES = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME", "SEND", "FOR_ITER")


@functools.cache
def _places(code):
    """Offsets of instructions, to the name of each and to the handler that stands there."""
    handlers = dis._parse_exception_table(code)  # no public way to it

    def handler(offset):
        return next((entry.target for entry in handlers if entry.start <= offset < entry.end), None)

    return {step.offset: (step.opname, handler(step.offset)) for step in dis.get_instructions(code)}


def _is_watched(code):
    name = code.co_filename
    return name.startswith(FOLDER) or name.endswith(("threading.py", "contextlib.py", "copy.py", "functools.py"))


class _Tracer:
    """Counts the places, and calls `handler` at one of them."""

    def __init__(self, at, handler):
        self.at, self.handler, self.seen, self._last = at, handler, 0, {}

    def enter(self, frame, event, _):
        if not _is_watched(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, _):
        if event == "return":
            self._last.pop(id(frame), None)
        elif event == "opcode":
            places, here = _places(frame.f_code), frame.f_lasti
            before = self._last.get(id(frame))
            self._last[id(frame)] = here
            if before is None or (places[before][0] in PLACES and places[before][1] == places[here][1]):
                self.seen += 1
                if self.seen == self.at:
                    self.handler()
        return self._step


def _raise():
    raise KeyboardInterrupt


def interrupted(act, at):
    """Call `act()` with an interrupt at place number `at`, from 1 on; return whether it came that far."""
    try:
        with_handler(act, at, _raise)
    except KeyboardInterrupt:
        return True
    return False


def with_handler(act, at, handler):
    """Call `act()`, and `handler()` at place number `at`, from 1 on, as a signal or another thread would."""
    tracer, before = _Tracer(at, handler), sys.gettrace()
    sys.settrace(tracer.enter)
    try:
        act()
    finally:
        sys.settrace(before)
