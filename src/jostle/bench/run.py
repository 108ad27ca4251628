"""Run the bench: contestants take turns in rounds, and every answer is checked.

For each case every contestant prepares, warms up and answers every frame once, which is compared with the reference. In each
round every variant of every contestant is then called for about `ROUND_SECONDS`; the order rotates from round to round, so a
machine that slows down slows all. A round's time is the median of its calls, a row's time the median of its rounds. A row
without a time says why. An interrupted run keeps its measurements.

A run of the kinds limits the seconds of each row (`ROW_SECONDS`), because what is slow there may be a thousand times as slow as the
others. A peer that cannot do a case is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from jostle.bench.case import QUESTIONS, Case, Contestant, Found, KindLabel
from jostle.bench.compare import Check, compare, total
from jostle.bench.peers import PEERS
from jostle.bench.process import processors_to_time_on
from jostle.bench.worker import Outcome, Worker
from jostle.interface.method import Method
from jostle.kernels.pool import usable_processors

ROUND_SECONDS = 0.05
MOST_CALLS = 200  # in one round
ROW_SECONDS = 1.5  # of a row of the kinds: for its rounds, after the first; a call that takes longer is its time
FEWEST_ROUNDS = 3
PREPARE_TIMEOUT = 600.0  # jostle compiles in its first call
CALL_TIMEOUT = 120.0

Progress = Callable[[str, int, int], None]
"""Called with the current activity, the steps done and the number of steps."""


@dataclass
class Row:
    """One variant of one contestant in one case."""

    contestant: Contestant
    version: str
    variant: str = ""
    note: str = ""
    other_question: str = ""
    status: str = "ok"
    why: str = ""
    rounds: list[float] = field(default_factory=list)  # seconds, the median call of each round
    least: float = float("inf")  # seconds, the fastest call
    calls: int = 0
    checks: list[Check] = field(default_factory=list)  # one per frame

    @property
    def seconds(self) -> float | None:
        """The median of the rounds."""
        return median(self.rounds) if self.rounds else None

    @property
    def spent(self) -> float:
        """The seconds of all rounds, roughly."""
        return sum(self.rounds) * self.calls / max(1, len(self.rounds))

    @property
    def check(self) -> Check | None:
        """The comparison with the reference, over all frames."""
        return total(self.checks)

    @property
    def correct(self) -> bool:
        """Whether it answered the case's question correctly in every frame."""
        answered = self.status == "ok" and not self.other_question and bool(self.checks)
        return answered and all(check.correct for check in self.checks)

    @property
    def is_jostle(self) -> bool:
        """Whether this is jostle and not a peer."""
        return self.contestant.peer == "jostle"

    def fails(self, outcome: Outcome) -> None:
        """Record why there is no (further) time."""
        self.status, self.why = outcome.status, outcome.why


@dataclass
class CaseResult:
    """The measurements of one case."""

    scenario: str
    name: str
    question: str
    frames: int
    rows: list[Row] = field(default_factory=list)
    label: KindLabel | None = None

    def best_peer(self, correct: bool = True) -> Row | None:
        """Return the fastest correct peer, or the fastest that answers at all."""
        rows = [row for row in self.rows if not row.is_jostle and row.seconds is not None and not row.other_question]
        return min((row for row in rows if row.correct or not correct), key=lambda row: row.seconds or 0.0, default=None)

    def ratio(self, row: Row, correct: bool = True) -> float | None:
        """Return a jostle row's speed over the best peer's; None if there is none."""
        best = self.best_peer(correct)
        if best is None or best.seconds is None or row.seconds is None or not row.correct:
            return None
        return best.seconds / row.seconds


@dataclass
class Result:
    """All measurements."""

    cases: list[CaseResult] = field(default_factory=list)
    interrupted: bool = False


def contestants_for(peers: Sequence[str], method: str | Method, scenario: str) -> list[Contestant]:
    """Return jostle and the peers; batches add jostle on two threads."""
    jostle = [Contestant("jostle", 1, {"method": method})]
    if scenario == "batch-poses" and usable_processors() > 1:
        jostle.append(Contestant("jostle", 2, {"method": method, "threads": "2"}))
    return jostle + [Contestant(peer) for peer in peers]


