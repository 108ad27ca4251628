"""The two gears of the default engine: `plain` until `wide_tree` pays.

A world without a named method begins on `plain`, which answers in NumPy at once, and goes over to `wide_tree`, which is many times
as fast but has to be loaded or compiled first. Reports have the same bytes on both gears; `world.engine` and
`report.counters.engine` say who answered.

**The rule.** A question goes over when `plain` has cost this process as much as going over would, the least cost of this question
included. So nobody pays more than about twice what the better choice would have cost, and who asks once waits for no compiler.

| the kernels of `wide_tree` are | going over costs |
|---|---|
| loaded in this process | nothing |
| in a wheel or in the cache | `LOADING` |
| to be compiled | `COMPILING` |
| neither there nor to be compiled: no Numba, JOSTLE_COMPILE=never | it is impossible; `plain` goes on |

Costs are operations of about a microsecond, counted and not measured (`methods/plain/operations.py`), so a program changes gears at
the same question in every run. Questions that only `wide_tree` serves go over at once: batches of poses and overlays.
"""

from __future__ import annotations

from typing import Any

from jostle._types import Floats
from jostle.errors import NoCompiler
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, Method, OldToNew, Progress, Shape
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.kernels.at_hand import is_loaded, is_stored
from jostle.kernels.cached_property import cached_property
from jostle.kernels.compile_setting import may_compile
from jostle.kernels.interpreting import called_without_compiler
from jostle.methods.plain.method import Plain, PlainDetector
from jostle.methods.plain.operations import least_operations
from jostle.registry import name_of
from jostle.report.batch import Batch
from jostle.report.report import Closest, Details, Report, replaced
from jostle.shapes.mesh import Mesh
from jostle.world.shape_cache import in_threads

LOADING = 400_000  # two boxes, with the import of Numba: 0.4 s
COMPILING = 8_500_000  # rows, segments and normals: 8.4 s

ROWS = "jostle.methods.wide_tree.pairs.touching_faces"
ITSELF = "jostle.methods.wide_tree.self_collision.self_touching_faces"
DISTANCE = "jostle.methods.wide_tree.nearest.search_nearest"
"""A question is named by the kernel that answers it: the largest one, called last."""

FAILURES = (NoCompiler, MemoryError, RecursionError)
"""What does not keep `plain` from answering: kernels that cannot be had, or not with this memory and stack."""


class Ledger:
    """What `plain` has cost in this process, and which questions cannot go over."""

    def __init__(self) -> None:
        self.spent = 0
        self.impossible: set[str] = set()
        self._prices: dict[str, tuple[int, float]] = {}  # by question: what was spent when it was looked up, and the price

    def enter(self, operations: int) -> None:
        """Add what `plain` has just computed, in whatever world."""
        self.spent += operations

    def goes_over(self, question: str, least: int) -> bool:
        """Return whether a question that costs at least so much is for `wide_tree`."""
        if question in self.impossible:
            return False
        spent = self.spent + least
        return is_loaded(question) or (spent >= LOADING and spent >= self._price_of(question, spent))

    def _price_of(self, question: str, spent: int) -> float:
        """Return what going over costs; files are looked for now and then."""
        looked, price = self._prices.get(question, (-LOADING, 0.0))
        if spent >= looked + LOADING:
            price = LOADING if is_stored(question) else COMPILING if may_compile() else float("inf")
            self._prices[question] = spent, price
        return price


LEDGER = Ledger()
"""That of this process."""


class MeshForGears:
    """A mesh, and its shape for each gear when it is needed."""

    def __init__(self, mesh: Mesh, low: Method, high: Method) -> None:
        self._mesh, self._low, self._high = mesh, low, high

    @cached_property
    def low(self) -> Shape:
        """For the low gear."""
        return self._low.prepare_shape(self._mesh)

    @cached_property
    def high(self) -> Shape:
        """For the high gear."""
        return self._high.prepare_shape(self._mesh)

    def prepare_high(self) -> None:
        """Prepare the shape for the high gear, unless there is one."""
        _ = self.high

    def face_count(self) -> int:
        """Return the number of faces to prepare for the high gear."""
        return 0 if "high" in self.__dict__ else len(self._mesh.faces)


