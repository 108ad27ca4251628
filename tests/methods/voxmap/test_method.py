"""Voxmap in a world: rows, kinds, depths and normals of balls and boxes, whose truth is known, and what must not change them."""

import numpy as np
import pytest

import jostle
from jostle.broad_phase import BROAD_PHASES
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.pool import map_chunks
from jostle.methods.voxmap import detector, shape_arrays
from jostle.methods.voxmap.voxel_size import REACH
from jostle.shapes import build
from jostle.shapes.analytic import Sphere
from tests.methods.voxmap.prepared_once import prepare_each_mesh_once
from tests.tiny import box, random_pose

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance", "depth", "time", "segment", "normal")


@pytest.fixture(autouse=True)
def _once(monkeypatch):
    prepare_each_mesh_once(monkeypatch)


def world_of(method, *bodies, **settings):
    world = jostle.World(method, **settings)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def same_rows(one, other):
    assert len(one.contacts) == len(other.contacts)
    for name in COLUMNS:
        mine, theirs = getattr(one.contacts, name), getattr(other.contacts, name)
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), name
    if len(one.contacts):
        assert np.array_equal(one.contacts.details.area, other.contacts.details.area)
        assert np.array_equal(one.contacts.details.place, other.contacts.details.place)
    assert list(one.pairs) == list(other.pairs)
    assert one.pairs.kind.tolist() == other.pairs.kind.tolist()


BALL = build.icosphere(4)
SMALL = build.icosphere(3, 0.4)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_depths_normals_and_points_of_two_balls(both, turned):
    rng = np.random.default_rng(1)
    method = jostle.Voxmap(accuracy=0.05, both=both)
    accuracy, voxel = 0.05, 0.05 / REACH
    for distance in (1.3, 1.38):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        meshes = [SMALL, BALL] if turned else [BALL, SMALL]
        world = world_of(method, *((mesh, random_pose(rng, 0.0)) for mesh in meshes))
        world[1].pose = translation(distance * direction) @ world[1].pose
        centres = np.array([body.pose[:3, 3] for body in world])
        radii = np.array([1.0 if mesh is BALL else 0.4 for mesh in meshes])
        contacts = world.detect().contacts
        assert len(contacts) > 20
        assert (contacts.face_a == -1).all()
        assert (contacts.face_b == -1).all()
        assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
        # Balls: the normal leads from the centre of a to that of b but for the angle under which a contact is seen.
        along = (centres[1] - centres[0]) / np.linalg.norm(centres[1] - centres[0])
        assert (contacts.normal @ along > 0.7).all()
        # Ends of a row: one belongs to each body, within the band of its surface.
        for end in (0, 1):
            off = np.linalg.norm(contacts.segment[:, end] - centres[end], axis=1) - radii[end]
            assert off.max() < accuracy
        # The shell point is in the voxel, half its diagonal from the centre at most, and its foot √3 shell voxels from it.
        lengths = np.linalg.norm(contacts.segment[:, 1] - contacts.segment[:, 0], axis=1)
        assert lengths.max() < voxel * (np.sqrt(0.75) + np.sqrt(1.5) + 0.01)
        # Feet are on the surface of the body that gives the shell.
        off = [np.abs(np.linalg.norm(contacts.details.place - centres[end], axis=1) - radii[end]) for end in (0, 1)]
        assert np.minimum(*off).max() < 0.006
        # Depth: of the foot in the ball of the map.
        gaps = [np.linalg.norm(contacts.segment[:, 1 - end] - centres[end], axis=1) - radii[end] for end in (0, 1)]
        near = np.minimum(*(np.abs(gap - contacts.distance) for gap in gaps))
        assert near.max() < 0.006  # chords of the balls, and the curvature within a voxel
        assert np.array_equal(contacts.depth, np.maximum(0.0, -contacts.distance))
        assert contacts.depth.max() > 1.4 - distance - accuracy
        assert ((contacts.kind == jostle.Kind.CROSSING) == (contacts.distance < 0)).all()
        assert ((contacts.kind == jostle.Kind.TOUCHING) == (contacts.distance >= 0)).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_every_foot_inside_is_a_row_wherever_the_voxels_are(grouped):
    """Shallow contacts with the middles of the sides of a box, with shells turned any way; some have no point in a voxel."""
    rng = np.random.default_rng(12)
    block, without_points = build.box((1.0, 1.1, 0.9)), 0
    method = jostle.Voxmap(accuracy=0.08, grouped=grouped)
    world = world_of(method, (block, None), (SMALL, None))
    world.detect()
    shape = world._shapes[SMALL.digest]
    points_alone = world_of(jostle.Voxmap(accuracy=0.08, depth=False), (block, None), (SMALL, None))
    for _ in range(60):
        away = np.array([*rng.uniform(-0.1, 0.1, 2), 0.0])[rng.permutation(3)]
        axis = int(np.flatnonzero(away == 0.0)[0])
        away[axis] = 0.5 * (1.0, 1.1, 0.9)[axis] + 0.4 - rng.uniform(0.0, 0.08) * rng.uniform(0.0, 1.0)
        world[1].pose = points_alone[1].pose = translation(away) @ random_pose(rng, 0.0)
        feet = (shape.feet + shape.middle) @ world[1].pose[:3, :3].T + world[1].pose[:3, 3]
        inside = (np.abs(feet) < np.array([0.5, 0.55, 0.45]) - 1e-4).all(axis=1)
        report = world.detect()
        rows = report.contacts.select(report.contacts.depth > 1e-5)
        gaps = np.linalg.norm(feet[inside][:, None] - rows.details.place, axis=2)
        assert len(rows) >= inside.sum()
        assert inside.sum() == 0 or gaps.min(axis=1).max() < 1e-6
        without_points += bool(report) and not points_alone.detect()
        assert list(world.detect(rows="pairs").pairs) == list(world.detect(rows="any").pairs) == list(report.pairs)
    assert without_points > 0


