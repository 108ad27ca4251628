"""Run the bench: contestants take turns in rounds, and every answer is checked.

For each case every contestant prepares, warms up and answers every frame once (that is what is compared). Then come the
rounds: in each, every way of every contestant is called for about `ROUND_SECONDS`, one after the other, the order turning
from round to round, so that a machine that slows down slows all of them. A round's time is the median of its calls, a row's
time the median of its rounds. A row without a time says why. What was measured stays when the bench is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from jostle.bench.case import QUESTIONS, Case, Contestant, Found
from jostle.bench.compare import Check, compare, total
from jostle.bench.peers import PEERS
from jostle.bench.process import processors_to_time_on
from jostle.bench.worker import Outcome, WayInfo, Worker
from jostle.interface.method import Method
from jostle.kernels.pool import usable_processors

ROUND_SECONDS = 0.05
MOST_CALLS = 200  # in one round
PREPARE_TIMEOUT = 600.0  # jostle compiles in its first call
CALL_TIMEOUT = 120.0

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and how many steps of how many are done."""


@dataclass
class Row:
    """One variant of one contestant in one case."""

    contestant: Contestant
    version: str
    way: str = ""
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
    def check(self) -> Check | None:
        """The comparison with the reference, over all frames."""
        return total(self.checks)

    @property
    def correct(self) -> bool:
        """Whether it answered the exact question, rightly in every frame."""
        answered = self.status == "ok" and not self.other_question and bool(self.checks)
        return answered and all(check.correct for check in self.checks)

    @property
    def is_jostle(self) -> bool:
        """Whether this is jostle and not a peer."""
        return self.contestant.peer == "jostle"

    def fails(self, outcome: Outcome) -> None:
        """Note why there is no (further) time."""
        self.status, self.why = outcome.status, outcome.why


@dataclass
class CaseResult:
    """The measurements of one case."""

    scenario: str
    name: str
    question: str
    frames: int
    rows: list[Row] = field(default_factory=list)

    def best_peer(self, correct: bool = True) -> Row | None:
        """Return the fastest correct peer; with `correct=False`, the fastest that answers the question."""
        rows = [row for row in self.rows if not row.is_jostle and row.seconds is not None and not row.other_question]
        return min((row for row in rows if row.correct or not correct), key=lambda row: row.seconds or 0.0, default=None)

    def ratio(self, row: Row, correct: bool = True) -> float | None:
        """Return how many times faster a row of jostle is than the best peer; None if there is none."""
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
    """Return jostle and the peers; batches are also measured on two threads of jostle."""
    jostle = [Contestant("jostle", 1, {"method": method})]
    if scenario == "batch-poses" and usable_processors() > 1:
        jostle.append(Contestant("jostle", 2, {"method": method, "threads": "2"}))
    return jostle + [Contestant(peer) for peer in peers]


