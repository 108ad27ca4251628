"""World vertices bit for bit, and the padding against exact rational transforms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import rigid
from jostle.geometry.vector import Vec3
from tests.tiny import relative_pose


def random_pose(rng, offset=0.0, defect=0.0):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0.0:
        q[:, 0] = -q[:, 0]
    pose = np.eye(4)
    pose[:3, :3] = q + rng.uniform(-defect, defect, size=(3, 3))
    pose[:3, 3] = rng.uniform(-1.0, 1.0, size=3) + offset * rng.uniform(0.5, 1.0, size=3)
    return pose


def formula(pose, point):
    """The formula of the conventions in Python floats, which round each operation."""
    x, y, z = (float(value) for value in point)
    world = []
    for row in pose[:3].tolist():
        w = row[0] * x
        w = w + row[1] * y
        w = w + row[2] * z
        w = w + row[3]
        world.append(w if abs(w) >= 1e-30 else 0.0)
    return world


def fused(a, b, c):
    """a*b + c with one rounding."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def exact(matrix):
    return [[Fraction(float(value)) for value in row] for row in matrix]


def solved_exactly(matrix, vector):
    """Cramer's rule in rational numbers."""

    def determinant(m):
        return sum(m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]) for i in range(3))

    whole = determinant(matrix)
    return [determinant([[vector[i] if j == k else matrix[i][j] for j in range(3)] for i in range(3)]) / whole for k in range(3)]


@pytest.mark.small
def test_world_coordinates_are_the_formula_bit_for_bit():
    rng = np.random.default_rng(1)
    for offset in (0.0, 1e3, 1e7):
        pose = random_pose(rng, offset)
        points = rng.normal(size=(200, 3)) * 10.0 ** rng.integers(-8, 8, size=(200, 1))
        expected = np.array([formula(pose, point) for point in points])
        assert rigid.transform_points(pose, points).tobytes() == expected.tobytes()


@pytest.mark.small
def test_no_fused_multiply_add():
    rng = np.random.default_rng(2)
    told_apart = np.zeros(4, dtype=int)
    for _ in range(500):
        r0, r1, r2, t, x, y, z = rng.normal(size=7).tolist()
        plain = ((r0 * x + r1 * y) + r2 * z) + t
        contractions = (
            fused(r2, z, r0 * x + r1 * y) + t,
            fused(r2, z, fused(r1, y, r0 * x)) + t,
            fused(r2, z, fused(r0, x, r1 * y)) + t,
            fused(r1, y, r0 * x) + r2 * z + t,
        )
        told_apart += [plain != contraction for contraction in contractions]
        assert rigid.rigid_coordinate(rigid.PoseRow(r0, r1, r2, t), Vec3(x, y, z)) == plain
    assert (told_apart > 20).all(), "every contraction must differ somewhere, or this test could not fail"


@pytest.mark.small
def test_tiny_results_and_negative_zero_become_zero():
    pose = np.eye(4)
    points = np.array([[1e-30, -1e-30, 9.9e-31], [-9.9e-31, -0.0, 0.0]])
    world = rigid.transform_points(pose, points)
    assert world.tobytes() == np.array([[1e-30, -1e-30, 0.0], [0.0, 0.0, 0.0]]).tobytes()
    pose[:3, :3] = np.diag([-1.0, -1.0, 1.0])
    assert not np.signbit(rigid.transform_points(pose, np.zeros((1, 3)))).any()


@pytest.mark.small
def test_inputs_may_be_sealed_or_strided():
    rng = np.random.default_rng(3)
    pose, points = random_pose(rng), rng.normal(size=(40, 3))
    expected = rigid.transform_points(pose, points)
    compiled = list(getattr(rigid.transform_into, "signatures", []))
    pose.flags.writeable = False
    points.flags.writeable = False
    assert np.array_equal(rigid.transform_points(pose, points), expected)
    assert np.array_equal(rigid.transform_points(np.asfortranarray(pose), np.asfortranarray(points)), expected)
    # Sealed and writable inputs share one compilation.
    assert list(getattr(rigid.transform_into, "signatures", [])) == compiled


