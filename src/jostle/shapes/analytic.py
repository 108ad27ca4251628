"""Surfaces given by formula, voxelised exactly.

    Mesh(analytic=Torus(1.0, 0.25))

Lock and Wills (§5): "any representation for which ray-surface intersections can be determined may be voxelised". The four here
are centred at the origin, along z. Rays run along an axis of the body, so each crossing is a square root: for the torus the quartic
splits into two quadratics (the distance from the axis lies between ring - h and ring + h). Methods that need faces use the mesh's
tessellation; its vertices lie on the surface, so it is a little smaller than the solid where that is convex.

Any other `RaySurface` works too; pass its vertices and faces with it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError

if TYPE_CHECKING:
    from typing import Self

    from jostle.shapes.mesh import Mesh


MOST_SEGMENTS = 4096  # a ball of so many has 16 million faces


@runtime_checkable
class RaySurface(Protocol):
    """The closed surface of a solid that computes where rays cross it."""

    @property
    def bounds(self) -> ArrayLike:
        """(2, 3) lowest and highest coordinates of the solid."""
        ...

    def crossings(self, axis: int, u: float, v: float) -> ArrayLike:
        """Return the sorted crossings of a line along `axis`: in, out, in, out, …

        The line passes through (u, v), the other two coordinates, lower axis first. One that only touches the surface has two
        entries, or none.
        """
        ...


@runtime_checkable
class ManyRays(Protocol):
    """A `RaySurface` that answers for many rays at once, which is faster."""

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2 k) sorted crossings of n rays, padded with NaN."""
        ...


class _Analytic:
    """Shared code of the four surfaces."""

    segments: int

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2 k) sorted crossings of n rays, padded with NaN."""
        raise NotImplementedError

    def crossings(self, axis: int, u: float, v: float) -> Floats:
        """Return the sorted crossings of the ray along an axis through (u, v)."""
        row = self.crossings_of_rays(axis, np.array([float(u)]), np.array([float(v)]))[0]
        return row[~np.isnan(row)]

    def tessellation(self) -> Mesh:
        """Return a mesh of the surface, for code that needs faces."""
        raise NotImplementedError

    def farthest_from(self, point: ArrayLike) -> float:
        """Return an upper bound of the distance of the solid's points from a point (3,)."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            if field.name == "segments":
                object.__setattr__(self, "segments", cast.as_count(self.segments, "segments", lowest=8, highest=MOST_SEGMENTS))
            else:
                object.__setattr__(self, field.name, cast.as_positive_length(getattr(self, field.name), field.name))

    def scaled(self, factor: float) -> Self:
        """Return the surface with all lengths multiplied by a factor above zero."""
        lengths = [field.name for field in dataclasses.fields(self) if field.name != "segments"]  # type: ignore[arg-type]
        return dataclasses.replace(self, **{name: getattr(self, name) * factor for name in lengths})  # type: ignore[type-var]


def _about(middle: ArrayLike, half: Floats) -> Floats:
    """Return (n, 2) crossings middle ± half; NaN where `half` is not positive."""
    good = np.where(half > 0.0, half, np.nan)
    return np.stack([middle - good, middle + good], axis=1)


def _root(square: Floats) -> Floats:
    """Return the square roots of positive numbers, 0 for others."""
    return np.sqrt(np.maximum(square, 0.0))


@dataclass(frozen=True)
class Sphere(_Analytic):
    """A ball about the origin.

    Parameters
    ----------
    radius : float
    segments : int
        Of the tessellation, around the equator.
    """

    radius: float
    segments: int = 64

    @property
    def bounds(self) -> Floats:
        """(2, 3) the ball's box."""
        return np.array([[-self.radius] * 3, [self.radius] * 3])

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2) crossings."""
        away = np.hypot(u, v)
        return _about(0.0, _root((self.radius - away) * (self.radius + away)))

    def farthest_from(self, point: ArrayLike) -> float:
        """Return the distance from a point through the middle of the ball."""
        return float(np.linalg.norm(point)) + self.radius

    def tessellation(self) -> Mesh:
        """Return a latitude-longitude sphere."""
        from jostle.shapes.build.rings import lathe

        rings = max(self.segments // 2, 2)
        angles = np.pi * np.arange(1, rings) / rings
        profile = np.stack([self.radius * np.sin(angles), -self.radius * np.cos(angles)], axis=1)
        return lathe(profile, self.segments, -self.radius, self.radius, "sphere")


@dataclass(frozen=True)
class _Upright(_Analytic):
    """A surface about z, from -height / 2 to height / 2, within its radius."""

    radius: float
    height: float
    segments: int = 64

    @property
    def bounds(self) -> Floats:
        """(2, 3) the box."""
        corner = np.array([self.radius, self.radius, 0.5 * self.height])
        return np.stack([-corner, corner])


@dataclass(frozen=True)
class Cylinder(_Upright):
    """A cylinder along z, from -height / 2 to height / 2.

    Parameters
    ----------
    radius, height : float
    segments : int
        Of the tessellation, around the axis.
    """

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2) crossings."""
        if axis == 2:
            return _about(0.0, np.where(np.hypot(u, v) < self.radius, 0.5 * self.height, 0.0))
        half = _root((self.radius - u) * (self.radius + u))
        return _about(0.0, np.where(np.abs(v) < 0.5 * self.height, half, 0.0))

    def farthest_from(self, point: ArrayLike) -> float:
        """Return the distance from a point to the farther rim."""
        x, y, z = np.asarray(point, dtype=np.float64).tolist()
        return float(np.hypot(np.hypot(x, y) + self.radius, abs(z) + 0.5 * self.height))

    def tessellation(self) -> Mesh:
        """Return a prism with fans on its ends."""
        from jostle.shapes.build.rings import lathe

        top = 0.5 * self.height
        return lathe([(self.radius, -top), (self.radius, top)], self.segments, -top, top, "cylinder")


