"""The pairs of Guy and Debunne: face counts, regions, closed paths, bounded waves."""

from itertools import pairwise

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.lab.regions import regions_of
from jostle.lab.truth import Truth
from jostle.scenes.shell_pairs import LOOP, PERIOD, VISITS, waves_over
from jostle.shapes import build

SMALL = {"sphere_and_torus": {}, "horseshoe_and_clover": {}, "dragon_and_bunny": {"faces": 3_000, "faces_b": 4_200}}
FACES = {"sphere_and_torus": [2_300, 980], "horseshoe_and_clover": [10_000, 2_000]}


@pytest.fixture(scope="module")
def recorded():
    return {name: scenes.make_scene(name, **settings).record() for name, settings in SMALL.items()}


@pytest.mark.parametrize("name", FACES)
def test_bodies_have_the_faces_of_the_paper(recorded, name):
    assert [len(mesh.faces) for mesh in recorded[name].meshes] == FACES[name]
    assert all(mesh.is_closed for mesh in recorded[name].meshes)


@pytest.mark.parametrize("name", SMALL)
def test_bodies_meet_in_several_regions_slide_and_part(recorded, name):
    motion = recorded[name]
    truth = Truth(motion)
    rows = [truth.rows(frame) for frame in range(len(motion))]
    touching = np.array([len(each) > 0 for each in rows])
    begins = np.flatnonzero(touching[1:] & ~touching[:-1])
    assert not touching[0]
    assert not touching[-1]
    assert len(begins) >= VISITS
    assert 0.4 < touching.mean() < 0.9
    counts = [regions_of(each, motion.meshes).count for each in rows]
    assert max(counts) >= 4
    assert sum(count >= 2 for count in counts) > 0.2 * touching.sum()
    # It slides: a good part of what touches is new in each frame, and contacts are shallow.
    now = [{tuple(row) for row in each.tolist()} for each in rows]
    fresh = [len(later - earlier) / len(later) for earlier, later in pairwise(now) if earlier and later]
    assert np.mean(fresh) > 0.2
    assert max(map(len, rows)) < 0.2 * sum(len(mesh.faces) for mesh in motion.meshes)


@pytest.mark.parametrize("name", SMALL)
def test_the_way_is_closed_and_not_too_fast(recorded, name):
    places = recorded[name].poses[:, 1, :3, 3]
    steps = np.linalg.norm(np.diff(np.vstack([places, places[:1]]), axis=0), axis=1)
    assert steps.max() < 0.06
    longer = scenes.make_scene(name, frames=LOOP + 5, **SMALL[name]).record()
    assert np.array_equal(longer.poses[LOOP:], longer.poses[:5])
    assert longer.poses[:LOOP].tobytes() == recorded[name].poses.tobytes()
    assert len({pose.tobytes() for pose in recorded[name].poses}) == LOOP  # no pose comes twice


@pytest.mark.small
@pytest.mark.parametrize("strain", [0.02, 0.1])
def test_no_edge_changes_by_more_than_is_said(strain):
    mesh = build.torus(0.7, 0.3, 16, 8)
    shapes = waves_over(mesh, strain, np.random.default_rng(3))
    assert shapes.shape == (PERIOD, len(mesh.vertices), 3)
    a, b = mesh.edges.T
    rest = mesh.vertices[b] - mesh.vertices[a]
    changes = [np.linalg.norm(shape[b] - shape[a] - rest, axis=1) / np.linalg.norm(rest, axis=1) for shape in shapes]
    assert 0.2 * strain < np.max(changes) <= strain
    assert np.abs(np.diff(np.concatenate([shapes, shapes[:1]]), axis=0)).max() < 0.02


def test_deforming_pairs_have_other_vertices_in_each_frame_and_the_same_ways():
    rigid = scenes.make_scene("sphere_and_torus", frames=3).record()
    soft = scenes.make_scene("sphere_and_torus", frames=3, deform=0.05).record()
    assert set(soft.vertices) == {0, 1}
    assert not rigid.vertices
    assert np.array_equal(soft.poses, rigid.poses)
    assert len({shape.tobytes() for shape in soft.vertices[1]}) == 3


def test_the_second_body_may_come_from_a_file(tmp_path):
    file = tmp_path / "cone.off"
    points = "\n".join(" ".join(map(str, point)) for point in [(100, 0, 0), (104, 0, 0), (100, 4, 0), (100, 0, 4)])
    file.write_text(f"OFF\n4 4 0\n{points}\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n")
    motion = scenes.make_scene("dragon_and_bunny", faces=100, bunny=str(file), frames=2).record()
    assert len(motion.meshes[1].faces) == 4
    assert np.linalg.norm(motion.meshes[1].vertices, axis=1).max() == pytest.approx(1.0)
    with pytest.raises(InputError, match=r"scene 'dragon_and_bunny'.*bunny.*no such file"):
        scenes.make_scene("dragon_and_bunny", faces=100, bunny=str(tmp_path / "none.obj"), frames=2)
    with pytest.raises(InputError, match="deform"):
        scenes.make_scene("sphere_and_torus", deform=0.6, frames=2)
