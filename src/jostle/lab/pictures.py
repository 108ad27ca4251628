"""Pictures of an experiment's scene: first and last frame, touching faces in red."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jostle.geometry.rigid import transform_points
from jostle.lab.appearance import PICTURES
from jostle.motion.record import Motion
from jostle.render import Camera, save_picture
from jostle.shapes.mesh import Mesh

WIDTH, HEIGHT = 960, 720


def draw_scene(motion: Motion, folder: Path) -> list[Path]:
    """Draw the first and the last frame by one camera, touching faces in red."""
    frames = [0, len(motion) - 1]
    world = motion.world()
    scenes, marks = [], []
    for frame in frames:
        motion.apply(world, frame)
        report = world.detect()
        scenes.append([Mesh(body.vertices, body.mesh.faces, name=body.name) if body.deformable else body.mesh for body in world])
        marks.append([report.faces_of(body) for body in world])
    points = [
        transform_points(pose, mesh.vertices[np.unique(mesh.faces)])
        for meshes, frame in zip(scenes, frames, strict=True)
        for mesh, pose in zip(meshes, motion.poses[frame], strict=True)
    ]
    camera = Camera.framing(np.concatenate(points), width=WIDTH, height=HEIGHT) if points else None
    written = []
    for name, meshes, touching, frame in zip(PICTURES, scenes, marks, frames, strict=True):
        path = folder / f"{name}.png"
        caption = f"frame {frame}: {sum(map(len, touching)):,} faces touch"
        save_picture(path, meshes, motion.poses[frame], highlight=touching, camera=camera, see_through="marked", caption=caption)
        written.append(path)
    return written
