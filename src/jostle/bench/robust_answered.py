"""Cases of `jostle bench robust`, part 2: extreme but legal input, and misuse.

The answer must be right. It is compared with a truth counted here in integers and fractions (triangles in one plane, intervals
on one line, faces that share a grid vertex), never with another answer of jostle; a copied or shared world is compared with the
original.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import warnings
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jostle
from jostle.bench.robust_refused import BOX, Answer, Rows, rows_of
from jostle.geometry.pose import translation
from jostle.report.report import Report
from jostle.shapes import build

Interval = tuple[Fraction, Fraction] | None


def judged(report: Report, truth: Rows, kind: jostle.Kind) -> Answer:
    """Require exactly these face pairs, each once and all of one kind."""
    rows, count = rows_of(report), len(report.contacts)
    other = int((report.contacts.kind != kind).sum())
    missed, extra, twice = len(truth - rows), len(rows - truth), count - len(rows)
    if missed or extra or twice or other or not truth:
        return Answer(False, f"{count:,} face pairs: {missed} missed, {extra} extra, {twice} twice, {other} not {kind.name}")
    return Answer(True, f"all {count:,} face pairs, {kind.name.lower()}")


def meet_in_the_plane(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Return whether two closed integer triangles (3,2) share a point."""
    for one, other in ((first, second), (second, first)):
        for k in range(3):
            x, y = (one[(k + 1) % 3] - one[k]).tolist()
            sides = [[x * (p[1] - one[k][1]) - y * (p[0] - one[k][0]) for p in triangle] for triangle in (one, other)]
            if max(sides[0]) < min(sides[1]) or max(sides[1]) < min(sides[0]):
                return False
    return True


def coplanar_plates(offset: float) -> Answer:
    """Two coplanar plates of 4 by 4 cells, shifted by half and a quarter of a cell."""
    plate = build.plate(4, 4, (4.0, 4.0))
    pose = translation((offset, offset, offset))
    report = jostle.collide(plate, plate, pose, pose @ translation((0.5, 0.25, 0.0)))
    grid = np.rint(plate.vertices[:, :2] * 4.0).astype(np.int64)
    a, b = grid[plate.faces], (grid + np.array([2, 1]))[plate.faces]
    truth = {(i, j) for i in range(len(a)) for j in range(len(b)) if meet_in_the_plane(a[i], b[j])}
    return judged(report, truth, jostle.Kind.TOUCHING)


def overlapping(first: Iterable[Interval], second: Iterable[Interval]) -> Rows:
    """Return pairs of closed intervals that share a point; None is the empty interval."""
    seconds = list(second)
    return {
        (i, j)
        for i, a in enumerate(first)
        for j, b in enumerate(seconds)
        if a is not None and b is not None and max(a[0], b[0]) <= min(a[1], b[1])
    }


def on_an_edge_of_the_box(mesh: jostle.Mesh, low: tuple[int, ...], high: tuple[int, ...]) -> list[Interval]:
    """Return the part of the box edge from `low` to `high` that each face covers.

    A face of a convex solid meets an edge in the span of its corners on that edge.
    """
    places = {low: Fraction(0), high: Fraction(1)}
    covered: list[Interval] = []
    for face in mesh.faces:
        found = [places[tuple(point)] for point in mesh.vertices[face].astype(int).tolist() if tuple(point) in places]
        covered.append((min(found), max(found)) if found else None)
    return covered


def vertex_touch() -> Answer:
    """Two cubes that share a corner."""
    report = jostle.collide(BOX, BOX, pose_b=translation((1.0, 1.0, 1.0)))
    corner = on_an_edge_of_the_box(BOX, (1, 1, 1), (1, 1, 1)), on_an_edge_of_the_box(BOX, (0, 0, 0), (0, 0, 0))
    return judged(report, overlapping(*corner), jostle.Kind.TOUCHING)


def edge_touch() -> Answer:
    """Two cubes that share an edge."""
    report = jostle.collide(BOX, BOX, pose_b=translation((1.0, 1.0, 0.0)))
    edge = on_an_edge_of_the_box(BOX, (1, 1, 0), (1, 1, 1)), on_an_edge_of_the_box(BOX, (0, 0, 0), (0, 0, 1))
    return judged(report, overlapping(*edge), jostle.Kind.TOUCHING)


