"""Views of two bodies and what the software renderer finds in them, for tests of single stages."""

import numpy as np

import jostle
from jostle.interface.body_pairs import every_pair
from jostle.methods.image_space.regions import views_of
from jostle.methods.image_space.shape import prepare
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.methods.image_space.software import SoftwareRenderer


def views_and_renderer(mesh_a, pose_a, mesh_b, pose_b, **settings):
    """The views of a pair, and a renderer that knows both bodies."""
    world = jostle.World()
    world.add(mesh_a, pose_a)
    world.add(mesh_b, pose_b)
    shapes = ShapesOfBodies([prepare(mesh_a), prepare(mesh_b)])
    views = views_of(every_pair(2), world._frame(), shapes, jostle.ImageSpace(**settings))
    return views, SoftwareRenderer(shapes)


def as_dict(pixels, view=0):
    """{pixel: (low, high)} of one view."""
    rows = np.flatnonzero(pixels.view == view)
    return {int(pixels.pixel[k]): (float(pixels.low[k]), float(pixels.high[k])) for k in rows}
