"""Scenes for the contract of all methods: each fills a world with bodies, seeded. One list serves every method."""

import numpy as np

from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from tests.tiny import box, random_pose, random_soup, tetrahedron


def plate(n=5):
    """A flat grid of 2 n² faces in the plane z = 0, from 0 to 1."""
    places = np.linspace(0, 1, n + 1)
    points = np.array([[x, y, 0.0] for x in places for y in places])
    corner = [i * (n + 1) + j for i in range(n) for j in range(n)]
    return Mesh(points, [f for k in corner for f in ([k, k + n + 1, k + 1], [k + 1, k + n + 1, k + n + 2])], name="plate")


def random_soups(world, seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        world.add(random_soup(rng, 14), random_pose(rng, 0.4))


def coplanar_plates(offset):
    def fill(world, seed):
        rng = np.random.default_rng(seed)
        pose = translation(np.full(3, offset)) @ random_pose(rng)
        mesh = plate()
        world.add(mesh, pose)
        world.add(mesh, pose)
        world.add(mesh, pose @ translation((0.4, 0.2, 0)))
        world.add(mesh, pose @ translation((1.0, 0.0, 0)))
        world.add(mesh, pose @ translation((0.3, 0.1, 0.0)) @ rotation_about((0, 0, 1), 0.3))

    return fill


def boxes_on_a_grid(world, seed):
    """Boxes at half-integer places: faces in common planes, edges on edges, corners on corners."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        lower = rng.integers(-2, 2, 3) / 2
        world.add(box(lower, lower + rng.integers(1, 4, 3) / 2))


def degenerate_faces(world, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-1, 2, (10, 3)).astype(float)
    for _ in range(3):
        world.add(Mesh(points, rng.integers(0, 10, (20, 3))))


def shared_shapes(world, seed):
    rng = np.random.default_rng(seed)
    torus = build.torus(segments=8, sides=6)
    for _ in range(4):
        world.add(torus, random_pose(rng, 0.6))


def deformed_bodies(world, seed):
    rng = np.random.default_rng(seed)
    sphere = build.icosphere(1)
    for _ in range(3):
        body = world.add(sphere, random_pose(rng, 0.5), deformable=True)
        body.vertices = sphere.vertices * rng.uniform(0.5, 1.5, 3) + 0.05 * rng.normal(size=sphere.vertices.shape)


def poses_that_are_not_quite_rigid(world, seed):
    rng = np.random.default_rng(seed)
    sphere = build.icosphere(1)
    for _ in range(3):
        pose = random_pose(rng, 0.7)
        pose[:3, :3] += 3e-6 * rng.uniform(-1, 1, (3, 3))
        world.add(sphere, pose)


def identical_bodies(world, seed):
    pose = random_pose(np.random.default_rng(seed), 3.0)
    for _ in range(3):
        world.add(build.icosphere(1), pose)


def one_face_each(world, seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        world.add(random_soup(rng, 1))


def far_apart(world, seed):
    for k in range(4):
        world.add(tetrahedron(), translation((10.0 * k, seed, 0)))


def scaled(factor):
    def fill(world, seed):
        rng = np.random.default_rng(seed)
        for _ in range(2):
            pose = random_pose(rng, 0.5)
            pose[:3, 3] *= factor
            world.add(build.icosphere(1).scaled(factor), pose)

    return fill


def nothing(world, seed):
    pass


SCENES = {
    "random soups": random_soups,
    "coplanar plates": coplanar_plates(0.0),
    "coplanar plates at 1e3": coplanar_plates(1e3),
    "coplanar plates at 1e7": coplanar_plates(1e7),
    "boxes on a grid": boxes_on_a_grid,
    "degenerate faces": degenerate_faces,
    "shared shapes": shared_shapes,
    "deformed bodies": deformed_bodies,
    "poses that are not quite rigid": poses_that_are_not_quite_rigid,
    "identical bodies": identical_bodies,
    "one face each": one_face_each,
    "far apart": far_apart,
    "scale 1e-9": scaled(1e-9),
    "scale 1e9": scaled(1e9),
    "nothing": nothing,
}
