"""Motions survive a file; anything else is refused with file and field."""

import dataclasses
import json
import pickle
import zipfile

import numpy as np
import pytest

import jostle
from jostle import InputError, Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.motion.record import Motion, Recorder
from jostle.shapes import analytic
from tests.tiny import box, random_pose, tetrahedron

FRAMES = 6


def three_bodies(frames=FRAMES):
    """Two moving bodies of one mesh and a deforming one; filters of every kind."""
    rng = np.random.default_rng(5)
    shared, soft = box(name="brick"), tetrahedron(name="soft")
    poses = np.array([[random_pose(rng, 0.5) for _ in range(3)] for _ in range(frames)])
    shapes = soft.vertices + rng.uniform(-0.2, 0.2, (frames, 4, 3))
    return Motion(
        names=("left", "right", "soft"),
        meshes=(shared, shared, soft),
        poses=poses,
        vertices={2: shapes},
        dt=0.25,
        static=(True, False, False),
        group=(None, 3, None),
        title="three bodies, größer",
        category=(1, 2, 1),
        mask=(0xFFFFFFFF, 3, 0xFFFFFFFF),
        ignored=((1, 0),),
    )


def rows_of(motion, method=None):
    """All rows of all frames."""
    world = motion.world(method)
    rows = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        contacts = world.detect().contacts
        rows.append(
            [column.tobytes() for column in (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind)]
        )
    return rows


def assert_same(a, b):
    assert a.names == b.names
    assert (a.title, a.dt, a.static, a.group, a.category, a.mask) == (b.title, b.dt, b.static, b.group, b.category, b.mask)
    assert a.ignored == b.ignored
    assert a.poses.tobytes() == b.poses.tobytes()
    assert a.poses.shape == b.poses.shape
    assert a.vertices.keys() == b.vertices.keys()
    for k in a.vertices:
        assert a.vertices[k].tobytes() == b.vertices[k].tobytes()
    for x, y in zip(a.meshes, b.meshes, strict=True):
        assert (x.digest, x.name, x.units) == (y.digest, y.name, y.units)
        assert np.array_equal(x.source_face, y.source_face)
    assert a.digest == b.digest


@pytest.mark.small
def test_a_saved_motion_comes_back_to_the_byte(tmp_path):
    motion = three_bodies()
    motion.save(tmp_path / "m.npz")
    loaded = Motion.load(tmp_path / "m.npz")
    assert_same(motion, loaded)
    assert loaded.meshes[0] is loaded.meshes[1]
    assert [file.name for file in tmp_path.iterdir()] == ["m.npz"]


def test_a_replay_from_a_file_finds_the_same_rows(tmp_path):
    motion = three_bodies()
    motion.save(tmp_path / "m.npz")
    rows = rows_of(motion)
    assert sum(len(frame[0]) for frame in rows) > 0
    assert rows_of(Motion.load(tmp_path / "m.npz")) == rows
    assert rows_of(Motion.load(tmp_path / "m.npz"), "brute_force") == rows


@pytest.mark.small
def test_equal_motions_give_equal_files_and_others_do_not(tmp_path):
    three_bodies().save(tmp_path / "a.npz")
    three_bodies().save(tmp_path / "b.npz")
    three_bodies(5).save(tmp_path / "c.npz")
    a, b, c = ((tmp_path / f"{name}.npz").read_bytes() for name in "abc")
    assert a == b
    assert a != c
    assert three_bodies().digest != three_bodies(5).digest