class Gears:
    """Prepares and starts for a world what a method would, on two gears.

    Parameters
    ----------
    high : Method
        The compiled method, whose traits are those of both gears together.
    """

    def __init__(self, high: Method) -> None:
        self._low, self._high = Plain(), high
        self.first = name_of(self._low)

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> MeshForGears:
        """Remember a mesh: each gear prepares its shapes when it starts."""
        return MeshForGears(mesh, self._low, self._high)

    def start(self, bodies: Bodies, shapes: tuple[MeshForGears, ...]) -> GearedDetector:
        """Create the detector."""
        return GearedDetector(self._low, self._high, bodies, shapes)


class GearedDetector(Detector):
    """A detector that begins on the low gear."""

    def __init__(self, low: Plain, high: Method, bodies: Bodies, shapes: tuple[MeshForGears, ...]) -> None:
        self._high_method = high
        self._low_name, self._high_name = name_of(low), name_of(high)
        self._low: PlainDetector | None = None
        self._high: Detector | None = None
        self._over: set[str] = set()  # questions that have gone over
        self._may_compile = may_compile()
        self.engine = self._low_name  # who answered last
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[MeshForGears, ...]) -> None:
        self._bodies, self._shapes = bodies, shapes
        self._faces = sum(len(mesh.faces) for mesh in bodies.meshes)

    def change(self, bodies: Bodies, shapes: tuple[MeshForGears, ...], old_to_new: OldToNew) -> None:
        """Update the gears that have started."""
        self._set_bodies(bodies, shapes)
        if self._low is not None:
            self._low.change(bodies, tuple(shape.low for shape in shapes), old_to_new)
        if self._high is not None:
            self._high.change(bodies, tuple(shape.high for shape in shapes), old_to_new)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Answer on the gear that pays."""
        questions = [ITSELF if query.itself else ROWS]
        if query.clearance > 0.0 and query.rows != "faces":
            questions.append(DISTANCE)
        if all(question in self._over or self._goes_over(question) for question in questions):
            try:
                report = self._on_high(frame, *questions).detect(frame, query)
                return report if self._may_compile else _with_details_on_any_gear(report)
            except FAILURES as error:
                self._stay(questions[-1], error)
        return self._on_low().detect(frame, query)

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest points of two bodies, on the gear that pays."""
        if DISTANCE in self._over or self._goes_over(DISTANCE):
            try:
                return self._on_high(frame, DISTANCE).closest(frame, body_a, body_b)
            except FAILURES as error:
                self._stay(DISTANCE, error)
        return self._on_low().closest(frame, body_a, body_b)

    def detect_many(self, frame: Frame, poses: Floats, rows: str, **options: Any) -> Batch:
        """Answer for many sets of poses; only the high gear does."""
        return self._on_high(frame, ROWS).detect_many(frame, poses, rows, **options)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show what the high gear shows."""
        return self._on_high(frame, ROWS).overlay(frame, what)

    def _goes_over(self, question: str) -> bool:
        return LEDGER.goes_over(question, least_operations(self._faces))

    def _on_low(self) -> PlainDetector:
        if self._low is None:
            self._low = PlainDetector(self._bodies, tuple(shape.low for shape in self._shapes), LEDGER.enter)
        self.engine = self._low_name
        return self._low

    def _on_high(self, frame: Frame, *questions: str) -> Detector:
        if self._high is None:
            distinct = {id(shape): shape for shape in self._shapes}.values()
            in_threads(distinct, MeshForGears.prepare_high, MeshForGears.face_count, frame.workers)
            self._high = self._high_method.start(self._bodies, tuple(shape.high for shape in self._shapes))
        self._over.update(questions)
        self.engine = self._high_name
        return self._high

    def _stay(self, question: str, error: Exception) -> None:
        """Note that a question cannot go over, or cannot stay there."""
        LEDGER.impossible.add(question)
        self._over.discard(question)
        if not isinstance(error, NoCompiler):
            self._high = None  # it may have stopped anywhere


def _with_details_on_any_gear(report: Report) -> Report:
    """Return a report whose contact points are interpreted if their kernels are missing."""
    contacts = report.contacts
    if len(contacts) == 0:
        return report

    def details() -> Details:
        try:
            return contacts.details
        except NoCompiler:
            return called_without_compiler(lambda: contacts.details)()

    return replaced(report, contacts=replaced(contacts, _details=details))
