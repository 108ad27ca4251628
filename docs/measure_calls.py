"""Measure the tables of docs/choosing again and write them between the markers of the pages.

python docs/measure_calls.py            # which_call.md and which_method.md, three minutes on one core
python docs/measure_calls.py calls      # one of them; calls, first, methods or questions (which is made of methods)
python docs/measure_calls.py --print    # to the terminal, no page is written

CPU time of one thread. A call is timed pose by pose: the median over the rounds is the time of a pose, the median over the poses
is the time of the call. Compiled kernels are loaded before.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import jostle
from jostle import Budget, Mesh, Pair, World, rotation, scenes, translation
from jostle.bench.machine import describe_machine
from jostle.errors import Unsupported
from jostle.registry import METHODS
from jostle.shapes import build

PAGES = Path(__file__).resolve().parent / "choosing"
POSES, ROUNDS, SECONDS = 120, 9, 1.5  # rounds end early once they took this long
MARGIN = 0.05  # of clearances and separations; the bodies have about the size 1
REACH = {12: 1.35, 5120: 1.0}  # by faces: how far apart bodies of size 1 are on the path, so that half of the poses touch
BODIES = 100  # in the worlds of many
clock = time.process_time_ns


class Timed(NamedTuple):
    """CPU microseconds of one call."""

    median: float
    slowest: float  # of the poses, each by its median


class Call(NamedTuple):
    """A call to measure: what the page calls it, and a function that prepares it.

    That function takes the mesh of all bodies and the poses of the one that moves, and returns a function of the number of a
    pose, and of how many answers one call of it has.
    """

    name: str
    prepare: Callable[[Mesh, np.ndarray], Callable[[int], Any]]
    answers: int = 1


def poses_of(reach: float) -> np.ndarray:
    """Return poses of a body on a closed path around another one, in and out of contact."""
    turns = np.linspace(0.0, 2.0 * np.pi, POSES, endpoint=False)
    poses = []
    for turn in turns:
        towards = np.array([np.cos(turn), np.sin(turn), 0.4 * np.sin(2.0 * turn)])
        away = reach * (1.0 + 0.06 * np.sin(10.0 * turn)) * towards / np.linalg.norm(towards)
        poses.append(translation(away) @ rotation((0.3, 0.5, 1.0), 3.0 * turn))
    return np.array(poses)


def from_afar(poses: np.ndarray) -> np.ndarray:
    """Return the same poses half as far again from the origin."""
    starts = poses.copy()
    starts[..., :3, 3] *= 1.5
    return starts


def copy_of(mesh: Mesh) -> Mesh:
    """Return an equal mesh that nothing was prepared for."""
    return Mesh(np.array(mesh.vertices), np.array(mesh.faces))


def world_of(mesh: Mesh, method: str | None = None, deformable: bool = False) -> World:
    """Return a world of two bodies."""
    world = World(method)
    world.add(mesh, name="a", static=True)
    world.add(mesh, name="b", deformable=deformable)
    return world


def in_world(ask: Callable[[World], Any], method: str | None = None) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question to a kept world of two bodies."""

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        world = world_of(mesh, method)
        body = world["b"]

        def call(k: int) -> Any:
            body.pose = poses[k]
            return ask(world)

        return call

    return prepare


def of_pair(ask: Callable[[Pair, np.ndarray], Any]) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question to a kept pair."""

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        pair = Pair(mesh, mesh)
        return lambda k: ask(pair, poses[k])

    return prepare


def at_once(ask: Callable[..., Any]) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question to two meshes, which keeps nothing."""
    return lambda mesh, poses: lambda k: ask(mesh, mesh, poses[k])


