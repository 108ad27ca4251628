"""viser's server behind a guard that checks requests and messages.

The guard uses public options of `websockets.serve`: `process_request`, `create_connection`, `logger`. viser calls `serve` without
them, so while a server is made, `serve` is replaced by a function that adds them. If viser does not call it, nothing is opened.
Private parts of viser are used in this file only, and tested with the versions in `TRIED`:
`_websock_server._live_connections`, `gui._gui_input_handle_from_uuid`, `client._websock_connection.queue_message`, `_messages`.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import io
import logging
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import viser
import websockets.asyncio.server
from viser import _messages
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import DATA_OPCODES, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Event, State

from jostle.errors import InputError
from jostle.viewer import messages
from jostle.viewer.admission import Admission
from jostle.viewer.html import LONGEST_SENTENCE, plain
from jostle.viewer.messages import FileTransferPart, FileTransferStartUpload, Message
from jostle.viewer.transfers import Transfers

TRIED = "viser>=1.1,<1.2"
MOST_BYTES = 2**20  # of a message; parts of files have half as many
MOST_CONNECTIONS = 32
MOST_OPENING = 256  # connections that are not WebSockets yet; each uses a file descriptor
PATIENCE = 5.0  # seconds for viser to register a browser
RATE, BURST = (
    400.0,
    800.0,
)  # message cost of a connection per second, and at once; a drag with a turning camera costs about 150
FRAMES, FRAMES_AT_ONCE = 4000.0, 8000.0  # of a connection per second, and at once; a page sends at most a few per message
PING_COST = 40.0  # frames: each ping is answered, and no page sends any
MOST_FRAGMENTS = 1024  # of a message: even an empty one takes memory
COSTS = {messages.GuiUpdateMessage: 4.0, messages.ScenePointerMessage: 20.0, FileTransferStartUpload: 20.0, FileTransferPart: 2.0}

# Only viser's own inline scripts run, never script attributes; nothing is loaded from elsewhere. No page may frame this one, except
# pages of this machine, if a notebook opened it.
_NOTEBOOKS = " ".join(f"{scheme}://{name}:*" for scheme in ("http", "https") for name in ("localhost", "127.0.0.1"))
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; script-src-attr 'none'; "
    "style-src 'unsafe-inline'; img-src 'self' data: blob:; media-src data:; font-src data:; worker-src blob: data:; "
    "connect-src 'self' ws://{host} data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors {framers}",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# A malformed request would be printed on the terminal with its control characters.
_log = logging.getLogger(__name__)
_log.addFilter(lambda record: record.getMessage() != "opening handshake failed")


class Guard:
    """Checks what browsers send before viser's server gets it.

    Parameters
    ----------
    admission : Admission
    framed : bool
        Whether a page of this machine, such as a notebook, may show the page in a frame.
    """

    def __init__(self, admission: Admission, framed: bool = False) -> None:
        self.admission, self._framed = admission, framed
        self.transfers: Transfers | None = None  # uploads; None accepts no files
        self.uploader: Callable[[int], Any] | None = None  # by client number
        self.server: Any = None
        self.used = threading.Event()
        self.closed = 0  # connections closed for what they sent
        self.connections: set[GuardedConnection] = set()
        self.opening: dict[GuardedConnection, None] = {}  # oldest first

    def options(self, handler: Callable[[Any], Awaitable[None]], options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of `serve` with the guard's own."""
        self.used.set()
        answer = options.get("process_request")

        def process_request(connection: ServerConnection, request: Request) -> Response | None:
            return self.answered(connection, request, answer)

        async def handle(connection: GuardedConnection) -> None:
            self.opening.pop(connection, None)
            self.connections.add(connection)
            try:
                if connection.subprotocol == f"viser-v{viser.__version__}":
                    await handler(connection)
                else:  # viser would print the requested subprotocol on the terminal
                    await connection.close(1002, f"This page needs viser {viser.__version__}.")
            finally:
                self.connections.discard(connection)
                if self.transfers is not None:
                    self.transfers.forget(connection)

        return {
            **options,
            "handler": handle,
            "process_request": process_request,
            "create_connection": partial(GuardedConnection, self),
            "max_size": MOST_BYTES,
            "close_timeout": 2.0,
            "logger": _log,
        }

    def answered(self, connection: ServerConnection, request: Request, answer: Any) -> Response | None:
        """Return a refusal or viser's response, with headers; None accepts a WebSocket."""
        why = self.admission.refusal(request.path, request.headers)
        if why is not None:
            return self._with_headers(connection.respond(http.HTTPStatus.FORBIDDEN, f"{why}\n"), request)
        if request.headers.get_all("Upgrade") and len(self.connections) >= MOST_CONNECTIONS:
            return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "Too many browsers have this page open.\n")
        try:
            response: Response | None = None if answer is None else answer(connection, request)
        except (OSError, ValueError):  # viser looks for a file whose name is too long or malformed
            response = connection.respond(http.HTTPStatus.NOT_FOUND, "There is no such page.\n")
        if response is not None:
            self._with_headers(response, request)
            if self.admission.cookie is not None:
                response.headers["Set-Cookie"] = self.admission.cookie
        return response

    def _with_headers(self, response: Response, request: Request) -> Response:
        host = "".join(each for each in "".join(request.headers.get_all("Host")) if each.isalnum() or each in ".-:[]")
        for name, value in _HEADERS.items():
            if name != "X-Frame-Options" or not self._framed:  # it cannot name the pages that may
                response.headers[name] = value.format(host=host, framers=_NOTEBOOKS if self._framed else "'none'")
        return response

    def admits(self, connection: GuardedConnection, message: Message) -> bool:
        """Return whether to pass a message to viser; files are handled here."""
        if isinstance(message, messages.ViewerCameraMessage):
            return True
        client = connection.client
        if client is None:  # not introduced yet
            return False
        if isinstance(message, FileTransferStartUpload | FileTransferPart):
            if self.transfers is None or self.uploader is None:
                raise InputError("this page accepts no files")
            if isinstance(message, FileTransferPart):
                self.transfers.receive(connection, message)
            else:
                uploader = self.uploader(client.client_id)
                if uploader is not None:
                    self.transfers.begin(connection, uploader, message)
            return False
        element = None
        if isinstance(message, messages.GuiUpdateMessage):
            for gui in (self.server.gui, client.gui):
                element = element or gui._gui_input_handle_from_uuid.get(message.uuid)
        return messages.allowed(message, element)

    def client_of(self, connection: GuardedConnection) -> Any:
        """Return viser's handle of a browser, or None before its first message."""
        if self.server is None:
            return None
        live = self.server._websock_server._live_connections
        return next((client for number, client in self.server.get_clients().items() if live.get(number) is connection), None)


