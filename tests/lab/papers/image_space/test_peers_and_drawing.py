"""Other libraries as methods, and drawing as one: what they find and draw, against the exact engine and the other rasteriser."""

import importlib

import numpy as np
import pytest

from jostle import InputError, Unsupported, World, scenes
from jostle.geometry.pose import translation
from jostle.geometry.rigid import transform_points
from jostle.lab.papers.image_space.drawing import Drawing, DrawingDetector
from jostle.lab.papers.image_space.peers import KINDS, LIBRARIES, Peer
from jostle.lab.truth import BODY_PAIRS, question_for
from jostle.render import rasterise
from jostle.shapes import build


def pairs_of(motion, method, frames):
    world = motion.world(method)
    found = []
    for frame in frames:
        motion.apply(world, frame)
        found.append(set(world.detect(rows="pairs").pairs))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_other_libraries_find_the_pairs_that_there_are(library, kind):
    pytest.importorskip(library)
    motion = scenes.make_scene("truncated_cones", count=40, faces=36).record()
    frames = range(0, 100, 20)
    true, found = pairs_of(motion, None, frames), pairs_of(motion, Peer(library, kind), frames)
    assert sum(map(len, true)) > 20
    assert found == true


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_libraries_know_groups_and_bodies_that_come_and_go(library):
    pytest.importorskip(library)
    world = World(Peer(library))
    box = build.box()
    for k in range(3):
        world.add(box, None, f"box {k}", group=0 if k < 2 else None)
    assert set(world.detect(rows="pairs").pairs) == {(0, 2), (1, 2)}
    world.remove("box 0")
    world.add(build.icosphere(1), translation((0.9, 0.0, 0.0)), "ball")
    assert set(world.detect(rows="pairs").pairs) == {(1, 2), (1, 3), (2, 3)}


@pytest.mark.small
def test_a_library_that_is_not_there_and_settings_that_are_none_are_refused(monkeypatch):
    def missing(name):
        raise ImportError(f"no {name}")

    with pytest.raises(InputError, match="library"):
        Peer("rapid")
    with pytest.raises(InputError, match="kind"):
        Peer("fcl", "spheres")
    world = World(Peer("coal"))
    world.add(build.box())
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(Unsupported, match=r"coal is not installed \(no coal\)"):
        world.detect(rows="pairs")


@pytest.mark.small
def test_convex_bodies_are_wanted_where_a_library_goes_by_gjk():
    world = World(Peer("fcl", "convex"))
    with pytest.raises(Unsupported, match="convex"):
        world.add(build.stellated_dodecahedron())


def test_what_is_drawn_is_what_the_other_rasteriser_draws():
    motion = scenes.make_scene("truncated_cones", count=30, faces=144).record(3)
    method = Drawing(128)
    world = motion.world(method)
    motion.apply(world, 2)
    report = world.detect(rows="pairs")
    assert len(report.pairs) == 0
    assert report.counters.pixels == 128**2
    detector = world._detector
    assert isinstance(detector, DrawingDetector)
    points, faces = [], []
    for mesh, pose in zip(motion.meshes, motion.poses[2], strict=True):
        faces.append(mesh.faces + sum(map(len, points)))
        points.append(transform_points(pose, mesh.vertices))
    for keep, drawn in (("nearest", detector.near), ("farthest", detector.far)):
        other = rasterise(detector._camera, np.concatenate(points), np.concatenate(faces), keep=keep).depth
        both = np.isfinite(other) & np.isfinite(drawn)
        assert both.sum() > 3_000
        assert (np.isfinite(other) ^ np.isfinite(drawn)).sum() < 30  # corners there are snapped to 1/256 of a pixel
        away = np.abs(other[both] - drawn[both])
        assert np.quantile(away, 0.98) < 0.02
    # A second frame begins with an empty picture.
    motion.apply(world, 0)
    first = detector.near.copy()
    world.detect(rows="pairs")
    assert (detector.near != first).any()
    empty = World(method)
    assert len(empty.detect(rows="pairs").pairs) == 0


@pytest.mark.small
def test_drawing_is_compared_with_nothing_and_pairs_with_pairs():
    assert question_for(Drawing(), {"rows": "pairs"}).compared == ""
    trees, convex = (question_for(Peer("fcl", kind), {"rows": "pairs"}) for kind in KINDS)
    assert (trees.compared, trees.solid, convex.compared, convex.solid) == (BODY_PAIRS, False, BODY_PAIRS, True)
    with pytest.raises(InputError, match="size"):
        Drawing(0)
