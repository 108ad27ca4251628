"""The contract of all methods, gated by their traits: one file for all of them.

An exact method equals rational arithmetic row by row; that makes it equal to every other exact method, to the byte. A check that
fails writes the world to a file that `jostle.World.load` reads, with meshes and poses at full precision.
"""

import itertools
import math
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle.broad_phase import BROAD_PHASES
from jostle.geometry.pose import translation
from jostle.interface.traits import EXACT, Answer, Semantics, Serve
from jostle.registry import METHODS
from jostle.shapes import build
from tests.all_faces_behind import AllFacesBehind
from tests.contract.scenes import SCENES
from tests.methods.wide_tree.turned import Turned
from tests.oracle import rational
from tests.oracle import rows as oracle
from tests.oracle.kept_proofs import kept
from tests.tiny import box, random_pose, random_soup

CANDIDATES = {name: made() for name, made in METHODS.items()} | {
    # The queue needs a bound that no scene breaks.
    f"all faces behind {name}": AllFacesBehind(made(**({"speed": 1e30} if name == "priority_queue" else {})))
    for name, made in BROAD_PHASES.items()
}
CANDIDATES |= {
    "face_octree as in the paper": jostle.FaceOctree(level=6, face_box="clip", broad="brute_force"),
    "face_octree without boxes": jostle.FaceOctree(level=3, cells="bintree", face_box="axes", broad=None, cube=((0.1, 0, 0), 0.5)),
    "wide_tree with every node turned": Turned(),
}
EXACT_METHODS = {name: method for name, method in CANDIDATES.items() if method.traits.answers.get(Answer.FACES) == EXACT}
exact_methods = pytest.mark.parametrize("method", EXACT_METHODS.values(), ids=EXACT_METHODS)
SURFACE_METHODS = {name: method for name, method in EXACT_METHODS.items() if method.traits.semantics is not Semantics.SOLID}


def scenes_of(method, scenes=SCENES):
    """Those of the scenes that the method does not refuse."""
    return [scene for scene in scenes if scene != "deformed bodies" or Serve.DEFORM in method.traits.serves]


def fill(scene, method, seed):
    world = jostle.World(method)
    SCENES[scene](world, seed)
    return world


@kept
def truth(scene, seed, clearance=0.0):
    """Rows [(body_a, body_b, face_a, face_b, kind)] by rational arithmetic."""
    world = fill(scene, None, seed)
    return [(a.id, b.id, *row) for a, b in itertools.combinations(world, 2) for row in oracle.rows_between(a, b, clearance)]


def rows_of(report):
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def check(world, found, expected, what):
    """Compare rows; on failure keep the world for a closer look."""
    if found == expected:
        return
    path = Path(tempfile.mkdtemp(prefix="jostle-repro-")) / "world.npz"
    saved = jostle.World()
    for body in world:
        saved.add(jostle.Mesh(body.vertices, body.mesh.faces), body.pose, body.name)
    saved.save(path)
    missed, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    raise AssertionError(f"{what}: missed {missed[:5]} ({len(missed)}), extra {extra[:5]} ({len(extra)}); see {path}")


@exact_methods
@pytest.mark.parametrize("scene", SCENES)
def test_exact_methods_equal_rational_arithmetic(method, scene):
    if scene not in scenes_of(method):
        pytest.skip("the method does not serve deforming bodies")
    for seed in range(2):
        world = fill(scene, method, seed)
        check(world, rows_of(world.detect()), truth(scene, seed), f"{scene}, seed {seed}")


@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_that_should_touch_does(scene):
    rows = truth(scene, 0)
    assert bool(rows) == (scene not in ("far apart", "nothing"))


@exact_methods
@pytest.mark.parametrize(
    ("scene", "clearance"), [("random soups", 0.05), ("boxes on a grid", 0.5), ("far apart", 9.5), ("one face each", 0.2)]
)
def test_clearance_adds_what_is_near_and_removes_nothing(method, scene, clearance):
    if Serve.CLEARANCE not in method.traits.serves:
        pytest.skip("the method does not serve clearance")
    world = fill(scene, method, 0)
    report = world.detect(clearance=clearance)
    check(world, rows_of(report), truth(scene, 0, clearance), f"{scene} within {clearance}")
    assert (report.contacts.kind == jostle.Kind.NEAR).any()
    assert ((report.contacts.distance > 0) == (report.contacts.kind == jostle.Kind.NEAR)).all()
    touching = [row for row in rows_of(report) if row[4] != jostle.Kind.NEAR]
    assert touching == truth(scene, 0)


