"""Scenes by name: seeded bodies and motions for tests, benchmarks and pictures.

    from jostle import scenes
    motion = scenes.make_scene("shuttles", count=15, seed=3).record(200)
    world = motion.world("wide_tree")
    for frame in range(len(motion)):
        motion.apply(world, frame)
        report = world.detect()

`jostle` itself does not import this package.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from jostle.cast import shown
from jostle.errors import InputError
from jostle.motion.record import Motion, Recorder
from jostle.scenes.bodies import Circle, Cycle, Loop, MovingBody
from jostle.scenes.combs import combs
from jostle.scenes.convex_crowd import cones, ellipsoids, truncated_cones
from jostle.scenes.cubes import crowd, deforming_spheres, shuttles, spheres
from jostle.scenes.encounters import blobs, hands
from jostle.scenes.from_user import scene_of_file, scene_of_world
from jostle.scenes.grasping import grasping
from jostle.scenes.headlight import headlight
from jostle.scenes.knee import knee
from jostle.scenes.polytopes import polytopes, stellated
from jostle.scenes.room import room
from jostle.scenes.scene import Scene
from jostle.scenes.shell_pairs import dragon_and_bunny, horseshoe_and_clover, sphere_and_torus
from jostle.scenes.shrine import shrine
from jostle.scenes.stepper import Stepper
from jostle.scenes.tour import tour
from jostle.scenes.until_contact import head_and_shuttle, meeting_shuttles, meeting_spheres, two_spheres
from jostle.settings_text import parse_settings, split_name

__all__ = [
    "SCENES",
    "Circle",
    "Cycle",
    "Loop",
    "Motion",
    "MovingBody",
    "Recorder",
    "Scene",
    "Stepper",
    "make_scene",
    "make_scene_written",
    "scene_of_file",
    "scene_of_world",
]

SCENES: dict[str, Callable[..., Scene]] = {
    "spheres": spheres,
    "two_spheres": two_spheres,
    "meeting_spheres": meeting_spheres,
    "shuttles": shuttles,
    "meeting_shuttles": meeting_shuttles,
    "head_and_shuttle": head_and_shuttle,
    "room": room,
    "shrine": shrine,
    "cones": cones,
    "ellipsoids": ellipsoids,
    "truncated_cones": truncated_cones,
    "hands": hands,
    "deforming_spheres": deforming_spheres,
    "blobs": blobs,
    "crowd": crowd,
    "headlight": headlight,
    "knee": knee,
    "polytopes": polytopes,
    "stellated": stellated,
    "combs": combs,
    "grasping": grasping,
    "sphere_and_torus": sphere_and_torus,
    "horseshoe_and_clover": horseshoe_and_clover,
    "dragon_and_bunny": dragon_and_bunny,
    "tour": tour,
}


def make_scene(name: str, **parameters: Any) -> Scene:
    """Return a scene by its name in `SCENES`."""
    if not isinstance(name, str) or name not in SCENES:
        raise InputError(f"there is no scene {shown(name)}; choose one of {', '.join(SCENES)}")
    known = inspect.signature(SCENES[name]).parameters
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"scene {name!r} does not know {parameter!r}; its parameters are {', '.join(known)}")
    try:
        scene = SCENES[name](**parameters)
    except InputError as error:
        raise InputError(f"scene {name!r}: {error}") from None
    return dataclasses.replace(scene, parameters={name: entry.default for name, entry in known.items()} | parameters)


def make_scene_written(text: str, seed: int | None = None, alternatives: str = "") -> Scene:
    """Make a scene from text, a name with parameters: ``polytopes(count=256)``.

    Parameters
    ----------
    text : str
    seed : int, optional
        Unless the text has one.
    alternatives : str
        Other accepted input, for the message.
    """
    given = {} if seed is None else {"seed": seed}
    if text.partition("(")[0].strip() not in SCENES:
        raise InputError(f"there is no scene and no file {text!r}; the built-in scenes are {', '.join(SCENES)}{alternatives}")
    name, rest = split_name(text, "scene")
    known = list(inspect.signature(SCENES[name]).parameters)
    settings = parse_settings(rest, f"scene {name}", known, f"it has {', '.join(known)}")
    if seed is not None and "seed" in settings:
        raise InputError(f"scene {name}: the seed is given twice, as a parameter and by --seed")
    if seed is not None and "seed" not in known:
        raise InputError(f"--seed: the scene {name} has no random parts")
    return make_scene(name, **settings, **given)
