"""Instrumented `monte_carlo` with budgets of 0.5 to 10 ms, and without one."""

from __future__ import annotations

from collections.abc import Callable

from jostle.interface.query import Budget
from jostle.lab.experiment import Value
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.monte_carlo.contenders import shells
from jostle.lab.papers.monte_carlo.instrumented import Instrumented

MILLISECONDS, MORE = (0.5, 1.0, 2.0, 5.0), 10.0
BUDGETS = {f"monte_carlo({time:g} ms)": 1e-3 * time for time in MILLISECONDS}  # seconds by label
WITH_MORE = {**BUDGETS, f"monte_carlo({MORE:g} ms)": 1e-3 * MORE}
UNLIMITED = "monte_carlo(no budget)"


def instrumented(label: str, truth: bool) -> Callable[[Value], NamedMethod]:
    """Return the factory of a method by its label, compared with the truth or not."""

    def make(_value: Value) -> NamedMethod:
        made = shells(label, budget=Budget(seconds=WITH_MORE[label]) if label in WITH_MORE else None)
        return NamedMethod(label, Instrumented(made.method, truth), made.options)

    return make
