"""Back projection of facet pairs: planes, Δ, compliance, friction, sticking."""

import math

import numpy as np
import pytest

from jostle import World
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.sim import SoftMaterial, SoftSimulation
from jostle.sim.back_projection import LARGEST_SHIFT, FacetPairs, average_normal, meeting_of, planes_for, project_pairs, set_planes
from jostle.sim.surfaces import displacement_of, facet_of

pytestmark = pytest.mark.small


def facing_triangles(rng, count=50):
    """Triangles in pairs that look at each other across z = 0, at a distance that makes some discs cross."""
    for _ in range(count):
        a = rng.normal(size=(3, 3)) * [1.0, 1.0, 0.2] - [0.0, 0.0, 0.2]
        b = rng.normal(size=(3, 3)) * [1.0, 1.0, 0.2] + [0.0, 0.0, 0.2]
        if np.cross(a[1] - a[0], a[2] - a[0])[2] < 0.0:
            a = a[::-1]
        if np.cross(b[1] - b[0], b[2] - b[0])[2] > 0.0:
            b = b[::-1]
        yield a, b


def test_a_disc_holds_its_triangle():
    for a, _ in facing_triangles(np.random.default_rng(0)):
        facet = facet_of(*a.ravel(), 1.0)
        centre, normal, radius = np.array(facet[:3]), np.array(facet[3:6]), facet[6]
        assert centre == pytest.approx(a.mean(axis=0))
        assert np.abs((a - centre) @ normal).max() < 1e-12
        assert np.linalg.norm(a - centre, axis=1).max() == pytest.approx(radius)


def test_a_facet_reaches_the_average_plane_with_its_corners_and_never_farther_than_its_disc():
    for a, b in facing_triangles(np.random.default_rng(1)):
        found = meeting_of(*a.ravel(), 1.0, *b.ravel(), 1.0)
        m, p, q, reach_a, reach_b = np.array(found[:3]), np.array(found[3:6]), np.array(found[6:9]), found[9], found[10]
        first, second = (np.array(facet_of(*corners.ravel(), 1.0)) for corners in (a, b))
        assert m @ m == pytest.approx(1.0)
        if max(first[6], second[6]) > 2.0 * min(first[6], second[6]):
            continue
        assert first[3:6] @ m == pytest.approx(-second[3:6] @ m)  # the same angle to both
        assert reach_a == pytest.approx(((a - p) @ m).max())
        assert reach_b == pytest.approx((-(b - q) @ m).max())
        for facet, reach in ((first, reach_a), (second, reach_b)):
            sine = np.sqrt(max(0.0, 1.0 - (facet[3:6] @ m) ** 2))
            assert 0.0 <= reach <= facet[6] * sine + 1e-12  # the paper's r sin θ
        # Moved apart along m until nothing is left of the gap, the plane has one triangle on either side.
        gap = m @ (q - p) - (reach_a + reach_b)
        assert ((b - gap * m) @ m).min() == pytest.approx((a @ m).max())


def test_facets_whose_normals_are_equal_have_no_plane():
    assert average_normal(0.0, 0.0, 1.0, 0.0, 0.0, 1.0) == (0.0, 0.0, 0.0)


def test_a_large_facet_below_a_small_one_is_the_plane():
    large = np.array([[-9.0, -9.0, 0.0], [90.0, -9.0, 0.0], [-9.0, 90.0, 0.0]])
    small = np.array([[3.0, 3.0, 0.1], [3.0, 3.2, 0.15], [3.2, 3.0, 0.12]])  # leans, and looks down
    for first, second, sign in ((small, large, -1.0), (large, small, 1.0)):
        found = np.array(meeting_of(*first.ravel(), 1.0, *second.ravel(), 1.0))
        m, centres, reaches = found[:3], found[3:9].reshape(2, 3), found[9:11]
        assert m == pytest.approx([0.0, 0.0, sign])  # a smooth plate pushes along its own normal, whatever lies on it
        assert centres[int(sign < 0.0)] == pytest.approx([*small.mean(axis=0)[:2], 0.0])
        assert centres[int(sign > 0.0)] == pytest.approx(small.mean(axis=0))
        assert m @ (centres[1] - centres[0]) - reaches.sum() == pytest.approx(0.1)  # of the lowest corner
    # Beside the large one, past its edge, its plane says nothing: the average of the two counts.
    beside = small - [13.0, 0.0, 0.2]
    m = np.array(meeting_of(*beside.ravel(), 1.0, *large.ravel(), 1.0)[:3])
    one, other = (np.array(facet_of(*corners.ravel(), 1.0)[3:6]) for corners in (beside, large))
    assert m == pytest.approx((one - other) / np.linalg.norm(one - other))


