"""The public list of names, and what importing jostle pulls in."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import jostle


@pytest.mark.small
def test_every_public_name_is_there_and_nothing_else_is_public():
    for name in jostle.__all__:
        assert getattr(jostle, name) is not None
    assert sorted(jostle.__all__) == jostle.__all__
    imported = {"annotations", "functools", "importlib", "TYPE_CHECKING"}
    assert {name for name in vars(jostle) if not name.startswith("_")} - imported <= {*jostle.__all__, *folders()}


def folders():
    """The packages and modules below jostle, which become its attributes when they are imported."""
    return {path.stem for path in Path(jostle.__file__).parent.iterdir()}


@pytest.mark.small
def test_dir_shows_the_public_names_and_nothing_else():
    assert dir(jostle) == jostle.__all__
    assert {"load", "view", "translation", "rotation"} <= set(dir(jostle))
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = jostle.lod


@pytest.mark.small
def test_public_classes_and_functions_are_documented():
    for name in jostle.__all__:
        assert (getattr(jostle, name).__doc__ or "").strip(), name


def loaded_by(code):
    """The modules that are loaded after a piece of code has run in a process of its own."""
    code += "\nimport sys\nprint(' '.join(['LOADED', *sorted(sys.modules)]))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return output.partition("LOADED ")[2].split()


NEVER = ("trimesh", "matplotlib", "viser", "wgpu", "PIL", "numba", "llvmlite", "jostle.lab", "jostle.viewer")
ON_USE = ("jostle.methods.", "jostle.scenes", "jostle.continuous", "jostle.render", "jostle.sim", "jostle.fitting")
HELP = """
from jostle.cli import main
import sys
sys.argv = ["jostle", "--help"]
try:
    main()
except SystemExit:
    pass
"""


@pytest.mark.small
@pytest.mark.parametrize(
    ("code", "there", "not_there"),
    [
        ("import jostle", "jostle", ("numpy", *NEVER, *ON_USE)),
        ("import jostle; jostle.World", "jostle.world.world", ("typer", "rich", "jostle.cli", *NEVER, *ON_USE)),
        ("import jostle; jostle.World()", "jostle.methods.wide_tree.method", ("jostle.methods.v", "jostle.methods.b", *NEVER)),
        ("import jostle; jostle.collide", "jostle.api", ("typer", "rich", "jostle.cli", *NEVER, *ON_USE)),
        (HELP, "jostle.cli", (*NEVER, *ON_USE)),
    ],
)
def test_what_is_not_asked_for_is_not_imported(code, there, not_there):
    loaded = loaded_by(code)
    assert there in loaded
    assert [name for name in loaded if name.startswith(not_there)] == []


@pytest.mark.small
def test_the_names_for_type_checkers_are_those_that_are_imported_on_use():
    tree = ast.parse(Path(jostle.__file__).read_text("utf-8"))
    stated = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jostle"):
            stated |= {each.name: f"jostle.{each.name}" if node.module == "jostle" else node.module for each in node.names}
    assert stated == jostle._HOMES
    assert sorted(stated) == jostle.__all__
