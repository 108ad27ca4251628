"""Counters of a report with additional numbers, which reach the files of a figure."""

from __future__ import annotations

from collections.abc import Mapping

from jostle.report.report import Counters, Report, replaced


class MoreCounters(Counters):
    """Counters and additional ones by name."""

    def __init__(self, counters: Counters, others: Mapping[str, int]) -> None:
        self.__dict__.update(vars(counters), **others)


def with_counts(report: Report, others: Mapping[str, int]) -> Report:
    """Return a report with additional counters."""
    return replaced(report, counters=MoreCounters(report.counters, others))
