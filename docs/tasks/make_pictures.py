"""Make the pictures of the pages by task anew.

python docs/tasks/make_pictures.py          # all of them
python docs/tasks/make_pictures.py robots   # those whose name has this word
"""

from __future__ import annotations

import sys
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[1] / "pictures"


def arm_among_posts(file: Path) -> None:
    """The arm of the page on robots in a configuration that hits a post."""
    import numpy as np

    import jostle
    from jostle import rotation, translation
    from jostle.pictures import Look, picture_of
    from jostle.render.png import write_png
    from jostle.shapes import build

    along_x = rotation((0, 1, 0), np.pi / 2)
    link, post = build.capsule(segments=32, radius=0.05, height=0.5), build.box((0.1, 0.1, 0.9))
    first = translation((0, 0, 0.4)) @ rotation((0, 0, 1), 0.4)
    second = first @ translation((0.5, 0, 0)) @ rotation((0, 1, 0), 0.1)
    third = second @ translation((0.5, 0, 0)) @ rotation((0, 1, 0), -0.9)
    world = jostle.World()
    world.add(build.box((0.2, 0.2, 0.4), (0, 0, 0.2)), name="base", group=1)
    for name, frame in zip(("upper", "lower", "hand"), (first, second, third), strict=True):
        world.add(link, frame @ along_x, name, group=1)
    for turn in (0.4, 2.0, 3.9):
        world.add(post, rotation((0, 0, 1), turn) @ translation((0.8, 0, 0.45)), static=True)
    write_png(file, picture_of(world, world.detect(), Look(width=840, height=560, towards=(-0.6, 1.0, -0.5), edges="outline")))


def cloth_over_ball(file: Path) -> None:
    """The cloth of the page on deforming bodies, draped a little further, with the faces that are near the ball."""
    import numpy as np

    import jostle
    from jostle.pictures import Look, picture_of
    from jostle.render.png import write_png
    from jostle.shapes import build

    world = jostle.World()
    world.add(build.icosphere(4, 0.5), name="ball", static=True)
    cloth = world.add(build.cloth(48, 48, (2.0, 2.0), 0.0), name="cloth", deformable=True)
    points = cloth.vertices.copy()
    radius = np.linalg.norm(points[:, :2], axis=1)
    fold = 1.0 + 0.12 * np.cos(8.0 * np.arctan2(points[:, 1], points[:, 0])) * np.clip(radius - 0.5, 0.0, None)
    over = np.minimum(radius / 0.52, 1.3)  # the angle from the top, up to where the cloth leaves the ball
    down = np.clip(radius - 0.52 * 1.3, 0.0, None)
    outward = 0.52 * np.sin(over) + 0.35 * down
    points[:, 2] = 0.52 * np.cos(over) - 0.94 * down
    points[:, :2] *= (outward * fold / np.maximum(radius, 1e-9))[:, None]
    cloth.vertices = points
    look = Look(width=840, height=560, towards=(-0.5, 1.0, -0.6), edges="none")
    write_png(file, picture_of(world, world.detect(clearance=0.03), look))


PICTURES_BY_NAME = {"task_robots.png": arm_among_posts, "task_deforming.png": cloth_over_ball}


def main() -> None:
    """Make those that were asked for."""
    for name, make in PICTURES_BY_NAME.items():
        if all(wanted in name for wanted in sys.argv[1:]):
            make(PICTURES / name)


if __name__ == "__main__":
    main()
