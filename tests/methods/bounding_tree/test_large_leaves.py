"""Few large faces against many small ones: the rows of the oracle, in few tests."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.kernels.jit import kernel
from jostle.kernels.structs import opener, record_viewer
from jostle.kernels.work_arrays import made_arrays
from jostle.methods.bounding_tree import search, static
from jostle.methods.bounding_tree.build import build
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE, AXIS_SLOTS, LeafCache
from jostle.methods.bounding_tree.near_faces import EVERY_FACE, LAST_BIT, LargeLeaf, block_of, moved_block, near_faces
from jostle.methods.bounding_tree.overlap import PairFrame, set_up_frame
from jostle.methods.bounding_tree.tree import TreeShape, Volume, topology_of
from jostle.shapes import build as shapes
from tests.methods.bounding_tree.asking import detected, rows_of
from tests.tiny import box, random_pose, random_soup, relative_pose

VOLUMES = ("obb", "aabb", "sphere")
SMALL = shapes.icosphere(4)  # 5,120 faces
PLATES = {"thin": 0.01, "thick": 0.5, "cube": 6.0}


def plate(thickness):
    return box((-3.0, -3.0, -0.5 * thickness), (3.0, 3.0, 0.5 * thickness))


def on_the_side(thickness, turn):
    """A pose at which a side of a plate goes through the sphere, tilted."""
    return rotation_about((1.0, 2.0, 3.0), turn) @ translation((0.3, -0.2, -0.5 * thickness + 0.1))


# Without tests of single faces: 1,587 node pairs and 1,608 face pairs (thin), 4,221 and 6,888 (thick), 6,106 and 7,492 (cube).
@pytest.mark.parametrize("plate_first", [False, True])
@pytest.mark.parametrize("name", PLATES)
def test_a_plate_meets_a_model_in_few_tests(name, plate_first):
    thickness = PLATES[name]
    bodies = [(SMALL, None), (plate(thickness), on_the_side(thickness, 0.7))]
    bodies = bodies[::-1] if plate_first else bodies
    report = detected("bounding_tree", bodies)
    assert rows_of(report) == rows_of(detected("brute_force", bodies))
    assert report.counters.box_tests < 1500
    assert report.counters.triangle_tests < 800


@pytest.mark.parametrize("volume", VOLUMES)
def test_a_model_within_a_box_is_parted_from_its_sides_in_few_tests(volume):
    """Without tests of single faces: 7,542 to 19,362 node pairs and 18,086 to 21,242 face pairs, by the volume."""
    bodies = [(SMALL, None), (plate(2.5), rotation_about((1.0, 2.0, 3.0), 0.7))]
    report = detected(jostle.BoundingTree(volume=volume), bodies)
    assert len(report.contacts) == 0
    assert report.counters.box_tests < 800
    assert report.counters.triangle_tests == 0


def few_faces():
    """Bodies of 1 to 20 faces as large as a model, and a plate as it is built and tilted in its own frame."""
    yield jostle.Mesh([[0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [-1.0, 2.0, 0.0]], [[0, 1, 2]])
    yield shapes.icosahedron(1.5)
    yield shapes.box((1.2, 0.9, 0.02))
    yield shapes.box((1.2, 0.9, 0.02)).moved(rotation_about((1.0, 0.7, -0.4), 0.83))


@pytest.mark.parametrize("volume", VOLUMES)
def test_few_faces_against_a_model_give_the_rows_of_wide_tree(volume):
    model, method, rng = shapes.blob(3_000, seed=1, roughness=0.6), jostle.BoundingTree(volume=volume), np.random.default_rng(6)
    for mesh in few_faces():
        for scale in (1.0, 0.3, 0.02):
            bodies = [(jostle.Mesh(scale * model.vertices, model.faces), None), (mesh, random_pose(rng, 0.3 * scale))]
            for order in (1, -1):
                assert rows_of(detected(method, bodies[::order])) == rows_of(detected("wide_tree", bodies[::order]))


def slivers(rng, count):
    """Long, thin and degenerate faces, in all directions."""
    start, along = rng.uniform(-1.0, 1.0, (count, 3)), 6.0 * rng.normal(size=(count, 3))
    aside = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16, 1, (count, 1))
    aside[:3] = 0.0
    corners = np.stack([start - along, start + along, start + rng.uniform(-1.0, 1.0, (count, 1)) * along + aside], axis=1)
    return jostle.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def lattice(step=0.125, count=8):
    """Small tetrahedra whose corners are multiples of the step."""
    corner = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    places = np.array(list(itertools.product(range(-count, count, 2), repeat=3)), float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    return jostle.Mesh(
        step * (places[:, None] + corner).reshape(-1, 3), (4 * np.arange(len(places))[:, None, None] + faces).reshape(-1, 3)
    )


def scenes():
    rng = np.random.default_rng(1)
    fine = shapes.icosphere(3)
    yield [(slivers(rng, 64), random_pose(rng, 0.2)), (fine, random_pose(rng, 0.2))]
    yield [(fine, random_pose(rng, 0.2)), (random_soup(rng, 70, 20.0), random_pose(rng, 0.2))]
    # A side of the box, and faces of the lattice in its plane or with one edge or corner there.
    yield [(lattice(), translation((1e7, 0.5, -1e7))), (plate(1.0), translation((1e7, 0.5, -1e7)))]
    yield [(plate(0.0), translation((0.0, 0.0, 0.25))), (lattice(), None)]
    yield [(plate(0.0), rotation_about((1.0, 1.0, 0.0), 0.5 * np.pi)), (lattice(), rotation_about((0.0, 0.0, 1.0), 1.0))]
    tiny = jostle.Mesh(1e-20 * lattice().vertices, lattice().faces)
    yield [(tiny, None), (jostle.Mesh(1e-20 * plate(1.0).vertices, plate(1.0).faces), None)]


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("leaf_faces", [1, 4, 64])
def test_slivers_and_large_faces_that_touch_give_the_rows_of_the_oracle(volume, leaf_faces):
    method = jostle.BoundingTree(volume=volume, leaf_faces=leaf_faces)
    for bodies in scenes():
        expected = detected("brute_force", bodies)
        assert len(expected.contacts) > 30
        assert rows_of(detected(method, bodies)) == rows_of(expected)
        assert rows_of(detected(method, bodies[::-1])) == rows_of(detected("brute_force", bodies[::-1]))
        for rows in ("pairs", "any"):
            found, truth = (detected(one, bodies, rows=rows).pairs for one in (method, "brute_force"))
            assert (found.body_a.tolist(), found.kind.tolist()) == (truth.body_a.tolist(), truth.kind.tolist())


def test_a_mesh_of_large_and_small_faces_against_itself():
    rng = np.random.default_rng(2)
    fine, large = shapes.icosphere(3), slivers(rng, 20)
    side = plate(1.0).vertices + np.array([0.0, 0.0, 0.5])
    vertices = np.concatenate([fine.vertices, large.vertices, side])
    offsets = len(fine.vertices), len(fine.vertices) + len(large.vertices)
    faces = np.concatenate([fine.faces, large.faces + offsets[0], plate(1.0).faces + offsets[1]])
    mesh = jostle.Mesh(vertices, faces)
    found = []
    for method in ("bounding_tree", "brute_force"):
        world = jostle.World(method)
        world.add(mesh, deformable=True)
        world[0].vertices = vertices @ rotation_about((1.0, 0.0, 2.0), 0.3)[:3, :3].T
        found.append(rows_of(world.detect(itself=True)))
    assert found[0] == found[1]
    assert len(found[0]) > 100


def test_slices_and_arrays_that_must_grow_change_nothing(monkeypatch):
    bodies = [(SMALL, None), (plate(0.5), on_the_side(0.5, 0.7))]
    whole = detected("bounding_tree", bodies)
    monkeypatch.setattr(search, "FIRST_SLICE", 1)
    monkeypatch.setattr(search, "FIRST_STACK", static.MOST_NEW + 1)
    monkeypatch.setattr(search, "FIRST_ROWS", 1)
    again = detected("bounding_tree", bodies)
    assert rows_of(again) == rows_of(whole)
    assert again.counters == whole.counters


open_shape, open_cache = opener(TreeShape), opener(LeafCache)
view_frame, view_volume = record_viewer(PairFrame), record_viewer(Volume)


@kernel
def near_in_frame(shape, cache, leaf, moves, node, relative, pose_a, pose_b, reach_a, reach_b, frame):
    place = view_frame(frame)
    set_up_frame(relative, pose_a, pose_b, reach_a, reach_b, place)
    block = block_of(view_volume(node)) if moves else moved_block(view_volume(node), place.pose)
    return near_faces(LargeLeaf(open_cache(cache), open_shape(shape), leaf, EVERY_FACE, moves), block, place, 1, 64)


def near_of(tree, mesh, other, node, poses, moves):
    """Return the mask of a leaf's faces that may meet a node; the leaf belongs to B if it moves."""
    vertices = {"vertices": mesh.vertices, "welded": mesh.welded_faces}
    shape = TreeShape.table(volumes=tree.volumes, **vertices, **topology_of(tree))
    cache = LeafCache.table(**made_arrays(LeafCache, tags=1, faces=1, axis_tags=AXIS_SLOTS, axes=AXIS_SLOTS * AXES_OF_FACE * 64))
    volumes = (other.volumes, tree.volumes) if moves else (tree.volumes, other.volumes)
    reach = [np.abs(rows[0, :3]).max() + rows[0, 15] for rows in volumes]
    near, tests = near_in_frame(
        shape.table[0], cache.table[0], 0, moves, other.volumes[node], relative_pose(*poses), *poses, *reach,
        np.zeros(1, PairFrame.dtype).view(float),
    )  # fmt: skip
    assert tests == len(mesh.faces)
    return near


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("moves", [False, True])
def test_a_face_with_a_point_of_a_node_is_near_wherever_that_is(volume, moves):
    rng = np.random.default_rng(3)
    large, small = slivers(rng, 64), random_soup(rng, 40, 0.3)
    tree, other = build(large, volume, leaf_faces=64), build(small, volume, leaf_faces=1)
    assert tree.face_count.tolist() == [64]  # one leaf, whose last two faces share a bit
    far_faces = 0
    for _ in range(2000):
        node = int(rng.integers(len(other.volumes)))
        poses = [random_pose(rng), random_pose(rng)]
        for pose in poses:
            pose[:3, :3] *= 1.0 + 3e-6 * rng.uniform(-1.0, 1.0, (3, 3))
            pose[:3, 3] += 10.0 ** rng.uniform(-2, 6) * rng.normal(size=3)
        number = int(rng.integers(64))
        corners = large.faces[tree.order[number]]
        weights = rng.dirichlet(np.ones(3)) if rng.random() < 0.7 else np.eye(3)[rng.integers(3)]
        held = rng.choice(other.vertex_list[other.vertex_start[node] : other.vertex_start[node + 1]])
        mine, its = (1, 0) if moves else (0, 1)
        point = weights @ transform_points(poses[mine], large.vertices[corners])
        poses[its][:3, 3] = 0.0
        poses[its][:3, 3] = point - transform_points(poses[its], small.vertices[held][None])[0]
        near = near_of(tree, large, other, node, poses, moves)
        assert near >> min(number, LAST_BIT) & 1
        far_faces += LAST_BIT + 1 - near.bit_count()
    assert far_faces > 20_000


