"""Pixel by pixel: the pictures on the device are those of software, but for centres within 1/16 pixel of an edge or close depths.

The pictures are read back from the textures and lists of layers of the last frame, which only these tests do.
"""

import numpy as np
import pytest

from jostle.kernels.jit import kernel
from jostle.methods.image_space.gpu import buffers as holding
from jostle.methods.image_space.gpu.placing import LAYERS, ORIGIN
from jostle.methods.image_space.shape_table import ShapesOfBodies, open_shapes
from jostle.methods.image_space.software import SoftwareRenderer, pair_in_view, view_rows
from jostle.methods.image_space.stencil import stencil_depths
from jostle.methods.image_space.workspace import ALL, INTERVAL, Workspace, open_work
from tests.methods.image_space.gpu.pixel_truth import NEAR_EDGE, views_along_z
from tests.methods.image_space.gpu.test_decisions import DEPTH_ERROR, concave_meshes, convex_meshes, crowd, shapes_of

COPY_SRC_OF_TEXTURES = 0x1
COPY_STENCIL = """
@group(0) @binding(0) var stencil: texture_2d<u32>;
@group(0) @binding(1) var<storage, read_write> copied: array<u32>;

@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) at: vec3u) {
    copied[at.y * textureDimensions(stencil).x + at.x] = textureLoad(stencil, at.xy, 0).x;
}
"""


