"""Kernels take things, not scalars: few parameters, few lines, annotations, and no number that only its author understands.

Files that do not follow the rules yet are listed, and the list may only shrink.
"""

from __future__ import annotations

import pytest

from tests.architecture.kernel_rules import faults_by_file, findings, findings_in

pytestmark = pytest.mark.small

RESPONSES = "the rigid and the soft response are to be replaced"
UNCONVERTED: dict[str, str] = {
    "sim/advance.py": RESPONSES,
    "sim/ageing.py": RESPONSES,
    "sim/approach.py": RESPONSES,
    "sim/back_projection.py": RESPONSES,
    "sim/deform.py": RESPONSES,
    "sim/facet_pairs.py": RESPONSES,
    "sim/integrate.py": RESPONSES,
    "sim/lattice.py": RESPONSES,
    "sim/manifold.py": RESPONSES,
    "sim/respond.py": RESPONSES,
    "sim/soft_step.py": RESPONSES,
    "sim/surfaces.py": RESPONSES,
    "sim/ties.py": RESPONSES,
    "sim/walls.py": RESPONSES,
}


def test_kernels_take_things():
    found = faults_by_file(findings())
    assert {file: faults for file, faults in found.items() if file not in UNCONVERTED} == {}
    assert [file for file in UNCONVERTED if file not in found] == [], "these follow the rules now: take them off the list"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("@kernel\ndef f(a: A) -> int:\n    return a.b[3]", None),
        ("@kernel\ndef f(a: A):\n    return a", ["no types"]),
        ("@kernel\ndef f(a) -> int:\n    return a", ["no types"]),
        ("@kernel\ndef f(a: A) -> int:\n    return a[48 + a.j]", ["offsets [48]"]),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(9))}) -> int:\n    return p0", ["9 parameters"]),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(9))}) -> int:\n    return p0\nf(1)", None),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(13))}) -> int:\n    return p0\nf(1)", ["13 parameters"]),
        ("@kernel(forceinline=True)\ndef f(a: A) -> int:\n" + "    a = 1\n" * 69 + "    return a", ["71 lines"]),
        ("def f(a):\n    return a[99]", None),
    ],
)
def test_the_rules_can_fail(text, faults):
    assert faults_by_file({"file.py": findings_in(text)}) == ({} if faults is None else {"file.py": {"f": faults}})
