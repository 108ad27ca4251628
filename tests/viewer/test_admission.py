"""Who may load the page and connect to it: names, origins and tokens, by themselves and at a real server."""

import contextlib
import http.client
import re
import socket
import threading
import time
from pathlib import Path

import pytest

import jostle
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.shapes import build

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

import viser
import viser.infra
import websockets.asyncio.server
from websockets import Headers
from websockets.exceptions import InvalidStatus

from jostle.viewer import guarded
from jostle.viewer.admission import Admission, is_loopback
from jostle.viewer.serve import LOCAL, check_address, free_port, open_server
from jostle.viewer.session import Session
from jostle.viewer.subject import subject_of_world
from tests.viewer.raw_client import RawClient, served, until


def headers(**values):
    made = Headers()
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            made[name.replace("_", "-")] = each
    return made


def refused(admission, path="/", **values):
    return admission.refusal(path, headers(**values)) is not None


def test_which_addresses_are_of_this_machine_alone():
    for host in ("127.0.0.1", "127.1", "::1", "0:0::1", "localhost", "LOCALHOST"):
        assert is_loopback(host), host
    for host in ("0.0.0.0", "0", "::", "::0", "", "192.168.0.7", "example.org"):
        assert not is_loopback(host), host


def test_a_page_of_this_machine_goes_by_its_names_and_port_only():
    here = Admission.to("127.0.0.1", 8080)
    assert here.token is None
    assert here.address == "http://127.0.0.1:8080"
    for name in ("127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"):
        assert not refused(here, Host=name)
    for name in (
        "evil.example:8080", "127.0.0.1", "127.0.0.1:8081", "localhost.:8080", "127.0.0.1:8080.evil.example", "evil@127.0.0.1:8080",
        "0.0.0.0:8080", "127.0.0.2:8080", "", " 127.0.0.1:8080", "127.0.0.1:8080 ",
    ):  # fmt: skip
        assert refused(here, Host=name), name
    assert refused(here)
    assert refused(here, Host=["127.0.0.1:8080", "127.0.0.1:8080"])
    assert not refused(Admission.to("127.0.0.1", 80), Host="localhost")
    assert not refused(Admission.to("127.0.0.2", 8080), Host="127.0.0.2:8080")
    assert not refused(Admission.to("::1", 8080), Host="[::1]:8080")


def test_only_the_page_itself_may_connect():
    here, host = Admission.to("127.0.0.1", 8080), {"Host": "localhost:8080"}
    connects = {**host, "Upgrade": "websocket"}
    assert not refused(here, **connects, Origin="http://localhost:8080")
    assert refused(here, **connects)  # every browser says where it comes from
    for origin in (
        "null", "http://evil.example", "https://localhost:8080", "http://localhost", "http://localhost:8081", "http://127.0.0.1:8080",
        "http://localhost:8080.evil.example", "file://", "", "http://localhost:8080, http://evil.example",
    ):  # fmt: skip
        assert refused(here, **connects, Origin=origin), origin
        assert refused(here, **host, Origin=origin), origin
    assert refused(here, **connects, Origin=["http://localhost:8080", "null"])


def test_the_address_names_no_other_server_for_the_page():
    """viser's client connects where `websocket=` in its address says, and shows whatever comes from there."""
    here = Admission.to("127.0.0.1", 8080)
    for query in (
        "websocket=ws://evil.example",
        "playbackPath=//evil.example/x",
        "token=a&websocket=b",
        "%77ebsocket=x",
        "a=" * 9,
        "x",
    ):
        assert refused(here, f"/?{query}", Host="localhost:8080"), query
    assert not refused(here, "/?token=old", Host="localhost:8080")
    assert refused(here, "//[", Host="localhost:8080")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "workshop.local"])
