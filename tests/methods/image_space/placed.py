"""Bodies placed in the world, as the stages of image space see them, without a detector."""

import numpy as np

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.body_pairs import every_pair
from jostle.methods.image_space.shape import prepare
from jostle.methods.image_space.shape_table import ShapesOfBodies

VIEWS = ("x", "y", "z", "centres", "separating", "axes")


class Placed:
    """A frame of meshes (n) under poses (n,4,4), their shapes, and all pairs."""

    def __init__(self, meshes, poses, group=None):
        self.world = jostle.World("brute_force")
        for k, (mesh, pose) in enumerate(zip(meshes, poses, strict=True)):
            self.world.add(mesh, pose, group=None if group is None or group[k] < 0 else int(group[k]))
        known = {id(mesh): prepare(mesh) for mesh in meshes}
        self.meshes = tuple(meshes)
        self.shapes = ShapesOfBodies([known[id(mesh)] for mesh in meshes])
        self.pairs = every_pair(len(meshes))

    @property
    def frame(self):
        return self.world._frame()

    @property
    def bodies(self):
        return self.frame.bodies

    def move(self, poses):
        self.world.set_poses(np.asarray(poses))

    def vertices(self, body):
        """World vertices, by the one formula."""
        return self.frame.world_vertices(body)


def settings(**others):
    """What the stages read of the method's settings."""
    return jostle.ImageSpace(**{"resolution": 16, **others})


def random_pose(rng, spread, offset=0.0, defect=0.0):
    """A rotation that is off by about `defect`, within `spread` of a point that is `offset` from the origin along each axis."""
    pose = translation(rng.uniform(-spread, spread, 3) + offset) @ rotation_about(rng.normal(size=3), rng.uniform(0, 2 * np.pi))
    pose[:3, :3] += rng.uniform(-defect, defect, (3, 3))
    return pose


def applied(matrix, points):
    """The images (n,3) of points under the rows of a 3×4 matrix (12,)."""
    matrix = np.asarray(matrix).reshape(3, 4)
    return np.asarray(points) @ matrix[:, :3].T + matrix[:, 3]
