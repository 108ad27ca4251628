"""The examples and the Python of the README run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jostle.shapes.build import box, icosphere
from jostle.shapes.save import save

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, tmp_path):
    result = subprocess.run([sys.executable, "-W", "error", path], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_the_python_of_the_readme_runs_and_prints_what_it_says(tmp_path):
    blocks = re.findall(r"```(python|text)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert [language for language, _ in blocks] == ["python", "text"]
    save(icosphere(3), tmp_path / "ball.stl")
    save(box((4, 4, 2), (0, 0, -1)), tmp_path / "wall.obj")
    (_, code), (_, expected) = blocks
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == expected


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert len(targets) > 30
    assert [target for target in targets if not (ROOT / target).exists()] == []
