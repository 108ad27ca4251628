"""The pipelines of a device: drawing near, far, counts and layers, and deciding.

Made once per device. One draw places all instances of a round, of both roles. Near and far depth are two passes over two
textures. The stencil test is one pass over one texture with two draws: the far depth of each body in its own picture,
then every face in the picture of the *other* body, where it is counted at or before that depth (Fig. 4; the stencil
counts up to 255, and both renderings with exchanged roles are one draw). Layers are kept by a fragment shader. Clip
distances keep patches inside their pieces; wgpu has none for DX12 yet, where fragments are discarded instead.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

DEPTH = "depth32float"
DEPTH_AND_STENCIL = "depth32float-stencil8"
VERTICES_OF_INSTANCE = 3 * 64  # those of a patch
ROUND_STRIDE = 256  # bytes from one round's uniform to the next: the alignment that every device accepts
BYTES_OF_ROUND = 16

VERTEX, FRAGMENT, COMPUTE = 1, 2, 4  # stages, as wgpu numbers them
KINDS = ("interval", "stencil", "layers")


def shader(*names: str) -> str:
    """Return the text of shaders, one after another."""
    folder = files("jostle.methods.image_space.gpu")
    return "\n".join(folder.joinpath(f"{name}.wgsl").read_text(encoding="utf-8") for name in names)


class Pipelines:
    """Layouts and pipelines, by name."""

    def __init__(self, device: Any, clip_distances: bool) -> None:
        self.device = device
        self._clip_distances = clip_distances
        clip = "clip_by_distance" if clip_distances else "clip_by_discard"
        draw = device.create_shader_module(code=shader(clip, "pieces", "draw", "keep_layers"))
        self.draw_layout = self._layout(VERTEX | FRAGMENT, *["read-only-storage"] * 5, "round")
        self.keep_layout = self._layout(FRAGMENT, "depth", "depth", "storage", "storage")
        self.decide_layout = self._layout(COMPUTE, "read-only-storage", "storage", "round")
        self.source_layouts = {
            "interval": self._layout(COMPUTE, "depth", "depth"),
            "stencil": self._layout(COMPUTE, "depth", "uint"),
            "layers": self._layout(COMPUTE, "storage", "storage"),
        }
        plain = device.create_pipeline_layout(bind_group_layouts=[self.draw_layout])
        keeping = device.create_pipeline_layout(bind_group_layouts=[self.draw_layout, self.keep_layout])
        self.near = self._drawing(plain, draw, _depth_state(DEPTH, "less", True))
        self.far = self._drawing(plain, draw, _depth_state(DEPTH, "greater", True))
        # Convex bodies have near depths on their front only and far depths on their back: half the work.
        self.near_of_convex = self._drawing(plain, draw, _depth_state(DEPTH, "less", True), cull="back")
        self.far_of_convex = self._drawing(plain, draw, _depth_state(DEPTH, "greater", True), cull="front")
        self.far_with_stencil = self._drawing(plain, draw, _depth_state(DEPTH_AND_STENCIL, "greater", True), cull="front")
        self.count = self._drawing(
            plain, draw, _depth_state(DEPTH_AND_STENCIL, "less-equal", False, count=True), other_picture=True
        )
        self.keep = self._drawing(keeping, draw, _depth_state(DEPTH, "always", False), fragment="keep_layer")
        self.count_pixels: dict[str, Any] = {}
        self.look_at_first: dict[str, Any] = {}
        for kind in KINDS:
            layout = device.create_pipeline_layout(bind_group_layouts=[self.decide_layout, self.source_layouts[kind]])
            module = device.create_shader_module(code=shader("pieces", "decide", kind))
            for entry in ("count_pixels", "look_at_first"):
                compute = {"module": module, "entry_point": entry}
                getattr(self, entry)[kind] = device.create_compute_pipeline(layout=layout, compute=compute)

    def _layout(self, visibility: int, *kinds: str) -> Any:
        return self.device.create_bind_group_layout(
            entries=[{"binding": k, "visibility": visibility, **_binding(kind)} for k, kind in enumerate(kinds)]
        )

    def _drawing(
        self, layout: Any, module: Any, depth: dict[str, Any], other_picture: bool = False, fragment: str = "", cull: str = "none"
    ) -> Any:
        if not (fragment or self._clip_distances):
            fragment = "inside_only"
        more = {"fragment": {"module": module, "entry_point": fragment, "targets": []}} if fragment else {}
        return self.device.create_render_pipeline(
            layout=layout,
            vertex={"module": module, "entry_point": "in_the_other_picture" if other_picture else "in_own_picture"},
            primitive={"topology": "triangle-list", "front_face": "ccw", "cull_mode": cull},
            depth_stencil=depth,
            **more,
        )


def _binding(kind: str) -> dict[str, Any]:
    if kind in ("depth", "uint"):
        return {"texture": {"sample_type": kind, "view_dimension": "2d"}}
    if kind == "round":
        return {"buffer": {"type": "uniform", "has_dynamic_offset": True, "min_binding_size": BYTES_OF_ROUND}}
    return {"buffer": {"type": kind}}


def _depth_state(format_: str, compare: str, write: bool, count: bool = False) -> dict[str, Any]:
    face = {
        "compare": "always",
        "fail_op": "keep",
        "depth_fail_op": "keep",
        "pass_op": "increment-clamp" if count else "keep",
    }
    return {
        "format": format_,
        "depth_write_enabled": write,
        "depth_compare": compare,
        "stencil_front": face,
        "stencil_back": face,
        "stencil_read_mask": 255,
        "stencil_write_mask": 255 if count else 0,
    }