def test_a_page_for_others_asks_for_its_token(host):
    there = Admission.to(host, 8080)
    assert len(there.token) >= 32
    assert there.token != Admission.to(host, 8080).token
    assert there.address.endswith(f":8080/?token={there.token}")
    name = "[::1]:8080" if host == "::" else "127.0.0.1:8080" if host == "0.0.0.0" else f"{host}:8080"
    cookie = there.cookie.partition(";")[0]
    assert "HttpOnly" in there.cookie
    assert "SameSite=Strict" in there.cookie
    assert not refused(there, f"/?token={there.token}", Host=name)
    assert not refused(there, Host=name, Cookie=f"a b[]; {cookie};x")
    assert not refused(there, Host=name, Cookie=[f"jostle-8080=; {cookie}", "jostle-8080=other"])
    assert not refused(there, Host=name, Cookie=cookie, Upgrade="websocket", Origin=f"http://{name}")
    for path, extra in (
        ("/", {}),
        (f"/?token={there.token[:-1]}", {}),
        ("/?token=", {}),
        (f"/?token={there.token}&token=x", {}),
        ("/?token=\u00e4", {}),
        ("/", {"Cookie": cookie[:-1]}),
        ("/", {"Cookie": "jostle-8081=" + there.token}),
        ("/", {"Cookie": ";;=; ="}),
        ("/", {"Cookie": cookie, "Upgrade": "websocket", "Origin": "http://evil.example:8080"}),
        ("/", {"Upgrade": "websocket", "Origin": f"http://{name}"}),
    ):
        assert refused(there, path, Host=name, **extra), (path, extra)
    by_another_name = refused(there, f"/?token={there.token}", Host="evil.example:8080")
    assert by_another_name == (host not in ("0.0.0.0", "::"))  # which stands for all names that the machine has


@pytest.mark.parametrize(
    ("host", "written"), [("FE80:0::7", "[fe80::7]"), ("10.1", "10.0.0.1"), ("Workshop.LOCAL", "workshop.local")]
)
def test_a_host_goes_by_the_form_that_browsers_give_it(host, written):
    there = Admission.to(host, 8080)
    assert there.address.startswith(f"http://{written}:8080/?")
    assert not refused(there, f"/?token={there.token}", Host=f"{written}:8080")


@pytest.mark.parametrize(
    ("host", "name"), [("", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("0", "127.0.0.1"), ("::", "[::1]"), ("0::0", "[::1]")]
)
def test_a_page_that_listens_everywhere_prints_an_address_that_opens(host, name):
    assert Admission.to(host, 8080).address.startswith(f"http://{name}:8080/?token=")


def test_a_port_is_free_if_it_is_so_on_all_addresses_of_a_name(monkeypatch):
    """viser would try a thousand ports, and then wait for ever."""
    with socket.socket() as taken:
        taken.bind((LOCAL, 0))
        taken.listen()
        port = taken.getsockname()[1]
        first = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.2", port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [first, (*first[:4], (LOCAL, port))])
        with pytest.raises(InputError, match="in use"):
            check_address("localhost", port)
        without = (9999, *first[1:])  # a family that this machine does not have
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [without, first])
        check_address("localhost", port)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [without])
        with pytest.raises(InputError, match="no such kind of address"):
            check_address("localhost", port)


def two_boxes():
    world = jostle.World("brute_force")
    for name, place in (("left", -1.0), ("right", 1.0)):
        world.add(build.box((1.0, 1.0, 1.0)), translation((place, 0.0, 0.0)), name)
    return Session(subject_of_world(world, "two boxes"))


def asked(port, path="/", **values):
    """(status, headers) of a plain request."""
    connection = http.client.HTTPConnection(LOCAL, port, timeout=30)
    connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    for name, value in values.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def test_other_sites_can_neither_load_the_page_nor_connect():
    with served(two_boxes()) as page:
        here = f"127.0.0.1:{page.port}"
        status, sent, content = asked(page.port, Host=here)
        assert status == 200
        assert b"<html" in content
        assert "script-src-attr 'none'" in sent["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in sent["Content-Security-Policy"]
        assert sent["X-Frame-Options"] == "DENY"
        assert sent["Set-Cookie"] is None
        assert asked(page.port, Host=f"evil.example:{page.port}")[0] == 403
        assert asked(page.port)[0] == 403
        assert asked(page.port, Host=here, Origin="null")[0] == 403
        assert asked(page.port, "/?websocket=ws://evil.example", Host=here)[0] == 403
        assert asked(page.port, "/../../etc/passwd", Host=here)[0] == 404
        for origin in ("http://evil.example", "null", f"http://evil.example:{page.port}", f"https://{here}", ""):  # "": none
            with pytest.raises(InvalidStatus) as status:
                RawClient(page.port, origin=origin)
            assert status.value.response.status_code == 403, origin
        page.client()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x1b]0;title\x07\r\n\r\n",
        b"GET / HTTP/\x1b[31m\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: \x1b[31m\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {here}\r\nOrigin: http://{here}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Protocol: viser-v" + 200 * b"x" + b"\r\n\r\n",
    ],
)
def test_what_strangers_send_is_not_printed(sent, capfd, caplog):
    with served(two_boxes()) as page:
        capfd.readouterr()
        with socket.create_connection((LOCAL, page.port), timeout=10) as stranger, contextlib.suppress(ConnectionResetError):
            stranger.sendall(sent.replace(b"{here}", f"127.0.0.1:{page.port}".encode()))
            while sent and stranger.recv(65536):
                pass
        page.client()  # so that the one before was dealt with
        assert capfd.readouterr() == ("", "")
        assert caplog.records == []  # without a handler, logging prints them on the terminal


