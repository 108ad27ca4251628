"""Two combs of five cones, one moving (Baciu, Wong, Sun 1998, §5.3, fig. 6, 7).

The cones of a comb are convex bodies of one group. Combs are aligned, tip above tip, or offset; the second one translates or turns.
In all four cases exactly five pairs of cones collide, from frame `touch` on and not before:
- aligned translation: tips approach tip to tip. In frame `touch` they share exactly one point, and then interpenetrate.
- offset translation: the combs interleave, boxes overlap from the start, and the flanks meet sideways.
- rotation: the second comb turns about a line just above the tips of the first until cones lie side by side.
Coordinates are exact along the axes (powers of two), so all methods see the same touching point.
Deviation: cones have rings, like those of `build.comb`, and bulge by 0.4 % of their radius to be exactly convex; with fans alone
a tip of 100,000 faces would touch another in 25 million face pairs.
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
from jostle.scenes.touch_search import halved
from jostle.shapes.build.convex import with_bulging_diagonals
from jostle.shapes.build.rings import lathe
from jostle.shapes.mesh import Mesh

MOTIONS, PLACES = ("translation", "rotation"), ("aligned", "offset")
CONES = 5
RADIUS, HEIGHT, PITCH = 0.109375, 0.5, 0.25
STEP = HEIGHT / 128.0  # per frame of the aligned translation
INTERLEAVED = 0.5 * HEIGHT  # overlap of offset combs
HINGE = HEIGHT / 32.0  # from the tips of the second comb to its axis of rotation
ASIDE = 0.25 * PITCH  # shift of offset combs that turn: each cone meets one other
START = math.radians(60.0)  # first angle of combs that turn: 0 is face to face
BULGE = 1.0 / 64.0
FEWEST_FACES = 400
HALVINGS = 40

Path = Callable[[float], Floats]  # distance or angle -> pose of the second comb


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
    rotation, exactly five collisions, above and below 10,000 triangles. Ours: all lengths and the exact motions.

    Parameters
    ----------
    motion : {"translation", "rotation"}
    place : {"aligned", "offset"}
        Whether the tips of the two combs face each other.
    faces : int
        Total face count, about; 400 or more.
    touch : int
        The first frame in which five pairs of cones collide, 1 or later.
    seed : int
        Which of the 24 axis-aligned rotations turns the whole scene; 0 for none.
    """
    motion, place = cast.as_choice(motion, MOTIONS, "motion"), cast.as_choice(place, PLACES, "place")
    faces, frames = cast.as_count(faces, "faces"), cast.as_count(frames, "frames", lowest=1)
    if faces < FEWEST_FACES:
        raise InputError(f"faces is {faces}; ten cones have at least {FEWEST_FACES}")
    touch = cast.as_count(touch, "touch", lowest=1)
    mesh = comb_cone(faces / (2.0 * CONES))
    along = np.arange(frames) - float(touch)
    if (motion, place) == ("translation", "aligned"):
        poses = [_facing(-STEP * frame) for frame in along]
    else:
        path, end = (_sideways, 0.5 * PITCH) if motion == "translation" else (_turning(place), math.pi - START)
        pair = Pair(mesh, mesh)
        first = halved(lambda at: pair.touches(None, path(at)), 0.0, end, HALVINGS)
        # Half a frame before `touch`, so that no rounding makes contact late or early.
        poses = [path(first * (frame + touch) / (touch - 0.5)) for frame in along]
    whole = axis_rotation(cast.as_count(seed, "seed"))
    stands = [translation((PITCH * (k - (CONES - 1) / 2.0), 0.0, 0.0)) for k in range(CONES)]
    bodies = [MovingBody(f"lower cone {k}", mesh, _product(whole, stand), static=True, group=0) for k, stand in enumerate(stands)]
    for k, stand in enumerate(stands):
        placed = np.stack([_product(whole, _product(stand, pose)) for pose in poses])
        bodies.append(MovingBody(f"upper cone {k}", mesh, placed[0], track=placed, group=1))
    return Scene(
        name="combs",
        title=f"two combs of five cones, {place}, {motion}, {len(bodies) * len(mesh.faces):,} faces",
        bodies=tuple(bodies),
        frames=frames,
    )


def comb_cone(faces: float) -> Mesh:
    """Return an exactly convex cone on z = 0 with about `faces` faces in rings."""
    rings = max(1, round((faces / 8.0) ** 0.5))
    segments = max(8, 4 * round(faces / (8.0 * rings)))
    share = np.arange(rings) / rings
    profile = np.stack([RADIUS * (1.0 - share) * (1.0 + BULGE * share), HEIGHT * share], axis=1)
    return with_bulging_diagonals(lathe(profile, segments, 0.0, HEIGHT, f"cone of a comb, {2 * segments * rings} faces"))


def axis_rotation(number: int) -> Floats:
    """Return one of the 24 exact rotations that map axes to axes; 0 is the identity."""
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
    """Return the pose upside down above the first comb, with a gap between the tips."""
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[2, 3] = 2.0 * HEIGHT + gap
    return pose


def _sideways(along: float) -> Floats:
    """Return the pose between the first comb's cones, shifted to one side."""
    pose = _facing(-INTERLEAVED)
    pose[0, 3] = 0.5 * PITCH - along
    return pose


def _turning(place: str) -> Path:
    """Return the rotation about a line above the first comb's tips, by angle."""
    aside = ASIDE if place == "offset" else 0.0

    def path(angle: float) -> Floats:
        stand = _facing(HINGE)
        stand[0, 3] = aside
        return _product(rotation_about((1.0, 0.0, 0.0), START + angle, (0.0, 0.0, HEIGHT)), stand)

    return path


def _product(a: Floats, b: Floats) -> Floats:
    """Return the product of two poses, summed in a fixed order."""
    pose: Floats = a[:, 0, None] * b[None, 0] + a[:, 1, None] * b[None, 1] + a[:, 2, None] * b[None, 2] + a[:, 3, None] * b[None, 3]
    return pose + 0.0