@pytest.mark.small
def test_a_shared_mesh_is_stored_once_and_what_differs_is_kept(tmp_path):
    mesh = box(name="one")
    twin = Mesh(mesh.vertices, mesh.faces, name="twin")  # equal, though another object
    other = Mesh(mesh.vertices, mesh.faces, name="other", source_face=np.arange(12) // 2)
    metric = Mesh(mesh.vertices, mesh.faces, name="metric", units="m")
    motion = Motion(("a", "b", "c", "d", "e"), (mesh, twin, mesh, other, metric), np.tile(np.eye(4), (2, 5, 1, 1)))
    motion.save(tmp_path / "m.npz")
    with zipfile.ZipFile(tmp_path / "m.npz") as file:
        stored = sorted(name for name in file.namelist() if name.endswith("/faces.npy"))
    assert stored == ["mesh/0/faces.npy", "mesh/1/faces.npy", "mesh/2/faces.npy"]
    loaded = Motion.load(tmp_path / "m.npz")
    assert [mesh.name for mesh in loaded.meshes] == ["one", "one", "one", "other", "metric"]
    assert [mesh.units for mesh in loaded.meshes] == [None, None, None, None, "m"]
    assert loaded.meshes[3].source_face.tolist() == (np.arange(12) // 2).tolist()
    assert loaded.meshes[0] is loaded.meshes[1]


SURFACES = (analytic.Sphere(0.7), analytic.Cylinder(0.3, 1.1, 16), analytic.Cone(0.5, 0.1 + 0.2), analytic.Torus(1.0, 0.25, 24))


def of_surfaces(*surfaces):
    """Bodies with analytic surfaces, and one without."""
    meshes = [Mesh(analytic=surface, name=type(surface).__name__) for surface in surfaces] + [box(name="plain")]
    poses = np.tile(np.eye(4), (2, len(meshes), 1, 1))
    return Motion(tuple(f"body {k}" for k in range(len(meshes))), tuple(meshes), poses)


@pytest.mark.small
def test_analytic_surfaces_are_kept_by_kind_and_numbers(tmp_path):
    motion = of_surfaces(*SURFACES)
    motion.save(tmp_path / "m.npz")
    loaded = Motion.load(tmp_path / "m.npz")
    assert_same(motion, loaded)
    assert [mesh.analytic for mesh in loaded.meshes] == [*SURFACES, None]
    of_surfaces(*SURFACES).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "m.npz").read_bytes()
    # Faces alone are another motion for a method that casts rays at the surface.
    plain = tuple(Mesh(mesh.vertices, mesh.faces, name=mesh.name) for mesh in motion.meshes)
    assert dataclasses.replace(motion, meshes=plain).digest != motion.digest


@pytest.mark.small
def test_a_file_without_surfaces_is_as_it_was_before_there_were_any(tmp_path):
    three_bodies().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as saved:
        assert "mesh_analytic" not in json.loads(str(saved["description"]))


class Cube:
    """A surface of the user's own."""

    bounds = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))

    def crossings(self, axis, u, v):
        return [-1.0, 1.0] if abs(u) < 1.0 and abs(v) < 1.0 else []


@pytest.mark.small
def test_a_surface_of_the_users_own_is_left_out_with_a_warning_and_a_note_in_the_file(tmp_path):
    mine = box((-1, -1, -1), (1, 1, 1))
    mine = Mesh(mine.vertices, mine.faces, name="mine", analytic=Cube())
    motion = Motion(("a", "b"), (mine, Mesh(analytic=SURFACES[0])), np.tile(np.eye(4), (1, 2, 1, 1)))
    with pytest.warns(
        UserWarning, match=r"m\.npz: mesh 'mine' is kept as its faces; its analytic surface, Cube, .* left out"
    ) as warned:
        motion.save(tmp_path / "m.npz")
    assert [each.filename for each in warned] == [__file__]
    with np.load(tmp_path / "m.npz") as saved:
        assert json.loads(str(saved["description"]))["mesh_analytic"][0] == {"left_out": "Cube"}
    with pytest.warns(UserWarning, match=r"m\.npz: mesh 'mine' is kept as its faces") as warned:
        loaded = Motion.load(tmp_path / "m.npz")
    assert [each.filename for each in warned] == [__file__]
    assert [mesh.analytic for mesh in loaded.meshes] == [None, SURFACES[0]]
    assert np.array_equal(loaded.meshes[0].vertices, mine.vertices)


@pytest.mark.small
@pytest.mark.parametrize(
    "surfaces",
    [
        3,
        [None],
        [{"surface": "Teapot", "settings": {}}, None],
        [{"surface": "Sphere", "settings": {"radius": -1.0}}, None],
        [{"surface": "Sphere", "settings": {"edge": 1.0}}, None],
        [{"surface": ["Sphere"], "settings": {"radius": 1.0}}, None],
        [{"settings": {"radius": 1.0}}, None],
        ["Sphere", None],
    ],
)
def test_what_is_no_surface_is_refused_with_the_field(tmp_path, surfaces):
    of_surfaces(SURFACES[0]).save(tmp_path / "m.npz")
    rewritten(tmp_path / "m.npz", tmp_path / "e.npz", lambda arrays, text: text.update(mesh_analytic=surfaces))
    with pytest.raises(InputError, match=r"e\.npz: description: mesh_analytic"):
        Motion.load(tmp_path / "e.npz")


# ---------------------------------------------------------------------- files that are none


