"""Mesh file readers, one file per format; `load.py` is the entry point.

Each returns the file's content in the file's order. All read from a `Source` (`source.py`), which checks sizes and counts against
the limits of the call.

They are our own because order and exactness are the contract. trimesh 5.2, measured: OFF and PLY with triangles and quads come back
triangles first; OFF with a pentagon fails; glTF nodes come back in another order, and primitives as separate objects with made-up
names; the unreadable end of an ASCII STL is dropped silently; a 3MF of 400 kB may unpack to any size.
"""
