"""Open the page; address and port are checked first, for clear errors.

The server listens on 127.0.0.1 by default, behind a guard (`guarded.py`) and without viser's tunnel to the internet: only whoever
starts the viewer decides who can see the page. Errors name the arguments `host` and `port`, on the command line with a prefix "--".
"""

from __future__ import annotations

import socket
from typing import Any

from jostle.errors import InputError
from jostle.viewer.admission import Admission

LOCAL = "127.0.0.1"


def check_address(host: str, port: int, prefix: str = "") -> None:
    """Raise if the page cannot be opened there; `prefix` goes before argument names."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise InputError(f"{prefix}host {host}: there is no such address ({error})") from None
    served = False
    for family, kind, protocol, _, address in found:  # the server listens on all of them
        trial = _socket(family, kind, protocol)
        if trial is None:
            continue
        served = True
        with trial:
            try:
                trial.bind(address)
            except PermissionError:
                raise InputError(f"{prefix}port {port}: you may not use this port; choose one above 1023") from None
            except OSError as error:
                if error.errno == 98 or "in use" in str(error).lower():
                    raise _in_use(port, prefix) from None
                where = f"{prefix}host {host} {prefix}port {port}"
                raise InputError(f"{where}: the page cannot be opened there ({error.strerror})") from None
    if not served:
        raise InputError(f"{prefix}host {host}: this machine has no such kind of address")


def _in_use(port: int, prefix: str) -> InputError:
    return InputError(f"{prefix}port {port}: the port is in use; choose another, or 0 for any free one")


def _socket(family: int, kind: int, protocol: int) -> socket.socket | None:
    """Return a socket like the server's, or None for a kind that this machine lacks."""
    try:
        made = socket.socket(family, kind, protocol)
    except OSError:
        return None
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:  # another server may use the port in IPv4
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return made


def free_port(host: str = LOCAL) -> int:
    """Return a free port."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as trial:
        trial.bind(address)
        return int(trial.getsockname()[1])


def require_viser() -> Any:
    """Return viser, or raise and say how to install it."""
    try:
        import viser
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "viser":
            raise
        raise InputError("the viewer needs viser; pip install 'jostle[viewer]' brings it") from None
    return viser


def open_server(host: str, port: int, title: str, prefix: str = "", framed: bool = False) -> Any:
    """Return a viser server on exactly this port; open its `guard.admission.address`.

    With `framed`, pages of this machine may show it in a frame.
    """
    require_viser()
    from jostle.viewer.guarded import open_guarded

    check_address(host, port, prefix)
    server = open_guarded(Admission.to(host, port), title, framed)
    if server.get_port() != port:  # taken in the meantime: viser silently used the next one
        server.stop()
        raise _in_use(port, prefix)
    return server
