"""Pictures of bodies without a screen.

`draw` returns pixels, `save_picture` writes a PNG file. The stages are one file each: a camera frames the world
(camera.py), triangles become buffers of depth and face numbers (rasterise.py), buffers become colours and lines
(shade.py), text is written over them (caption.py), and png.py writes the file. Nothing here reads a clock or a random
number: equal inputs give byte-equal pictures. Size does not matter: a scene and the same scene scaled by a power of two
give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.rigid import transform_points
from jostle.interface.overlay import Overlay
from jostle.render import shade
from jostle.render.camera import Camera, as_direction
from jostle.render.caption import GLYPH_HEIGHT, write_text
from jostle.render.ground import shadow_on_ground
from jostle.render.png import write_png
from jostle.render.rasterise import Buffers, rasterise
from jostle.render.sketch import Sketch, sketch_of
from jostle.shapes.mesh import Mesh

EDGES = ("mesh", "outline", "none")
SEE_THROUGH = ("nothing", "marked", "bodies")
LAYERS = 8  # of translucent surfaces; anything behind this many is hardly visible
SKETCH_LAYERS = 6  # likewise of an overlay
BODY_OPACITY = 0.32
MARKED_OPACITY = 0.85
GHOST_OPACITY = 0.45


def draw(
    meshes: Sequence[Mesh],
    poses: ArrayLike | None = None,
    highlight: Sequence[ArrayLike | None] | None = None,
    near: Sequence[ArrayLike | None] | None = None,
    camera: Camera | None = None,
    width: int = 960,
    height: int = 720,
    *,
    edges: str = "mesh",
    see_through: str = "nothing",
    colours: ArrayLike | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    title: str = "",
    caption: str = "",
    samples: int = 3,
    overlay: Overlay | None = None,
    fill: float | None = None,
    marks: Callable[[Camera], Sketch] | None = None,
    ground: bool = False,
) -> NDArray[np.uint8]:
    """Draw bodies, touching faces in red.

    Parameters
    ----------
    meshes : sequence of Mesh
        One per body; may be empty.
    poses : (n, 4, 4), optional
        Body to world; by default the identity.
    highlight : sequence of arrays of face numbers, one per body, optional
        Faces to draw in red, such as those that touch. None in place of an array means no faces.
    near : sequence of arrays of face numbers, one per body, optional
        Faces to draw in amber, such as those within a clearance; red wins where both are asked for.
    camera : Camera, optional
        By default a three-quarter view that frames all bodies in width x height pixels. A camera brings its own size.
    edges : "mesh", "outline" or "none"
        Draw the edges of all faces, only outlines and creases, or no lines.
    see_through : "nothing", "marked" or "bodies"
        Solid bodies; or marked faces that show faintly through what hides them; or translucent bodies.
    colours : (n, 3) numbers in 0…255, optional
        Body colours, instead of those of the palette in turn.
    up : (3,)
        The up direction of the world, for the camera and for the light.
    title, caption : str
        Lines of text at the top and at the bottom.
    samples : int
        Samples per pixel, each way: 1 is rough and fast, 3 is smooth.
    overlay : Overlay, optional
        A method's overlay, drawn over the bodies, without its images (`panels.py` sets them beside).
    fill : float, optional
        Opacity of the boxes, spheres and discs of the overlay, 0 … 1; by default boxes are not filled, the others a little.
    marks : callable, optional
        Returns more to draw over the bodies for the camera it is given, such as contact points (`sketch.dots`).
    ground : bool
        Whether bodies cast a soft shadow on a ground beneath them.

    Returns
    -------
    (height, width, 3) uint8
    """
    cast.as_choice(edges, EDGES, "edges")
    cast.as_choice(see_through, SEE_THROUGH, "see_through")
    cast.as_count(samples, "samples", 1, 8)
    scene = _scene(meshes, poses, highlight, near, colours)
    if camera is None:
        camera = _camera(scene, up, width, height)
    fine = camera.supersampled(samples)
    normals, back = shade.facing_normals(scene, fine)
    table = shade.face_colours(scene, fine, normals, back, as_direction(up, "up", "picture"))
    sketch = Sketch.joined([sketch_of(overlay, camera, fill)] if overlay is not None else [])
    if marks is not None:
        sketch = Sketch.joined([marks(camera), sketch])
    table = np.concatenate([table[:-1], sketch.colours, sketch.colours, table[-1:]])
    layers = _layers(scene, fine, normals, edges, see_through, samples, sketch)
    behind = shade.background(camera.height, camera.width)
    if ground and len(scene.faces):
        behind *= shadow_on_ground(scene, camera, as_direction(up, "up", "picture"))[:, :, None]
    blended = shade.blend(layers, table, behind, samples)
    pixels = np.clip(np.rint(blended), 0, 255).astype(np.uint8)
    _write_lines_of_text(pixels, title, caption)
    return pixels


def save_picture(path: str | os.PathLike[str], meshes: Sequence[Mesh], poses: ArrayLike | None = None, **settings: Any) -> None:
    """Draw bodies and write the picture to a PNG file; settings as for `draw`."""
    write_png(path, draw(meshes, poses, **settings))


def _scene(
    meshes: Sequence[Mesh],
    poses: ArrayLike | None,
    highlight: Sequence[ArrayLike | None] | None,
    near: Sequence[ArrayLike | None] | None,
    colours: ArrayLike | None,
) -> shade.DrawnScene:
    owners = [f"mesh {mesh.name!r}" for mesh in meshes]
    placed = [mesh.vertices for mesh in meshes]
    if poses is not None:
        checked = cast.as_poses(poses, len(meshes), owners.__getitem__)
        placed = [transform_points(pose, mesh.vertices) for pose, mesh in zip(checked, meshes, strict=True)]
    offset = np.cumsum([0, *(len(points) for points in placed)])
    counts = [len(mesh.faces) for mesh in meshes]
    none = np.zeros((0, 3))
    faces = [mesh.welded_faces + np.int32(start) for mesh, start in zip(meshes, offset[:-1], strict=True)]
    mark = np.zeros(sum(counts), dtype=np.uint8)
    # Red is set last, so that it wins.
    for field, chosen, value in (("near", near, shade.NEAR_FACE), ("highlight", highlight, shade.TOUCHING_FACE)):
        mark[_flat_faces(chosen, counts, owners, field)] = value
    return shade.DrawnScene(
        points=np.concatenate([none, *placed]),
        faces=np.concatenate([none.astype(np.int32), *faces]),
        body=np.repeat(np.arange(len(meshes), dtype=np.int32), counts),
        mark=mark,
        colours=_body_colours(colours, len(meshes)),
    )


def _flat_faces(
    chosen: Sequence[ArrayLike | None] | None, counts: Sequence[int], owners: Sequence[str], field: str
) -> NDArray[np.int64]:
    """Return the indices of the chosen faces among the faces of all bodies."""
    if chosen is None:
        return np.zeros(0, dtype=np.int64)
    if len(chosen) != len(counts):
        raise InputError(
            f"{field} has {len(chosen)} entries for {len(counts)} bodies; pass one array of face numbers for each, or None"
        )
    flat, start = [np.zeros(0, dtype=np.int64)], 0
    for numbers, count, owner in zip(chosen, counts, owners, strict=True):
        array = np.zeros(0, dtype=np.int64) if numbers is None else np.asarray(numbers).ravel()
        if array.size and array.dtype.kind not in "iu":
            raise InputError(f"{owner}: {field} has dtype {array.dtype}; pass face numbers (integers)")
        wrong = array[(array < 0) | (array >= count)]
        if wrong.size:
            raise InputError(f"{owner}: {field} holds face {wrong[0]}; faces run from 0 to {count - 1}")
        flat.append(array.astype(np.int64) + start)
        start += count
    return np.concatenate(flat)


def _body_colours(colours: ArrayLike | None, count: int) -> NDArray[np.uint8]:
    if colours is None:
        return np.array([shade.PALETTE[i % len(shade.PALETTE)] for i in range(count)], dtype=np.uint8).reshape(-1, 3)
    array = np.asarray(colours)
    if array.shape != (count, 3) or array.dtype.kind not in "iuf" or not bool(((array >= 0) & (array <= 255)).all()):
        raise InputError(f"colours has shape {array.shape} and dtype {array.dtype}; it must be ({count}, 3), numbers in 0…255")
    return array.astype(np.uint8)


def _camera(scene: shade.DrawnScene, up: ArrayLike, width: int, height: int) -> Camera:
    used = scene.points[np.unique(scene.faces)] if len(scene.faces) else np.zeros((1, 3))
    return Camera.framing(used, up=up, width=width, height=height)


def _layers(
    scene: shade.DrawnScene,
    camera: Camera,
    normals: NDArray[np.float64],
    edges: str,
    see_through: str,
    samples: int,
    sketch: Sketch,
) -> Iterator[shade.Layer]:
    """Yield the layers of the picture, from front to back."""
    marked = scene.mark != shade.PLAIN_FACE
    extra = len(sketch.faces)
    # One for each row of the table of colours: the faces, the sketch before bodies, the sketch behind them, and nothing (-1).
    opacity = np.ones(len(scene.faces) + 2 * extra + 1, dtype=np.float32)
    opacity[-1] = 0.0
    if see_through == "bodies":
        opacity[: len(marked)] = np.where(marked, MARKED_OPACITY, BODY_OPACITY)
    last = rasterise(camera, scene.points, scene.faces)
    if extra:
        opacity[len(marked) : -1] = np.concatenate([sketch.opacity, sketch.hidden])
        yield from _sketched(sketch, last, camera, len(marked), opacity)
    if see_through == "marked":
        hidden = rasterise(camera, scene.points, scene.faces, chosen=np.flatnonzero(marked).astype(np.int32))
        face = np.where(hidden.face == last.face, np.int32(-1), hidden.face)
        yield shade.Layer(face, np.zeros(face.shape, dtype=np.float32), opacity * np.float32(GHOST_OPACITY))
    yield shade.Layer(last.face, shade.lines(last, scene, camera, normals, edges, samples), opacity)
    if see_through == "bodies":
        for _ in range(LAYERS - 1):
            last = rasterise(camera, scene.points, scene.faces, behind=last)
            if not (last.face >= 0).any():
                break
            yield shade.Layer(last.face, shade.lines(last, scene, camera, normals, edges, samples), opacity)


def _sketched(sketch: Sketch, bodies: Buffers, camera: Camera, first: int, opacity: NDArray[np.float32]) -> Iterator[shade.Layer]:
    """Yield the layers of a sketch, whose colours begin at row `first` of the table."""
    last: Buffers | None = None
    none = np.zeros(bodies.face.shape, dtype=np.float32)
    for _ in range(SKETCH_LAYERS):
        last = rasterise(camera, sketch.points, sketch.faces, behind=last)
        if not (last.face >= 0).any():
            break
        row = last.face + np.int32(first) + np.where(last.depth > bodies.depth, np.int32(len(sketch.faces)), np.int32(0))
        yield shade.Layer(np.where(last.face >= 0, row, np.int32(-1)), none, opacity)


def _write_lines_of_text(pixels: NDArray[np.uint8], title: str, caption: str) -> None:
    scale = max(1, min(pixels.shape[0] // 300, 4))
    space = 6 * scale
    write_text(pixels, title, space, space, scale=scale)
    write_text(pixels, caption, space, pixels.shape[0] - space - GLYPH_HEIGHT * scale, scale=scale, colour=(98, 106, 118))