@pytest.mark.parametrize("moves", [False, True])
def test_each_axis_of_a_face_parts_it_from_a_small_node(moves):
    corners = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    large, small = jostle.Mesh(corners, [[0, 1, 2]]), random_soup(np.random.default_rng(5), 4, 0.01)
    tree, other = build(large), build(small, leaf_faces=1)
    centre, middles = corners.mean(axis=0), 0.5 * (corners + np.roll(corners, 1, axis=0))
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0]) / 12.0
    apart = [centre + 0.05 * normal, centre - 0.05 * normal, *(middle + 0.05 * (middle - centre) for middle in middles)]
    for place, near in [(place, 0) for place in apart] + [(place, 1) for place in (centre, *middles)]:
        poses = [np.eye(4), translation(place)]
        assert near_of(tree, large, other, 0, poses[::-1] if moves else poses, moves) == near


def moved(method, bodies, ends, **options):
    """Return the rows, with times, and the counters of bodies that go to these poses."""
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    for body, end in zip(world, ends, strict=True):
        body.pose = end
    report = world.detect(motion=True, **options)
    times = zip(rows_of(report), report.contacts.time.tolist(), strict=True)
    return list(times), report.counters


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("turning", [False, True])
def test_large_faces_along_a_motion_give_the_rows_of_the_oracle(volume, turning):
    rng = np.random.default_rng(4)
    fine = shapes.icosphere(2)
    method, rows = jostle.BoundingTree(volume=volume, sweep="enclosing" if volume == "aabb" else "relative"), 0
    for large in (slivers(rng, 12), plate(1.0), plate(0.0)):
        bodies = [(large, random_pose(rng, 0.5)), (fine, random_pose(rng, 0.5))]
        for order in (1, -1):
            ends = [pose @ random_pose(rng, 0.3) if turning else translation(rng.normal(size=3)) @ pose for _, pose in bodies]
            expected, _ = moved("brute_force", bodies[::order], ends[::order], all_contacts=True)
            found, _ = moved(method, bodies[::order], ends[::order], all_contacts=True)
            assert found == expected
            rows += len(found)
            (first, *_), _ = moved(method, bodies[::order], ends[::order])
            assert abs(first[1] - min(time for _, time in expected)) < 1e-6
    assert rows > 400


# Without tests of single faces: 19,996 tests for the first contact, 18,796 for all.
@pytest.mark.parametrize("plate_first", [False, True])
@pytest.mark.parametrize("all_contacts", [False, True])
def test_a_plate_moves_into_a_model_in_few_tests(all_contacts, plate_first):
    start = on_the_side(0.5, 0.7)
    end = start @ translation((0.0, 0.0, 0.01)) @ rotation_about((1.0, 0.0, 0.0), 0.0 if all_contacts else 0.01)
    order = -1 if plate_first else 1
    bodies, ends = [(SMALL, None), (plate(0.5), start)][::order], [np.eye(4), end][::order]
    rows, counters = moved("bounding_tree", bodies, ends, all_contacts=all_contacts)
    assert len(rows) == (428 if all_contacts else 1)
    assert counters.box_tests < 4000
