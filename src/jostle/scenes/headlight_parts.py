"""The parts of the scene `headlight`, in millimetres, each in its own coordinates.

Parts of an opening of the housing are drawn about its axis: z points out of the back of the housing (to the engine), z = 0 is the
outer side of its back wall, y is up. A collar surrounds the opening; three ledges on its inner side hold the lugs of a cover, which
must be turned before it comes out. The first bulb locks into its reflector likewise. Clearances between parts are 0.3 to 1 mm;
components of one body (chambers and ears of the housing) may overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle._types import Floats
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.unit_vectors import unit_vector
from jostle.scenes.turned import Corner, Fineness, angles_round, flanks_of, in_mm, in_sectors, moved, oblong, ring, sheet, solid
from jostle.shapes.build.primitives import box
from jostle.shapes.build.rings import circle, joined, skin
from jostle.shapes.mesh import Mesh

# Half widths of three ledges and three lugs; a turn by 60 degrees frees the lugs.
MIDDLES = np.radians([90.0, 210.0, 330.0])
LEDGE, LUG, BULB_LUG = np.radians([31.5, 27.0, 25.0])
CHAMBER_DEPTH = 110.0
CHAMBER_HALF_HEIGHT = 65.0


@dataclass(frozen=True)
class Opening:
    """An opening of the housing: collar radius, chamber half width, cover grip."""

    radius: float
    half_width: float
    grip: float


def chamber(fine: Fineness, opening: Opening) -> Mesh:
    """Return one chamber: walls of 3, open in front, a collar with ledges behind."""
    angles = angles_round(fine.around(156, 48), flanks_of(MIDDLES, LEDGE))
    ledge = in_sectors(angles, MIDDLES, LEDGE)
    inner = opening.radius
    outline = oblong(angles, opening.half_width, CHAMBER_HALF_HEIGHT)
    inside = oblong(angles, opening.half_width - 3.0, CHAMBER_HALF_HEIGHT - 3.0)
    profile: list[Corner] = [
        (inner, -3.0, fine.along(5)),
        (inner, 8.5, fine.along(2)),
        (np.where(ledge, inner - 4.0, inner), np.where(ledge, 8.5, 10.2), fine.along(2)),
        (np.where(ledge, inner - 4.0, inner), 12.0, fine.along(3)),
        (inner + 3.0, 12.0, fine.along(5)),
        (inner + 3.0, 0.0, fine.along(6)),
        (outline, 0.0, fine.along(5)),
        (outline, -CHAMBER_DEPTH, 1),
        (inside, -CHAMBER_DEPTH, fine.along(5)),
        (inside, -3.0, fine.along(5)),
    ]
    return ring(angles, profile, "chamber")


def cover(fine: Fineness, opening: Opening) -> Mesh:
    """Return a locked cover: a hollow plug with three lugs, a rim and a grip."""
    angles = angles_round(fine.around(156, 48), flanks_of(MIDDLES, LUG))
    lug = in_sectors(angles, MIDDLES, LUG)
    plug, edge, rim = opening.radius - 4.5, np.where(lug, opening.radius - 0.6, opening.radius - 4.5), opening.radius + 6.0
    grip = [oblong(angles, opening.grip + more, 6.0 + more, 4.0) for more in (1.0, 0.0, -1.5)]
    profile: list[Corner] = [
        (0.0, 11.5, fine.along(3)),
        (plug - 3.0, 11.5, fine.along(4)),
        (plug - 3.0, 1.0, fine.along(2)),
        (plug, 1.0, fine.along(2)),
        (plug, 3.0, fine.along(2)),
        (edge, np.where(lug, 3.0, 4.5), fine.along(2)),
        (edge, np.where(lug, 8.0, 7.0), fine.along(2)),
        (plug, 8.0, fine.along(2)),
        (plug, 12.5, fine.along(4)),
        (rim, 12.5, fine.along(1)),
        (rim, 14.5, fine.along(1)),
        (rim - 1.0, 15.0, fine.along(3)),
        (grip[0], 15.0, fine.along(4)),
        (grip[1], 25.0, fine.along(1)),
        (grip[2], 26.0, fine.along(3)),
        (0.0, 26.0, 1),
    ]
    return solid(angles, profile, "cover")


def reflector(fine: Fineness, locks: bool) -> Mesh:
    """Return a reflector about a neck for a bulb, with ledges if the bulb locks."""
    angles = angles_round(fine.around(96, 40), flanks_of(MIDDLES, LEDGE) if locks else ())
    ledge = in_sectors(angles, MIDDLES, LEDGE) & locks
    mirror = [(radius, -30.0 - 0.029 * (radius**2 - 256.0)) for radius in np.linspace(16.0, 50.0, fine.along(8) + 1)]
    front: list[Corner] = [(radius, height, 1) for radius, height in mirror]
    back: list[Corner] = [(radius + 1.5, height + 1.5, 1) for radius, height in mirror[::-1]]
    neck: list[Corner] = [
        (18.0, -26.0, fine.along(3)),
        (18.0, -10.0, fine.along(2)),
        (np.where(ledge, 12.2, 15.0), -10.0, fine.along(2)),
        (np.where(ledge, 12.2, 15.0), np.where(ledge, -13.5, -12.0), fine.along(2)),
        (15.0, -13.5, fine.along(2)),
        (15.0, -18.0, fine.along(2)),
        (11.0, -18.0, fine.along(4)),
        (11.0, -30.0, fine.along(2)),
    ]
    return ring(angles, [*front, *back, *neck], "reflector")


def bulb(fine: Fineness, locks: bool, tip: float) -> Mesh:
    """Return a bulb: glass from z = `tip`, a base, a connector up to z = 7."""
    angles = angles_round(fine.around(72, 36), flanks_of(MIDDLES, BULB_LUG) if locks else ())
    lug = in_sectors(angles, MIDDLES, BULB_LUG) | (not locks)
    lean = np.linspace(-np.pi / 2.0, 0.0, fine.along(6) + 1)
    glass: list[Corner] = [(6.5 * np.cos(a), tip + 6.5 + 6.5 * np.sin(a), 1) for a in lean[1:]]
    flange = np.where(lug, 14.4, 11.6)
    connector = oblong(angles, 9.0, 6.5, 6.0)
    profile: list[Corner] = [
        (0.0, tip, 1),
        *glass[:-1],
        (6.5, tip + 6.5, fine.along(6)),
        (6.5, -30.0, fine.along(2)),
        (8.0, -28.0, fine.along(2)),
        (10.4, -27.0, fine.along(4)),
        (10.4, -17.6, fine.along(1)),
        (11.6, -17.5, fine.along(2)),
        (flange, np.where(lug, -17.5, -16.5), fine.along(2)),
        (flange, np.where(lug, -14.0, -15.0), fine.along(2)),
        (11.6, -14.0, fine.along(2)),
        (11.6, -8.0, fine.along(2)),
        (connector, -7.0, fine.along(5)),
        (connector, 6.0, fine.along(1)),
        (oblong(angles, 8.0, 5.5, 6.0), 7.0, fine.along(2)),
        (0.0, 7.0, 1),
    ]
    return solid(angles, profile, "bulb")


def screw(fine: Fineness, turn: float) -> Mesh:
    """Return a screw along z, its head on z = 0 … 4; `turn` rotates the hexagon."""
    angles = angles_round(fine.around(36, 18))
    away = np.mod(angles - turn, np.pi / 3.0) - np.pi / 6.0
    head = 4.6 / np.cos(away)
    thread: list[Corner] = [
        (2.55 + 0.12 * (k % 2), height, 1) for k, height in enumerate(np.linspace(-7.6, -0.6, 2 * fine.along(7) + 1))
    ]
    profile: list[Corner] = [(0.0, -8.2, 1), (1.8, -8.2, 1), *thread, (2.6, 0.0, fine.along(2)), (head, 0.0, fine.along(2))]
    return solid(angles, [*profile, (head, 3.5, 1), (head - 0.7, 4.0, fine.along(2)), (0.0, 4.0, 1)], "screw")


def plate_with_hole(fine: Fineness, half: float, lower: float, upper: float) -> Mesh:
    """Return a square plate from z = `lower` to `upper` about a hole of radius 3."""
    angles = angles_round(fine.around(36, 18))
    outline = oblong(angles, half, half, 6.0)
    profile: list[Corner] = [
        (3.0, lower, fine.along(2)),
        (3.0, upper, fine.along(3)),
        (outline, upper, fine.along(1)),
        (outline, lower, fine.along(3)),
    ]
    return ring(angles, profile, "plate with a hole")


def frame(fine: Fineness) -> Mesh:
    """Return the flat frame around the front of the housing, from z = 0 to 4."""
    angles = angles_round(fine.around(96, 72))
    inner, outer = oblong(angles, 128.0, 70.0), oblong(angles, 146.0, 90.0)
    profile: list[Corner] = [
        (inner, 0.0, fine.along(4)),
        (outer, 0.0, fine.along(1)),
        (outer, 4.0, fine.along(4)),
        (inner, 4.0, fine.along(1)),
    ]
    return ring(angles, profile, "frame")


def battery(fine: Fineness) -> Mesh:
    """Return the battery, from z = -100 to -8, with two terminals above."""
    angles = angles_round(fine.around(72, 36))
    wall, top = oblong(angles, 51.5, 60.0, 10.0), -8.0
    heights = np.linspace(-98.0, -24.0, 2 * fine.along(5) + 1)
    ribs: list[Corner] = [(wall - 1.5 * (k % 2), height, 1) for k, height in enumerate(heights)]
    lid: list[Corner] = [(wall, -22.0, 1), (wall, top - 1.0, 1), (wall - 1.0, top, fine.along(6)), (0.0, top, 1)]
    case = solid(angles, [(0.0, -100.0, fine.along(4)), (wall - 2.0, -100.0, 1), *ribs, *lid], "case")
    around = angles_round(fine.around(24, 12))
    terminal = solid(around, [(0.0, top - 1.0, 1), (7.0, top - 1.0, 1), (6.0, 4.0, 1), (0.0, 4.0, 1)], "terminal")
    terminals = [moved(terminal, translation((-25.0, y, 0.0))) for y in (-38.0, 38.0)]
    return in_mm(joined([case, *terminals], "battery"))


def pipe(fine: Fineness, knees: Floats, radius: float, bend: float) -> Mesh:
    """Return a pipe along a polyline (n, 3), with round bends at inner points."""
    line = [knees[0]]
    for before, knee, after in zip(knees[:-2], knees[1:-1], knees[2:], strict=True):
        incoming, outgoing = unit_vector(knee - before), unit_vector(after - knee)
        half = 0.5 * np.arccos(np.clip(incoming @ outgoing, -1.0, 1.0))
        begin, centre = knee - incoming * (bend * np.tan(half)), knee + unit_vector(outgoing - incoming) * (bend / np.cos(half))
        axis, pieces = np.cross(incoming, outgoing), 2 * fine.along(4)
        turns = [rotation_about(axis, float(2.0 * half * k / pieces))[:3, :3] for k in range(pieces + 1)]
        line += [centre + turn @ (begin - centre) for turn in turns]
    line.append(knees[-1])
    centres = np.array(line)
    tangents = np.gradient(centres, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    side = unit_vector(np.cross(tangents[0], (0.3, 0.2, 0.9)))
    section, rings = circle(fine.around(32, 16), radius), []
    for centre, tangent in zip(centres, tangents, strict=True):
        side = unit_vector(side - tangent * (side @ tangent))
        rings.append(centre + section[:, :1] * side + section[:, 1:2] * np.cross(tangent, side))
    return in_mm(skin(rings, centres[0], centres[-1], "pipe"))


def lens(fine: Fineness) -> Mesh:
    """Return the lens: a curved open sheet of 250 by 138 before the chambers."""
    across, up = np.linspace(-125.0, 125.0, fine.along(30) + 1), np.linspace(-69.0, 69.0, fine.along(18) + 1)
    y, z = np.meshgrid(across, up, indexing="ij")
    x = 112.0 + 26.0 * (1.0 - (y / 125.0) ** 2) * (1.0 - (z / 69.0) ** 2) + 10.0 * (1.0 - (z / 69.0) ** 2)
    return sheet(np.stack([x, y, z], axis=2), "lens")


def fender(fine: Fineness) -> Mesh:
    """Return the fender: an open sheet beside, behind and over chamber 2."""
    along, round_it = np.linspace(92.0, -135.0, fine.along(28) + 1), np.linspace(-0.55, 1.15, fine.along(24) + 1)
    x, a = np.meshgrid(along, round_it, indexing="ij")
    # Behind the housing the sheet comes nearer, beside the path out of the second opening.
    radius = 172.0 - 38.0 / (1.0 + np.exp((x + 48.0) / 9.0))
    return sheet(np.stack([x, 20.0 - radius * np.cos(a), -20.0 + radius * np.sin(a)], axis=2), "fender")


def housing(fine: Fineness, openings: tuple[Opening, ...], places: tuple[Floats, ...], ears: tuple[Floats, ...]) -> Mesh:
    """Return the housing: two chambers, a seam between them, an ear per screw."""
    parts = [moved(chamber(fine, opening), place) for opening, place in zip(openings, places, strict=True)]
    parts.append(box((CHAMBER_DEPTH - 4.0, 1.2, 110.0), (CHAMBER_DEPTH / 2.0, 0.0, 0.0)))
    parts += [moved(plate_with_hole(fine, 11.3, -4.3, -0.3), ear) for ear in ears]
    return in_mm(joined(parts, "housing"))


def bracket(fine: Fineness, ears: tuple[Floats, ...]) -> Mesh:
    """Return the bracket of the housing: a plate behind each ear, and a frame."""
    plates = [moved(plate_with_hole(fine, 10.0, -7.9, -4.9), ear) for ear in ears]
    behind = np.eye(4)
    behind[:3, :3] = np.array([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    behind[0, 3] = ears[0][0, 3] + 8.9
    return in_mm(joined([*plates, moved(frame(fine), behind)], "bracket"))
