"""Names of files and bodies on a terminal: text, whatever they hold."""

import pytest
from typer.testing import CliRunner

import jostle
from jostle.cli.app import app
from jostle.cli.names import on_terminal, visible
from jostle.fitting import RecordedPath, write_path
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.shapes.save import save


@pytest.mark.parametrize("name", ["[/bold]", "[link=x]y[/link]", "a[red]", "\\[x]"])
def test_markup_is_text(name):
    from rich.text import Text

    assert Text.from_markup(on_terminal(name)).plain == name


def test_commands_to_a_terminal_are_not_passed_on():
    assert visible("a\x1b[31m\x9b1m\u202eb\nc", keep="\n") == "a\ufffd[31m\ufffd1m\ufffdb\nc"


def test_a_body_with_markup_for_a_name_moves_along_a_path(tmp_path):
    world = jostle.World("bounding_tree")
    world.add(build.box((1, 1, 1)), translation((0.0, 0.0, 0.0)), "[/bold]")
    world.add(build.box((1, 1, 1)), translation((2.0, 0.0, 0.0)), "[red]\x1b[31m")
    world.save(tmp_path / "parts.npz")
    write_path(RecordedPath([translation((x, 0.0, 0.0)) for x in (0.0, 1.0, 2.0)]), tmp_path / "way.csv")
    done = CliRunner().invoke(
        app, ["fit", str(tmp_path / "parts.npz"), "--move", "[/bold]", "--path", str(tmp_path / "way.csv"), "--separation", "0.01"]
    )
    assert done.exit_code == 1, (done.output, done.exception)
    assert "[/bold] along" in done.output
    assert "by [red]\ufffd[31m" in done.output


def test_files_with_markup_for_names_are_checked(tmp_path):
    box = save(build.box((1, 1, 1)), tmp_path / "[bold] [end].stl")
    done = CliRunner().invoke(app, ["check", str(box), str(box)])
    assert done.exit_code == 1, (done.output, done.exception)
    assert "[bold] [end].stl" in done.output
