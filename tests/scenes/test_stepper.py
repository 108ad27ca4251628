"""The stepper against closed forms: motion, rotation, walls, exchange, stop."""

import numpy as np
import pytest

from jostle import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.scenes import Circle, Cycle, Loop, MovingBody, Scene, Stepper
from tests.tiny import box, random_pose, tetrahedron

pytestmark = pytest.mark.small

UNIT = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
SMALL = box((-0.125, -0.125, -0.125), (0.125, 0.125, 0.125))


def along_x(name, x, velocity, mesh=UNIT, **others):
    return MovingBody(name, mesh, translation((x, 0.0, 0.0)), np.array([velocity, 0.0, 0.0]), **others)


def test_a_free_body_moves_straight_and_turns_about_the_middle_of_its_box():
    rng = np.random.default_rng(2)
    start, velocity, axis = random_pose(rng), rng.normal(size=3), rng.normal(size=3)
    mesh = tetrahedron(0.25)  # its box is 0.25 … 1.25: the middle is not the origin and not the centre of volume
    middle = np.full(3, 0.75)
    motion = Scene("one", "one", (MovingBody("t", mesh, start, velocity, axis, 0.3),)).record(140)
    assert motion.poses[0, 0].tobytes() == start.tobytes()
    place = start[:3, :3] @ middle + start[:3, 3]
    for k in range(140):
        expected = translation(velocity * k) @ rotation_about(axis, 0.3 * k, through=place) @ start
        assert np.abs(motion.poses[k, 0] - expected).max() < 1e-12


def test_poses_stay_rigid_over_500_frames():
    rng = np.random.default_rng(4)
    bodies = tuple(
        MovingBody(f"b{k}", UNIT, random_pose(rng, 0.5), 0.1 * rng.normal(size=3), rng.normal(size=3), rng.uniform(0.0, 3.0))
        for k in range(5)
    )
    poses = Scene("five", "five", bodies, cube=6.0).record(501).poses
    rotation = poses[:, :, :3, :3]
    assert np.abs(np.swapaxes(rotation, 2, 3) @ rotation - np.eye(3)).max() < 1e-9
    assert np.linalg.det(rotation).min() > 0.9
    assert (poses[:, :, 3] == (0.0, 0.0, 0.0, 1.0)).all()


def test_a_body_between_walls_goes_up_and_down_a_triangle_wave():
    body = MovingBody("b", SMALL, np.eye(4), np.array([0.3, -0.07, 0.0]), np.ones(3), 0.5)
    cube = 2.0
    room = cube / 2.0 - np.sqrt(3.0) * 0.125  # for the centre: the ball about the box touches the wall
    stepper = Stepper([body], cube)
    for k in range(60):
        for axis, speed in ((0, 0.3), (1, -0.07), (2, 0.0)):
            phase = (speed * k + room) % (4.0 * room)
            expected = phase - room if phase <= 2.0 * room else 3.0 * room - phase
            assert stepper.centres[0, axis] == pytest.approx(expected, abs=1e-7)
        assert stepper.advance()


def test_no_vertex_leaves_the_cube_though_bodies_turn_deform_and_are_fast():
    rng = np.random.default_rng(8)
    mesh = tetrahedron()
    cycle = Cycle(mesh.vertices * rng.uniform(0.5, 1.5, (7, 1, 1)))
    bodies = tuple(
        MovingBody(
            f"b{k}", mesh, random_pose(rng, 0.2), rng.normal(size=3) * (0.05, 0.5, 5.0)[k % 3], rng.normal(size=3), 0.7, shapes
        )
        for k, shapes in enumerate([None, cycle] * 3)
    )
    cube = 4.5
    motion = Scene("fast", "fast", bodies, cube=cube).record(200)
    nearest = cube
    for k, body in enumerate(bodies):
        for frame in range(200):
            points = motion.vertices[k][frame] if body.cycle else mesh.vertices
            pose = motion.poses[frame, k]
            reach = np.abs(points @ pose[:3, :3].T + pose[:3, 3]).max()
            assert reach <= cube / 2.0
            nearest = min(nearest, cube / 2.0 - reach)
    assert nearest < 0.1  # they were at the walls


