"""Mesh file readers, one file per format; `load.py` is the entry point.

Each returns the file's content in the file's order.

All take their bytes from a `Source` (`source.py`), which checks sizes and counts against the limits of the call.

They are our own because order and exactness are the contract here. trimesh 5.2, measured: OFF and PLY with triangles and
quads come back triangles first; OFF with a pentagon fails; nodes of a glTF file come back in another order, its primitives as
objects of their own with made-up names; the unreadable end of an ASCII STL is dropped without a word; a 3MF of 400 kB unpacks
to whatever it likes.
"""
