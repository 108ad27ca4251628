"""Contact forces: sums by hand, laws they must obey, and presses of simple bodies."""

import math
import pickle

import numpy as np
import pytest

import jostle
from jostle import InputError, Kind, Report, Unsupported, haptics
from jostle.geometry.pose import rotation_about, translation
from jostle.report.report import Contacts, Counters, Details
from jostle.shapes import build
from tests.tiny import random_pose

STIFFNESS = 7.0
ACCURACY = 0.03
VOXEL = ACCURACY / math.sqrt(2.5)
SPACING = VOXEL / math.sqrt(2.0)


def report_of(bodies, depth, normal, point, kind=Kind.CROSSING):
    """A report of contacts at points, between bodies [(a, b), …]."""
    count = len(depth)
    a, b = (np.array(column, np.int32) for column in zip(*bodies, strict=True))
    none, point = np.full(count, -1, np.int32), np.asarray(point, float)
    depth, normal = np.asarray(depth, float), np.asarray(normal, float)
    details = Details(segment=np.stack([point, point], axis=1), normal=normal)
    kinds = np.full(count, kind, np.uint8)
    rows = Contacts(body_a=a, body_b=b, face_a=none, face_b=none, kind=kinds, distance=-depth, depth=depth, _details=details)
    return Report.of(rows, Counters())


def random_report(rng, count=40):
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    bodies = sorted((0, int(b)) for b in rng.integers(1, 3, count))
    return report_of(bodies, rng.uniform(0.0, 0.1, count), normal, rng.normal(size=(count, 3)))


# ---------------------------------------------------------------------- sums and laws


@pytest.mark.small
def test_one_contact_pushes_along_its_normal_and_turns_about_the_point_asked_for():
    report = report_of([(3, 5)], [0.2], [(0.0, 0.0, 1.0)], [(2.0, 0.0, 0.0)])
    on_b = haptics.force(report, 5, stiffness=10.0, area=0.5)
    assert on_b.force == pytest.approx([0.0, 0.0, 1.0])
    assert on_b.torque == pytest.approx([0.0, -2.0, 0.0])  # up at x = 2 lifts that end: right-handed about -y
    assert (on_b.contacts, on_b.deepest) == (1, 0.2)
    assert haptics.force(report, 5, stiffness=10.0, area=0.5, about=(3.0, 0.0, 0.0)).torque == pytest.approx([0.0, 1.0, 0.0])
    assert haptics.force(report, 3, stiffness=10.0).force == pytest.approx([0.0, 0.0, -2.0])
    other = haptics.force(report, 4, stiffness=10.0)
    assert not other.force.any()
    assert (other.contacts, other.deepest) == (0, 0.0)


@pytest.mark.small
def test_sums_are_those_of_numpy():
    rng = np.random.default_rng(0)
    report = random_report(rng)
    contacts, area, about = report.contacts, rng.uniform(0.1, 1.0, 40), rng.normal(size=3)
    for body in (0, 1, 2):
        rows = (contacts.body_a == body) | (contacts.body_b == body)
        sign = np.where(contacts.body_a == body, -1.0, 1.0)
        push = (STIFFNESS * area * contacts.depth * sign * rows)[:, None] * contacts.normal
        wrench = haptics.force(report, body, stiffness=STIFFNESS, area=area, about=about)
        assert wrench.force == pytest.approx(push.sum(axis=0))
        assert wrench.torque == pytest.approx(np.cross(contacts.point - about, push).sum(axis=0))
        assert wrench.deepest == contacts.depth[rows].max()


@pytest.mark.small
def test_forces_between_bodies_are_opposite_to_the_bit():
    report = random_report(np.random.default_rng(1))
    alone = Report.of(report.between(0, 1), Counters())
    a, b = (haptics.force(alone, body, stiffness=STIFFNESS, area=0.3, about=(1.0, 2.0, 3.0)) for body in (0, 1))
    assert (a.force == -b.force).all()
    assert (a.torque == -b.torque).all()
    assert a.force.any()


