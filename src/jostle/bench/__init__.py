"""Benchmarks of jostle against the libraries its users would pick instead.

Same meshes, same poses, one thread each, every contestant in its own process, interleaved rounds, medians. Every answer is
checked against an exact reference.
"""
