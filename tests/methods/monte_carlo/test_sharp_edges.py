"""Further planes at sharp edges: everything under their facets lies behind them, and what they part is apart.

The first is checked in extended precision for every vertex under every facet with planes, the second against the least distance of
the vertices' hulls along many directions, which no bound may exceed.
"""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import FacetCylinder
from jostle.methods.monte_carlo.sharp_edges import gap_behind_planes
from jostle.methods.monte_carlo.shells import PAD
from jostle.methods.monte_carlo.work import EdgePlane, FacetPair, Link, open_work
from jostle.methods.monte_carlo.workspace import Workspace
from tests.methods.monte_carlo.shell_meshes import MESHES, mesh_of, shape_of
from tests.tiny import random_pose

LONG = np.longdouble


def vertices_under(mesh, shape, facet):
    return mesh.vertices[shape.under[shape.under_first[facet] : shape.under_first[facet + 1]]]


def middle_of(shape, facet):
    return shape.centre[facet] - 0.5 * shape.thickness[facet] * shape.normal[facet]


@pytest.mark.parametrize("name", MESHES)
def test_all_vertices_under_a_facet_are_behind_its_planes_and_touch_them(name):
    mesh, shape = mesh_of(name), shape_of(name)
    assert (shape.edge_row[: len(mesh.faces)] == -1).all()
    facets = np.flatnonzero(shape.edge_row >= 0)
    assert np.array_equal(shape.edge_row[facets], np.arange(len(shape.edge_plane)))
    slack = 4.0 * PAD * float(np.abs(mesh.vertices).max(initial=0.0))
    for facet in facets:
        away = vertices_under(mesh, shape, facet).astype(LONG) - middle_of(shape, facet).astype(LONG)
        for plane in shape.edge_plane[shape.edge_row[facet]].reshape(2, 4):
            assert np.linalg.norm(plane[:3]) == pytest.approx(1.0, abs=1e-12)
            beyond = away @ plane[:3].astype(LONG) - LONG(plane[3])
            assert beyond.max() <= 0.0
            assert beyond.max() >= -2.0 * slack


def test_facets_around_edges_have_planes_and_those_of_smooth_surfaces_have_none():
    assert (shape_of("horseshoe").edge_row >= 0).sum() >= 5
    assert not len(shape_of("sphere").edge_plane)


def cylinder_at(shape, facet, pose):
    """The cylinder of a facet of a body with a pose."""
    middle, axis = pose[:3, :3] @ middle_of(shape, facet) + pose[:3, 3], pose[:3, :3] @ shape.normal[facet]
    return FacetCylinder(Vec3(*middle.tolist()), Vec3(*axis.tolist()), shape.radius[facet], 0.5 * shape.thickness[facet])


@kernel
def gap_at(addresses, pair, a, b):
    """The gap by the planes of a pair with these cylinders."""
    return gap_behind_planes(open_work(addresses), pair, a, b)


def test_the_gap_behind_planes_is_never_more_than_the_distance():
    """A gap along any direction is a lower bound of the distance of two hulls, which is at most that of their nearest corners."""
    rng = np.random.default_rng(3)
    mesh, shape = mesh_of("horseshoe"), shape_of("horseshoe")
    facets = np.flatnonzero(shape.edge_row >= 0)
    work, links = Workspace(1), np.zeros(2, Link.dtype)
    work.put(planes=shape.edge_plane.reshape(-1).view(EdgePlane.dtype), links=links)
    relative = work["relative"][0]
    parted = 0
    for trial in range(400):
        fa, fb = rng.choice(facets, 2)
        pose = random_pose(rng, 0.0)
        pose[:3, 3] = middle_of(shape, fa) - pose[:3, :3] @ middle_of(shape, fb) + rng.normal(size=3) * 1.5 * shape.radius[fa]
        for name, row in zip("xyz", pose[:3].tolist(), strict=True):
            relative[name] = tuple(row)
        links["edge_row"] = [(shape.edge_row[fa], shape.edge_row[fb]), (shape.edge_row[fa], -1), (-1, shape.edge_row[fb])][
            trial % 3
        ]
        gap = gap_at(work.addresses, FacetPair(0, 0, 1), cylinder_at(shape, fa, np.eye(4)), cylinder_at(shape, fb, pose))
        one = vertices_under(mesh, shape, fa)
        other = vertices_under(mesh, shape, fb) @ pose[:3, :3].T + pose[:3, 3]
        least = min(np.linalg.norm(p - q) for p, q in itertools.product(one, other))
        assert gap <= least + 1e-12
        parted += gap > 0.0
    assert parted > 40


def test_planes_part_more_and_change_no_row():
    """Horseshoes in each other, with planes and without: the same rows, by fewer tests of facets."""
    horseshoe = mesh_of("horseshoe")
    told = []
    for planes in (True, False):
        world = jostle.World("monte_carlo")
        for _ in range(2):
            world.add(horseshoe)
        world.prepare()
        search = world._ready_detector()._ready_search()
        if not planes:
            search._packed.links["edge_row"] = -1
        rng, tests, rows = np.random.default_rng(0), 0, []
        for _ in range(20):
            direction = rng.normal(size=3)
            place = 0.3 * horseshoe.size * direction / np.linalg.norm(direction)
            world[1].pose = translation(place) @ rotation_about(rng.normal(size=3), rng.uniform(0.0, 3.0))
            report = world.detect()
            tests += report.counters.box_tests
            rows.append((report.contacts.face_a.tobytes(), report.contacts.face_b.tobytes()))
        told.append((tests, rows))
    assert told[0][1] == told[1][1]
    assert told[0][0] < told[1][0]
