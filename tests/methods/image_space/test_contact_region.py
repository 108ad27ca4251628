"""Rows of colliding pixels: segments on the bodies' boundaries, normals from a into b, areas, kinds and order."""

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.image_space.contact_region import describe_pixels
from jostle.methods.image_space.regions import views_of
from jostle.methods.image_space.software import Pixels
from jostle.shapes import build
from tests.methods.image_space.placed import Placed
from tests.methods.image_space.placed import settings as settings_of
from tests.methods.image_space.rays import crossings, inside
from tests.tiny import box, random_pose

BALL, SMALL = build.icosphere(4), build.icosphere(3, 0.4)


def world_of(*bodies, **settings):
    world = jostle.World(jostle.ImageSpace(**settings))
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


@pytest.mark.parametrize(
    "settings", [{}, {"view": "z"}, {"test": "stencil"}, {"accuracy": 0.02, "view": "x", "share_depth": True}], ids=str
)
@pytest.mark.parametrize("turned", [False, True])
def test_segments_and_normals_of_two_balls(settings, turned):
    rng = np.random.default_rng(1)
    for distance in (1.3, 1.1):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        bodies = [(BALL, random_pose(rng, 0.0)), (SMALL, translation(distance * direction) @ random_pose(rng, 0.0))]
        world = world_of(*bodies[:: -1 if turned else 1], **settings)
        centres = np.array([body.pose[:3, 3] for body in world])
        radii = np.array([0.4, 1.0] if turned else [1.0, 0.4])
        contacts = world.detect().contacts
        assert len(contacts) > 20
        assert (contacts.face_a == -1).all()
        assert (contacts.face_b == -1).all()
        assert np.isnan(contacts.depth).all()
        assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
        along = (centres[1] - centres[0]) / np.linalg.norm(centres[1] - centres[0])
        assert ((contacts.normal @ along) > 0.0).mean() > 0.9
        for end in contacts.segment.transpose(1, 0, 2):
            off = [np.linalg.norm(end - centre, axis=1) - radius for centre, radius in zip(centres, radii, strict=True)]
            assert np.max(off) < 1e-9  # in both
            assert np.abs(off).min(axis=0).max() < 0.01  # and on the boundary of one: chords of the balls
        along_view = contacts.segment[:, 0] - contacts.segment[:, 1]
        assert np.linalg.matrix_rank(along_view, tol=1e-9) == 1


@pytest.mark.parametrize("conservative", [False, True])
def test_the_normal_of_boxes_is_that_of_the_shorter_way_out(conservative):
    for axis, sign in ((2, 1), (2, -1), (0, 1), (1, -1)):
        away = np.zeros(3)
        away[axis] = 0.9 * sign
        world = world_of(
            (box(), None), (box(), translation(away + 0.01)), view="xyz"[axis], conservative=conservative, resolution=9
        )
        contacts = world.detect().contacts
        assert len(contacts) == 81
        assert np.allclose(contacts.normal, np.eye(3)[axis] * sign, atol=1e-12)
        # From A's boundary to B's, against the normal: by this much B is in A.
        lengths = ((contacts.segment[:, 0] - contacts.segment[:, 1]) * contacts.normal).sum(axis=1)
        assert np.allclose(lengths, 1 - 0.9 - 0.01 * sign, atol=1e-9)
        assert contacts.details.area == pytest.approx(contacts.details.area[0])
        assert contacts.details.area.sum() == pytest.approx(0.99**2, rel=1e-3)


@pytest.mark.small
def test_rows_are_sorted_and_first_is_the_longest():
    world = world_of((build.icosphere(2), None), (build.icosphere(2), translation((1.5, 0.2, 0.1))), resolution=16)
    whole, first = world.detect().contacts, world.detect(rows="first").contacts
    lengths = np.linalg.norm(whole.segment[:, 1] - whole.segment[:, 0], axis=1)
    assert len(first) == 1
    assert np.linalg.norm(first.segment[0, 1] - first.segment[0, 0]) == lengths.max()
    assert (whole.kind == jostle.Kind.CROSSING).all()
    assert world.detect(rows="pairs").pairs.rows.tolist() == [0]
    assert len(world.detect(rows="any").pairs) == 1


