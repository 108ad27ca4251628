"""Fitting: move a part along a path, and report whether it comes out.

    from jostle import World, fitting
    world = World("bounding_tree")
    …
    result = fitting.walk(world, "cover", fitting.read_path("poses.csv"), separation=0.1)
    print(result.removed, result.blocked_by)

`path.py` reads and writes paths, `walk.py` follows them, `slide.py` finds the motion that contacts allow, `trace.py` writes the
result. `jostle` itself does not import this package.
"""

from jostle.fitting.path import RecordedPath, read_path, write_path
from jostle.fitting.trace import write_trace
from jostle.fitting.walk import Step, Touch, Walk, walk, walk_along, walk_of

__all__ = ["RecordedPath", "Step", "Touch", "Walk", "read_path", "walk", "walk_along", "walk_of", "write_path", "write_trace"]
