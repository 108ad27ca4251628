"""Separating planes: what is cached and when it is used, what is prepared, kinds, hulls of concave bodies, and what is shown."""

import pickle

import numpy as np
import pytest

import jostle
from jostle.broad_phase import UniformGrid
from jostle.geometry.gjk import empty_search, found_by, open_search
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.vector import Vec3
from jostle.interface.traits import Need
from jostle.kernels.jit import kernel
from jostle.methods.separating_plane import method as module
from jostle.methods.separating_plane.fallback import Triangles, surface_of
from jostle.methods.separating_plane.planes import RECORD, State, recall_simplex, remember, view_record
from jostle.methods.separating_plane.vertices import leads_to_every_support, vertices_of
from jostle.shapes import build
from jostle.shapes.hull import hull
from tests.tiny import box, random_pose, tetrahedron


def world_of(*bodies, **settings):
    world = jostle.World(jostle.SeparatingPlane(**settings))
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def pairs_of(world):
    return world.detect(rows="pairs")


@pytest.mark.small
def test_a_plane_that_still_separates_is_not_sought_again():
    world = world_of((box(), None), (box(), translation((1.5, 0, 0))), (box(), translation((0.5, 0.5, 0.5))))
    first = pairs_of(world).counters
    assert (first.body_pairs, first.look_ups, first.distance_tests) == (3, 0, 3)
    world[1].pose = translation((1.4, 0.2, 0.3)) @ rotation_about((1, 0, 0), 0.3)
    second = pairs_of(world)
    assert (second.counters.look_ups, second.counters.distance_tests) == (1, 2)  # the two that meet have none
    assert list(second.pairs) == [(0, 2), (1, 2)]


@pytest.mark.small
def test_a_plane_that_no_longer_separates_is_replaced():
    world = world_of((box(), None), (box(), translation((1.5, 0, 0))))
    pairs_of(world)
    world[1].pose = translation((0.0, 1.5, 0.0))  # free, but not by that plane
    moved = pairs_of(world)
    assert not moved
    assert (moved.counters.look_ups, moved.counters.distance_tests) == (0, 1)
    again = pairs_of(world)
    assert (again.counters.look_ups, again.counters.distance_tests) == (1, 0)
    world[1].pose = translation((0.0, 0.5, 0.0))
    assert pairs_of(world)
    world[1].pose = translation((0.0, 1.5, 0.0))
    assert not pairs_of(world)


@pytest.mark.small
def test_without_cache_every_plane_is_sought():
    world = world_of((box(), None), (box(), translation((1.5, 0, 0))), cache=False)
    for _ in range(3):
        counters = pairs_of(world).counters
        assert (counters.look_ups, counters.distance_tests) == (0, 1)


@pytest.mark.small
def test_far_bodies_are_decided_by_their_spheres_and_near_ones_by_their_vertices():
    """Slabs side by side: their spheres overlap, so only vertices can show that the plane holds."""
    slab = box((0, 0, 0), (1, 1, 0.01))
    world = world_of((slab, None), (slab, translation((0, 0, 0.02))), (slab, translation((0, 0, 9.0))))
    pairs_of(world)
    counters = pairs_of(world).counters
    assert (counters.look_ups, counters.distance_tests) == (3, 0)
    world[1].pose = translation((0, 0, 0.005))
    report = pairs_of(world)
    assert list(report.pairs) == [(0, 1)]
    assert report.counters.look_ups == 2


@pytest.mark.small
def test_planes_follow_bodies_that_come_and_go():
    # Each pair has a plane of its own, which does not separate any other pair.
    world = world_of(*((box(), translation(place)) for place in ((0, 0, 0), (1.5, 0, 0), (0, 1.5, 0), (0, 0, 1.5))))
    pairs_of(world)
    world.remove(1)
    world.add(box(), translation((9, 9, 9)))
    counters = pairs_of(world).counters
    assert (counters.body_pairs, counters.look_ups, counters.distance_tests) == (6, 3, 3)


