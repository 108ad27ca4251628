"""FCL and Coal as methods of a world, in place of the paper's libraries.

Like RAPID, FCL and Coal have trees of oriented boxes ("trees": all faces, surfaces). Like I-COLLIDE and Q-COLLIDE, they take convex
bodies by GJK ("convex": vertices, solids). A broad phase of this package supplies the same pairs to all; each pair stops at its
first contact. The Python loop costs some 2 µs per pair; transforms are set only for bodies of some pair. A library that is not
installed raises `Unsupported`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats, Ints
from jostle.bench.peers.coal import Coal, long_faces
from jostle.bench.peers.fcl import Fcl
from jostle.broad_phase.candidates import Candidates
from jostle.errors import Unsupported
from jostle.geometry.contact_kind import CROSSING
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.interface.traits import Answer, Need, Semantics, Traits, within_resolution
from jostle.report.assemble import report_of_bodies
from jostle.report.report import Counters, Report, unknown_column
from jostle.shapes.mesh import Mesh

LIBRARIES = {"fcl": "python-fcl", "coal": "coal"}
KINDS = ("trees", "convex")
NEARLY = 1e-6  # GJK's own tolerance in both


class Triangles(NamedTuple):
    """The arrays of a mesh."""

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
        """Pairs of rigid bodies; convex ones by GJK."""
        trees = self.kind == "trees"
        return Traits(
            semantics=Semantics.SURFACE if trees else Semantics.SOLID,
            answers={} if trees else {Answer.DISTANCE: within_resolution(NEARLY)},
            needs=frozenset({Need.RIGID} if trees else {Need.RIGID, Need.CONVEX}),
        )

    @property
    def shape_type(self) -> type:
        """The mesh; the library's own objects cannot be stored in arrays."""
        return Triangles

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Triangles:
        """Return the arrays of the mesh."""
        return Triangles(mesh.vertices, mesh.faces)

    def start(self, bodies: Bodies, shapes: tuple[Triangles, ...]) -> PeerDetector:
        """Build the library's objects."""
        return PeerDetector(self, bodies, shapes)


class PeerDetector(Detector):
    """Another library at work."""

    def __init__(self, method: Peer, bodies: Bodies, shapes: tuple[Triangles, ...]) -> None:
        try:
            self._library: _Fcl | _Coal = _Fcl(method.kind) if method.library == "fcl" else _Coal(method.kind)
        except ImportError as error:
            raise Unsupported(f"{LIBRARIES[method.library]} is not installed ({error})") from None
        self._candidates = Candidates(bodies, method.broad)
        self._set_shapes(shapes)

    def _set_shapes(self, shapes: tuple[Triangles, ...]) -> None:
        first, shape_of_body = number_shapes(shapes)
        made = [self._library.shape(shapes[body]) for body in first]
        self._objects = [self._library.body(made[number]) for number in shape_of_body.tolist()]

    def change(self, bodies: Bodies, shapes: tuple[Triangles, ...], old_to_new: OldToNew) -> None:
        """Rebuild all objects."""
        self._candidates.change(bodies, old_to_new)
        self._set_shapes(shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Test each pair of overlapping boxes."""
        pairs = self._candidates.pairs(frame)
        a, b = pairs.body_a.tolist(), pairs.body_b.tolist()
        placed = {body: self._library.placed(self._objects[body], frame.poses[body]) for body in {*a, *b}}
        collides = self._library.collides
        hit = np.array([collides(placed[i], placed[j]) for i, j in zip(a, b, strict=True)], bool)
        count, counters = int(hit.sum()), Counters(body_pairs=len(a), box_tests=self._candidates.box_tests)
        return report_of_bodies(pairs, hit, np.full(count, CROSSING, np.uint8), unknown_column(count), counters)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show nothing."""
        return Overlay("nothing")


class _Fcl:
    def __init__(self, kind: str) -> None:
        self._peer, self._kind = Fcl(), kind
        self._fcl, self._request = self._peer.fcl, self._peer.request(1)

    def shape(self, mesh: Triangles) -> Any:
        if self._kind == "trees":
            return self._peer.tree(*mesh)
        corners = np.hstack([np.full((len(mesh.faces), 1), 3), mesh.faces]).astype(np.int32).ravel()
        return self._fcl.Convex(mesh.vertices, len(mesh.faces), corners)

    def body(self, shape: Any) -> Any:
        return self._fcl.CollisionObject(shape)

    def placed(self, body: Any, pose: Floats) -> Any:
        body.setTransform(self._peer.transform(pose))
        return body

    def collides(self, a: Any, b: Any) -> bool:
        return bool(self._fcl.collide(a, b, self._request, self._fcl.CollisionResult()))


class _Coal:
    def __init__(self, kind: str) -> None:
        self._peer, self._kind = Coal(), kind
        self._coal, self._request = self._peer.coal, self._peer.request(1)
        self._result = self._coal.CollisionResult()

    def shape(self, mesh: Triangles) -> Any:
        model = self._peer.tree("OBBRSS", mesh.vertices, long_faces(mesh.faces))
        if self._kind == "trees":
            return model
        model.buildConvexRepresentation(False)
        return model.convex

    def body(self, shape: Any) -> Any:
        return shape

    def placed(self, body: Any, pose: Floats) -> Any:
        return body, self._peer.transform(pose)

    def collides(self, a: Any, b: Any) -> bool:
        self._result.clear()
        return bool(self._coal.collide(*a, *b, self._request, self._result))
