"""Volume, centre of mass and inertia against formulas and rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from jostle import InputError, Mesh
from jostle.geometry.pose import rotation_about
from jostle.shapes import build
from jostle.shapes.mass import mass_of_box, mass_properties, principal_axes
from tests.tiny import box, tetrahedron

pytestmark = pytest.mark.small


def rational_mass(mesh):
    """Volume, centre and inertia by tetrahedra with the origin, in fractions; a cone of moments: ∫1, ∫x, ∫xxᵀ."""
    volume, first, second = Fraction(0), [Fraction(0)] * 3, [[Fraction(0)] * 3 for _ in range(3)]
    points = [[Fraction(float(x)) for x in vertex] for vertex in mesh.vertices]
    for face in mesh.faces.tolist():
        a, b, c = (points[k] for k in face)
        six = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        volume += six / 6
        for i in range(3):
            first[i] += six / 24 * (a[i] + b[i] + c[i])
            for j in range(3):
                # ∫ x_i x_j over the tetrahedron 0abc = 6V · Σ over ordered pairs of corners (1/120, twice that for equal ones).
                second[i][j] += six * sum((2 if p is q else 1) * p[i] * q[j] for p in (a, b, c) for q in (a, b, c)) / 120
    centre = [value / volume for value in first]
    for i in range(3):
        for j in range(3):
            second[i][j] -= volume * centre[i] * centre[j]
    trace = second[0][0] + second[1][1] + second[2][2]
    inertia = [[(trace if i == j else 0) - second[i][j] for j in range(3)] for i in range(3)]
    return float(volume), np.array(centre, float), np.array(inertia, float)


@pytest.mark.parametrize("shift", [0.0, 3.0, 1e6])
def test_a_box(shift):
    found = mass_properties(box((shift, shift, shift), (shift + 1, shift + 2, shift + 4)))
    assert found.volume == pytest.approx(8.0, rel=1e-12)
    assert found.centre == pytest.approx([shift + 0.5, shift + 1.0, shift + 2.0], rel=1e-14)
    assert found.inertia == pytest.approx(8.0 / 12.0 * np.diag([4 + 16, 16 + 1, 1 + 4]), rel=1e-12, abs=1e-12)


def test_a_tetrahedron():
    found = mass_properties(tetrahedron())
    assert found.volume == pytest.approx(1 / 6)
    assert found.centre == pytest.approx([0.25] * 3)
    # About the corner: ∫x² = 1/60, ∫xy = 1/120; then by Steiner to the centre.
    second = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - np.full((3, 3), 1 / 96)
    assert found.inertia == pytest.approx(np.trace(second) * np.eye(3) - second, rel=1e-12)


def test_shapes_against_rational_arithmetic():
    rng = np.random.default_rng(0)
    small = [
        build.torus(segments=8, sides=6),
        build.stellated_dodecahedron(),
        build.icosahedron(),
        build.polytope36(),
        tetrahedron(5.0),
    ]
    for mesh in small:
        turned = mesh.with_vertices(mesh.vertices @ rotation_about(rng.normal(size=3), 1.0)[:3, :3] + rng.normal(size=3))
        volume, centre, inertia = rational_mass(turned)
        found = mass_properties(turned)
        assert found.volume == pytest.approx(volume, rel=1e-13)
        assert found.centre == pytest.approx(centre, rel=1e-12, abs=1e-13)
        assert found.inertia == pytest.approx(inertia, rel=1e-12, abs=1e-12 * np.abs(inertia).max())


def test_a_fine_sphere_comes_near_the_ball():
    found = mass_properties(build.icosphere(4, 2.0))
    assert found.volume == pytest.approx(4 / 3 * np.pi * 8, rel=1e-2)
    assert found.inertia == pytest.approx(0.4 * found.volume * 4 * np.eye(3), rel=2e-2, abs=1e-2)


def test_an_inverted_mesh_and_a_cavity():
    outer, inner = box((0, 0, 0), (4, 4, 4)), box((1, 1, 1), (2, 2, 2))
    inverted = Mesh(outer.vertices, outer.faces[:, ::-1])
    for one, other in zip(mass_properties(inverted), mass_properties(outer), strict=True):
        assert np.array_equal(one, other)
    hollow = Mesh(np.vstack([outer.vertices, inner.vertices]), np.vstack([outer.faces, inner.faces[:, ::-1] + 8]))
    found = mass_properties(hollow)
    assert found.volume == pytest.approx(63.0)
    assert found.centre == pytest.approx(np.full(3, (64 * 2 - 1.5) / 63))


@pytest.mark.parametrize("scale", [1e-25, 1e-9, 1e9])
def test_every_scale(scale):
    unit, scaled = mass_properties(box()), mass_properties(box().scaled(scale))
    assert scaled.volume == pytest.approx(unit.volume * scale**3, rel=1e-12, abs=0.0)
    assert np.diag(scaled.inertia) == pytest.approx(np.diag(unit.inertia) * scale**5, rel=1e-12, abs=0.0)


def test_open_and_flat_meshes_are_refused_with_the_cure():
    solid = box()
    with pytest.raises(InputError, match=r"'lid off' is open.*mass_of_box"):
        mass_properties(Mesh(solid.vertices, solid.faces[2:], name="lid off"))
    with pytest.raises(InputError, match=r"holds no volume.*thicken"):
        mass_properties(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]], [[0, 1, 2], [0, 2, 1]]))
    of_box, of_solid = mass_of_box(Mesh(solid.vertices, solid.faces[2:])), mass_properties(solid)
    assert of_box.volume == pytest.approx(of_solid.volume)
    assert of_box.inertia == pytest.approx(of_solid.inertia)
    assert mass_of_box(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])).volume == 0.0


def test_principal_axes():
    rng = np.random.default_rng(1)
    for _ in range(200):
        root = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-8, 8)
        matrix = root @ root.T
        moments, axes = principal_axes(matrix)
        assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        assert axes @ np.diag(moments) @ axes.T == pytest.approx(matrix, rel=1e-10, abs=1e-13 * np.abs(matrix).max())
    moments, axes = principal_axes(np.diag([3.0, 1.0, 2.0]))
    assert moments.tolist() == [3.0, 1.0, 2.0]
    assert np.array_equal(axes, np.eye(3))
