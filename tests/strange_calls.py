"""Calls of the whole public interface with one or two strange values.

A call is a function and, for each parameter, a good value; `tried` makes one and says what came of it: an answer or a
`JostleError`. Anything else is raised. Worlds that a call may change are compared with what they were when it was refused.
"""

import atexit
import contextlib
import decimal
import fractions
import pathlib
import shutil
import tempfile

import numpy as np

import jostle
from jostle import broad_phase, continuous, fitting, haptics, sim
from jostle.broad_phase.pairwise import Pairwise
from jostle.motion.record import Motion, Recorder
from jostle.registry import METHODS
from jostle.scenes import SCENES, make_scene
from jostle.shapes.analytic import Cone, Cylinder, Sphere, Torus
from jostle.shapes.save import save
from tests.all_faces_behind import AllFaces
from tests.tiny import BOX_FACES, box, tetrahedron, translation

EYE = np.eye(4)
BOX = box()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="strange_calls_"))
HERE = FOLDER / "here"
HERE.mkdir()
atexit.register(shutil.rmtree, FOLDER, True)


class Raises:
    """Whatever is asked of it, it raises."""

    def _refuse(self, *_, **__):
        raise ZeroDivisionError("of the value's own making")

    __array__ = __float__ = __index__ = __int__ = __len__ = __iter__ = __eq__ = __hash__ = __fspath__ = _refuse
    __repr__ = __str__ = __bool__ = __call__ = __getitem__ = __lt__ = __format__ = _refuse


class Attributes:
    """It raises where an attribute is asked for that nobody has."""

    def __getattr__(self, name):
        raise ZeroDivisionError("of the value's own making")


class Claims:
    """It has vertices and faces, of a kind."""

    vertices, faces = "nothing", 5


# fmt: off
def strange_values():
    """Values that no parameter expects, and many that look like one it does."""
    numbers = [
        0, 1, 2, -1, 3, 7, 64, 10**6, 2**31 - 1, 2**31, 2**32, 2**63, 10**400, -(10**400), 10**5000, True, False,
        0.0, -0.0, 0.5, 1.0, -1.0, 1e-323, 1e-300, 1e-31, 1e-30, 1e-9, 1e9, 9.9e29, 1e30, 1.1e30, 1e300,
        float("inf"), -float("inf"), float("nan"), 1j, complex("nan"),
        decimal.Decimal("0.25"), decimal.Decimal("NaN"), decimal.Decimal("1e999"), fractions.Fraction(1, 3), fractions.Fraction(2),
    ]
    dtypes = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "M8[s]", "m8[s]", "S2", "U2")
    numbers += [np.array([1]).astype(dtype)[0] for dtype in dtypes]
    numbers += [np.float64("nan"), np.float32("inf"), np.longdouble("1e4000"), np.float16(0.5)]
    texts = [
        "", " ", "a", "b", "soft", "faces", "any", "mm", "wide_tree", "\0", "\ud800", "ä" * 3000, "../x", "/", "level 1", "level ²",
        "level -1", "level 99999999999999999999", "nan", "1", "{}", b"a", b"\xff", bytearray(b"1"), memoryview(b"1.5"),
    ]
    arrays = [
        np.eye(4), np.eye(4, dtype="f4"), np.eye(4)[:3], np.eye(3), -np.eye(4), np.full((4, 4), np.nan), 1e31 * np.eye(4),
        np.stack([np.eye(4)] * 2), np.stack([np.eye(4)] * 3), np.zeros((1, 3, 4, 4)), np.zeros((0, 3, 4, 4)), np.zeros((0, 3)),
        np.zeros((4, 3)), np.zeros((8, 3)), np.full((4, 3), 1e-31), np.full((4, 3), -1e30), np.full((4, 3), 1e300),
        np.zeros((4, 3), "c16"), np.zeros((4, 3), "O"), np.array(1.0), np.array([1.0]), np.array([]), np.array(None),
        np.zeros((4, 3), "U1"), np.zeros((2, 2, 2, 2, 2)), np.ma.masked, np.ma.array([1.0, 2.0, 3.0], mask=True),
        np.zeros(3, [("a", "f8")]), np.arange(12).reshape(4, 3), np.eye(4).T.tolist(),
        [[0, 1, 2]], [[0, 1], [2]], [[[]]], [None], [np.nan, 0, 0], [0, 0, 1e300], [10**400, 0, 0], ["x", "y", "z"],
    ]
    things = [
        None, ..., NotImplemented, [], (), {}, set(), frozenset(), {"a": 1}, [0, 1], ("a", "b"), ["a", [], {}],
        range(3), range(10**5), iter([1, 2]), (k for k in range(2)), slice(None), object, object(), type, int, len,
        lambda *a: 1 / 0, Raises(), Raises, Attributes(), Claims(),
        (BOX.vertices, BOX.faces), (BOX.vertices, BOX.faces, 3), (BOX.vertices,), (None, None), BOX, jostle, jostle.World,
        jostle.World(), jostle.Query(), jostle.Query(rows="any"), jostle.Budget(operations=5), jostle.Report(), jostle.Kind.NEAR,
        jostle.BruteForce, jostle.BruteForce(), jostle.WideTree("sah"), broad_phase.UniformGrid(), broad_phase.UniformGrid,
        pathlib.Path(), pathlib.Path("/nowhere/x.stl"), FOLDER, FOLDER / "good.stl", FOLDER / "good.npz", FOLDER / "motion.npz",
        Sphere(1.0), KeyError("x"), haptics.Wrench(np.zeros(3), np.zeros(3), 0, 0.0), sim.SoftMaterial(cells=2),
    ]
    return numbers + texts + arrays + things