@exact_methods
def test_a_gap_equal_to_the_clearance_is_free(method):
    if Serve.CLEARANCE not in method.traits.serves:
        pytest.skip("the method does not serve clearance")
    world = jostle.World(method)
    world.add(box())
    world.add(box(), translation((1.5, 0, 0)))
    assert not world.detect(clearance=0.5)
    assert world.detect(clearance=np.nextafter(0.5, 1)).pairs.kind.tolist() == [jostle.Kind.NEAR]


@kept
def distances(scene, seed, clearance):
    """{(body_a, body_b): {(face_a, face_b): squared distance}} of all rows, by rational arithmetic."""
    faces = {body.id: oracle.triangles(body) for body in fill(scene, None, seed)}
    found = {}
    for a, b, i, j, _ in truth(scene, seed, clearance):
        found.setdefault((a, b), {})[i, j] = rational.squared_distance(faces[a][i], faces[b][j])
    return found


NEAR_SCENES = {
    "random soups": 0.05, "boxes on a grid": 0.75, "far apart": 9.5, "one face each": 0.2, "degenerate faces": 0.8,
    "deformed bodies": 0.1, "coplanar plates": 0.15, "identical bodies": 0.01,
}  # fmt: skip


@exact_methods
@pytest.mark.parametrize("scene", NEAR_SCENES)
def test_the_first_row_within_a_clearance_is_the_nearest_and_of_ties_the_lowest(method, scene):
    if Serve.CLEARANCE not in method.traits.serves or scene not in scenes_of(method):
        pytest.skip("the method does not serve clearance, or deforming bodies")
    clearance = NEAR_SCENES[scene]
    for seed in range(2):
        world, expected = fill(scene, method, seed), distances(scene, seed, clearance)
        first, whole = (world.detect(clearance=clearance, rows=rows) for rows in ("first", "faces"))
        assert list(first.pairs) == list(expected)
        assert first.pairs.rows.tolist() == [1] * len(expected)
        assert first.pairs.kind.tolist() == whole.pairs.kind.tolist()
        assert first.pairs.distance.tolist() == first.contacts.distance.tolist()
        rounding = 2.0**-44 * np.ptp(np.concatenate([body.world_vertices for body in world]), axis=0).max()
        reported = dict(zip(rows_of(whole), whole.contacts.distance.tolist(), strict=True))
        for row in rows_of(first):
            a, b, *faces, _ = row
            exact = expected[a, b]
            least = min(exact.values())
            # Distances are rounded: of faces whose distances differ by less, either is the nearest.
            assert math.sqrt(exact[tuple(faces)]) <= math.sqrt(least) + rounding
            if least == 0:
                assert tuple(faces) == min(pair for pair, squared in exact.items() if squared == 0)
            assert row == min(other for other, distance in reported.items() if other[:2] == (a, b) and distance <= reported[row])


@exact_methods
def test_walls_at_one_distance_tie_and_the_lowest_faces_are_first(method):
    if Serve.CLEARANCE not in method.traits.serves:
        pytest.skip("the method does not serve clearance")
    world = jostle.World(method)
    world.add(box())
    other = world.add(box(), translation((0, 0, 1.5)))
    contacts = world.detect(clearance=2.0, rows="first").contacts
    faces = [oracle.triangles(body) for body in world]
    squared = {(i, j): rational.squared_distance(a, b) for i, a in enumerate(faces[0]) for j, b in enumerate(faces[1])}
    ties = [pair for pair, value in squared.items() if value == Fraction(1, 4)]
    assert min(squared.values()) == Fraction(1, 4)
    assert len(ties) >= 4
    assert min(ties) > (0, 0)
    assert squared[0, 0] < 4  # is near, too
    assert (contacts.face_a, contacts.face_b, contacts.distance) == (*min(ties), 0.5)
    other.pose = translation((0, 0, 1))  # wall to wall: lowest of those that touch
    contacts = world.detect(clearance=2.0, rows="first").contacts
    assert (contacts.face_a, contacts.face_b, contacts.distance) == (*min((i, j) for i, j, _ in oracle.rows_between(*world)), 0.0)


