"""Limits of mesh files for `jostle.load`: generous by default, strict for uploads."""

from __future__ import annotations

import dataclasses

from jostle import cast
from jostle.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one file; exceeding one raises `InputError` with its name.

    Sizes are checked against the available bytes before memory is allocated.

    Parameters
    ----------
    file_bytes : int
        Size of the file, and of each buffer beside a glTF file.
    decoded_bytes : int
        Sum of decoded and further data: base64 data, members of archives, buffers beside the file.
    ratio : int
        Size of a member of an archive over its compressed size; real meshes have 5 to 50.
    vertices : int
        Points in the file, before equal ones are merged (STL has three per face), of all meshes together.
    faces : int
        Triangles, after triangulation, of all meshes together.
    nodes : int
        Nodes of a scene, or instances of an object.
    nesting : int
        Depth of nodes within nodes, or elements within elements.
    entries : int
        Values of a JSON document, elements and attributes of an XML document.
    seconds : float
        Time to read the file.

    Examples
    --------
    >>> jostle.load("ball.stl", limits=jostle.Limits(faces=10))
    Traceback (most recent call last):
        ...
    jostle.errors.InputError: ball.stl: it has 1,280 faces; at most 10 are read...
    """

    file_bytes: int = 4 << 30
    decoded_bytes: int = 8 << 30
    ratio: int = 200
    vertices: int = 100_000_000
    faces: int = 100_000_000
    nodes: int = 1_000_000
    nesting: int = 500
    entries: int = 100_000_000
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "seconds":
                value = cast.as_count(value, field.name, 1, 1 << 62, "limits")
            elif not (value := cast.as_number(value, "seconds", "limits")) > 0.0:
                raise InputError(f"limits: seconds is {value}; it must be above 0 (infinity is no limit)")
            object.__setattr__(self, field.name, value)


UPLOAD_LIMITS = Limits(
    file_bytes=20_000_000,
    decoded_bytes=60_000_000,
    ratio=100,
    vertices=1_500_000,
    faces=500_000,
    nodes=2_000,
    nesting=64,
    entries=2_000_000,
    seconds=20.0,
)
"""For files of unknown origin, such as uploads to a server."""
