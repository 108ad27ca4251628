"""Colours for the rasteriser's buffers: flat faces, thin lines, blended layers.

Each face has one colour: its body's, or the colour for touching or near faces, under a light beside the camera and a
hemisphere that is brighter above. Lines come from the buffers alone: an outline runs where two neighbouring samples show
different bodies or a jump in depth, a crease where their normals differ by more than 35°, an edge of the mesh where just
the faces differ, faded out where faces become as small as pixels. All layers are blended per sample and the samples of a
pixel are averaged, from front to back so that only one layer is in memory at a time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Singles
from jostle.kernels.jit import kernel
from jostle.render.camera import Camera
from jostle.render.rasterise import Buffers
from jostle.shapes.mesh import unit_normals

Colour = tuple[int, int, int]

PALETTE: tuple[Colour, ...] = (
    (143, 170, 200), (222, 207, 173), (164, 190, 158), (186, 172, 206), (142, 192, 190),
    (196, 196, 190), (201, 180, 160), (165, 178, 214),
)  # fmt: skip
TOUCHING: Colour = (214, 38, 54)
NEAR: Colour = (240, 168, 48)
SKY: Colour = (252, 252, 253)
FLOOR: Colour = (228, 232, 238)
LINE: Colour = (30, 36, 46)
SHADE_TINT = np.array([-0.04, 0.0, 0.14])

PLAIN_FACE, NEAR_FACE, TOUCHING_FACE = 0, 1, 2  # values of `DrawnScene.mark`
OUTLINE_STRENGTH, CREASE_STRENGTH, EDGE_STRENGTH = 0.85, 0.7, 0.42
CREASE_COSINE = math.cos(math.radians(35.0))
LIGHT = np.array([-0.42, -0.58, -0.70])  # in view axes (right, down, forward): from the upper left behind the camera


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnScene:
    """All faces of a picture, in world coordinates.

    points (n, 3) float64 · faces (m, 3) int32, equal points having one number · body (m,) int32, the body of each face ·
    mark (m,) uint8, PLAIN_FACE, NEAR_FACE or TOUCHING_FACE · colours (bodies, 3) uint8.
    """

    points: Floats
    faces: Ints
    body: Ints
    mark: NDArray[np.uint8]
    colours: NDArray[np.uint8]


class Layer(NamedTuple):
    """One layer of a picture.

    face (h, w) int32 or -1 · line (h, w) float32 in 0…1 · opacity (m + 1,) float32 per face.
    """

    face: Ints
    line: Singles
    opacity: Singles


def facing_normals(scene: DrawnScene, camera: Camera) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (m, 3) unit view normals facing the camera, and which were turned."""
    view = camera.view(scene.points)
    a, b, c = (view[scene.faces[:, k]] for k in range(3))
    normal = unit_normals(a, b, c)
    ray = (a + b + c) / 3.0 if camera.perspective else np.broadcast_to([0.0, 0.0, 1.0], a.shape)
    # The axes (right, down, forward) are right-handed: counter-clockwise faces stay counter-clockwise.
    back = np.einsum("ij,ij->i", normal, ray) > 0.0
    return np.where(back[:, None], -normal, normal), back


def face_colours(scene: DrawnScene, camera: Camera, normals: Floats, back: NDArray[np.bool_], up: Floats) -> Singles:
    """Return (m + 1, 3) colours in 0…255; the last row belongs to face -1, nothing."""
    base = scene.colours[scene.body].astype(np.float64)
    base[scene.mark == NEAR_FACE] = NEAR
    base[scene.mark == TOUCHING_FACE] = TOUCHING
    key = np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
    hemisphere = 0.5 + 0.5 * (normals @ (camera.axes @ up))
    head = np.clip(-normals[:, 2], 0.0, 1.0)
    light = 0.53 + 0.20 * hemisphere + 0.26 * key + 0.09 * head
    # Marked faces keep their colour: they must be recognised in the shade too.
    plain = scene.mark == PLAIN_FACE
    light = np.where(plain, np.where(back, 0.85 * light, light), 0.5 + 0.5 * light)
    # Shade turns a little blue instead of grey, which sets marked faces off better.
    shadow = np.clip(1.0 - light, 0.0, 1.0)[:, None] * np.where(plain, 1.0, 0.0)[:, None]
    colours = np.zeros((len(base) + 1, 3), dtype=np.float32)
    colours[:-1] = np.clip(base * light[:, None] * (1.0 + shadow * SHADE_TINT), 0.0, 255.0)
    return colours


def lines(buffers: Buffers, scene: DrawnScene, camera: Camera, normals: Floats, edges: str, samples: int) -> Singles:
    """Return (h, w) float32 strengths of lines; `edges` as for `draw`."""
    strength = np.zeros(buffers.face.shape, dtype=np.float32)
    if edges == "none" or len(scene.faces) == 0:
        return strength
    visibility = _edge_visibility(scene, camera, samples) if edges == "mesh" else np.zeros(len(scene.faces))
    flat = strength.ravel()
    width = buffers.face.shape[1]
    for step, first in ((1, buffers.face[:, :-1] != buffers.face[:, 1:]), (width, buffers.face[:-1] != buffers.face[1:])):
        row, column = np.nonzero(first)
        here = row * width + column
        there = here + step
        value = _line_between(here, there, buffers, scene, camera, normals, visibility)
        # Within one direction each sample is the "here" of at most one pair, so plain indexing loses nothing.
        flat[here] = np.maximum(flat[here], value)
        if samples > 1:
            thick = value >= CREASE_STRENGTH
            flat[there[thick]] = np.maximum(flat[there[thick]], value[thick])
    return _thickened_outlines(strength, samples)


