"""Move a body along a recorded path up to contact (Eckstein, Schömer 1999).

Each segment of the path, from one recorded pose to the next, is one step along the shortest screw. The world's method finds its
free fraction (`detect(motion=True)`), so no contact between two poses is missed. At a contact, within a separation, the walk ends
or the body slides: it is pulled on towards the recorded poses, without the component into a contact plane (`slide.py`). All other
bodies rest, and only pairs with the moved body count.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Floats
from jostle.continuous.interpolate import pose_at, turn_between
from jostle.errors import InputError
from jostle.fitting.path import RecordedPath
from jostle.fitting.slide import MOST_PLANES, Handle, Plane, add_plane, slide
from jostle.geometry.features import Feature
from jostle.interface.method import Progress
from jostle.report.report import Contacts
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.body import Body
from jostle.world.world import World

SLIDES_PER_POSE = 12  # contacts handled before the next recorded pose pulls
PATIENCE = 20  # consecutive recorded poses that do not move the body before it counts as blocked
STUCK = 10.0  # separations that it must lag behind the path to count as blocked
KEPT = 0.95  # separations: a body pressed closer than this moves off again
NOTHING = 1e-3  # separations, or radii of a smaller body: less progress towards the desired pose is no motion


@dataclass(frozen=True, eq=False)
class Touch:
    """A contact that stopped or deflected the moved body."""

    body: str  # the other body
    face: int  # of the moved body
    other_face: int
    feature: Feature | None  # of the moved body: ("vertex", (i,)), ("edge", (i, j)) or ("face", (i, j, k)), vertices of its mesh
    other_feature: Feature | None
    point: Floats  # (3,) world
    normal: Floats  # (3,) unit, from the other body to the moved one
    distance: float


@dataclass(frozen=True, eq=False)
class Step:
    """The pose of the body after a segment of its path."""

    time: float  # in the path's time
    number: int  # of the recorded pose that it is pulled to, 0 for the start
    fraction: float  # of the motion to that pose, 0 … 1
    pose: Floats  # (4, 4)
    touch: Touch | None = None  # the contact that ended this segment


@dataclass(frozen=True, eq=False)
class Walk:
    """How far a body got on its path. Truth value: whether it reached the end.

    Parameters
    ----------
    body : str
    path : RecordedPath
    steps : tuple of Step
        The start, then one per segment.
    stopped : int
        Index of the step at which it ended: it hardly moved after that one.
    removed : bool
        Whether it reached the last recorded pose; when sliding, to a thousandth of the separation or of its radius.
    complete : bool
        False if the walk was interrupted.
    """

    body: str
    path: RecordedPath
    steps: tuple[Step, ...]
    stopped: int
    removed: bool
    complete: bool = True

    def __bool__(self) -> bool:
        return self.removed

    @property
    def end(self) -> Step:
        """The last step; if it slid and was blocked, the last that made progress."""
        return self.steps[self.stopped]

    @property
    def blocked_by(self) -> Touch | None:
        """The contact that blocked it; None if it reached the end or was interrupted."""
        if self.removed or not self.complete:
            return None
        after, before = self.steps[self.stopped :], self.steps[: self.stopped]
        return next((step.touch for step in (*after, *reversed(before)) if step.touch is not None), None)

    @property
    def touches(self) -> list[Touch]:
        """All contacts along the path."""
        return [step.touch for step in self.steps if step.touch is not None]


def walk(
    world: World,
    body: Body | int | str,
    poses: RecordedPath | ArrayLike,
    *,
    separation: float = 0.0,
    slide: bool = False,
    progress: Progress | None = None,
) -> Walk:
    """Move a body along a path to its end, or until it is blocked.

    Each step counts as a `detect` of the world. An interrupted walk changes nothing; `walk_along` leaves the body at the end of the
    last step.

    Parameters
    ----------
    world : World
        A world whose method tests motion ("bounding_tree"). All bodies but the moved one stay at rest.
    body : Body, int or str
    poses : RecordedPath or (n, 4, 4)
        At least two. The body is placed at the first, then moves from each to the next along the shortest screw.
    separation : float
        The distance it keeps from other bodies. Where it starts closer, it may slide and move apart, but not come closer.
    slide : bool
        Slide along contacts instead of stopping at the first one; needs a separation > 0.
    progress : callable, optional
        progress(share, text) after each recorded pose.
    """
    path = path_of(poses)
    steps: list[Step] = []

    def walked() -> Walk:
        for step in walk_along(world, body, path, separation=separation, slide=slide):
            steps.append(step)
            if progress is not None:
                progress(step.number / (len(path) - 1), f"pose {step.number} of {len(path) - 1}")
        return walk_of(world[body], path, steps, separation, slide)

    return all_or_nothing(world, None, None, walked)


def path_of(poses: RecordedPath | ArrayLike) -> RecordedPath:
    """Return the path of a walk, checked: at least two poses."""
    path = poses if isinstance(poses, RecordedPath) else RecordedPath(np.asarray(poses))
    if len(path) < 2:
        raise InputError("the path has one pose only; it must have at least two")
    return path


def walk_along(
    world: World, body: Body | int | str, path: RecordedPath, *, separation: float = 0.0, slide: bool = False
) -> Iterator[Step]:
    """Yield the steps of a walk, for loops that draw or may be interrupted."""
    moved, gap = world[body], cast.as_length(separation, "separation")
    if cast.as_flag(slide, "slide") and gap == 0.0:
        raise InputError("slide=True needs a separation > 0: between touching bodies sliding and penetrating look alike")
    if moved.deformable:
        raise InputError(f"body {moved.name!r} is deformable; only rigid bodies can follow a path")
    for number in range(1, len(path)):
        try:
            turn_between(path.poses[number - 1], path.poses[number])
        except InputError as error:
            raise InputError(f"pose {number} of the path: {error}") from None
    return _Walker(world, moved, path, gap).steps(slide)


def walk_of(body: Body, path: RecordedPath, steps: Sequence[Step], separation: float, slide: bool, complete: bool = True) -> Walk:
    """Return the walk of the steps that `walk_along` yielded so far."""
    steps = tuple(steps) or (Step(float(_times(path)[0]), 0, 0.0, path.poses[0]),)
    handle, stopped = handle_of(body), len(steps) - 1

    def apart(first: Floats, second: Floats) -> float:
        return float(np.linalg.norm(handle.motion(first, second)))

    last = steps[-1]
    removed = last.number == len(path) - 1 and (
        apart(last.pose, path.poses[-1]) <= _nothing(handle, separation) if slide else last.touch is None and last.fraction == 1.0
    )
    while slide and not removed and stopped > 0 and apart(steps[stopped - 1].pose, steps[-1].pose) <= separation:
        stopped -= 1
    return Walk(body.name, path, steps, stopped, removed, complete)


def handle_of(body: Body) -> Handle:
    """Return a body's handle: the centre of its box and its mean vertex distance."""
    points = body.mesh.vertices[np.unique(body.mesh.faces)]
    centre = body.mesh.bounds.mean(axis=0)
    return Handle(centre, max(float(np.linalg.norm(points - centre, axis=1).mean()), cast.SMALLEST_COORDINATE))


