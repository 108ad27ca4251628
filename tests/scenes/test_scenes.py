"""The named scenes: deterministic, with the papers' sizes, inside their cubes."""

import hashlib
import inspect
import json
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle import InputError, scenes
from jostle.geometry.pose import translation
from jostle.motion.record import Motion
from jostle.shapes import build
from tests.tiny import box, tetrahedron

SMALL = {
    "spheres": {"count": 6, "faces": 48, "fill": 0.15, "speed": 0.2, "frames": 60},
    "two_spheres": {"faces": 48, "cycles": 12, "frames": 30},
    "meeting_spheres": {"count": 5, "faces": 48, "cube": 8.0, "cycles": 20, "frames": 30},
    "shuttles": {"count": 4, "frames": 40, "speed": 0.2},
    "meeting_shuttles": {"count": 5, "cycles": 12, "frames": 20},
    "head_and_shuttle": {"cycles": 20, "frames": 30},
    "room": {"faces": 48, "cube": 2.8, "path": 60, "period": 16, "frames": 50},
    "shrine": {"pace": 8, "frames": 60},
    "cones": {"count": 12, "faces": 36, "frames": 40, "speed": 0.2},
    "ellipsoids": {"count": 12, "faces": 48, "frames": 40, "speed": 0.2},
    "truncated_cones": {"count": 12, "faces": 36, "frames": 40, "speed": 0.2},
    "hands": {"period": 8, "speed": 0.05, "frames": 30},
    "deforming_spheres": {"count": 4, "faces": 48, "period": 8, "fill": 0.2, "frames": 60, "speed": 0.2},
    "blobs": {"faces": 200, "faces_b": 300, "frames": 12},
    "crowd": {"count": 60, "subdivisions": 0, "frames": 40, "fill": 0.1, "speed": 0.2},
    "headlight": {"faces": 14_000, "task": "pull_cover_1"},
    "knee": {"faces": 6_000, "frames": 60},
    "polytopes": {"count": 20, "fill": 0.05, "speed": 0.4, "frames": 40},
    "stellated": {},
    "combs": {"faces": 400, "touch": 12, "frames": 16},
    "grasping": {"faces": 1_860, "turn": 0.05, "frames": 16},
    "sphere_and_torus": {"frames": 30},
    "horseshoe_and_clover": {"frames": 30},
    "dragon_and_bunny": {"faces": 600, "faces_b": 800, "frames": 30},
    "tour": {"faces": 120, "frames": 12},
}

# Bodies that are kinematic, or differ in speed.
UNEVEN = (
    "room", "shrine", "headlight", "knee", "polytopes", "combs", "grasping", "sphere_and_torus", "horseshoe_and_clover",
    "dragon_and_bunny", "tour",
)  # fmt: skip


def test_every_scene_has_a_small_form_here():
    assert list(SMALL) == list(scenes.SCENES)


@pytest.fixture(scope="module")
def recorded():
    return {name: (scene := scenes.make_scene(name, **values), scene.record()) for name, values in SMALL.items()}


def rows_of(motion, method=None):
    world = motion.world(method)
    rows = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        contacts = world.detect().contacts
        rows.append(tuple(column.tobytes() for column in (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b)))
    return rows


@pytest.mark.parametrize("name", SMALL)
def test_something_touches_but_not_at_the_start(recorded, name):
    rows = rows_of(recorded[name][1])
    assert rows[0] == (b"", b"", b"", b"")
    assert len(set(rows)) > 1


@pytest.mark.parametrize("name", SMALL)
def test_two_recordings_are_equal_to_the_byte_and_a_short_one_begins_a_long_one(recorded, name):
    motion = recorded[name][1]
    again = scenes.make_scene(name, **SMALL[name]).record()
    assert again.digest == motion.digest
    assert again.poses.tobytes() == motion.poses.tobytes()
    short = recorded[name][0].record(7)
    assert short.digest == motion.first(7).digest
    assert scenes.make_scene(name, **SMALL[name] | {"seed": 77}).record(7).digest != short.digest


