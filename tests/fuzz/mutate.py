"""Mutations of files: of their bytes, of their words, of what their JSON says, and of what their archives hold."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from typing import Any

from tests.fuzz.corpus import as_glb
from tests.shapes.hostile import packed

WORDS = [
    *(b"0 -1 1 2 3 -0 1e30 1e31 -1e308 1e999 nan inf -inf 1e-31 5e-324 0.1 255 256 65535 65536 2147483647 2147483648").split(),
    *(
        b"4294967295 536870911 99999999999999999999 1_0 0x10 uint int list float double element face vertex # \\ / // data:,"
    ).split(),
    "²".encode("latin-1"),
    "²".encode(),
    b"",
    b"9" * 5000,
    b"1 " * 300,
]
VALUES: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    1.5,
    True,
    None,
    "",
    "x",
    [],
    {},
    [0],
    [[]],
    {"a": 1},
    1 << 31,
    (1 << 32) - 1,
    1 << 62,
    1 << 80,
]
VALUES += [30_000_000, 1e30, 1e308, 1e999, float("nan"), 10**400, -(1 << 63), 5120, 5121, 5123, 5125, 5126, "VEC3", "SCALAR"]
VALUES += ["../x.bin", "/dev/zero", "data:,", "data:;base64,AAAA", "\ud800", "x" * 3000, [0, 0, 0], [0, 0, 0, 1], [1e30] * 16]
BYTES = [
    b"\0",
    b"\xff",
    b"\x80",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x1f",
    b"\0\0\0\x80",
    b"\n",
    b" ",
    b"\r",
    b"\0" * 20,
    b"<",
    b"&a;",
]


def mutated(rng: random.Random, ending: str, corpus: list[bytes]) -> bytes:
    """Return a file of the corpus with a few changes."""
    data = rng.choice(corpus)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        data = _changed(rng, ending, data, corpus)
    return data[: 1 << 20]


def _changed(rng: random.Random, ending: str, data: bytes, corpus: list[bytes]) -> bytes:
    structured = {"gltf": _json, "glb": _glb, "3mf": _archive}.get(ending)
    if structured is not None and rng.random() < 0.7:
        try:
            return structured(rng, data)
        except (ValueError, LookupError, TypeError, RecursionError, zipfile.BadZipFile, NotImplementedError, EOFError, OSError):
            pass  # broken before: only its bytes are left to change
        except RuntimeError:
            pass  # an archive that looks encrypted
        except Exception as error:
            if type(error).__module__ != "zlib":
                raise
    return rng.choice([_byte, _byte, _bytes, _word, _word, _line, _cut, _splice])(rng, data, corpus)


def _byte(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    value = rng.randrange(256) if rng.random() < 0.5 else (data[at : at + 1] or b"\0")[0] ^ (1 << rng.randrange(8))
    return data[:at] + bytes([value]) + data[at + 1 :]


def _bytes(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at, new = rng.randrange(len(data) + 1), rng.choice(BYTES)
    return data[:at] + new + data[at + rng.choice([0, len(new)]) :]


def _word(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Replace a word by another that means trouble."""
    words = list(re.finditer(rb"[^\s\"<>,:=]+", data[: 1 << 16]))
    if not words:
        return data
    word = rng.choice(words)
    return data[: word.start()] + rng.choice(WORDS) + data[word.end() :]


def _line(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Drop a line, say it again, or move it."""
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice([0, 1, 2, 50])):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _cut(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    low, high = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice([data[:high], data[low:], data[:low] + data[high:], data[:high] + data[low:]])


def _splice(rng: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    other = rng.choice(corpus)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)) :]


def _json(rng: random.Random, data: bytes) -> bytes:
    return _document(rng, json.loads(data))


def _document(rng: random.Random, document: Any) -> bytes:
    """Change one value of a document: replace it, copy it from elsewhere, drop it or say it many times."""
    places = list(_places(document))
    parent, key = rng.choice(places)
    match rng.randrange(6):
        case 0 | 1:
            parent[key] = rng.choice(VALUES)
        case 2:
            other, k = rng.choice(places)
            parent[key] = json.loads(json.dumps(other[k]))
        case 3:
            del parent[key]
        case 4 if isinstance(parent, list):
            parent += [parent[key]] * rng.choice([1, 3, 100])
        case _:
            if type(parent[key]) is int:
                parent[key] += rng.choice([-1, 1, 2, 4, 12, 1000])
            elif isinstance(parent[key], str):
                parent[key] = _word(rng, parent[key].encode("utf-8", "replace"), []).decode("latin-1")
    return json.dumps(document).encode()


def _places(value: Any) -> Any:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from _places(inner)


def _glb(rng: random.Random, data: bytes) -> bytes:
    size = int.from_bytes(data[12:16], "little")
    document, content = data[20 : 20 + size], data[28 + size :]
    if rng.random() < 0.2:
        content = _byte(rng, content, [])
    return as_glb(_json(rng, document), content)


def _archive(rng: random.Random, data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    members[name] = rng.choice([_byte, _bytes, _word, _word, _word, _element, _element, _cut])(rng, members[name], [])
    return packed(members, rng.choice([0, 8]))


def _element(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Drop, repeat or move an element of XML, without its end."""
    elements = list(re.finditer(rb"<[^>]*>", data))
    if not elements:
        return data
    one, other = rng.choice(elements), rng.choice(elements)
    new = rng.choice([b"", one.group() * 2, other.group(), one.group() * 100])
    return data[: one.start()] + new + data[one.end() :]
