"""Hierarchies of bounding volumes of any kind and degree, and collision along the motion (Eckstein and Schömer 1999)."""
