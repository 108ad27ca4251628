"""Analytic surfaces: crossings against formulas, voxel maps, and their meshes."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.methods.voxmap.analytic_rays import crossings_of_surface
from jostle.methods.voxmap.map import lattice_of
from jostle.methods.voxmap.ray_casting import filled_between, other_axes
from jostle.methods.voxmap.shape import prepare
from jostle.shapes.analytic import Cone, Cylinder, RaySurface, Sphere, Torus
from tests.methods.voxmap.settings import Settings
from tests.methods.voxmap.voxel_bits import filled_voxels

SURFACES = [Sphere(0.8), Cylinder(0.6, 1.7), Cone(0.9, 1.3), Torus(1.0, 0.3), Torus(1.0, 0.97)]
VOLUMES = {
    Sphere(0.8): 4.0 / 3.0 * np.pi * 0.8**3,
    Cylinder(0.6, 1.7): np.pi * 0.6**2 * 1.7,
    Cone(0.9, 1.3): np.pi * 0.9**2 * 1.3 / 3.0,
    Torus(1.0, 0.3): 2.0 * np.pi**2 * 0.3**2,
    Torus(1.0, 0.97): 2.0 * np.pi**2 * 0.97**2,
}


def inside(surface, points):
    """How far inside the solid points are: negative outside; only its sign and its zero mean something."""
    x, y, z = points.T
    away = np.hypot(x, y)
    if isinstance(surface, Sphere):
        return surface.radius - np.linalg.norm(points, axis=1)
    if isinstance(surface, Cylinder):
        return np.minimum(surface.radius - away, surface.height / 2 - np.abs(z))
    if isinstance(surface, Cone):
        return np.minimum(z + surface.height / 2, surface.radius * (0.5 - z / surface.height) - away)
    return surface.tube - np.hypot(away - surface.ring, z)


def on_ray(axis, u, v, along):
    points = np.empty((len(along), 3))
    a, b = other_axes(axis)
    points[:, a], points[:, b], points[:, axis] = u, v, along
    return points


@pytest.mark.small
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("surface", SURFACES, ids=repr)
def test_rays_are_inside_between_crossings_and_nowhere_else(surface, axis):
    rng = np.random.default_rng(axis)
    reach = 1.1 * surface.bounds[1].max()
    rays = [*rng.uniform(-reach, reach, (60, 2)), (0.0, 0.0), (0.1, 0.0), (0.0, 0.1)]
    met = 0
    for u, v in rays:
        crossings = surface.crossings(axis, u, v)
        assert len(crossings) % 2 == 0
        assert (np.diff(crossings) > 0).all()
        np.testing.assert_allclose(inside(surface, on_ray(axis, u, v, crossings)), 0.0, atol=1e-7)
        along = np.linspace(-2.0 * reach, 2.0 * reach, 801)
        expected = inside(surface, on_ray(axis, u, v, along)) > 0.0
        got = np.searchsorted(crossings, along) % 2 == 1
        clear = np.abs(along[:, None] - crossings).min(axis=1, initial=np.inf) > 1e-7
        assert (got == expected)[clear].all()
        met += len(crossings)
    assert met > 30


@pytest.mark.small
@pytest.mark.parametrize("surface", SURFACES, ids=repr)
def test_bounds_and_farthest_distance(surface):
    mesh = jostle.Mesh(analytic=surface)
    np.testing.assert_allclose(mesh.bounds, surface.bounds, atol=1e-12)
    assert mesh.is_closed
    assert mesh.volume > 0.0
    for point in np.random.default_rng(0).uniform(-2.0, 2.0, (20, 3)):
        farthest = np.linalg.norm(mesh.vertices - point, axis=1).max()
        assert farthest <= surface.farthest_from(point) + 1e-12
        assert surface.farthest_from(point) < farthest + 0.05
    np.testing.assert_allclose(inside(surface, mesh.vertices[np.linalg.norm(mesh.vertices[:, :2], axis=1) > 1e-9]), 0.0, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("surface", SURFACES, ids=repr)
def test_a_map_of_the_true_solid(surface, axis):
    lattice = lattice_of(surface.bounds, surface.bounds[1].max() / 6.7)
    words, _ = filled_between(crossings_of_surface(surface, lattice, axis), lattice, axis)
    filled = np.moveaxis(filled_voxels(words, lattice.cells), (*other_axes(axis), axis), (0, 1, 2))
    a, b = other_axes(axis)
    for i, j in np.ndindex(filled.shape[:2]):
        u, v = lattice.origin[[a, b]] + lattice.voxel * (np.array([i, j]) + 0.5)
        for k in range(filled.shape[2]):
            low = lattice.origin[axis] + lattice.voxel * k
            deepest = inside(surface, on_ray(axis, u, v, np.linspace(low, low + lattice.voxel, 41))).max()
            if deepest > 1e-9:
                assert filled[i, j, k]
            elif deepest < -0.02:
                assert not filled[i, j, k]


@pytest.mark.parametrize("surface", SURFACES, ids=repr)
def test_volumes_converge_to_that_of_the_true_solid(surface):
    # A filled voxel is one that its ray meets inside: too many by half a voxel at each end, so the error falls with the edge.
    errors = []
    for across in (20, 40, 80):
        shape = prepare(jostle.Mesh(analytic=surface), Settings(across=across))
        volume = int(np.bitwise_count(shape.words).sum()) * shape.voxel**3
        errors.append(volume / VOLUMES[surface] - 1.0)
    assert all(0.35 < later / earlier < 0.65 for earlier, later in itertools.pairwise(errors) if earlier > 0.01)
    assert abs(errors[-1]) < 0.08


def test_the_map_is_that_of_the_surface_and_not_of_its_faces():
    coarse = jostle.Mesh(analytic=Sphere(1.0, segments=8))
    fine = jostle.Mesh(analytic=Sphere(1.0, segments=64))
    faces_only = jostle.Mesh(coarse.vertices, coarse.faces)
    settings = Settings(across=48)
    one, other, rough = (prepare(mesh, settings) for mesh in (coarse, fine, faces_only))
    assert (one.words == other.words).all()
    assert (one.points == other.points).all()
    assert one.radius == pytest.approx(other.radius)
    assert np.bitwise_count(rough.words).sum() < 0.9 * np.bitwise_count(one.words).sum()


@dataclass(frozen=True)
class Bowls:
    """Two balls, one above the other: a surface of the user's own with as little as is needed."""

    radius: float
    distance: float

    @property
    def bounds(self):
        half = (self.radius, self.radius, self.radius + self.distance / 2)
        return [[-x for x in half], list(half)]

    def crossings(self, axis, u, v):
        found = []
        for middle in (-self.distance / 2, self.distance / 2):
            across, at = ((u, v), middle) if axis == 2 else ((u, v - middle), 0.0)
            half = max(self.radius**2 - across[0] ** 2 - across[1] ** 2, 0.0) ** 0.5
            found += [at - half, at + half] if half > 0 else []
        return found if axis == 2 else sorted(found)


