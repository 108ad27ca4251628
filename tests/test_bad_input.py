"""Bad input raises an InputError with body, field and index; nothing changes."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from tests.tiny import BOX_FACES, box

VERTICES = box().vertices
FACES = np.array(BOX_FACES)


def with_entry(array, index, value):
    changed = np.array(array, dtype=np.result_type(array, type(value)))
    changed[index] = value
    return changed


BAD_MESHES = [
    ("NaN vertex", with_entry(VERTICES, (3, 1), np.nan), FACES, r"vertices\[3, 1\] is nan"),
    ("infinite vertex", with_entry(VERTICES, (0, 2), -np.inf), FACES, r"vertices\[0, 2\] is -inf"),
    ("too large", with_entry(VERTICES, (5, 0), 1e31), FACES, r"vertices\[5, 0\] is 1e\+31.*rescale"),
    ("index out of range", VERTICES, with_entry(FACES, (7, 2), 8), r"faces\[7, 2\] is 8; indices run from 0 to 7"),
    ("index -1", VERTICES, with_entry(FACES, (4, 0), -1), r"faces\[4, 0\] is -1"),
    ("index beyond int32", VERTICES, with_entry(FACES.astype(np.int64), (0, 0), 2**40), r"faces\[0, 0\] is 1099511627776"),
    ("no vertices", np.empty((0, 3)), FACES, "vertices is empty"),
    ("no faces", VERTICES, np.empty((0, 3), int), "faces is empty"),
    ("flat vertices", VERTICES.ravel(), FACES, r"vertices has shape \(24,\)"),
    ("planar vertices", VERTICES[:, :2], FACES, r"vertices has shape \(8, 2\)"),
    ("quads", VERTICES, np.zeros((6, 4), int), r"faces has shape \(6, 4\).*triangles"),
    ("float indices", VERTICES, FACES.astype(float), "faces has dtype float64"),
    ("complex vertices", VERTICES.astype(complex), FACES, "vertices has dtype complex128"),
    ("words", [["a", "b", "c"]] * 8, FACES, "vertices has dtype"),
    ("booleans", VERTICES > 0, FACES, "vertices has dtype bool"),
    ("ragged", [[0, 0, 0], [1, 1]], FACES, "vertices is not a regular array"),
    ("None", None, FACES, "vertices are missing"),
]


@pytest.mark.small
@pytest.mark.parametrize(("vertices", "faces", "message"), [case[1:] for case in BAD_MESHES], ids=[case[0] for case in BAD_MESHES])
def test_bad_meshes_are_refused_and_the_world_is_unchanged(vertices, faces, message):
    world = jostle.World()
    world.add(box(), name="good")
    with pytest.raises(jostle.InputError, match=message) as caught:
        world.add((vertices, faces), name="bunny")
    assert "bunny" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert [body.name for body in world] == ["good"]
    assert world.add(box()).id == 1


class Like:
    """A value with the attributes of another library's class."""

    def __init__(self, *names):
        for name in names:
            setattr(self, name, [])


NO_MESHES = [
    ("a trimesh.Scene", Like("geometry", "graph"), r"pass scene\.to_mesh\(\) for all of it as one body, or add one body per node"),
    ("a trimesh.PointCloud", Like("vertices"), "it has no faces; points without faces are not served"),
    ("points", VERTICES, "it has no faces; points without faces are not served"),
    ("no faces", (VERTICES, np.empty((0, 3), int)), "at least one face: points without faces are not served"),
    ("an open3d mesh", Like("vertices", "triangles"), r"numpy\.asarray\(mesh\.triangles\)"),
    ("two meshes", [box(), box()], "pass one mesh; in a World each mesh is a body"),
    ("two files", ["a.stl", "b.stl"], "pass one mesh"),
    ("three meshes", (box(), box(), box()), "pass one mesh"),
    ("None", None, r"mesh is a NoneType; pass a jostle\.Mesh, a trimesh\.Trimesh"),
    ("a number", 3, r"mesh is a int; pass a jostle\.Mesh"),
]


@pytest.mark.small
@pytest.mark.parametrize(("value", "message"), [case[1:] for case in NO_MESHES], ids=[case[0] for case in NO_MESHES])
def test_what_is_no_mesh_is_refused_with_the_cure(value, message):
    with pytest.raises(jostle.InputError, match=message) as caught:
        jostle.World().add(value, name="bunny")
    assert "'bunny'" in str(caught.value)


@pytest.mark.small
def test_the_cures_for_objects_of_trimesh_work():
    import trimesh

    scene = trimesh.Scene([trimesh.creation.box(), trimesh.creation.icosphere()])
    with pytest.raises(jostle.InputError, match=r"mesh is a Scene; pass scene\.to_mesh\(\)"):
        jostle.World().add(scene)
    with pytest.raises(jostle.InputError, match="mesh is a PointCloud; it has no faces"):
        jostle.World().add(trimesh.PointCloud(VERTICES))
    assert len(jostle.World().add(scene.to_mesh()).mesh.faces) == 12 + 1280


