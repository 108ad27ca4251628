"""Any value passed to a public function is answered or refused, without effects.

`JOSTLE_CALLS=100000 python -m pytest tests/test_strange_calls.py` makes more calls.
"""

import fractions
import functools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jostle
from jostle.shapes.build import icosphere
from tests import strange_calls
from tests.tiny import box, tetrahedron, translation

CALLS = int(os.environ.get("JOSTLE_CALLS", "800"))
VALUES = len(strange_calls.strange_values())
numbers = st.floats() | st.integers() | st.fractions() | st.decimals() | st.complex_numbers() | st.booleans() | st.none()
made = st.recursive(
    numbers | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=16,
)


@functools.cache
def all_calls():
    strange_calls.write_files()
    return strange_calls.calls()


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=CALLS, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_call_is_answered_or_refused(data):
    calls = all_calls()
    call = calls[data.draw(st.sampled_from(sorted(calls)), "call")]
    if not call[2]:
        return
    names = data.draw(st.lists(st.sampled_from(sorted(call[2])), min_size=1, max_size=2, unique=True), "parameters")
    fresh, changed = strange_calls.strange_values(), {}
    for name in names:
        number = data.draw(st.integers(0, VALUES + VALUES // 4), f"value of {name}")
        changed[name] = fresh[number] if number < VALUES else data.draw(made, name)
    strange_calls.tried(call, changed)


def test_good_values_are_answered():
    strange_calls.write_files()  # other calls may have written to them
    refused = {name for name, call in all_calls().items() if not strange_calls.tried(call, {})}
    assert refused == {"read_path", "broad phase priority_queue"}  # no such file, and no bound is given


@pytest.mark.parametrize("size", [1.0, 1e-10, 1e-28, 1e25])
@pytest.mark.parametrize("clearance", [1e-323, 1e-40, 1e25, 2e29, 9.9e29, 1e30])
@pytest.mark.parametrize("apart", [0.0, 3.0, 1e29])
def test_every_clearance_that_is_accepted_works(size, clearance, apart):
    mesh, reports = icosphere(0).scaled(size), []
    for method in ("wide_tree", "brute_force"):
        world = jostle.World(method)
        world.add(mesh)
        world.add(mesh, translation((apart, 0.1, 0.2)))
        reports.append(world.detect(clearance=clearance).to_array())
    assert reports[0].tobytes() == reports[1].tobytes()
    if clearance > apart and clearance > 1e26:
        assert len(reports[0]) == len(mesh.faces) ** 2


def test_a_clearance_of_1e30_finds_all_pairs_of_one_body_too():
    first, second = (
        jostle.self_collide(tetrahedron(size), method=method, clearance=1e30).to_array()
        for size, method in ((0.0, "wide_tree"), (0.0, "brute_force"))
    )
    assert first.tobytes() == second.tobytes()
    plates = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2], [3, 4, 5]])
    assert len(jostle.self_collide(plates, clearance=1e30).contacts) == 1


@pytest.mark.small
@pytest.mark.parametrize("tiny", [-3.9e-32, 9.99e-31, 5e-324])
def test_coordinates_below_the_range_are_zero(tiny, tmp_path):
    vertices = np.array([[tiny, 0.0, -tiny], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    expected = np.where(np.abs(vertices) < 1e-30, 0.0, vertices)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    (tmp_path / "pole.obj").write_text("\n".join([*lines, "f 1 2 3", ""]))
    for mesh in (jostle.Mesh(vertices, [[0, 1, 2]]), jostle.load(tmp_path / "pole.obj")):
        assert mesh.vertices.tobytes() == expected.tobytes()
    body = jostle.World("brute_force").add(box(), deformable=True)
    for given_as in (np.asarray, np.ndarray.tolist):
        body.vertices = given_as(np.vstack([vertices, np.ones((5, 3))]))
        assert body.vertices[:3].tobytes() == expected.tobytes()
    world = jostle.World("brute_force")
    with pytest.raises(jostle.InputError, match="rescale"):
        world.add((np.where(vertices == 1.0, 1.1e30, vertices), [[0, 1, 2]]))


@pytest.mark.small
@pytest.mark.parametrize(
    "number",
    [10**400, -(10**400), 10**5000, "1", True, 1j, np.array([0.5]), bytearray(b"1"), None, float("nan")],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_is_refused(number):
    world = strange_calls.world()
    for action in (
        lambda: world.detect(clearance=number),
        lambda: world.safe_step(number),
        lambda: world.move_to(number),
        lambda: jostle.Budget(seconds=number if number is not None else "no"),
        lambda: box().scaled(number),
        lambda: jostle.continuous.point_triangle(
            [[0, 0, 0]], np.zeros((1, 3, 3)), [[0, 0, 0]], np.zeros((1, 3, 3)), tolerance=number
        ),
    ):
        with pytest.raises(jostle.InputError):
            action()


@pytest.mark.small
def test_numbers_of_any_type_are_numbers():
    for number in (fractions.Fraction(1, 4), np.float16(0.25), np.float32(0.25), np.longdouble(0.25), np.array(0.25)):
        assert jostle.Query(clearance=number).clearance == 0.25
    for number in (1, np.int8(1), np.uint64(1)):
        assert jostle.Query(clearance=number).clearance == 1.0
        assert strange_calls.world()[number].name == "b"


@pytest.mark.small
def test_what_is_no_name_is_refused_and_is_in_no_world(tmp_path):
    world = strange_calls.world()
    for name in ([], {}, 5, b"a", ["a"], 1.5, np.zeros(2), strange_calls.Raises()):
        assert (name in world) is False
        with pytest.raises(jostle.InputError, match=r"name is .*; pass a str"):
            world.add(box(), name=name)
        with pytest.raises(jostle.InputError, match=r"what is .*; pass a str"):
            world.overlay(name)
        with pytest.raises(jostle.InputError):
            world[name]
    for number in (-1, 3, 2**31, 2**64, 10**5000, True, np.True_):
        assert (number in world) is False
        with pytest.raises(jostle.InputError):
            world[number]
    assert 1 in world
    assert np.int64(1) in world
    assert "a" in world
    with pytest.raises(jostle.InputError, match="overlay"):
        jostle.World().overlay("nothing of the kind")


@pytest.mark.small
@pytest.mark.parametrize(
    "path", [5, None, [], b"x.stl", "a\0b", "\ud800", strange_calls.Raises()], ids=lambda value: type(value).__name__
)
def test_what_is_no_path_is_refused(path):
    for action in (jostle.load, jostle.World.load, jostle.World.from_scene, strange_calls.world().save, strange_calls.Motion.load):
        with pytest.raises(jostle.InputError, match="pass the path of a file"):
            action(path)