@dataclass(frozen=True)
class Cone(_Upright):
    """A cone along z: its base at -height / 2, its tip at height / 2.

    Parameters
    ----------
    radius : float
        Of the base.
    height : float
    segments : int
        Of the tessellation, around the axis.
    """

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2) crossings."""
        if axis == 2:
            half = 0.5 * self.height * np.maximum(1.0 - np.hypot(u, v) / self.radius, 0.0)
            return _about(half - 0.5 * self.height, half)
        radius = np.where(np.abs(v) < 0.5 * self.height, self.radius * (0.5 - v / self.height), 0.0)
        return _about(0.0, _root((radius - u) * (radius + u)))

    def farthest_from(self, point: ArrayLike) -> float:
        """Return the distance from a point to the rim of the base or the tip."""
        x, y, z = np.asarray(point, dtype=np.float64).tolist()
        return float(
            max(np.hypot(np.hypot(x, y) + self.radius, z + 0.5 * self.height), np.linalg.norm((x, y, z - 0.5 * self.height)))
        )

    def tessellation(self) -> Mesh:
        """Return a pyramid with a fan as its base."""
        from jostle.shapes.build.rings import lathe

        top = 0.5 * self.height
        return lathe([(self.radius, -top)], self.segments, -top, top, "cone")


@dataclass(frozen=True)
class Torus(_Analytic):
    """A ring about z.

    Parameters
    ----------
    ring : float
        Radius of the circle in the middle of the tube.
    tube : float
        Radius of the tube, less than `ring`.
    segments : int
        Of the tessellation, around the ring; half as many around the tube.
    """

    ring: float
    tube: float
    segments: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tube >= self.ring:
            raise InputError(f"tube is {self.tube}; it must be less than ring ({self.ring}), or the ring would cross itself")

    @property
    def bounds(self) -> Floats:
        """(2, 3) the ring's box."""
        outer = self.ring + self.tube
        return np.array([[-outer, -outer, -self.tube], [outer, outer, self.tube]])

    def crossings_of_rays(self, axis: int, u: Floats, v: Floats) -> Floats:
        """Return (n, 2) crossings along z, (n, 4) along x or y."""
        if axis == 2:
            across = np.hypot(u, v) - self.ring
            return _about(0.0, _root((self.tube - across) * (self.tube + across)))
        half = _root((self.tube - v) * (self.tube + v))
        outer, inner = self.ring + half, self.ring - half
        # The line is inside where its distance from the axis lies between inner and outer: t² between two squares.
        far = np.where(half > 0.0, _root((outer - u) * (outer + u)), 0.0)
        near = _root((inner - u) * (inner + u))
        rows = np.full((len(far), 4), np.nan)
        one, two = (far > 0.0) & (near == 0.0), (far > near) & (near > 0.0)
        rows[one, :2] = np.stack([-far[one], far[one]], axis=1)
        rows[two] = np.stack([-far[two], -near[two], near[two], far[two]], axis=1)
        return rows

    def farthest_from(self, point: ArrayLike) -> float:
        """Return the distance from a point through the farthest point of the ring."""
        x, y, z = np.asarray(point, dtype=np.float64).tolist()
        return float(np.hypot(np.hypot(x, y) + self.ring, z)) + self.tube

    def tessellation(self) -> Mesh:
        """Return a ring of rings."""
        from jostle.shapes.build.primitives import torus

        return torus(self.ring, self.tube, self.segments, max(self.segments // 2, 3))


_NAMED: dict[str, type[Any]] = {made.__name__: made for made in (Sphere, Cylinder, Cone, Torus)}


def described(surface: RaySurface | None, owner: str) -> dict[str, Any] | None:
    """Return a surface as a table for JSON, or None for none.

    Only the four surfaces of this module can be described.
    """
    if surface is None:
        return None
    name = type(surface).__name__
    if _NAMED.get(name) is not type(surface):
        raise InputError(f"{owner}: its analytic surface {surface!r} is the user's own and cannot be saved; leave it out")
    return {"surface": name, "settings": dataclasses.asdict(surface)}  # type: ignore[call-overload]


def surface_described(table: Any) -> Any:
    """Return the surface of a table made by `described`."""
    if table is None:
        return None
    name, settings = (table.get("surface"), table.get("settings")) if isinstance(table, dict) else (None, None)
    if not isinstance(name, str) or name not in _NAMED or not isinstance(settings, dict):
        raise InputError(f"analytic surface is {cast.shown(table)}; it must name one of {', '.join(_NAMED)}, with its settings")
    names = [field.name for field in dataclasses.fields(_NAMED[name])]
    if set(settings) != set(names):
        raise InputError(f"analytic surface {name} has the settings {', '.join(settings)}; they must be {', '.join(names)}")
    return _NAMED[name](**settings)
