"""The examples and the Python of the README run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import write_obj
from tests.tiny import box

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, tmp_path):
    result = subprocess.run([sys.executable, "-W", "error", path], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_the_python_of_the_readme_runs(tmp_path):
    import trimesh

    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    trimesh.creation.icosphere(subdivisions=1).export(tmp_path / "ball.stl")
    write_obj(tmp_path / "wall.obj", box((-2, -2, -2), (2, 2, 0)))
    outputs = []
    for block in blocks:
        result = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        outputs.append(result.stdout)
    assert "[('ball', 'wall')] [Kind.CROSSING]" in outputs[0]  # they cross
    assert outputs[1].startswith("0.4")  # of the way from 9 above the wall to 9 below it
    assert "face" in outputs[1]
    assert re.match(r"[1-9]\d* (True|False) \d+ [\d.]+$", outputs[2])  # how far it comes is the clock's business
