"""Overlay and contacts on the page: lines, points, arrows, faces, images."""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

from jostle.interface.overlay import Overlay
from jostle.viewer import colours
from jostle.viewer.bodies_on_page import LIFT, BodiesOnPage
from jostle.viewer.marked_faces import lifted
from jostle.viewer.overlay_shapes import as_picture, drawn
from jostle.viewer.page_scale import PageScale
from jostle.viewer.snapshot import Found

POINT = 0.018  # page units, of an overlay's points
CONTACT = 0.035
ARROW = 0.3


class OverlayOnPage:
    """Drawings over the bodies; drawing again replaces them."""

    def __init__(self, server: viser.ViserServer, bodies: BodiesOnPage, scale: PageScale, gallery: viser.GuiFolderHandle) -> None:
        self._server, self._bodies, self._scale, self._gallery = server, bodies, scale, gallery
        self._nodes: dict[str, viser.SceneNodeHandle] = {}
        self._images: list[viser.GuiImageHandle] = []

    def show(self, overlay: Overlay | None, found: Found, contacts: bool) -> str:
        """Draw an overlay and contacts; return a line for the panel, or ""."""
        with self._server.atomic():
            words = self._draw_overlay(overlay)
            self._draw_contacts(found, contacts or not found.touching)
        return words

    def _draw_overlay(self, overlay: Overlay | None) -> str:
        for name in [name for name in self._nodes if name.startswith("/overlay")]:
            self._nodes.pop(name).remove()
        self._draw_images({} if overlay is None else overlay.images)
        if overlay is None:
            return ""
        scene, shapes = self._server.scene, drawn(overlay)
        if len(shapes.lines):
            lines = self._scale.points(shapes.lines).astype(np.float32)
            name = "/overlay/lines"
            self._nodes[name] = scene.add_line_segments(name, lines, colours.OVERLAY, thickness=1.4, thickness_units="screen")
        if len(shapes.points):
            points = self._scale.points(shapes.points).astype(np.float32)
            name = "/overlay/points"
            self._nodes[name] = scene.add_point_cloud(
                name, points, colours.OVERLAY_POINTS, point_size=POINT, point_shape="circle", precision="float32"
            )
        for number, faces in overlay.faces.items():
            if len(faces):
                self._mark(number, faces)
        left_out = "" if shapes.shown == shapes.shapes else f", {shapes.shown:,} of them drawn"
        return f"{overlay.title}: {shapes.shapes + sum(map(len, overlay.faces.values())):,}{left_out}"

    def _mark(self, number: int, faces: NDArray[np.int32]) -> None:
        body, name = self._bodies.bodies[number], f"/overlay/faces/{number}"
        points, triangles = lifted(body.vertices, body.faces, faces, 0.7 * LIFT)
        self._nodes[name] = self._server.scene.add_mesh_simple(
            name, points, triangles, color=colours.OVERLAY, flat_shading=True, cast_shadow=False,
            wxyz=body.frame.wxyz, position=body.frame.position,
        )  # fmt: skip

    def _draw_images(self, images: dict[str, NDArray[np.generic]]) -> None:
        """Show images, reusing elements: browsers complain if one changes and goes."""
        for place, (name, image) in enumerate(images.items()):
            pixels = as_picture(image)
            if place == len(self._images):
                with self._gallery:
                    self._images.append(self._server.gui.add_image(pixels, label=name, format="png"))
                continue
            shown = self._images[place]
            shown.image = pixels
            if shown.label != name:
                shown.label = name
        for place, shown in enumerate(self._images):
            if shown.visible != (place < len(images)):
                shown.visible = place < len(images)
        if self._gallery.visible != bool(images):
            self._gallery.visible = bool(images)

    def _draw_contacts(self, found: Found, wanted: bool) -> None:
        for name in [name for name in self._nodes if name.startswith("/contacts")]:
            self._nodes.pop(name).remove()
        if not wanted or len(found.points) == 0:
            return
        points = self._scale.points(found.points).astype(np.float32)
        name = "/contacts/points"
        self._nodes[name] = self._server.scene.add_point_cloud(
            name, points, colours.RED, point_size=CONTACT, point_shape="circle", precision="float32"
        )
        known = np.isfinite(found.normals).all(axis=1)
        if known.any():
            ends = np.stack([points[known], points[known] + ARROW * found.normals[known]], axis=1).astype(np.float32)
            name = "/contacts/normals"
            self._nodes[name] = self._server.scene.add_arrows(
                name, ends, colours.NORMALS, shaft_radius=0.006, head_radius=0.018, head_length=0.05
            )