def test_rows_are_sorted_by_pair_and_the_first_is_the_deepest():
    rng = np.random.default_rng(2)
    bodies = [(mesh, random_pose(rng, 0.7)) for mesh in (BALL, SMALL, box(), SMALL, build.torus())]
    for method in (jostle.Voxmap(accuracy=0.1), jostle.Voxmap(across=24), jostle.Voxmap(accuracy=0.1, both=True)):
        world = world_of(method, *bodies)
        whole = world.detect()
        keys = list(zip(whole.contacts.body_a.tolist(), whole.contacts.body_b.tolist(), strict=True))
        assert keys == sorted(keys)
        assert len(set(keys)) > 4
        first = world.detect(rows="first")
        assert list(first.pairs) == list(whole.pairs)
        for k, pair in enumerate(whole.pairs):
            rows = whole.between(*pair)
            best = int(np.argmin(rows.distance))
            assert first.contacts.distance[k] == rows.distance[best]
            assert np.array_equal(first.contacts.segment[k], rows.segment[best])
        pairs = world.detect(rows="pairs")
        assert list(pairs.pairs) == list(whole.pairs)
        assert len(pairs.contacts) == 0
        assert pairs.counters.look_ups < whole.counters.look_ups
        assert set(world.detect(rows="any").pairs) <= set(whole.pairs)
        assert len(world.detect(rows="any").pairs) == 1


def test_swapping_the_bodies_swaps_the_rows():
    rng = np.random.default_rng(4)
    for method in (jostle.Voxmap(accuracy=0.1), jostle.Voxmap(across=20, both=True)):
        for _ in range(5):
            poses = random_pose(rng, 0.5), random_pose(rng, 0.5)
            one = world_of(method, (BALL, poses[0]), (box(), poses[1])).detect().contacts
            other = world_of(method, (box(), poses[1]), (BALL, poses[0])).detect().contacts
            assert len(one) == len(other) > 0
            mine = np.lexsort(one.segment.reshape(len(one), -1).round(9).T)
            order = np.lexsort(other.segment[:, ::-1].reshape(len(other), -1).round(9).T)
            assert np.allclose(one.segment[mine], other.segment[order][:, ::-1], atol=1e-9)
            assert np.allclose(one.normal[mine], -other.normal[order], atol=1e-9)
            assert np.allclose(np.sort(one.depth), np.sort(other.depth), atol=1e-12)


@pytest.mark.parametrize("both", [False, True])
def test_grouping_and_broad_phases_change_no_row(both):
    rng = np.random.default_rng(5)
    bodies = [(mesh, random_pose(rng, 1.5)) for mesh in (BALL, SMALL, box(), build.torus(), SMALL, box()) for _ in range(3)]
    expected = world_of(jostle.Voxmap(accuracy=0.1, both=both), *bodies).detect()
    assert len(expected.pairs) > 20
    paper = world_of(jostle.Voxmap(accuracy=0.1, both=both, grouped=False), *bodies).detect()
    same_rows(expected, paper)
    assert expected.counters.look_ups < paper.counters.look_ups
    for broad in [None, *(set(BROAD_PHASES) - {"priority_queue"}), "priority_queue(speed=1e3)"]:
        if isinstance(broad, str) and broad.partition("(")[0] not in BROAD_PHASES:
            continue
        found = world_of(jostle.Voxmap(accuracy=0.1, both=both, broad=broad), *bodies).detect()
        same_rows(expected, found)
        assert found.counters.body_pairs >= len(expected.pairs)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("pieces", "rows_apart"), [(3, 50), (1, 1000), (7, 333)])
