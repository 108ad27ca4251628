"""Deforming bodies: squeezed by a held body, nearly constant in volume, back in shape afterwards; refusals."""

from dataclasses import replace

import numpy as np
import pytest

import jostle
from jostle.errors import Unsupported
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.viewer.deforming import fitted_pose
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of_world
from tests.viewer.test_session import heard_of

STAMP, BALL, WALL = 0, 1, 2


def stamp_and_ball(**more):
    """A ball of radius 1 on a wall below it, and a stamp above."""
    world = jostle.World()
    world.add(build.box((1.0, 1.0, 0.5)), translation((0.0, 0.0, 1.5)), "stamp")
    world.add(build.icosphere(2), translation((0.0, 0.0, 0.0)), "ball")
    world.add(build.box((6.0, 6.0, 1.0)), translation((0.0, 0.0, -1.55)), "wall", static=True)
    return replace(subject_of_world(world, "stamp and ball"), **more)


def volume(session, body):
    mesh = session.subject.start.meshes[body]
    return mesh.with_vertices(session.stage.vertices[body]).volume


def pressed(session, to=0.85):
    """Press the stamp down and hold it there."""
    assert session.take(STAMP, "me")
    session.move(STAMP, translation((0.0, 0.0, to)), "me")
    for _ in range(60):
        snapshot = session.round()
    return snapshot


def height(vertices):
    return float(np.ptp(vertices, axis=0)[2])


def test_a_ball_is_squeezed_bulges_and_recovers():
    session = Session(stamp_and_ball(), Settings(respond="deform"))
    heard = heard_of(session)
    whole = session.subject.start.meshes[BALL].volume
    snapshot = pressed(session)
    assert snapshot.poses[STAMP, 2, 3] == 0.85
    shape = snapshot.vertices[BALL]
    world = shape @ snapshot.poses[BALL, :3, :3].T + snapshot.poses[BALL, :3, 3]
    assert height(world) < 1.85  # of 2: the stamp's lower side is at 0.6, the wall at -1.05
    assert np.ptp(world, axis=0)[:2].max() > 2.01
    assert volume(session, BALL) == pytest.approx(whole, rel=0.15)
    assert snapshot.found.pairs == {(STAMP, BALL), (BALL, WALL)}
    assert len(snapshot.found.touching[BALL]) > 3
    assert snapshot.found.near == {}
    session.move(STAMP, translation((0.0, 0.0, 3.0)), "me")
    for _ in range(60):
        session.round()
    session.release(STAMP, "me")
    rounds = 0
    while session.round() is not None:
        rounds += 1
        assert rounds < 2000
    assert np.abs(session.stage.vertices[BALL] - session.subject.start.meshes[BALL].vertices).max() < 0.01
    assert volume(session, BALL) == pytest.approx(whole, rel=0.01)
    assert heard.problems == []


def test_a_squeezed_body_keeps_its_shape_when_something_else_is_taken_and_recovers_after_it_was_in_the_hand():
    session = Session(stamp_and_ball(), Settings(respond="deform"))
    before = pressed(session)
    assert session.take(BALL, "you")  # out of the squeeze, as it is
    taken = session.round()
    assert np.allclose(taken.vertices[BALL], before.vertices[BALL], atol=0.02)
    session.move(BALL, translation((4.0, 0.0, 2.0)), "you")
    for _ in range(60):
        carried = session.round()
    assert np.array_equal(carried.vertices[BALL], taken.vertices[BALL])  # rigid in the hand
    assert np.allclose(carried.poses[BALL], translation((4.0, 0.0, 2.0)))
    session.release(BALL, "you")
    session.release(STAMP, "me")
    for _ in range(400):
        session.round()
    # The stamp and the ball are soft and free now, and in shape again.
    for body in (STAMP, BALL):
        assert np.abs(session.stage.vertices[body] - session.subject.start.meshes[body].vertices).max() < 0.01


def test_a_hand_is_rigid_and_what_it_grasps_goes_along():
    session = Session(stamp_and_ball(hands=(STAMP,)), Settings(respond="deform"))
    session.grasp("me", True)
    pressed(session, 1.2)
    assert session.holding.held() == {STAMP: "me", BALL: "me"}
    relative = np.linalg.inv(session.stage.poses[STAMP]) @ session.stage.poses[BALL]
    session.move(STAMP, translation((0.0, 2.0, 3.0)) @ rotation_about((1.0, 0.0, 0.0), 0.5), "me")
    for _ in range(60):
        snapshot = session.round()
    assert np.allclose(np.linalg.inv(snapshot.poses[STAMP]) @ snapshot.poses[BALL], relative, atol=1e-9)
    assert STAMP not in snapshot.vertices


def test_other_settings_leave_the_shape_and_another_response_gives_it_back():
    session = Session(stamp_and_ball(), Settings(respond="deform"))
    before = pressed(session)
    session.change(contacts=True)
    after = session.round()
    assert np.allclose(after.vertices[BALL], before.vertices[BALL], atol=0.01)
    session.change(respond="show")
    shown = session.round()
    assert shown.vertices == {}
    assert np.array_equal(shown.poses[STAMP], before.poses[STAMP])


def test_what_cannot_deform_is_refused_with_its_reason():
    with pytest.raises(Unsupported, match="separating_plane"):
        Session(stamp_and_ball(), Settings(method="separating_plane", respond="deform"))
    with pytest.raises(Unsupported, match="nothing can deform"):
        Session(stamp_and_ball(hands=(STAMP, BALL)), Settings(respond="deform"))
    session = Session(stamp_and_ball(), Settings(method="bounding_tree"))
    heard = heard_of(session)
    session.change(respond="deform")
    session.round()
    assert session.settings.respond == "show"
    assert "bounding_tree does not serve clearance" in heard.problems[0]
    session = Session(stamp_and_ball(), Settings(respond="deform"))
    heard = heard_of(session)
    session.change(method="bounding_tree")
    session.round()
    assert session.settings.respond == "show"
    assert heard.problems == ["bounding_tree does not serve the response: switched off"]


def test_where_steps_take_too_long_bodies_only_show_again(monkeypatch):
    monkeypatch.setattr("jostle.viewer.session.TOO_LONG", 0.0)
    session = Session(stamp_and_ball(), Settings(respond="deform"))
    heard = heard_of(session)
    assert session.take(STAMP, "me")
    for _ in range(2):
        session.round()
    assert session.settings.respond == "deform"
    session.round()
    assert session.settings.respond == heard.settings[-1].respond == "show"
    assert "too many faces touch" in heard.problems[0]
    session.round()
    assert len(heard.problems) == 1


def test_the_fitted_pose_is_the_motion_of_points_that_move_rigidly():
    points = build.blob(200).vertices
    pose = translation((1.0, -2.0, 0.5)) @ rotation_about((1.0, 2.0, 3.0), 2.5)
    assert np.allclose(fitted_pose(points, points @ pose[:3, :3].T + pose[:3, 3]), pose, atol=1e-12)