def test_two_bodies_exchange_velocities_in_the_frame_in_which_they_touch_and_then_part():
    # Gap 1.0, closing by 0.375 a frame: 0.625, 0.25, then overlap in frame 3; exchanged on the way to frame 4.
    stepper = Stepper([along_x("a", -1.0, 0.25), along_x("b", 1.0, -0.125)], response="exchange")
    velocities = []
    for _ in range(8):
        velocities.append(stepper.velocities[:, 0].tolist())
        stepper.advance()
    assert velocities == [[0.25, -0.125]] * 4 + [[-0.125, 0.25]] * 4
    # Frame 3 is at -0.25 and 0.625; five more frames with exchanged velocities.
    assert stepper.centres[:, 0].tolist() == [-0.25 - 5 * 0.125, 0.625 + 5 * 0.25]


def test_a_faster_body_that_overtakes_exchanges_too():
    stepper = Stepper([along_x("a", 0.0, 0.5), along_x("b", 1.25, 0.125)], response="exchange")
    for _ in range(4):
        stepper.advance()
    assert stepper.velocities[:, 0].tolist() == [0.125, 0.5]


def test_bodies_that_overlap_and_part_do_not_exchange():
    for first, second in ((-0.25, 0.125), (0.125, 0.25), (0.25, 0.25), (0.0, 0.0)):
        stepper = Stepper([along_x("a", -0.25, first), along_x("b", 0.25, second)], response="exchange")
        assert stepper.touching() == [(0, 1)]
        for _ in range(3):
            stepper.advance()
            assert stepper.velocities[:, 0].tolist() == [first, second]


def test_bodies_that_do_not_touch_do_not_exchange_though_they_approach():
    stepper = Stepper([along_x("a", -2.0, 0.25), along_x("b", 2.0, -0.25)], response="exchange")
    for _ in range(4):
        assert stepper.touching() == []
        stepper.advance()
    assert stepper.velocities[:, 0].tolist() == [0.25, -0.25]


def test_three_bodies_in_a_row_hand_the_velocity_on():
    bodies = [along_x("a", -1.0, 0.5), along_x("b", 0.0, 0.0), along_x("c", 1.0, 0.0)]  # b touches both at the start
    stepper = Stepper(bodies, response="exchange")
    stepper.advance()
    assert stepper.velocities[:, 0].tolist() == [0.0, 0.0, 0.5]


def test_static_bodies_filters_and_ignored_pairs_take_no_part():
    wall = along_x("wall", 0.75, -1.0, static=True)
    for other, ignored in ((wall, ()), (along_x("b", 0.75, -0.25), ((0, 1),)), (along_x("b", 0.75, -0.25, group=1), ())):
        stepper = Stepper([along_x("a", 0.0, 0.125, group=1), other], response="exchange", ignored=ignored)
        stepper.advance()
        assert stepper.velocities[0].tolist() == [0.125, 0.0, 0.0]
    assert Stepper([wall]).velocities.tolist() == [[0.0, 0.0, 0.0]]
    motion = Scene("still", "still", (along_x("a", 0.0, 1.0, static=True, spin=1.0),), cube=1.0).record(3)
    assert (motion.poses == np.eye(4)).all()


def test_stop_ends_with_the_first_frame_that_touches():
    bodies = (along_x("a", -1.0, 0.25), along_x("b", 1.0, -0.125))
    motion = Scene("s", "s", bodies, response="stop").record(50)
    assert len(motion) == 4
    world = motion.world()
    touching = []
    for frame in range(4):
        motion.apply(world, frame)
        touching.append(bool(world.detect()))
    assert touching == [False, False, False, True]
    assert len(Scene("s", "s", bodies, response="none").record(50)) == 50


# ---------------------------------------------------------------------- normals and hands


def on_a_loop(name, x, speed, hand=None, cycle=None):
    """A hand that starts at x and moves along x, nearly at a constant speed for a few frames."""
    loop = Loop(np.array([speed * 1000.0 / (2.0 * np.pi), 0.0, 0.0]), np.ones(3), np.zeros(3), 1000)
    return MovingBody(name, UNIT, translation((x, 0.0, 0.0)), cycle=cycle, loop=loop, hand=hand)


