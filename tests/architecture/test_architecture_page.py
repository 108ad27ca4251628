"""docs/architecture.md and its figure show what is there."""

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[2]
made = runpy.run_path(str(ROOT / "docs" / "make_architecture.py"))
MOST_MODULES, MOST_LAYERS = 12, 14


def test_every_part_of_the_root_is_in_one_layer():
    listed = [part.name for layer in made["layers"]() for part in layer]
    assert sorted(listed) == sorted(made["parts_in_tree"]())


def test_the_root_is_small_and_the_layers_are_few():
    assert len(list((ROOT / "src" / "jostle").glob("*.py"))) <= MOST_MODULES
    assert len(made["layers"]()) <= MOST_LAYERS


def test_the_page_and_the_figure_are_of_now():
    assert made["PAGE"].read_text("utf-8") == made["page"](), "make architecture"
    assert made["FIGURE"].read_text("utf-8") == made["figure"](), "make architecture"


def test_every_part_says_what_it_holds_in_one_line():
    for layer in made["layers"]():
        for part in layer:
            assert 15 < len(part.sentence) <= 112, part
            assert part.sentence.endswith((".", '".')), part


def test_files_that_the_page_names_are_there():
    text = made["PAGE"].read_text("utf-8")
    names = [name for name in re.findall(r"`([a-z_/]+\.py)`", text) if not name.startswith("docs/")]
    assert len(names) > 20
    for name in names:
        assert (ROOT / "src" / "jostle" / name).is_file() or list((ROOT / "src" / "jostle").rglob(name)), name
