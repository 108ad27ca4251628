"""Measuring: methods replay a recorded motion in rounds, each in its own process.

The first round warms up; its answers are counted and compared. In each timed round every method replays all frames. The order
rotates from round to round, and a method that needs longer than `TURN_SECONDS` yields to the others, so a machine that slows
down slows all. A frame's time is the median over the rounds. A method that has not finished all frames once, or `enough` of
them, within its limit is too slow; others are timed as often as the limit allows. A failing method does not stop the others,
and an interrupted point keeps its measurements.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from jostle.bench.process import Gone, ServerProcess, processors_to_time_on
from jostle.lab.bands import Band
from jostle.lab.methods import NamedMethod
from jostle.lab.replay import FrameAnswer, Replayer, Reply
from jostle.lab.results import MethodRun, Point
from jostle.lab.truth import NOTHING, Truth, missed_and_extra, question_for
from jostle.motion.record import Motion

LIMIT_SECONDS = 60.0  # for one method and one point, without compiling
ROUNDS = 5  # timed ones
TURN_SECONDS = 2.0
GRACE_SECONDS = 0.5  # delay of an answer beyond the limit
COMPILE_SECONDS = 600.0

Progress = Callable[[str, float], None]
"""Called with the current activity and the completed share of the point, 0 … 1."""


def empty_point(value: float | str | None, motion: Motion) -> Point:
    """Return the point of a motion, without runs."""
    return Point(value, len(motion.names), sum(len(mesh.faces) for mesh in motion.meshes), len(motion))


def measure_point(
    point: Point,
    motion: Motion,
    methods: Sequence[NamedMethod],
    rounds: int = ROUNDS,
    limit: float = LIMIT_SECONDS,
    progress: Progress = lambda *_: None,
    enough: int | None = None,
    may_be_inside: bool = True,
    exact: str | None = None,
) -> None:
    """Replay a motion through methods, filling the runs of the point.

    Parameters
    ----------
    rounds : int
        Timed rounds after the warm-up.
    limit : float
        Seconds for each method.
    enough : int, optional
        Frames that a method must finish within its limit; all by default.
    may_be_inside : bool
        Whether a body may be inside another, see `Truth`.
    exact : str, optional
        The method that answers are compared with, see `Truth`.
    """
    contenders = [_Contender(each, len(motion), limit, enough) for each in methods]
    point.runs = [each.run for each in contenders]
    try:
        with tempfile.TemporaryDirectory(prefix="jostle-lab-") as folder:
            file = Path(folder) / "motion.npz"
            motion.save(file)
            for contender in contenders:
                contender.start()  # all at once: importing takes longer than preparing
            for k, contender in enumerate(contenders):
                progress(f"{contender.run.method} prepares (a first run compiles)", 0.1 * k / len(contenders))
                contender.prepare(str(file))
        truth = Truth(motion, may_be_inside, exact)
        for number in range(rounds + 1):
            turn = number % max(1, len(contenders))
            _one_round(contenders[turn:] + contenders[:turn], number, rounds, progress)
            if number == 0:
                for contender in contenders:
                    contender.compare(truth, lambda what: progress(what, 0.1 + 0.9 / (rounds + 1)))
    except KeyboardInterrupt:
        for contender in contenders:
            contender.interrupt(rounds)
        raise
    finally:
        for contender in contenders:
            contender.end()


def _one_round(contenders: list[_Contender], number: int, rounds: int, progress: Progress) -> None:
    for contender in contenders:
        contender.begin_round()
    words = "warm-up" if number == 0 else f"round {number} of {rounds}"
    while any(contender.has_frames_left for contender in contenders):
        for contender in contenders:
            if contender.has_frames_left:
                done = sum(each.share_of_round for each in contenders) / len(contenders)
                progress(f"{contender.run.method}, {words}", 0.1 + 0.9 * (number + done) / (rounds + 1))
                contender.take_turn(answering=number == 0)


class _Contender:
    """One method during the rounds."""

    def __init__(self, named: NamedMethod, frames: int, limit: float, enough: int | None = None) -> None:
        self.run = MethodRun(named.label)
        self._frames, self._limit, self._spent = frames, limit, 0.0
        self._enough = frames if enough is None else min(enough, frames)
        processors = processors_to_time_on()[-named.workers :]
        arguments = (named.method, named.options, named.workers)
        self._process = ServerProcess(Replayer, arguments, f"lab {named.label}", processors)
        self._method, self._question = named.method, question_for(named.method, named.options)
        self._answers: list[FrameAnswer] = []
        self._warm: list[tuple[float, float]] = []  # update and total of each frame in the warm-up
        self._timed: list[list[tuple[float, float]]] = [[] for _ in range(frames)]
        self._next = 0
        self._racing = True

    @property
    def has_frames_left(self) -> bool:
        """Whether it continues this round."""
        return self._racing and self._next < self._frames

    @property
    def share_of_round(self) -> float:
        """The completed share of this round."""
        return self._next / self._frames if self._racing else 1.0

    def start(self) -> None:
        """Start the process."""
        self._process.start()

    def prepare(self, file: str) -> None:
        """Load the motion and prepare shapes in the process."""
        reply = self._process.ask(("load", file), COMPILE_SECONDS)
        if isinstance(reply, Gone) or reply.status != "ok":
            self._drop_out("failed", reply)
            return
        answer = self._ask(("prepare",), "while preparing")
        if answer is not None:
            self.run.prepare_seconds = answer.seconds

    def begin_round(self) -> None:
        """Go back to frame 0."""
        self._next = 0

    def take_turn(self, answering: bool) -> None:
        """Replay some frames."""
        seconds = min(TURN_SECONDS, self._limit - self._spent)
        if seconds <= 0.0:
            self._exceed_limit(f"after {len(self._answers)} of {self._frames} frames")
            return
        message = ("replay", self._next, seconds, answering)
        reply = self._ask(message, f"after {len(self._answers)} of {self._frames} frames")
        if reply is None:
            return
        if self.run.memory_bytes is None:
            self.run.memory_bytes = reply.memory
        times = list(zip(reply.updates, reply.totals, strict=True))
        if answering:
            self._answers += reply.answers
            self._warm += times
        else:
            for frame, sample in enumerate(times, self._next):
                self._timed[frame].append(sample)
        self._next += len(times)

    def compare(self, truth: Truth, progress: Callable[[str], None]) -> None:
        """Compare its answers with the truth."""
        if not self._answers or self._question.compared == NOTHING:
            return
        band = Band(self._method, self._question, truth)
        counts, right = np.zeros(4, np.int64), 0
        for frame, answer in enumerate(self._answers):
            progress(f"{self.run.method} against the exact answer, frame {frame + 1} of {len(self._answers)}")
            true = truth.rows_for(self._question, frame)
            wrong = missed_and_extra(answer.rows, true, self._question.compared)
            right += not any(wrong)
            counts += (*wrong, *(band.beyond(answer.rows, true, frame) if band.words and any(wrong) else wrong))
        run = self.run
        run.missed, run.extra, run.missed_beyond, run.extra_beyond = counts.tolist()
        run.guarantee, run.compared, run.frames_right = band.words, self._question.compared, right

    def interrupt(self, rounds: int) -> None:
        """Record that the run ended early."""
        self._store_times()
        if self.run.status != "ok" or self.run.rounds == rounds:
            return
        if len(self._answers) < self._frames:
            why = f"interrupted after {len(self._answers)} of {self._frames} frames"
        else:
            why = f"interrupted after {self.run.rounds} of {rounds} timed rounds"
        self.run.status, self.run.why = "interrupted", why

    def end(self) -> None:
        """End the process and store the measurements."""
        self._process.end()
        self._store_times()

    def _ask(self, message: tuple[object, ...], where: str) -> Reply | None:
        """Call within the remaining time; None if the method is out."""
        begin = time.monotonic()
        reply = self._process.ask(message, self._limit - self._spent + GRACE_SECONDS)
        self._spent += time.monotonic() - begin
        if isinstance(reply, Gone) and reply.status == "timeout":
            self._exceed_limit(where)
        elif isinstance(reply, Gone):
            self._drop_out("failed", reply)
        elif reply.status != "ok":
            self._drop_out(reply.status, reply)
        else:
            assert isinstance(reply, Reply)
            return reply
        return None

    def _exceed_limit(self, where: str) -> None:
        """Stop; a method that has not finished enough frames is too slow."""
        if len(self._answers) < self._enough:
            self.run.status, self.run.why = "too slow", f"stopped {where}: it exceeded its limit of {self._limit:g} s"
        elif len(self._answers) < self._frames:
            self.run.why = f"timed over the first {len(self._answers):,} of {self._frames:,} frames"
        self._racing = False
        self._process.end()

    def _drop_out(self, status: str, reply: Gone | Reply) -> None:
        self.run.status, self.run.why = status, reply.why
        self._racing = False
        self._process.end()

    def _store_times(self) -> None:
        run, frames = self.run, len(self._answers)
        run.contacts, run.pairs = [each.contacts for each in self._answers], [each.pairs for each in self._answers]
        run.counters = [each.counters for each in self._answers]
        samples = [timed or [warm] for timed, warm in zip(self._timed, self._warm, strict=False)][:frames]
        run.update_seconds = [median(update for update, _ in each) for each in samples]
        run.frame_seconds = [median(total for _, total in each) for each in samples]
        run.rounds = min((len(each) for each in self._timed), default=0)
