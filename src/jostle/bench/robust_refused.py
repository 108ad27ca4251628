"""Cases of `jostle bench robust`, part 1: input that must be refused.

Each case is a function without arguments that feeds jostle one kind of bad input, checks that nothing changed, and returns an
`Answer`. Cases are module-level functions because they are pickled by name for the process that runs them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import jostle
from jostle.geometry.pose import translation
from jostle.report.report import Report
from jostle.shapes import build
from jostle.shapes.save import save

Rows = set[tuple[int, int]]
Action = Callable[[], Any]
BOX = build.box((1.0, 1.0, 1.0), (0.5, 0.5, 0.5))  # the unit cube with a corner at the origin; coordinates are integers


class Answer(NamedTuple):
    """Whether the outcome of a case is the required one, and the outcome in words."""

    ok: bool
    came: str


def rows_of(report: Report) -> Rows:
    """Return the face pairs of a report."""
    return set(zip(report.contacts.face_a.tolist(), report.contacts.face_b.tolist(), strict=True))


def refuses(*tries: tuple[str, Action], unchanged: Callable[[], bool] = lambda: True) -> Answer:
    """Check that every action raises an InputError with its words and changes nothing."""
    sentences = []
    for words, action in tries:
        try:
            answer = action()
        except jostle.InputError as error:
            sentences.append(str(error))
            if words not in sentences[-1]:
                return Answer(False, f"refused without saying {words!r}: {error}")
        else:
            return Answer(False, f"accepted ({words}): {answer!r}")
    if not unchanged():
        return Answer(False, f"refused ({sentences[0]}), but something had changed already")
    more = f" (and {len(tries) - 1} more like it)" if len(tries) > 1 else ""
    return Answer(True, f"InputError: {sentences[0]}{more}")


def with_entry(array: NDArray[Any], index: tuple[int, ...], value: float) -> NDArray[Any]:
    """Return a copy of an array with one entry changed."""
    changed = np.array(array, dtype=np.result_type(array, type(value)))
    changed[index] = value
    return changed


def refuses_meshes(*meshes: tuple[str, Any, Any]) -> Answer:
    """Check that meshes (words, vertices, faces) are refused without a trace."""
    world = jostle.World()
    world.add(BOX, name="good")

    def still_works() -> bool:
        names = [body.name for body in world]
        world.add(BOX, translation((1.0, 1.0, 1.0)), name="other")
        return names == ["good"] and len(world.detect().pairs) == 1

    def adding(vertices: Any, faces: Any) -> Action:
        return lambda: world.add((vertices, faces), name="bunny")

    return refuses(*((words, adding(vertices, faces)) for words, vertices, faces in meshes), unchanged=still_works)


def nan_vertex() -> Answer:
    """One coordinate is not a number."""
    return refuses_meshes(("vertices[3, 1] is nan", with_entry(BOX.vertices, (3, 1), np.nan), BOX.faces))


def infinite_vertex() -> Answer:
    """One coordinate is infinite, of either sign."""
    return refuses_meshes(
        ("vertices[0, 2] is -inf", with_entry(BOX.vertices, (0, 2), -np.inf), BOX.faces),
        ("vertices[7, 0] is inf", with_entry(BOX.vertices, (7, 0), np.inf), BOX.faces),
    )


def index_out_of_range() -> Answer:
    """A face names a missing vertex, or one so high that 32 bits would wrap around."""
    return refuses_meshes(
        ("faces[7, 2] is 8", BOX.vertices, with_entry(BOX.faces, (7, 2), 8)),
        ("faces[0, 0] is 1099511627776", BOX.vertices, with_entry(BOX.faces.astype(np.int64), (0, 0), 2**40)),
    )


def index_minus_one() -> Answer:
    """A face names vertex -1, which Python would read as the last."""
    return refuses_meshes(("faces[4, 0] is -1", BOX.vertices, with_entry(BOX.faces, (4, 0), -1)))


def empty_mesh() -> Answer:
    """No vertices, or no faces."""
    return refuses_meshes(
        ("vertices is empty", np.empty((0, 3)), np.empty((0, 3), int)), ("faces is empty", BOX.vertices, np.empty((0, 3), int))
    )


def wrong_shapes_and_types() -> Answer:
    """Arrays of the wrong shape, or not of real numbers."""
    return refuses_meshes(
        ("vertices has shape (8, 2)", BOX.vertices[:, :2], BOX.faces),
        ("vertices has shape (24,)", BOX.vertices.ravel(), BOX.faces),
        ("faces has shape (6, 4)", BOX.vertices, np.zeros((6, 4), int)),
        ("faces has dtype float64", BOX.vertices, BOX.faces.astype(float)),
        ("vertices has dtype complex128", BOX.vertices.astype(complex), BOX.faces),
        ("vertices has dtype bool", BOX.vertices > 0.0, BOX.faces),
        ("vertices has dtype <U1", [["a", "b", "c"]] * 8, BOX.faces),
        ("vertices is not a regular array", [[0, 0, 0], [1, 1]], BOX.faces),
    )


def beyond_the_range() -> Answer:
    """Finite coordinates too large for exact arithmetic, in both precisions."""
    return refuses_meshes(
        ("rescale the mesh", with_entry(BOX.vertices, (5, 0), 1e31), BOX.faces),
        ("rescale the mesh", with_entry(BOX.vertices.astype(np.float32), (5, 0), -2e30), BOX.faces),
    )


def refuses_poses(*poses: tuple[str, NDArray[np.float64]]) -> Answer:
    """Check that poses (words, pose) are refused and the body stays where it was."""
    world = jostle.World()
    body = world.add(BOX, translation((1.0, 2.0, 3.0)), name="bunny")
    before = world.poses.copy()

    def setting(pose: NDArray[np.float64]) -> Action:
        return lambda: setattr(body, "pose", pose)

    return refuses(*((words, setting(pose)) for words, pose in poses), unchanged=lambda: np.array_equal(world.poses, before))


def pose_not_rigid() -> Answer:
    """A scale, a shear, a reflection, a transposed matrix."""
    return refuses_poses(
        ("not rigid", np.diag([1.01, 1.01, 1.01, 1.0])),
        ("not rigid", with_entry(np.eye(4), (0, 1), 0.5)),
        ("reflection", np.diag([-1.0, 1.0, 1.0, 1.0])),
        ("transposed", translation((1.0, 2.0, 3.0)).T),
    )


def pose_with_nan() -> Answer:
    """A pose that contains NaN or is not a 4 by 4 matrix."""
    return refuses_poses(("nan at row 1, column 3", with_entry(np.eye(4), (1, 3), np.nan)), ("shape (3, 3)", np.eye(3)))


def nan_clearance() -> Answer:
    """A clearance of NaN would compare as false everywhere: no contact, ever."""
    action = partial(jostle.collide, BOX, BOX, pose_b=translation((5.0, 0.0, 0.0)))
    return refuses(
        ("clearance is nan", partial(action, clearance=float("nan"))), ("clearance is -1.0", partial(action, clearance=-1.0))
    )


def deforming_by_wrong_vertices() -> Answer:
    """Too few vertices, too many, or a NaN."""
    world = jostle.World()
    body = world.add(BOX, name="cloth", deformable=True)
    world.add(BOX, translation((1.0, 1.0, 1.0)), name="other")
    before, rows = body.vertices.copy(), rows_of(world.detect())

    def setting(vertices: Any) -> Action:
        return lambda: setattr(body, "vertices", vertices)

    def as_it_was() -> bool:
        return np.array_equal(body.vertices, before) and rows_of(world.detect()) == rows

    return refuses(
        ("has 7 rows", setting(before[:7])),
        ("has 9 rows", setting(np.vstack([before, before[:1]]))),
        ("vertices[2, 0] is nan", setting(with_entry(before, (2, 0), np.nan))),
        unchanged=as_it_was,
    )


def truncated_file() -> Answer:
    """Files cut in the middle of a number, a record or the header."""
    from jostle.shapes.load import load

    tries = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".stl", ".ply", ".off"):
            whole = save(BOX, Path(folder) / f"whole{ending}").read_bytes()
            for share in (0.1, 0.5, 0.9):
                file = Path(folder) / f"cut_at_{share}{ending}"
                file.write_bytes(whole[: int(share * len(whole))])
                tries.append((file.name, partial(load, file)))
        answer = refuses(*tries)
        return Answer(answer.ok, answer.came.replace(folder + os.sep, ""))
