"""The distance band against brute force over all faces, and its interpolation against the bounds that it states."""

import numpy as np
import pytest

from jostle import Mesh
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.winding import crossing_winding
from jostle.methods.voxmap import distance_band as band
from jostle.methods.voxmap.map import Lattice
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from tests.tiny import box, random_soup, tetrahedron
from tests.values import triangles, vec3s

LIMIT = band.WIDTH
ROUNDING = 1.01 * 0.5 / band.UNITS  # voxels


def inverted(mesh):
    return Mesh(mesh.vertices, mesh.faces[:, ::-1], name="inverted")


def hollow():
    """A ball with a ball-shaped cavity."""
    return joined([build.icosphere(2, 1.0), inverted(build.icosphere(2, 0.5))], "hollow")


def overlapping():
    """Two boxes that share a part."""
    return joined([box(), box((0.5, 0.25, 0.25), (1.5, 0.75, 0.75))], "overlapping")


def with_needles():
    """Faces of no area along the diagonal and at a point, and one nearly without."""
    corners = [(0, 0, 0), (1, 1, 1), (0.5, 0.5, 0.5), (0.2, 0.7, 0.1), (0.9, 0.1, 0.3), (0.9, 0.1, 0.3000001)]
    return Mesh(corners, [(0, 1, 2), (3, 3, 3), (3, 4, 5)], name="needles")


MESHES = [
    *(
        build.torus(segments=24, sides=12),
        box(),
        tetrahedron(),
        inverted(build.icosphere(1)),
        hollow(),
        overlapping(),
        with_needles(),
    ),
    random_soup(np.random.default_rng(1), faces=6),
]


class Ready:
    """The band of a mesh on the lattice of its map, with all that a question needs."""

    def __init__(self, mesh, across=20, progress=None):
        extent = mesh.bounds[1] - mesh.bounds[0]
        self.mesh, self.voxel, self.origin = mesh, extent.max() / across, mesh.bounds[0]
        self.cells = np.maximum(1, np.ceil(extent / self.voxel - 1e-9)).astype(np.int64)
        words = self.filled() if mesh.is_closed else np.zeros(int(((self.cells + 3) >> 2).prod()), np.uint64)
        self.first, self.values = band.distance_band(mesh, Lattice(self.origin, self.voxel, self.cells), words, progress)
        self.step, self.blocks = self.voxel / band.UNITS, band.band_blocks(self.cells)

    def filled(self):
        """Bits of one voxel in four along each axis, by its centre: the only ones that the band asks for."""
        words = np.zeros(((self.cells + 3) >> 2)[::-1], np.uint64)
        for z, y, x in np.ndindex(*words.shape):
            words[z, y, x] = self.inside(self.origin + (4 * np.array([x, y, z]) + 0.5) * self.voxel)
        return words.ravel()

    def inside(self, point):
        winding, on_it = crossing_winding(np.array(point), self.mesh.vertices, self.mesh.faces)
        return winding != 0 and not on_it

    def at(self, place):
        """Distance and gradient at a place in voxels from the map's origin, in voxels."""
        field = band.DistanceBand(self.first, self.values.reshape(-1), self.blocks, self.step)
        d, gradient = band.distance_and_gradient(*vec3s(place), field)
        return d / self.voxel, np.array(gradient)

    def truth(self, place):
        """Signed distance in voxels by all faces."""
        point = self.origin + np.asarray(place) * self.voxel
        corners = self.mesh.vertices[self.mesh.faces].reshape(-1, 9)
        nearest = min(closest_point_on_triangle(*vec3s(point), t).squared for t in triangles(corners)) ** 0.5 / self.voxel
        return -nearest if self.mesh.is_closed and self.inside(point) else nearest


@pytest.fixture(scope="module")
def ready():
    made = {}
    return lambda mesh: made.setdefault(mesh.name, None) or made.update({mesh.name: Ready(mesh)}) or made[mesh.name]


@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: mesh.name)
def test_the_distance_is_exact_at_centres_inside_and_outside_of_the_map(ready, mesh):
    field = ready(mesh)
    rng = np.random.default_rng(7)
    near, inside = 0, 0
    for _ in range(300):
        place = [int(rng.integers(-band.MARGIN, n + band.MARGIN)) + 0.5 for n in field.cells]
        truth, (answer, _) = field.truth(place), field.at(place)
        assert answer == pytest.approx(min(max(truth, -LIMIT), LIMIT), abs=ROUNDING), place
        near, inside = near + (abs(truth) < LIMIT), inside + (truth < 0.0)
    assert near > 20
    assert inside > 0 or not mesh.is_closed


@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: mesh.name)
def test_between_centres_it_is_off_by_no_more_than_it_says(ready, mesh):
    field = ready(mesh)
    rng = np.random.default_rng(8)
    for _ in range(150):
        place = rng.uniform(-1.0, field.cells + 1.0)
        truth = field.truth(place)
        # Values are cut off at the band's ends, which keeps the function from changing faster than its argument.
        assert abs(field.at(place)[0] - min(max(truth, -LIMIT), LIMIT)) <= np.sqrt(3.0) / 2.0 + ROUNDING


def test_on_a_smooth_surface_the_error_falls_with_the_square_of_the_voxel_and_the_gradient_points_out():
    ball = build.icosphere(5)
    rng = np.random.default_rng(9)
    for across in (24, 48):
        field = Ready(ball, across)
        radius = across / 2.0
        sagging = radius * (1.0 - np.sqrt((np.einsum("ijk,ijk->ij", *[ball.vertices[ball.faces].mean(axis=1)[:, None]] * 2)).min()))
        for _ in range(200):
            direction = rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            height = rng.uniform(-2.2, 2.2)
            answer, gradient = field.at(direction * (radius + height) - (field.origin / field.voxel))
            curvature = 1.0 / (radius - abs(height) - 1.0)
            assert abs(answer - height) <= 2.0 * curvature / 8.0 + sagging + ROUNDING
            assert np.linalg.norm(gradient) == pytest.approx(1.0, abs=0.1)
            assert gradient @ direction > np.cos(2.0 * curvature) * np.linalg.norm(gradient)


