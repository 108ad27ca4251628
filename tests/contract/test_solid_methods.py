"""The contract of methods that answer for solids within a resolution r, gated by their traits.

They report whenever the two solids, each eroded by r, still meet, and never when they are farther apart than r; those that state
"no miss" report whenever the closed solids share a point. These statements are proved in exact fractions (`tests/oracle/solids.py`)
before a method is asked; where none can be proved, any answer is right.
A method may state r as a share of the size of the bodies: r is then that of the pair at hand, and scenes are made for COARSE of
their size. Bodies that a method states not to answer for (`answers_for`) are left out, by what it states and not by trying.
"""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer, Need, Semantics
from jostle.methods.voxmap.look_up import MOST_ACROSS
from jostle.methods.voxmap.voxel_size import REACH
from jostle.registry import METHODS
from jostle.shapes import build
from tests.contract.solid_scenes import COARSE_FAMILIES, FAMILIES, SIZES, facing
from tests.methods.voxmap.prepared_once import prepare_each_mesh_once
from tests.methods.wide_tree.turned import Turned
from tests.oracle import solids
from tests.oracle.kept_proofs import kept
from tests.oracle.rows import world_vertices
from tests.tiny import box, random_pose, tetrahedron

CANDIDATES = {name: made() for name, made in METHODS.items()} | {
    "separating_plane without cache": jostle.SeparatingPlane(cache=False),
    "separating_plane of hulls": jostle.SeparatingPlane(concave="hull"),
    "separating_plane behind a grid": jostle.SeparatingPlane(broad="uniform_grid"),
    "separating_plane, coarse": jostle.SeparatingPlane(resolution=1e-3),
    "closest_features from anew": jostle.ClosestFeatures(warm_start=False),
    "closest_features of hulls": jostle.ClosestFeatures(concave="hull"),
    "closest_features behind a grid": jostle.ClosestFeatures(broad="uniform_grid"),
    "closest_features, coarse": jostle.ClosestFeatures(resolution=1e-3),
    "voxmap, an accuracy": jostle.Voxmap(accuracy=0.03),
    "voxmap, both ways": jostle.Voxmap(across=32, both=True, axis=1),
    "voxmap as in the paper": jostle.Voxmap(across=40, grouped=False, axis=2, broad="fast_aabb", depth=False),
    "voxmap behind spheres": jostle.Voxmap(across=50, broad="bounding_spheres"),
    "image_space by stencil": jostle.ImageSpace(test="stencil", resolution=40, view="z"),
    "image_space along three axes": jostle.ImageSpace(resolution=41, view="axes", broad=None),
    "image_space along what separated": jostle.ImageSpace(resolution=45, view="separating", broad="fast_aabb"),
    "image_space, an accuracy": jostle.ImageSpace(accuracy=0.03),
    "image_space, shared depths": jostle.ImageSpace(accuracy=0.03, view="y", share_depth=True),
    "image_space, conservative": jostle.ImageSpace(conservative=True),
    "image_space, conservative, an accuracy": jostle.ImageSpace(conservative=True, accuracy=0.05, view="x"),
    "image_space, conservative, three axes": jostle.ImageSpace(conservative=True, resolution=48, view="axes"),
    "wide_tree with every node turned": Turned(),
}
COARSE = 0.03  # of the size of the bodies: scenes for methods with a resolution of that kind


def within_of(method):
    """What a method says about the length within which it answers, None for one that is exact or statistical."""
    found = [guarantee for guarantee in method.traits.answers.values() if guarantee.name.endswith(("within", "within share"))]
    return max(found, key=lambda guarantee: guarantee.value) if found else None


def never_misses(method):
    return within_of(method).name.startswith("no miss")


def resolution_of(method, *meshes):
    """The length within which a method answers for these bodies."""
    within = within_of(method)
    return (
        within.value
        if within.name.endswith("within")
        else within.value * max(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in meshes)
    )


def scene_resolution(method, family=None):
    """The length that scenes are made for: that of the method, or a share of the size of the scene."""
    within = within_of(method)
    return within.value if within.name.endswith("within") else COARSE * SIZES.get(family, 1.0)


def answers_for(method, *meshes):
    """Whether the method states to answer for these bodies: none is thinner than a voxel, or longer than 2048 voxels or pixels."""
    if isinstance(method, jostle.ImageSpace) and method.accuracy is not None:
        return min(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in meshes) <= 800.0 * method.accuracy
    if not isinstance(method, jostle.Voxmap):
        return True
    voxel = resolution_of(method, *meshes) / REACH
    sizes = [np.ptp(mesh.bounds, axis=0) for mesh in meshes]
    return all(size.min() >= voxel and size.max() <= MOST_ACROSS * voxel and size.prod() < 1e8 * voxel**3 for size in sizes)