def test_anything_with_bounds_and_crossings_can_be_voxelised():
    surface = Bowls(0.5, 1.6)
    assert isinstance(surface, RaySurface)
    ball = jostle.Mesh(analytic=Sphere(0.5))
    vertices = np.vstack([ball.vertices + np.array([0.0, 0.0, z]) for z in (-0.8, 0.8)])
    mesh = jostle.Mesh(vertices, np.vstack([ball.faces, ball.faces + len(ball.vertices)]), analytic=surface)
    for axis in range(3):
        shape = prepare(mesh, Settings(across=52, axis=axis))
        assert len(shape.deep) == 2
        filled = filled_voxels(shape.words, shape.cells)
        centres = shape.origin + shape.voxel * (np.argwhere(filled) + 0.5)
        distance = np.hypot(np.hypot(centres[:, 0], centres[:, 1]), np.abs(centres[:, 2]) - 0.8)
        assert distance.max() < 0.5 + shape.voxel / 2 + 1e-9
        assert np.linalg.norm(centres, axis=1).max() < shape.radius
    # Without faces of its own there is nothing to make a mesh of.
    with pytest.raises(InputError, match="vertices are missing"):
        jostle.Mesh(analytic=surface)


class Leaky(Bowls):
    def crossings(self, axis, u, v):
        return super().crossings(axis, u, v)[:1]


def test_a_surface_that_is_left_less_often_than_entered_is_refused():
    ball = jostle.Mesh(analytic=Sphere(0.5))
    with pytest.raises(InputError, match="gave 1 crossings for a ray along axis 0; a solid is left as often as entered"):
        prepare(jostle.Mesh(ball.vertices, ball.faces, analytic=Leaky(0.5, 1.6)), Settings(axis=0))


@pytest.mark.small
def test_what_a_mesh_does_with_its_surface():
    mesh = jostle.Mesh(analytic=Torus(1.0, 0.25), name="ring", units="cm")
    faces_only = jostle.Mesh(mesh.vertices, mesh.faces, name="ring")
    assert mesh.digest != faces_only.digest
    assert mesh.digest == jostle.Mesh(analytic=Torus(1.0, 0.25)).digest
    assert mesh.digest != jostle.Mesh(mesh.vertices, mesh.faces, analytic=Torus(1.0, 0.26)).digest
    copy = pickle.loads(pickle.dumps(mesh))
    assert copy.analytic == mesh.analytic
    assert copy.digest == mesh.digest
    assert copy.units == "cm"
    doubled = mesh.scaled(2.0)
    assert doubled.analytic == Torus(2.0, 0.5)
    np.testing.assert_array_equal(doubled.vertices, 2.0 * mesh.vertices)
    assert doubled.name == "ring"
    assert mesh.scaled(-1.0).analytic is None
    assert mesh.moved(np.eye(4)).analytic is None
    assert mesh.with_vertices(mesh.vertices).analytic is None
    assert faces_only.analytic is None
    assert len(jostle.Mesh(analytic=Torus(1.0, 0.25, segments=20)).faces) == 2 * 20 * 10


