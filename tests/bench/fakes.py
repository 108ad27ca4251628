"""Contestants that behave badly, each differently; the bench loads them by name in processes of their own."""

import importlib
import os
import signal
import time

import numpy as np

from jostle.bench.case import Found, Job, Unable
from jostle.bench.reference import exact_answer


class Honest:
    def variants(self, case):
        return {"exact": Job(lambda frame: exact_answer(case, frame), lambda answer: answer)}


class Liar:
    """Tells the truth but for one row too few and two too many."""

    def variants(self, case):
        def found(answer):
            rows = answer.data[1:]
            return Found("rows", np.vstack([rows, [[0, 1, 9999, 9999]], rows[:1]]))

        boxes = Job(lambda frame: exact_answer(case, frame), lambda answer: answer, other_question="something else")
        return {"lie": Job(lambda frame: exact_answer(case, frame), found), "aside": boxes}


class Missing:
    def __init__(self):
        importlib.import_module("a_library_that_nobody_has")


class Incapable:
    def variants(self, case):
        raise Unable("it was never meant to")


class Failing:
    def variants(self, case):
        return {"raise": Job(lambda frame: 1 // 0, lambda answer: answer)}


class Crasher:
    """One variant takes the process down at the first call, one after a few, and one is sound."""

    def variants(self, case):
        calls = []

        def die_at_once(frame):
            os.write(2, b"the library says goodbye\n")
            os.kill(os.getpid(), signal.SIGSEGV)
            time.sleep(10)  # a signal may take a moment

        def die_later(frame):
            calls.append(frame)
            if len(calls) > 1 + case.frame_count:
                os._exit(7)
            return exact_answer(case, frame)

        at_once = Job(die_at_once, lambda answer: answer)
        return {"at once": at_once, "later": Job(die_later, lambda answer: answer), **Honest().variants(case)}


class Sleeper:
    def variants(self, case):
        return {"sleep": Job(lambda frame: time.sleep(60), lambda answer: answer)}