class Pictures:
    """Decides views in one round, and gives back what was drawn."""

    def __init__(self, renderer, monkeypatch):
        self.renderer = renderer
        usage = holding.STORAGE | holding.COPY_DST | holding.COPY_SRC
        monkeypatch.setattr(holding, "RENDER_ATTACHMENT", holding.RENDER_ATTACHMENT | COPY_SRC_OF_TEXTURES)
        monkeypatch.setitem(holding.USAGES, "counts", usage)
        monkeypatch.setitem(holding.USAGES, "slots", usage)
        upload = renderer._upload

        def remember(buffers, placed, packings, rounds, count):
            assert len(rounds) == 1, "further rounds would draw over the pictures"
            self.kind, self.placed = rounds[0].kind, placed[rounds[0].kind]
            upload(buffers, placed, packings, rounds, count)

        monkeypatch.setattr(renderer, "_upload", remember)

    def decide(self, views, test):
        found = self.renderer.decide(views, test, 1)
        maps = [np.zeros((size, size), bool) for size in views.size]
        counts = [np.zeros((2, size, size), int) for size in views.size]
        read = {"interval": self._intervals, "stencil": self._counts, "layers": self._layers}[self.kind]()
        for k, view in enumerate(self.placed.pieces.view):
            maps[view], counts[view] = read(self.placed.words[k].astype(int), int(views.size[view]))
        return found, maps, counts

    def _depths(self, name):
        width, height = self.renderer._buffers.atlas["depth"]  # the width is a multiple of 64, as a copy needs
        texture, layout = (
            {"texture": self.renderer._buffers._textures[name]},
            {"bytes_per_row": 4 * width, "rows_per_image": height},
        )
        data = self.renderer._shared.device.queue.read_texture(texture, layout, (width, height, 1))
        return np.frombuffer(data, np.float32).reshape(height, width)

    def _stencil(self):
        """The stencil by a shader: wgpu copies only textures of one aspect."""
        device, (width, height) = self.renderer._shared.device, self.renderer._buffers.atlas["stencil"]
        module = device.create_shader_module(code=COPY_STENCIL)
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "copy"})
        copied = device.create_buffer(size=4 * width * height, usage=holding.STORAGE | holding.COPY_SRC)
        entries = [
            {"binding": 0, "resource": self.renderer._buffers.views["counted stencil"]},
            {"binding": 1, "resource": {"buffer": copied, "offset": 0, "size": copied.size}},
        ]
        encoder = device.create_command_encoder()
        encoding = encoder.begin_compute_pass()
        encoding.set_pipeline(pipeline)
        encoding.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
        encoding.dispatch_workgroups(width // 64, height)
        encoding.end()
        device.queue.submit([encoder.finish()])
        return np.frombuffer(device.queue.read_buffer(copied), np.uint32).reshape(height, width)

    def _intervals(self):
        near, far = (self._depths(name) for name in ("near", "far"))

        def read(words, size):
            a, b = _both(words, size)
            return np.maximum(near[a], near[b]) <= np.minimum(far[a], far[b]), np.zeros((2, size, size), int)

        return read

    def _counts(self):
        counted = self._stencil()

        def read(words, size):
            of_b, of_a = (counted[place].astype(int) for place in _both(words, size))
            return (of_b > 0) & (of_a > 0), np.stack([of_b, of_a])

        return read

    def _layers(self):
        queue, buffers = self.renderer._shared.device.queue, self.renderer._buffers
        counts, slots = (np.frombuffer(queue.read_buffer(buffers[name]), np.uint32) for name in ("counts", "slots"))

        def read(words, size):
            _, room, first_count, first_slot = words[LAYERS : LAYERS + 4]
            number = counts[first_count : first_count + 2 * size * size].reshape(2, size * size).astype(int)
            assert number.max() <= room, "otherwise they were drawn again"
            layers = slots[first_slot : first_slot + 2 * size * size * room].reshape(2, size * size, room)
            hit = [_meet(*(layers[role, k, : number[role, k]] for role in range(2))) for k in range(size * size)]
            return np.array(hit).reshape(size, size), number.reshape(2, size, size)

        return read


def _both(words, size):
    corners = words[ORIGIN : ORIGIN + 4].reshape(2, 2)
    return [(slice(y, y + size), slice(x, x + size)) for x, y in corners]


def _meet(*bodies):
    """Whether two lists of layers, depth bits and side, have a depth in common."""
    solids = []
    for layers in bodies:
        winding, solid = 0, []
        for layer in np.sort(layers).tolist():
            if winding == 0:
                solid.append([layer >> 1, 0])
            winding += -1 if layer & 1 else 1
            solid[-1][1] = layer >> 1
        solids.append(solid)
    return any(max(a[0], b[0]) <= min(a[1], b[1]) for a in solids[0] for b in solids[1])


def may_differ(meshes, to_tile, pixel, size):
    """Whether the centre of a pixel is within 1/16 pixel of an edge, or two depths there are within their error."""
    centre = np.array([pixel % size + 0.5, pixel // size + 0.5])
    depths = []
    for mesh, matrix in zip(meshes, to_tile.reshape(2, 3, 4), strict=True):
        corners = (mesh.vertices @ matrix[:, :3].T + matrix[:, 3])[mesh.faces]
        start, along = corners[:, :, :2], np.roll(corners, -1, axis=1)[:, :, :2] - corners[:, :, :2]
        share = np.clip(np.einsum("fek,fek->fe", centre - start, along) / np.maximum((along**2).sum(axis=2), 1e-30), 0, 1)
        if (np.linalg.norm(start + share[:, :, None] * along - centre, axis=2) <= NEAR_EDGE).any():
            return True
        u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        normal = np.cross(u, v)
        seen = np.abs(normal[:, 2]) > 1e-12
        slope = -normal[seen, :2] / normal[seen, 2:]
        side = along[seen, :, 0] * (centre - start[seen])[:, :, 1] - along[seen, :, 1] * (centre - start[seen])[:, :, 0]
        inside = (side >= 0).all(axis=1) | (side <= 0).all(axis=1)
        z = corners[seen, 0, 2] + (slope * (centre - corners[seen, 0, :2])).sum(axis=1)
        depths.append((z[inside], NEAR_EDGE * np.abs(slope[inside]).sum(axis=1) + DEPTH_ERROR))
    (z_a, error_a), (z_b, error_b) = depths
    return bool((np.abs(z_a[:, None] - z_b) <= error_a[:, None] + error_b).any())


@kernel
def count_faces(views, shapes, work, view):
    return stencil_depths(open_work(work), pair_in_view(views, open_shapes(shapes), view, 1), False)


def software_maps(shapes, views):
    table = ShapesOfBodies(shapes)
    alone = views._replace(pair=np.arange(len(views.pair), dtype=np.int32))
    pixels = SoftwareRenderer(table).colliding_pixels(alone, INTERVAL, ALL, 1)
    for row, size in enumerate(views.size.tolist()):
        hit = np.zeros(size * size, bool)
        hit[pixels.pixel[pixels.view == row]] = True
        work = Workspace(size)
        counts = work.array("counts").reshape(2, size, size)
        counts[:] = 0
        count_faces(view_rows(views), table.addresses, work.addresses, row)
        yield hit.reshape(size, size), counts


@pytest.mark.parametrize(
    ("meshes", "test"),
    [(convex_meshes, "interval"), (convex_meshes, "stencil"), (concave_meshes, "interval")],
    ids=["interval", "stencil", "layers"],
)
def test_every_pixel_is_decided_as_software_decides_it(renderer, monkeypatch, meshes, test):
    bodies, poses, pairs = crowd(meshes(), 9, seed=21, spread=0.6)
    views = views_along_z(bodies, poses, pairs, [(37, 64, 1, 16)[k % 4] for k in range(len(pairs))])
    shapes = shapes_of(bodies)
    renderer.change(shapes)
    renderer._slots = 64
    found, maps, counts = Pictures(renderer, monkeypatch).decide(views, test)
    assert renderer.submissions == 1
    hits = differing = 0
    for row, (true_map, true_counts) in enumerate(software_maps(shapes, views)):
        assert maps[row].sum() == found.pixels[row], "the shader that decides saw the pictures that were read back"
        assert found.first[row] == (np.argmax(maps[row]) if maps[row].any() else -1)
        other = maps[row] != true_map
        if test == "stencil":
            # The device draws both renderings always; software the second one only where the first asks for it.
            other |= (counts[row][0] != true_counts[0]) | ((counts[row][1] != true_counts[1]) & true_counts[0].any())
        for pixel in np.flatnonzero(other):
            pair = [bodies[views.body_a[row]], bodies[views.body_b[row]]]
            assert may_differ(pair, views.to_tile[row], pixel, int(views.size[row])), f"view {row}, pixel {pixel}"
        hits, differing = hits + int(true_map.sum()), differing + int(other.sum())
    assert hits > 5000
    assert differing < 0.001 * hits