@pytest.mark.small
@pytest.mark.parametrize("defect", [0.0, 1e-6])
def test_relative_pose_is_solved_for(defect):
    rng = np.random.default_rng(4)
    for offset in (0.0, 1e4):
        pose_a, pose_b = random_pose(rng, offset, defect), random_pose(rng, offset, defect)
        relative = relative_pose(pose_a, pose_b)
        a, b = exact(pose_a), exact(pose_b)
        rotation = [row[:3] for row in a[:3]]
        for j in range(4):
            column = [b[i][j] - (a[i][3] if j == 3 else 0) for i in range(3)]
            size = max(1.0, max(abs(float(value)) for value in column))
            for i, value in enumerate(solved_exactly(rotation, column)):
                assert abs(float(Fraction(float(relative[i, j])) - value)) <= 32 * 2.0**-53 * size
        assert relative[3].tolist() == [0.0, 0.0, 0.0, 1.0]


def largest_share_of_padding(rng, offset, size, defect, local_offset):
    """Largest |ā − X b̄| over the padding for coinciding world points.

    ā is computed from b̄ in rational numbers.
    """
    pose_a, pose_b = random_pose(rng, offset, defect), random_pose(rng, offset, defect)
    if local_offset:
        # Meshes far from their own origin, brought together by their poses.
        shift = rng.uniform(-local_offset, local_offset, size=3)
        pose_a[:3, 3] -= pose_a[:3, :3] @ shift
        pose_b[:3, 3] -= pose_b[:3, :3] @ shift
    else:
        shift = np.zeros(3)
    points_b = (rng.uniform(-1.0, 1.0, size=(4, 3)) + shift) * size
    pose_a[:3, 3] *= size
    pose_b[:3, 3] *= size
    world_b = rigid.transform_points(pose_b, points_b)
    # The local point of A nearest to the contact: rounding it moves its world point by what `slack` allows for.
    points_a = np.linalg.solve(pose_a[:3, :3], (world_b - pose_a[:3, 3]).T).T
    world_a = rigid.transform_points(pose_a, points_a)
    relative = relative_pose(pose_a, pose_b)
    in_a = rigid.transform_points(relative, points_b)
    padding = rigid.cull_padding(
        float(np.abs(world_a).max()), float(np.abs(world_b).max()), float(max(np.abs(points_a).max(), np.abs(points_b).max()))
    )
    rotation = [row[:3] for row in exact(pose_a)[:3]]
    worst = 0.0
    for k in range(len(points_b)):
        # Moving A's world point onto B's by the rest between them makes an exact contact of the computed world vertices.
        rest = solved_exactly(rotation, [Fraction(float(world_b[k, i])) - Fraction(float(world_a[k, i])) for i in range(3)])
        for i in range(3):
            gap = Fraction(float(points_a[k, i])) + rest[i] - Fraction(float(in_a[k, i]))
            worst = max(worst, abs(float(gap)) / padding)
    return worst


@pytest.mark.small
@pytest.mark.parametrize("defect", [0.0, 1e-6])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_padding_covers_every_rounding_between_the_frames(defect, offset):
    rng = np.random.default_rng(5)
    shares = [
        largest_share_of_padding(rng, offset, size, defect, local_offset)
        for local_offset in (0.0, 1e5)
        for size in (1e-9, 1.0, 1e6)
        for _ in range(5)
    ]
    assert max(shares) <= 1.0
    assert max(shares) > 1e-3, "the scenes must exercise the rounding"


@pytest.mark.small
def test_padding_covers_vertices_snapped_to_zero():
    rng = np.random.default_rng(6)
    for _ in range(10):
        assert largest_share_of_padding(rng, 0.0, 3e-30, 0.0, 0.0) <= 1.0


@pytest.mark.small
def test_padding_is_relative_to_the_coordinates():
    assert math.isclose(rigid.cull_padding(1.0, 2.0, 1.0), 256.0 * 2.0**-52)
    assert rigid.cull_padding(1e7, 1e7, 1.0) < 1e-6
