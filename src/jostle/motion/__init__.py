"""Recorded motions: bodies and their poses frame by frame, in memory and in files."""