class GuardedConnection(ServerConnection):
    """A browser's WebSocket: closed by invalid messages, slowed by frequent ones."""

    def __init__(self, guard: Guard, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = guard
        self.client: Any = None
        self._introduces = False  # whether viser is handling its first message
        self.pace = Pace(time.monotonic(), RATE, BURST)
        self.frames = Pace(time.monotonic(), FRAMES, FRAMES_AT_ONCE)
        self._fragments = 0  # of the current message

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection; if too many have sent no request yet, close the oldest."""
        super().connection_made(transport)
        opening = self._guard.opening
        opening[self] = None
        if len(opening) > MOST_OPENING:
            oldest = next(iter(opening))
            del opening[oldest]
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._guard.opening.pop(self, None)
        super().connection_lost(exc)

    def process_event(self, event: Event) -> None:
        """Handle a frame; close the connection if it sends more than a page does."""
        if isinstance(event, Frame):
            if event.opcode in DATA_OPCODES:
                self._fragments = 0 if event.fin else self._fragments + 1
            too_fast = self.frames.wait(PING_COST if event.opcode is Opcode.PING else 1.0, time.monotonic()) > 0.0
            if too_fast or self._fragments > MOST_FRAGMENTS:
                if not self.transport.is_closing():
                    self._guard.closed += 1
                    self.transport.abort()
                return
        super().process_event(event)

    async def recv(self, decode: bool | None = None) -> Any:
        """Return the next message to pass to viser."""
        while True:
            raw = await super().recv()
            try:
                message = messages.decoded(raw)
                if seconds := self.pace.wait(COSTS.get(type(message), 1.0), time.monotonic()):
                    await asyncio.sleep(seconds)  # nothing is read meanwhile, so TCP slows down the sender
                    if self.state is State.CLOSED:
                        raise self.protocol.close_exc
                await self._wait_for_client(message)
                if self._guard.admits(self, message):
                    return messages.encoded(message)
            except InputError as error:
                self._guard.closed += 1
                await self.close(1008, plain(str(error), 100))
                raise self.protocol.close_exc from None  # and drop what it sent after that

    async def _wait_for_client(self, message: Message) -> None:
        """Wait until viser has handled the first message, the camera's pose."""
        if self.client is None and self._introduces:
            end = time.monotonic() + PATIENCE
            while (client := self._guard.client_of(self)) is None and time.monotonic() < end:
                await asyncio.sleep(0.005)
            self.client = client
        self._introduces |= isinstance(message, messages.ViewerCameraMessage)


class Pace:
    """A rate limit: a budget that fills by `rate` per second up to `burst`."""

    def __init__(self, now: float, rate: float, burst: float) -> None:
        self.left, self._at = burst, now
        self._rate, self._burst = rate, burst

    def wait(self, cost: float, now: float) -> float:
        """Spend some of the budget; return the seconds to wait, 0 if it suffices."""
        self.left = min(self._burst, self.left + self._rate * (now - self._at)) - cost
        self._at = now
        return max(0.0, -self.left / self._rate)


_patching = threading.Lock()


@contextlib.contextmanager
def _served_by(guard: Guard) -> Iterator[None]:
    """Serve viser's servers with a guard within this context."""
    serve = websockets.asyncio.server.serve

    def guarded(handler: Any, *arguments: Any, **options: Any) -> Any:
        if not str(getattr(handler, "__module__", "")).startswith("viser."):
            return serve(handler, *arguments, **options)
        options = guard.options(handler, options)
        return serve(options.pop("handler"), *arguments, **options)

    with _patching:
        websockets.asyncio.server.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        except BaseException:
            guard.used.wait(2.0)  # interrupted: viser's thread may still be about to listen
            raise
        finally:
            websockets.asyncio.server.serve = serve  # type: ignore[misc]


class _Server(viser.ViserServer):
    """viser's server without its share tunnel, which any browser could request."""

    guard: Guard

    def request_share_url(self, verbose: bool = True) -> str | None:
        return None

    def stop(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):  # viser says so; the command line says it itself
            super().stop()


def open_guarded(admission: Admission, title: str, framed: bool = False) -> Any:
    """Return a viser server behind its `guard`; its port may not be the requested one."""
    # A browser may disconnect at any moment, even between listing clients and sending to them.
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
    guard = Guard(admission, framed)
    # viser prints a banner; the command line prints the address itself.
    with contextlib.redirect_stdout(io.StringIO()), _served_by(guard):
        server = _Server(host=admission.host, port=admission.port, label=plain(title), verbose=False)
    if not guard.used.is_set():
        server.stop()
        raise InputError(f"viser {viser.__version__} cannot be protected from other sites; pip install '{TRIED}'")
    guard.server = server
    server.guard = guard
    return server


class UploaderOnPage:
    """A browser that uploads a file (an `Uploader`)."""

    def __init__(self, client: Any, notify: Callable[[str], None]) -> None:
        self._client, self._notify = client, notify

    def notify(self, text: str) -> None:
        """Show a sentence."""
        self._notify(plain(text, LONGEST_SENTENCE))

    def acknowledge(self, start: FileTransferStartUpload, received: int) -> None:
        """Show the progress of an upload."""
        self._send(_messages.FileTransferPartAck(start.source_component_uuid, start.transfer_uuid, received, start.size_bytes))

    def dismiss(self, start: FileTransferStartUpload) -> None:
        """Hide the progress of an upload, and enable the button again."""
        self.acknowledge(start, start.size_bytes)
        self._send(_messages.RemoveNotificationMessage(f"upload-{start.transfer_uuid}"))

    def _send(self, message: Any) -> None:
        with contextlib.suppress(ConnectionClosed):
            self._client._websock_connection.queue_message(message)
