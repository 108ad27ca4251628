"""Messages from browsers: viser's own pass, any other closes its connection and no one else's."""

import contextlib
import dataclasses
import math

import msgspec
import pytest

import jostle
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.shapes import build

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

from viser import _messages
from viser.infra import Message as AnyMessage
from websockets.exceptions import ConnectionClosed

from jostle.viewer import guarded
from jostle.viewer.messages import GIZMO, KINDS, decoded, encoded
from jostle.viewer.session import Session
from jostle.viewer.subject import subject_of_world
from tests.viewer.fuzz_messages import attack, real_messages
from tests.viewer.raw_client import camera, served, until


def two_boxes(**options):
    world = jostle.World("brute_force")
    for name, place in (("left", -1.0), ("right", 1.0)):
        world.add(build.box((1.0, 1.0, 1.0)), translation((place, 0.0, 0.0)), name)
    return Session(subject_of_world(world, "two boxes"), **options)


def packed(message, **changes):
    return msgspec.msgpack.encode({**message.as_serializable_dict(), **changes})


def test_messages_have_the_fields_that_viser_gives_them():
    for kind in KINDS:
        theirs = {each.name for each in dataclasses.fields(getattr(_messages, kind.__name__))}
        assert {each.name for each in msgspec.structs.fields(kind)} == theirs, kind


def test_what_a_page_sends_comes_to_viser_as_it_was():
    for message in real_messages("button"):
        assert AnyMessage.deserialize(encoded(decoded(packed(message)))) == AnyMessage.deserialize(packed(message))


@pytest.mark.parametrize(
    "raw",
    [
        "text", b"", b"\xc1", b"\x80", b"\x91" * 100_000, b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xffabc",
        msgspec.msgpack.encode([1, 2]), msgspec.msgpack.encode({"type": 5}), msgspec.msgpack.encode({"type": "Message"}),
        packed(_messages.ShareUrlRequest()), packed(_messages.ShareUrlDisconnect()), packed(_messages.RunJavascriptMessage("1")),
        packed(_messages.GuiFormDirtyMessage("a")), packed(_messages.SceneNodeUpdateMessage("/bodies/0", {"visible": False})),
        packed(_messages.GuiUpdateMessage("a", {"update_cb": 5})), packed(_messages.GuiUpdateMessage("a", {"value": [1]})),
        packed(_messages.GuiUpdateMessage("a", {"value": 1, "props": {}})), packed(_messages.GuiUpdateMessage("a", {})),
        packed(_messages.GuiUpdateMessage("a", {"value": None})), packed(_messages.GuiUpdateMessage("a", {"value": 1}), uuid=7),
        packed(camera(), wxyz=(1.0, 0.0, 0.0)), packed(camera(), fov=math.nan), packed(camera(), position=(0.0, math.inf, 0.0)),
        packed(camera(), far=2**63), packed(camera(), image_width=-1), packed(camera(), look_at="abc"),
        packed(camera(), excluded_self_client=1), packed(camera(), far=True),
        packed(_messages.TransformControlsUpdateMessage(GIZMO, (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))),
        packed(_messages.TransformControlsUpdateMessage(GIZMO, (1.0, 0.0, 0.0, 0.0), (0.0, math.nan, 0.0))),
        packed(_messages.ScenePointerMessage("click", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ((0.0, 0.0),), None)),
        packed(_messages.ScenePointerMessage("click", None, None, ((0.0, 0.0),), None)),
        packed(_messages.ScenePointerMessage("rect-select", None, None, ((0.0, 0.0), (1.0, 1.0)), None)),
    ],
)  # fmt: skip
def test_what_no_page_sends_is_malformed(raw):
    with pytest.raises(InputError):
        decoded(raw)


def test_a_field_that_comes_twice_is_read_once():
    """Two readers may disagree on which of both counts; viser gets the one that was checked."""
    raw = msgspec.msgpack.encode(_messages.GuiUpdateMessage("a", {"value": 1}).as_serializable_dict())
    doubled = bytes([raw[0] + 1]) + raw[1:] + msgspec.msgpack.encode("uuid") + msgspec.msgpack.encode("b")
    assert set(msgspec.msgpack.decode(encoded(decoded(doubled)))) == {"type", "uuid", "updates"}


def test_a_malformed_message_closes_its_own_connection_only():
    with served(two_boxes()) as page:
        good, bad = page.client(), page.client()
        uuid = bad.element("clearance")
        bad.send(_messages.GuiUpdateMessage(uuid, {"update_cb": 5}))
        assert bad.is_closed()
        until(lambda: len(page.page.people) == 1)
        good.set("clearance", 0.25)
        until(lambda: page.session.settings.clearance == 0.25)
        for raw in (b"\xc1", "text", bytes(guarded.MOST_BYTES + 1)):
            other = page.client()
            number = other.element("clearance")
            other.send(raw)
            with contextlib.suppress(ConnectionClosed):
                other.send(_messages.GuiUpdateMessage(number, {"value": 0.75}))  # which comes too late
            assert other.is_closed(1009 if len(raw) > guarded.MOST_BYTES else 1008)
        assert page.session.settings.clearance == 0.25
        good.set("clearance", 0.5)
        until(lambda: page.session.settings.clearance == 0.5)
        assert page.guard.closed == 3