@pytest.mark.small
def test_boxes_that_touch_along_the_view_are_touching_or_free_and_never_crossing():
    world = world_of((box(), None), (box(), translation((0.25, 0.5, 1.0))), view="z", resolution=4)
    report = world.detect()
    assert report.pairs.kind.tolist() == [jostle.Kind.TOUCHING]
    assert np.allclose(report.contacts.segment[:, :, 2], 1.0, atol=1e-12)
    assert np.allclose(report.contacts.normal, (0, 0, 1))


def test_contained_bodies_in_both_orders():
    for settings in ({}, {"test": "stencil"}, {"conservative": True}):
        for inner, outer in ((0, 1), (1, 0)):
            bodies = [None, None]
            bodies[inner] = (build.icosphere(2, 0.3), rotation_about((1, 1, 0), 0.4))
            bodies[outer] = (build.icosphere(2, 1.0), translation((0.1, 0.0, 0.2)))
            contacts = world_of(*bodies, **settings).detect().contacts
            assert len(contacts) > 500
            assert np.linalg.norm(contacts.point, axis=1).max() < 0.35
            assert np.isfinite(contacts.normal).all()


def inside_along(mesh, pose, point, along):
    """[(begin, end)] inside of a mesh on the line through a point, by all faces."""
    x = np.cross(along, (0.3, 0.5, 0.7))
    axes = np.array([x / np.linalg.norm(x), np.cross(along, x / np.linalg.norm(x)), along])
    points = (mesh.vertices @ pose[:3, :3].T + pose[:3, 3]) @ axes.T
    return inside(crossings(points, mesh.faces, *(axes[:2] @ point)))


@pytest.mark.parametrize(
    "settings", [{}, {"view": "z", "test": "stencil"}, {"accuracy": 0.06, "view": "y", "share_depth": True}], ids=str
)
def test_rows_of_concave_bodies_are_the_longest_intervals_and_normals_lead_the_shorter_way_out(settings):
    rng = np.random.default_rng(6)
    ring = build.torus(0.7, 0.3, 12, 8)
    meshes = [ring, jostle.Mesh(ring.vertices, ring.faces[:, ::-1]), build.stellated_dodecahedron(1.0)]
    rows = backward = 0
    for number in range(9):
        pair = meshes[number % 3], meshes[number // 3]
        poses = random_pose(rng, 0.1), random_pose(rng, 0.6)
        contacts = world_of(*zip(pair, poses, strict=True), **{"resolution": 9, **settings}).detect().contacts
        if len(contacts) == 0:
            continue
        ways = contacts.segment[:, 0] - contacts.segment[:, 1]
        lengths = np.linalg.norm(ways, axis=1)
        along = ways[lengths.argmax()] / lengths.max()
        for segment, normal, length in zip(contacts.segment, contacts.normal, lengths, strict=True):
            lines = [inside_along(mesh, pose, segment.mean(axis=0), along) for mesh, pose in zip(pair, poses, strict=True)]
            common = [(min(a[1], b[1]) - max(a[0], b[0]), a, b) for a in lines[0] for b in lines[1]]
            longest, of_a, of_b = max(common)
            assert length == pytest.approx(longest, abs=1e-9)
            forward, back = of_a[1] - of_b[0], of_b[1] - of_a[0]
            ends = max(of_a[0], of_b[0]), min(of_a[1], of_b[1])
            if abs(forward - back) > 1e-9:
                assert (normal @ along > 0.0) == (forward < back)
                assert segment[0] @ along == pytest.approx(ends[forward < back], abs=1e-9)
                backward += back < forward
            rows += 1
    assert rows > 100
    assert 20 < backward < rows - 20


def test_a_pixel_that_float64_does_not_see_has_a_normal_from_a_into_b():
    """As a device may report: the direction of view, whichever body comes first."""
    for height in (1.0 + 1e-9, -1.0 - 1e-9):
        placed = Placed([box(), box((-1.0, -1.0, 0.0), (2.0, 2.0, 1.0))], [np.eye(4), translation((0, 0, 0.5 * height))])
        views = views_of(placed.pairs, placed.frame, placed.shapes, settings_of(view="z", resolution=3))
        placed.move([np.eye(4), translation((0, 0, height))])
        apart = views._replace(to_tile=views.to_tile.copy())
        apart.to_tile[0, 1, 11] += 0.5 * height
        pixels = Pixels(np.zeros(1, np.int32), np.full(1, 4, np.int32), np.zeros(1), np.zeros(1), 9)
        details = describe_pixels(apart, pixels, placed.frame, placed.shapes, conservative=False)
        assert details.normal.tolist() == [[0.0, 0.0, np.sign(height)]]