def test_another_process_records_the_same_bytes(recorded):
    code = (
        "import sys, json; from jostle import scenes\n"
        "for name, values in json.loads(sys.argv[1]).items(): print(name, scenes.make_scene(name, **values).record().digest)"
    )
    command = [sys.executable, "-c", code, json.dumps(SMALL)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    assert printed[:-1] == [f"{name} {motion.digest}" for name, (_, motion) in recorded.items()]


@pytest.mark.parametrize("name", ["spheres", "deforming_spheres", "hands"])
def test_record_save_load_replay(recorded, name, tmp_path):
    motion = recorded[name][1]
    motion.save(tmp_path / "m.npz")
    loaded = Motion.load(tmp_path / "m.npz")
    assert loaded.poses.tobytes() == motion.poses.tobytes()
    assert loaded.vertices.keys() == motion.vertices.keys()
    assert all(loaded.vertices[k].tobytes() == motion.vertices[k].tobytes() for k in motion.vertices)
    assert len({id(mesh) for mesh in loaded.meshes}) == 1
    assert rows_of(loaded) == rows_of(motion)


@pytest.mark.parametrize("name", SMALL)
def test_bodies_stay_inside_the_cube_and_poses_rigid(recorded, name):
    scene, motion = recorded[name]
    rotation = motion.poses[:, :, :3, :3]
    assert np.abs(np.swapaxes(rotation, 2, 3) @ rotation - np.eye(3)).max() < 1e-9
    if scene.cube is None:
        return
    for k, mesh in enumerate(motion.meshes):
        shapes = motion.vertices.get(k, mesh.vertices[None])
        placed = shapes @ np.swapaxes(rotation[:, k], 1, 2) + motion.poses[:, k, None, :3, 3]
        assert np.abs(placed).max() <= scene.cube / 2.0


@pytest.mark.parametrize("name", [name for name in SMALL if name not in UNEVEN])
def test_speed_and_turn_of_recorded_bodies(recorded, name):
    """Wherever no wall and no other body turned it, a centre moves by the speed that its body started with."""
    scene, motion = recorded[name]
    for k, body in enumerate(scene.bodies):
        centres = motion.poses[:, k, :3, :3] @ body.centre + motion.poses[:, k, :3, 3]
        steps = np.linalg.norm(np.diff(centres, axis=0), axis=1)
        assert (np.abs(steps - np.linalg.norm(body.velocity)) < 1e-9).mean() >= 0.5
        turn = motion.poses[1, k, :3, :3] @ motion.poses[0, k, :3, :3].T
        assert np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0)) == pytest.approx(abs(body.spin), abs=1e-6)


def test_numbers_of_the_papers_are_the_defaults():
    spheres = scenes.make_scene("spheres")
    assert (len(spheres.bodies), len(spheres.bodies[0].mesh.faces), spheres.frames, spheres.response) == (15, 960, 1000, "exchange")
    assert sum(body.mesh.volume for body in spheres.bodies) / spheres.cube**3 == pytest.approx(0.05)
    for body in spheres.bodies:
        assert np.linalg.norm(body.velocity) == pytest.approx(0.05 * 1.0)
        assert body.spin == pytest.approx(np.pi / 18.0)
    shuttles = scenes.make_scene("shuttles")
    assert [len(body.mesh.faces) for body in shuttles.bodies] == [528] * 15
    cones = scenes.make_scene("cones")
    assert (len(cones.bodies), cones.response) == (100, "none")
    assert 100 <= cones.frames <= 500
    assert [len(body.mesh.faces) for body in scenes.make_scene("hands").bodies] == [960, 960]
    for faces in build.PAPER_SPHERES:
        assert [len(body.mesh.faces) for body in scenes.make_scene("two_spheres", faces=faces).bodies] == [faces, faces]


def overlaps_of(motion):
    """The number of pairs of bodies whose boxes overlap, in each frame."""
    counts = []
    for frame in range(len(motion)):
        boxes = []
        for pose, mesh in zip(motion.poses[frame], motion.meshes, strict=True):
            placed = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
            boxes.append((placed.min(axis=0), placed.max(axis=0)))
        counts.append(sum(bool((a[0] <= b[1]).all() and (b[0] <= a[1]).all()) for i, a in enumerate(boxes) for b in boxes[i + 1 :]))
    return counts


