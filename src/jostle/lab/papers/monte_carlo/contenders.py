"""The contenders of table 1: shells by levels, the paper's rivals, `wide_tree`.

The rivals are `bounding_tree` with published settings: the AABB tree of van den Bergen 1997 and the OBB tree of RAPID (Gottschalk,
Lin, Manocha 1996) are binary, split at the mean of the longest axis, with one face per leaf. If bodies deform, the first is
refitted, the second rebuilt (`rebuilt.py`). The shells are amortised as in §3.2 (`thorough=False`): a frame updates the list and
draws 8 seeds, where a thorough one would continue until all regions are sure to be found. The misses are reported with the times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jostle.interface.query import Budget
from jostle.lab.experiment import Value
from jostle.lab.methods import NamedMethod, method_written
from jostle.lab.papers.monte_carlo.rebuilt import Rebuilt
from jostle.methods.bounding_tree.method import BoundingTree

AABB, OBB, MODERN = "bounding_tree(aabb, refit)", "bounding_tree(obb, rebuilt)", "wide_tree"
LEVELS: dict[str, int | None] = {
    "monte_carlo(1 level)": 1,
    "monte_carlo(2 levels)": 2,
    "monte_carlo(3 levels)": 3,
    "monte_carlo(4 levels)": 4,
    "monte_carlo(all levels)": None,
}
ONE, LAST = next(iter(LEVELS)), list(LEVELS)[-1]


def in_brackets(label: str) -> str:
    """Return the settings of a label."""
    return label.partition("(")[2].removesuffix(")")


def shells(label: str, settings: str = "", budget: Budget | None = None) -> NamedMethod:
    """Return `monte_carlo` under a label, with settings as text and a budget."""
    made = method_written(f"monte_carlo({settings})")
    assert made is not None
    return replace(made, label=label, options={} if budget is None else {"budget": budget})


def _aabb(_value: Value) -> NamedMethod:
    return NamedMethod(AABB, BoundingTree(volume="aabb", splitting="binary_gottschalk", leaf_faces=1))


def _obb(_value: Value) -> NamedMethod:
    return NamedMethod(OBB, Rebuilt(BoundingTree(volume="obb", splitting="binary_gottschalk", leaf_faces=1)))


def _with_levels(label: str) -> Callable[[Value], NamedMethod]:
    return lambda _value: shells(label, f"levels={LEVELS[label]}, thorough=False")


MADE: dict[str, Callable[[Value], NamedMethod]] = {AABB: _aabb, OBB: _obb, **{label: _with_levels(label) for label in LEVELS}}
METHODS = (AABB, OBB, MODERN, *LEVELS)