def test_a_name_that_no_file_can_have_is_not_found(capfd, caplog):
    with served(two_boxes()) as page:
        status, sent, _ = asked(page.port, "/" + "a" * 3000, Host=f"{LOCAL}:{page.port}")
    assert status == 404
    assert sent["Content-Security-Policy"]
    assert "Traceback" not in capfd.readouterr().err + caplog.text


def test_connections_without_a_request_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(guarded, "MOST_OPENING", 3)
    with served(two_boxes()) as page, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection((LOCAL, page.port), timeout=30)) for _ in range(10)]
        page.client()
        assert asked(page.port, Host=f"127.0.0.1:{page.port}")[0] == 200
        for each in idle[:7]:  # the first ones are cut off
            with contextlib.suppress(ConnectionResetError):
                assert each.recv(1) == b""
        until(lambda: len(page.guard.opening) <= 3)
    until(lambda: len(page.guard.opening) == 0)


def test_with_the_token_a_page_for_others_opens_and_connects():
    with served(two_boxes(), host="0.0.0.0") as page:
        token, here = page.guard.admission.token, f"192.168.0.7:{page.port}"
        assert asked(page.port, Host=here)[0] == 403
        assert asked(page.port, "/?token=" + "a" * len(token), Host=here)[0] == 403
        status, sent, _ = asked(page.port, f"/?token={token}", Host=here)
        assert status == 200
        cookie = sent["Set-Cookie"].partition(";")[0]
        assert asked(page.port, Host=here, Cookie=cookie)[0] == 200
        with pytest.raises(InvalidStatus):
            RawClient(page.port)
        page.client(additional_headers={"Cookie": cookie})


def test_a_viser_that_goes_another_way_is_not_opened(monkeypatch):
    """If viser does not call the guarded function, nothing listens."""
    real, opened = websockets.asyncio.server.serve, []

    class Other(guarded._Server):
        def __init__(self, **options):
            with monkeypatch.context() as patch:  # as if it had taken hold of the function before
                patch.setattr(websockets.asyncio.server, "serve", real)
                super().__init__(**options)
            opened.append(self)

    monkeypatch.setattr(guarded, "_Server", Other)
    with pytest.raises(InputError, match="cannot be protected"):
        open_server(LOCAL, port := free_port(), "jostle")
    with pytest.raises(OSError, match="refused"):
        asked(port, Host=f"127.0.0.1:{port}")
    assert websockets.asyncio.server.serve is real


def test_a_server_whose_opening_is_interrupted_is_guarded_too(monkeypatch):
    """viser listens in a thread of its own, which goes on when the one that waits for it is interrupted."""
    port, begin = free_port(), threading.Event()
    work = viser.infra.WebsockServer._background_worker

    class Interrupted(viser.infra.WebsockServer):
        def start(self):
            self._server_thread = threading.Thread(target=self._late, daemon=True)
            self._server_thread.start()
            begin.set()
            raise KeyboardInterrupt

        def _late(self):
            begin.wait()
            time.sleep(0.1)
            work(self, threading.Semaphore())

    monkeypatch.setattr(viser.infra, "WebsockServer", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_server(LOCAL, port, "jostle")
    until(lambda: is_open(port))
    assert asked(port, Host="evil.example")[0] == 403


def is_open(port):
    with socket.socket() as trial:
        return trial.connect_ex((LOCAL, port)) == 0


def test_what_is_used_of_viser_is_there():
    """All that `guarded.py` uses without being public; a new viser that has other parts fails here first."""
    from viser import _messages

    server = open_server(LOCAL, free_port(), "jostle")
    try:
        assert isinstance(server._websock_server._live_connections, dict)
        box = server.gui.add_checkbox("a", True)
        assert list(server.gui._gui_input_handle_from_uuid.values()) == [box]
        assert server._websock_server._message_class is _messages.Message
    finally:
        server.stop()
    assert _messages.FileTransferPartAck("a", "b", 1, 2).total_bytes == 2
    assert _messages.RemoveNotificationMessage("a").uuid == "a"


def test_only_the_guard_uses_what_is_not_public_in_viser():
    sources = Path(guarded.__file__).parent
    hidden = re.compile(r"viser\._|from viser import _|\._impl\b|\._websock|\._live_connections|_handle_from_uuid")
    users = {file.name for file in sources.glob("*.py") if hidden.search(file.read_text(encoding="utf-8"))}
    assert users == {"guarded.py"}
