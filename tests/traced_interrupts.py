"""Interrupts wherever Python checks for signals: function starts, calls, loops."""

import dis
import functools
import sys
from pathlib import Path

import jostle

FOLDER = str(Path(jostle.__file__).parent)
PLACES = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME", "SEND", "FOR_ITER")


@functools.cache
def _places(code):
    """Offsets of instructions, mapped to their names and handlers."""
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
                    self._stop(frame)
                    self.handler()
                    return None
        return self._step

    @staticmethod
    def _stop(frame):
        """Trace no more: what is left of the call runs at its own speed."""
        sys.settrace(None)
        while frame is not None:
            frame.f_trace, frame = None, frame.f_back


def _raise():
    raise KeyboardInterrupt


def interrupted(act, at):
    """Call `act()` with an interrupt at place `at` (from 1); return if it got there."""
    try:
        with_handler(act, at, _raise)
    except KeyboardInterrupt:
        return True
    return False


def with_handler(act, at, handler):
    """Call `act()`, and `handler()` at place `at` (from 1), as a signal would."""
    tracer, before = _Tracer(at, handler), sys.gettrace()
    sys.settrace(tracer.enter)
    try:
        act()
    finally:
        sys.settrace(before)
