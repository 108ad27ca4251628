"""The renderer on graphics hardware: Vulkan, Metal or DX12 through `wgpu`.

`start` returns a renderer on the device that this process shares; nothing of wgpu (extra `gpu`) is imported before. The
stages of a frame: `meshes` (patches on the device), `pieces` (views cut to what the device can hold, packed in an atlas),
`placing` (which patches are drawn where, in float32 with little loss), `pipelines` and the shaders beside it (drawing and
deciding), `renderer` (one submission and one small read-back of `buffers`). `device` and `check` find a device that can
be trusted.
"""

from __future__ import annotations

from jostle.methods.image_space.gpu.device import shared_device
from jostle.methods.image_space.gpu.renderer import WgpuRenderer

__all__ = ["WgpuRenderer", "start"]


def start(only_real: bool = False) -> WgpuRenderer:
    """Return a renderer on the graphics device of this process.

    Parameters
    ----------
    only_real : bool
        Refuse a device that is emulated on the CPU (such as Mesa's llvmpipe).

    Raises
    ------
    InputError
        wgpu is not installed, or no device was found, or none meets the requirements and passed its start-up check; the message
        says which and what to do.
    """
    return WgpuRenderer(shared_device(only_real))