@pytest.mark.small
def test_batches_list_what_they_take():
    world = jostle.World()
    world.add(box())
    with pytest.raises(jostle.InputError, match="detect_many does not know 'budget'; it takes bodies, clearance, distance, solid"):
        world.detect_many(world.poses[None], budget=1.0)


def scaled_pose(factor):
    pose = np.eye(4)
    pose[:3, :3] *= factor
    return pose


BAD_POSES = [
    ("NaN", with_entry(np.eye(4), (1, 3), np.nan), r"nan at row 1, column 3"),
    ("infinite", with_entry(np.eye(4), (0, 0), np.inf), r"inf at row 0, column 0"),
    ("scaled", scaled_pose(1.001), r"not rigid.*0\.002"),
    ("mirrored", np.diag([-1.0, 1.0, 1.0, 1.0]), "reflection"),
    ("transposed", translation((1, 2, 3)).T, r"last row \[1\.0, 2\.0, 3\.0, 1\.0\].*transposed"),
    ("far", translation((1e31, 0, 0)), "translation beyond"),
    ("shape", np.eye(3), r"shape \(3, 3\)"),
    ("words", "identity", "dtype"),
]


@pytest.mark.small
@pytest.mark.parametrize(("pose", "message"), [case[1:] for case in BAD_POSES], ids=[case[0] for case in BAD_POSES])
def test_bad_poses_are_refused_and_nothing_moves(pose, message):
    world = jostle.World()
    body = world.add(box(), translation((1, 2, 3)), name="bunny")
    before = world.poses.copy()
    actions = (lambda: setattr(body, "pose", pose), lambda: body.teleport(pose), lambda: world.add(box(), pose, "bunny 2"))
    for action in actions:
        with pytest.raises(jostle.InputError, match=message) as caught:
            action()
        assert "bunny" in str(caught.value)
    assert np.array_equal(world.poses, before)
    assert len(world) == 1


@pytest.mark.small
def test_set_poses_names_the_first_bad_body():
    world = jostle.World()
    for name in "abc":
        world.add(box(), name=name)
    poses = np.stack([np.eye(4)] * 3)
    poses[1, 0, 3] = np.nan
    with pytest.raises(jostle.InputError, match=r"body 'b': poses\[1\] has nan"):
        world.set_poses(poses)
    with pytest.raises(jostle.InputError, match=r"shape \(2, 4, 4\); it must be \(3, 4, 4\)"):
        world.set_poses(poses[:2])
    assert np.array_equal(world.poses, np.stack([np.eye(4)] * 3))


@pytest.mark.small
def test_poses_that_are_nearly_rigid_are_taken_as_they_are():
    pose = scaled_pose(1 + 4e-6)
    world = jostle.World()
    assert np.array_equal(world.add(box(), pose).pose, pose)


@pytest.mark.small
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clearance": np.nan}, "clearance is nan"),
        ({"clearance": -1.0}, "clearance is -1.0"),
        ({"clearance": np.inf}, "clearance is inf"),
        ({"clearance": "near"}, "clearance is 'near'"),
        ({"rows": "all"}, "rows is 'all'; choose one of faces"),
        ({"solid": 1}, "solid is 1; pass True or False"),
        ({"budget": 0.004}, "budget is 0.004"),
        ({"adjacent": True}, "itself=True"),
        ({"all_contacts": True}, "motion=True"),
        ({"clearence": 1.0}, "does not know 'clearence'; it takes adjacent, all_contacts, budget, clearance"),
        ({"itself": True, "self_collision": False}, "two names of one option"),
        ({"self_collision": 1}, "self_collision is 1; pass True or False"),
    ],
)
def test_bad_queries_are_refused(options, message):
    world = jostle.World()
    world.add(box())
    with pytest.raises(jostle.InputError, match=message):
        world.detect(**options)


@pytest.mark.small
@pytest.mark.parametrize("budget", [{}, {"seconds": 0.1, "operations": 3}, {"seconds": np.nan}, {"seconds": 0}, {"operations": 0}])
def test_bad_budgets_are_refused(budget):
    with pytest.raises(jostle.InputError, match="Budget"):
        jostle.Budget(**budget)


