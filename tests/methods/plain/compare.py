"""Compare `plain` with `wide_tree`, to the byte: `python -m tests.methods.plain.compare 20000`.

The first argument is the number of worlds, the second the first seed, any others are families. Each world is asked for rows in
two modes; one in four each for solids, a clearance, self-collision or contact geometry as well, one in three for a distance, and
one in five is deformed and loses a body. Prints one line per family and exits with 1 if anything differs.
"""

import sys

import numpy as np

import jostle
from jostle.kernels.jit import KERNELS, Kernel
from tests.methods.plain.families import FAMILIES, case

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")
PAIR_COLUMNS = ("body_a", "body_b", "kind", "rows", "distance")


def filled(method, bodies, deformable=False):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose, deformable=deformable)
    return world


def same_bytes(one, other, names):
    """Whether columns of these names are equal in every byte, and in type."""
    pairs = [(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))) for name in names]
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


def forget_compiled_kernels():
    """Let `plain` interpret again what `wide_tree` has compiled; the next compiled call finds its machine code."""
    for kernel in KERNELS.values():
        if isinstance(kernel, Kernel):
            kernel.__call__ = kernel._first_call


def size_of(bodies):
    points = np.concatenate([mesh[0] @ pose[:3, :3].T + pose[:3, 3] for mesh, pose in bodies])
    return float(np.ptp(points, axis=0).max())


def queries(bodies, seed):
    """The queries that a world of this seed gets."""
    yield {}
    yield {"rows": ("first", "any", "pairs")[seed % 3]}
    near = {"clearance": 0.05 * size_of(bodies)}
    extra = seed % 4
    if extra == 0:
        yield {"solid": True}
        yield {"solid": True, "rows": ("any", "first", "pairs")[seed // 4 % 3]}
    elif extra == 1:
        yield near
        yield {**near, "rows": ("any", "first", "pairs")[seed // 4 % 3]}
    elif extra == 2:
        yield {"self_collision": True}
        yield {"self_collision": True, "adjacent": True}
        yield {"self_collision": True, "rows": ("any", "first", "pairs")[seed // 4 % 3], **(near if seed % 8 == 2 else {})}


def promised(query):
    """The columns of contacts that have the same bytes for every exact method; see docs/conventions.md."""
    free = query.get("rows") == "first" and not query.get("solid") and not query.get("clearance")
    return ("body_a", "body_b", "kind", "distance") if free else COLUMNS


def difference(plain, compiled, query, with_geometry):
    """What differs between two reports of one query, None if nothing does, and the number of rows."""
    forget_compiled_kernels()
    one = plain.detect(**query)
    geometry = one.contacts.details if with_geometry else None
    other = compiled.detect(**query)
    columns = promised(query)
    if not same_bytes(one.contacts, other.contacts, columns) or not same_bytes(one.pairs, other.pairs, PAIR_COLUMNS):
        return f"{one} instead of {other}", len(other.contacts)
    if geometry is not None and columns == COLUMNS and not same_bytes(geometry, other.contacts, ("segment", "normal")):
        return "contact geometry", len(other.contacts)
    return None, len(other.contacts)


def distances_differ(plain, compiled):
    """Whether distances, or closest faces and points where they are not 0, differ."""
    forget_compiled_kernels()
    pair = list(plain.bodies)[:2]
    one = plain.distance(*(body.id for body in pair))
    other = compiled.distance(*(body.id for body in pair))
    if one.distance == 0.0 == other.distance:
        return False
    return not same_bytes(one, other, ("distance", "face_a", "face_b", "point_a", "point_b"))


def changed(world, rng):
    """Deform a body and remove one of several."""
    bodies = list(world.bodies)
    vertices = bodies[-1].vertices
    bodies[-1].vertices = vertices[rng.permutation(len(vertices))]
    if len(bodies) > 2:
        world.remove(bodies[0])


def differences(family, seed):
    """What differs between both methods in one world, as text, and the number of rows."""
    bodies = case(family, seed)
    deforms = seed % 5 == 4
    worlds = [filled(method, bodies, deforms) for method in ("plain", "wide_tree")]
    wrong, rows = [], 0
    for changes in range(1 + deforms):
        for query in queries(bodies, seed):
            found, count = difference(*worlds, query, seed % 4 == 3 or query.get("solid") or seed % 7 == 0)
            rows += count
            if found:
                wrong.append(f"{family}, seed {seed}, {query}, {changes} changes: {found}")
        if seed % 3 == 0 and distances_differ(*worlds):
            wrong.append(f"{family}, seed {seed}, {changes} changes: distance")
        for world in worlds if deforms else ():
            changed(world, np.random.default_rng(seed))
    return wrong, rows


def main(count=20_000, first_seed=0, families=tuple(FAMILIES)):
    each = -(-count // len(families))
    failed = 0
    for family in families:
        rows = wrong_worlds = 0
        for seed in range(first_seed, first_seed + each):
            wrong, found = differences(family, seed)
            rows += found
            wrong_worlds += bool(wrong)
            sys.stdout.writelines(f"{line}\n" for line in wrong)
        failed += wrong_worlds
        seeds = f"{first_seed} … {first_seed + each - 1}"
        sys.stdout.write(f"{family:18} seeds {seeds}: {rows} rows, {wrong_worlds} worlds differ\n")
        sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *([sys.argv[3:]] if sys.argv[3:] else [])))
