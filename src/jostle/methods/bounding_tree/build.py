"""Building a tree top-down (§3): bound a set of faces, split it, repeat.

Degree. With `degree=None` a set is split into two; the degree is raised until the worst part is good enough, improvement · q(E_F)
>= max q(E_Fi); 6 is accepted in any case. A set of at most `leaf_faces` faces is a leaf ("if the number of faces falls below a
certain threshold. In our experiments 4 has been a good choice": here sets of 4 are leaves).

All sets of a level are processed together: each kernel call takes as many as take some 50 ms, so that calls are few, kernels
compile only for the volumes and splittings in use, and Ctrl-C is handled in between.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Bools, Floats, Ints, Longs
from jostle.errors import InputError
from jostle.interface.method import Progress
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE, LEAST_DEGREE, FaceSets
from jostle.methods.bounding_tree.fit import enclose, in_slices, measure
from jostle.methods.bounding_tree.splitting.split import SPLITTINGS, WITHOUT_OPTIMISATION, ToSplit, split_sets
from jostle.methods.bounding_tree.tree import KINDS, OBB, ROW, Tree
from jostle.methods.bounding_tree.volumes.quality import QUALITIES
from jostle.shapes.mesh import Mesh

MOST_LEAF_FACES = 64


class Settings(NamedTuple):
    """The settings of a build, as numbers."""

    kind: int
    splitting: int
    quality: int
    degree: int  # 0: flexible
    improvement: float
    leaf_faces: int


def build(
    mesh: Mesh | tuple[ArrayLike, ArrayLike],
    volume: str = "obb",
    splitting: str = "insertion",
    quality: str = "volume",
    degree: int | None = None,
    improvement: float = 0.75,
    leaf_faces: int = 4,
    progress: Progress | None = None,
) -> Tree:
    """Return the tree of a mesh.

    Parameters
    ----------
    mesh : Mesh, or vertices (v, 3) and faces (m, 3)
    volume : {"sphere", "aabb", "obb"}
    splitting : {"without_optimisation", "insertion", "gottschalk", "binary_gottschalk"}
        §3.1, §3.2, §3.3, and the tree they are compared with, whose degree is 2.
    quality : {"volume", "surface", "hausdorff"}
    degree : int, optional
        2 … 6; None takes for each node the least that brings the improvement.
    improvement : float
        The paper's α, between 0 and 1: what share of its parent's measure a child may have. Of no use with a fixed degree.
    leaf_faces : int
        Largest number of faces of a leaf.
    progress : callable, optional
        Called with the share that is done.
    """
    if not isinstance(mesh, Mesh):
        mesh = Mesh(*mesh)
    settings = checked_settings("build", volume, splitting, quality, degree, improvement, leaf_faces)
    return _Build(mesh, settings, progress).run()


def checked_settings(
    owner: str, volume: str, splitting: str, quality: str, degree: int | None, improvement: float, leaf_faces: int
) -> Settings:
    """Return the settings of a build as numbers; errors name the owner."""
    cast.as_choice(volume, tuple(KINDS), f"{owner}: volume")
    cast.as_choice(splitting, tuple(SPLITTINGS), f"{owner}: splitting")
    cast.as_choice(quality, tuple(QUALITIES), f"{owner}: quality")
    if degree is not None:
        cast.as_count(degree, "degree", LEAST_DEGREE, LARGEST_DEGREE, owner)
    if splitting == "binary_gottschalk" and degree not in (None, 2):
        raise InputError(f"{owner}: degree is {degree}; binary_gottschalk has degree 2, gottschalk any from 2 to 6")
    share = cast.as_number(improvement, "improvement", owner)
    if not 0.0 < share < 1.0:
        raise InputError(f"{owner}: improvement is {share}; it must lie between 0 and 1")
    cast.as_count(leaf_faces, "leaf_faces", 1, MOST_LEAF_FACES, owner)
    fixed = 2 if splitting == "binary_gottschalk" else (degree or 0)
    return Settings(KINDS[volume], SPLITTINGS[splitting], QUALITIES[quality], fixed, share, int(leaf_faces))


class _Nodes(NamedTuple):
    """Nodes of one level, or some of them."""

    volumes: Floats  # (n,16)
    measure: Floats  # (n,)
    begin: Longs  # (n,) ranges of the list of faces
    end: Longs  # (n,)


class _Build:
    """One build."""

    def __init__(self, mesh: Mesh, settings: Settings, progress: Progress | None) -> None:
        self.mesh, self.settings, self.progress = mesh, settings, progress
        self.sets = FaceSets(mesh.vertices, mesh.faces)
        self.done = 0.0  # sum over the faces of log(all faces / faces of their smallest set)

    def run(self) -> Tree:
        """Return the tree."""
        levels = [self._enclosed(np.zeros(1, np.int64), np.full(1, len(self.mesh.faces)))]
        first_child, child_count = [], []
        nodes = 1
        while len(levels[-1].begin):
            children, parent, parts = self._split_level(levels[-1])
            first, count = np.zeros(len(levels[-1].begin), np.int32), np.zeros(len(levels[-1].begin), np.int32)
            first[parent] = nodes + np.cumsum(parts) - parts
            count[parent] = parts
            first_child.append(first)
            child_count.append(count)
            levels.append(children)
            nodes += len(children.begin)
        return self._tree(levels, np.concatenate(first_child), np.concatenate(child_count))

    def _split_level(self, nodes: _Nodes) -> tuple[_Nodes, Longs, Longs]:
        """Return the children of a level's nodes, their parents, and the number of each."""
        settings = self.settings
        waiting = np.flatnonzero(nodes.end - nodes.begin > settings.leaf_faces)
        boxes = self._boxes(nodes, waiting)
        means = np.full((len(waiting), LARGEST_DEGREE, 3), np.nan)
        degree = settings.degree or LEAST_DEGREE
        made, parents, counts = [_some(nodes, waiting[:0])], [waiting[:0]], [waiting[:0]]
        while len(waiting):
            faces = nodes.end[waiting] - nodes.begin[waiting]
            degrees = np.minimum(faces, degree)
            last = (degrees == np.minimum(faces, LARGEST_DEGREE)) | (settings.degree > 0)
            starts, parts = self._split(nodes, waiting, degrees, boxes, means, last)
            children = self._enclosed(*_ranges(starts, parts))
            worst = np.maximum.reduceat(children.measure, np.cumsum(parts) - parts)
            good = last | ((parts > 1) & (settings.improvement * nodes.measure[waiting] >= worst))
            made.append(_some(children, np.flatnonzero(np.repeat(good, parts))))
            parents.append(waiting[good])
            counts.append(parts[good])
            self._count_as_done(made[-1].end - made[-1].begin, np.repeat(faces[good], parts[good]))
            waiting, boxes, means = waiting[~good], boxes[~good], means[~good]
            degree += 1
        return _Nodes(*map(np.concatenate, zip(*made, strict=True))), np.concatenate(parents), np.concatenate(counts)

    def _boxes(self, nodes: _Nodes, waiting: Longs) -> Floats:
        """Return the smallest enclosing boxes B_F (§3.2).

        They are oriented for trees of any kind, as in figure 1.
        """
        if self.settings.kind == OBB or self.settings.splitting == WITHOUT_OPTIMISATION:
            return nodes.volumes[waiting]
        begins, ends, boxes = nodes.begin[waiting], nodes.end[waiting], np.empty((len(waiting), ROW))
        for low, high in in_slices(ends - begins):
            enclose(OBB, self.settings.quality, self.sets, begins[low:high], ends[low:high], boxes[low:high])
            self._show()
        return boxes

    def _split(
        self, nodes: _Nodes, waiting: Longs, degrees: Longs, boxes: Floats, means: Floats, last: Bools
    ) -> tuple[Longs, Longs]:
        """Split sets as `split_sets` does."""
        kind, splitting, quality = self.settings[:3]
        begins, ends = nodes.begin[waiting], nodes.end[waiting]
        starts, parts = np.empty((len(waiting), LARGEST_DEGREE + 1), np.int64), np.empty(len(waiting), np.int64)
        for low, high in in_slices((ends - begins) * degrees):
            some = slice(low, high)
            these = ToSplit(
                begins[some], ends[some], degrees[some], boxes[some], means[some], last[some], starts[some], parts[some]
            )
            split_sets(splitting, kind, quality, self.sets, these)
            self._show()
        return starts, parts

    def _enclosed(self, begins: Longs, ends: Longs) -> _Nodes:
        """Return the nodes of sets, with their bounding objects."""
        kind, _, quality = self.settings[:3]
        volumes, measures = np.empty((len(begins), ROW)), np.empty(len(begins))
        for low, high in in_slices(ends - begins):
            ranges = begins[low:high], ends[low:high]
            enclose(kind, quality, self.sets, *ranges, volumes[low:high])
            measure(kind, quality, self.sets, *ranges, volumes[low:high], measures[low:high])
            self._show()
        return _Nodes(volumes, measures, begins, ends)

    def _count_as_done(self, faces: Longs, parent_faces: Longs) -> None:
        self.done += float((faces * np.log(parent_faces / faces)).sum())

    def _show(self) -> None:
        if self.progress is not None:
            all_faces = len(self.mesh.faces)
            every = all_faces * math.log(max(2.0, all_faces / self.settings.leaf_faces))
            self.progress(min(1.0, self.done / every), f"bounding tree of {self.mesh.name}")

    def _tree(self, levels: list[_Nodes], first_child: Ints, child_count: Ints) -> Tree:
        nodes = _Nodes(*map(np.concatenate, zip(*levels, strict=True)))
        level = np.repeat(np.arange(len(levels), dtype=np.int32), [len(nodes.begin) for nodes in levels])
        children = first_child, child_count
        return assembled(self.settings.kind, self.mesh, nodes.volumes, *children, nodes.begin, nodes.end, self.sets.order, level)