def _nothing(handle: Handle, separation: float) -> float:
    """Return the length below which a motion counts as none.

    It is bounded by the radius, because a separation may exceed the whole path.
    """
    return NOTHING * min(separation, handle.radius)


class _Walker:
    """One walk: the world, the moved body, and its pose."""

    def __init__(self, world: World, body: Body, path: RecordedPath, separation: float) -> None:
        self.world, self.body, self.path, self.separation = world, body, path, separation
        self.pose: Floats = path.poses[0]
        self.handle = handle_of(body)
        self.planes: list[Plane] = []  # contacts that it slides along

    def steps(self, slides: bool) -> Iterator[Step]:
        """Yield all steps, from the start on."""
        with _only_pairs_with(self.world, self.body):
            self.body.teleport(self.pose)
            self.world.detect(rows="any")  # earlier motions of other bodies end here
            yield Step(float(_times(self.path)[0]), 0, 1.0, self.pose)
            yield from self._sliding() if slides else self._until_contact()

    def _until_contact(self) -> Iterator[Step]:
        for number in range(1, len(self.path)):
            fraction, touch = self._go(self.path.poses[number])
            yield self._step(number, fraction, touch)
            if touch is not None:
                return

    def _sliding(self) -> Iterator[Step]:
        self.planes = []
        idle, anchor, last = 0, self.pose, len(self.path) - 1
        # The last recorded pose keeps pulling for a while.
        for number in [*range(1, last + 1), *[last] * PATIENCE]:
            goal = self.path.poses[number]
            begin = self._away(self.pose, goal)
            moved = False
            for touch in self._drawn_to(goal):
                moved = True
                yield self._step(number, 1.0 - self._away(self.pose, goal) / begin, touch)
            left = self._away(self.pose, goal)
            if not moved:
                yield self._step(number, 0.0 if left > 0.0 else 1.0, None)
            idle += 1
            if self._away(anchor, self.pose) > self.separation:
                idle, anchor = 0, self.pose
            if (idle >= PATIENCE and left > STUCK * self.separation) or (
                number == last and left <= _nothing(self.handle, self.separation)
            ):
                return

    def _drawn_to(self, goal: Floats) -> Iterator[Touch | None]:
        """Move towards a pose, sliding along contacts, until it is reached or stuck.

        The first motion is along the previous planes, the second one without them, so that former contacts do not hold the body. If
        it meets a contact at once, the planes are restored.
        """
        kept: list[Plane] = []
        if self.planes:
            moved, touch = self._slide(goal)
            if moved:
                yield touch
            if touch is None:
                kept, self.planes = self.planes, []
        for _ in range(SLIDES_PER_POSE):
            begin = self.pose
            moved, touch = self._slide(goal)
            if not moved:
                return
            yield touch
            if touch is None and not self.planes:
                return
            if touch is not None and self._away(begin, self.pose) <= self.separation:
                self.planes = [*kept, *self.planes][-MOST_PLANES:]
            kept = []

    def _slide(self, goal: Floats) -> tuple[bool, Touch | None]:
        """Move towards a pose as the planes allow; return success and new contact."""
        desired = self.handle.motion(self.pose, goal)
        motion = slide(self.handle, self.pose, desired, self.planes) if self.planes else desired
        if np.linalg.norm(desired) - np.linalg.norm(desired - motion) <= _nothing(self.handle, self.separation):
            return False, None
        _, touch = self._go(self.handle.moved(self.pose, motion) if self.planes else goal)
        if touch is not None:
            point = np.asarray(np.linalg.solve(self.pose[:3, :3], touch.point - self.pose[:3, 3]), np.float64)
            self.planes = add_plane(self.planes, Plane(point, touch.normal), near=0.1 * self.handle.radius)
            self._move_off(touch)
        return True, touch

    def _move_off(self, touch: Touch) -> None:
        """Move back to the separation after being pressed closer."""
        if touch.distance < KEPT * self.separation:
            off = self.pose.copy()
            off[:3, 3] += (self.separation - touch.distance) * touch.normal
            self._go(off)

    def _go(self, goal: Floats) -> tuple[float, Touch | None]:
        """Move towards a pose until a contact; return the free fraction and the contact."""
        twin = copy.copy(self)
        return all_or_nothing(self.world, self, twin, lambda: twin._gone(goal))

    def _gone(self, goal: Floats) -> tuple[float, Touch | None]:
        self.body.teleport(self.pose)
        self.body.pose = goal
        contacts = self.world.detect(motion=True, rows="first", separation=self.separation).contacts
        fraction = float(contacts.time.min(initial=1.0))
        self.pose = pose_at(self.pose, goal, fraction)
        self.body.teleport(self.pose)
        return fraction, self._touch(contacts.select(np.array([np.argmin(contacts.time)]))) if fraction < 1.0 else None

    def _touch(self, contact: Contacts) -> Touch:
        """Return a contact with the moved body first."""
        a, b = self.world[int(contact.body_a[0])], self.world[int(contact.body_b[0])]
        found = contact.features
        feature_a, feature_b = (None, None) if found is None else (found.of_a(0), found.of_b(0))
        of_a, of_b = (int(contact.face_a[0]), feature_a), (int(contact.face_b[0]), feature_b)
        if a == self.body:
            other, (face, feature), (other_face, other_feature), normal = b, of_a, of_b, -contact.normal[0]
        else:
            other, (face, feature), (other_face, other_feature), normal = a, of_b, of_a, contact.normal[0]
        return Touch(other.name, face, other_face, feature, other_feature, contact.point[0], normal, float(contact.distance[0]))

    def _away(self, begin: Floats, end: Floats) -> float:
        return float(np.linalg.norm(self.handle.motion(begin, end)))

    def _step(self, number: int, fraction: float, touch: Touch | None) -> Step:
        fraction, times = max(fraction, 0.0), _times(self.path)
        time = times[number - 1] + fraction * (times[number] - times[number - 1])
        return Step(float(time), number, fraction, self.pose, touch)


@contextmanager
def _only_pairs_with(world: World, body: Body) -> Iterator[None]:
    """Make all other bodies static for a while: only pairs with one are tested."""
    before = world._frame().static
    others = np.ones(len(before), bool)
    others[body._row] = False
    try:
        world._set_static(others)
        yield
    finally:
        world._set_static(before)


def _times(path: RecordedPath) -> Floats:
    assert path.times is not None
    return path.times
