"""The method of docs/adding_a_method.md works everywhere."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle.registry import METHODS
from jostle.shapes import build
from jostle.shapes.save import save

PAGE = Path(__file__).parents[1] / "docs" / "adding_a_method.md"
NAME = "face_boxes:FaceBoxes"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module of the page, importable here and in processes that are started."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    assert len(code.splitlines()) < 90
    (tmp_path / "face_boxes.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep))
    monkeypatch.setattr(METHODS, "_places", dict(METHODS._places))
    monkeypatch.setattr(METHODS, "_classes", dict(METHODS._classes))
    monkeypatch.delitem(sys.modules, "face_boxes", raising=False)
    yield importlib.import_module("face_boxes")
    sys.modules.pop("face_boxes", None)


def jostle_command(*words, cwd):
    command = [sys.executable, "-c", "from jostle.cli import main; main()", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def fill(world):
    ball = build.icosphere(2)
    for place in ((0.0, 0.0, 0.0), (1.7, 0.2, 0.1), (0.3, 1.6, 0.4), (5.0, 0.0, 0.0)):
        world.add(ball, jostle.translation(place), deformable=True)
    return world


def rows(report):
    contacts = report.contacts
    return set(zip(*(getattr(contacts, name).tolist() for name in ("body_a", "body_b", "face_a", "face_b")), strict=True))


def test_it_misses_nothing_in_a_world(module):
    world, truth = fill(jostle.World(NAME)), fill(jostle.World("brute_force"))
    found, exact = rows(world.detect()), rows(truth.detect())
    assert exact < found
    world[1].vertices = truth[1].vertices = 1.1 * build.icosphere(2).vertices
    assert rows(truth.detect()) < rows(world.detect())
    world.remove(world[0])
    truth.remove(truth[0])
    assert rows(truth.detect()) < rows(world.detect())
    assert len(rows(fill(jostle.World(f"{NAME}(margin=0.2)")).detect())) > len(found)
    assert not jostle.World(NAME).detect()


def test_what_it_does_not_serve_is_refused(module):
    with pytest.raises(jostle.Unsupported, match="does not serve clearance"):
        fill(jostle.World(NAME)).detect(clearance=0.1)


def test_it_can_be_registered(module):
    jostle.register("face_boxes", module.FaceBoxes)
    assert jostle.World("face_boxes(margin=0.5)").method == module.FaceBoxes(0.5)
    assert jostle.collide(build.icosahedron(), build.icosahedron(), method="face_boxes", rows="pairs")


def test_check_takes_it(module, tmp_path):
    save(build.icosahedron(), tmp_path / "a.stl")
    done = jostle_command("check", "a.stl", "a.stl", "--json", "--method", f"{NAME}(margin=0.01)", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)


def test_the_laboratory_takes_it(module, tmp_path):
    done = jostle_command("lab", "run", "two_spheres", "--quick", "--json", "--methods", f"{NAME},wide_tree", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [run["method"] for run in result["points"][0]["runs"]] == [NAME, "wide_tree"]
    assert all(run["frame_seconds"] for run in result["points"][0]["runs"])


def test_the_viewer_shows_it(module):
    from jostle.viewer.session import Session
    from jostle.viewer.settings import NOTHING, Settings, overlay_names
    from jostle.viewer.subject import subject_of_world

    session = Session(subject_of_world(fill(jostle.World(NAME)), "balls"), Settings(method=NAME, overlay="boxes of faces"))
    assert overlay_names(session.world.method) == [NOTHING, "boxes of faces"]
    session.round()
    assert session.settings.method == NAME
    boxes = session.world.overlay("").boxes
    assert boxes.shape == (4 * 320, 2, 3)
    assert (boxes[:, 0] <= boxes[:, 1]).all()
    assert np.isfinite(boxes).all()
