"""Pictures of crowds (fig. 5), combs (fig. 6 and 7) and hands (fig. 8).

Combs and hands also have a picture of their depth and stencil buffers (`buffers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from jostle.geometry.rigid import transform_points
from jostle.lab.papers.image_space.buffers import draw_buffers
from jostle.motion.record import Motion
from jostle.render import Camera, save_picture
from jostle.scenes import make_scene

WIDTH, HEIGHT = 720, 540
FACES = 576  # of a body of a crowd
COMB_FACES, HAND_FACES = 10_000, 21_600
ALONG_THE_COMBS = (-0.35, 1.0, -0.3)
COMB_FRAMES = {"before": 60, "touching": 90, "after": 99}
BESIDE_THE_HANDS = (-1.0, 0.35, -0.35)


def draw_crowd(name: str, folder: Path) -> list[Path]:
    """Draw a crowd at its start and at its end; return the files."""
    motion = make_scene(name, faces=FACES).record()
    return _pictures(motion, {"first": 0, "last": len(motion) - 1}, name, folder)


def draw_combs(motion: str, place: str, folder: Path) -> list[Path]:
    """Draw combs before, at and after the touch, and the buffers; return the files."""
    recorded = make_scene("combs", motion=motion, place=place, faces=COMB_FACES).record()
    name = f"combs_{motion}_{place}"
    written = _pictures(recorded, COMB_FRAMES, name, folder, ALONG_THE_COMBS)
    return [*written, draw_buffers(recorded, COMB_FRAMES["after"], folder / f"picture_4_{name}_buffers.png")]


def draw_grasp(folder: Path) -> list[Path]:
    """Draw the hands open and closed on the ball, and the buffers; return the files."""
    motion = make_scene("grasping", faces=HAND_FACES).record()
    written = _pictures(motion, {"open": 0, "closed": len(motion) - 1}, "grasping", folder, BESIDE_THE_HANDS)
    return [*written, draw_buffers(motion, len(motion) - 1, folder / "picture_3_grasping_buffers.png")]


def _pictures(
    motion: Motion, moments: dict[str, int], name: str, folder: Path, direction: Sequence[float] | None = None
) -> list[Path]:
    """Draw each moment with the same camera."""
    world = motion.world()
    points = [
        transform_points(pose, mesh.vertices)
        for frame in moments.values()
        for mesh, pose in zip(motion.meshes, motion.poses[frame], strict=True)
    ]
    camera = Camera.framing(np.concatenate(points), direction, width=WIDTH, height=HEIGHT)
    written = []
    for number, (moment, frame) in enumerate(moments.items(), 1):
        motion.apply(world, frame)
        report = world.detect()
        marks: list[ArrayLike | None] = [report.faces_of(body) for body in world]
        path = folder / f"picture_{number}_{name}_{moment}.png"
        caption = f"frame {frame}: {len(report.pairs)} pairs of bodies collide"
        save_picture(
            path, motion.meshes, motion.poses[frame], highlight=marks, camera=camera, edges="outline", see_through="marked",
            caption=caption,
        )  # fmt: skip
        written.append(path)
    return written
