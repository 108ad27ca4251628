"""A software renderer: pictures without a screen, and depth maps for image_space.

`draw` and `save_picture` make pictures, `write_gif` moving ones; `Camera` and `rasterise` give buffers of depth and face numbers
for everything else.
"""

from __future__ import annotations

from jostle.render.camera import Camera
from jostle.render.gif import encode_gif, write_gif
from jostle.render.picture import draw, save_picture
from jostle.render.png import encode_png, write_png
from jostle.render.rasterise import Buffers, rasterise

__all__ = [
    "Buffers",
    "Camera",
    "draw",
    "encode_gif",
    "encode_png",
    "rasterise",
    "save_picture",
    "write_gif",
    "write_png",
]