def cut_by_a_line(points: NDArray[np.float64], faces: NDArray[np.int32], across: int, level: Fraction) -> list[Interval]:
    """Return the interval in which each face of a plate meets the line across = level."""
    cut: list[Interval] = []
    for face in faces:
        corners = [(Fraction(float(points[k, 0])), Fraction(float(points[k, across])) - level) for k in face]
        sides = zip(corners, corners[1:] + corners[:1], strict=True)
        found = [x + (u - x) * y / (y - v) for (x, y), (u, v) in sides if y * v < 0]
        cut.append((min(found), max(found)) if found else None)
    return cut


def crossing_plates(scale: float, offset: float = 0.0) -> Answer:
    """Two plates of 12 by 12 cells through each other at a right angle, without ties.

    Coordinates before scaling are short binary fractions, so the truth is exact; margins are far above rounding at any scale.
    """
    flat = build.plate(12, 12, (12.0, 12.0))
    x, y = flat.vertices[:, :2].T
    level, shift, height = 0.28125, 0.15625, 0.34375
    upright = np.stack([x + shift, np.full_like(x, level), y + height], axis=1)
    first = cut_by_a_line(flat.vertices, flat.faces, 1, Fraction(level))
    second = cut_by_a_line(upright, flat.faces, 2, Fraction(0))
    pose = translation((offset, offset, offset))
    report = jostle.collide((flat.vertices * scale, flat.faces), (upright * scale, flat.faces), pose, pose)
    return judged(report, overlapping(first, second), jostle.Kind.CROSSING)


def convex_stays_a_surface() -> Answer:
    """A box inside a larger one touches nothing, until pushed through one face."""
    outer = jostle.Mesh(BOX.vertices * 8.0, BOX.faces)
    if jostle.collide(outer, BOX, pose_b=translation((4.0, 4.0, 4.0))):
        return Answer(False, "a box in the middle of another was reported to touch it")
    # Through the side x = 8 at y = 6.5, z = 4: off both diagonals, so inside one of the two triangles.
    report = jostle.collide(outer, BOX, pose_b=translation((7.5, 6.0, 3.5)))
    side = [(k, outer.vertices[face][:, 1:]) for k, face in enumerate(outer.faces) if (outer.vertices[face][:, 0] == 8.0).all()]
    holds = [k for k, triangle in side if _holds(triangle, (6.5, 4.0))]
    walls = [k for k, face in enumerate(BOX.faces) if len(set(BOX.vertices[face][:, 0].tolist())) == 2]
    return judged(report, {(k, j) for k in holds for j in walls}, jostle.Kind.CROSSING)


def _holds(triangle: NDArray[np.float64], point: tuple[float, float]) -> bool:
    """Return whether a point is inside a triangle of the plane, in exact arithmetic."""
    turns = []
    for k in range(3):
        (x, y), (u, v) = triangle[k], triangle[(k + 1) % 3]
        turns.append((u - x) * (point[1] - y) - (v - y) * (point[0] - x))
    return all(turn > 0.0 for turn in turns) or all(turn < 0.0 for turn in turns)


def wholly_inside() -> Answer:
    """A cube inside a larger one; inside the same with a hollow."""
    outer, pose = jostle.Mesh(BOX.vertices * 8.0, BOX.faces), translation((4.0, 4.0, 4.0))
    surface, solid = jostle.collide(outer, BOX, pose_b=pose), jostle.collide(outer, BOX, pose_b=pose, solid=True)
    turned = jostle.collide(BOX, outer, pose_a=pose, solid=True)
    kinds = [jostle.Kind(kind).name for report in (solid, turned) for kind in report.pairs.kind]
    # The same outer box with a hollow, whose inside is outside the solid.
    hollow = jostle.Mesh(
        np.vstack([outer.vertices, BOX.vertices * 4.0 + 2.0]), np.vstack([outer.faces, BOX.faces[:, ::-1] + len(outer.vertices)])
    )
    free = not jostle.collide(hollow, BOX, pose_b=pose, solid=True)
    ok = not surface and kinds == ["B_IN_A", "A_IN_B"] and free
    came = (
        f"surfaces {'touch' if surface else 'free'}; solids {', '.join(kinds) or 'free'}; in a hollow {'free' if free else 'touch'}"
    )
    return Answer(ok, came)