def assembled(
    kind: int, mesh: Mesh, volumes: Floats, first_child: Ints, child_count: Ints, begin: Longs, end: Longs, order: Ints, level: Ints
) -> Tree:
    """Return a tree whose nodes hold the faces order[begin:end]."""
    vertex_start, vertex_list = vertices_of_sets(mesh, order, begin, end)
    return Tree(
        kind=np.array(kind),
        volumes=volumes,
        first_child=first_child,
        child_count=child_count,
        first_face=begin.astype(np.int32),
        face_count=(end - begin).astype(np.int32),
        order=order,
        level=level,
        faces=mesh.faces,
        vertex_start=vertex_start,
        vertex_list=vertex_list,
    )


def vertices_of_sets(mesh: Mesh, order: Ints, begins: Longs, ends: Longs) -> tuple[Longs, Ints]:
    """Return vertex_start and vertex_list of a `Tree` with sets order[begins:ends]."""
    faces, stamp = read_only_view(mesh.faces), np.zeros(len(mesh.vertices) + 1, np.int64)
    vertex_start, vertex_list = np.zeros(len(begins) + 1, np.int64), np.empty(0, np.int32)
    for _ in range(2):  # how many there are, and then which
        for low, high in in_slices(ends - begins):
            list_vertices(faces, order, begins[low:high], ends[low:high], stamp, vertex_start[low : high + 1], vertex_list)
        if len(vertex_list) == 0:
            vertex_list = np.empty(int(vertex_start[-1]), np.int32)
    return vertex_start, vertex_list


def _some(nodes: _Nodes, rows: Longs) -> _Nodes:
    return _Nodes(nodes.volumes[rows], nodes.measure[rows], nodes.begin[rows], nodes.end[rows])


def _ranges(starts: Longs, parts: Longs) -> tuple[Longs, Longs]:
    """Return begin and end of all parts, set by set; starts (s,7), parts (s,)."""
    is_part = np.arange(LARGEST_DEGREE) < parts[:, None]
    return starts[:, :-1][is_part], starts[:, 1:][is_part]


@kernel
def list_vertices(
    faces: Ints, order: Ints, begins: Longs, ends: Longs, stamp: Longs, vertex_start: Longs, vertex_list: Ints
) -> None:
    """Write the vertices of each set, each once.

    Writes vertex_start (n+1,), whose first is given, and vertex_list unless it is empty.
    """
    count = vertex_start[0]
    for node in range(begins.shape[0]):
        stamp[-1] += 1
        for entry in range(begins[node], ends[node]):
            for corner in range(3):
                v = faces[order[entry], corner]
                if stamp[v] != stamp[-1]:
                    stamp[v] = stamp[-1]
                    if vertex_list.shape[0] > 0:
                        vertex_list[count] = v
                    count += 1
        vertex_start[node + 1] = count
