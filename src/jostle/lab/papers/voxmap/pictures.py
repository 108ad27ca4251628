"""The pictures of fig. 7: a point shell and a body of voxels collide.

Points are drawn as small octahedra, voxels as cubes that turn with their body (the method's overlay has them in world axes). Hits
are inside the other body and show through it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jostle._types import Floats
from jostle.geometry.rigid import transform_points
from jostle.methods.voxmap.method import Voxmap
from jostle.methods.voxmap.shape import VoxelShape
from jostle.methods.voxmap.show import surface_voxel_centres
from jostle.render import Camera, save_picture
from jostle.scenes import make_scene
from jostle.shapes.build import box
from jostle.shapes.mesh import Mesh

ACCURACY = 0.1
KINDS = ("stellated_dodecahedra", "icosahedra")
MOMENTS = {"before": -4, "during": 0, "after": 4}  # frames from the one with the most hits
WIDTH, HEIGHT = 720, 540
POINT = 0.22  # size of a drawn point over the edge of a voxel
COLOURS = {"body": (214, 206, 188), "points": (40, 70, 110), "hits": (214, 40, 40), "voxels": (120, 150, 190)}
_CORNERS = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
_OCTAHEDRON = Mesh(_CORNERS, [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def draw_collisions(folder: Path) -> list[Path]:
    """Draw both kinds of bodies at three moments; return the files."""
    files = []
    for kind in KINDS:
        files += _collision(kind, folder, 3 * KINDS.index(kind) + 1)
    return files


def _collision(kind: str, folder: Path, first: int) -> list[Path]:
    motion = make_scene("stellated", kind=kind).record()
    method = Voxmap(accuracy=ACCURACY)
    world = motion.world(method)
    hits = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        segments = world.detect().contacts.segment
        hits.append(np.asarray(segments[:, 0]).reshape(-1, 3))  # the first of two equal bodies gives the shell
    middle = max(range(len(hits)), key=lambda frame: len(hits[frame]))
    frames = {name: min(max(middle + step, 0), len(motion) - 1) for name, step in MOMENTS.items()}
    shape = method.prepare_shape(motion.meshes[0])
    shell, voxels = _shell(shape), _voxels(shape)
    seen = [transform_points(pose, motion.meshes[0].vertices) for frame in frames.values() for pose in motion.poses[frame]]
    camera = Camera.framing(np.concatenate(seen), width=WIDTH, height=HEIGHT)
    files = []
    for number, (name, frame) in enumerate(frames.items(), first):
        path = folder / f"picture_{number}_{kind}_{name}.png"
        a, b = motion.poses[frame]
        meshes, poses = [motion.meshes[0], shell, voxels], [a, a, b]
        if len(hits[frame]):
            meshes.append(_many(_OCTAHEDRON, hits[frame], 1.8 * POINT * shape.voxel, "hits"))
            poses.append(np.eye(4))
        caption = f"frame {frame}: {len(hits[frame])} of {len(shape.points)} shell points hit"
        save_picture(
            path, meshes, np.stack(poses), camera=camera, edges="outline", caption=caption,
            highlight=[None, None, None, *([np.arange(len(meshes[3].faces))] if len(meshes) > 3 else [])], see_through="marked",
            colours=[COLOURS[each] for each in ("body", "points", "voxels", "hits")][: len(meshes)],
        )  # fmt: skip
        files.append(path)
    return files


def _shell(shape: VoxelShape) -> Mesh:
    """Return the points of a shell, in body coordinates."""
    return _many(_OCTAHEDRON, shape.points.astype(np.float64) + shape.middle, POINT * shape.voxel, "point shell")


def _voxels(shape: VoxelShape) -> Mesh:
    """Return the filled surface voxels in body coordinates, shrunk to be visible."""
    return _many(box(), surface_voxel_centres(shape), 0.94 * shape.voxel, "voxels")


def _many(pattern: Mesh, places: Floats, size: float, name: str) -> Mesh:
    """Return one mesh of copies of a small one."""
    vertices = (places[:, None] + size * pattern.vertices[None]).reshape(-1, 3)
    faces = pattern.faces[None] + len(pattern.vertices) * np.arange(len(places))[:, None, None]
    return Mesh(vertices, faces.reshape(-1, 3), name=name)
