"""The contestants, one file each. Each module docstring says how the library is at its best.

A file is imported in the process of its contestant only, and imports its library there: a library that is missing or that
takes the process down with it costs one row of the table.
"""

from __future__ import annotations

import importlib
from typing import cast

from jostle.bench.case import Contestant, Peer

PEERS = {
    "fcl": ("jostle.bench.peers.fcl:Fcl", "python-fcl"),
    "coal": ("jostle.bench.peers.coal:Coal", "coal"),
    "meshlib": ("jostle.bench.peers.meshlib:MeshLib", "meshlib"),
    "ipctk": ("jostle.bench.peers.ipctk:IpcToolkit", "ipctk"),
    "libigl": ("jostle.bench.peers.libigl:Libigl", "libigl"),
}
"""For each peer where its class stands, and the name of its distribution."""

_OTHERS = {
    "jostle": ("jostle.bench.peers.jostle:Jostle", "jostle"),
    "reference": ("jostle.bench.reference:Reference", "jostle"),
}


def distribution_of(name: str) -> str:
    """The name under which a contestant is installed."""
    return {**PEERS, **_OTHERS}.get(name, ("", name))[1]


def load_peer(contestant: Contestant) -> Peer:
    """Import a contestant and its library; raise ImportError if the library is not installed.

    A contestant that is not in the tables is named by where its class stands, "module:Class".
    """
    where, _ = {**PEERS, **_OTHERS}.get(contestant.peer, (contestant.peer, ""))
    module, _, name = where.partition(":")
    made = getattr(importlib.import_module(module), name)(**contestant.options)
    return cast(Peer, made)
