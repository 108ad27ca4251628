"""The laboratory: one motion through every method, the papers' figures, verdicts.

A scene is recorded once. Every method replays the same frames in its own process, and its answers are compared with the exact
engine of the same semantics. Each experiment is a file in `experiments/`, each figure of a paper one in `papers/`. `measure.py`
replays, `files.py` and `plots.py` write, `page.py` makes one page of all runs.
"""