def test_a_control_takes_only_what_it_can_have():
    """Values out of range, of another type or not among the choices, and disabled or unknown controls, change and close nothing."""
    with served(two_boxes()) as page:
        client = page.client()
        before = page.session.settings
        for label, value in (
            ("clearance", -1.0), ("clearance", True), ("clearance", "1"), ("solid", 1), ("solid", "yes"), ("method", "no_method"),
            ("method", 5), ("settings", 5), ("settings", 3000 * "a"), ("overlay", ""), ("when touched", "sing"),
            ("gizmo on", "nobody"), ("Put all back", False), ("Put all back", "go"), ("Add a mesh file", True),
        ):  # fmt: skip
            client.set(label, value)
        client.send(_messages.GuiUpdateMessage("no such control", {"value": 1}))
        page.page.panel._options["solid"].disabled = True
        client.set("solid", True)
        client.send(_messages.TransformControlsUpdateMessage("/bodies/0", (1.0, 0.0, 0.0, 0.0), (9.0, 9.0, 9.0)))
        client.set("points and normals", True)
        until(lambda: page.session.settings.contacts)
        assert dataclasses.replace(page.session.settings, contacts=False) == before
        assert page.guard.closed == 0


def test_a_browser_moves_its_own_gizmo_and_no_other():
    with served(two_boxes()) as page:
        first, second = page.client(), page.client()
        assert (first.person.gizmo.body, second.person.gizmo.body) == (0, 1)
        start = page.session.world.poses.copy()
        owner = first.hears(lambda each: each["type"] == "TransformControlsMessage")["owner"]
        # The second one says that it is the first one's gizmo; the first one's own message comes through.
        for client, way in ((second, 5.0), (first, 0.5)):
            client.send(_messages.TransformControlsDragStartMessage(GIZMO, owner))
            place = page.page.scale.points(start[0, :3, 3] + [0.0, 0.0, way])
            client.send(_messages.TransformControlsUpdateMessage(GIZMO, (1.0, 0.0, 0.0, 0.0), tuple(place.tolist()), owner))
            client.send(_messages.TransformControlsDragEndMessage(GIZMO, owner))
        until(lambda: page.session.world.poses[0, 2, 3] != 0.0)
        until(lambda: not page.session.holding.held())
        assert page.session.world.poses[0, 2, 3] == pytest.approx(0.5)
        assert (page.session.world.poses[1] == start[1]).all()


def test_who_was_not_introduced_changes_nothing():
    from tests.viewer.raw_client import RawClient

    with served(two_boxes()) as page:
        client = RawClient(page.port)
        client.set("clearance", 0.5)
        client.send(camera())
        client.set("points and normals", True)
        until(lambda: page.session.settings.contacts)
        assert page.session.settings.clearance == 0.0
        client.close()


def test_a_pace_is_kept_by_waiting():
    pace = guarded.Pace(0.0, guarded.RATE, guarded.BURST)
    assert [pace.wait(guarded.BURST, 0.0), pace.wait(guarded.RATE, 0.0)] == [0.0, 1.0]
    assert pace.wait(0.0, 0.5) == 0.5
    assert pace.wait(0.0, 1e6) == 0.0
    assert pace.left == guarded.BURST


def test_who_sends_too_much_waits_and_nobody_else(monkeypatch):
    monkeypatch.setattr(guarded, "BURST", 50.0)
    monkeypatch.setattr(guarded, "RATE", 1.0)
    with served(two_boxes()) as page:
        flood, good = page.client(), page.client()
        flood.set("solid", True)
        until(lambda: page.session.settings.solid)
        (connection,) = [each for each in page.guard.connections if each.client is flood.person.client]
        for _ in range(200):
            flood.send(camera())
        until(lambda: connection.pace.left < 0.0)
        good.set("clearance", 0.5)
        until(lambda: page.session.settings.clearance == 0.5)
        assert connection.pace.left > -2.0  # it got no farther


@pytest.mark.parametrize("kind", ["pings", "pongs", "fragments"])
def test_who_sends_more_frames_than_any_page_is_cut_off(kind):
    """They take memory and time before there is a message: a pong for each ping, a record for each fragment."""
    first, opcode, count = {"pings": (None, 0x89, 1000), "pongs": (None, 0x8A, 40_000), "fragments": (0x02, 0x00, 2000)}[kind]
    with served(two_boxes()) as page:
        flood, good = page.client(), page.client()
        empty = bytes([0x80, 0, 0, 0, 0])  # masked
        with contextlib.suppress(OSError):
            flood.socket.socket.sendall((b"" if first is None else bytes([first]) + empty) + count * (bytes([opcode]) + empty))
        until(lambda: len(page.guard.connections) == 1)
        assert page.guard.closed == 1
        good.set("clearance", 0.5)
        until(lambda: page.session.settings.clearance == 0.5)


def test_a_message_may_come_in_fragments():
    with served(two_boxes()) as page:
        client = page.client()
        raw = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": client.element("clearance"), "updates": {"value": 0.5}})
        client.socket.send([raw[k : k + 1] for k in range(len(raw))])
        until(lambda: page.session.settings.clearance == 0.5)


def test_no_more_browsers_than_there_is_room_for(monkeypatch):
    from websockets.exceptions import InvalidStatus

    monkeypatch.setattr(guarded, "MOST_CONNECTIONS", 2)
    with served(two_boxes()) as page:
        one, _ = page.client(), page.client()
        with pytest.raises(InvalidStatus, match="503"):
            page.client()
        one.close()
        until(lambda: len(page.guard.connections) == 1)
        page.client()


def test_mutated_messages_leave_an_honest_browser_alone():
    counts = attack(two_boxes(), count=600, seed=7)
    assert counts["messages"] == 600
    assert counts["closed"] > 50
    assert counts["honest"] >= 6
    assert counts["faults"] == 0