@pytest.mark.small
def test_wrong_lengths_are_named():
    with pytest.raises(InputError, match=r"tube is 1\.0; it must be less than ring"):
        Torus(1.0, 1.0)
    with pytest.raises(InputError, match="radius is -1"):
        Sphere(-1.0)
    with pytest.raises(InputError, match="height is 0"):
        Cone(1.0, 0.0)
    with pytest.raises(InputError, match="segments is 3"):
        Cylinder(1.0, 1.0, segments=3)
    with pytest.raises(InputError, match="vertices are missing; pass vertices and faces, or an analytic surface"):
        jostle.Mesh()
    with pytest.raises(InputError, match="faces are missing"):
        jostle.Mesh([[0, 0, 0]], analytic=Sphere(1.0))
    with pytest.raises(InputError, match="analytic is 'sphere'; it must have bounds and crossings"):
        jostle.Mesh(analytic="sphere")


def test_a_saved_world_keeps_the_analytic_surface(tmp_path):
    world = jostle.World(jostle.Voxmap(across=8, depth=False))
    meshes = [jostle.Mesh(analytic=surface, name="round") for surface in (Torus(1.0, 0.3, 16), Sphere(0.8, 12))]
    world.add(meshes[0])
    world.add(meshes[1])
    world.add(meshes[0].moved(np.eye(4)))  # the tessellation alone
    world.save(tmp_path / "world.npz")
    loaded = jostle.World.load(tmp_path / "world.npz")
    assert [body.mesh.analytic for body in loaded] == [Torus(1.0, 0.3, 16), Sphere(0.8, 12), None]
    assert [body.mesh.digest for body in loaded] == [body.mesh.digest for body in world]
    assert loaded.detect().to_array().tobytes() == world.detect().to_array().tobytes()


def test_a_world_with_a_surface_of_the_users_own_is_not_saved(tmp_path):
    @dataclass(frozen=True)
    class Sphere:  # the name alone does not count
        bounds: tuple = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))

        def crossings(self, axis, u, v):
            return [] if u * u + v * v >= 1.0 else [-((1.0 - u * u - v * v) ** 0.5), (1.0 - u * u - v * v) ** 0.5]

    ball = Torus(1.0, 0.3, 16).tessellation()
    world = jostle.World(jostle.Voxmap(across=8, depth=False))
    world.add(jostle.Mesh(ball.vertices, ball.faces, name="own", analytic=Sphere()))
    with pytest.raises(InputError, match=r"mesh 'own': its analytic surface .* is the user's own and cannot be saved"):
        world.save(tmp_path / "world.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("bounds", "crossings", "message"),
    [
        ([[-1.0] * 3, [1.0] * 3], "x", "gave 'x' as the crossings of rays; it must be a list of numbers"),
        ([[-1.0] * 3, [1.0] * 3], None, "gave None as the crossings"),
        ([[-1.0] * 3, [1.0] * 3], [[-1.0, 1.0]], "it must be a list of numbers"),
        ([[-1.0] * 3, [1.0] * 3], [0.5], "gave 1 crossings"),
        ([-1.0, 1.0], [], "mesh 'own': the bounds of its analytic surface are"),
        ([[1.0] * 3, [-1.0] * 3], [], "the lowest corner first"),
        ([[-1.0] * 3, [np.nan] * 3], [], r"pass \(2, 3\) finite numbers"),
    ],
)
@pytest.mark.small
def test_a_surface_of_the_users_own_that_answers_nonsense_is_named(bounds, crossings, message):
    class Own:
        def __init__(self):
            self.bounds = bounds

        def crossings(self, axis, u, v):
            return crossings

    mesh = Sphere(1.0, 8).tessellation()
    with pytest.raises(InputError, match=message):
        prepare(jostle.Mesh(mesh.vertices, mesh.faces, name="own", analytic=Own()), Settings(across=4))


@pytest.mark.small
def test_many_rays_of_a_wrong_shape_are_named():
    class Own(Sphere):
        def crossings_of_rays(self, axis, u, v):
            return np.zeros((3, 2))

    with pytest.raises(InputError, match=r"it must be an array \(\d+, 2 k\), a row for each ray"):
        prepare(jostle.Mesh(analytic=Own(1.0, 8)), Settings(across=4))
