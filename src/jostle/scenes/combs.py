"""Two combs of five cones, one of which moves (Baciu, Wong, Sun 1998, §5.3, fig. 6, fig. 7).

Cones of a comb are single convex bodies of one group. Combs are aligned, tip above tip, or offset; the second one translates or
turns. Whichever of the four it is, exactly five pairs of cones collide, from a frame on that is known (`touch`), and none before:
- aligned translation: tips approach tip to tip. In the frame `touch` they share a single point, exactly, and go on from there.
- offset translation: the combs stand in each other, boxes overlap from the start, and the flanks come together sideways.
- rotation: the second comb turns about the line through the tips of the first, just above them, until cones lie side by side.
Numbers are exact in the axis directions (powers of two), so that all methods see the very same touching point.
Deviation: cones have rings, as those of `build.comb` have, and bulge by 0.4 % of their radius to be exactly convex; with fans
alone a tip of 100,000 faces would touch another in 25 million pairs of faces.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.shapes.build.convex import with_bulging_diagonals
from jostle.shapes.build.rings import lathe
from jostle.shapes.mesh import Mesh

MOTIONS, PLACES = ("translation", "rotation"), ("aligned", "offset")
CONES = 5
RADIUS, HEIGHT, PITCH = 0.109375, 0.5, 0.25
STEP = HEIGHT / 128.0  # per frame of the aligned translation
INTERLEAVED = 0.5 * HEIGHT  # how far offset combs stand in each other
HINGE = HEIGHT / 32.0  # from the tips of the second comb to the line that they turn about
ASIDE = 0.25 * PITCH  # of offset combs that turn: to one side, so that each cone meets one other
START = math.radians(60.0)  # of combs that turn: 0 is face to face, a half turn upon each other
BULGE = 1.0 / 64.0
FEWEST_FACES = 400
HALVINGS = 40

Way = Callable[[float], Floats]  # how far along -> pose of the second comb


def combs(
    *,
    motion: str = "translation",
    place: str = "aligned",
    faces: int = 10_000,
    touch: int = 90,
    frames: int = 100,
    seed: int = 0,
) -> Scene:
    """Return two combs of five cones; the second translates or turns.

    After Baciu, Wong, Sun 1998, §5.3, fig. 6, fig. 7.

    From the paper: two combs of five cones, equal and aligned at the base, tips aligned or offset, pure translation and pure
    rotation, exactly five collisions, above and below 10,000 triangles. Ours: all lengths, and the rest of the ways.

    Parameters
    ----------
    motion : {"translation", "rotation"}
    place : {"aligned", "offset"}
        Whether the tips of the two combs face each other.
    faces : int
        About how many in all, 400 or more.
    touch : int
        The frame from which on five pairs of cones collide, 1 or later.
    seed : int
        Which of the 24 ways along the axes the whole of it is turned; 0 leaves it as it is.
    """
    motion, place = cast.as_choice(motion, MOTIONS, "motion"), cast.as_choice(place, PLACES, "place")
    faces, frames = cast.as_count(faces, "faces"), cast.as_count(frames, "frames", lowest=1)
    if faces < FEWEST_FACES:
        raise InputError(f"faces is {faces}; ten cones have at least {FEWEST_FACES}")
    touch = cast.as_count(touch, "touch", lowest=1)
    mesh = cone_of_a_comb(faces / (2.0 * CONES))
    along = np.arange(frames) - float(touch)
    if (motion, place) == ("translation", "aligned"):
        poses = [_facing(-STEP * frame) for frame in along]
    else:
        way, end = (_sideways, 0.5 * PITCH) if motion == "translation" else (_turning(place), math.pi - START)
        first = _first_touch(way, end, mesh)
        # Half a frame before `touch`, so that it is neither missed nor early by a rounding.
        poses = [way(first * (frame + touch) / (touch - 0.5)) for frame in along]
    whole = along_the_axes(cast.as_count(seed, "seed"))
    track = np.stack(poses)
    bodies = []
    for k in range(CONES):
        stand = translation((PITCH * (k - (CONES - 1) / 2.0), 0.0, 0.0))
        bodies.append(MovingBody(f"lower cone {k}", mesh, _product(whole, stand), static=True, group=0))
    for k in range(CONES):
        stand = translation((PITCH * (k - (CONES - 1) / 2.0), 0.0, 0.0))
        placed = np.stack([_product(whole, _product(stand, pose)) for pose in track])
        bodies.append(MovingBody(f"upper cone {k}", mesh, placed[0], track=placed, group=1))
    return Scene(
        name="combs",
        title=f"two combs of five cones, {place}, {motion}, {len(bodies) * len(mesh.faces):,} faces",
        bodies=tuple(bodies),
        frames=frames,
    )


def cone_of_a_comb(faces: float) -> Mesh:
    """Return an exactly convex cone on z = 0, tip up, with about so many faces and rings on its side."""
    rings = max(1, round((faces / 8.0) ** 0.5))
    segments = max(8, 4 * round(faces / (8.0 * rings)))
    share = np.arange(rings) / rings
    profile = np.stack([RADIUS * (1.0 - share) * (1.0 + BULGE * share), HEIGHT * share], axis=1)
    solid = lathe(profile, segments, 0.0, HEIGHT, f"cone of a comb, {2 * segments * rings} faces")
    return with_bulging_diagonals(solid)


def along_the_axes(number: int) -> Floats:
    """Return one of the 24 rotations that bring axes upon axes, exactly; 0 is none."""
    found = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        for signs in range(8):
            matrix = np.zeros((3, 3))
            for row, column in enumerate(order):
                matrix[row, column] = -1.0 if signs >> row & 1 else 1.0
            if np.linalg.det(matrix) > 0.0:
                found.append(matrix)
    pose = np.eye(4)
    pose[:3, :3] = found[number % len(found)]
    return pose


def _facing(gap: float) -> Floats:
    """The second comb above the first, upside down, with a gap between their tips."""
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[2, 3] = 2.0 * HEIGHT + gap
    return pose


def _sideways(along: float) -> Floats:
    """Return the pose between the first comb's cones, from half a pitch to one side and back."""
    pose = _facing(-INTERLEAVED)
    pose[0, 3] = 0.5 * PITCH - along
    return pose


def _turning(place: str) -> Way:
    """About the line through the tips of the first comb, from above it to beside it."""
    aside = ASIDE if place == "offset" else 0.0

    def way(angle: float) -> Floats:
        stand = _facing(HINGE)
        stand[0, 3] = aside
        return _product(rotation_about((1.0, 0.0, 0.0), START + angle, (0.0, 0.0, HEIGHT)), stand)

    return way


def _first_touch(way: Way, end: float, mesh: Mesh) -> float:
    """Return how far along a cone first touches one of the other comb; it touches at the end, not at 0."""
    pair = Pair(mesh, mesh)
    apart, touching = 0.0, end
    for _ in range(HALVINGS):
        middle = 0.5 * (apart + touching)
        if pair.touches(None, way(middle)):
            touching = middle
        else:
            apart = middle
    return touching


def _product(a: Floats, b: Floats) -> Floats:
    """One pose after another, summed in a fixed order."""
    pose: Floats = a[:, 0, None] * b[None, 0] + a[:, 1, None] * b[None, 1] + a[:, 2, None] * b[None, 2] + a[:, 3, None] * b[None, 3]
    return pose + 0.0
