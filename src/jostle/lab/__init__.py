"""The laboratory: one motion through every method, the papers' figures, verdicts.

A scene is recorded once. Every method replays the very same frames in a process of its own, and what it answers is compared
with the exact engine of the same semantics. An experiment is one file in `experiments/`, a figure of a paper one in `papers/`;
`measure.py` replays, `files.py` and `plots.py` write, `page.py` makes one page of everything that was run. Nothing else in jostle
imports this package but its command.
"""