def test_along_the_normals_two_free_bodies_exchange_what_they_have_along_them():
    # The small one pierces one face of the large one, whose normal is -x; those of its own sides cancel.
    large = MovingBody("large", box((0.0, -4.0, -4.0), (1.0, 4.0, 4.0)), np.eye(4), np.array([-0.125, 0.0, 0.0625]))
    small = MovingBody("small", SMALL, translation((-0.25, 3.0, 1.0)), np.array([0.25, 0.0625, 0.0]))
    stepper = Stepper([large, small], response="normals")
    while not stepper.touching():
        stepper.advance()
    stepper.advance()
    assert np.allclose(stepper.velocities, [[0.25, 0.0, 0.0625], [-0.125, 0.0625, 0.0]], atol=1e-12)


def test_at_an_edge_momentum_and_energy_are_kept_and_bodies_part_along_both_normals():
    a = MovingBody("a", UNIT, translation((-0.75, 0.0, 0.0)), np.array([0.25, 0.125, 0.0]))
    b = MovingBody("b", UNIT, translation((0.5, 0.75, 0.125)), np.array([-0.125, 0.0, 0.0625]))
    stepper = Stepper([a, b], response="normals")
    while not stepper.touching():
        stepper.advance()
    before = stepper.velocities
    stepper.advance()
    change = stepper.velocities - before
    assert np.allclose(stepper.velocities.sum(axis=0), before.sum(axis=0), atol=1e-15)
    assert (stepper.velocities**2).sum() == pytest.approx((before**2).sum())
    assert (change[1, :2] > 0.01).all()  # out along x and along y, whose faces cross
    assert (change[0, :2] < -0.01).all()


def test_the_direction_of_the_normals_is_that_of_the_faces_that_touch():
    """A small body in the middle of a large face is thrown back along that face's normal, not along the line of centres."""
    wall = MovingBody("wall", box((0.0, -4.0, -4.0), (1.0, 4.0, 4.0)), static=True)
    ball = MovingBody("ball", SMALL, translation((-0.25, 3.0, 2.0)), np.array([0.1875, 0.0, 0.0]))
    stepper = Stepper([wall, ball], response="normals")
    while not stepper.touching():
        stepper.advance()
    stepper.advance()
    assert stepper.velocities[1, 0] < 0.0
    assert np.linalg.norm(stepper.velocities[1]) == pytest.approx(0.1875)
    assert stepper.velocities[0].tolist() == [0.0, 0.0, 0.0]


def test_bodies_that_part_keep_their_motion_though_they_touch():
    stepper = Stepper([along_x("a", -0.375, -0.125), along_x("b", 0.375, 0.25)], response="normals")
    assert stepper.touching() == [(0, 1)]
    stepper.advance()
    assert stepper.velocities[:, 0].tolist() == [-0.125, 0.25]


def test_a_hand_that_pushes_gives_its_motion_and_is_not_changed():
    hand = on_a_loop("hand", -1.0, 0.125, "pushes")
    stepper = Stepper([hand, along_x("b", 0.25, 0.0)], response="normals")
    while not stepper.touching():
        stepper.advance()
    before = stepper.velocities[0]
    stepper.advance()
    assert stepper.velocities[1, 0] >= 0.99 * before[0]
    assert np.linalg.norm(stepper.velocities[1]) <= np.linalg.norm(before) + 1e-12  # and never more than that
    for _ in range(10):
        stepper.advance()
    assert stepper.centres[0, 0] == pytest.approx(-1.0 + hand.loop.at(stepper.frame)[0] - hand.loop.at(0)[0])


def test_a_hand_that_grasps_holds_while_it_is_closed():
    shapes = np.repeat(UNIT.vertices[None], 16, axis=0)  # closed in shapes 4 … 11
    hand = on_a_loop("hand", -1.0, 0.125, "grasps", Cycle(shapes))
    bodies = [hand, along_x("b", 0.125, 0.0, spin=0.5), along_x("c", 0.25, 0.0)]
    stepper = Stepper(bodies, response="normals", ignored=[(1, 2)])
    held, turned = [], []
    for _ in range(20):
        held.append(stepper.held)
        turned.append(stepper.poses[1, 0, 1])
        stepper.advance()
    taken = held.index({1: 0})
    assert 5 <= taken <= 8
    assert held[taken:13] == [{1: 0}] * (13 - taken)  # one at a time, until the hand opens at frame 12
    assert not any(held[13:])
    assert len(set(turned[taken:12])) == 1
    assert len(set(turned)) > 3
    # It was thrown with the motion of the hand.
    assert stepper.velocities[1, 0] > 0.05