def pairs_of(motion):
    world = motion.world()
    found = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        found.append([tuple(pair) for pair in world.detect(rows="pairs").pairs])
    return found


@pytest.mark.parametrize("faces", build.PAPER_SPHERES)
def test_two_spheres_meet_in_cycle_72_and_the_motion_ends_there(faces):
    pairs = pairs_of(scenes.make_scene("two_spheres", faces=faces).record())
    assert pairs == [[]] * 71 + [[(0, 1)]]


@pytest.mark.parametrize(("name", "values"), [("meeting_spheres", {"count": 20, "faces": 168}), ("meeting_shuttles", {"count": 8})])
def test_two_of_many_meet_in_cycle_72_and_nobody_before(name, values):
    motion = scenes.make_scene(name, **values).record()
    assert pairs_of(motion) == [[]] * 71 + [[(0, 1)]]
    # With the same seed the same two are there, whoever else is.
    two = scenes.make_scene(name, **values | {"count": 2}).record()
    assert two.poses.tobytes() == motion.poses[:, :2].tobytes()


def test_boxes_of_many_shuttles_overlap_in_every_cycle_until_two_meet():
    counts = overlaps_of(scenes.make_scene("meeting_shuttles").record())
    assert len(counts) == 72
    assert min(counts) >= 3
    assert np.mean(counts) >= 5.0


def test_head_and_shuttle_overlap_with_their_boxes_from_cycle_17_on_and_touch_in_the_last():
    motion = scenes.make_scene("head_and_shuttle").record()
    assert pairs_of(motion) == [[]] * 39 + [[(0, 1)]]
    assert overlaps_of(motion) == [0] * 16 + [1] * 24  # chair and sphere never come near
    still = motion.poses[-1, 2:, :3, 3] - motion.poses[0, 2:, :3, 3]
    assert (np.linalg.norm(still, axis=1) > 0.01).all()


def test_a_cube_in_which_nobody_can_keep_apart_is_refused():
    with pytest.raises(InputError, match=r"sphere a.*cube"):  # they would have to start outside of it
        scenes.make_scene("meeting_spheres", cube=6.0)
    with pytest.raises(InputError, match=r"40 spheres do not keep apart in a cube of edge 6"):
        scenes.make_scene("meeting_spheres", count=40, cube=6.0, cycles=8, faces=48)


def test_boxes_of_many_shuttles_overlap_in_every_frame():
    counts = overlaps_of(scenes.make_scene("shuttles").record(100))
    assert min(counts) >= 3
    assert np.mean(counts) >= 8.0


# ---------------------------------------------------------------------- deformation


def test_hands_bend_and_keep_their_faces(recorded):
    _, motion = recorded["hands"]
    assert motion.vertices.keys() == {0, 1}
    flat = build.hand()
    tip = int(np.argmax(flat.vertices[:, 1]))  # of the middle finger, which is along +y
    palm = np.flatnonzero(flat.vertices[:, 1] < 0.2)
    for k in (0, 1):
        assert motion.vertices[k].shape == (len(motion), len(flat.vertices), 3)
        shapes = motion.vertices[k]
        reach = np.linalg.norm(shapes[:, tip] - shapes[:, palm].mean(axis=1), axis=1)
        assert reach.max() - reach.min() > 0.3
        assert (shapes[:, palm] == shapes[:1, palm]).all()  # the palm itself is stiff
        assert np.array_equal(motion.meshes[k].faces, flat.faces)
        for frame in range(8):
            shown = motion.meshes[k].with_vertices(shapes[frame])
            assert shown.is_closed
            assert shown.volume > 0.0
        assert shapes[8].tobytes() == shapes[0].tobytes()  # one period
    assert motion.vertices[0].tobytes() != motion.vertices[1].tobytes()


