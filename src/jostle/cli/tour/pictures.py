"""Pictures of the tour's last frame, by five methods, one from each paper."""

from __future__ import annotations

from pathlib import Path

from jostle.interface.traits import Need
from jostle.motion.record import Motion
from jostle.pictures import Look, camera_of, contact_points, picture_of, placed_points
from jostle.registry import METHODS
from jostle.render.png import write_png

# Method, overlay, and the page's description of it (`picture_1_…`, see lab/appearance.py).
SHOWN = (
    ("face_octree", "cells", "face octree, cells that were subdivided"),
    ("bounding_tree", "level 3", "bounding tree, boxes of level 3"),
    ("image_space", "region", "image space, regions that are drawn and pixels where both bodies are"),
    ("voxmap", "hits", "voxmap, shell points in a filled voxel of another body"),
    ("monte_carlo", "shells", "monte carlo, shells in use"),
)
LOOK = Look(width=640, height=480, edges="outline", zoom=1.6, samples=2)


def draw_pictures(deforming: Motion, rigid: Motion, folder: Path) -> list[Path]:
    """Draw the last frame with each method of `SHOWN` into a folder; return the files.

    Parameters
    ----------
    deforming, rigid : Motion
        The same motion; methods that need rigid bodies get the second.
    """
    for old in folder.glob("picture_*.png"):
        old.unlink()
    written, camera = [], None
    for number, (name, what, words) in enumerate(SHOWN, 1):
        method = METHODS[name]()
        motion = rigid if Need.RIGID in method.traits.needs else deforming
        world = motion.world(method)
        motion.apply(world, len(motion) - 1)
        overlay = world.overlay(what)
        report = world.detect()
        if camera is None:
            camera = camera_of(placed_points(world), LOOK, contact_points(report))
        path = folder / f"picture_{number}_{words.replace(' ', '_')}.png"
        write_png(path, picture_of(world, report, LOOK, overlay, camera))
        written.append(path)
    return written