def two_boxes(kinds, overlap, velocity=(0.0, 0.0, 0.0), **settings):
    """A box above another, and the one pair of facets at which they meet; each soft, rigid, or static."""
    world, materials = World(), {}
    for name, kind, shift in (("below", kinds[0], (0.0, 0.0, -0.5)), ("above", kinds[1], (0.05, 0.02, 0.5 - overlap))):
        world.add(build.box(), translation(shift), name, deformable=kind == "soft", static=kind == "static")
        if kind == "soft":
            materials[name] = SoftMaterial(cells=2)
    if "soft" not in kinds:
        world.add(build.box(), translation((9.0, 0.0, 0.0)), "far", deformable=True)
        materials["far"] = SoftMaterial(cells=1)
    moves = np.zeros((len(world), 3))
    moves[1] = velocity
    if kinds[1] == "static":  # then the one below comes up
        moves[0], moves[1] = -moves[1], 0.0
    simulation = SoftSimulation(world, materials, velocity=moves, dt=0.1, **settings)
    nodes, frames, h = simulation._arrays.nodes, simulation._frames, 0.01
    nodes.before[:] = nodes.place - h * nodes.velocity
    up = np.flatnonzero(world["below"].mesh.face_normals[:, 2] > 0.5)[:1]
    down = 12 + np.flatnonzero(world["above"].mesh.face_normals[:, 2] < -0.5)[:1]
    one, zero = np.ones(1), np.zeros(1)
    bodies = np.array([0], np.int32), np.array([1], np.int32)
    pairs = FacetPairs(
        *bodies,
        up.astype(np.int32),
        down.astype(np.int32),
        one,
        one,
        one > 0,
        zero > 0,
        zero.copy(),
        zero.copy(),
        zero.copy(),
        zero.copy(),
    )
    arrays = simulation._arrays

    planes = planes_for(pairs)
    set_planes(arrays.surfaces, nodes, frames, pairs, planes)

    def project(friction=0.0, sticky=0.0):
        return project_pairs(arrays.surfaces, nodes, frames, pairs, planes, h, friction, sticky, False)

    def gap():
        """Of the centres, as the model has them: the faces are level."""
        simulation._place_surfaces()
        middles = []
        for kind, face in zip(kinds, (int(pairs.face_a[0]), int(pairs.face_b[0])), strict=True):
            if kind == "soft":
                weights = arrays.surfaces.face_weight[face][:, None]
                middles.append((weights * nodes.place[arrays.surfaces.face_node[face]]).sum(axis=0))
            else:
                middles.append(simulation._points[arrays.surfaces.face[face]].mean(axis=0))
        return float(middles[1][2] - middles[0][2])

    def momentum():
        soft = (arrays.mass[:, None] * (nodes.place - nodes.before) / h).sum(axis=0)
        free = simulation._matter.free
        return soft + (simulation._matter.mass[free, None] * frames.velocity[free]).sum(axis=0)

    return simulation, pairs, project, gap, momentum


KINDS = [
    ("soft", "soft"),
    ("soft", "rigid"),
    ("rigid", "soft"),
    ("rigid", "rigid"),
    ("soft", "static"),
    ("static", "soft"),
    ("static", "rigid"),
]


@pytest.mark.parametrize("kinds", KINDS)
def test_a_projection_brings_the_gap_back_to_nought_and_keeps_momentum(kinds):
    simulation, pairs, project, gap, momentum = two_boxes(kinds, 0.01, (0.1, 0.0, -0.7))
    assert gap() == pytest.approx(-0.01)
    before, centre = momentum(), simulation._frames.centre.copy()
    assert project() == 1
    assert pairs.held[0]
    assert gap() == pytest.approx(0.0, abs=3e-4)
    if "static" not in kinds:
        assert momentum() == pytest.approx(before, abs=1e-9)
    for row, kind in enumerate(kinds):
        if kind == "static":
            assert (simulation._frames.centre[row] == centre[row]).all()


