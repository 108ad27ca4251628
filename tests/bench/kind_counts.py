"""Operations that wide_tree counts for a small case of each kind and question, and the table that holds them.

    python -m tests.bench.kind_counts

records the table again, after comparing every answer with the exact reference. A line has the kind, the part, what is asked, and
the counts: tests of boxes, exact tests of triangles and distances, and the rows (or touching poses). The search of closest faces
counts pairs of nodes and of faces.
"""

import sys
from pathlib import Path

import numpy as np

import jostle
from jostle.bench.case import Case, Found
from jostle.bench.compare import compare
from jostle.bench.kinds.catalogue import KINDS
from jostle.bench.kinds.part import Sizes
from jostle.bench.kinds.questions import KindCases
from jostle.bench.reference import exact_answer
from jostle.methods.wide_tree import nearest_search

TABLE = Path(__file__).with_name("kind_counts.txt")
GUARDED = Sizes(
    bodies=8, few_bodies=4, poses=2, few_poses=1, model=3_000, organic=(500, 1_000, 2_000, 4_000), terrain=(40, 40),
    holes=((6, 4), (8, 6)), cloth=(40, 22), ball=2, frames=2,
)  # fmt: skip
COUNTERS = ("box_tests", "triangle_tests", "distance_tests")
NEAREST = ("node_tests", "face_tests", "distance_tests")

Counts = dict[str, int]


def every_case() -> KindCases:
    return KindCases(list(KINDS), GUARDED)


def count(case: Case) -> tuple[Counts, list[Found]]:
    """Return what wide_tree counts for a case, and its answers."""
    ask = {"crowd": _crowd, "poses": _poses, "deform": _deforming, "self": _deforming}[case.job]
    counts, answers = ask(case, _world(case))
    return {name: number for name, number in counts.items() if number}, answers


def _world(case: Case) -> jostle.World:
    world = jostle.World("wide_tree")
    meshes = [jostle.Mesh(*arrays) for arrays in case.meshes]
    for body, mesh in enumerate(case.mesh_of_body):
        world.add(meshes[mesh], case.poses[0, body], deformable=case.deformed is not None)
    return world


def _counters(*reports) -> Counts:
    return {name: sum(getattr(report.counters, name) for report in reports) for name in COUNTERS}


def _rows(report) -> Found:
    return Found.rows(report.contacts.face_a, report.contacts.face_b, report.contacts.body_a, report.contacts.body_b)


def _crowd(case: Case, world: jostle.World) -> tuple[Counts, list[Found]]:
    report = world.detect(rows="faces" if case.question == "faces" else "pairs")
    if case.question == "faces":
        return _counters(report) | {"rows": len(report.contacts)}, [_rows(report)]
    pairs = np.stack([report.pairs.body_a, report.pairs.body_b], axis=1)
    return _counters(report) | {"rows": len(pairs)}, [Found("bodies", pairs.astype(np.int64))]


def _poses(case: Case, world: jostle.World) -> tuple[Counts, list[Found]]:
    mover = world.bodies[1]
    if case.question in ("faces", "any"):
        batch = world.detect_many(case.poses, rows=case.question, workers=1)
        if case.question == "any":
            return _counters(batch) | {"rows": int(batch.touching.sum())}, [Found("flags", batch.touching)]
        each = [batch.row_offsets[k : k + 2] for k in range(len(case.poses))]
        faces = [(batch.face_a[start:end], batch.face_b[start:end]) for start, end in each]
        return _counters(batch) | {"rows": len(batch.face_a)}, [Found.of_poses(case, faces)]
    reports, searches, distances = [], [], []
    for pose in case.poses[:, 1]:
        mover.pose = pose
        if case.question == "distance":
            distances.append(world.distance(*world.bodies).distance)
            searches.append(_counts_of_last_search())
            continue
        reports.append(world.detect(rows="first" if case.question == "nearest" else "any", clearance=case.clearance))
        near = reports[-1].contacts.distance if case.question == "nearest" else [0.0] * len(reports[-1].pairs)
        distances.append(near[0] if len(near) else np.inf)
    if case.question == "distance":
        return {name: sum(each[name] for each in searches) for name in NEAREST}, [Found.of_poses(case, distances)]
    return _counters(*reports) | {"rows": sum(bool(each) for each in reports)}, [Found.of_poses(case, distances)]


def _counts_of_last_search() -> Counts:
    """Return the counts of the last search for closest faces, from the workspace that it gave back."""
    work = nearest_search.WORKSPACES.take()
    counts = {name: int(work.arrays["counts"][name][0]) for name in NEAREST}
    nearest_search.WORKSPACES.give_back(work)
    return counts


def _deforming(case: Case, world: jostle.World) -> tuple[Counts, list[Found]]:
    reports = []
    for frame in case.deformed:
        for body, vertices in zip(world.bodies, frame, strict=True):
            body.vertices = vertices
        reports.append(world.detect(self_collision=case.itself))
    return _counters(*reports) | {"rows": sum(len(report.contacts) for report in reports)}, [_rows(report) for report in reports]


def line_of(case: Case, counts: Counts) -> str:
    """Return a case as a line of the table."""
    return " | ".join([*case.label, *(f"{name}={number}" for name, number in counts.items())])


def recorded(text: str) -> dict[tuple[str, ...], Counts]:
    """Return the counts of each case by (kind, part, asked)."""
    table = {}
    for line in text.splitlines():
        kind, part, asked, *counts = line.split(" | ")
        table[kind, part, asked] = {name: int(number) for name, number in (each.split("=") for each in counts)}
    return table


def main() -> None:
    lines = []
    for case in every_case():
        counts, answers = count(case)
        for frame, answer in enumerate(answers):
            check = compare(case, answer, exact_answer(case, frame))
            assert check.correct, f"{case.name}: the answer is wrong, so its counts mean nothing: {check}"
        lines.append(line_of(case, counts))
    TABLE.write_text("\n".join(lines) + "\n")
    sys.stdout.write(f"{len(lines)} cases recorded in {TABLE}\n")


if __name__ == "__main__":
    main()