# fmt: on


def world(method="brute_force", soft=True, moving=True):
    """A small world for calls to change; one body deforms, and is on its way."""
    made = jostle.World(method)
    made.add(BOX, name="a")
    made.add(tetrahedron(), translation((0.5, 0.5, 0.9)), name="b")
    body = made.add(tetrahedron(), translation((5, 0, 0)), name="soft", deformable=soft)
    if soft and moving:
        body.vertices = 2.0 * body.mesh.vertices
    return made


def state_of(world):
    """All that a refused call must leave as it was."""
    frame = world._frame()
    columns = [frame.poses, frame.poses_t0, frame.static, frame.group, frame.category, frame.mask, frame.bodies.ids, frame.ignored]
    vertices = [*frame.vertices, *frame.vertices_t0]
    numbers = (world.time, world.dt, world.units, world.workers, world._next_id, frame.bodies.names, repr(world.method))
    return numbers, [array.tobytes() for array in columns + vertices]


def write_files():
    """Files for those that read some."""
    save(BOX, FOLDER / "good.stl")
    made = world()
    made.save(FOLDER / "good.npz")
    recorder = Recorder(made)
    recorder.capture()
    recorder.motion().save(FOLDER / "motion.npz")


def setting(name):
    def act(world, value):
        setattr(world["soft"], name, value)

    return act


def constructed(made):
    """Make a method and let it answer: what is accepted must work."""

    def act(**settings):
        tried = world(made(**settings), soft=False)
        return tried.detect(rows="pairs")

    return act


def asking(world, **options):
    report = world.detect(**options)
    report.contacts.normal  # noqa: B018


QUERY = {
    "rows": "faces",
    "clearance": 0.25,
    "solid": False,
    "itself": True,
    "adjacent": False,
    "motion": False,
    "all_contacts": False,
    "separation": 0.0,
    "budget": None,
}
MOTION = {"rows": "any", "itself": True, "motion": True, "all_contacts": True, "separation": 0.125}
POINTS = np.zeros((2, 3))
TRIANGLES = np.arange(18.0).reshape(2, 3, 3)
EDGES = np.arange(12.0).reshape(2, 2, 3)