def test_a_finger_follows_the_other_and_no_joint_bends_too_far():
    hand = scenes.make_scene("hands", bend=1.2, period=10).bodies[0]
    tips = [int(np.argmin(np.linalg.norm(build.hand().vertices - corner, axis=1))) for corner in ((-0.3, 0.85, 0), (0.2, 0.75, 0))]
    heights = hand.cycle.shapes[:, tips, 1]
    assert heights[:, 0].argmin() != heights[:, 1].argmin()
    with pytest.raises(InputError, match="bend"):
        scenes.make_scene("hands", bend=1.3)


def test_spheres_deform_within_their_bounds(recorded):
    _, motion = recorded["deforming_spheres"]
    assert motion.vertices.keys() == set(range(4))
    sphere = motion.meshes[0]
    for shapes in motion.vertices.values():
        assert shapes.shape == (60, len(sphere.vertices), 3)
        radius = np.linalg.norm(shapes, axis=2)
        assert radius.min() >= 0.75 - 1e-12
        assert radius.max() <= 1.25 + 1e-12
        assert np.ptp(radius, axis=0).min() > 0.05  # every vertex moves
        assert np.ptp(radius, axis=1).min() > 0.05  # and in no frame is it a sphere
        assert np.abs(np.cross(shapes, sphere.vertices)).max() < 1e-12  # along the radius
        assert np.linalg.norm(shapes[0] - shapes[1]) < 4.0 * np.linalg.norm(shapes[8] - shapes[7])
    assert motion.vertices[0][0].tobytes() != motion.vertices[1][0].tobytes()


# ---------------------------------------------------------------------- the room


@pytest.fixture(scope="module")
def life_in_the_room():
    """What happens in the first 300 frames: who touches whom, who is held, and how all move."""
    stepper = scenes.make_scene("room").stepper()
    story = []
    for _ in range(300):
        before = stepper.centres
        touching, held_before = stepper.touching(), stepper.held
        stepper.advance()
        story.append((touching, held_before, stepper.held, stepper.centres - before, np.array(stepper.poses)))
    return story


def test_a_hand_grasps_carries_and_lets_go(life_in_the_room):
    grasped = {body for _, _, held, _, _ in life_in_the_room for body in held}
    assert len(grasped) >= 2
    assert not grasped & {0, 1}
    carried = 0
    for touching, before, held, step, _ in life_in_the_room:
        carried += len(held.keys() & before.keys())
        for body, hand in held.items():
            assert hand == 0
            assert before.get(body) == hand or (hand, body) in touching  # taken only by touching
            assert np.allclose(step[body], step[hand], atol=1e-12)  # it goes where the hand goes
    for (_, _, held, _, poses), (_, _, after, _, next_poses) in pairwise(life_in_the_room):
        for body in held.keys() & after.keys():
            assert np.abs(next_poses[body, :3, :3] - poses[body, :3, :3]).max() == 0.0  # and does not turn in it
    assert carried > 20
    assert life_in_the_room[-1][2] == {}  # let go again


def test_the_other_hand_pushes(life_in_the_room):
    """A body that the pushing hand meets leaves it, whatever it did before: they do not stay together for long."""
    pushed = [frame for frame, (touching, *_) in enumerate(life_in_the_room) if any(pair[0] == 1 for pair in touching)]
    assert pushed
    runs = np.split(pushed, np.flatnonzero(np.diff(pushed) > 1) + 1)
    assert max(len(run) for run in runs) < 80


def test_the_hands_go_their_ways_whatever_they_touch():
    scene = scenes.make_scene("room", path=50)
    motion = scene.record(101)
    for hand in (0, 1):
        places = motion.poses[:, hand, :3, 3]
        assert np.allclose(places[:51], places[50:], atol=1e-12)  # the same path once more
        assert np.ptp(places, axis=0).min() > 0.5
    with pytest.raises(InputError, match="loop"):
        scenes.Stepper(scene.bodies, 2.0)


# ---------------------------------------------------------------------- by name


