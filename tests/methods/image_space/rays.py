"""The truth that pictures are compared with: rays through pixel centres against all faces, in plain NumPy."""

import numpy as np


def tile_points(matrix, vertices):
    """Vertices (n,3) in tile coordinates."""
    matrix = np.asarray(matrix).reshape(3, 4)
    return vertices @ matrix[:, :3].T + matrix[:, 3]


def crossings(points, faces, x, y):
    """[(depth, sign)] sorted, of the faces that the ray through (x, y) crosses; sign +1 where it enters, seen along z."""
    a, b, c = (points[faces[:, k], :2] - (x, y) for k in range(3))
    sides = [u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] for u, v in ((b, c), (c, a), (a, b))]
    area = sides[0] + sides[1] + sides[2]
    hit = (area != 0) & ((np.stack(sides) > 0).all(axis=0) | (np.stack(sides) < 0).all(axis=0))
    z = points[faces[hit], 2]
    depth = sum(side[hit] * z[:, k] for k, side in enumerate(sides)) / area[hit]
    # The outward normal of a face that is entered points towards the eye: clockwise in x and y.
    return sorted(zip(depth.tolist(), np.where(area[hit] < 0, 1, -1).tolist(), strict=True))


def inside(found):
    """[(begin, end)] where the winding number of a ray is not 0."""
    winding, spans = 0, []
    for depth, sign in found:
        if winding == 0:
            begin = depth
        winding += sign
        if winding == 0:
            spans.append((begin, depth))
    assert winding == 0, "a ray through an edge: choose other poses"
    return spans


def common(spans_a, spans_b):
    """[(low, high)] that both have."""
    pairs = [(max(a[0], b[0]), min(a[1], b[1])) for a in spans_a for b in spans_b]
    return [(low, high) for low, high in pairs if low <= high]


def common_at_pixels(views, view, mesh_a, mesh_b):
    """{pixel: [(low, high)]} of one view, by brute force."""
    size = int(views.size[view])
    points_a, points_b = tile_points(views.to_tile[view, 0], mesh_a.vertices), tile_points(views.to_tile[view, 1], mesh_b.vertices)
    found = {}
    for j in range(size):
        for i in range(size):
            spans = [inside(crossings(p, m.faces, i + 0.5, j + 0.5)) for p, m in ((points_a, mesh_a), (points_b, mesh_b))]
            meets = common(*spans)
            if meets:
                found[j * size + i] = meets
    return found
