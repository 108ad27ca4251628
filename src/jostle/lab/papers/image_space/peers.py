"""FCL and Coal as methods of a world, in the place of the libraries that the paper compares with, which are not to be had any more.

RAPID has trees of oriented boxes, and so have FCL and Coal ("trees": every face, surfaces). I-COLLIDE and Q-COLLIDE take convex
bodies, and so do these by GJK ("convex": vertices, solids). Pairs come from a broad phase of this package, the same for all, and
each is asked whether it collides, stopping at the first contact; the loop over the pairs is Python's, some 2 µs for each, and
transforms are set for the bodies of some pair only. A library that is not installed is not served, with a sentence that says so.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats, Ints
from jostle.broad_phase.body_volumes import LocalBoxes, allowed_pairs, world_volumes
from jostle.broad_phase.choose import broad_phase_of
from jostle.errors import Unsupported
from jostle.geometry.contact_kind import CROSSING
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Answer, Need, Semantics, Traits, within_resolution
from jostle.lab.methods import NamedMethod
from jostle.report.report import Counters, Pairs, Report, unknown_column
from jostle.shapes.mesh import Mesh

LIBRARIES = {"fcl": "python-fcl", "coal": "coal"}
KINDS = ("trees", "convex")
NEARLY = 1e-6  # GJK's own tolerance in both

Collides = Callable[[Any, Floats, Any, Floats], bool]


class Triangles(NamedTuple):
    """A mesh as it is."""

    vertices: Floats
    faces: Ints


@dataclass(frozen=True)
class Peer:
    """Another library.

    Parameters
    ----------
    library : {"fcl", "coal"}
    kind : {"trees", "convex"}
        Trees of boxes over all faces, or GJK between convex bodies.
    broad : str
        The broad phase, of this package.
    """

    library: str = "fcl"
    kind: str = "trees"
    broad: str = "uniform_grid"

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_choice(self.library, tuple(LIBRARIES), "Peer: library")
        cast.as_choice(self.kind, KINDS, "Peer: kind")

    @property
    def traits(self) -> Traits:
        """Pairs of rigid bodies; of convex ones where it goes by GJK."""
        trees = self.kind == "trees"
        return Traits(
            semantics=Semantics.SURFACE if trees else Semantics.SOLID,
            answers={} if trees else {Answer.DISTANCE: within_resolution(NEARLY)},
            needs=frozenset({Need.RIGID} if trees else {Need.RIGID, Need.CONVEX}),
        )

    @property
    def shape_type(self) -> type:
        """The mesh; what the library makes of it cannot be kept in arrays."""
        return Triangles

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Triangles:
        """Take the mesh."""
        return Triangles(mesh.vertices, mesh.faces)

    def start(self, bodies: Bodies, shapes: tuple[Triangles, ...]) -> PeerDetector:
        """Build what the library needs."""
        return PeerDetector(self, bodies, shapes)


class PeerDetector(Detector):
    """Another library at work."""

    def __init__(self, method: Peer, bodies: Bodies, shapes: tuple[Triangles, ...]) -> None:
        try:
            library = importlib.import_module(method.library)
        except ImportError as error:
            raise Unsupported(f"{LIBRARIES[method.library]} is not installed ({error})") from None
        self._library: _Fcl | _Coal = (_Fcl if method.library == "fcl" else _Coal)(library, method.kind)
        self._finder = broad_phase_of(method.broad).start(len(bodies))
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[Triangles, ...]) -> None:
        made: dict[int, Any] = {}
        for shape in shapes:
            if id(shape) not in made:
                made[id(shape)] = self._library.shape(shape)
        self._objects = [self._library.body(made[id(shape)]) for shape in shapes]
        self._boxes = LocalBoxes(bodies)

    def change(self, bodies: Bodies, shapes: tuple[Triangles, ...], old_to_new: OldToNew) -> None:
        """Build all of it again."""
        self._finder.change(len(bodies), old_to_new)
        self._set_bodies(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Ask the library for each pair of boxes."""
        pairs = allowed_pairs(self._finder.find(world_volumes(self._boxes, frame, 0.0)), frame)
        a, b = pairs.body_a.tolist(), pairs.body_b.tolist()
        placed = {body: self._library.placed(self._objects[body], frame.poses[body]) for body in {*a, *b}}
        collides = self._library.collides
        hit = np.array([collides(placed[i], placed[j]) for i, j in zip(a, b, strict=True)], bool)
        count = int(hit.sum())
        found = Pairs(
            body_a=pairs.body_a[hit],
            body_b=pairs.body_b[hit],
            kind=np.full(count, CROSSING, np.uint8),
            rows=np.zeros(count, np.int32),
            distance=unknown_column(count),
            time=unknown_column(count),
        )
        boxes = self._finder.counters.get("box_tests", 0)
        return Report(found, counters=Counters(body_pairs=len(a), box_tests=boxes))

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show nothing."""
        return Overlay("nothing")


class _Fcl:
    def __init__(self, fcl: Any, kind: str) -> None:
        self._fcl, self._kind = fcl, kind
        self._request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)

    def shape(self, mesh: Triangles) -> Any:
        if self._kind == "convex":
            corners = np.hstack([np.full((len(mesh.faces), 1), 3), mesh.faces]).astype(np.int32).ravel()
            return self._fcl.Convex(mesh.vertices, len(mesh.faces), corners)
        model = self._fcl.BVHModel()
        model.beginModel(len(mesh.vertices), len(mesh.faces))
        model.addSubModel(mesh.vertices, mesh.faces)
        model.endModel()
        return model

    def body(self, shape: Any) -> Any:
        return self._fcl.CollisionObject(shape)

    def placed(self, body: Any, pose: Floats) -> Any:
        turn, place = np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3])
        body.setTransform(self._fcl.Transform(turn, place))
        return body

    def collides(self, a: Any, b: Any) -> bool:
        return bool(self._fcl.collide(a, b, self._request, self._fcl.CollisionResult()))


class _Coal:
    def __init__(self, coal: Any, kind: str) -> None:
        self._coal, self._kind = coal, kind
        self._request, self._result = coal.CollisionRequest(), coal.CollisionResult()
        self._request.num_max_contacts = 1
        self._request.enable_contact = False

    def shape(self, mesh: Triangles) -> Any:
        model = self._coal.BVHModelOBBRSS()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addVertices(mesh.vertices)
        model.addTriangles(mesh.faces.astype(np.int64))
        model.endModel()
        if self._kind == "trees":
            return model
        model.buildConvexRepresentation(False)
        return model.convex

    def body(self, shape: Any) -> Any:
        return shape

    def placed(self, body: Any, pose: Floats) -> Any:
        turn, place = np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3])
        return body, self._coal.Transform3s(turn, place)

    def collides(self, a: Any, b: Any) -> bool:
        self._result.clear()
        return bool(self._coal.collide(*a, *b, self._request, self._result))


def peer(label: str, library: str, kind: str) -> NamedMethod:
    """Return another library under a label."""
    return NamedMethod(label, Peer(library, kind))