@pytest.mark.parametrize("kinds", [("soft", "soft"), ("static", "rigid"), ("static", "soft")])
def test_an_old_overlap_is_set_apart_without_any_speed(kinds):
    simulation, _, project, gap, _ = two_boxes(kinds, 0.01)
    most = LARGEST_SHIFT * math.sqrt(5.0) / 3.0  # the farthest corner of half a unit square from its middle
    for k in (1, 2, 3):
        project()
        assert gap() == pytest.approx(-max(0.01 - k * most, 0.0), abs=1e-4)
    nodes = simulation._arrays.nodes
    assert np.abs(nodes.place - nodes.before).max() < 1e-15
    assert np.abs(simulation._frames.velocity).max() == 0.0


def test_a_rigid_body_takes_the_displacement_of_least_squares():
    simulation, _, project, _, _ = two_boxes(("static", "rigid"), 0.002, (0.0, 0.0, -1.0))
    frames, matter = simulation._frames, simulation._matter
    before = frames.velocity[1].copy(), frames.spin[1].copy()
    centre = frames.centre[1].copy()
    facets = simulation._arrays.surfaces
    corners = simulation._points[facets.face[12 + np.flatnonzero(simulation.world["above"].mesh.face_normals[:, 2] < -0.5)[0]]]
    arm = corners.mean(axis=0) - centre
    project()
    change = np.concatenate([frames.velocity[1] - before[0], frames.spin[1] - before[1]])
    # Of all changes (v, w) with (v + w × arm)_z = s the one with the least m v² + w·I w.
    weights = np.concatenate([np.full(3, matter.mass[1]), matter.moments[1]])  # a cube: any axes are principal ones
    row = np.concatenate([[0.0, 0.0, 1.0], np.cross(arm, [0.0, 0.0, 1.0])])
    wanted = row / weights / (row * row / weights).sum() * (row @ change)
    assert change == pytest.approx(wanted, abs=1e-9)
    assert row @ change == pytest.approx(0.2, abs=1e-6)  # the overlap of 0.002 within the substep of 0.01


def slip_after(kinds, friction):
    """How far the two facets have slipped over each other in the substep, after one projection; and the change of momentum."""
    simulation, pairs, project, _, momentum = two_boxes(kinds, 0.01, (0.4, 0.0, -1.0))
    surfaces, faces = simulation._arrays.surfaces, (int(pairs.face_a[0]), int(pairs.face_b[0]))
    middles = [simulation._points[surfaces.face[face]].mean(axis=0) for face in faces]
    before = momentum()
    project(friction)
    nodes, frames = simulation._arrays.nodes, simulation._frames
    ways = [np.array(displacement_of(surfaces, nodes, frames, k, faces[k], *middles[k], 0.01)) for k in (0, 1)]
    return (ways[1] - ways[0])[:2], momentum() - before


@pytest.mark.parametrize("kinds", [("soft", "soft"), ("static", "rigid"), ("static", "soft")])
def test_friction_shifts_by_at_most_its_share_of_the_push(kinds):
    free, change = slip_after(kinds, 0.0)
    size = float(np.linalg.norm(free))
    assert size > 1e-4
    assert np.abs(change[:2]).max() < 1e-9
    for friction in (0.02, 5.0):
        slip, change = slip_after(kinds, friction)
        left = float(slip @ free) / size
        assert (left > 0.1 * size) == (friction < 1.0)  # a little does not hold it, much does
        assert -1e-9 < left < size  # against the slip, and never beyond
        if kinds[0] == "static":  # all that is pushed is the body above
            rubbed = float(np.linalg.norm(change[:2]))
            assert rubbed <= friction * change[2] * (1.0 + 1e-9)
            if friction < 1.0:
                assert rubbed == pytest.approx(friction * change[2], rel=1e-6)
                assert change[:2] @ free == pytest.approx(-rubbed * size, rel=1e-6)  # opposite to the slip
        else:
            assert change == pytest.approx(0.0, abs=1e-9)


def test_a_sticky_pair_is_held_until_it_parts_fast_enough():
    for speed, held in ((0.5, True), (1.5, False)):
        _, pairs, project, gap, _ = two_boxes(("static", "soft"), -0.01 * speed, (0.0, 0.0, speed))
        assert project(sticky=1.0) == 0  # it has not met the other yet
        pairs.held[0] = True
        assert project(sticky=1.0) == int(held)
        assert bool(pairs.held[0]) == held
        if held:
            assert gap() == pytest.approx(0.0, abs=3e-4)
