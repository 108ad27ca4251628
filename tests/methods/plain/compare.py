"""Compare `plain` with `wide_tree`, to the byte: `python -m tests.methods.plain.compare 20000`.

The first argument is the number of worlds, the second the first seed. Each world is asked for rows, and one in four for solids, a
clearance, self-collision or contact geometry as well. Prints one line per family and exits with 1 if anything differs.
"""

import sys

import numpy as np

import jostle
from jostle.kernels.jit import KERNELS, Kernel
from tests.methods.plain.families import FAMILIES, case

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")
PAIR_COLUMNS = ("body_a", "body_b", "kind", "rows", "distance")


def filled(method, bodies):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
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
    """The queries that a world of this seed gets; all of them have the same bytes for every exact method."""
    yield {}
    extra = seed % 4
    if extra == 0:
        yield {"solid": True}
    elif extra == 1:
        yield {"clearance": 0.05 * size_of(bodies)}
        yield {"clearance": 0.05 * size_of(bodies), "rows": "first"}
    elif extra == 2:
        yield {"self_collision": True}
        yield {"self_collision": True, "adjacent": True}


def differences(family, seed):
    """What differs between both methods in one world, as text, and the number of rows."""
    bodies = case(family, seed)
    plain, compiled = filled("plain", bodies), filled("wide_tree", bodies)
    wrong, rows = [], 0
    for query in queries(bodies, seed):
        forget_compiled_kernels()
        one = plain.detect(**query)
        geometry = one.contacts.details if seed % 4 == 3 else None
        other = compiled.detect(**query)
        rows += len(other.contacts)
        if not same_bytes(one.contacts, other.contacts, COLUMNS) or not same_bytes(one.pairs, other.pairs, PAIR_COLUMNS):
            wrong.append(f"{family}, seed {seed}, {query}: {one} instead of {other}")
        elif geometry is not None and not same_bytes(geometry, other.contacts, ("segment", "normal")):
            wrong.append(f"{family}, seed {seed}: contact geometry")
    return wrong, rows


def main(count=20_000, first_seed=0):
    each = -(-count // len(FAMILIES))
    failed = 0
    for family in FAMILIES:
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
    sys.exit(main(*map(int, sys.argv[1:3])))
