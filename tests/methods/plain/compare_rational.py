"""Compare `plain` with rational arithmetic: `python -m tests.methods.plain.compare_rational 2000`.

The first argument is the number of worlds, the second the first seed. Rows and kinds of the first two bodies must be equal, and
within a clearance in one world of four. Prints one line per family and exits with 1 if anything differs.
"""

import sys

from tests.methods.plain.compare import filled, size_of
from tests.methods.plain.families import FAMILIES, case
from tests.oracle.rows import rows_between


def differs(family, seed):
    """Whether rows of one world differ, and how many there are."""
    bodies = case(family, seed)[:2]
    world = filled("plain", bodies)
    clearance = 0.05 * size_of(bodies) if seed % 4 == 1 else 0.0
    contacts = world.detect(clearance=clearance).contacts
    found = list(zip(contacts.face_a.tolist(), contacts.face_b.tolist(), contacts.kind.tolist(), strict=True))
    expected = rows_between(*world.bodies, clearance)
    return found != expected, len(expected)


def main(count=2000, first_seed=0):
    each = -(-count // len(FAMILIES))
    failed = 0
    for family in FAMILIES:
        results = [differs(family, seed) for seed in range(first_seed, first_seed + each)]
        wrong, rows = sum(wrong for wrong, _ in results), sum(rows for _, rows in results)
        failed += wrong
        sys.stdout.write(f"{family:18} seeds {first_seed} … {first_seed + each - 1}: {rows} rows, {wrong} worlds differ\n")
        sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
