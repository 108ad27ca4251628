"""Methods by name, with settings as text, and from outside."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

import jostle
from jostle.interface.query import Query
from jostle.methods.brute_force.method import BruteForce
from jostle.registry import METHODS, QUERY_OPTIONS, method_of, method_without_options, name_of, register
from jostle.shapes import build

pytestmark = pytest.mark.small


@dataclass(frozen=True)
class Mine(BruteForce):
    """A method from outside: brute force under another name, with a setting."""

    level: int = 1


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(METHODS, "_places", dict(METHODS._places))
    monkeypatch.setattr(METHODS, "_classes", dict(METHODS._classes))
    register("mine", Mine)


def test_worlds_take_settings_as_text():
    assert jostle.World("voxmap(accuracy=0.25)").method == jostle.Voxmap(accuracy=0.25)
    assert jostle.World("separating_plane(concave=hull, broad=priority_queue(speed=2))").method.broad == "priority_queue(speed=2)"
    with pytest.raises(jostle.InputError, match=r"method wide_tree has no setting 'accuracy'; it has build"):
        jostle.World("wide_tree(accuracy=1)")


def test_a_registered_method_has_a_name(registered):
    assert jostle.World("mine").method == Mine()
    assert jostle.World("mine(level=3)").method == Mine(3)
    assert name_of(Mine()) == "mine"
    assert jostle.collide(build.icosahedron(), build.icosahedron(), method="mine")
    register("mine", Mine)  # again: a module that is reloaded
    assert list(METHODS)[-1] == "mine"


def test_a_method_is_named_by_its_module_and_class():
    place = "jostle.methods.brute_force.method:BruteForce"
    assert method_of(place) == BruteForce()
    assert isinstance(method_of("jostle.methods.wide_tree.method:WideTree(build=sah)"), jostle.WideTree)


@pytest.mark.parametrize(
    ("name", "method", "match"),
    [
        ("not a name", Mine, "must be an identifier"),
        (3, Mine, "must be an identifier"),
        ("wide_tree", Mine, "a method 'wide_tree' exists already"),
        ("other", Mine(), "must be a class with the members of jostle.Method"),
        ("other", dict, "must be a class with the members of jostle.Method: traits"),
    ],
)
def test_register_refuses(name, method, match):
    with pytest.raises(jostle.InputError, match=match):
        register(name, method)
    assert "other" not in METHODS


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("no_such_package.mine:Mine", "cannot be imported: ModuleNotFoundError"),
        ("jostle.methods.wide_tree.method:Nothing", "cannot be imported: AttributeError"),
        ("collections:OrderedDict", "must be a class with the members of jostle.Method"),
        ("wide", "there is no method 'wide'; the methods are bounding_tree"),
        ("a:b:c", "is not readable"),
    ],
)
def test_what_cannot_be_found_is_named(text, match):
    with pytest.raises(jostle.InputError, match=match):
        jostle.World(text)


def test_names_import_no_method():
    # jostle/__init__.py is left out: it may import what it likes.
    code = """if True:
        import sys, types
        sys.modules["jostle"] = package = types.ModuleType("jostle")
        package.__path__ = [sys.argv[1]]
        from jostle.registry import METHODS
        list(METHODS)
        print([name for name in sys.modules if name.startswith("jostle.methods.")])
    """
    result = subprocess.run([sys.executable, "-c", code, jostle.__path__[0]], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_method_alone_takes_settings_and_refuses_the_options_of_a_question():
    assert method_without_options("voxmap(accuracy=0.5)", "--method", "x") == jostle.Voxmap(accuracy=0.5)
    assert (
        method_without_options("bounding_tree(motion=False, separation=0.0, workers=1)", "--method", "x") == jostle.BoundingTree()
    )
    assert method_without_options(None, "--method", "x") is None
    assert method_without_options(" ", "--method", "x") is None
    text = "bounding_tree(motion=True, workers=2)"
    with pytest.raises(jostle.InputError) as refused:
        method_without_options(text, "--method", "the scenarios say what is asked")
    assert str(refused.value) == f"--method {text}: the scenarios say what is asked; leave out motion, workers"


def test_the_options_of_a_question_have_the_defaults_of_a_query():
    assert {name: default for name, default in QUERY_OPTIONS.items() if name != "workers"} == {
        "motion": Query().motion,
        "separation": Query().separation,
    }
