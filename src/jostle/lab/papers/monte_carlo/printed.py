"""The paper's values by table."""

from __future__ import annotations

from jostle.lab.papers.printed import values_printed

PAPER = "guy2004"
PRINTED = values_printed("jostle.lab.papers.monte_carlo")
TABLE = PRINTED["table_1"]
RATE_HZ = PRINTED["environment"]["rate_hz"]