@pytest.mark.small
def test_an_interrupted_detect_has_changed_nothing(monkeypatch):
    world = world_of((box(), None), (box(), translation((1.5, 0, 0))))
    pairs_of(world)
    detector = world._detector
    before = detector._memory.records.copy()
    real = module.separate_pairs

    def interrupted(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    world[1].pose = translation((0.0, 1.5, 0.0))
    monkeypatch.setattr(module, "separate_pairs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pairs_of(world)
    assert detector._memory.records.tobytes() == before.tobytes()
    monkeypatch.undo()
    assert not pairs_of(world)


@pytest.mark.small
def test_slices_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    bodies = [(tetrahedron(), random_pose(rng, 1.0)) for _ in range(9)]
    whole = pairs_of(world_of(*bodies))
    monkeypatch.setattr(module, "FIRST_SLICE", 1)
    cut = pairs_of(world_of(*bodies))
    assert 3 < len(whole.pairs) < 36
    assert list(cut.pairs) == list(whole.pairs)
    assert cut.pairs.distance.tobytes() == whole.pairs.distance.tobytes()
    assert cut.counters == whole.counters


@pytest.mark.small
def test_answers_turn_at_half_of_the_resolution_whatever_was_seen_before():
    for resolution in (1e-6, 1e-2):
        world = world_of((box(), None), (box(), None), resolution=resolution)
        fresh = []
        for gap in (2.0, 0.51, 0.49, 2.0, 0.0, 0.49, 0.51, 0.49):
            pose = translation((1.0 + gap * resolution, 0.3, 0.2))
            world[1].pose = pose
            fresh.append((bool(pairs_of(world)), gap < 0.5))
            assert bool(pairs_of(world_of((box(), None), (box(), pose), resolution=resolution))) == (gap < 0.5)
        assert all(found == expected for found, expected in fresh)


@pytest.mark.small
def test_kinds_and_distances_of_pairs():
    def pair(shift):
        pairs = pairs_of(world_of((box(), None), (box(), translation(shift)))).pairs
        assert pairs.rows.tolist() == [0]
        assert np.isnan(pairs.time).all()
        return jostle.Kind(int(pairs.kind[0])).name, float(pairs.distance[0])

    assert pair((0.5, 0.2, 0.1)) == ("CROSSING", 0.0)
    assert pair((0.0, 0.0, 0.0)) == ("CROSSING", 0.0)
    assert pair((1.0, 0.2, 0.1)) == ("TOUCHING", 0.0)
    assert pair((1.0, 1.0, 1.0)) == ("TOUCHING", 0.0)
    kind, distance = pair((1.0 + 3e-7, 0.2, 0.1))
    assert kind == "TOUCHING"
    assert distance == pytest.approx(3e-7, abs=1e-14)


@pytest.mark.small
def test_distance_has_points_and_no_faces():
    world = world_of((box(), None), (box(), translation((0, 3, 0))))
    closest = world.distance(1, 0)
    assert (closest.distance, closest.face_a, closest.face_b) == (2.0, -1, -1)
    assert closest.point_a[1] == 3.0
    assert closest.point_b[1] == 1.0
    assert not pairs_of(world)
    inside = world_of((box((-2, -2, -2), (2, 2, 2)), None), (box(), None)).distance(0, 1)
    assert inside.distance == 0.0
    assert (inside.point_a == inside.point_b).all()


def test_concave_bodies_are_refused_or_taken_by_their_hulls():
    ring, ball = build.torus(1.0, 0.3), build.icosphere(1, 0.2)
    with pytest.raises(
        jostle.Unsupported, match=r"body 'ring' is not convex; SeparatingPlane\(concave='hull'\) takes its convex hull"
    ):
        jostle.World("separating_plane").add(ring, name="ring")
    assert Need.CONVEX not in jostle.SeparatingPlane(concave="hull").traits.needs
    assert pairs_of(world_of((ring, None), (ball, None), concave="hull"))  # in the hole: the hull has none
    assert pairs_of(world_of((ring, None), (ball, translation((0, 0, 0.49))), concave="hull"))
    assert not pairs_of(world_of((ring, None), (ball, translation((0, 0, 0.51))), concave="hull"))
    soup = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9.0]], [[0, 1, 2]])  # open, flat, and a vertex of no face
    assert pairs_of(world_of((soup, None), (ball, translation((0.2, 0.2, 0.1))), concave="hull"))
    assert not pairs_of(world_of((soup, None), (ball, translation((5.0, 5.0, 5.0))), concave="hull"))


