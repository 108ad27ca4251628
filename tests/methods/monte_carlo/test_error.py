"""MonteCarlo with a tolerated error: nothing that touches is missed, nothing farther apart than the error is told.

The truth of what touches is that of `wide_tree`, distances of faces are those of the exact engine's own kernel, over all pairs.
"""

import itertools

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.reported_distance import reported_distance
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.interface.traits import Answer
from jostle.shapes import build
from tests.methods.monte_carlo.test_truth import bent, passing
from tests.values import triangles

BLOBS = (build.blob(2000, seed=1, roughness=0.4), build.blob(2000, seed=2, roughness=0.4))


def world_of(method, deformable=False):
    world = jostle.World(method)
    for mesh in BLOBS:
        world.add(mesh, deformable=deformable)
    return world


def corners(body, faces):
    return body.world_vertices[body.mesh.faces[faces]].reshape(-1, 9)


def distance(one, other):
    """Of two triangles of nine numbers each."""
    pair = triangles([one, other])
    return 0.0 if triangles_touch(*pair) else reported_distance(*pair)


def across(one, other):
    """The largest distance of a corner of one triangle from one of the other."""
    return np.linalg.norm(one.reshape(3, 1, 3) - other.reshape(1, 3, 3), axis=2).max()


@pytest.mark.parametrize("deformable", [False, True])
@pytest.mark.parametrize("error", [0.15, 0.5])
def test_all_that_touches_has_a_row_within_the_error_and_every_row_is_within_it(error, deformable):
    tested, true = world_of(jostle.MonteCarlo(error=error), deformable), world_of("wide_tree", deformable)
    for frame in (20, 30, 40):
        for world in (tested, true):
            world[1].pose = passing(frame)
            if deformable:
                for body in world:
                    body.vertices = bent(body.mesh.vertices, 0.1)
        report, expected = tested.detect(), true.detect()
        assert report.complete
        assert report.reached.error == error
        assert report.reached.broken == 0
        rows, truth = report.contacts, expected.contacts
        found_a, found_b = corners(tested[0], rows.face_a), corners(tested[1], rows.face_b)
        measured = [distance(one, other) for one, other in zip(found_a, found_b, strict=True)]
        assert np.array_equal(rows.distance, measured)
        assert (rows.distance < error).all()
        assert (rows.kind > jostle.Kind.NEAR).all()
        assert ((rows.kind == jostle.Kind.CROSSING) <= (rows.distance == 0.0)).all()
        told = set(zip(rows.face_a.tolist(), rows.face_b.tolist(), strict=True))
        for face_a, face_b in zip(truth.face_a.tolist(), truth.face_b.tolist(), strict=True):
            one, other = corners(true[0], [face_a])[0], corners(true[1], [face_b])[0]
            at_a = np.array([across(one, face) for face in found_a])
            at_b = np.array([across(other, face) for face in found_b])
            assert (face_a, face_b) in told or (np.maximum(at_a, at_b) <= error).any()
        gap = rows.segment[:, 1] - rows.segment[:, 0]
        apart = rows.distance > 0.0
        assert np.allclose(np.linalg.norm(gap[apart], axis=1), rows.distance[apart])


def test_what_is_farther_apart_than_the_error_is_never_told():
    for gap in (0.11, 0.3):
        tested = jostle.World(jostle.MonteCarlo(error=0.1))
        for place in (0.0, 2.0 + gap):
            tested.add(build.icosphere(3), translation((place, 0.0, 0.0)))
        assert not tested.detect()
        assert len(tested.detect().contacts) == 0


def test_a_small_error_changes_nothing_and_a_clearance_and_one_body_ignore_it():
    names = ("body_a", "body_b", "face_a", "face_b", "kind", "distance")
    exact = world_of("wide_tree")
    exact[1].pose = passing(30)
    for error, options in ((1e-4, {}), (0.5, {"clearance": 0.02}), (0.5, {"itself": True, "clearance": 0.01})):
        tested = world_of(jostle.MonteCarlo(error=error))
        tested[1].pose = passing(30)
        found, expected = tested.detect(**options).contacts, exact.detect(**options).contacts
        assert all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in names)


def test_fewer_rows_are_asked_for_and_told():
    tested = world_of(jostle.MonteCarlo(error=0.5))
    tested[1].pose = passing(30)
    assert tested.in_collision()
    assert len(tested.detect(rows="pairs").pairs) == 1
    assert len(tested.detect(rows="first").contacts) == 1


def test_a_larger_error_takes_fewer_operations_frame_after_frame():
    """On meshes that are fine beside the error; of coarse ones more facets are not parted than faces touch."""
    spent, rows = [], []
    dense = [build.blob(12_000, seed=seed, roughness=0.4) for seed in (1, 2)]
    for error in (0.0, 0.3, 1.0):
        world = jostle.World(jostle.MonteCarlo(error=error, thorough=False))
        for mesh in dense:
            world.add(mesh)
        reports = []
        for frame in range(20, 40):
            world[1].pose = passing(frame)
            reports.append(world.detect())
        spent.append(sum(report.reached.operations for report in reports))
        rows.append(sum(len(report.contacts) for report in reports))
    assert spent[0] > 1.5 * spent[1] > 2.0 * spent[2]
    assert rows[1] > rows[2] > 100


def test_the_error_is_chosen_on_the_fly_and_told():
    world, errors = world_of(jostle.MonteCarlo(error="auto")), []
    for operations in (400, 10**7):
        for _ in range(12):
            world[1].pose = passing(30) @ rotation_about((0, 0, 1), 1e-3 * len(errors))
            report = world.detect(budget=jostle.Budget(operations=operations))
            errors.append(report.reached.error)
            assert (report.contacts.distance <= report.reached.error).all()
    size = max(mesh.size for mesh in BLOBS)
    assert errors[0] == 0.0
    assert max(errors) > 0.1 * size
    assert errors[-1] == 0.0
    assert all(after <= max(2.0 * before, 0.0101 * size) for before, after in itertools.pairwise(errors))
    assert world.detect().reached.error == 0.0  # no budget, no error


@pytest.mark.small
def test_traits_say_what_is_tolerated():
    assert str(jostle.MonteCarlo(error=0.25).traits.answers[Answer.FACES]) == "no miss, within 0.25"
    assert str(jostle.MonteCarlo(error="auto").traits.answers[Answer.FACES]).startswith("recall")
    for error in ("most", -0.1, float("nan")):
        with pytest.raises(jostle.InputError, match="MonteCarlo: error is"):
            jostle.MonteCarlo(error=error)
