"""Fans, sheets and parts of meshes, and the inner side of a sheet."""

import itertools

import numpy as np

from jostle import Mesh
from jostle.shapes import build
from jostle.shapes.topology import BOTH
from tests.tiny import box, random_soup


def joined(*meshes):
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    return Mesh(np.vstack([mesh.vertices for mesh in meshes]), np.vstack(faces))


def inverted(mesh):
    return Mesh(mesh.vertices, mesh.faces[:, ::-1])


def fans(mesh):
    """The sides of each edge by its two welded vertices, ascending."""
    found = {}
    for side, (p, q) in enumerate(mesh.welded_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).tolist()):
        if p != q:
            found.setdefault((min(p, q), max(p, q)), []).append((side, p < q))
    return found


def parts(mesh):
    """Label faces by their part, numbered by first face: merge vertex labels face by face until nothing changes."""
    label, before = list(range(len(mesh.vertices))), None
    while label != before:
        before = list(label)
        for face in mesh.welded_faces.tolist():
            lowest = min(label[v] for v in face)
            for v in face:
                label[v] = lowest
    first = [label[face[0]] for face in mesh.welded_faces.tolist()]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(first))}
    return [numbers[each] for each in first]


def test_fans_sheets_and_parts_of_soups_and_solids():
    rng = np.random.default_rng(0)
    meshes = [box(), build.icosphere(2), build.torus(segments=8, sides=6), random_soup(rng, 20)]
    for _ in range(60):
        meshes.append(Mesh(rng.integers(0, 3, (12, 3)), rng.integers(0, 12, (int(rng.integers(1, 14)), 3))))
    for mesh in meshes:
        topology = mesh.topology
        assert topology.is_closed == mesh.is_closed
        assert mesh.component_of_face.tolist() == parts(mesh)
        sheet = list(range(len(mesh.faces)))
        for fan in fans(mesh).values():
            side, walked = fan[0][0], []
            assert all(topology.first_side[s] == side for s, _ in fan)
            while side >= 0:
                walked.append(side)
                side = int(topology.next_side[side])
            assert walked == [s for s, _ in fan]
            if len(fan) == 2 and fan[0][1] != fan[1][1]:
                one, other = (sheet[s // 3] for s, _ in fan)
                sheet = [min(one, other) if s in (one, other) else s for s in sheet]
        assert topology.first_face_of_sheet[topology.sheet_of_face].tolist() == sheet


def test_the_inner_side_is_behind_outward_faces_and_before_inverted_ones():
    outer, inner, far = box((0, 0, 0), (5, 5, 5)), box((1, 1, 1), (3, 3, 3)), box((9, 0, 0), (10, 1, 1))
    flat = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    cases = [
        (outer, [-1]),
        (inverted(outer), [1]),
        (joined(outer, inverted(inner)), [-1, -1]),  # a cavity
        (joined(outer, inner), [-1, BOTH]),  # a shell in a shell
        (joined(outer, inverted(far)), [-1, 1]),
        (joined(inverted(outer), inner), [1, 1]),  # an inverted block with a cavity
        (flat, [0]),  # two faces back to back have no inside
        (joined(flat, far), [0, -1]),
    ]
    for mesh, expected in cases:
        for order in itertools.islice(itertools.permutations(range(3)), 3):  # turn the axes: vertical faces take other ways
            turned = Mesh(mesh.vertices[:, order], mesh.faces)
            sign = round(np.linalg.det(np.eye(3)[list(order)]))
            assert turned.sheet_sides.inner.tolist() == [side if side == BOTH else sign * side for side in expected]