def rewritten(source, target, change):
    """Write the arrays of a file again, after a change of the dictionary of them."""
    with np.load(source) as saved:
        arrays = {name: saved[name] for name in saved.files}
    description = json.loads(str(arrays["description"]))
    change(arrays, description)
    if "description" in arrays:
        arrays["description"] = np.array(json.dumps(description))
    np.savez(target, **arrays)


EDITS = {
    "poses": lambda arrays, text: arrays["poses"].__setitem__((2, 1, 0, 3), 7.0),
    "group": lambda arrays, text: arrays.update(group=arrays["group"].astype(np.int64)),
    "mask": lambda arrays, text: arrays.pop("mask"),
    "mesh/1/vertices": lambda arrays, text: arrays["mesh/1/vertices"].__setitem__((0, 0), 0.5),
    "body/2/vertices": lambda arrays, text: arrays.update({"body/2/vertices": arrays["body/2/vertices"][:-1]}),
    "body/1/vertices": lambda arrays, text: arrays.update({"body/1/vertices": arrays["body/2/vertices"]}),
    "extra": lambda arrays, text: arrays.update(extra=np.zeros(3)),
    "names": lambda arrays, text: text.update(names=["left", "left", "soft"]),
    "static": lambda arrays, text: (
        text.update(names=["left", "right"], digests=dict(text["digests"]), dt=1.0) or drop_body(arrays, text)
    ),
    "mesh_names": lambda arrays, text: text.update(mesh_names=[1, 2]),
    "mesh_units": lambda arrays, text: text.update(mesh_units=[None]),
    "units": lambda arrays, text: text.update(mesh_units=["parsec", None]),
    "dt": lambda arrays, text: text.update(dt=-1.0),
    "title": lambda arrays, text: text.pop("title"),
    "digests": lambda arrays, text: text.update(digests=[]),
    "format": lambda arrays, text: text.update(format="jostle world 1"),
    "description": lambda arrays, text: arrays.pop("description"),
}


def drop_body(arrays, text):
    """Take the last body out of the names, but leave the filters as long as they were."""
    del arrays["body/2/vertices"], text["digests"]["body/2/vertices"]


@pytest.mark.small
@pytest.mark.parametrize("field", EDITS)
def test_an_edited_file_is_refused_with_its_name_and_the_field(tmp_path, field):
    three_bodies().save(tmp_path / "m.npz")
    rewritten(tmp_path / "m.npz", tmp_path / "edited.npz", EDITS[field])
    with pytest.raises(InputError) as caught:
        Motion.load(tmp_path / "edited.npz")
    assert "edited.npz" in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.small
def test_a_file_is_not_refused_for_being_written_again(tmp_path):
    three_bodies().save(tmp_path / "m.npz")
    rewritten(tmp_path / "m.npz", tmp_path / "again.npz", lambda arrays, text: None)
    assert_same(Motion.load(tmp_path / "again.npz"), three_bodies())


@pytest.mark.small
def test_a_forged_digest_does_not_get_a_bad_array_in(tmp_path):
    from jostle.motion.record_file import digest_of

    def skew(arrays, text):
        arrays["poses"][1, 0, 0, 0] += 0.5
        text["digests"]["poses"] = digest_of(arrays["poses"])

    def far_mesh(arrays, text):
        arrays["mesh_of_body"][0] = 9
        text["digests"]["mesh_of_body"] = digest_of(arrays["mesh_of_body"])

    def far_vertex(arrays, text):
        arrays["mesh/0/faces"][3, 1] = 1000
        text["digests"]["mesh/0/faces"] = digest_of(arrays["mesh/0/faces"])

    def long_group(arrays, text):
        arrays["group"] = arrays["group"].astype(np.int64)
        text["digests"]["group"] = digest_of(arrays["group"])

    expected = {
        skew: "'left': poses.*not rigid",
        far_mesh: "mesh_of_body",
        far_vertex: r"mesh/0: .*faces\[3, 1\]",
        long_group: "int64",
    }
    three_bodies().save(tmp_path / "m.npz")
    for change, words in expected.items():
        rewritten(tmp_path / "m.npz", tmp_path / "forged.npz", change)
        with pytest.raises(InputError, match=f"forged.npz: .*{words}"):
            Motion.load(tmp_path / "forged.npz")