def test_a_hull_answers_as_the_mesh_of_that_hull_does():
    from jostle.shapes.hull import hull

    rng = np.random.default_rng(9)
    shuttle = build.shuttle()
    made = hull(shuttle)
    found = 0
    for _ in range(40):
        pose = random_pose(rng, shuttle.size * 0.35)
        by_vertices = world_of((shuttle, None), (shuttle, pose), concave="hull")
        by_hull = world_of((made, None), (made, pose))
        assert bool(pairs_of(by_vertices)) == bool(pairs_of(by_hull))
        assert by_vertices.distance(0, 1).distance == pytest.approx(by_hull.distance(0, 1).distance, abs=1e-12)
        found += bool(pairs_of(by_hull))
    assert 5 < found < 35


@pytest.mark.small
def test_neighbours_are_kept_only_where_they_lead_to_every_support():
    assert leads_to_every_support(build.icosphere(1))
    assert not leads_to_every_support(build.torus())
    flat = jostle.Mesh(
        [[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 2, 0], [0, 2, 0.0]], [[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]]
    )
    two_sided = jostle.Mesh(flat.vertices, np.vstack([flat.faces, flat.faces[:, ::-1]]))
    assert not leads_to_every_support(two_sided)  # an L of no thickness: its inner corner is a dead end
    cube = box()
    slit = jostle.Mesh(cube.vertices, np.vstack([cube.faces, [[0, 1, 1], [1, 0, 0]]]))
    assert not leads_to_every_support(slit)
    assert len(vertices_of(cube).near) == 0  # few vertices: a scan is faster
    ball = vertices_of(build.icosphere(2))
    assert len(ball.near) == 2 * 480
    assert len(ball.points) == 3 * 162


@pytest.mark.small
@pytest.mark.parametrize("faces", [120, 360, 4000])
def test_cones_tip_in_tip_meet_though_the_search_begins_in_the_middle_of_a_flat_base(faces):
    """Along the axis all neighbours of the middle of the base are level with it."""
    cone = build.cone(face_count=faces)
    upside_down = np.diag([1.0, -1.0, -1.0, 1.0])
    for lift, expected in ((1.5, True), (2.5, False)):
        upside_down[2, 3] = lift
        world = jostle.World(jostle.SeparatingPlane())
        world.add(cone)
        world.add(cone, upside_down)
        assert bool(world.detect(rows="pairs")) == expected


def test_unused_and_repeated_vertices_do_not_count():
    corners = box().vertices
    mesh = jostle.Mesh(np.vstack([corners, corners, [[50, 0, 0]]]), box().faces)
    prepared = vertices_of(mesh)
    assert len(prepared.points) == 24
    assert prepared.sphere[3] == pytest.approx(np.sqrt(3) / 2, rel=1e-4)
    ball = build.icosphere(2)
    doubled = jostle.Mesh(
        np.vstack([[[9.0, 9, 9]], ball.vertices, ball.vertices]), np.where(ball.faces % 2, ball.faces + 163, ball.faces + 1)
    )
    assert vertices_of(doubled).points.tobytes() == vertices_of(ball).points.tobytes()
    assert vertices_of(doubled).near.tobytes() == vertices_of(ball).near.tobytes()


@pytest.mark.small
def test_settings_are_checked():
    for wrong in ({"concave": "split"}, {"resolution": 0.0}, {"resolution": -1}, {"resolution": float("nan")}, {"cache": 3}):
        with pytest.raises(jostle.InputError, match="SeparatingPlane"):
            jostle.SeparatingPlane(**wrong)
    with pytest.raises(jostle.InputError, match="SeparatingPlane: there is no broad phase 'magic'"):
        jostle.SeparatingPlane(broad="magic")
    with pytest.raises(jostle.InputError, match="pass a name"):
        jostle.SeparatingPlane(broad=3)
    assert "resolution=0.5" in repr(jostle.SeparatingPlane(resolution=0.5))