class Bench:
    """A run of the bench; `result` grows as it goes."""

    def __init__(
        self,
        peers: Sequence[str] = tuple(PEERS),
        rounds: int = 15,
        method: str | Method = "wide_tree",
        progress: Progress | None = None,
    ) -> None:
        self.result = Result()
        self._peers, self._rounds, self._method = peers, rounds, method
        self._progress = progress or _show_nothing
        self._workers: dict[tuple[str, int], Worker] = {}

    def run(self, cases: Iterable[Case], done: Callable[[CaseResult], None] | None = None) -> Result:
        """Measure the cases, and hand each to `done` when it is measured.

        Ctrl-C ends it early: what was measured is kept, and a case that was begun is handed over as it stands.
        """
        told = 0
        try:
            for case in cases:
                self._run_case(case)
                told = len(self.result.cases)
                if done is not None:
                    done(self.result.cases[-1])
        except KeyboardInterrupt:
            self.result.interrupted = True
            if done is not None:
                for result in self.result.cases[told:]:
                    if result.rows:
                        done(result)
        finally:
            for worker in self._workers.values():
                worker.end()
        return self.result

    def _worker(self, contestant: Contestant) -> Worker:
        key = (contestant.peer, contestant.threads)
        if key not in self._workers:
            # All are timed on the same processors. The reference is not timed and may use any.
            processors = () if contestant.peer == "reference" else processors_to_time_on()[-contestant.threads :]
            self._workers[key] = Worker(contestant, processors)
        return self._workers[key]

    def _run_case(self, case: Case) -> None:
        result = CaseResult(case.scenario, case.name, QUESTIONS[case.question], case.frame_count)
        self.result.cases.append(result)
        label = f"{case.scenario}: {case.name}"
        self._progress(f"{label}: the exact answer", 0, 1)
        truth = self._truth(case)
        contestants = contestants_for(self._peers, self._method, case.scenario)
        for k, contestant in enumerate(contestants):
            self._progress(f"{label}: {contestant.label} prepares", k, len(contestants))
            result.rows += self._prepared(case, contestant, truth)
        for number in range(self._rounds):
            racing = [row for row in result.rows if row.status == "ok"]
            turn = number % max(1, len(racing))
            for done, row in enumerate(racing[turn:] + racing[:turn]):
                # A process that died in this very round took the contestant's other ways with it.
                if row.status == "ok":
                    self._progress(f"{label}: {row.contestant.label}", number * len(racing) + done, self._rounds * len(racing))
                    self._one_round(result, row, number)

    def _truth(self, case: Case) -> list[Found]:
        worker = self._worker(Contestant("reference"))
        outcomes = [worker.prepare(case, PREPARE_TIMEOUT)]
        for frame in range(case.frame_count):
            outcomes.append(worker.call("exact", frame, 1, PREPARE_TIMEOUT, want_found=True))
        for outcome in outcomes:
            if outcome.status != "ok":
                raise RuntimeError(f"the reference could not be computed: {outcome.status}: {outcome.why}")
        return [outcome.found for outcome in outcomes if outcome.found is not None]

    def _prepared(self, case: Case, contestant: Contestant, truth: list[Found]) -> list[Row]:
        """Let a contestant prepare, warm up and answer every frame; return its rows, still without times."""
        worker = self._worker(contestant)
        outcome = worker.prepare(case, PREPARE_TIMEOUT)
        if outcome.status != "ok":
            row = Row(contestant, worker.version)
            row.fails(outcome)
            return [row]
        rows = [Row(contestant, worker.version, way.name, way.note, way.other_question) for way in outcome.ways]
        broken: Outcome | None = None
        for row, way in zip(rows, outcome.ways, strict=True):
            if broken is not None:  # the process is gone: the others are tried in a new one
                broken = None
                outcome = worker.prepare(case, PREPARE_TIMEOUT)
                if outcome.status != "ok":
                    row.fails(outcome)
                    continue
            answers = self._answers(case, worker, way, truth, row)
            if answers.status != "ok":
                row.fails(answers)
                if answers.status in ("crashed", "timeout"):
                    broken = answers
        if broken is not None and any(row.status == "ok" for row in rows):
            worker.prepare(case, PREPARE_TIMEOUT)
        return rows

    @staticmethod
    def _answers(case: Case, worker: Worker, way: WayInfo, truth: list[Found], row: Row) -> Outcome:
        outcome = worker.call(way.name, 0, 1, PREPARE_TIMEOUT)
        for frame in range(case.frame_count):
            if outcome.status != "ok":
                return outcome
            outcome = worker.call(way.name, frame, 1, CALL_TIMEOUT, want_found=True)
            if outcome.found is not None:
                row.checks.append(compare(case, outcome.found, truth[frame]))
                row.least = min(row.least, *outcome.seconds)
        return outcome

    def _one_round(self, result: CaseResult, row: Row, number: int) -> None:
        calls = max(1, min(MOST_CALLS, int(ROUND_SECONDS / max(row.least, 1e-9))))
        # Rounds of a single call go from frame to frame as well.
        outcome = self._worker(row.contestant).call(row.way, number * calls, calls, CALL_TIMEOUT)
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


def _show_nothing(_what: str, _done: int, _steps: int) -> None:
    """Be the progress of a run that nobody watches."""
