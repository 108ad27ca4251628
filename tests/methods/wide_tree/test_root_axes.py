"""Cross axes of roots: they part what they should, and never two boxes with a common point."""

import numpy as np

import jostle
from jostle.geometry.pose import rotation, translation
from jostle.kernels.jit import kernel
from jostle.kernels.structs import record_viewer
from jostle.methods.wide_tree import root_axes
from jostle.methods.wide_tree.relative_frame import TURNED_PADDING, FrameTransform
from jostle.methods.wide_tree.tree import EMPTY
from jostle.shapes.build import box
from tests.tiny import random_pose

transform_in = record_viewer(FrameTransform)


@kernel
def are_apart(boxes_x, boxes_y, into_x):
    return root_axes.are_apart_on_cross_axis(boxes_x, boxes_y, transform_in(into_x))


def node_of(lower, upper):
    """A node with some boxes that fill (2,3) corners together, and empty ones."""
    boxes = np.empty((6, 8), np.float32)
    boxes[:3], boxes[3:] = EMPTY, -EMPTY
    middle = 0.5 * (lower + upper)
    boxes[:3, 0], boxes[3:, 0] = lower, middle
    boxes[:3, 2], boxes[3:, 2] = middle, upper
    return boxes.ravel()


def transform_of(matrix, shift):
    transform = np.zeros(1, FrameTransform.dtype)
    transform["matrix"], transform["absolute"], transform["shift"] = matrix.ravel(), abs(matrix).ravel(), shift
    transform["padding"] = TURNED_PADDING
    return transform.view(np.float32)


def test_boxes_with_a_common_point_are_never_apart():
    rng = np.random.default_rng(2)
    parted = 0
    for _ in range(2_000):
        half_x, half_y = 10.0 ** rng.uniform(-4, 0, 3) / 1.8, 10.0 ** rng.uniform(-4, 0, 3) / 1.8
        ratio = 10.0 ** rng.uniform(-2, 0)
        matrix = np.float32(ratio * random_pose(rng)[:3, :3]).astype(float)
        # A corner, a point of an edge or any point of each box coincide.
        at_x, at_y = (np.where(rng.random(3) < 0.5, rng.choice([-1.0, 1.0], 3), rng.uniform(-1, 1, 3)) for _ in range(2))
        shift = at_x * half_x - matrix @ (at_y * half_y)
        x, y = node_of(-half_x, half_x), node_of(-half_y, half_y)
        assert not are_apart(x, y, transform_of(matrix, shift))
        parted += are_apart(x, y, transform_of(matrix, shift + 0.3 * shift / np.linalg.norm(shift)))
    assert parted > 200


def test_sheets_that_nearly_meet_with_their_edges_take_one_pair_of_nodes():
    sheet = box((1.0, 0.7, 0.002)).moved(rotation((1.0, 0.7, -0.4), 0.83))
    crossed = translation((0.0, 0.0, 0.0)) @ rotation((0.3, 1.0, 0.2), 1.1)
    world = jostle.World("wide_tree")
    a, b = world.add(sheet), world.add(sheet)
    # Along the common normal of two edges, from where they cross: found by the distance, not by hand.
    direction = np.array([0.2, 0.1, 1.0]) / np.linalg.norm([0.2, 0.1, 1.0])
    near = 3.0
    for _ in range(60):
        b.pose = translation(near * direction) @ crossed
        near -= 0.9 * (world.distance(a, b).distance - 1e-3)
    b.pose = translation(near * direction) @ crossed
    assert 0.0 < world.distance(a, b).distance < 2e-3
    assert len(world.detect().pairs) == 0


def test_roots_keep_faces_at_the_clearance_under_poses_that_stretch():
    """Poses are orthonormal to 1e-5 only, and stretch most along a diagonal: padding has to cover it."""
    rng, near = np.random.default_rng(4), 0
    for _ in range(40):
        sign = rng.choice([-1.0, 1.0], 3)
        stretch = np.eye(4)
        stretch[:3, :3] += 4.95e-6 * np.outer(sign, sign)
        plates = [plate(rng, sign), plate(rng, sign + 0.3 * rng.normal(size=3))]
        poses = [stretch, translation(10.0 ** rng.uniform(-2, 4) * (stretch[:3, :3] @ sign)) @ stretch]
        distance = jostle.Pair(*plates).distance(*poses)
        for share in (1.0 - 1e-7, 1.0 + 1e-15, 1.0 + 1e-12, 1.0 + 1e-9, 1.0 + 1e-7, 1.0 + 4e-6):
            reports = []
            for method in ("wide_tree", "brute_force"):
                world = jostle.World(method)
                for mesh, pose in zip(plates, poses, strict=True):
                    world.add(mesh, pose)
                reports.append(world.detect(clearance=share * distance).to_array())
            assert reports[0].tobytes() == reports[1].tobytes()
            near += len(reports[0]) > 0
    assert near > 100


def plate(rng, normal):
    """A thin plate across a direction, with edges at random."""
    normal = normal / np.linalg.norm(normal)
    edge = np.cross(normal, rng.normal(size=3))
    edge /= np.linalg.norm(edge)
    thin = box((1.0, 10.0 ** rng.uniform(-3, 0), 1e-3))
    return jostle.Mesh(thin.vertices @ np.array([edge, np.cross(normal, edge), normal]), thin.faces)