@pytest.mark.small
def test_damping_grows_with_depth_and_speed_and_never_pulls():
    report = report_of([(0, 1)], [0.2], [(0.0, 0.0, 1.0)], [(2.0, 0.0, 0.0)])

    def push(**motion):
        return haptics.force(report, 1, stiffness=10.0, damping=0.5, **motion).force[2]

    assert push() == pytest.approx(2.0)
    assert push(velocity=(0.0, 0.0, -1.0)) == pytest.approx(3.0)  # 1 + 0.5 * 1
    assert push(velocity=(5.0, 5.0, 0.0)) == pytest.approx(2.0)
    assert push(velocity=(0.0, 0.0, 1.0)) == pytest.approx(1.0)
    assert push(velocity=(0.0, 0.0, 100.0)) == 0.0
    assert push(spin=(0.0, 1.0, 0.0)) == pytest.approx(4.0)  # at x = 2 it goes down with speed 2
    assert push(spin=(0.0, 1.0, 0.0), about=(2.0, 0.0, 0.0)) == pytest.approx(2.0)
    shallow = report_of([(0, 1)], [1e-9], [(0.0, 0.0, 1.0)], [(2.0, 0.0, 0.0)])
    assert haptics.force(shallow, 1, stiffness=10.0, damping=0.5, velocity=(0, 0, -10.0)).force[2] < 1e-7


@pytest.mark.small
def test_the_limit_keeps_the_line_of_the_force():
    report = random_report(np.random.default_rng(2))
    free = haptics.force(report, 0, stiffness=STIFFNESS)
    size = np.linalg.norm(free.force)
    held = haptics.force(report, 0, stiffness=STIFFNESS, limit=0.25 * size)
    assert held.force == pytest.approx(0.25 * free.force)
    assert held.torque == pytest.approx(0.25 * free.torque)
    assert haptics.force(report, 0, stiffness=STIFFNESS, limit=2.0 * size).force == pytest.approx(free.force)


@pytest.mark.small
def test_the_stiffness_is_how_the_force_falls_when_the_body_moves():
    rng = np.random.default_rng(3)
    report = random_report(rng)
    about, small = rng.normal(size=3), 1e-6
    wrench = haptics.force(report, 1, stiffness=STIFFNESS, about=about)
    assert wrench.stiffness == pytest.approx(wrench.stiffness.T)
    assert (pickle.loads(pickle.dumps(wrench)).stiffness == wrench.stiffness).all()
    assert np.linalg.eigvalsh(wrench.stiffness).min() > -1e-9
    contacts = report.contacts
    for k in range(6):
        motion = np.eye(6)[k] * small
        moved = motion[:3] + np.cross(motion[3:], contacts.point - about)
        out = np.einsum("ij,ij->i", moved, contacts.normal)  # body 1 is b of its rows
        bodies = list(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True))
        after = haptics.force(
            report_of(bodies, contacts.depth - out, contacts.normal, contacts.point), 1, stiffness=STIFFNESS, about=about
        )
        change = np.concatenate([after.force - wrench.force, after.torque - wrench.torque]) / small
        assert change == pytest.approx(-wrench.stiffness[:, k], abs=1e-4)


@pytest.mark.small
def test_contacts_without_depth_or_normal_are_refused_by_the_name_of_the_trait():
    with pytest.raises(Unsupported, match="trait answers: no depth"):
        haptics.force(report_of([(0, 1)], [np.nan], [(0.0, 0.0, 1.0)], [(0, 0, 0)]), 0, stiffness=1.0)
    with pytest.raises(Unsupported, match="trait answers: no normal"):
        haptics.force(report_of([(0, 1)], [0.1], [(np.nan,) * 3], [(0, 0, 0)]), 0, stiffness=1.0)
    inside = report_of([(0, 1)], [np.nan], [(np.nan,) * 3], [(0, 0, 0)], Kind.B_IN_A)
    assert not haptics.force(inside, 0, stiffness=1.0).force.any()
    assert not haptics.force(Report(), 0, stiffness=1.0).force.any()


def test_a_method_that_knows_no_depth_is_refused():
    report = jostle.collide(build.box(), build.box(), pose_b=translation((0.4, 0.3, 0.2)))
    with pytest.raises(Unsupported, match="have no depth"):
        haptics.force(report, 0, stiffness=1.0)


