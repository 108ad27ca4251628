"""The contestants, one file each; its docstring says how to use it at its best.

Each file is imported only in its contestant's process: a library that is missing or crashes costs one row of the table.
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
"""The class of each peer and the name of its distribution."""

_OTHERS = {
    "jostle": ("jostle.bench.peers.jostle:Jostle", "jostle"),
    "reference": ("jostle.bench.reference:Reference", "jostle"),
}


def distribution_of(name: str) -> str:
    """Return the name of the distribution that a contestant comes in."""
    return {**PEERS, **_OTHERS}.get(name, ("", name))[1]


def load_peer(contestant: Contestant) -> Peer:
    """Import a contestant, given by name or as "module:Class"."""
    where, _ = {**PEERS, **_OTHERS}.get(contestant.peer, (contestant.peer, ""))
    module, _, name = where.partition(":")
    return cast(Peer, getattr(importlib.import_module(module), name)(**contestant.options))
