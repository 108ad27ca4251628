"""Kinds of meshes that people have: the scenario `kinds` of `jostle bench peers`.

`meshes/` builds them, `catalogue.py` lists the kinds and what is asked about each, in two halves: those that thresholds may be
chosen on, and those that only check them. `placing.py` and `questions.py` make the cases, `table.py` the tables.
"""
