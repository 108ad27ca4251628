"""Rendered collision detection: pairs drawn over the region where they overlap.

Baciu, Wong and Sun (1998), RECODE.
"""
