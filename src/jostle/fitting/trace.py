"""The trace of a walk as a table: the pose and the contact after each segment.

One line per step: the path's time, the number of the target pose, the body's pose as in a path file, and for a contact the other
body, the faces and features of both, the point and the normal (unit, from the other body to the moved one). Fields that do not
apply are empty.
"""

from __future__ import annotations

from os import PathLike

from jostle.fitting.path import quaternion_of, write_table
from jostle.fitting.walk import Step, Walk
from jostle.geometry.features import Feature

HEADER = (
    *("time", "pose_number", "x", "y", "z", "qw", "qx", "qy", "qz"),
    *("contact", "face", "other_face", "feature", "other_feature", "distance"),
    *("point_x", "point_y", "point_z", "normal_x", "normal_y", "normal_z"),
)


def write_trace(walk: Walk, file: str | PathLike[str]) -> None:
    """Write the steps of a walk; the file appears only when it is complete."""
    write_table(file, HEADER, [_line(step) for step in walk.steps])


def _line(step: Step) -> list[str]:
    line = [_number(step.time), str(step.number), *map(_number, (*step.pose[:3, 3], *quaternion_of(step.pose)))]
    touch = step.touch
    if touch is None:
        return line + [""] * (len(HEADER) - len(line))
    line += [touch.body, str(touch.face), str(touch.other_face), feature_text(touch.feature), feature_text(touch.other_feature)]
    return line + [_number(value) for value in (touch.distance, *touch.point, *touch.normal)]


def feature_text(feature: Feature | None) -> str:
    """Return a feature as people read it: "vertex 3", "edge 4 7"."""
    return "" if feature is None else " ".join([feature[0], *map(str, feature[1])])


def _number(value: float) -> str:
    return repr(float(value))