def calls():
    """All calls, by name: the function, whether it gets a world, and good values."""
    made = {
        "Mesh": (
            jostle.Mesh,
            None,
            {
                "vertices": BOX.vertices,
                "faces": BOX_FACES,
                "name": "m",
                "units": "mm",
                "source_face": np.arange(12),
                "analytic": None,
            },
        ),
        "Mesh.scaled": (BOX.scaled, None, {"factor": 2.0}),
        "Mesh.moved": (BOX.moved, None, {"pose": EYE}),
        "Mesh.with_vertices": (BOX.with_vertices, None, {"vertices": BOX.vertices}),
        "Query": (jostle.Query, None, QUERY | {"motion": False}),
        "Budget": (jostle.Budget, None, {"seconds": None, "operations": 10}),
        "World": (jostle.World, None, {"method": None, "units": "mm", "workers": 1}),
        "World.load": (jostle.World.load, None, {"path": FOLDER / "good.npz"}),
        "World.from_scene": (jostle.World.from_scene, None, {"path": FOLDER / "good.stl", "method": None}),
        "load": (jostle.load, None, {"path": FOLDER / "good.stl", "units": "mm", "name": "x"}),
        "save": (save, None, {"mesh": BOX, "path": FOLDER / "out.stl"}),
        "Motion.load": (Motion.load, None, {"path": FOLDER / "motion.npz"}),
        "Motion": (
            Motion,
            None,
            {
                "names": ("a",),
                "meshes": (BOX,),
                "poses": EYE[None, None],
                "vertices": {},
                "dt": 1.0,
                "static": (False,),
                "group": (None,),
                "title": "t",
                "category": (1,),
                "mask": (3,),
                "ignored": (),
            },
        ),
        "collide": (jostle.collide, None, {"a": BOX, "b": BOX, "pose_a": EYE, "pose_b": EYE, "method": "brute_force"} | QUERY),
        "distance": (jostle.distance, None, {"a": BOX, "b": BOX, "pose_a": EYE, "pose_b": EYE, "method": "brute_force"}),
        "self_collide": (
            jostle.self_collide,
            None,
            {"mesh": BOX, "adjacent": False, "method": "brute_force", "clearance": 0.1, "rows": "faces"},
        ),
        "first_contact": (
            jostle.first_contact,
            None,
            {
                "a": BOX,
                "b": tetrahedron(),
                "to_a": EYE,
                "to_b": None,
                "separation": 0.0,
                "pose_a": EYE,
                "pose_b": EYE,
                "method": "brute_force",
            },
        ),
        "Pair": (
            lambda a, b, method, pose_a, pose_b: jostle.Pair(a, b, method).touches(pose_a, pose_b),
            None,
            {"a": BOX, "b": BOX, "method": None, "pose_a": EYE, "pose_b": EYE},
        ),
        "Pair.touches": (
            lambda **given: jostle.Pair(BOX, BOX).touches(**given),
            None,
            {"pose_a": EYE, "pose_b": EYE, "clearance": 0.1},
        ),
        "Pair.distance": (lambda **given: jostle.Pair(BOX, BOX).distance(**given), None, {"pose_a": EYE, "pose_b": EYE}),
        "Pairwise": (
            lambda broad, narrow: world(Pairwise(broad, narrow), soft=False).detect(),
            None,
            {"broad": broad_phase.UniformGrid(), "narrow": AllFaces()},
        ),
        "add": (
            lambda world, **given: world.add(**given),
            "brute_force",
            {"mesh": BOX, "pose": EYE, "name": "new", "deformable": True, "static": False, "group": None, "category": 1, "mask": 1},
        ),
        "remove": (lambda world, body: world.remove(body), "brute_force", {"body": "a"}),
        "in": (lambda world, body: body in world, "brute_force", {"body": "a"}),
        "[]": (lambda world, body: world[body], "brute_force", {"body": "a"}),
        "ignore": (lambda world, **given: world.ignore(**given), "brute_force", {"a": "a", "b": "b", "ignored": True}),
        "set_poses": (
            lambda world, **given: world.set_poses(**given),
            "brute_force",
            {"poses": np.stack([EYE] * 2), "bodies": ["a", "b"]},
        ),
        "set all poses": (lambda world, poses: world.set_poses(poses), "brute_force", {"poses": np.stack([EYE] * 3)}),
        "safe_step": (
            lambda world, **given: world.safe_step(**given),
            "brute_force",
            {"separation": 0.1, "itself": False, "self_collision": False},
        ),
        "move_to": (lambda world, fraction: world.move_to(fraction), "brute_force", {"fraction": 0.5}),
        "detect_many": (
            lambda world, **given: world.detect_many(**given),
            "wide_tree",
            {"poses": np.stack([EYE] * 3)[None], "rows": "pairs", "workers": 1},
        ),
        "detect_many of some": (
            lambda world, **given: world.detect_many(**given),
            "wide_tree",
            {
                "poses": np.stack([EYE] * 2)[None],
                "bodies": ["a", "b"],
                "rows": "any",
                "clearance": 0.1,
                "solid": False,
                "distance": True,
            },
        ),
        "World.distance": (lambda world, **given: world.distance(**given), "brute_force", {"a": "a", "b": "b"}),
        "prepare": (
            lambda world, progress: world.prepare(None if callable(progress) else progress),
            "brute_force",
            {"progress": None},
        ),
        "save world": (lambda world, path: world.save(path), "brute_force", {"path": FOLDER / "out.npz"}),
        "translation": (jostle.translation, None, {"offset": (1, 2, 3)}),
        "rotation": (jostle.rotation, None, {"axis": (0, 0, 1), "angle": 1.0, "through": (0, 0, 0)}),
        "query": (lambda world, query: world.detect(query), "brute_force", {"query": None}),
        "detect": (
            lambda world, query, **given: world.detect(query, **given),
            "brute_force",
            {
                "query": None,
                "rows": "faces",
                "clearance": 0.1,
                "solid": False,
                "self_collision": True,
                "adjacent": False,
                "budget": None,
            },
        ),
        "teleport": (
            lambda world, **given: world["soft"].teleport(**given),
            "brute_force",
            {"pose": EYE, "vertices": tetrahedron().vertices},
        ),
        "faces_of": (world().detect().faces_of, None, {"body": "a", "near": True}),
        "between": (world().detect().between, None, {"a": "a", "b": "b"}),
        "Recorder": (lambda world: Recorder(world).capture(), None, {"world": world()}),
        "apply": (
            Motion(("a",), (BOX,), EYE[None, None]).apply,
            None,
            {"world": Motion(("a",), (BOX,), EYE[None, None]).world(), "frame": 0},
        ),
        "first": (lambda frames: Motion(("a",), (BOX,), EYE[None, None]).first(frames), None, {"frames": 1}),
        "Motion.world": (
            lambda **given: Motion(("a",), (BOX,), EYE[None, None]).world(**given),
            None,
            {"method": None, "workers": 1},
        ),
        "point_triangle": (
            continuous.point_triangle,
            None,
            {
                "p_t0": POINTS,
                "tri_t0": TRIANGLES,
                "p_t1": POINTS + 1,
                "tri_t1": TRIANGLES,
                "roots": "certified",
                "tolerance": 1e-6,
                "separation": 0.0,
            },
        ),
        "edge_edge": (
            continuous.edge_edge,
            None,
            {
                "a_t0": EDGES,
                "b_t0": EDGES + 1,
                "a_t1": EDGES,
                "b_t1": EDGES,
                "roots": "certified",
                "tolerance": 1e-6,
                "separation": 0.0,
            },
        ),
        "force": (
            haptics.force,
            None,
            {
                "report": world("voxmap", soft=False).detect(),
                "body": "a",
                "stiffness": 1.0,
                "area": None,
                "damping": 0.0,
                "velocity": None,
                "spin": None,
                "about": (0, 0, 0),
                "limit": None,
            },
        ),
        "Coupling": (
            lambda device, body, wrench, **given: haptics.Coupling(**given).step(device, body, wrench),
            None,
            {
                "device": EYE,
                "body": EYE,
                "wrench": haptics.Wrench(np.zeros(3), np.zeros(3), 0, 0.0),
                "stiffness": 1.0,
                "turning": 1.0,
                "reach": 1.0,
                "reach_angle": 0.1,
            },
        ),
        "Simulation": (
            lambda world, **given: sim.Simulation(world, **given).step(),
            "brute_force, rigid",
            {
                "velocity": None,
                "spin": None,
                "mass": None,
                "density": None,
                "cube": 100.0,
                "gravity": (0, 0, -1.0),
                "integrator": "semi_implicit",
                "response": "impulse",
                "restitution": 0.5,
                "friction": 0.1,
                "dt": 0.01,
                "kinematic": ("a",),
            },
        ),
        "SoftSimulation": (
            lambda world, soft, **given: sim.SoftSimulation(world, soft, **given),
            "wide_tree, at rest",
            {
                "soft": {"soft": sim.SoftMaterial(cells=2)},
                "velocity": None,
                "spin": None,
                "mass": None,
                "density": None,
                "gravity": (0, 0, 0),
                "friction": 0.0,
                "drag": 0.0,
                "sticky": 0.0,
                "clearance": None,
                "dt": 0.01,
                "substeps": 2,
                "kinematic": (),
                "old_after": 0.5,
                "still": None,
                "tolerance": None,
                "merge_after": 0.5,
                "budget": None,
            },
        ),
        "SoftMaterial": (
            sim.SoftMaterial,
            None,
            {"young": 1e4, "poisson": 0.3, "density": 1.0, "damping": 0.0, "cells": 2, "finer": 0},
        ),
        "make_scene": (lambda name, seed: make_scene(name, seed=seed), None, {"name": next(iter(SCENES)), "seed": 1}),
        "read_path": (fitting.read_path, None, {"file": FOLDER / "nothing.csv"}),
        "RecordedPath": (fitting.RecordedPath, None, {"poses": np.stack([EYE] * 2), "times": [0.0, 1.0]}),
    }
    for kind in (Sphere, Cylinder, Cone, Torus):
        names = [name for name in kind.__dataclass_fields__ if name != "segments"]
        good = {"ring": 1.0, "tube": 0.25}
        made[kind.__name__] = (
            lambda kind=kind, **given: jostle.Mesh(analytic=kind(**given)),
            None,
            {name: good.get(name, 1.0) for name in names} | {"segments": 8},
        )
    for name in ("time", "dt", "workers"):
        made[f"World.{name}"] = (
            lambda world, value, name=name: setattr(world, name, value) or world.detect(),
            "wide_tree",
            {"value": 2},
        )
    for name in ("pose", "vertices", "static", "group", "category", "mask"):
        good = {"pose": EYE, "vertices": tetrahedron().vertices, "static": True}.get(name, 3)
        made[f"Body.{name}"] = (setting(name), "brute_force", {"value": good})
    for name, kind in METHODS.items():
        fields = kind.__dataclass_fields__
        made[kind.__name__] = (constructed(kind), None, {field: fields[field].default for field in fields})
        made[f"overlay of {name}"] = (lambda world, what: world.overlay(what), f"{name}, rigid", {"what": ""})
    for name, kind in broad_phase.BROAD_PHASES.items():
        fields = kind.__dataclass_fields__
        made[f"broad phase {name}"] = (
            lambda kind=kind, **given: world(jostle.Voxmap(broad=kind(**given)), soft=False).detect(),
            None,
            {field: fields[field].default for field in fields},
        )
    for name in ("wide_tree", "brute_force", "bounding_tree"):
        made[f"detect by {name}"] = (asking, name, QUERY if name != "bounding_tree" else QUERY | {"clearance": 0.0})
    for name in ("brute_force", "bounding_tree"):
        made[f"motion by {name}"] = (asking, name, MOTION)
    return made


def tried(call, changed):
    """Make a call with some parameters changed; return whether it was answered.

    Anything but a `JostleError` is raised.
    """
    function, method, good = call
    given = good | changed
    if method is None:
        return _answered(function, given)
    name, _, kind = method.partition(", ")
    held = world(name, soft=kind != "rigid", moving=kind != "at rest")
    before = state_of(held)
    answered = _answered(lambda **values: function(held, **values), given)
    if not answered and state_of(held) != before:
        raise AssertionError("a refused call has changed the world")
    held.in_collision()
    return answered


def _answered(function, given):
    try:
        with contextlib.chdir(HERE):  # any text is the path of a file to write
            function(**given)
    except jostle.JostleError:
        return False
    return True
