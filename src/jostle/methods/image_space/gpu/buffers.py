"""Buffers and textures of one renderer, reused and grown from frame to frame.

Bind groups are kept as long as what they bind, and rebuilt only after something has grown. A buffer larger than the
device can bind is refused with the cure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError
from jostle.methods.image_space.gpu.device import CURE, SharedDevice, holds_of_device
from jostle.methods.image_space.gpu.pipelines import BYTES_OF_ROUND, DEPTH, DEPTH_AND_STENCIL, KINDS

MAP_READ, COPY_SRC, COPY_DST, UNIFORM, STORAGE = 0x1, 0x4, 0x8, 0x40, 0x80  # buffer usages, as wgpu numbers them
TEXTURE_BINDING, RENDER_ATTACHMENT = 0x4, 0x10
USAGES = {"rounds": UNIFORM | COPY_DST, "results": STORAGE | COPY_SRC | COPY_DST, "read_back": MAP_READ | COPY_DST}
SMALLEST = 4096  # bytes
SPARE = 1.5  # times the need, so that slowly growing frames do not grow it each time
MUCH_TOO_LARGE = 2.0  # times the need: then an atlas is made smaller, since clearing it costs its whole size
CHEAP_TEXELS = 1 << 18  # an atlas of no more than this is kept


class Buffers:
    """Named buffers and the atlas textures on one device."""

    def __init__(self, shared: SharedDevice) -> None:
        self.shared = shared
        self.atlas = {"depth": (0, 0), "stencil": (0, 0)}
        self.views: dict[str, Any] = {}
        self._textures: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}
        self._groups: dict[str, Any] = {}
        holds_of_device.add(self)

    def __getitem__(self, name: str) -> Any:
        return self._buffers[name]

    def need(self, name: str, size: int, what: str) -> Any:
        """Return the buffer of a name with room for `size` bytes; `what` is for messages."""
        buffer = self._buffers.get(name)
        if buffer is None or buffer.size < size:
            if size > self.shared.most_bytes:
                most = self.shared.most_bytes / 1e6
                raise InputError(f"{what} need {size / 1e6:.0f} MB, and {self.shared.name} can bind {most:.0f} MB at most: {CURE}")
            room = min(max(SMALLEST, int(SPARE * size)), self.shared.most_bytes)
            usage = USAGES.get(name, STORAGE | COPY_DST)
            if buffer is not None:
                buffer.destroy()
            self._buffers[name] = buffer = self.shared.device.create_buffer(size=-(-room // 256) * 256, usage=usage)
            self._groups.clear()
        return buffer

    def write(self, name: str, data: NDArray[Any], what: str, offset: int = 0) -> None:
        """Write an array to the buffer of a name."""
        buffer = self.need(name, offset + data.nbytes, what)
        if data.nbytes:
            self.shared.device.queue.write_buffer(buffer, offset, data)

    def need_atlas(self, kind: str, width: int, height: int) -> None:
        """Make textures of at least this size, for "depth" (near and far) or "stencil"."""
        wide, high = self.atlas[kind]
        if wide >= width and high >= height and wide * high <= max(MUCH_TOO_LARGE * width * height, CHEAP_TEXELS):
            return
        for name in ("near", "far") if kind == "depth" else ("counted",):
            if name in self._textures:
                self._textures.pop(name).destroy()
            texture = self.shared.device.create_texture(
                size=(width, height, 1),
                format=DEPTH if kind == "depth" else DEPTH_AND_STENCIL,
                usage=TEXTURE_BINDING | RENDER_ATTACHMENT,
            )
            self._textures[name] = texture
            self.views[name] = texture.create_view()
            if kind == "stencil":
                self.views["counted depth"] = texture.create_view(format=DEPTH, aspect="depth-only")
                self.views["counted stencil"] = texture.create_view(format="stencil8", aspect="stencil-only")
        self.atlas[kind] = (width, height)
        self._groups.clear()

    def group(self, name: str) -> Any:
        """Return a bind group: "draw", "keep", "decide", or the source of a decision."""
        if name not in self._groups:
            pipelines = self.shared.pipelines
            layout = pipelines.source_layouts[name] if name in KINDS else getattr(pipelines, f"{name}_layout")
            entries = [{"binding": k, "resource": self._resource(part)} for k, part in enumerate(BOUND[name])]
            self._groups[name] = self.shared.device.create_bind_group(layout=layout, entries=entries)
        return self._groups[name]

    def _resource(self, name: str) -> Any:
        if name in self.views:
            return self.views[name]
        size = BYTES_OF_ROUND if name == "rounds" else self._buffers[name].size
        return {"buffer": self._buffers[name], "offset": 0, "size": size}

    def read(self, size: int) -> NDArray[np.uint32]:
        """Wait for the device and return the first `size` bytes of the buffer "read_back"."""
        buffer = self._buffers["read_back"]
        buffer.map_sync("READ", 0, size)
        try:
            return np.frombuffer(buffer.read_mapped(0, size), np.uint32).copy()
        finally:
            buffer.unmap()


BOUND = {
    "draw": ("points", "corners", "patches", "instances", "pieces", "rounds"),
    "keep": ("near", "far", "counts", "slots"),
    "decide": ("pieces", "results", "rounds"),
    "interval": ("near", "far"),
    "stencil": ("counted depth", "counted stencil"),
    "layers": ("counts", "slots"),
}