def test_flat_parts_are_exact_also_between_centres(ready):
    field = ready(box())
    rng = np.random.default_rng(10)
    for _ in range(200):
        place = np.array([rng.uniform(5.0, 15.0), rng.uniform(5.0, 15.0), rng.uniform(-2.0, 3.0)])
        answer, gradient = field.at(place)
        assert answer == pytest.approx(-place[2], abs=3.0 * ROUNDING)
        assert gradient == pytest.approx([0.0, 0.0, -1.0], abs=4.0 * ROUNDING)


def test_the_gradient_is_that_of_the_interpolation(ready):
    field = ready(build.torus(segments=24, sides=12))
    rng = np.random.default_rng(11)
    small = 1e-4
    for _ in range(100):
        place = np.floor(rng.uniform(0.0, field.cells)) + rng.uniform(0.01, 0.49, 3)  # steps that stay between the same centres
        slopes = [(field.at(place + small * axis)[0] - field.at(place - small * axis)[0]) / (2.0 * small) for axis in np.eye(3)]
        assert field.at(place)[1] == pytest.approx(slopes, abs=1e-6)


def test_beyond_the_band_it_is_the_limit_on_the_right_side_without_a_gradient():
    field = Ready(box(), 48)
    assert (field.first == band.DEEP).any()
    assert (field.first == band.ABSENT).any() or len(field.values) + (field.first == band.DEEP).sum() == len(field.first)
    for place, side in (((24.0, 24.0, 24.0), -1.0), ((24.0, 24.0, -30.0), 1.0), ((1e9, 0.0, 0.0), 1.0)):
        answer, gradient = field.at(place)
        assert answer == pytest.approx(side * LIMIT)
        assert not gradient.any()
    assert len(field.values) == (field.first >= 0).sum()
    assert sorted(field.first[field.first >= 0]) == list(range(len(field.values)))


def test_cavities_are_outside_and_overlaps_inside():
    hole, both = Ready(hollow()), Ready(overlapping(), 24)
    assert hole.at(np.array([10.0, 10.0, 10.0]))[0] > 0.0
    assert hole.at(np.array([10.0, 10.0, 2.5]))[0] < 0.0
    middle = (np.array([0.75, 0.5, 0.5]) - both.origin) / both.voxel
    assert both.at(middle)[0] < 0.0


def test_any_slices_give_the_same_band_and_report_progress(monkeypatch):
    from jostle.methods.voxmap import face_bins

    shares = []
    whole = Ready(build.torus())
    monkeypatch.setattr(face_bins, "FIRST_SLICE", 1)
    sliced = Ready(build.torus(), progress=shares.append)
    assert sliced.values.tobytes() == whole.values.tobytes()
    assert sliced.first.tobytes() == whole.first.tobytes()
    assert shares[-1] == 1.0


def test_a_mesh_that_its_map_does_not_hold_is_refused():
    with pytest.raises(ValueError, match="box"):
        band.distance_band(box(), Lattice(np.zeros(3), 0.01, np.array([10, 10, 10])), np.zeros(27, np.uint64))


@pytest.mark.small
def test_a_tetrahedron_in_a_few_voxels():
    field = Ready(tetrahedron(), 6)
    rng = np.random.default_rng(12)
    for _ in range(60):
        place = [int(rng.integers(-3, n + 3)) + 0.5 for n in field.cells]
        assert field.at(place)[0] == pytest.approx(min(max(field.truth(place), -LIMIT), LIMIT), abs=ROUNDING)


@pytest.mark.parametrize("mesh", [build.torus(segments=24, sides=12), hollow(), overlapping()], ids=lambda mesh: mesh.name)
def test_points_that_may_stand_for_a_surface_inside_are_in_voxels_that_are_near(mesh):
    """Any point within √1.5 voxels of the inside: so far is a shell point from its foot; and no voxel that is far from it."""
    field = Ready(mesh, 24)
    words = band.near_words(field.first, field.values.reshape(-1, 512), field.cells)
    x, y, _ = (2 * n for n in band.band_blocks(field.cells))
    rng = np.random.default_rng(13)
    near = far = 0
    for _ in range(1500):
        place = rng.uniform(-3.9, field.cells + 3.9)
        i, j, k = np.floor(place + band.MARGIN).astype(int).tolist()
        word = int(words[((k >> 2) * y + (j >> 2)) * x + (i >> 2)])
        is_near = (word >> (((k & 3) << 4) | ((j & 3) << 2) | (i & 3))) & 1
        true = field.truth(place)
        if true <= np.sqrt(1.5):
            assert is_near
            near += 1
        if true > band.NEAR + np.sqrt(0.75):
            assert not is_near
            far += 1
    assert min(near, far) > 100


@pytest.mark.small
def test_the_way_out_is_along_a_gradient_that_can_be_trusted_and_else_against_the_normal():
    assert band.way_out(*vec3s((0.0, 0.9, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0))) == (0.0, 0.9, 0.0)
    assert band.way_out(*vec3s((0.0, 0.4, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0))) == (-1.0, 0.0, 0.0)
    assert band.way_out(*vec3s((0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0))) == (0.0, 0.0, 2.0)
    assert band.way_out(*vec3s((0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))) == (1.0, 0.0, 0.0)