@pytest.mark.small
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": math.nan}, "stiffness"),
        ({"stiffness": 1.0, "damping": math.inf}, "damping"),
        ({"stiffness": 1.0, "limit": -1.0}, "limit"),
        ({"stiffness": 1.0, "about": (1.0, 2.0)}, "about"),
        ({"stiffness": 1.0, "velocity": (1.0, 2.0, math.nan)}, "velocity"),
        ({"stiffness": 1.0, "area": [1.0, 2.0]}, "area"),
        ({"stiffness": 1.0, "area": -1.0}, "area"),
    ],
)
def test_values_that_cannot_be_are_refused(values, words):
    report = report_of([(0, 1)], [0.2], [(0.0, 0.0, 1.0)], [(2.0, 0.0, 0.0)])
    with pytest.raises(InputError, match=words):
        haptics.force(report, 1, **values)


# ---------------------------------------------------------------------- presses


def pressed(press, turn=None, both=False, offset=(0.0, 0.0), accuracy=ACCURACY, thick=0.2):
    """A box of 0.5 x 0.4 x 0.3 pressed on a plate with its top at z = 0.

    Returns world, box and report.
    """
    turn = np.eye(4) if turn is None else turn
    world = jostle.World(jostle.Voxmap(accuracy=accuracy, both=both))
    world.add(build.box((1.2, 1.2, thick)), turn @ translation((0.0, 0.0, -0.5 * thick)), "plate", static=True)
    box = world.add(build.box((0.5, 0.4, 0.3)), turn @ translation((*offset, 0.15 - press)), "box")
    return world, box, world.detect()


@pytest.mark.parametrize("turned", [False, True])
def test_a_box_pressed_on_a_plate_gives_stiffness_times_area_times_depth(turned):
    turn = random_pose(np.random.default_rng(5)) if turned else np.eye(4)
    world, box, _ = pressed(0.0, turn)
    up = turn[:3, 2]
    for press in (0.005, 0.02, 0.045):
        box.pose = turn @ translation((0.0, 0.0, 0.15 - press))
        middle = turn[:3, :3] @ np.array([0.0, 0.0, -press]) + turn[:3, 3]
        wrench = haptics.force(world.detect(), box, stiffness=STIFFNESS, about=middle)
        # A row of points along an edge may stand for the side wall, or the other way round: half a spacing on each side.
        least, most = ((0.5 + sign * SPACING) * (0.4 + sign * SPACING) for sign in (-1.0, 1.0))
        assert least <= wrench.force @ up / (STIFFNESS * press) <= most
        assert wrench.force @ up == pytest.approx(STIFFNESS * 0.5 * 0.4 * press, rel=0.05)
        assert np.linalg.norm(wrench.force - (wrench.force @ up) * up) < 1e-3 * np.linalg.norm(wrench.force)
        assert np.linalg.norm(wrench.torque) < 0.5 * SPACING * np.linalg.norm(wrench.force)  # centred
        assert wrench.deepest == pytest.approx(press, rel=1e-3)


def test_the_force_is_the_same_with_both_shells():
    (_, box, one), (_, other_box, two) = pressed(0.02), pressed(0.02, both=True)
    assert len(two.contacts) > 1.5 * len(one.contacts)
    here, there = haptics.force(one, box, stiffness=STIFFNESS), haptics.force(two, other_box, stiffness=STIFFNESS)
    assert there.force == pytest.approx(here.force, rel=1e-12)
    assert there.torque == pytest.approx(here.torque, rel=1e-9, abs=1e-12)


def test_a_box_off_the_middle_turns_the_plate_the_right_way_and_the_torques_cancel():
    _, _, report = pressed(0.03, offset=(0.2, 0.0))
    on_box, on_plate = (haptics.force(report, name, stiffness=STIFFNESS) for name in ("box", "plate"))
    assert (on_box.force == -on_plate.force).all()
    assert (on_box.torque == -on_plate.torque).all()
    assert on_plate.force[2] < 0.0
    assert on_plate.torque[1] == pytest.approx(0.2 * on_box.force[2], rel=0.03)  # down at x = 0.2: right-handed about +y