@pytest.mark.small
def test_unknown_methods_and_bodies_are_refused_with_what_there_is():
    with pytest.raises(jostle.InputError, match=r"no method 'bruteforce'; the methods are bounding_tree, brute_force"):
        jostle.World("bruteforce")
    with pytest.raises(jostle.InputError, match="pass a name"):
        jostle.World(jostle.BruteForce)  # the class, not an instance
    world = jostle.World()
    world.add(box(), name="bunny")
    with pytest.raises(jostle.InputError, match="no body is called 'bunnny'; the world has 'bunny'"):
        world["bunnny"]
    with pytest.raises(jostle.InputError, match="body 7 is not in this world"):
        world[7]
    with pytest.raises(jostle.InputError, match="another world"):
        jostle.World()[world["bunny"]]
    with pytest.raises(jostle.InputError, match=r"pass a jostle\.Mesh"):
        world.add(42)
    for bad in ({"group": -1}, {"category": 2**32}, {"mask": 1.5}, {"static": "no"}, {"deformable": 1}):
        with pytest.raises(jostle.InputError, match="'x'"):
            world.add(box(), name="x", **bad)
    assert len(world) == 1


@pytest.mark.small
def test_files_that_do_not_parse_are_refused(tmp_path):
    world = jostle.World()
    for name in ("bad.stl", "bad.obj", "bad.ply", "bad.off", "bad.glb", "bad.raw", "bad.xyz"):
        (tmp_path / name).write_bytes(b"this is no mesh \x00\xff")
        with pytest.raises(jostle.InputError, match=name):
            world.add(tmp_path / name)
    with pytest.raises(jostle.InputError, match="missing"):
        world.add(tmp_path / "missing.stl")
    assert len(world) == 0


# What other libraries get wrong without any error at all: here the answer has to be right.


def test_repeated_indices_and_faces_without_area_are_legal_and_exact():
    plate = jostle.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    point = jostle.Mesh([[1, 1, 0]], [[0, 0, 0]])
    segment = jostle.Mesh([[1, 1, -1], [1, 1, 1]], [[0, 1, 1]])
    above = jostle.Mesh([[1, 1, 1e-12]], [[0, 0, 0]])
    assert jostle.collide(plate, point).touching
    assert jostle.collide(plate, segment).touching
    assert jostle.collide(segment, point).touching
    assert not jostle.collide(plate, above)
    assert not jostle.collide(segment, jostle.Mesh([[1, 1, 2]], [[0, 0, 0]]))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_coplanar_and_touching_faces_are_found_at_any_offset(offset):
    shift = translation((offset, offset, offset))
    for move, kind in (((0.5, 0, 0), "TOUCHING"), ((1, 0, 0), "TOUCHING"), ((1, 1, 1), "TOUCHING"), ((0.5, 0.25, 0.5), "CROSSING")):
        report = jostle.collide(box(), box(), shift, shift @ translation(move))
        assert jostle.Kind(report.pairs.kind[0]).name == kind
    assert not jostle.collide(box(), box(), shift, shift @ translation((1 + 2**-20, 0, 0)))


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e-13, 1e25])
def test_the_pairs_do_not_depend_on_the_scale(scale):
    from jostle.shapes import build

    a, b = build.icosphere(1), build.torus()
    pose = translation((0.8, 0.1, 0.05))
    shrunk = pose.copy()
    shrunk[:3, 3] *= scale
    truth = jostle.collide(a, b, pose_b=pose)
    scaled = jostle.collide(a.scaled(scale), b.scaled(scale), pose_b=shrunk)
    assert len(truth.contacts) > 20
    assert np.array_equal(truth.contacts.face_a, scaled.contacts.face_a)
    assert np.array_equal(truth.contacts.face_b, scaled.contacts.face_b)
    assert np.isfinite(scaled.contacts.point).all()
    assert np.allclose(np.linalg.norm(scaled.contacts.normal, axis=1), 1.0)


def test_convex_meshes_are_not_turned_into_solids():
    outer, inner = box((-2, -2, -2), (2, 2, 2)), box()
    assert not jostle.collide(outer, inner)
    report = jostle.collide(outer, inner, solid=True)
    assert jostle.Kind(report.pairs.kind[0]) is jostle.Kind.B_IN_A


def test_nothing_is_capped():
    n = 60
    grid = np.array([[x, y, 0.0] for x in range(n) for y in range(n)])
    faces = [[x * n + y, (x + 1) * n + y, x * n + y + 1] for x in range(n - 1) for y in range(n - 1)]
    plate = jostle.Mesh(grid, faces)
    rows = len(jostle.collide(plate, plate).contacts)
    # Face (x, y) shares a point with itself, with the 4 faces that share an edge's end, and so on: counted below by brute force.
    cells = {(x, y): {(x, y), (x + 1, y), (x, y + 1)} for x in range(n - 1) for y in range(n - 1)}
    expected = sum(
        len(cells[x, y] & cells[x + i, y + j]) > 0
        for x, y in cells
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (x + i, y + j) in cells
    )
    assert rows == expected
