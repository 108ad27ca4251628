"""Who may load the page and connect: checks of Host, Origin and a token.

A browser sends the name it looked up with every request (Host), and the site that opened a WebSocket with its handshake (Origin).
So another site can neither connect (its Origin differs) nor pose as this page under a name that it points here (its Host differs:
DNS rebinding). A page for other machines has a random token in its address. The page's client cannot send it with its WebSocket, so
the response sets it as a cookie, which the browser sends to all ports of this machine, but not with requests from other sites.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}  # and a name of this machine for each


class Headers(Protocol):
    """Headers of a request."""

    def get_all(self, key: str) -> Sequence[str]:
        """Return all values of a header."""


def as_browsers_write(host: str) -> str:
    """Return a host as in `Host`: lower-case names, canonical addresses (0: 0.0.0.0)."""
    try:
        return str(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (socket.gaierror, UnicodeError):
        return host.lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(as_browsers_write(host)).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True)
class Admission:
    """The names under which a page may be requested, and the token that it requires.

    Parameters
    ----------
    host : str
        The listening address, as browsers write it.
    port : int
    token : str, optional
        None if only this machine can reach the address.
    """

    host: str
    port: int
    token: str | None = None

    @staticmethod
    def to(host: str, port: int) -> Admission:
        """Return the rules for an address, with a token if other machines can reach it."""
        return Admission(as_browsers_write(host), port, None if is_loopback(host) else secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address to open in a browser, with the token if there is one."""
        name = ANYWHERE.get(self.host) or _in_address(self.host)
        return f"http://{name}:{self.port}" + (f"/?token={self.token}" if self.token else "")

    @property
    def cookie(self) -> str | None:
        """The cookie that gives the token to a browser that had it in its address."""
        if self.token is None:
            return None
        return f"{self._cookie_name}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def refusal(self, path: str, headers: Headers) -> str | None:
        """Return why a request is refused, or None."""
        hosts = headers.get_all("Host")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return (
                "This page has another address. Open the one that was printed; "
                "to reach it through a tunnel, use the same port on both ends."
            )
        origins, connects = headers.get_all("Origin"), bool(headers.get_all("Upgrade"))
        # Browsers send the origin with every WebSocket, but not when a page is opened.
        if (connects or origins) and [each.lower() for each in origins] != [f"http://{hosts[0].lower()}"]:
            return "Another site requested this page."
        try:
            query = parse_qs(urlsplit(path).query, keep_blank_values=True, max_num_fields=4)
        except ValueError:
            return "The address cannot be read."
        if query.keys() - {"token"}:
            # viser's page would connect to a server named in its address, and show what that one sends.
            return "The address of this page takes no settings."
        if self.token is not None and not self._has_token(query.get("token", []), headers):
            return "Open the whole address that was printed, with its token."
        return None

    def _is_own(self, host: str) -> bool:
        if self.host in ANYWHERE:  # any name of this machine; another site lacks the token
            return True
        names = {name.lower() for name in (*LOOPBACK, _in_address(self.host))}
        allowed = {f"{name}:{self.port}" for name in names} | (names if self.port == 80 else set())
        return host.lower() in allowed

    @property
    def _cookie_name(self) -> str:
        return f"jostle-{self.port}"  # cookies of an address are shared by its ports

    def _has_token(self, query: list[str], headers: Headers) -> bool:
        assert self.token is not None
        # Not `http.cookies`: it gives up at another server's malformed cookie.
        pairs = [each.strip().partition("=") for line in headers.get_all("Cookie") for each in line.split(";")]
        # Another server on this machine can set a cookie of the same name: any of them may be ours.
        offered = [value for name, _, value in pairs if name == self._cookie_name] + (query if len(query) == 1 else [])
        return any(hmac.compare_digest(each.encode("utf-8", "replace"), self.token.encode()) for each in offered)


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