def test_threads_give_the_same_bytes(both, pieces, rows_apart, monkeypatch):
    portions = []

    def counted(work, count, chunk, workers):
        portions.append((work.__name__, -(-count // chunk)))
        return map_chunks(work, count, chunk, workers)

    for name, value in (("PIECES_APART", pieces), ("ROWS_APART", rows_apart), ("map_chunks", counted)):
        monkeypatch.setattr(detector, name, value)
    rng = np.random.default_rng(6)
    bodies = [(mesh, random_pose(rng, 0.8)) for mesh in (BALL, SMALL, box(), build.torus(), SMALL)]
    worlds = [world_of(jostle.Voxmap(accuracy=0.05, both=both), *bodies, workers=workers) for workers in (1, 2, None)]
    for rows in ("faces", "first", "pairs", "any"):
        one, *others = [world.detect(rows=rows) for world in worlds]
        assert one
        for other in others:
            same_rows(one, other)
            assert one.counters == other.counters
    assert {name for name, count in portions if count > 1} == {"part", "measure", "describe"}


@pytest.mark.small
def test_tasks_are_cut_where_the_look_up_stopped_and_every_piece_is_in_one_part(monkeypatch):
    monkeypatch.setattr(detector, "PIECES_APART", 4)
    tasks = np.zeros((5, shape_arrays.TASK), np.int32)
    tasks[:, shape_arrays.PAIR], tasks[:, shape_arrays.END_PIECE] = range(5), (3, 9, 0, 4, 21)
    frames = np.arange(60.0).reshape(5, 12)
    every = [(pair, piece) for pair, *_, first, end in tasks.tolist() for piece in range(first, end)]
    for task in range(5):
        for piece in range(max(1, tasks[task, shape_arrays.END_PIECE])):
            cut, moved, begun = detector._cut(tasks, frames, task, piece)
            pieces = [(pair, piece) for pair, *_, first, end in cut.tolist() for piece in range(first, end)]
            assert pieces == every
            done = sum(end - first for *_, first, end in cut[:begun].tolist())
            assert done == tasks[:task, shape_arrays.END_PIECE].sum() + piece
            assert np.array_equal(moved, frames[cut[:, shape_arrays.PAIR]])
            assert (cut[begun:, shape_arrays.END_PIECE] - cut[begun:, shape_arrays.FIRST_PIECE]).max() <= 4
            # The deep points of a pair are looked up with the part that begins its shell: each has one.
            assert cut[cut[:, shape_arrays.FIRST_PIECE] == 0, shape_arrays.PAIR].tolist() == list(range(5))


def test_pairs_are_placed_in_portions(monkeypatch):
    rng = np.random.default_rng(16)
    bodies = [(mesh, random_pose(rng, 1.2)) for mesh in (BALL, SMALL, box(), SMALL, build.torus(), box())]
    for both in (False, True):
        monkeypatch.setattr(detector, "PAIRS_AT_ONCE", 1 << 20)
        whole = world_of(jostle.Voxmap(accuracy=0.1, both=both, broad=None), *bodies).detect()
        monkeypatch.setattr(detector, "PAIRS_AT_ONCE", 4)
        same_rows(whole, world_of(jostle.Voxmap(accuracy=0.1, both=both, broad=None), *bodies).detect())


def test_a_body_that_comes_or_goes_costs_no_work_on_the_shapes_of_others(monkeypatch):
    made = []

    def counted(shape, grouped):
        made.append(id(shape))
        return arrays_of(shape, grouped)

    arrays_of = detector.arrays_of
    monkeypatch.setattr(detector, "arrays_of", counted)
    world = world_of(jostle.Voxmap(across=16), (BALL, None), (SMALL, translation((1.2, 0, 0))))
    world.detect()
    world.add(box(), translation((0, 1.3, 0)))
    world.detect()
    world.add(SMALL, translation((0, 0, 1.2)))
    world.remove(0)
    report = world.detect()
    assert len(made) == len(set(made)) == 3
    same_rows(report_of_the_same(world), report)


def report_of_the_same(world):
    """What a new world with the same bodies, under the same numbers, reports."""
    fresh = world_of(world.method, (box(), None), *((body.mesh, body.pose) for body in world))
    fresh.remove(0)
    return fresh.detect()


def test_box_tests_are_those_of_this_frame():
    world = world_of(jostle.Voxmap(across=8), *((SMALL, translation((0.7 * k, 0, 0))) for k in range(6)))
    assert world.detect().counters.box_tests > 0
    for body in list(world)[2:]:
        world.remove(body)
    assert world.detect().counters.box_tests == 0  # two bodies need no grid


def test_how_far_points_reach_does_not_depend_on_the_portions(monkeypatch):
    rng = np.random.default_rng(9)
    points, directions, middle = rng.normal(size=(1000, 3)), rng.normal(size=(20, 3)), np.array([1.0, 2.0, 3.0])
    expected = ((points + middle) @ directions.T).max(axis=0)
    for portion in (1 << 20, 1000, 999, 7):
        monkeypatch.setattr(detector, "ROWS_APART", portion)
        assert np.allclose(detector._farthest_along(directions, points, middle), expected, rtol=1e-14)


def test_a_body_inside_another_is_found_whoever_gives_the_shell():
    shallow = build.icosphere(2, 0.25)
    for method, kind in (
        (
            jostle.Voxmap(accuracy=0.1),
            jostle.Kind.CROSSING,
        ),  # equal voxels, fewer points: the inner one's shell is in the outer one
        (jostle.Voxmap(across=12), jostle.Kind.CROSSING),
    ):
        assert world_of(method, (BALL, None), (shallow, translation((0.2, 0.1, 0)))).detect().pairs.kind.tolist() == [kind]
    # The outer body gives the shell: its voxels are smaller, and none of its points is in the inner one.
    cut, coarse = jostle.Voxmap(across=64).prepare_shape(BALL), jostle.Voxmap(across=6).prepare_shape(shallow)
    for inner_first in (False, True):
        world = jostle.World(jostle.Voxmap(across=6))
        meshes = (shallow, BALL) if inner_first else (BALL, shallow)
        shapes = (coarse, cut) if inner_first else (cut, coarse)
        for mesh in meshes:
            world.add(mesh)
        world[1].pose = translation((0.3, 0.2, 0.1))
        for mesh, shape in zip(meshes, shapes, strict=True):
            world._shapes[mesh.digest] = shape
        report = world.detect()
        assert report.pairs.kind.tolist() == [jostle.Kind.A_IN_B if inner_first else jostle.Kind.B_IN_A]
        assert report.contacts.depth[0] > 0.1
        assert np.allclose(np.linalg.norm(report.contacts.normal, axis=1), 1.0)
        assert world.detect(rows="pairs").pairs.kind.tolist() == report.pairs.kind.tolist()
        assert len(world.detect(rows="any").pairs) == len(world.detect(rows="first").contacts) == 1


def test_boxes_grow_by_what_is_theirs_whatever_the_order_of_the_bodies():
    """Balls with large voxels, which meet though the balls do not, and between them in the list one with tiny voxels."""
    rng = np.random.default_rng(21)
    tiny, apart_but_found = build.icosphere(1, 0.02), 0
    for trial in range(12):
        away = rng.normal(size=3) * (1.0, 0.05, 0.05)
        away *= (2.0 + rng.uniform(0.03, 0.12)) / np.linalg.norm(away)
        bodies = [(BALL, None), (tiny, translation((0, 5.0, 0))), (BALL, translation(away))]
        expected = world_of(jostle.Voxmap(across=10, broad=None), *bodies).detect()
        apart_but_found += bool(expected)
        for broad in ("uniform_grid", ("fast_aabb", "bounding_spheres")[trial % 2]):
            same_rows(expected, world_of(jostle.Voxmap(across=10, broad=broad), *bodies).detect())
    assert apart_but_found > 3


def test_analytic_surfaces_bulge_out_of_their_vertices_behind_any_broad_phase():
    """Balls given by a formula, with few faces each: they meet where no vertex is."""
    rough = jostle.Mesh(analytic=Sphere(1.0, segments=8))
    assert rough.analytic is not None
    pose = rotation_about((1, 2, 3), 0.6)
    away = np.array([0.55, 0.64, -0.53])
    away *= 1.9 / np.linalg.norm(away)
    bodies = [(rough, pose), (rough, translation(away) @ pose), (rough, translation(1.3 * away)), (rough, translation((9.0, 0, 0)))]
    expected = world_of(jostle.Voxmap(across=20, broad=None), *bodies).detect()
    assert list(expected.pairs) == [(0, 1), (1, 2)]
    for broad in ("uniform_grid", "fast_aabb", "coherent_aabb", "bounding_spheres", "priority_queue(speed=1e3)"):
        same_rows(expected, world_of(jostle.Voxmap(across=20, broad=broad), *bodies).detect())


def test_without_depth_there_are_points_and_normals():
    method = jostle.Voxmap(accuracy=0.1, depth=False)
    assert jostle.interface.traits.Answer.DEPTH not in method.traits.answers
    contacts = world_of(method, (BALL, None), (BALL, translation((1.9, 0, 0)))).detect().contacts
    assert len(contacts) > 5
    assert np.isnan(contacts.depth).all()
    assert np.isnan(contacts.distance).all()
    assert (contacts.kind == jostle.Kind.CROSSING).all()
    assert (contacts.normal[:, 0] > 0.5).all()


def test_surfaces_are_found_where_they_cross_and_not_inside():
    method = jostle.Voxmap(accuracy=0.2, surface_only=True)
    sheet = jostle.Mesh(box().vertices, box().faces[:2])
    assert world_of(method, (BALL, None), (sheet, translation((0.9, 0, 0)))).detect()
    assert not world_of(method, (BALL, None), (build.icosphere(2, 0.2), None)).detect()  # inside: not the surface
    with pytest.raises(jostle.Unsupported, match="open"):
        jostle.World("voxmap").add(sheet)


def test_shapes_are_shared_saved_and_loaded(tmp_path):
    world = world_of(jostle.Voxmap(across=16), *((SMALL, translation((0.5 * k, 0, 0))) for k in range(5)), (box(), None))
    before = world.detect()
    assert len(world._detector._table.table) == 2
    world.save(tmp_path / "world.npz")
    again = jostle.World.load(tmp_path / "world.npz")
    same_rows(before, again.detect())
    assert again.method == jostle.Voxmap(across=16)
    again.add(BALL, translation((1.0, 0, 0)))
    again.remove(0)
    fresh = world_of(jostle.Voxmap(across=16), *((body.mesh, body.pose) for body in again))
    assert len(again.detect().contacts) == len(fresh.detect().contacts) > len(before.contacts) / 2


@pytest.mark.small
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"accuracy": 0.0}, "Voxmap: accuracy is 0.0; it must be a positive length"),
        ({"accuracy": "fine"}, "Voxmap: accuracy is 'fine'; pass a number"),
        ({"across": 0}, "Voxmap: across is 0; it must be at least 1 and at most 2048"),
        ({"across": 4096}, "Voxmap: across is 4096; it must be at least 1 and at most 2048"),
        ({"axis": 3}, "Voxmap: axis is 3; it must be at least 0 and at most 2"),
        ({"both": 1}, "Voxmap: both is 1; pass True or False"),
        ({"memory": 0}, "Voxmap: memory is 0; it must be at least 1"),
        ({"broad": "nonsense"}, "Voxmap: there is no broad phase 'nonsense'"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(jostle.InputError, match=message.replace("(", r"\(")):
        jostle.Voxmap(**settings)


@pytest.mark.small
def test_maps_that_are_too_long_for_float32_are_refused_with_what_fits():
    rod = box((0, 0, 0), (1000.0, 1.0, 1.0), name="rod")
    with pytest.raises(jostle.InputError, match=r"mesh 'rod'.*4000 voxels long.*at most 2048.*accuracy=0.773"):
        jostle.Voxmap(accuracy=0.25 * REACH).prepare_shape(rod)


@pytest.mark.small
def test_the_guarantee_is_in_the_traits():
    assert str(jostle.Voxmap(accuracy=0.01).guarantee) == "within 0.01"
    assert str(jostle.Voxmap().guarantee).startswith("within 0.0247 of the size")
    assert jostle.Voxmap(surface_only=True).guarantee.value == pytest.approx(3.405 / 64, rel=1e-3)


def test_normals_lead_from_a_into_b_for_boxes_and_deep_contacts():
    for pose, along in ((translation((0.9, 0.1, 0.05)), 0), (translation((0.1, -0.93, 0.1)) @ rotation_about((0, 1, 0), 0.0), 1)):
        contacts = world_of(jostle.Voxmap(accuracy=0.05), (box(), None), (box(), pose)).detect().contacts
        towards = np.sign(pose[along, 3])
        # Points in the middle of the overlap see both faces; most see the nearest one.
        assert np.median(contacts.normal[:, along] * towards) > 0.95
        assert (contacts.normal[contacts.depth > 0.02][:, along] * towards > -0.1).all()