@exact_methods
def test_self_collision_equals_rational_arithmetic(method):
    if Serve.SELF not in method.traits.serves:
        pytest.skip("the method does not serve self-collision")
    rng = np.random.default_rng(5)
    folded = build.icosphere(1)
    folded = folded.with_vertices(folded.vertices * 1.0 + 0.8 * rng.normal(size=folded.vertices.shape))
    lattice = jostle.Mesh(rng.integers(0, 3, (9, 3)).astype(float), rng.integers(0, 9, (24, 3)))
    for mesh in (folded, lattice, random_soup(rng, 20), box()):
        for adjacent in (False, True):
            world = jostle.World(method)
            body = world.add(mesh, random_pose(rng) if mesh is not lattice else None)
            found = rows_of(world.detect(itself=True, adjacent=adjacent))
            expected = [(0, 0, *row) for row in oracle.rows_within(body, adjacent)]
            check(world, found, expected, f"{mesh.name}, adjacent={adjacent}")
    assert not jostle.self_collide(box(), adjacent=True)


@exact_methods
def test_swapping_the_bodies_swaps_the_rows(method):
    for scene in ("random soups", "coplanar plates", "boxes on a grid", "degenerate faces"):
        world = fill(scene, method, 3)
        swapped = jostle.World(method)
        for body in reversed(world.bodies):
            swapped.add(body.mesh, body.pose)
        last = len(world) - 1
        found = sorted((last - b, last - a, j, i, kind) for a, b, i, j, kind in rows_of(swapped.detect()))
        assert found == rows_of(world.detect())


def axis_rotations():
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            rotation = np.zeros((3, 3))
            rotation[range(3), order] = signs
            if np.linalg.det(rotation) > 0:
                pose = np.eye(4)
                pose[:3, :3] = rotation
                yield pose


@exact_methods
def test_grid_scenes_are_the_same_in_all_24_orientations_and_under_shifts(method):
    world = fill("boxes on a grid", method, 1)
    before = rows_of(world.detect())
    poses = list(axis_rotations())
    assert len(poses) == 24
    for pose in poses + [translation((2.0**k, -(2.0**k), 2.0 ** (k + 1))) for k in (-1, 3, 20)]:
        world.set_poses(np.stack([pose] * len(world)))
        assert rows_of(world.detect()) == before


@exact_methods
def test_scenes_in_general_position_are_the_same_when_moved_rigidly(method):
    rng = np.random.default_rng(9)
    world = fill("random soups", method, 0)
    before = rows_of(world.detect())
    assert len(before) > 10
    poses = world.poses
    for _ in range(5):
        world.set_poses(np.matmul(random_pose(rng, 10.0), poses))
        assert rows_of(world.detect()) == before


@exact_methods
def test_rows_first_pairs_and_any_agree_with_all_rows(method):
    for scene in scenes_of(method):
        world = fill(scene, method, 0)
        whole = world.detect()
        rows = set(rows_of(whole))
        first = world.detect(rows="first")
        assert list(first.pairs) == list(whole.pairs)
        assert first.pairs.kind.tolist() == first.contacts.kind.tolist() == whole.pairs.kind.tolist()
        assert first.pairs.rows.tolist() == [1] * len(whole.pairs)
        assert set(rows_of(first)) <= rows
        pairs = world.detect(rows="pairs")
        assert list(pairs.pairs) == list(whole.pairs)
        assert pairs.pairs.kind.tolist() == whole.pairs.kind.tolist()
        assert len(pairs.contacts) == 0
        anything = world.detect(rows="any")
        assert len(anything.pairs) == min(1, len(whole.pairs))
        assert set(anything.pairs) <= set(whole.pairs)


