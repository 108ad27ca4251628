"""Measurements of jostle beside the libraries its users would pick instead.

Same meshes, same poses, one thread each, every contestant in a process of its own, rounds interleaved, medians; and what
each found against an exact reference. Nothing else in jostle imports this package but its command.
"""
