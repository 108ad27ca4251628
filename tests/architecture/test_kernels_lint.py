"""Rules for kernels, read from the sources: one decorator for all of them, and no slice assignment inside."""

from __future__ import annotations

import pytest

from tests.architecture.kernel_rules import findings, findings_in

pytestmark = pytest.mark.small


def test_kernels_are_made_by_one_decorator():
    # The one place, and proof that the rule sees it.
    assert [file for file, found in findings().items() if found.bare_compilers] == ["kernels/dispatch.py"]


def test_no_kernel_assigns_to_a_slice():
    assert {file: found.slice_assignments for file, found in findings().items() if found.slice_assignments} == {}


@pytest.mark.parametrize(
    "text",
    [
        "from numba import njit",
        "from numba import jit as quick",
        "from numba.core.decorators import njit",
        "import numba\n@numba.njit\ndef f(): pass",
        "import numba as nb\n@nb.guvectorize\ndef f(): pass",
        "import numba\nx = numba.core.decorators.jit(nopython=True)",
    ],
)
def test_the_rule_catches_a_bare_compiler(text):
    assert findings_in(text).bare_compilers != []


def test_the_rule_lets_other_things_be():
    assert findings_in("from numba import types\nimport jostle.kernels.jit as own\nown.jit\nself.jit()").bare_compilers == []


@pytest.mark.parametrize("line", ["a[:n] = b[:n]", "a[i, :] += 1.0", "a[1:], k = b, 2", "a[0][2:3] = c", "for a[:] in b: pass"])
@pytest.mark.parametrize("decorator", ["kernel", "kernel(forceinline=True)", "jit.kernel", "jit.kernel()"])
def test_the_rule_catches_a_slice_assignment(decorator, line):
    assert findings_in(f"@{decorator}\ndef f(a, b, n):\n    if n:\n        {line}\n").slice_assignments == [4]


def test_slices_may_be_read_in_kernels_and_written_elsewhere():
    text = "@kernel\ndef f(a, n):\n    b = a[:n]\n    a[n] = b[n]\n    a[b[:n].sum() - n] = 0\ndef g(a):\n    a[:3] = 0\n"
    assert findings_in(text).slice_assignments == []