def no_contact_cap() -> Answer:
    """A plate of 20,000 faces against a copy: grid faces meet if they share a vertex."""
    plate = build.plate(100, 100)
    report = jostle.collide(plate, plate)
    faces_at: list[list[int]] = [[] for _ in plate.vertices]
    for number, face in enumerate(plate.faces.tolist()):
        for vertex in face:
            faces_at[vertex].append(number)
    truth = {(i, j) for around in faces_at for i in around for j in around}
    answer = judged(report, truth, jostle.Kind.TOUCHING)
    return Answer(answer.ok and report.complete, answer.came)


def degenerate_mesh() -> Answer:
    """Faces without area, and 1,000 copies of one face, all through one plate."""
    plate = jostle.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    points = [[1, 1, -1], [1, 1, 1], [1, 1, 0], [2, 1, -1], [3, 3, 0]]
    faces = np.repeat([[0, 1, 1], [2, 2, 2], [0, 3, 1], [4, 4, 4]], 1000, axis=0)
    report = jostle.collide(plate, (points, faces))
    expected = {(0, j) for j in range(3000)}  # the last point lies beside the plate
    rows = rows_of(report)
    ok = rows == expected and len(report.contacts) == 3000
    return Answer(ok, f"{len(report.contacts):,} face pairs, {len(expected - rows)} missed, {len(rows - expected)} extra")


# ---------------------------------------------------------------------- use that goes wrong elsewhere


def small_world() -> jostle.World:
    """Two cubes that share a corner."""
    world = jostle.World()
    world.add(BOX, name="a")
    world.add(BOX, translation((1.0, 1.0, 1.0)), name="b")
    return world


def fresh_results() -> Answer:
    """Later calls do not change a report, and leave no trace in the next one."""
    world = small_world()
    touching = world.detect()
    before = rows_of(touching)
    world["b"].pose = translation((5.0, 0.0, 0.0))
    free = world.detect()
    ok = len(before) > 0 and not free and rows_of(touching) == before and len(free.ended) == 1
    return Answer(ok, f"{len(before)} face pairs, then {len(free.contacts)}; the first report still has {len(touching.contacts)}")


def lost_writes() -> Answer:
    """In-place writes to poses or vertices would be lost, so they must fail."""
    world = jostle.World()
    body = world.add(BOX, deformable=True)
    for array in (body.pose, body.vertices, body.mesh.vertices, world.poses):
        try:
            array[0] = 7.0
        except ValueError:
            continue
        return Answer(False, "an array could be written to, and the write was lost")
    return Answer(True, "ValueError: assignment destination is read-only")


def pickled_world() -> Answer:
    """A world after pickling and unpickling."""
    world = small_world()
    expected = rows_of(world.detect())
    copy = pickle.loads(pickle.dumps(world))
    rows = rows_of(copy.detect())
    return Answer(
        rows == expected and len(rows) > 0, f"{len(rows)} face pairs from the copy, {len(expected)} from the world itself"
    )


def forked_world() -> Answer:
    """A child forked after a detect uses the inherited world, threads and all."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return Answer(True, "not tried: this system does not fork")
    world = small_world()
    world.workers = 2
    expected = rows_of(world.detect())
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns about forks beside threads, which is the point
        child = context.Process(target=_detect_in_child, args=(world, theirs))
        child.start()
    came = ours.recv() if ours.poll(10.0) else None
    child.kill()
    child.join()
    return Answer(came == expected and len(expected) > 0, "no answer" if came is None else f"{len(came)} face pairs from the child")


def _detect_in_child(world: jostle.World, pipe: Any) -> None:
    pipe.send(rows_of(world.detect()))


def two_threads() -> Answer:
    """One thread calls detect while another prepares the world."""
    world = small_world()
    came: list[str] = []

    def ask() -> None:
        try:
            world.detect()
            came.append("both threads got an answer")
        except jostle.BusyError as error:
            came.append(f"BusyError: {error}")

    def meanwhile(share: float, what: str) -> None:  # noqa: ARG001
        if not came:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()

    world.prepare(meanwhile)
    ok = len(came) == 1 and came[0].startswith("BusyError") and len(world.detect().pairs) == 1
    return Answer(ok, came[0] if came else "the second thread never ran")
