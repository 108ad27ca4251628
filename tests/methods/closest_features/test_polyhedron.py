"""Features and Voronoi regions: counted by hand and by Euler, and compared with the nearest point by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.polyhedron import Polytope, open_polytope, polyhedron_of, polytope_arrays
from jostle.methods.closest_features.regions import NONE, edge_beyond_face, edge_beyond_vertex, height_over
from jostle.methods.closest_features.show import named_feature
from jostle.shapes import build
from jostle.shapes.hull import hull
from jostle.shapes.mesh import Mesh
from tests.tiny import box, random_pose, tetrahedron
from tests.values import triangles, vec3s

SMALL = pytest.mark.small


def tables(shape):
    """The address table of one shape; it is kept, and so the arrays, as long as the shape is."""
    if id(shape) not in TABLES:
        TABLES[id(shape)] = shape, Polytope.tables([polytope_arrays(shape)])
    return TABLES[id(shape)][1].table


TABLES = {}


@kernel
def height_at(table, f, x, y, z):
    return height_over(open_polytope(table, 0), f, Vec3(x, y, z))


@kernel
def beyond_face(table, f, x, y, z):
    return edge_beyond_face(open_polytope(table, 0), f, Vec3(x, y, z))


@kernel
def beyond_vertex(table, v, x, y, z):
    return edge_beyond_vertex(open_polytope(table, 0), v, Vec3(x, y, z), 0.0)


def counts(shape):
    return len(shape.vertices), len(shape.edges), len(shape.planes)


def grid_box(n=3):
    """A box with n² squares on each side: corners in the middle of sides and of edges."""
    places = np.array([p for p in itertools.product(range(n + 1), repeat=3) if 0 in p or n in p], float)
    number = {tuple(p): k for k, p in enumerate(places.tolist())}
    faces = []
    for axis, end in itertools.product(range(3), (0, n)):
        for i, j in itertools.product(range(n), repeat=2):
            corners = []
            for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                p = [0.0, 0.0, 0.0]
                p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = end, i + di, j + dj
                corners.append(number[tuple(p)])
            if end == 0:
                corners.reverse()
            faces += [corners[:3], [corners[0], *corners[2:]]]
    return Mesh(places, faces, name="grid box")


@SMALL
@pytest.mark.parametrize("mesh", [box(), grid_box(), build.box(), box().moved(random_pose(np.random.default_rng(1)))], ids=str)
def test_a_box_has_8_vertices_12_edges_and_6_faces_however_its_sides_are_cut(mesh):
    assert mesh.is_convex or mesh.name == "box"  # a turned box is convex up to rounding only
    shape = polyhedron_of(mesh)
    assert counts(shape) == (8, 12, 6)
    for face in range(6):
        name, corners = named_feature(shape, 4 * face + 2)
        assert name == "face"
        assert len(corners) == 4
        sides = np.diff(mesh.vertices[[*corners, corners[0]]], axis=0)
        assert np.allclose(np.einsum("ij,ij->i", sides, np.roll(sides, 1, axis=0)), 0.0, atol=1e-12)  # square, in order


@SMALL
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4, 1e7, 1e12])
def test_the_sides_of_turned_boxes_are_merged_at_every_size_and_resolution(size):
    """Rounding bends them by some 2⁻⁵² of the size; what the resolution forbids to merge begins above that."""
    rng = np.random.default_rng(6)
    for _ in range(6):
        pose = random_pose(rng)
        assert counts(polyhedron_of(box().scaled(size).moved(pose), 1e-6)) == (8, 12, 6)
        grid = grid_box().scaled(size / 3).moved(pose)
        assert counts(polyhedron_of(grid, 1e-6)) == counts(polyhedron_of(grid))


def test_the_quads_of_a_sphere_are_faces():
    for face_count in (48, 168, 960):
        mesh = build.sphere(face_count)
        vertices, edges, faces = counts(polyhedron_of(mesh))
        assert vertices == len(mesh.vertices)
        assert vertices - edges + faces == 2
        around_a_pole = (mesh.faces == np.argmax(mesh.vertices[:, 2])).sum()
        assert faces == face_count // 2 + around_a_pole  # pairs of triangles, but for those at the two poles
    assert counts(polyhedron_of(build.icosphere(2))) == (162, 480, 320)  # nothing is flat there


@SMALL
def test_features_are_linked_both_ways_and_planes_point_out():
    for mesh in (tetrahedron(), box(), build.polytope36(2), build.cone()):
        shape = polyhedron_of(mesh)
        vertices, edges = shape.vertices, shape.edges
        assert len(vertices) - len(edges) + len(shape.planes) == 2
        np.testing.assert_array_equal(vertices, mesh.vertices[shape.vertex_ids])
        assert np.linalg.norm(vertices - shape.sphere[:3], axis=1).max() <= shape.sphere[3]
        centre = vertices.mean(axis=0)
        for f in range(len(shape.planes)):
            heights = [height_at(tables(shape), f, *vertex) for vertex in vertices]
            assert max(heights) <= 1e-12
            assert sum(h > -1e-12 for h in heights) >= 3
            assert height_at(tables(shape), f, *centre) < 0.0
            for code in shape.codes[shape.face_first[f] : shape.face_first[f + 1]].tolist():
                assert edges[code >> 1, 2 + (code & 1)] == f
                middle = 0.5 * (vertices[edges[code >> 1, 0]] + vertices[edges[code >> 1, 1]])
                assert beyond_face(tables(shape), f, *(0.9 * middle + 0.1 * face_centre(shape, f))) == NONE
                assert beyond_face(tables(shape), f, *(1.1 * middle - 0.1 * face_centre(shape, f))) == code >> 1


def face_centre(shape, f):
    corners = [shape.vertex_ids.tolist().index(v) for v in named_feature(shape, 4 * f + 2)[1]]
    return shape.vertices[corners].mean(axis=0)


def nearest(mesh, point):
    corners = mesh.vertices[mesh.faces]
    found = [(*one.point, one.squared) for one in (closest_point_on_triangle(*vec3s(point), t) for t in triangles(corners))]
    return min(found, key=lambda each: each[3])


@SMALL
@pytest.mark.parametrize(
    "mesh", [tetrahedron(), box(), build.polytope36(4), hull(np.random.default_rng(0).normal(size=(9, 3)))], ids=str
)
def test_the_region_that_holds_a_point_is_that_of_the_nearest_feature(mesh):
    random = np.random.default_rng(3)
    shape = polyhedron_of(mesh)
    vertices, edges = shape.vertices, shape.edges
    kinds = [0, 0, 0]
    for point in random.normal(size=(40, 3)) * mesh.size * 0.7 + mesh.bounds.mean(axis=0):
        if max(height_at(tables(shape), f, *point) for f in range(len(shape.planes))) <= 0.0:
            continue
        squared = nearest(mesh, point)[3]
        distances = []
        for v in range(len(vertices)):
            if beyond_vertex(tables(shape), v, *point) == NONE:
                distances.append(np.linalg.norm(point - vertices[v]))
                kinds[0] += 1
        for f in range(len(shape.planes)):
            height = height_at(tables(shape), f, *point)
            if height > 0.0 and beyond_face(tables(shape), f, *point) == NONE:
                distances.append(height)
                kinds[2] += 1
        for e in range(len(edges)):
            tail, head = vertices[edges[e, :2]]
            numbers = shape.vectors[e].reshape(3, 3)
            if numbers[0] @ (point - tail) >= 0 >= numbers[0] @ (point - head) and (numbers[1:] @ (point - tail) <= 0).all():
                distances.append(np.linalg.norm(np.cross(point - tail, numbers[0])))
                kinds[1] += 1
        assert len(distances) == 1, "regions leave a gap or overlap"
        assert distances[0] == pytest.approx(np.sqrt(squared), rel=1e-12, abs=1e-12)
    assert min(kinds) > 0


@SMALL
def test_slivers_and_thin_plates_keep_their_sides():
    thin = box((0, 0, 0), (1, 1, 1e-15))
    vertices, edges, faces = counts(polyhedron_of(thin))
    assert vertices - edges + faces == 2
    needle = hull([[0, 0, 0], [1, 0, 0], [0.5, 1e-14, 0], [0.5, 0, 1e-14], [0.5, 1e-14, 1e-14]])
    vertices, edges, faces = counts(polyhedron_of(needle))
    assert vertices - edges + faces == 2


@SMALL
def test_a_concave_mesh_gives_its_hull_and_a_flat_one_is_refused():
    shape = polyhedron_of(build.torus(segments=8, sides=6))
    vertices, edges, faces = counts(shape)
    assert vertices - edges + faces == 2
    assert set(shape.vertex_ids.tolist()) <= set(range(48))
    with pytest.raises(InputError, match="one plane"):
        polyhedron_of(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