def of_batch(**options: Any) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question about all poses."""

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        world = world_of(mesh, "wide_tree")
        return lambda _: world.detect_many(poses, workers=1, bodies="b", **options)

    return prepare


def safe_step(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
    """Ask how far an approach from half a size away may go."""
    world = world_of(mesh, "bounding_tree")
    body, starts = world["b"], from_afar(poses)

    def call(k: int) -> Any:
        body.teleport(starts[k])
        body.pose = poses[k]
        return world.safe_step(MARGIN)

    return call


def deforming(**options: Any) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question about a body that deforms."""
    method = "monte_carlo" if "budget" in options else "wide_tree"

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        world = world_of(mesh, method, deformable=True)
        body = world["b"]
        swell = [mesh.vertices * (1.0 + 0.05 * np.sin(2.0 * np.pi * k / len(poses))) for k in range(len(poses))]

        def call(k: int) -> Any:
            body.pose = poses[k]
            body.vertices = swell[k]
            return world.detect(**options)

        return call

    return prepare


def places(size: float) -> np.ndarray:
    """Return the poses of many bodies on a grid, apart from each other."""
    grid = np.stack(np.meshgrid(range(10), range(10), indexing="ij"), axis=-1).reshape(-1, 2)[:BODIES]
    return np.array([translation((1.6 * size * x, 1.6 * size * y, 0.0)) for x, y in grid - 4.5])


def size_of(mesh: Mesh) -> float:
    """Return the longest edge of a mesh's box."""
    return float(np.ptp(mesh.vertices, axis=0).max())