SOLID_METHODS = {
    name: method
    for name, method in CANDIDATES.items()
    if method.traits.semantics is not Semantics.SURFACE and within_of(method) is not None
}
solid_methods = pytest.mark.parametrize("method", SOLID_METHODS.values(), ids=SOLID_METHODS)
COARSE_METHODS = {name: method for name, method in SOLID_METHODS.items() if isinstance(method, jostle.Voxmap | jostle.ImageSpace)}


@pytest.fixture(autouse=True)
def _voxels_once(monkeypatch):
    prepare_each_mesh_once(monkeypatch)


def triangles(mesh, pose):
    points = world_vertices(pose, mesh.vertices)
    return [[points[k] for k in face] for face in mesh.faces.tolist()]


class Placed:
    """Two bodies at their places, as a key: all methods are asked about the same ones."""

    def __init__(self, mesh_a, pose_a, mesh_b, pose_b):
        self.triangles = functools.partial(triangles, mesh_a, pose_a), functools.partial(triangles, mesh_b, pose_b)
        self._key = (mesh_a.digest, np.asarray(pose_a).tobytes(), mesh_b.digest, np.asarray(pose_b).tobytes())

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key

    def __repr__(self):
        return repr(self._key)


@kept
def erosion(placed):
    """By how much both can be shrunk and still meet; negative where they are apart."""
    return solids.largest_erosion(*(made() for made in placed.triangles))


@kept
def proved(placed, r, never_misses=False):
    if erosion(placed) >= (0 if never_misses else Fraction(r)):
        return True
    apart = erosion(placed) < 0 and solids.farther_apart(*(made() for made in placed.triangles), r)
    return False if apart else None


def statement(method, mesh_a, pose_a, mesh_b, pose_b):
    """True when a method must report the two, False when it must not, None when neither is proved."""
    return proved(Placed(mesh_a, pose_a, mesh_b, pose_b), resolution_of(method, mesh_a, mesh_b), never_misses(method))


def share_of_scenes(method):
    """1 for methods as they are registered, 3 for those with other settings: they get every third scene; 4 for coarse ones."""
    if isinstance(method, jostle.Voxmap | jostle.ImageSpace):
        return 4
    return 1 if any(method == made() for made in METHODS.values()) else 3


@functools.cache
def scenes_of(family, r, every=1):
    """The cases of a family: the same for all methods with this resolution."""
    return list((FAMILIES | COARSE_FAMILIES)[family](r))[::every]


def cases_of(family, method, every=1):
    """[(case, what is proved of it)] of the cases that the method answers for."""
    cases = scenes_of(family, scene_resolution(method, family), every)
    cases = [case for case in cases if answers_for(method, case.mesh_a, case.mesh_b)]
    return [(case, statement(method, case.mesh_a, case.pose_a, case.mesh_b, case.pose_b)) for case in cases]


@functools.cache
def distance_of(case):
    placed = Placed(case.mesh_a, case.pose_a, case.mesh_b, case.pose_b)
    return 0.0 if erosion(placed) >= 0 else solids.distance(*(made() for made in placed.triangles))


def world_of(method, *bodies):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def reports(world):
    return len(world.detect(rows="pairs", solid=True).pairs) > 0


