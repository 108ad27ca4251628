"""Mutated messages to a real server, beside a normal client that must keep working.

    python -m tests.viewer.fuzz_messages --count 20000 --seed 1

takes every kind of message that viser's client sends, with the numbers of real controls, mutates fields or bytes, and sends them
to a server on this machine, reconnecting when it is closed. After every hundred the honest client sets a control and waits until
the session has it. Prints counts; exit status 1 if the honest one was hindered, or something was written to stderr.
"""

import argparse
import contextlib
import io
import math
import random
import sys
import time
from collections import Counter

import msgspec
from viser import _messages
from websockets.exceptions import ConnectionClosed

from jostle.viewer.messages import GIZMO
from tests.viewer.raw_client import camera, served, start_of, until

EVERY = 100  # messages, after which the honest one speaks
ODD = (
    None, True, False, 0, -1, 1, 5, 2**31, 2**63, -(2**63), 2**64 - 1, 0.0, 1e-300, 1e300, math.nan, math.inf, -math.inf, "", "a",
    "value", "update_cb", "/gizmo", "<img src=x onerror=alert(1)>", "\x00\u202e\ud7ff", 5000 * "x", b"", b"\xff" * 100, [],
    [1, 2], [[]],
    {}, {"a": 1}, {"__binary_index": 0, "dtype": "<f4"}, {"value": {"value": 1}}, msgspec.msgpack.Ext(5, b"abc"),
)  # fmt: skip


def real_messages(*controls):
    """Messages as a page sends them; controls are numbers of elements."""
    unit, place = (1.0, 0.0, 0.0, 0.0), (0.5, 0.0, 0.25)
    return [
        camera(),
        _messages.ScenePointerMessage("click", (0.0, -5.0, 2.0), (0.1, 0.9, -0.3), ((0.5, 0.5),), None),
        _messages.TransformControlsDragStartMessage(GIZMO, "1"),
        _messages.TransformControlsUpdateMessage(GIZMO, unit, place, "1"),
        _messages.TransformControlsDragEndMessage(GIZMO, "1"),
        start_of("box.stl", "transfer", 700_000, 2),
        start_of("empty.obj", "transfer", 0, 0),
        _messages.FileTransferPart("button", "transfer", 0, bytes(2**16)),
        *(
            _messages.GuiUpdateMessage(control, {"value": value})
            for control in controls
            for value in (True, 0.25, 3, "wide_tree", "left")
        ),
    ]


def mutated(message, rng):
    """Return bytes like those of a message, but not quite."""
    fields = message.as_serializable_dict()
    kind = rng.random()
    if kind < 0.15:
        return msgspec.msgpack.encode(fields)  # as it is, at a time when it may make no sense
    if kind < 0.75:
        for _ in range(rng.randint(1, 3)):
            _change_field(fields, rng)
        return msgspec.msgpack.encode(fields)
    raw = bytearray(msgspec.msgpack.encode(fields))
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(raw) + 1)
        step = rng.random()
        if step < 0.5 and place < len(raw):
            raw[place] = rng.randrange(256)
        elif step < 0.7:
            del raw[place : place + rng.randint(1, 16)]
        elif step < 0.9:
            raw[place:place] = rng.randbytes(rng.randint(1, 16))
        else:
            raw[place:place] = raw[: rng.randint(1, 64)]
    return bytes(raw)


def _change_field(fields, rng):
    name = rng.choice(list(fields)) if fields else "type"
    kind = rng.random()
    if kind < 0.15:
        fields.pop(name, None)
    elif kind < 0.3:
        fields[rng.choice(["a", "value", "type", "owner", "uuid", "updates", "excluded_self_client"])] = rng.choice(ODD)
    elif kind < 0.4:
        fields["type"] = rng.choice([each.__name__ for each in _messages.Message.get_subclasses()])
    elif isinstance(fields.get(name), dict) and kind < 0.8:
        fields[name] = dict(fields[name])
        _change_field(fields[name], rng)
    elif isinstance(fields.get(name), list | tuple) and fields[name] and kind < 0.8:
        changed = list(fields[name])
        changed[rng.randrange(len(changed))] = rng.choice(ODD)
        fields[name] = changed
    else:
        fields[name] = rng.choice(ODD)


def attack(session, count, seed):
    """Send so many mutated messages; return counts of what happened."""
    rng, counts = random.Random(seed), Counter()
    written = io.StringIO()
    with contextlib.redirect_stderr(written), served(session) as page:
        honest = page.client()
        evil = None
        while counts["messages"] < count:
            if evil is None:
                evil = page.client()
                counts["connections"] += 1
                messages = real_messages(*evil.controls())
            try:
                evil.send(mutated(rng.choice(messages), rng))
                counts["messages"] += 1
                if counts["messages"] % 5 == 0:
                    evil.socket.recv(timeout=0.002)  # read along, and learn of an end
            except TimeoutError:
                pass
            except ConnectionClosed:
                counts["closed"] += 1
                evil.close()
                evil = None
            if counts["messages"] % EVERY == 0:
                _speak(page, honest, counts)
        counts["closed by the guard"] = page.guard.closed
    counts["faults"] = len([line for line in written.getvalue().splitlines() if line.strip()])
    if counts["faults"]:
        print(written.getvalue())  # noqa: T201
    return counts


def _speak(page, honest, counts):
    """The honest client ticks a box, whatever the other one has set meanwhile."""
    wanted = not page.session.settings.contacts
    honest.set("points and normals", wanted)
    until(lambda: page.session.settings.contacts == wanted)
    honest.drain()
    counts["honest"] += 1


def sessions():
    """One that is free, one with a motion, one that leads parts."""
    import jostle
    from jostle.geometry.pose import translation
    from jostle.shapes import build
    from jostle.viewer.session import Session
    from jostle.viewer.settings import Settings
    from jostle.viewer.subject import subject_of, subject_of_world

    world = jostle.World("brute_force")
    for name, place in (("left", -1.0), ("right", 1.0)):
        world.add(build.box((1.0, 1.0, 1.0)), translation((place, 0.0, 0.0)), name)
    boxes = subject_of_world(world, "two boxes")
    yield "free", Session(boxes)
    yield "motion", Session(subject_of(["spheres(count=3, faces=80)"]))
    yield "fit", Session(boxes, Settings(method="bounding_tree"), fit=0.01)


def main(arguments=None):
    """Attack; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    faults = 0
    for what, session in sessions():
        begin = time.monotonic()
        counts = attack(session, asked.count // 3, asked.seed)
        seconds = time.monotonic() - begin
        print(f"{what}:", ", ".join(f"{name} {number:,}" for name, number in counts.items()), f"in {seconds:.0f} s", flush=True)  # noqa: T201
        faults += counts["faults"]
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
