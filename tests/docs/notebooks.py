"""Run the notebooks: `python -m tests.docs.notebooks` saves them with new outputs, without what differs from run to run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
KEPT = ("image/png", "text/html", "text/plain")  # kinds of output


def executed(path: Path, folder: Path, seconds: int = 600) -> Any:
    """Return a notebook as it is after running from top to bottom in a folder; raise where a cell does."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=seconds, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def stripped(notebook: Any) -> Any:
    """Return the notebook without execution counts, times of cells and kinds of output that repeat others."""
    notebook["metadata"].pop("language_info", None)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)
        if cell["cell_type"] != "code":
            continue
        cell["execution_count"] = None
        cell["outputs"] = _joined(cell["outputs"])
        for output in cell["outputs"]:
            output.pop("execution_count", None)
            if output["output_type"] == "execute_result":
                output["execution_count"] = None
            if "data" in output:
                shown = {kind: value for kind, value in output["data"].items() if kind in KEPT}
                output["data"] = {"image/png": shown["image/png"]} if "image/png" in shown else shown
                output["metadata"] = {}
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Join what was printed in pieces: where they end differs from run to run."""
    found: list[Any] = []
    for output in outputs:
        if found and output["output_type"] == "stream" == found[-1]["output_type"] and output["name"] == found[-1]["name"]:
            found[-1]["text"] += output["text"]
        else:
            found.append(output)
    return found


def main() -> None:
    """Run all notebooks, or those named, and save them."""
    chosen = sys.argv[1:] or [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    for name in chosen:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(stripped(executed(path, FOLDER)), path)


if __name__ == "__main__":
    main()