def test_what_a_wall_stops_slips_out_of_the_hand_which_takes_nothing_before_it_has_opened():
    shapes = np.repeat(UNIT.vertices[None], 64, axis=0)
    loop = Loop(np.array([0.75, 0.0, 0.0]), np.ones(3), np.zeros(3), 40)
    hand = MovingBody("hand", UNIT, np.eye(4), cycle=Cycle(shapes, 16), loop=loop, hand="grasps")
    body = MovingBody("b", UNIT, translation((0.75, 0.0, 0.0)))
    stepper = Stepper([hand, body], 4.0, "normals")
    held = []
    for _ in range(40):
        stepper.advance()
        held.append(stepper.held)
    assert held[0] == {1: 0}
    lost = held.index({})
    assert lost < 12
    assert not any(held[lost:30])


@pytest.mark.parametrize("response", ["none", "exchange"])
def test_speeds_are_only_ever_permuted(response):
    rng = np.random.default_rng(11)
    bodies = []
    for k in range(6):
        place = 0.75 * np.array([k % 2, k // 2 % 2, k // 4]) - 0.35
        velocity = rng.normal(size=3)
        velocity *= (0.02 + 0.01 * k) / np.linalg.norm(velocity)
        bodies.append(MovingBody(f"b{k}", SMALL, translation(place), velocity, rng.normal(size=3), 0.1))
    stepper = Stepper(bodies, 1.5, response)
    first = np.sort(np.abs(stepper.velocities), axis=1)
    owners = {tuple(row): k for k, row in enumerate(first.tolist())}
    orders = set()
    for _ in range(400):
        stepper.advance()
        # Walls only turn signs, so the magnitudes of the three components say whose velocity it was: bit by bit.
        order = [owners[tuple(row)] for row in np.sort(np.abs(stepper.velocities), axis=1).tolist()]
        assert sorted(order) == list(range(6))
        orders.add(tuple(order))
    assert (len(orders) > 3) if response == "exchange" else (orders == {(0, 1, 2, 3, 4, 5)})


def test_a_circle_leads_about_its_middle_and_back():
    circle = Circle(np.array([0.0, 0.5, 0.0]), np.array([0.0, 0.0, 2.0]), np.pi / 20.0)
    body = MovingBody("b", UNIT, translation((1.0, 2.0, 3.0)), circle=circle)
    places = Scene("c", "c", (body,)).record(41).poses[:, 0, :3, 3]
    assert places[0].tolist() == [1.0, 2.0, 3.0]
    assert np.allclose(np.linalg.norm(places - (1.0, 2.5, 3.0), axis=1), 0.5, atol=1e-14)
    assert np.allclose(places[10], (1.5, 2.5, 3.0))  # right-handed about z
    assert np.allclose(places[40], places[0])


def test_what_cannot_be_stepped_is_refused():
    with pytest.raises(InputError, match=r"'a'.*cube"):
        Stepper([along_x("a", 1.0, 0.0)], cube=3.0)
    with pytest.raises(InputError, match="response"):
        Scene("s", "s", (), response="bounce")
    with pytest.raises(InputError, match="axis"):
        Stepper([along_x("a", 0.0, 0.0, axis=np.zeros(3))])
    with pytest.raises(InputError, match="circle"):
        Stepper([along_x("a", 0.0, 0.0, circle=Circle(np.ones(3), np.ones(3), 0.1))], cube=9.0)
    with pytest.raises(InputError, match="shapes"):
        Cycle(np.zeros((0, 4, 3)))
    with pytest.raises(InputError, match="frames"):
        Scene("s", "s", (along_x("a", 0.0, 0.0),)).record(0)
