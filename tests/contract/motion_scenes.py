"""Scenes for the contract of methods that look along motions: each fills a world and moves its bodies, seeded.

STRAIGHT ones have motions along straight lines only: exact methods agree on them to the byte. TURNING ones have screws.
"""

import numpy as np

from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from tests.tiny import box, random_pose, random_soup, tetrahedron


def shifted_soups(world, seed):
    rng = np.random.default_rng(seed)
    for place in ((0, 0, 0), (2.5, 0, 0), (0, 2.5, 0.5)):
        pose = translation(place) @ random_pose(rng, 0.2)
        body = world.add(random_soup(rng, 10), pose)
        body.pose = translation(-1.2 * np.array(place) + rng.uniform(-0.3, 0.3, 3)) @ pose


def crossing_soups(world, seed):
    """In contact from the start, most of them."""
    rng = np.random.default_rng(seed)
    for _ in range(3):
        pose = random_pose(rng, 0.3)
        body = world.add(random_soup(rng, 8, 0.6), pose)
        body.pose = translation(rng.uniform(-1, 1, 3)) @ pose


def boxes_on_a_grid(world, seed):
    """Boxes at half-integer places that move by half integers: flat contacts, edges on edges, corners on corners, sliding."""
    rng = np.random.default_rng(seed)
    for k in range(4):
        lower = rng.integers(-2, 2, 3) / 2 + (3 * k, 0, 0)
        body = world.add(box(lower, lower + rng.integers(1, 4, 3) / 2))
        body.pose = translation(rng.integers(-4, 5, 3) / 2 - (2 * k, 0, 0))


def degenerate_faces(world, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-1, 2, (8, 3)).astype(float)
    for k in range(2):
        body = world.add(Mesh(points, rng.integers(0, 8, (8, 3))), translation((3 * k, 0, 0)))
        body.pose = translation((-2 * k, rng.integers(-1, 2), 0))


def deforming_spheres(world, seed):
    rng = np.random.default_rng(seed)
    sphere = build.icosphere(1)
    for k in range(3):
        body = world.add(sphere, translation((2.2 * k, 0, 0)), deformable=True)
        body.vertices = body.vertices * rng.uniform(0.6, 1.8) + 0.2 * rng.normal(size=(len(body.vertices), 3))
        if k == 1:
            body.pose = translation((1.8, 0.1, 0)) @ rotation_about((0, 1, 0), 0.4)


def deforming_and_rigid(world, seed):
    rng = np.random.default_rng(seed)
    body = world.add(build.icosphere(1), deformable=True)
    body.vertices = 1.5 * body.vertices + 0.1 * rng.normal(size=(len(body.vertices), 3))
    other = world.add(build.icosphere(1), translation((3, 0, 0)))
    other.pose = translation((2.2, 0.1, 0.2))
    world.add(box((-4, -4, -3), (4, 4, -2)), static=True)


def swelling(world, seed):
    """Nothing moves but the vertices of one body, whose pose is not the identity."""
    ball = world.add(build.icosphere(1), translation((3, 0.5, 0.4)) @ rotation_about((0, 1, 1), 0.3 + seed), deformable=True)
    ball.vertices = 4.0 * ball.vertices
    world.add(box())


def turning_tori(world, seed):
    rng = np.random.default_rng(seed)
    torus = build.torus(segments=8, sides=6)
    for place in ((0, 0, 0), (2.4, 0, 0), (0, 2.4, 0)):
        body = world.add(torus, translation(place) @ random_pose(rng, 0.1))
        body.pose = translation(-0.6 * np.array(place)) @ body.pose @ rotation_about(rng.normal(size=3), rng.uniform(0.1, 2.5))


def turning_and_shifting(world, seed):
    rng = np.random.default_rng(seed)
    pole = world.add(box((-2, -0.1, -0.1), (2, 0.1, 0.1)))
    pole.pose = rotation_about((0, 0, 1), 1.5)
    ball = world.add(build.icosphere(1, 0.3), translation((1, 1.4, 0)))
    ball.pose = translation((1.1, 1.0, 0.05))
    soft = world.add(build.icosphere(1, 0.3), translation((-1.2, -1.2, 0)), deformable=True)
    soft.vertices = soft.vertices + 0.1 * rng.normal(size=(len(soft.vertices), 3))
    world.add(tetrahedron(4.0))


def passing_by(world, seed):
    """Boxes over the whole motion overlap, but nothing meets."""
    body = world.add(build.icosphere(1), translation((-3, 0, 0)))
    body.pose = translation((3, 6, 0))
    world.add(box((0.5, -0.5, -0.5), (1.5, 0.5, 0.5)))


def at_rest(world, seed):
    world.add(box())
    world.add(box((0.5, 0.5, 0.5), (2, 2, 2)))
    world.add(box((5, 5, 5), (6, 6, 6)))


def nothing(world, seed):
    pass


def alone(world, seed):
    world.add(box()).pose = translation((5, 0, 0))


STRAIGHT = {
    "shifted soups": shifted_soups,
    "crossing soups": crossing_soups,
    "boxes on a grid": boxes_on_a_grid,
    "degenerate faces": degenerate_faces,
    "deforming spheres": deforming_spheres,
    "deforming and rigid": deforming_and_rigid,
    "swelling": swelling,
    "passing by": passing_by,
    "at rest": at_rest,
    "nothing": nothing,
    "alone": alone,
}
TURNING = {"turning tori": turning_tori, "turning and shifting": turning_and_shifting}
SCENES = STRAIGHT | TURNING
FREE = ("passing by", "nothing", "alone")
DEFORMING = ("deforming spheres", "deforming and rigid", "swelling", "turning and shifting")