def _line_between(
    here: NDArray[np.int64], there: NDArray[np.int64], buffers: Buffers, scene: DrawnScene, camera: Camera, normals: Floats,
    visibility: Floats,
) -> Singles:  # fmt: skip
    """Return the strength of lines between neighbouring samples of different faces."""
    depth, face = buffers.depth.ravel(), buffers.face.ravel()
    face_here, face_there = face[here], face[there]
    both = (face_here >= 0) & (face_there >= 0)
    outline = ~both | (scene.body[face_here] != scene.body[face_there])
    far_here = camera.distance(np.where(both, depth[here], -1.0))
    far_there = camera.distance(np.where(both, depth[there], -1.0))
    # On one surface depth changes from sample to sample by no more than its slope; an outline is a jump beyond that. Faces
    # that share a corner are excluded: next to the outline of a round body the slope is too steep.
    sample_size = np.minimum(np.abs(far_here), np.abs(far_there)) / camera.scale if camera.perspective else 1.0 / camera.scale
    upright = np.maximum(np.maximum(-normals[face_here, 2], -normals[face_there, 2]), 0.05)
    jump = np.abs(far_here - far_there) > 6.0 * sample_size / upright
    apart = (scene.faces[face_here][:, :, None] != scene.faces[face_there][:, None, :]).all(axis=(1, 2))
    outline |= jump & apart
    crease = np.einsum("ij,ij->i", normals[face_here], normals[face_there]) < CREASE_COSINE
    edge = EDGE_STRENGTH * np.minimum(visibility[face_here], visibility[face_there])
    edge *= np.where(np.minimum(scene.mark[face_here], scene.mark[face_there]) != PLAIN_FACE, 1.5, 1.0)  # red hides thin lines
    return np.where(outline, OUTLINE_STRENGTH, np.where(crease, CREASE_STRENGTH, edge)).astype(np.float32)


def _edge_visibility(scene: DrawnScene, camera: Camera, samples: int) -> Floats:
    """Return for each face 0 if it is as small as a pixel, up to 1 if it is large."""
    view = camera.view(scene.points)
    over = np.maximum(view[:, 2:], camera.near) if camera.perspective else 1.0
    place = view[:, :2] * (camera.scale / samples) / over
    first = place[scene.faces[:, 0]]
    u, v = place[scene.faces[:, 1]] - first, place[scene.faces[:, 2]] - first
    across = np.sqrt(np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]))
    return np.clip((across - 2.0) / 8.0, 0.0, 1.0)


def _thickened_outlines(strength: Singles, samples: int) -> Singles:
    """Widen outlines by a sample on each side if samples are finer than half a pixel."""
    if samples < 3:
        return strength
    wide = np.where(strength >= OUTLINE_STRENGTH, strength, np.float32(0.0))
    result = strength.copy()
    for target, source in (
        (result[1:], wide[:-1]), (result[:-1], wide[1:]), (result[:, 1:], wide[:, :-1]), (result[:, :-1], wide[:, 1:])
    ):  # fmt: skip
        np.maximum(target, source, out=target)
    return result


def background(height: int, width: int) -> Singles:
    """Return (height, width, 3) float32: a light gradient, darker at the bottom."""
    part = np.linspace(0.0, 1.0, height)[:, None] ** 1.5
    column = np.asarray(SKY) * (1.0 - part) + np.asarray(FLOOR) * part
    return np.broadcast_to(column[:, None, :], (height, width, 3)).astype(np.float32)


@kernel
def lay_under(
    face: Ints, line: Singles, opacity: Singles, colours: Singles, line_colour: Singles, clear: Singles, total: Singles
) -> None:
    """Add a layer under the earlier ones.

    clear (h·s, w·s) is the light that still passes each sample, total (h, w, 3) the sum.
    """
    samples = face.shape[0] // total.shape[0]
    strongest = np.float32(0.0)
    for i in range(opacity.shape[0]):
        strongest = max(strongest, opacity[i])
    for y in range(face.shape[0]):
        for x in range(face.shape[1]):
            number, dark = face[y, x], line[y, x]
            if number < 0 and dark == np.float32(0.0):
                continue
            # An outline lies half on the background: there it covers by its own strength.
            cover = clear[y, x] * max(opacity[number], dark * strongest)
            if number < 0:
                dark = np.float32(1.0)
            clear[y, x] -= cover
            for k in range(3):
                total[y // samples, x // samples, k] += cover * (colours[number, k] + dark * (line_colour[k] - colours[number, k]))


def blend(layers: Iterable[Layer], colours: Singles, behind: Singles, samples: int) -> Singles:
    """Blend layers, the first on top, over `behind` (h, w, 3); average the samples."""
    height, width, _ = behind.shape
    total = np.zeros((height, width, 3), dtype=np.float32)
    clear = np.ones((height * samples, width * samples), dtype=np.float32)
    for layer in layers:
        lay_under(layer.face, layer.line, layer.opacity, colours, np.asarray(LINE, dtype=np.float32), clear, total)
    remains = clear.reshape(height, samples, width, samples).sum(axis=(1, 3))
    total += remains[:, :, None] * behind
    return total / np.float32(samples * samples)
