"""Random worlds through the change of gears, to the byte: `python -m tests.world.compare_gears 2000`.

The first argument is the number of worlds, the second the first seed. Each world lives for some frames, in which bodies move,
deform, come, go and get filters, and is asked a random question in each. Before a random frame it starts to pay to go over. The
default world's reports are compared with those of `plain` and `wide_tree` by name. Prints what differs, and exits with 1 if
anything does.
"""

import sys
from unittest import mock

import numpy as np

import jostle
from jostle.world import gears
from tests.methods.plain.compare import COLUMNS, PAIR_COLUMNS, forget_compiled_kernels, same_bytes, size_of
from tests.methods.plain.families import FAMILIES, anywhere, case, placed

METHODS = (None, "plain", "wide_tree")
FRAMES = 5
DETAILS = ("segment", "normal", "time", "depth")
CLOSEST = ("distance", "point_a", "point_b")  # any touching faces may be named


def random_query(rng, size):
    """Options of `detect`, any that the default engine serves."""
    query = {"rows": str(rng.choice(["faces", "faces", "first", "pairs", "any"]))}
    if rng.random() < 0.3:
        query["clearance"] = float(size * rng.choice([1e-9, 0.01, 0.1]))
    if rng.random() < 0.3:
        query["solid"] = True
    if rng.random() < 0.3:
        query["self_collision"] = True
        query["adjacent"] = bool(rng.integers(2))
    return query


def change_bodies(rng, worlds, size):
    """Change one thing in all worlds alike."""
    bodies = [world.bodies for world in worlds]
    k = int(rng.integers(len(bodies[0])))
    change = int(rng.integers(9))
    if change < 3:
        pose = bodies[0][k].pose.copy()
        pose[:3, 3] += 0.2 * size * rng.normal(size=3) * (rng.random() < 0.7)
        if change == 2:
            pose[:3, :3] = anywhere(rng)[:3, :3]
        values = [("pose", pose)] * len(worlds)
    elif change == 3 and bodies[0][k].deformable:
        vertices = bodies[0][k].vertices
        values = [("vertices", vertices + 0.1 * np.ptp(vertices) * rng.normal(size=vertices.shape))] * len(worlds)
    elif change == 4:
        values = [("static", bool(rng.integers(2)))] * len(worlds)
    elif change == 5:
        values = [("group", None if rng.integers(2) else int(rng.integers(3)))] * len(worlds)
    elif change == 6:
        values = [(str(rng.choice(["category", "mask"])), int(rng.integers(1, 8)))] * len(worlds)
    elif change == 7 and len(bodies[0]) > 1:
        other, ignored, remove = (k + 1) % len(bodies[0]), bool(rng.integers(2)), bool(rng.integers(2))
        for world, each in zip(worlds, bodies, strict=True):
            if remove:
                world.remove(each[k])
            else:
                world.ignore(each[k], each[other], ignored)
        return
    else:
        mesh, pose, deformable = bodies[0][k].mesh, placed(shift=0.1 * size * rng.normal(size=3)), bool(rng.integers(2))
        for world in worlds:
            world.add(mesh, pose, deformable=deformable)
        return
    for each, (name, value) in zip(bodies, values, strict=True):
        setattr(each[k], name, value)


def differences(family, seed):
    """What differs in one world, as text, and whether it changed gears."""
    rng = np.random.default_rng([seed, 35])
    bodies = case(family, seed)
    size = size_of(bodies)
    worlds = [jostle.World(method, workers=int(rng.integers(1, 4))) for method in METHODS]
    for mesh, pose in bodies:
        deformable = bool(rng.integers(2))
        for world in worlds:
            world.add(mesh, pose, deformable=deformable)
    change = int(rng.integers(FRAMES + 1))
    wrong, engines = [], set()
    ledger = gears.Ledger()
    with mock.patch.object(gears, "LEDGER", ledger), mock.patch.object(gears, "is_loaded", return_value=False):
        for frame in range(FRAMES):
            ledger.spent = 2 * gears.COMPILING if frame >= change else 0
            for _ in range(int(rng.integers(1, 4))):
                change_bodies(rng, worlds, size)
            query, details = random_query(rng, size), rng.random() < 0.3
            reports = []
            for world in worlds:
                if frame < change:
                    forget_compiled_kernels()
                reports.append(world.detect(**query))
                if details:
                    _ = reports[-1].contacts.normal
            engines.add(reports[0].counters.engine)
            here = f"{family}, seed {seed}, frame {frame} of {FRAMES}, {worlds[0].engine}, {query}"
            names = promised(query, details)
            wrong += [f"{here}: {what}" for other in reports[1:] for what in different(reports[0], other, names)]
            if len(worlds[0]) > 1:
                closest = [world.distance(world.bodies[0], world.bodies[1]) for world in worlds]
                names = CLOSEST if closest[0].distance else CLOSEST[:1]
                wrong += [f"{here}: distance" for other in closest[1:] if not same_bytes(closest[0], other, names)]
            if len({world.in_collision() for world in worlds}) > 1:
                wrong.append(f"{here}: in_collision")
    return wrong, len(engines) > 1


def promised(query, details):
    """The columns of rows that both engines promise alike: which faces stand for a pair is up to them."""
    if query["rows"] == "first" and "clearance" not in query:
        return tuple(name for name in COLUMNS if not name.startswith("face"))
    return COLUMNS + (DETAILS if details else ())


def different(one, other, names):
    """Yield the parts of two reports that differ."""
    if not same_bytes(one.contacts, other.contacts, names):
        yield "rows"
    for pairs in ("pairs", "began", "ended"):
        if not same_bytes(getattr(one, pairs), getattr(other, pairs), PAIR_COLUMNS):
            yield pairs


def main(count=2000, first_seed=0):
    changed = failed = 0
    for seed in range(first_seed, first_seed + count):
        family = list(FAMILIES)[seed % len(FAMILIES)]
        wrong, over = differences(family, seed)
        changed += over
        failed += bool(wrong)
        sys.stdout.writelines(f"{line}\n" for line in wrong)
        sys.stdout.flush()
    sys.stdout.write(f"seeds {first_seed} … {first_seed + count - 1}: {failed} worlds differ, {changed} changed gears\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