def lump_in_needle(seed, shift=0.0):
    """A needle 1e5 long and a lump about a point in it, moved by so much across the needle."""
    rng = np.random.default_rng(seed)
    needle, lump = rng.normal(size=(8, 3)) * [1e5, 4e-3, 8e-2], rng.normal(size=(8, 3)) * 0.02
    lump += rng.dirichlet(np.ones(8)) @ needle - lump.mean(axis=0)
    pose = random_pose(rng, 0.0)
    return (hull(needle, "needle"), pose), (hull(lump, "lump"), pose @ translation((0.0, 0.0, shift)))


def test_pairs_that_the_search_gives_up_on_are_settled_by_their_triangles(monkeypatch):
    """The lumps are inside by construction; some searches end between their bounds."""
    asked = []
    real = Triangles.distance
    monkeypatch.setattr(Triangles, "distance", lambda *arguments: asked.append(real(*arguments)) or asked[-1])
    for seed in range(25):
        bodies = lump_in_needle(seed)
        world = world_of(*bodies, (box((9e5, 9e5, 9e5), (9.1e5, 9.1e5, 9.1e5)), None))
        for _ in range(2):  # with and without a simplex to begin with
            report = pairs_of(world)
            assert list(report.pairs) == [(0, 1)]
            assert report.pairs.kind.tolist() == [jostle.Kind.CROSSING]
            assert report.pairs.distance.tolist() == [0.0]
        assert list(world.detect(rows="any").pairs) == [(0, 1)]
        closest = world.distance(1, 0)
        assert closest.distance <= 1e-9
        assert np.linalg.norm(closest.point_b - closest.point_a) <= 1e-9
        assert not pairs_of(world_of(*lump_in_needle(seed, 2.0)))
    assert len(asked) >= 5
    assert max(gap for gap, *_ in asked) <= 1e-9


@pytest.mark.small
def test_a_pair_whose_triangles_are_apart_is_free_and_gets_their_plane(monkeypatch):
    """As if the search gave up on every pair."""

    def gives_up(body_a, body_b, records, *arguments):
        state, out = arguments[-2].view(State.dtype)[0], arguments[-1]
        pair = state["next_pair"]
        if pair < len(body_a):
            state["gave_up"] = 1
            records[pair] = 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0
            out[state["meeting"]] = pair, jostle.Kind.CROSSING, 0.0
        return 1

    places = (0, 0, 0), (1.5, 0, 0), (1.5, 0.5, 1.0 + 3e-7), (0.2, 0.3, 0.1), (0, 0, 4.0)
    world = world_of(*((box(), translation(place)) for place in places))
    expected = pairs_of(world_of(*((box(), translation(place)) for place in places)))
    monkeypatch.setattr(module, "separate_pairs", gives_up)
    report = pairs_of(world)
    assert list(report.pairs) == list(expected.pairs) == [(0, 3), (1, 2)]
    assert dict(zip(report.pairs, report.pairs.kind.tolist(), strict=True))[1, 2] == jostle.Kind.TOUCHING
    assert report.pairs.distance[list(report.pairs).index((1, 2))] == pytest.approx(3e-7, abs=1e-14)
    monkeypatch.undo()
    assert pairs_of(world).counters.look_ups == 8  # the planes between the closest points hold


@pytest.mark.small
def test_flat_bodies_have_a_surface_of_two_sides():
    square = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0], [0.5, 0.5, 0.5], [0.5, 0, 0.5]], float)
    faces = surface_of(square)
    assert sorted(set(faces.ravel().tolist())) == [0, 1, 2, 3]
    assert len(faces) == 4
    areas = np.cross(square[faces[:, 1]] - square[faces[:, 0]], square[faces[:, 2]] - square[faces[:, 0]])
    assert np.linalg.norm(areas, axis=1).sum() / 2 == pytest.approx(2 * np.sqrt(2))
    assert np.abs(areas.sum(axis=0)).max() == 0.0
    for line in ([[0, 0, 0], [0, 0, 3], [0, 0, 1.0]], [[1, 2, 3], [2, 4, 6], [3, 6, 9.0]], [[5, 5, 5.0]]):
        faces = surface_of(np.array(line))
        ends = np.unique(np.array(line)[faces.ravel()], axis=0)
        assert ends.tolist() == np.unique([min(line), max(line)], axis=0).tolist()
    triangles = Triangles()
    sheet = vertices_of(jostle.Mesh(square, [[0, 1, 2], [0, 2, 3]]))
    cube = vertices_of(box())
    assert triangles.distance(sheet, cube, np.eye(4), np.eye(4))[0] == 0.0
    assert triangles.distance(sheet, cube, translation((0, 0, 3.0)), np.eye(4))[0] == pytest.approx(2.0)
    assert triangles.distance(sheet, sheet, translation((0, 0, 1.0)), np.eye(4))[0] == pytest.approx(1 / np.sqrt(2))