def test_the_order_of_the_bodies_does_not_matter():
    forces = []
    for first in (True, False):
        world = jostle.World(jostle.Voxmap(accuracy=ACCURACY))
        for name in ("ball", "plate") if first else ("plate", "ball"):
            mesh = build.icosphere(3, 0.2) if name == "ball" else build.box((1.0, 1.0, 0.2))
            world.add(mesh, translation((0.0, 0.0, 0.17 if name == "ball" else -0.1)), name)
        forces.append(haptics.force(world.detect(), "ball", stiffness=STIFFNESS).force)
    assert forces[0] == pytest.approx(forces[1], rel=1e-9)
    assert forces[0][2] > 0.0


@pytest.mark.parametrize("press", [0.014, 0.028])
def test_a_ball_pressed_on_a_plate_gives_stiffness_times_the_volume_of_its_cap(press):
    radius = 0.2
    true = STIFFNESS * math.pi * (radius * press**2 - press**3 / 3.0)
    off = []
    for accuracy in (0.024, 0.012):
        world = jostle.World(jostle.Voxmap(accuracy=accuracy))
        world.add(build.box((1.0, 1.0, 0.4)), translation((0.0, 0.0, -0.2)), "plate", static=True)
        ball = world.add(build.icosphere(5, radius), translation((0.0, 0.0, radius - press)), "ball")
        wrench = haptics.force(world.detect(), ball, stiffness=STIFFNESS)
        assert np.abs(wrench.force[:2]).max() < 0.02 * true
        off.append(abs(wrench.force[2] / true - 1.0))
    assert off[0] < 0.06
    assert off[1] < 0.04
    assert off[1] < off[0]


@pytest.mark.parametrize("thick", [0.2, 0.207, 0.212])  # of the plate: its top lies anywhere in a voxel
def test_forces_begin_where_bodies_touch_and_never_jump_wherever_the_voxels_are(thick):
    world, box, _ = pressed(0.0, thick=thick)
    step, last = 0.05 * VOXEL, 0.0
    for k in range(-6, 60):
        box.pose = translation((0.0, 0.0, 0.15 - step * k))
        wrench = haptics.force(world.detect(), box, stiffness=STIFFNESS)
        assert (wrench.force[2] > 0.0) == (k > 0)
        if k > 0:
            assert bool(world.detect(rows="pairs")) is bool(world.detect(rows="any")) is True
        assert -1e-12 <= wrench.force[2] - last <= 1.05 * STIFFNESS * 0.5 * 0.4 * step
        last = wrench.force[2]


def test_force_and_torque_change_little_when_the_body_moves_a_little():
    world, box, _ = pressed(0.0, rotation_about((1.0, 2.0, 3.0), 0.4))
    start, step = box.pose.copy(), 0.02 * VOXEL
    before = None
    for k in range(150):
        box.pose = start @ rotation_about((0.0, 1.0, 0.0), 1e-4 * k) @ translation((0.0, 0.0, -step * k))
        report = world.detect()
        wrench = haptics.force(report, box, stiffness=STIFFNESS, about=box.pose[:3, 3])
        if before is not None:
            # Every point that is in moves by a step and what the turn adds; a new one enters at no depth.
            moved = step + 1e-4 * 0.4
            assert np.linalg.norm(wrench.force - before.force) <= 1.05 * STIFFNESS * 0.5 * 0.4 * moved
            assert np.linalg.norm(wrench.torque - before.torque) <= 1.05 * STIFFNESS * 0.5 * 0.4 * moved * 0.35
        before = wrench
    assert before.contacts > 500


def test_going_round_in_a_circle_gains_nothing():
    """Normals along the gradient of the distance make a potential.

    Over an edge, where the normals of the shell would not.
    """
    world = jostle.World(jostle.Voxmap(accuracy=ACCURACY))
    world.add(build.box((0.6, 0.6, 0.6)), translation((-0.3, -0.3, -0.3)), "block", static=True)
    ball = world.add(build.icosphere(3, 0.15), name="ball")
    centre, turns = np.array([0.08, -0.3, 0.08]), np.linspace(0.0, 2.0 * np.pi, 121)
    places = centre + 0.03 * np.stack([np.cos(turns), 0.0 * turns, np.sin(turns)], axis=1)
    forces = []
    for place in places:
        ball.pose = translation(place)
        forces.append(haptics.force(world.detect(), ball, stiffness=STIFFNESS).force)
    steps, middles = np.diff(places, axis=0), 0.5 * (np.array(forces)[1:] + np.array(forces)[:-1])
    work = np.einsum("ij,ij->i", middles, steps)
    assert np.abs(work).sum() > 0.0
    assert abs(work.sum()) < 0.02 * np.abs(work).sum()


