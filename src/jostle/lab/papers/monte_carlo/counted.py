"""Counters of a report with further numbers: what a figure wants to know of each frame travels with them into its files."""

from __future__ import annotations

from collections.abc import Mapping

from jostle.report.report import Counters, Report, replaced


class MoreCounters(Counters):
    """Counters, and others by name."""

    def __init__(self, counters: Counters, others: Mapping[str, int]) -> None:
        self.__dict__.update(vars(counters), **others)


def with_counts(report: Report, others: Mapping[str, int]) -> Report:
    """Return a report whose counters have further numbers."""
    return replaced(report, counters=MoreCounters(report.counters, others))
