"""Uploads in progress: parts are joined within limits and delivered as files.

Limits count received bytes, not announced ones, and each browser sends one file at a time. So a browser that announces a large
file and then stalls blocks nobody; after a while its file is dropped, with a message. Everything but `finished` is called in the
server's event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol

from jostle.errors import InputError
from jostle.viewer.messages import FileTransferPart, FileTransferStartUpload

STALLED = 20.0  # seconds without a part
SMALLEST_PART = 2**16  # bytes, except for the last part: a page sends eight times that
AT_ONCE = 4  # files of the largest size in memory at a time, complete or not


class Uploader(Protocol):
    """A browser that uploads a file."""

    def notify(self, text: str) -> None:
        """Show a sentence."""

    def acknowledge(self, start: FileTransferStartUpload, received: int) -> None:
        """Show the progress of an upload."""

    def dismiss(self, start: FileTransferStartUpload) -> None:
        """Hide the progress of an upload."""


@dataclass
class _Transfer:
    start: FileTransferStartUpload
    by: Uploader
    parts: list[bytes] = field(default_factory=list)
    received: int = 0
    timer: asyncio.TimerHandle | None = None

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


class Transfers:
    """All uploads in progress.

    Parameters
    ----------
    most_bytes : int
        Of a file; 0 accepts none.
    too_large : callable of (name, bytes)
        The message for a file that is too large.
    deliver : callable of (uploader, name, content)
        Gets each complete file, and calls `finished` with its size when done with the content.
    """

    def __init__(
        self, most_bytes: int, too_large: Callable[[str, int], str], deliver: Callable[[Uploader, str, bytes], None]
    ) -> None:
        self._most, self._too_large, self._deliver = most_bytes, too_large, deliver
        self._transfers: dict[Hashable, _Transfer] = {}  # by connection
        self.held = 0  # bytes of files that are not finished
        self._lock = threading.Lock()

    def begin(self, connection: Hashable, by: Uploader, start: FileTransferStartUpload) -> None:
        """Expect a file; raise `InputError` if no page would announce it like this."""
        if start.part_count > -(-start.size_bytes // SMALLEST_PART):
            raise InputError("a file in too many parts")
        if connection in self._transfers:
            self._refuse(by, start, f"{start.filename}: another of your files is uploading; try again when it is done")
        elif start.size_bytes > self._most:
            self._refuse(by, start, self._too_large(start.filename, start.size_bytes))
        else:
            self._transfers[connection] = transfer = _Transfer(start, by)
            if start.part_count == 0:
                self._finish(connection, transfer)
            else:
                self._wait(connection, transfer)

    def receive(self, connection: Hashable, part: FileTransferPart) -> None:
        """Receive a part; parts of refused or dropped files are ignored."""
        transfer = self._transfers.get(connection)
        if transfer is None or transfer.start.transfer_uuid != part.transfer_uuid:
            return
        start, received = transfer.start, transfer.received + len(part.content)
        last = part.part_index == start.part_count - 1
        if part.part_index != len(transfer.parts) or (not last and len(part.content) < SMALLEST_PART):
            raise InputError("a part of a file out of order")
        if (received != start.size_bytes) if last else (received >= start.size_bytes):
            raise InputError("a file of another size than announced")
        if not self._hold(len(part.content)):
            self._drop(connection, f"{start.filename}: too many files are uploading; try again later")
            return
        transfer.parts.append(part.content)
        transfer.received = received
        if last:
            self._finish(connection, transfer)
        else:
            transfer.by.acknowledge(start, received)
            self._wait(connection, transfer)

    def forget(self, connection: Hashable) -> None:
        """Drop the upload of a browser that disconnected."""
        transfer = self._transfers.pop(connection, None)
        if transfer is not None:
            transfer.end()
            self.finished(transfer.received)

    def finished(self, size: int) -> None:
        """Release the bytes of a file, from any thread."""
        with self._lock:
            self.held -= size

    def _hold(self, size: int) -> bool:
        with self._lock:
            if self.held + size > AT_ONCE * self._most:
                return False
            self.held += size
            return True

    def _finish(self, connection: Hashable, transfer: _Transfer) -> None:
        transfer.end()
        del self._transfers[connection]
        transfer.by.acknowledge(transfer.start, transfer.received)
        self._deliver(transfer.by, transfer.start.filename, b"".join(transfer.parts))

    def _wait(self, connection: Hashable, transfer: _Transfer) -> None:
        transfer.end()
        words = f"{transfer.start.filename}: nothing arrived for {STALLED:g} s, so it was dropped; try again"
        transfer.timer = asyncio.get_running_loop().call_later(STALLED, self._drop, connection, words)

    def _drop(self, connection: Hashable, words: str) -> None:
        transfer = self._transfers[connection]
        self.forget(connection)
        self._refuse(transfer.by, transfer.start, words)

    def _refuse(self, by: Uploader, start: FileTransferStartUpload, words: str) -> None:
        by.dismiss(start)
        by.notify(words)
