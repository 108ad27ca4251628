"""A page in this process, and clients that speak viser's protocol without a browser, right or wrong."""

import contextlib
import time
import uuid

import msgspec
import viser
import zstandard
from viser import _messages
from websockets.sync.client import connect

from jostle.viewer.page import Page
from jostle.viewer.serve import LOCAL, free_port, open_server

PATIENCE = 30.0  # seconds


class Served:
    """A session that is served on this machine."""

    def __init__(self, session, host=LOCAL, **page):
        self.session, self.host, self.port = session, host, free_port()
        self.server = open_server(host, self.port, "jostle")
        self.guard = self.server.guard
        self.page = Page(self.server, session, shadows=False, **page)
        session.start()
        self.clients = []

    def client(self, **options):
        """Another browser, as far as the server knows."""
        before = set(self.page.people)
        client = RawClient(self.port, **options)
        self.clients.append(client)
        client.send(camera())
        until(lambda: set(self.page.people) - before)
        client.person = self.page.people[next(iter(set(self.page.people) - before))]
        return client

    def close(self):
        for client in self.clients:
            client.close()
        self.page.close()
        self.session.stop()
        self.server.stop()


@contextlib.contextmanager
def served(session, **options):
    """Serve a session for a while."""
    opened = Served(session, **options)
    try:
        yield opened
    finally:
        opened.close()


class RawClient:
    """A WebSocket to a page."""

    def __init__(self, port, origin=None, host=LOCAL, **options):
        self.socket = connect(
            f"ws://{LOCAL}:{port}",
            origin=f"http://{host}:{port}" if origin is None else origin or None,
            subprotocols=[f"viser-v{viser.__version__}"],
            compression=None,
            max_size=None,
            close_timeout=0.2,  # nobody waits for a server that has much to say
            **options,
        )
        self.heard = []
        self._elements = {}
        self.person = None

    def send(self, message):
        """Send one of viser's messages, a mapping, or bytes as they are."""
        if isinstance(message, _messages.Message):
            message = message.as_serializable_dict()
        self.socket.send(message if isinstance(message, bytes | str) else msgspec.msgpack.encode(message))

    def hears(self, wanted):
        """Return the first message, a mapping, for which something holds; wait for it."""
        end = time.monotonic() + PATIENCE
        seen = 0
        while True:
            for message in self.heard[seen:]:
                seen += 1
                if wanted(message):
                    return message
            self._hear(end - time.monotonic())

    def _hear(self, seconds):
        raw = self.socket.recv(timeout=seconds)
        size, packed = int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:16], "little")
        told = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed], max_output_size=size))
        self.heard += told["messages"]

    def drain(self):
        """Hear all that was said, and forget it."""
        with contextlib.suppress(TimeoutError):
            while True:
                self._hear(0.0)
        self.heard.clear()

    def told(self, words):
        """Wait for a notification with these words, and return its text."""
        return self.hears(lambda each: each["type"] == "NotificationShowMessage" and words in each["props"]["body"])["props"][
            "body"
        ]

    def element(self, label):
        """Return the number of the control with a label."""
        if label not in self._elements:
            self._elements[label] = self.hears(lambda each: "props" in each and each["props"].get("label") == label)["uuid"]
        return self._elements[label]

    def controls(self):
        """Return the numbers of all controls of the page, its own among them."""
        self.element("gizmo on")
        return sorted({each["uuid"] for each in self.heard if each["type"].startswith("Gui") and "props" in each})

    def set(self, label, value):
        """Set a control."""
        self.send(_messages.GuiUpdateMessage(self.element(label), {"value": value}))

    def is_closed(self, code=1008):
        """Whether the server closes this connection; waits for it."""
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                self.socket.recv(timeout=PATIENCE)
        except ConnectionClosed as closed:
            return closed.rcvd is not None and closed.rcvd.code == code

    def upload(self, name, content, part=512 * 1024, size=None):
        """Send a file as a page does; return the number of the transfer."""
        number = str(uuid.uuid4())
        parts = [content[k : k + part] for k in range(0, len(content), part)]
        self.send(start_of(name, number, len(content) if size is None else size, len(parts), self.element("Add a mesh file")))
        for index, each in enumerate(parts):
            self.send(_messages.FileTransferPart("button", number, index, each))
        return number

    def close(self):
        with contextlib.suppress(Exception):
            self.socket.close()


def start_of(name, number, size, parts, button="button"):
    """The announcement of a file."""
    return _messages.FileTransferStartUpload(button, number, name, "", parts, size)


def camera():
    """What a page says first."""
    return _messages.ViewerCameraMessage(
        (1.0, 0.0, 0.0, 0.0), (0.0, -5.0, 2.0), 0.75, 0.01, 1000.0, 420, 680, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    )


def until(wanted, patience=PATIENCE):
    """Wait until something holds."""
    end = time.monotonic() + patience
    while not wanted():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.01)