@pytest.mark.small
def test_unknown_scenes_and_parameters_are_named():
    with pytest.raises(InputError, match=r"'sphere'.*spheres"):
        scenes.make_scene("sphere")
    with pytest.raises(InputError, match=r"'spheres'.*'size'.*count"):
        scenes.make_scene("spheres", size=3)


@pytest.mark.small
@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("spheres", {"count": 0}, "count"),
        ("spheres", {"faces": 11}, "face_count"),
        ("spheres", {"fill": 1.5}, "fill"),
        ("spheres", {"fill": 0.0}, "fill"),
        ("spheres", {"fill": 0.9, "faces": 8}, "fit"),
        ("spheres", {"cube": 1.0, "faces": 8}, "cube"),
        ("spheres", {"speed": -1.0, "faces": 8}, "speed"),
        ("spheres", {"turn": np.nan, "faces": 8}, "turn"),
        ("spheres", {"response": "bounce", "faces": 8}, "response"),
        ("spheres", {"frames": 0, "faces": 8}, "frames"),
        ("spheres", {"seed": -1, "faces": 8}, "seed"),
        ("spheres", {"seed": "one", "faces": 8}, "seed"),
        ("two_spheres", {"cycles": 1, "faces": 8}, "cycles"),
        ("two_spheres", {"speed": 0.0, "faces": 8}, "speed"),
        ("deforming_spheres", {"swell": 1.0}, "swell"),
        ("deforming_spheres", {"period": 0}, "period"),
        ("hands", {"cube": 0.5, "period": 2}, "cube"),
        ("blobs", {"faces": 9}, "face_count"),
        ("blobs", {"start": np.inf, "faces": 8}, "start"),
        ("crowd", {"subdivisions": -1}, "subdivisions"),
        ("room", {"cube": 0.9}, "cube"),
        ("room", {"cube": 1.8}, "cube"),
        ("room", {"bend": 1.3}, "bend"),
        ("room", {"swell": -0.1}, "swell"),
        ("room", {"period": 3}, "period"),
        ("meeting_shuttles", {"count": 1}, "count"),
        ("tour", {"bend": 2.0}, "bend"),
        ("tour", {"swell": 1.0}, "swell"),
    ],
)
def test_values_that_make_no_scene_are_refused(name, values, words):
    with pytest.raises(InputError, match=f"scene '{name}'.*{words}"):
        scenes.make_scene(name, **values)


@pytest.mark.small
def test_every_scene_has_keywords_with_defaults_a_seed_and_a_docstring():
    for name, maker in scenes.SCENES.items():
        parameters = inspect.signature(maker).parameters
        assert {"seed", "frames"} <= set(parameters), name
        assert all(entry.kind is entry.KEYWORD_ONLY and entry.default is not entry.empty for entry in parameters.values())
        assert maker.__doc__


def test_a_scene_knows_its_parameters_and_can_be_pickled(recorded):
    scene, motion = recorded["deforming_spheres"]
    assert scene.parameters["count"] == 4
    assert scene.parameters["swell"] == 0.25
    assert pickle.loads(pickle.dumps(scene)).record().digest == motion.digest
    assert "4 deforming spheres" in scene.title


@pytest.mark.small
def test_the_global_random_numbers_are_left_alone():
    np.random.seed(5)  # noqa: NPY002
    before = hashlib.sha256(pickle.dumps(np.random.get_state())).digest()  # noqa: NPY002
    scene = scenes.make_scene("crowd", count=5)
    first = scene.record(2).digest
    assert hashlib.sha256(pickle.dumps(np.random.get_state())).digest() == before  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    assert scenes.make_scene("crowd", count=5).record(2).digest == first


@pytest.mark.small
def test_a_world_of_a_scene_is_where_it_starts():
    scene = scenes.make_scene("deforming_spheres", count=2, faces=24, fill=0.05)
    world = scene.world("brute_force")
    assert type(world.method).__name__ == "BruteForce"
    assert np.array_equal(world.poses, [body.pose for body in scene.bodies])
    assert np.array_equal(world.bodies[1].vertices, scene.bodies[1].cycle.at(0))


