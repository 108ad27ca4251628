"""PreparedShapes: a method's shape of each mesh, shared by equal meshes.

Equal meshes have equal digests, but a digest reads the whole mesh: 2 ms for 70,000 faces, as long as building their tree. So a
cheaper mark is compared first: one object is one mesh, and meshes that differ in size or in a few sampled rows are different. Only
distinct objects with equal marks are compared by digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from jostle.kernels.pool import share_out
from jostle.shapes.mesh import Mesh

Shape = Any
Thing = TypeVar("Thing")
FACES_APART = 10_000  # fewest faces of several meshes that threads prepare: 0.4 ms for trees
_SAMPLES = 8  # rows of vertices and of faces in a mark


class _Content:
    """A mesh as a dict key, equal if vertices and faces are.

    A dict compares only keys with equal marks.
    """

    __slots__ = ("_mark", "mesh")

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        vertices, faces = (array[:: 1 + len(array) // _SAMPLES] for array in (mesh.vertices, mesh.faces))
        self._mark = hash((len(mesh.vertices), len(mesh.faces), vertices.tobytes(), faces.tobytes()))

    def __hash__(self) -> int:
        return self._mark

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and (other.mesh is self.mesh or other.mesh.digest == self.mesh.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Content, (self.mesh,)  # hashes of bytes differ from process to process


def in_threads(
    things: Iterable[Thing], prepare: Callable[[Thing], None], faces: Callable[[Thing], int], workers: int | None
) -> None:  # fmt: skip
    """Prepare things, the largest first if several threads are worth it."""
    every = list(things)
    if workers == 1 or len(every) < 2 or sum(map(faces, every)) < FACES_APART:
        for thing in every:
            prepare(thing)
    else:
        share_out(sorted(every, key=faces, reverse=True), lambda: prepare, workers)


class PreparedShapes:
    """Shapes by mesh and, for world files, by digest."""

    def __init__(self) -> None:
        self._shapes: dict[_Content, Shape] = {}
        self._loaded: dict[str, Shape] = {}  # by digest, until the meshes are known

    def __len__(self) -> int:
        return len(self._shapes) + len(self._loaded)

    def __getitem__(self, digest: str) -> Shape:
        for content, shape in self._shapes.items():
            if content.mesh.digest == digest:
                return shape
        return self._loaded[digest]

    def __setitem__(self, digest: str, shape: Shape) -> None:
        self._loaded[digest] = shape

    def of(self, meshes: Sequence[Mesh], prepare: Callable[[int, int, Mesh], Shape], workers: int | None = 1) -> tuple[Shape, ...]:
        """Return the shape of each mesh; drop shapes of other meshes.

        `prepare(k, count, mesh)` is called once for equal meshes that have no shape yet, of which this is number k of `count`, from
        several threads if there are workers; if it raises, nothing changes.
        """
        contents = {id(mesh): _Content(mesh) for mesh in {id(mesh): mesh for mesh in meshes}.values()}
        ready: dict[_Content, Shape] = {}
        missing: dict[_Content, int] = {}
        for mesh in meshes:
            content = contents[id(mesh)]
            if content in ready:
                continue
            if content in self._shapes:
                ready[content] = self._shapes[content]
            elif self._loaded and mesh.digest in self._loaded:
                ready[content] = self._loaded[mesh.digest]
            else:
                missing[content], ready[content] = len(missing), None

        def make(content: _Content) -> None:
            ready[content] = prepare(missing[content], len(missing), content.mesh)

        in_threads(missing, make, lambda content: len(content.mesh.faces), workers)
        self._shapes, self._loaded = ready, {}
        return tuple(ready[contents[id(mesh)]] for mesh in meshes)
