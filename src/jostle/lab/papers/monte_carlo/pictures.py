"""Pictures of the pairs of table 1 in the frame with the most regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from jostle.geometry.rigid import transform_points
from jostle.lab.papers.monte_carlo.encounters import PAIRS, Encounter
from jostle.lab.regions import regions_of
from jostle.lab.truth import Truth
from jostle.motion.record import Motion
from jostle.render import Camera, save_picture

WIDTH, HEIGHT = 720, 540
EVERY = 5  # frames are searched


def draw_encounters(folder: Path, pairs: tuple[str, ...] = PAIRS, frames: int = 300) -> list[Path]:
    """Draw each pair in the frame with the most regions; return the files."""
    return [_draw(Encounter(pair).record(frames), pair, number, folder) for number, pair in enumerate(pairs, 1)]


def _draw(motion: Motion, pair: str, number: int, folder: Path) -> Path:
    truth = Truth(motion)
    regions = {frame: regions_of(truth.rows(frame), motion.meshes) for frame in range(0, len(motion), EVERY)}
    frame = max(regions, key=lambda each: (regions[each].count, len(regions[each].rows)))
    shown = regions[frame]
    marks: list[ArrayLike | None] = [np.unique(shown.rows[:, side]) for side in (2, 3)]
    poses = motion.poses[frame]
    points = [transform_points(pose, mesh.vertices) for mesh, pose in zip(motion.meshes, poses, strict=True)]
    camera = Camera.framing(np.concatenate(points), width=WIDTH, height=HEIGHT)
    path = folder / f"picture_{number}_{pair.replace(' ', '_')}.png"
    caption = f"frame {frame}: {len(shown.rows):,} pairs of faces in {shown.count} regions"
    save_picture(path, motion.meshes, poses, highlight=marks, camera=camera, see_through="marked", caption=caption)
    return path
