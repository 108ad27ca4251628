"""The truth of a pixel, in plain NumPy: rays against triangles in float64, and how sure the answer is."""

from typing import NamedTuple

import numpy as np

from jostle.methods.image_space.regions import Views

NEAR_EDGE = 1.0 / 16.0  # pixels: what the hardware may move a vertex by
AROUND = NEAR_EDGE * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [0.7, 0.7], [0.7, -0.7], [-0.7, 0.7], [-0.7, -0.7]])


class Seen(NamedTuple):
    """Pixels of a view, by number: those that collide for sure, those of which nothing can be said, and common depths."""

    surely: np.ndarray  # (k,)
    perhaps: np.ndarray  # (j,)
    depths: dict  # of each pixel that surely collides: its common depth intervals around the centre, each (near, far)


def random_pose(rng, offset):
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    pose = np.eye(4)
    pose[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    pose[:3, 3] = offset
    return pose


def views_along_z(meshes, poses, pairs, sizes):
    """Views of the boxes that pairs of bodies have in common, seen along z; pairs whose boxes do not meet are left out."""
    rows = []
    for (a, b), size in zip(pairs, sizes, strict=True):
        placed = [meshes[k].vertices @ poses[k][:3, :3].T + poses[k][:3, 3] for k in (a, b)]
        lower = np.maximum(placed[0].min(axis=0), placed[1].min(axis=0))
        upper = np.minimum(placed[0].max(axis=0), placed[1].max(axis=0))
        if (lower > upper).any():
            continue
        middle, extent = (lower + upper) / 2, np.maximum(upper - lower, 1e-9)
        scale, shift = np.array([size / extent[0], size / extent[1], 1.0]), np.array([size / 2, size / 2, 0.0])
        maps = [np.c_[scale[:, None] * poses[k][:3, :3], scale * (poses[k][:3, 3] - middle) + shift].ravel() for k in (a, b)]
        rows.append((a, b, maps, np.c_[np.diag(1 / scale), middle - shift / scale].ravel(), size, extent[:2] / size))
    count = len(rows)
    return Views(
        np.arange(count, dtype=np.int32),
        np.array([row[0] for row in rows], np.int32),
        np.array([row[1] for row in rows], np.int32),
        np.array([row[2] for row in rows]).reshape(count, 2, 12),
        np.array([row[3] for row in rows]).reshape(count, 12),
        np.array([row[4] for row in rows], np.int32),
        np.array([row[5] for row in rows]).reshape(count, 2),
        np.tile([0.0, 0.0, 1.0], (count, 1)),
        np.zeros((count, 2)),
    )


def seen(mesh_a, mesh_b, views, row, depth_error):
    """The truth of one view. A pixel is sure when all rays within 1/16 pixel agree, by more than an error of depth."""
    size = int(views.size[row])
    columns = [intervals(mesh, views.to_tile[row, role], size) for role, mesh in enumerate((mesh_a, mesh_b))]
    surely, perhaps, depths = [], [], {}
    for pixel in range(size * size):
        common, gaps = [], []
        for sample in range(len(AROUND)):
            a, b = columns[0].get((pixel, sample), []), columns[1].get((pixel, sample), [])
            shared = [(max(p[0], q[0]), min(p[1], q[1])) for p in a for q in b]
            gaps.append(max((far - near for near, far in shared), default=-np.inf))
            common += [(near, far) for near, far in shared if near <= far]
        if min(gaps) > depth_error:
            surely.append(pixel)
            depths[pixel] = common
        elif max(gaps) >= -depth_error:
            perhaps.append(pixel)
    return Seen(np.array(surely, int), np.array(perhaps, int), depths)


def intervals(mesh, to_tile, size):
    """Depth intervals inside of a closed mesh, by (pixel, sample): where the winding number is not 0."""
    matrix = to_tile.reshape(3, 4)
    corners = (mesh.vertices @ matrix[:, :3].T + matrix[:, 3])[mesh.faces]
    hits = {}
    for x, y, z in corners.transpose(0, 2, 1):
        area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
        left, right = max(0, int(np.floor(x.min() - 1))), min(size, int(np.ceil(x.max() + 1)))
        top, bottom = max(0, int(np.floor(y.min() - 1))), min(size, int(np.ceil(y.max() + 1)))
        if area == 0 or left >= right or top >= bottom:
            continue
        i, j, sample = np.meshgrid(np.arange(left, right), np.arange(top, bottom), np.arange(len(AROUND)), indexing="ij")
        px, py = i + 0.5 + AROUND[sample, 0], j + 0.5 + AROUND[sample, 1]
        u = ((px - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (py - y[0])) / area
        v = ((x[1] - x[0]) * (py - y[0]) - (px - x[0]) * (y[1] - y[0])) / area
        inside = (u >= 0) & (v >= 0) & (u + v <= 1)
        depth = z[0] + u * (z[1] - z[0]) + v * (z[2] - z[0])
        for number, k, d in zip((j * size + i)[inside], sample[inside], depth[inside], strict=True):
            hits.setdefault((int(number), int(k)), []).append((d, 1 if area > 0 else -1))
    return {key: solid for key, layers in hits.items() if (solid := _solid(sorted(layers)))}


def _solid(layers):
    found, winding = [], 0
    for depth, side in layers:
        if winding == 0:
            begin = depth
        winding += side
        if winding == 0:
            found.append((begin, depth))
    return found
