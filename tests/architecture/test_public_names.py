"""The public list of names, and what importing jostle pulls in."""

import subprocess
import sys

import pytest

import jostle


@pytest.mark.small
def test_every_public_name_is_there_and_nothing_else_is_public():
    for name in jostle.__all__:
        assert getattr(jostle, name) is not None
    assert sorted(jostle.__all__) == jostle.__all__
    from types import ModuleType

    hidden = {"annotations", "TYPE_CHECKING"}  # of the module's own imports
    visible = {name for name, value in vars(jostle).items() if not name.startswith("_") and not isinstance(value, ModuleType)}
    assert (visible - hidden) | {"load", "view", "continuous", "haptics"} == set(jostle.__all__)


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


@pytest.mark.small
def test_importing_jostle_pulls_in_no_file_formats_plots_viewer_or_command_line():
    code = "import sys, jostle; print(' '.join(sorted(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "jostle.world.world" in loaded
    unwanted = ("trimesh", "PIL", "matplotlib", "viser", "typer", "rich", "wgpu", "jostle.cli", "jostle.lab")
    assert [name for name in loaded if name.startswith(unwanted)] == []