def one_against_the_rest(ask: Callable[[World], Any]) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a question about one body among many at rest."""

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        world = World("wide_tree")
        for place in places(size_of(mesh)):
            world.add(mesh, place, static=True)
        body = world.add(mesh, name="probe")

        def call(k: int) -> Any:
            body.pose = poses[k]
            return ask(world)

        return call

    return prepare


def all_move(**options: Any) -> Callable[[Mesh, np.ndarray], Callable[[int], Any]]:
    """Return the preparation of a frame in which every body moves."""

    def prepare(mesh: Mesh, poses: np.ndarray) -> Callable[[int], Any]:
        rest = places(0.65 * size_of(mesh))
        world = World("wide_tree")
        for place in rest:
            world.add(mesh, place)
        turned = poses.copy()
        turned[:, :3, 3] *= 0.1
        frames = [rest @ turned[(k + 17 * np.arange(BODIES)) % len(poses)] for k in range(len(poses))]

        def call(k: int) -> Any:
            world.set_poses(frames[k])
            return world.detect(**options)

        return call

    return prepare


PAIR_OF_BODIES = "Two bodies, a pose at a time"
CALLS = {
    PAIR_OF_BODIES: [
        Call("`pair.touches(pose_a, pose_b)`", of_pair(lambda pair, pose: pair.touches(None, pose))),
        Call("`pair.touches(…, clearance=0.05)`", of_pair(lambda pair, pose: pair.touches(None, pose, clearance=MARGIN))),
        Call("`pair.distance(pose_a, pose_b)`", of_pair(lambda pair, pose: pair.distance(None, pose))),
        Call("`body.pose = …; world.in_collision()`", in_world(lambda world: world.in_collision())),
        Call('`body.pose = …; world.detect(rows="pairs")`', in_world(lambda world: world.detect(rows="pairs"))),
        Call("`body.pose = …; world.detect()`", in_world(lambda world: world.detect())),
        Call(
            '`body.pose = …; world.detect(rows="first", clearance=0.05)`',
            in_world(lambda world: world.detect(rows="first", clearance=MARGIN)),
        ),
        Call("`body.pose = …; world.distance(a, b)`", in_world(lambda world: world.distance("a", "b"))),
        Call("`jostle.collide(a, b, pose_b=…)`", at_once(lambda a, b, pose: jostle.collide(a, b, pose_b=pose))),
        Call("`jostle.distance(a, b, pose_b=…)`", at_once(lambda a, b, pose: jostle.distance(a, b, pose_b=pose))),
    ],
    f"Two bodies, {POSES} poses in one call, one worker; per pose": [
        Call("`world.detect_many(poses)`", of_batch(), POSES),
        Call("`world.detect_many(poses, clearance=0.05)`", of_batch(clearance=MARGIN), POSES),
        Call("`world.detect_many(poses, distance=True)`", of_batch(distance=True), POSES),
    ],
    f"One body against {BODIES} at rest": [
        Call("`body.pose = …; world.in_collision()`", one_against_the_rest(lambda world: world.in_collision())),
        Call("`body.pose = …; world.detect()`", one_against_the_rest(lambda world: world.detect())),
    ],
    f"{BODIES} bodies, all of them move": [
        Call('`world.set_poses(…); world.detect(rows="pairs")`', all_move(rows="pairs")),
        Call("`world.set_poses(…); world.detect()`", all_move()),
    ],
    "A body that deforms, every vertex, and one at rest": [
        Call("`body.vertices = …; world.detect()`", deforming()),
        Call("`body.vertices = …; world.detect(self_collision=True)`", deforming(self_collision=True)),
        Call("`body.vertices = …; world.detect(budget=jostle.Budget(seconds=0.001))`", deforming(budget=Budget(seconds=0.001))),
    ],
    "Along the motion": [
        Call("`body.pose = …; world.detect(motion=True)`", in_world(lambda world: world.detect(motion=True), "bounding_tree")),
        Call("`body.teleport(…); body.pose = …; world.safe_step(0.05)`", safe_step),
        Call(
            "`jostle.first_contact(a, b, to_b=…)`",
            at_once(lambda a, b, pose: jostle.first_contact(a, b, to_b=pose, pose_b=from_afar(pose))),
        ),
    ],
}
FIRST = {  # what is prepared, by what one makes
    "`jostle.Pair(a, b)`, `touches`": CALLS[PAIR_OF_BODIES][0],
    "`jostle.Pair(a, b)`, `distance`": CALLS[PAIR_OF_BODIES][2],
    "a world of two bodies, `detect`": CALLS[PAIR_OF_BODIES][5],
    "the same with `bounding_tree`, `detect(motion=True)`": CALLS["Along the motion"][0],
    f"a world of {BODIES + 1} bodies with one mesh, `detect`": CALLS[f"One body against {BODIES} at rest"][1],
    "a world of two bodies with `monte_carlo`, `detect`": Call("", in_world(lambda world: world.detect(), "monte_carlo")),
}


def meshes() -> dict[str, Mesh]:
    """Return the small and the medium body, both of size 1."""
    return {"12 faces": build.box(), "5,120 faces": build.icosphere(4, 0.5)}


def cost_of_the_clock() -> float:
    """Return the microseconds that reading the clock adds to a call."""
    taken = []
    for _ in range(2000):
        begin = clock()
        taken.append(clock() - begin)
    return statistics.median(taken) / 1e3


def time_call(call: Call, mesh: Mesh) -> Timed:
    """Return what a call costs, once it has been made for every pose."""
    poses = poses_of(REACH[len(mesh.faces)])
    ask, count = call.prepare(copy_of(mesh), poses), POSES if call.answers == 1 else 1
    taken: list[list[float]] = [[] for _ in range(count)]
    spent, own = 0.0, cost_of_the_clock()
    for number in range(ROUNDS + 1):
        for k in range(count):
            begin = clock()
            ask(k)
            microseconds = (clock() - begin) / 1e3
            spent += 1e-6 * microseconds
            if number > 0:  # the first round warms up
                taken[k].append((microseconds - own) / call.answers)
        if spent > SECONDS and number > 0:
            break
    medians = [statistics.median(each) for each in taken]
    return Timed(statistics.median(medians), max(medians))


def time_first(call: Call, mesh: Mesh) -> float:
    """Return the microseconds until the first answer, from meshes that nothing was prepared for."""
    poses, taken = poses_of(REACH[len(mesh.faces)]), []
    call.prepare(copy_of(build.icosphere(1, 0.5)), poses)(0)  # loads what is compiled
    for _ in range(ROUNDS):
        mesh = copy_of(mesh)
        begin = clock()
        call.prepare(mesh, poses)(0)
        taken.append((clock() - begin) / 1e3)
    return statistics.median(taken)


def shown(microseconds: float) -> str:
    """Return a time with two or three digits."""
    return f"{microseconds:.1f}" if microseconds < 10.0 else f"{float(f'{microseconds:.3g}'):,.0f}"


def calls() -> Iterator[str]:
    """Yield the table of calls."""
    sizes = meshes()
    heads = " | ".join(f"{name} | slowest pose" for name in sizes)
    yield f"| call | {heads} |"
    yield "|---|" + "--:|" * 2 * len(sizes)
    for group, some in CALLS.items():
        yield f"| **{group}** |" + " |" * 2 * len(sizes)
        for call in some:
            found = [time_call(call, mesh) for mesh in sizes.values()]
            cells = [f"{shown(each.median)} | {shown(each.slowest) if call.answers == 1 else ''}" for each in found]
            yield f"| {call.name} | {' | '.join(cells)} |"


def first() -> Iterator[str]:
    """Yield the table of what is prepared."""
    sizes = meshes()
    yield f"| made | {' | '.join(sizes)} |"
    yield "|---|" + "--:|" * len(sizes)
    for name, call in FIRST.items():
        yield f"| {name} | {' | '.join(shown(time_first(call, mesh)) for mesh in sizes.values())} |"


SCENES = {
    "20 polytopes of 36 faces": ("polytopes", {"count": 20}),
    "2 blobs of 5,000 faces": ("blobs", {"faces": 5000, "faces_b": 5000}),
}
FRAMES = 40
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    *((name, f"`{name}`", {}) for name in METHODS),
    ("bounding_tree", "`bounding_tree`, `motion=True`", {"motion": True}),
    ("monte_carlo", "`monte_carlo`, `budget=jostle.Budget(seconds=0.002)`", {"budget": Budget(seconds=0.002)}),
]


def time_method(name: str, motion: scenes.Motion, options: dict[str, Any]) -> tuple[float, float, float]:
    """Return the milliseconds of preparing, and of a frame: median and slowest."""
    rehearsal = motion.world(name)  # loads what is compiled
    if not rehearsal.method.traits.tells_where:
        options = {**options, "rows": "pairs"}
    frames, begin = list(range(FRAMES)), clock()
    for k in frames[::8]:
        motion.apply(rehearsal, k)
        rehearsal.detect(**options)
    if clock() - begin > 2e9:
        frames = frames[::8]
    fresh = {mesh: copy_of(mesh) for mesh in motion.meshes}
    begin = clock()
    world = World(name)
    for k, mesh in enumerate(motion.meshes):
        world.add(fresh[mesh], motion.poses[0, k])
    world.prepare()
    prepared = (clock() - begin) / 1e6
    taken: dict[int, list[float]] = {k: [] for k in frames}
    spent = 0.0
    for number in range(ROUNDS):
        for k in frames:
            begin = clock()
            world.set_poses(motion.poses[k])
            world.detect(**options)
            taken[k].append((clock() - begin) / 1e6)
        spent += sum(each[-1] for each in taken.values())
        if spent > 1e3 * SECONDS:
            break
        if number == 0:  # warms up, unless there is time for no other
            taken = {k: [] for k in frames}
    medians = [statistics.median(each) for each in taken.values()]
    return prepared, statistics.median(medians), max(medians)


def methods() -> Iterator[str]:
    """Yield the table of methods."""
    motions = [scenes.make_scene(name, frames=FRAMES, **settings).record() for name, settings in SCENES.values()]
    yield "| method | " + " | ".join(f"{name}: a frame | slowest | prepared" for name in SCENES) + " |"
    yield "|---|" + "--:|" * 3 * len(motions)
    for name, label, options in VARIANTS:
        cells = []
        for motion in motions:
            try:
                prepared, median, slowest = time_method(name, motion, options)
            except Unsupported:
                cells.append("- | - | -")
            else:
                cells.append(" | ".join(f"{float(f'{each:.2g}'):,g}" for each in (median, slowest, prepared)))
        yield f"| {label} | {' | '.join(cells)} |"


QUESTIONS = [  # question, methods, the row of what they cost, guarantee, page
    (
        "which faces touch, how near, how far apart; solids, self-collision, deforming bodies, thousands of poses",
        "`wide_tree`, the default",
        "`wide_tree`",
        "exact, row by row",
        "[the default engine](../wide_tree.md)",
    ),
    ("the same without compiled code", "`plain`", "`plain`", "exact, the same bytes", "[the first answer](../first_answer.md)"),
    (
        "when bodies first meet within a step, how far a step may go",
        "`bounding_tree`, with `motion=True`",
        "`bounding_tree`, `motion=True`",
        "no contact is missed; a time may be early by up to 1e-4 of the step",
        "[bounding_tree](../../src/jostle/methods/bounding_tree/README.md)",
    ),
    (
        "as much as possible by a deadline, also for deforming bodies",
        "`monte_carlo`, with `budget=`",
        "`monte_carlo`, `budget=jostle.Budget(seconds=0.002)`",
        "every row is exact, rows may be missing; complete for rigid bodies without a budget",
        "[monte_carlo](../../src/jostle/methods/monte_carlo/README.md)",
    ),
    (
        "depth and forces for closed, rigid bodies at a steady rate",
        "`voxmap`",
        "`voxmap`",
        "within a length that you choose",
        "[haptic forces](../haptics.md)",
    ),
    (
        "which features of convex bodies are closest",
        "`closest_features`",
        "`closest_features`",
        "within 1e-6 of the size",
        "[closest_features](../../src/jostle/methods/closest_features/README.md)",
    ),
    (
        "whether convex bodies touch, with a plane between those that do not",
        "`separating_plane`",
        "`separating_plane`",
        "within 1e-6 of the size",
        "[separating_plane](../../src/jostle/methods/separating_plane/README.md)",
    ),
    (
        "overlap of closed bodies, from depth images",
        "`image_space`",
        "`image_space`",
        "within a length; `conservative=True` never misses a contact",
        "[image_space](../../src/jostle/methods/image_space/README.md)",
    ),
    (
        "the same as `wide_tree` by an algorithm of a paper",
        "`face_octree`; also `octree_update`, `edge_face`, `brute_force`",
        "`face_octree`",
        "exact",
        "[the laboratory](../laboratory.md)",
    ),
]


def questions() -> Iterator[str]:
    """Yield the table of questions, with the costs that the page's table of methods has."""
    page = (PAGES / "which_method.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")]
    costs = {row[0]: (row[1], row[4]) for row in rows if len(row) == 7}
    yield "| you ask | method | guarantee | a frame, ms: polytopes; blobs | page |"
    yield "|---|---|---|--:|---|"
    for question, name, row, guarantee, link in QUESTIONS:
        yield f"| {question} | {name} | {guarantee} | {'; '.join(costs[row])} | {link} |"


TABLES = {
    "calls": ("which_call.md", calls),
    "first": ("which_call.md", first),
    "methods": ("which_method.md", methods),
    "questions": ("which_method.md", questions),
}


def write(page: Path, name: str, table: str) -> None:
    """Replace the table between the markers of a page."""
    begin, end = f"<!-- {name}: made by docs/measure_calls.py -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def main() -> None:
    """Measure the tables that were asked for, all by default."""
    words = sys.argv[1:]
    World("wide_tree").detect()  # worlds without a named method begin on plain in a new process
    machine = describe_machine()
    print(machine["cpu"], "load average", machine["load_average"], file=sys.stderr)
    for name in [word for word in words if word != "--print"] or TABLES:
        page, lines = TABLES[name]
        table = []
        for line in lines():
            print(line, flush=True)
            table.append(line + "\n")
        if "--print" not in words:
            write(PAGES / page, name, "".join(table))


if __name__ == "__main__":
    main()