@pytest.mark.small
def test_every_cut_and_most_flipped_bytes_are_noticed_and_none_goes_through_changed(tmp_path):
    motion = three_bodies()
    motion.save(tmp_path / "m.npz")
    whole = (tmp_path / "m.npz").read_bytes()
    damaged = tmp_path / "damaged.npz"
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        damaged.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"damaged\.npz"):
            Motion.load(damaged)
    messages, rng = [], np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 300):
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        damaged.write_bytes(content)
        try:
            loaded = Motion.load(damaged)
        except InputError as error:
            messages.append(str(error))
        else:  # dates and the like in the directory of the zip file
            assert loaded.digest == motion.digest
            assert loaded.title == motion.title
    assert len(messages) > 200
    assert all("damaged.npz" in message for message in messages)


@pytest.mark.small
def test_foreign_files_are_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was run",))

    np.save(tmp_path / "array.npy", np.eye(4))
    np.savez(tmp_path / "other.npz", a=np.eye(4))
    np.savez(tmp_path / "objects.npz", description=np.array([Trap()], dtype=object))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as file:
        file.writestr("description", "{}")
    names = ["array.npy", "other.npz", "objects.npz", "pickle.npz", "text.npz", "empty.npz", "zip.npz", "missing.npz", "."]
    for name in names:
        with pytest.raises(InputError) as caught:
            Motion.load(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(InputError, match="description"):
        Motion.load(tmp_path / "objects.npz")


def test_a_world_file_is_told_from_a_motion(tmp_path):
    world = jostle.World()
    world.add(box())
    world.save(tmp_path / "world.npz")
    with pytest.raises(InputError, match=r"world\.npz: description: format is 'jostle world 1'"):
        Motion.load(tmp_path / "world.npz")


@pytest.mark.small
def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(InputError, match="no_folder"):
        three_bodies().save(tmp_path / "no_folder" / "m.npz")


# ---------------------------------------------------------------------- a motion and a world


@pytest.mark.small
def test_a_world_of_a_motion_has_its_bodies_at_rest_at_frame_0():
    motion = three_bodies()
    world = motion.world(workers=2)
    assert [body.name for body in world] == ["left", "right", "soft"]
    assert (world.dt, world.workers) == (0.25, 2)
    assert [body.static for body in world] == [True, False, False]
    assert [body.group for body in world] == [None, 3, None]
    assert [body.category for body in world] == [1, 2, 1]
    assert [body.mask for body in world] == [0xFFFFFFFF, 3, 0xFFFFFFFF]
    assert [body.deformable for body in world] == [False, False, True]
    assert world._ignored == {(0, 1)}
    frame = world._frame()
    assert frame.poses.tobytes() == frame.poses_t0.tobytes() == motion.poses[0].tobytes()
    assert frame.vertices[2].tobytes() == frame.vertices_t0[2].tobytes() == motion.vertices[2][0].tobytes()
    assert frame.deformed[2]


@pytest.mark.small
def test_apply_sets_poses_and_vertices_and_refuses_before_it_changes_anything():
    motion = three_bodies()
    world = motion.world()
    motion.apply(world, 4)
    assert world.poses.tobytes() == motion.poses[4].tobytes()
    assert world["soft"].vertices.tobytes() == motion.vertices[2][4].tobytes()
    for frame in (-1, FRAMES):
        with pytest.raises(InputError, match="frame"):
            motion.apply(world, frame)
    rigid = jostle.World()
    for k in range(3):
        rigid.add(box(), name=str(k))
    with pytest.raises(InputError, match="not deformable"):
        motion.apply(rigid, 1)
    assert (rigid.poses == np.eye(4)).all()
    rigid.remove("2")
    with pytest.raises(InputError, match="3 bodies"):
        motion.apply(rigid, 1)


@pytest.mark.small
def test_the_first_frames_of_a_motion():
    motion = three_bodies()
    start = motion.first(2)
    assert len(start) == 2
    assert start.poses.tobytes() == motion.poses[:2].tobytes()
    assert start.vertices[2].shape == (2, 4, 3)
    assert start.vertices[2].tobytes() == motion.vertices[2][:2].tobytes()
    assert len(motion.first(100)) == FRAMES
    assert_same(start.first(2), start)
    with pytest.raises(InputError, match="frames"):
        motion.first(0)


@pytest.mark.small
def test_what_is_not_a_motion_is_refused_with_the_field():
    good = {"names": ("a", "b"), "meshes": (box(), box()), "poses": np.tile(np.eye(4), (3, 2, 1, 1))}
    assert len(Motion(**good)) == 3
    skewed = good["poses"].copy()
    skewed[2, 1, 0, 1] = 0.5
    bad = {
        "names": [("a",), ("a", "a"), ("a", 2)],
        "meshes": [(box(),), (box(), "box")],
        "poses": [skewed, np.eye(4), np.empty((0, 2, 4, 4)), np.tile(np.eye(4), (3, 1, 1, 1))],
        "vertices": [{2: np.zeros((3, 8, 3))}, {0: np.zeros((2, 8, 3))}, {0: np.full((3, 8, 3), np.nan)}],
        "dt": [0.0, np.nan, np.inf, "1"],
        "static": [(True,), (0, 1)],
        "group": [(1,), (-1, 0)],
        "category": [(1,), (-1, 1)],
        "mask": [(1, 2**32)],
        "ignored": [((0, 2),), ((1, 1),)],
    }
    for field, values in bad.items():
        for value in values:
            with pytest.raises(InputError, match="names|meshes" if field in ("names", "meshes") else field):
                Motion(**good | {field: value})


@pytest.mark.small
def test_arrays_of_a_motion_are_its_own_and_read_only():
    poses = np.tile(np.eye(4), (2, 1, 1, 1))
    motion = Motion(("a",), (box(),), poses)
    poses[0, 0, 0, 3] = 9.0
    assert motion.poses[0, 0, 0, 3] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        motion.poses[0, 0, 0, 3] = 1.0


@pytest.mark.small
def test_a_motion_can_be_pickled():
    assert_same(pickle.loads(pickle.dumps(three_bodies())), three_bodies())


# ---------------------------------------------------------------------- the recorder


def moved_world(seed=3):
    """A world with a gap in its ids, filters and a deformable body."""
    world = jostle.World()
    world.add(box(), name="gone")
    world.add(box(), name="a", static=True)
    world.add(box(name="soft"), translation((0.5, 0.25, 0.1)), name="b", deformable=True, group=2)
    world.add(tetrahedron(), name="c", category=4, mask=7)
    world.remove("gone")
    world.ignore("a", "c")
    world.dt = 0.5
    return world


def test_a_recorded_loop_replays_the_same_rows():
    world = moved_world()
    recorder, rows, poses, shapes = Recorder(world), [], [], []
    for k in range(5):
        world["c"].pose = translation((0.6 - 0.1 * k, 0.2, 0.1)) @ rotation_about((1, 2, 3), 0.2 * k)
        world["b"].vertices = world["b"].mesh.vertices * (1.0 + 0.05 * k)
        contacts = world.detect().contacts
        recorder.capture()
        rows.append([(world[a].name, world[b].name, fa, fb) for a, b, fa, fb in zip(*columns(contacts), strict=True)])
        poses.append(np.array(world.poses))
        shapes.append(np.array(world["b"].vertices))
    assert len(recorder) == 5
    motion = recorder.motion("a loop")
    assert motion.names == ("a", "b", "c")
    assert (motion.title, motion.dt, motion.ignored) == ("a loop", 0.5, ((0, 2),))
    assert motion.static == (True, False, False)
    assert motion.group == (None, 2, None)
    assert (motion.category, motion.mask[2]) == ((1, 1, 4), 7)
    assert motion.poses.tobytes() == np.array(poses).tobytes()
    assert motion.vertices.keys() == {1}
    assert motion.vertices[1].tobytes() == np.array(shapes).tobytes()
    replay = motion.world("brute_force")
    again = []
    for frame in range(5):
        motion.apply(replay, frame)
        found = replay.detect().contacts
        again.append([(replay[a].name, replay[b].name, fa, fb) for a, b, fa, fb in zip(*columns(found), strict=True)])
    assert again == rows
    assert any(rows)


def columns(contacts):
    return [column.tolist() for column in (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b)]


def change_dt(world):
    world.dt = 2.0


def change_static(world):
    world["a"].static = False


@pytest.mark.small
@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda world: world.add(box(), name="new"), "bodies"),
        (lambda world: world.remove("c"), "bodies"),
        (lambda world: world.ignore("a", "b"), "ignored"),
        (change_static, "static"),
        (change_dt, "dt"),
    ],
)
def test_a_recorder_refuses_a_world_that_became_another(change, word):
    world = moved_world()
    recorder = Recorder(world)
    recorder.capture()
    recorder.capture()
    change(world)
    with pytest.raises(InputError, match=word):
        recorder.capture()
    assert len(recorder.motion()) == 2


@pytest.mark.small
def test_nothing_captured_is_no_motion():
    with pytest.raises(InputError, match="capture"):
        Recorder(moved_world()).motion()