# ---------------------------------------------------------------------- coupling


@pytest.mark.small
def test_a_coupled_body_follows_the_device_where_nothing_is_in_its_way():
    coupling = haptics.Coupling(stiffness=2.0, turning=0.5, reach=0.3, reach_angle=0.2)
    device = random_pose(np.random.default_rng(7))
    pose, nothing = np.eye(4), haptics.force(Report(), 0, stiffness=1.0)
    for _ in range(40):
        last, pose = pose, coupling.step(device, pose, nothing)
        assert np.linalg.norm(pose[:3, 3] - last[:3, 3]) <= 0.3 + 1e-12
    assert pose == pytest.approx(device, abs=1e-9)
    force, torque = coupling.pull(device, pose)
    assert np.abs(force).max() < 1e-8
    assert np.abs(torque).max() < 1e-8


@pytest.mark.small
def test_spring_and_layer_balance_after_a_step():
    """A point over a floor z = 0 of stiffness k, the device at -d: balance.

    At -d c / (c + k).
    """
    coupling, strength, below = haptics.Coupling(stiffness=2.0, turning=1.0), 8.0, 0.1
    pose = translation((0.0, 0.0, -0.01))
    for _ in range(3):
        depth = max(0.0, -pose[2, 3])
        report = report_of([(0, 1)], [depth], [(0.0, 0.0, 1.0)], [pose[:3, 3]])
        wrench = haptics.force(report, 1, stiffness=strength, about=pose[:3, 3])
        pose = coupling.step(translation((0.0, 0.0, -below)), pose, wrench)
        assert pose[2, 3] == pytest.approx(-below * 2.0 / (2.0 + strength))
    force, _ = coupling.pull(translation((0.0, 0.0, -below)), pose)
    assert -force[2] == pytest.approx(strength * below * 2.0 / (2.0 + strength))  # what the device feels is what the floor gives


@pytest.mark.small
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 3.0, math.pi - 1e-9, math.pi])
def test_rotation_vectors_are_axis_times_angle(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    vector = haptics.rotation_vector(rotation_about(axis, angle)[:3, :3])
    assert np.abs(vector) == pytest.approx(np.abs(axis * angle), abs=2e-7)
    if 0.0 < angle < 3.1:
        assert vector == pytest.approx(axis * angle, abs=1e-12)


def test_a_coupled_box_stays_on_the_plate_when_the_device_goes_through_it():
    world, box, _ = pressed(0.0)
    coupling = haptics.Coupling(stiffness=1.0, turning=0.1, reach=0.5 * VOXEL)
    device, heights = box.pose.copy(), []
    for k in range(200):
        device = translation((0.001 * k, 0.0, 0.15 - min(0.1, 0.002 * k)))
        report = world.detect()
        wrench = haptics.force(report, box, stiffness=300.0, about=box.pose[:3, 3])
        box.pose = coupling.step(device, box.pose, wrench)
        heights.append(box.pose[2, 3])
    assert min(heights) > 0.15 - 2.0 * VOXEL
    assert np.ptp(heights[-50:]) < 0.1 * VOXEL  # at rest, without humming
    assert box.pose[0, 3] == pytest.approx(device[0, 3], abs=0.01)  # and it slides


@pytest.mark.small
@pytest.mark.parametrize("values", [{"stiffness": 0.0}, {"turning": -1.0}, {"reach": 0.0}, {"reach_angle": math.nan}])
def test_couplings_that_cannot_be_are_refused(values):
    with pytest.raises(InputError, match=next(iter(values))):
        haptics.Coupling(**{"stiffness": 1.0, "turning": 1.0} | values)