@pytest.mark.small
def test_the_page_about_scenes_lists_them_all_with_their_parameters():
    page = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text()
    for name, maker in scenes.SCENES.items():
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        for parameter in inspect.signature(maker).parameters:
            assert f"`{parameter}`" in line or f"`{parameter}`" in page.partition("All scenes take")[2].partition("\n\n")[0], (
                name,
                parameter,
            )


@pytest.mark.small
def test_importing_jostle_does_not_import_scenes():
    code = "import sys, jostle; assert not any(n.startswith(('jostle.scenes', 'jostle.motion.record')) for n in sys.modules)"
    subprocess.run([sys.executable, "-c", code + "; from jostle import scenes; scenes.make_scene"], check=True)
    for name in scenes.__all__:
        assert getattr(scenes, name) is not None


# ---------------------------------------------------------------------- a user's own bodies


def users_world():
    world = jostle.World()
    world.add(box(), name="gone")
    world.add(box(), translation((0.1, 0.2, 0.3)), name="floor", static=True)
    world.add(tetrahedron(), translation((2.0, 0.0, 0.0)), name="soft", deformable=True, group=4)
    world.add(tetrahedron(), translation((1.3, 0.0, 0.0)), name="hard", category=2, mask=3)
    world.remove("gone")
    world["soft"].vertices = tetrahedron().vertices * 1.5
    world.ignore("soft", "floor")
    return world


@pytest.mark.small
def test_a_scene_of_a_world_starts_as_it_is_and_moves_all_but_static_bodies():
    world = users_world()
    poses = np.array(world.poses)
    scene = scenes.scene_of_world(world, drift=0.25, period=20, frames=41)
    motion = scene.record()
    assert motion.names == ("floor", "soft", "hard")
    assert (motion.static, motion.group, motion.ignored) == ((True, False, False), (None, 4, None), ((0, 1),))
    assert (motion.category[2], motion.mask[2]) == (2, 3)
    assert motion.poses[0].tobytes() == poses.tobytes()
    assert (motion.poses[:, 0] == poses[0]).all()
    assert motion.vertices[1].tobytes() == np.tile(tetrahedron().vertices * 1.5, (41, 1, 1)).tobytes()
    for k, size in ((1, np.sqrt(3.0)), (2, np.sqrt(3.0))):
        centres = motion.poses[:, k, :3, :3] @ np.full(3, 0.5) + motion.poses[:, k, :3, 3]
        assert np.linalg.norm(centres[10] - centres[0]) == pytest.approx(2 * 0.25 * size)  # the other side of the circle
        assert np.allclose(centres[20], centres[0])
        assert not np.allclose(motion.poses[20, k], motion.poses[0, k])  # it has turned meanwhile
    assert np.array_equal(world.poses, poses)
    assert scenes.scene_of_world(world, seed=1).record(3).digest != scenes.scene_of_world(world).record(3).digest
    assert scenes.scene_of_world(world).record(3).digest == scenes.scene_of_world(world).record(3).digest


def test_a_scene_of_a_glb_file(tmp_path):
    import trimesh

    mesh = trimesh.Trimesh(box().vertices, box().faces, process=False)
    tree = trimesh.Scene()
    for k in range(10):
        tree.add_geometry(mesh, node_name=f"part {k}", geom_name="box", transform=translation((1.1 * k, 0.05 * k, 0.0)))
    tree.export(tmp_path / "ten.glb")
    scene = scenes.scene_of_file(tmp_path / "ten.glb")
    assert (scene.name, len(scene.bodies)) == ("ten", 10)
    motion = scene.record(30)
    assert sorted(motion.names) == sorted(f"part {k}" for k in range(10))
    rows = rows_of(motion)
    assert rows == rows_of(motion, "brute_force")
    assert len(set(rows)) > 1
    motion.save(tmp_path / "ten.npz")
    assert len({id(mesh) for mesh in Motion.load(tmp_path / "ten.npz").meshes}) == 1
    with pytest.raises(InputError, match=r"none\.glb"):
        scenes.scene_of_file(tmp_path / "none.glb")