@solid_methods
@pytest.mark.parametrize("family", FAMILIES)
def test_reports_what_meets_though_eroded_and_nothing_that_is_farther_apart(method, family):
    for case, true in cases_of(family, method, share_of_scenes(method)):
        if true is None:
            continue
        for bodies in (
            ((case.mesh_a, case.pose_a), (case.mesh_b, case.pose_b)),
            ((case.mesh_b, case.pose_b), (case.mesh_a, case.pose_a)),
        ):
            assert reports(world_of(method, *bodies)) == true, f"{family}: {case.name}"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_scenes_prove_something(family):
    """Both statements are made often, and a known gap is never contradicted."""
    cases = cases_of(family, jostle.SeparatingPlane())
    meeting, apart = sum(true is True for _, true in cases), sum(true is False for _, true in cases)
    assert meeting >= {"flat and tiny": 3, "one in the other": 6}.get(family, len(cases) // 8)
    assert apart >= (0 if family == "one in the other" else len(cases) // 4)
    for case, true in cases:
        if case.gap is not None:
            assert true is False if case.gap > 1e-6 * (1 + 1e-4) else true is not False, case.name


@pytest.mark.parametrize("method", COARSE_METHODS.values(), ids=COARSE_METHODS)
def test_coarse_methods_with_bodies_deep_in_each_other_and_just_apart(method):
    """Thick bodies, so that eroded ones still meet; and enough is proved, here and in the scenes above, of either kind."""
    deep = cases_of("deep in each other", method, 2)
    for case, true in deep:
        for bodies in itertools.permutations(((case.mesh_a, case.pose_a), (case.mesh_b, case.pose_b))):
            assert true is None or reports(world_of(method, *bodies)) == true, case.name
    proofs = [true for family in FAMILIES for _, true in cases_of(family, method, share_of_scenes(method))]
    proofs += [true for _, true in deep]
    assert proofs.count(True) >= 15
    assert proofs.count(False) >= 8


@solid_methods
def test_distances_and_closest_points_are_within_the_resolution(method):
    if Answer.DISTANCE not in method.traits.answers:
        pytest.skip("the method does not answer distance")
    r, every = scene_resolution(method), share_of_scenes(method)
    checked = 0
    for family in ("features at gaps", "random polytopes", "boxes on a grid", "one in the other", "features at gaps, size 1e4"):
        for case, _ in cases_of(family, method, every):
            world = world_of(method, (case.mesh_a, case.pose_a), (case.mesh_b, case.pose_b))
            true = distance_of(case)
            for first, second in ((0, 1), (1, 0)):
                closest = world.distance(first, second)
                assert abs(closest.distance - true) <= r, f"{family}: {case.name}"
                length = np.linalg.norm(closest.point_b - closest.point_a)
                assert abs(length - closest.distance) <= r
                for point, body in ((closest.point_a, world[first]), (closest.point_b, world[second])):
                    corners = np.array(body.world_vertices)[body.mesh.faces]
                    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
                    height = ((point - corners[:, 0]) * normals).sum(axis=1) / np.linalg.norm(normals, axis=1)
                    assert height.max() <= r, f"{family}: {case.name}: a closest point is not on its body"
                checked += true > 0
    assert checked > 100 / every


@solid_methods
def test_a_warm_start_changes_no_answer(method):
    """Bodies that pass each other, touch, overlap and part, frame after frame: what is proved of a frame holds there."""
    r = scene_resolution(method)
    made = {True: 0, False: 0, None: 0}
    # In small steps, in which what was true of the last frame almost is, and then in leaps.
    gaps = [0.2, 0.05, 2 * r, 0.4 * r, -0.02, -0.04, -0.2, -0.02, 1.5 * r, 1.2 * r, -0.05, 0.3, -0.05, 5.0, 0.01]
    for mesh_a, mesh_b in ((box(), build.icosahedron(0.4)), (build.icosahedron(0.6), tetrahedron())):
        for kinds in (("face", "vertex"), ("edge", "edge"), ("face", "face")):
            world = world_of(method, (mesh_a, None), (mesh_b, None))
            for k, gap in enumerate(gaps):
                pose_a = rotation_about((1.0, 2.0, 3.0), 0.05 * k)
                pose_b = pose_a @ facing(mesh_a, kinds[0], mesh_b, kinds[1], gap, np.random.default_rng(7 + (k > 9)))
                world.set_poses(np.stack([pose_a, pose_b]))
                true = statement(method, mesh_a, pose_a, mesh_b, pose_b)
                made[true] += 1
                assert true is None or reports(world) == true, f"{mesh_a.name} and {mesh_b.name}, {kinds}, frame {k}, gap {gap}"
    assert made[True] >= (24 if r < 0.01 else 4)
    assert made[False] >= (40 if r < 0.01 else 15)


@solid_methods
def test_small_steps_of_many_bodies_agree_with_worlds_that_remember_nothing(method):
    """A crowd that drifts and turns: the pairs of every frame are those of a new world, but for what the resolution leaves open."""
    rng = np.random.default_rng(11)
    # Where the resolution is coarse, many pairs need a proof: the fewer faces, the sooner.
    round_one = build.icosphere(2, 0.5) if scene_resolution(method) < 0.01 else build.icosahedron(0.5)
    meshes = [round_one, box((-0.4, -0.4, -0.4), (0.4, 0.4, 0.4)), build.polytope36(1)]
    bodies = [(meshes[k % 3], random_pose(rng, 1.5)) for k in range(12)]
    world = world_of(method, *bodies)
    velocity, turns = rng.normal(size=(12, 3)) * 0.03, [rotation_about(rng.normal(size=3), 0.15) for _ in range(12)]
    poses, seen = world.poses.copy(), set()
    for _ in range(15):
        poses = np.stack([translation(v) @ pose @ t for v, pose, t in zip(velocity, poses, turns, strict=True)])
        world.set_poses(poses)
        found = set(world.detect(rows="pairs").pairs)
        fresh = set(
            world_of(method, *((mesh, pose) for (mesh, _), pose in zip(bodies, poses, strict=True))).detect(rows="pairs").pairs
        )
        for a, b in found ^ fresh:
            assert statement(method, bodies[a][0], poses[a], bodies[b][0], poses[b]) is None
        exact = world_of("wide_tree", *((mesh, pose) for (mesh, _), pose in zip(bodies, poses, strict=True)))
        for a, b in found ^ set(exact.detect(rows="pairs", solid=True).pairs):
            assert statement(method, bodies[a][0], poses[a], bodies[b][0], poses[b]) is None
        seen |= found
    assert len(seen) > 5


@solid_methods
def test_bodies_that_come_and_go_leave_no_trace(method):
    rng = np.random.default_rng(3)
    meshes = [build.icosahedron(0.5), box((-0.4, -0.4, -0.4), (0.4, 0.4, 0.4))]
    world = world_of(method, *((meshes[k % 2], random_pose(rng, 1.0)) for k in range(5)))
    world.detect(rows="pairs")
    count = 0
    for step in range(8):
        if step % 2:
            world.remove(world.bodies[int(rng.integers(len(world)))])
        else:
            world.add(meshes[step % 3 % 2], random_pose(rng, 1.0))
        for body in world:
            if rng.random() < 0.5:
                body.pose = random_pose(rng, 1.0)
        found = set(world.detect(rows="pairs").pairs)
        for a, b in itertools.combinations(world, 2):
            true = statement(method, a.mesh, a.pose, b.mesh, b.pose)
            assert true is None or ((a.id, b.id) in found) == true
            count += true is not None
    assert count > 60


@solid_methods
def test_any_is_one_of_the_pairs_and_filters_hold(method):
    world = world_of(method, *((box(), translation((0.4 * k, 0.0, 0.0))) for k in range(4)))
    pairs = set(world.detect(rows="pairs").pairs)
    assert {(0, 1), (1, 2), (2, 3)} <= pairs
    anything = world.detect(rows="any")
    assert len(anything.pairs) == 1
    assert set(anything.pairs) <= pairs
    assert world.in_collision()
    world.ignore(0, 1)
    world[2].static = world[3].static = True
    assert set(world.detect(rows="pairs").pairs) == pairs - {(0, 1), (2, 3)}


@solid_methods
def test_what_a_method_does_not_answer_or_take_is_refused_with_a_cure(method):
    world = world_of(method, (box(), None), (box(), translation((0.5, 0, 0))))
    if not method.traits.tells_where:
        with pytest.raises(jostle.Unsupported, match="rows='pairs'"):
            world.detect()
    if Need.CONVEX in method.traits.needs:
        with pytest.raises(jostle.Unsupported, match="body 'ring' is not convex; ") as refused:
            world.add(build.torus(), name="ring")
        assert method.traits.cures[Need.CONVEX] in str(refused.value)
    if Need.RIGID in method.traits.needs:
        with pytest.raises(jostle.Unsupported, match="body 'soft' is deformable; ") as refused:
            world.add(box(), name="soft", deformable=True)
        assert method.traits.cures[Need.RIGID] in str(refused.value)
    if Need.CLOSED in method.traits.needs:
        with pytest.raises(jostle.Unsupported, match="body 'sheet' is open; ") as refused:
            world.add(jostle.Mesh(box().vertices, box().faces[2:]), name="sheet")
        assert method.traits.cures[Need.CLOSED] in str(refused.value)
    assert len(world) == 2


@solid_methods
def test_the_names_of_overlays_are_checked(method):
    world = world_of(method, (box(), None), (box(), translation((1.5, 0, 0))))
    world.overlay()
    with pytest.raises(jostle.InputError, match="what is 'nonsense'"):
        world.overlay("nonsense")


@solid_methods
def test_empty_worlds_and_single_bodies_are_free(method):
    world = jostle.World(method)
    assert not world.detect(rows="pairs")
    world.add(box())
    assert not world.detect(rows="pairs")
    assert len(world.detect(rows="any").pairs) == 0
