"""Readers of mesh files, one file per format. Each returns what the file says, in the file's order; `load.py` is the front.

They are our own because order and exactness are the contract here. trimesh 5.2, measured: OFF and PLY with triangles and
quads come back triangles first; OFF with a pentagon fails; nodes of a glTF file come back in another order, its primitives as
objects of their own with made-up names; the unreadable end of an ASCII STL is dropped without a word.
"""
