"""Worlds, bodies, meshes and batches at a prompt and in a notebook."""

import base64
import re

import numpy as np
import pytest

import jostle
from jostle.world import notebook
from tests.report.test_report import Escaped
from tests.tiny import box

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture
def world():
    made = jostle.World("brute_force")
    for k in range(25):
        made.add(box(), jostle.translation((2.0 * k, 0.0, 0.0)), f"box {k}", static=k == 1, deformable=k == 2)
    return made


def test_reprs_are_one_short_line(world):
    assert repr(world) == "<World: 25 bodies, 300 faces, BruteForce()>"
    assert repr(world["box 3"]) == "<Body 3 'box 3': 12 faces>"
    assert repr(box()).endswith(": 8 vertices, 12 faces>")
    one = jostle.World("brute_force")
    one.add(([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), name="tri")
    assert repr(one) == "<World: 1 body, 1 face, BruteForce()>"
    batch = jostle.World()
    batch.add(box()), batch.add(box())
    poses = np.stack([np.stack([np.eye(4), jostle.translation((x, 0.25, 0.125))]) for x in (0.5, 3.0, 0.75)])
    found = batch.detect_many(poses, rows="pairs")
    assert repr(found) == "<Batch: 3 sets, 2 touching, 2 pairs, 0 rows>"
    shown = Escaped(found._repr_html_())
    assert shown.tags.count("tr") == 3
    assert shown.words[1:] == ["set", "pairs", "rows", "0", "1", "0", "2", "1", "0"]


def test_a_world_shows_a_picture_and_at_most_20_bodies(world):
    before = world.time, world.poses.copy()
    text = world._repr_html_()
    shown = Escaped(text)
    assert shown.tags.count("tr") == 1 + 20
    assert shown.words[-1] == "… and 5 more"
    assert {"box 0", "static", "deformable"} <= set(shown.words)
    png = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', text)[1])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert world.time == before[0]
    assert world._detector is None  # nothing was detected for it
    assert np.array_equal(world.poses, before[1])


def test_worlds_that_are_empty_or_too_large_show_a_table_alone(world, monkeypatch):
    assert "img" not in Escaped(jostle.World()._repr_html_()).tags
    monkeypatch.setattr(notebook, "MOST_FACES", 299)
    assert "img" not in Escaped(world._repr_html_()).tags


def test_without_pillow_there_is_the_table(world, monkeypatch):
    monkeypatch.setattr("jostle.render.png.find_spec", lambda name: None)
    assert Escaped(world._repr_html_()).tags.count("tr") == 1 + 20
    assert "img" not in Escaped(world._repr_html_()).tags


def test_bodies_and_meshes_have_tables(world):
    shown = Escaped(world["box 2"]._repr_html_())
    assert {"box 2", "deformable", "4 0 0"} <= set(shown.words)
    body = world["box 3"]
    world.remove(body)
    assert Escaped(body._repr_html_()).words == ["<Body 3: removed>"]
    mesh = jostle.Mesh(box().vertices, box().faces, name="part", units="mm")
    assert {"mm", repr(mesh)} <= set(Escaped(mesh._repr_html_()).words)


def test_names_are_escaped_everywhere():
    world = jostle.World("brute_force")
    body = world.add(jostle.Mesh(box().vertices, box().faces, name=HOSTILE), name=HOSTILE)
    for thing in (world, body, body.mesh):
        shown = Escaped(thing._repr_html_())
        assert "script" not in shown.tags
        assert shown.tags.count("img") == (1 if thing is world else 0)