class Bench:
    """A run of the bench; `result` grows while it runs."""

    def __init__(
        self,
        peers: Sequence[str] = tuple(PEERS),
        rounds: int = 15,
        method: str | Method = "wide_tree",
        progress: Progress = lambda *_: None,
        row_seconds: float = ROW_SECONDS,
    ) -> None:
        self.result = Result()
        self._row_seconds = row_seconds
        self._peers, self._rounds, self._method = peers, rounds, method
        self._progress = progress
        self._workers: dict[tuple[str, int], Worker] = {}

    def run(self, cases: Iterable[Case], done: Callable[[CaseResult], None] | None = None) -> Result:
        """Measure the cases, passing each to `done` when it is complete.

        Ctrl-C ends the run early: measurements are kept, and an unfinished case is passed on as it is.
        """
        finished = 0
        try:
            for case in cases:
                self._run_case(case)
                finished = len(self.result.cases)
                if done is not None:
                    done(self.result.cases[-1])
        except KeyboardInterrupt:
            self.result.interrupted = True
            if done is not None:
                for result in self.result.cases[finished:]:
                    if result.rows:
                        done(result)
        finally:
            for worker in self._workers.values():
                worker.end()
        return self.result

    def _worker(self, contestant: Contestant) -> Worker:
        key = (contestant.peer, contestant.threads)
        if key not in self._workers:
            # All are timed on the same processors; the reference is not timed.
            processors = () if contestant.peer == "reference" else processors_to_time_on()[-contestant.threads :]
            self._workers[key] = Worker(contestant, processors)
        return self._workers[key]

    def _run_case(self, case: Case) -> None:
        result = CaseResult(case.scenario, case.name, QUESTIONS[case.question], case.frame_count, label=case.label)
        self.result.cases.append(result)
        label = f"{case.scenario}: {case.name}"
        self._progress(f"{label}: the exact answer", 0, 1)
        truth = self._truth(case)
        contestants = contestants_for(self._peers, self._method, case.scenario)
        for k, contestant in enumerate(contestants):
            self._progress(f"{label}: {contestant.label} prepares", k, len(contestants))
            result.rows += self._prepared(case, contestant, truth)
        for number in range(self._rounds):
            racing = [row for row in result.rows if row.status == "ok" and not self._had_enough(case, row, number)]
            turn = number % max(1, len(racing))
            for done, row in enumerate(racing[turn:] + racing[:turn]):
                # A process that died in this round took the contestant's other variants with it.
                if row.status == "ok":
                    self._progress(f"{label}: {row.contestant.label}", number * len(racing) + done, self._rounds * len(racing))
                    self._one_round(result, row, number)

    def _had_enough(self, case: Case, row: Row, rounds: int) -> bool:
        """Return whether a row of the kinds has used up its seconds."""
        if case.label is None or (rounds < FEWEST_ROUNDS and row.least <= self._row_seconds):
            return False
        return row.spent > self._row_seconds

    def _truth(self, case: Case) -> list[Found]:
        worker = self._worker(Contestant("reference"))
        outcomes = [worker.prepare(case, PREPARE_TIMEOUT)]
        outcomes += [worker.call("exact", frame, 1, PREPARE_TIMEOUT, want_found=True) for frame in range(case.frame_count)]
        for outcome in outcomes:
            if outcome.status != "ok":
                raise RuntimeError(f"the reference could not be computed: {outcome.status}: {outcome.why}")
        return [outcome.found for outcome in outcomes if outcome.found is not None]

    def _prepared(self, case: Case, contestant: Contestant, truth: list[Found]) -> list[Row]:
        """Prepare a contestant, check every frame, and return its rows without times."""
        worker = self._worker(contestant)
        outcome = worker.prepare(case, PREPARE_TIMEOUT)
        if outcome.status == "unable" and case.label is not None and contestant.peer != "jostle":
            return []
        if outcome.status != "ok":
            row = Row(contestant, worker.version)
            row.fails(outcome)
            return [row]
        rows = [Row(contestant, worker.version, each.name, each.note, each.other_question) for each in outcome.variants]
        gone = False
        for row in rows:
            if gone:  # the others are tried in a new process
                outcome = worker.prepare(case, PREPARE_TIMEOUT)
            answers = self._answers(case, worker, truth, row) if outcome.status == "ok" else outcome
            if answers.status != "ok":
                row.fails(answers)
            gone = answers.status in ("crashed", "timeout")
        if gone and any(row.status == "ok" for row in rows):
            worker.prepare(case, PREPARE_TIMEOUT)
        return rows

    def _answers(self, case: Case, worker: Worker, truth: list[Found], row: Row) -> Outcome:
        timeout = PREPARE_TIMEOUT if case.label is None else CALL_TIMEOUT  # jobs of the kinds are compiled when prepared
        outcome = worker.call(row.variant, 0, 1, timeout, want_found=True)  # warms up
        is_slow = case.label is not None and sum(outcome.seconds) > self._row_seconds
        for frame in range(case.frame_count):
            if outcome.status != "ok":
                return outcome
            if frame > 0 or not is_slow:
                outcome = worker.call(row.variant, frame, 1, CALL_TIMEOUT, want_found=True)
            if outcome.found is not None:
                row.checks.append(compare(case, outcome.found, truth[frame]))
                row.least = min(row.least, *outcome.seconds)
        if outcome.status == "ok" and is_slow:
            row.rounds, row.calls = [row.least], 1
        return outcome

    def _one_round(self, result: CaseResult, row: Row, number: int) -> None:
        calls = max(1, min(MOST_CALLS, int(ROUND_SECONDS / max(row.least, 1e-9))))
        # Rounds of a single call advance from frame to frame as well.
        outcome = self._worker(row.contestant).call(row.variant, number * calls, calls, CALL_TIMEOUT)
        if outcome.status == "ok":
            row.rounds.append(median(outcome.seconds))
            row.least = min(row.least, *outcome.seconds)
            row.calls += calls
            return
        lost = [row]
        if outcome.status in ("crashed", "timeout"):
            lost = [each for each in result.rows if each.contestant == row.contestant and each.status == "ok"]
        for each in lost:
            each.fails(outcome)
