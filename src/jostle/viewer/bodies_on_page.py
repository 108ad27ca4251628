"""Bodies on the page: moving surfaces, touching faces red, near ones amber.

Only changes of poses, colours and marked faces are sent to the browsers.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import viser

from jostle._types import Floats, Ints
from jostle.motion.record import Motion
from jostle.viewer import colours
from jostle.viewer.creases import creases_of
from jostle.viewer.marked_faces import lifted
from jostle.viewer.page_scale import PageScale
from jostle.viewer.picking import distance_along
from jostle.viewer.snapshot import Snapshot
from jostle.viewer.subject import first_vertices

LIFT = 1.5e-3  # page units: the depth buffer resolves this across the scene
TINT = 0.6  # of red, on touching bodies when a method reports no faces
NO_FACES = np.empty(0, np.int32)


@dataclass
class BodyOnPage:
    """One body: its nodes on the page, and what they show."""

    frame: viser.FrameHandle
    surface: viser.MeshHandle
    faces: Ints
    vertices: Floats  # (n,3) in body coordinates, page units
    own: colours.Colour
    centre: Floats  # (3,) of its box, in body coordinates, world units
    radius: float  # page units
    creases: viser.LineSegmentsHandle | None
    rest: Floats  # (n,3) initial vertices
    pose: Floats | None = None
    colour: colours.Colour | None = None
    shape: Floats | None = None  # the snapshot's vertices that are shown
    marks: dict[str, viser.MeshHandle] = field(default_factory=dict)
    marked: dict[str, Ints] = field(default_factory=dict)
    label: viser.LabelHandle | None = None


class BodiesOnPage:
    """All bodies of a subject."""

    def __init__(self, server: viser.ViserServer, start: Motion, scale: PageScale) -> None:
        self._server, self._scale = server, scale
        self.bodies: list[BodyOnPage] = []
        self.add(start)

    def add(self, start: Motion) -> None:
        """Add the bodies of a motion that are not shown yet."""
        for number in range(len(self.bodies), len(start.meshes)):
            faces, vertices = start.meshes[number].faces, first_vertices(start, number)
            self.bodies.append(self._made(number, vertices, faces, deforms=number in start.vertices))
            self.place(number, start.poses[0, number])

    def _made(self, number: int, vertices: Floats, faces: Ints, deforms: bool) -> BodyOnPage:
        scene, name, own = self._server.scene, f"/bodies/{number}", colours.body_colour(number)
        centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)) if len(vertices) else np.zeros(3)
        shown = (vertices - centre) * self._scale.factor
        frame = scene.add_frame(name, show_axes=False)
        surface = scene.add_mesh_simple(f"{name}/surface", shown, faces, color=own, flat_shading=True, side="double")
        creases = None
        if not deforms:
            lines = creases_of(shown, faces)
            if len(lines):
                dark = colours.mixed(own, (30, 36, 46), 0.65)
                creases = scene.add_line_segments(f"{name}/creases", lines, dark, thickness=1.2, thickness_units="screen")
        radius = float(np.linalg.norm(shown, axis=1).max(initial=0.0))
        return BodyOnPage(frame, surface, faces, shown, own, centre, radius, creases, shown)

    def show(self, snapshot: Snapshot, held: Mapping[int, Hashable], dragged: Collection[int]) -> None:
        """Show poses, shapes and marks; dragged bodies are already where the hand is."""
        with self._server.atomic():
            # A method that reports no faces: touching bodies are tinted.
            tinted = frozenset() if snapshot.found.touching else snapshot.found.bodies
            for number, body in enumerate(self.bodies):
                if number not in dragged:
                    self.place(number, snapshot.poses[number])
                reshaped = self._deform(number, snapshot.vertices.get(number))
                for kind, faces in (("red", snapshot.found.touching), ("amber", snapshot.found.near)):
                    self._mark(number, kind, faces.get(number, NO_FACES), reshaped)
                colour = colours.mixed(body.own, colours.RED, TINT) if number in tinted else body.own
                self._paint(body, colour, number in held)

    def place(self, number: int, pose: Floats) -> None:
        """Place a body."""
        body = self.bodies[number]
        if body.pose is not None and np.array_equal(body.pose, pose):
            return
        body.pose = np.array(pose)
        body.frame.wxyz, body.frame.position = self._scale.place(pose, body.centre)

    def hit_by(self, origin: Floats, direction: Floats) -> int | None:
        """Return the first body that a ray of the page hits, or None."""
        nearest, found = np.inf, None
        length = float(np.linalg.norm(direction))
        for number, body in enumerate(self.bodies):
            if body.pose is None:
                continue
            turn, place = body.pose[:3, :3], self._scale.points(body.pose[:3, :3] @ body.centre + body.pose[:3, 3])
            if np.linalg.norm(np.cross(place - origin, direction)) > (body.radius + LIFT) * length:
                continue  # the ray misses its bounding sphere
            along = distance_along((origin - place) @ turn, direction @ turn, body.vertices, body.faces)
            if along < nearest:
                nearest, found = along, number
        return found

    def mark_held(self, number: int, by: str | None) -> None:
        """Show in all browsers who holds a body."""
        body = self.bodies[number]
        if body.label is not None:
            body.label.remove()
            body.label = None
        if by is not None:
            up = (0.0, 0.0, 1.05 * body.radius)
            body.label = self._server.scene.add_label(
                f"/bodies/{number}/held", f"held by {by}", position=up, anchor="bottom-center"
            )
        self._paint(body, body.own, by is not None)

    def _paint(self, body: BodyOnPage, colour: colours.Colour, held: bool) -> None:
        shown = colours.mixed(colour, colours.HELD, 0.45) if held else colour
        if shown != body.colour:
            body.surface.color = body.colour = shown

    def _deform(self, number: int, vertices: Floats | None) -> bool:
        """Show vertices, the initial ones for None; return whether they changed."""
        body = self.bodies[number]
        if vertices is body.shape:
            return False
        body.shape = vertices
        body.vertices = body.rest if vertices is None else (vertices - body.centre) * self._scale.factor
        body.surface.vertices = body.vertices.astype(np.float32)
        if body.creases is not None:  # creases of the initial shape
            in_shape = bool(np.abs(body.vertices - body.rest).max(initial=0.0) <= LIFT)
            if body.creases.visible != in_shape:
                body.creases.visible = in_shape
        return True

    def _mark(self, number: int, kind: str, faces: Ints, reshaped: bool) -> None:
        body = self.bodies[number]
        if not reshaped and np.array_equal(body.marked.get(kind, NO_FACES), faces):
            return
        handle = body.marks.get(kind)
        body.marked[kind] = faces
        if len(faces) == 0:
            if handle is not None:
                handle.visible = False
            return
        points, triangles = lifted(body.vertices, body.faces, faces, LIFT)
        colour = colours.RED if kind == "red" else colours.AMBER
        # A new node of the same name replaces the old one; array sizes may differ.
        body.marks[kind] = self._server.scene.add_mesh_simple(
            f"/bodies/{number}/{kind}", points, triangles, color=colour, flat_shading=True, side="front", cast_shadow=False
        )
