"""Exact contact on straight lines: floats, then integers, then algebraic numbers."""
