"""The notebooks run from top to bottom, and are saved with small outputs that do not differ from run to run."""

import importlib.util
import os

import pytest

for needed in ("nbclient", "ipykernel"):
    if importlib.util.find_spec(needed) is None and os.environ.get("JOSTLE_REQUIRE_DOCS") != "1":
        pytest.skip(f"{needed} is not installed; pip install 'jostle[docs]'", allow_module_level=True)

import nbformat  # noqa: E402

from tests.docs.notebooks import FOLDER, executed, stripped  # noqa: E402

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 400_000
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client")


def printed(notebook):
    """Return what each cell prints and shows as text; pictures of plots depend on versions, and show times."""
    texts = []
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", [])
        texts.append("".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs))
    return texts


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JOSTLE_QUIET", "1")
    run = executed(path, tmp_path)
    assert printed(stripped(run)) == printed(nbformat.read(path, as_version=4))
    assert not any(output.get("name") == "stderr" for cell in run["cells"] for output in cell.get("outputs", []))
    assert any("image/png" in output.get("data", {}) for cell in run["cells"] for output in cell.get("outputs", []))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_saved_notebook_is_small_and_stripped(path):
    saved = nbformat.read(path, as_version=4)
    nbformat.validate(saved)
    assert path.stat().st_size < MOST_BYTES
    assert stripped(nbformat.read(path, as_version=4)) == saved
    code = [cell for cell in saved["cells"] if cell["cell_type"] == "code"]
    assert any(cell["outputs"] for cell in code)
    assert all(cell["execution_count"] is None for cell in code)


def test_both_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["choose_a_method", "first_steps"]