@pytest.mark.small
def test_boxes_of_a_broad_phase_grow_by_the_rounding_of_far_bodies():
    """At 1e9 a resolution of 1e-6 means 2.8e-5: bodies 1e-5 apart are in contact, with a broad phase and without."""
    bodies = (box(), translation((1e9, 0, 0))), (box(), translation((1e9 + 1.0, 0, 1.0 + 1e-5)))
    assert pairs_of(world_of(*bodies))
    for broad in ("brute_force", "uniform_grid"):
        assert pairs_of(world_of(*bodies, broad=broad))


@pytest.mark.small
def test_a_broad_phase_leaves_pairs_out_and_loses_none():
    rng = np.random.default_rng(2)
    bodies = [(tetrahedron(), random_pose(rng, 3.0)) for _ in range(20)]
    all_pairs = pairs_of(world_of(*bodies))
    for broad in ("brute_force", "uniform_grid"):
        some = pairs_of(world_of(*bodies, broad=broad))
        assert list(some.pairs) == list(all_pairs.pairs)
        assert some.counters.body_pairs < all_pairs.counters.body_pairs == 190
    # Boxes that are apart by less than half of the resolution.
    near = [(box(), None), (box(), translation((1.0 + 4e-3, 0, 0)))]
    assert pairs_of(world_of(*near, resolution=1e-2, broad="uniform_grid"))


@pytest.mark.small
def test_overlay_shows_the_planes_between_the_bodies_and_remembers_nothing():
    world = world_of((box(), None), (box(), translation((1.5, 0, 0))), (box(), translation((0.5, 0.2, 0.1))))
    overlay = world.overlay()
    assert overlay.discs.shape == (1, 7)
    centre, normal = overlay.discs[0, :3], overlay.discs[0, 3:6]
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    corners = [np.array(world[k].world_vertices) @ normal for k in (0, 1)]
    assert corners[0].max() < centre @ normal < corners[1].min()
    assert overlay.segments.shape == (1, 2, 3)
    assert pairs_of(world).counters.look_ups == 0


def test_worlds_save_load_and_pickle(tmp_path):
    bodies = (build.icosphere(2), None), (build.icosphere(2), translation((1.5, 0, 0)))
    world = world_of(*bodies, resolution=1e-4, broad=UniformGrid(cell=0.7))
    expected = pairs_of(world).pairs
    world.save(tmp_path / "world.npz")
    for again in (jostle.World.load(tmp_path / "world.npz"), pickle.loads(pickle.dumps(world))):
        assert again.method == world.method
        assert list(pairs_of(again).pairs) == list(expected)


@pytest.mark.small
def test_many_vertices_and_steps_are_packed_without_loss():
    from jostle.methods.separating_plane.planes import TWO_IN_ONE, unpacked

    records = np.full(RECORD, np.nan)
    last = TWO_IN_ONE - 1
    vertex = [(last, 0), (0, last), (last, last), (5, 7)]
    search, again = empty_search(), empty_search()
    found, corners = found_by(search), search.array(0, 0)
    found["support_a"], found["support_b"], found["count"] = last, last - 1, 3
    for corner, (i, j) in zip(corners, vertex, strict=True):
        corner["vertex_a"], corner["vertex_b"] = i, j
    remember_and_recall(records, search.table[0], again.table[0])
    assert records[:3].tolist() == [0.6, 0.8, 0.0]
    assert unpacked(records[3]) == (last, last - 1)
    assert found_by(again)["count"] == 3
    assert [(c["vertex_a"], c["vertex_b"]) for c in again.array(0, 0)[:3]] == vertex[:3]


@kernel
def remember_and_recall(numbers, search, again):
    """Write a record after one search, and begin another with it."""
    record = view_record(numbers)
    remember(record, Vec3(0.6, 0.8, 0.0), open_search(search))
    recall_simplex(record, open_search(again))