@exact_methods
def test_the_geometry_of_rows_is_where_the_faces_meet(method):
    scenes = ("random soups", "coplanar plates", "boxes on a grid", "degenerate faces", "deformed bodies", "scale 1e-9")
    for scene in scenes_of(method, scenes):
        world = fill(scene, method, 1)
        near = scene == "random soups" and Serve.CLEARANCE in method.traits.serves
        contacts = world.detect(clearance=1e-3 if near else 0.0).contacts
        assert len(contacts)
        assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
        for body, face in ((contacts.body_a, contacts.face_a), (contacts.body_b, contacts.face_b)):
            corners = np.array([world[int(n)].world_vertices[world[int(n)].mesh.faces[f]] for n, f in zip(body, face, strict=True)])
            size = np.ptp(corners, axis=1).max(axis=1)
            slack = 1e-9 * size + 1e-3 * (contacts.kind == jostle.Kind.NEAR)
            for end in (contacts.segment[:, 0], contacts.segment[:, 1], contacts.point):
                assert (end >= corners.min(axis=1) - slack[:, None]).all()
                assert (end <= corners.max(axis=1) + slack[:, None]).all()


@exact_methods
def test_normals_point_from_a_into_b(method):
    world = jostle.World(method)
    world.add(build.icosphere(2))
    for direction in np.vstack([np.eye(3), -np.eye(3)]):
        body = world.add(build.icosphere(2), translation(1.9 * direction))
        contacts = world.detect().contacts
        assert len(contacts) > 5
        assert (contacts.normal @ direction > 0.5).all()
        world.remove(body)


@exact_methods
def test_solids_contain_what_is_inside_and_not_what_is_in_a_hole_or_cavity(method):
    if Serve.SOLID not in method.traits.serves:
        pytest.skip("the method does not serve solids")

    def kinds(a, b, pose=None):
        world = jostle.World(method)
        world.add(a)
        world.add(b, pose)
        assert not world.detect().pairs.kind.size or world.detect().touching
        return [jostle.Kind(int(k)).name for k in world.detect(solid=True).pairs.kind]

    torus, small = build.torus(1.0, 0.3), build.icosphere(1, 0.2)
    assert kinds(torus, small) == []  # in the hole
    assert kinds(torus, small, translation((1, 0, 0))) == ["B_IN_A"]
    assert kinds(small, build.icosphere(2, 3.0)) == ["A_IN_B"]
    assert kinds(small, build.icosphere(2, 3.0), translation((3, 0, 0))) == ["CROSSING"]
    outer, cavity = build.icosphere(2, 3.0), build.icosphere(2, 2.0)
    hollow = jostle.Mesh(
        np.vstack([outer.vertices, cavity.vertices]), np.vstack([outer.faces, cavity.faces[:, ::-1] + len(outer.vertices)])
    )
    assert kinds(hollow, small) == []  # free in the cavity
    assert kinds(hollow, small, translation((2.5, 0.1, 0.2))) == ["B_IN_A"]  # in the wall
    inverted = jostle.Mesh(outer.vertices, outer.faces[:, ::-1])
    assert kinds(inverted, small) == ["B_IN_A"]
    opened = jostle.Mesh(outer.vertices, outer.faces[1:])
    assert kinds(opened, small) == []  # an open body contains nothing
    assert kinds(outer, jostle.Mesh(small.vertices, small.faces[1:])) == ["B_IN_A"]  # only the outer one must be closed
    assert kinds(box((-2, -2, -2), (2, 2, 2)), box((-2, 0, 0), (-1, 1, 1))) == ["OVERLAPPING"]  # touching the wall from inside
    assert kinds(box(), box((1, 0, 0), (2, 1, 1))) == ["TOUCHING"]  # from outside
    two = jostle.Mesh(np.vstack([small.vertices, small.vertices + 9]), np.vstack([small.faces, small.faces + len(small.vertices)]))
    assert kinds(outer, two) == ["B_IN_A"]  # one of two parts is inside


@exact_methods
def test_bodies_that_come_and_go_leave_no_trace(method):
    world = fill("shared shapes", method, 2)
    world.detect()
    rng = np.random.default_rng(0)
    for _ in range(6):
        if rng.random() < 0.5 and len(world) > 2:
            world.remove(world.bodies[int(rng.integers(len(world)))])
        else:
            world.add(build.icosphere(1), random_pose(rng, 0.6), deformable=Serve.DEFORM in method.traits.serves)
        for body in world:
            if rng.random() < 0.5:
                body.pose = random_pose(rng, 0.6)
        fresh = jostle.World()
        for body in world:
            fresh.add(body.mesh, body.pose)
        ids = [body.id for body in world]
        expected = [(ids[a], ids[b], i, j, kind) for a, b, i, j, kind in rows_of(fresh.detect())]
        assert rows_of(world.detect()) == expected
