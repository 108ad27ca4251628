"""`rows="first"` and `"any"`: what all exact methods promise, in random worlds of every degree of degeneracy."""

import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.interface.traits import EXACT, Answer, Serve
from jostle.registry import METHODS
from jostle.shapes import build
from jostle.world.checks import ANY_PAIR
from tests.methods.plain.families import FAMILIES, case
from tests.oracle import rational
from tests.oracle import rows as oracle

EXACT_METHODS = [name for name, made in METHODS.items() if made().traits.answers.get(Answer.FACES) == EXACT]
FIRST_MET = ("face_octree", "octree_update")  # they do not search by body pairs
methods = pytest.mark.parametrize("method", EXACT_METHODS)


def filled(method, bodies):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def options_of(world):
    yield {}
    for serve, options in ((Serve.SELF, {"itself": True}), (Serve.SOLID, {"solid": True})):
        if serve in world.method.traits.serves:
            yield options


def rows_of(contacts):
    names = ("body_a", "body_b", "face_a", "face_b", "kind")
    return list(zip(*(getattr(contacts, name).tolist() for name in names), strict=True))


@methods
@pytest.mark.parametrize("family", FAMILIES)
def test_one_row_of_each_pair_has_the_kind_of_the_pair(method, family):
    for seed in range(3):
        world = filled(method, case(family, seed))
        for options in options_of(world):
            whole, first = world.detect(**options), world.detect(rows="first", **options)
            assert list(first.pairs) == list(whole.pairs)
            assert first.pairs.kind.tolist() == whole.pairs.kind.tolist()
            assert first.pairs.rows.tolist() == [1] * len(whole.pairs)
            assert set(rows_of(first.contacts)) <= set(rows_of(whole.contacts))
            if not options.get("solid"):
                assert first.contacts.kind.tolist() == whole.pairs.kind.tolist()


@methods
@pytest.mark.parametrize("family", FAMILIES)
def test_any_pair_is_the_lowest_with_its_kind(method, family):
    for seed in range(3):
        world = filled(method, case(family, seed))
        for options in options_of(world):
            whole, found = world.detect(rows="pairs", **options), world.detect(rows="any", **options)
            assert set(found.pairs) <= set(whole.pairs)
            assert len(found.pairs) == min(1, len(whole.pairs))
            if method not in FIRST_MET or options:
                assert list(found.pairs) == list(whole.pairs)[:1]
                assert found.pairs.kind.tolist() == whole.pairs.kind.tolist()[:1]
        assert world.in_collision() == bool(world.detect())


@methods
def test_the_faces_that_are_named_touch_by_rational_arithmetic(method):
    for family in ("general", "integer_grid", "one_plane", "shared_corners"):
        world = filled(method, case(family, 5))
        for a, b, i, j, kind in rows_of(world.detect(rows="first").contacts):
            one, other = oracle.triangles(world[a])[i], oracle.triangles(world[b])[j]
            assert kind == rational.kind(one, other) > 0


@pytest.mark.parametrize("rows", ["first", "any"])
def test_the_first_faces_that_cross_end_the_search(rows):
    world = jostle.World("wide_tree")
    world.add(build.icosphere(5))
    world.add(build.icosphere(5), translation((1.5, 0.1, 0.05)))
    assert world.detect().counters.triangle_tests > 500
    assert world.detect(rows=rows).counters.triangle_tests < 20


def test_whether_anything_touches_is_known_at_the_first_common_point():
    world = jostle.World("wide_tree")
    for _ in range(2):
        world.add(build.plate(40, 40))
    assert world.detect(rows="any").counters.triangle_tests > 10_000  # nothing crosses
    assert world._answer("detect", ANY_PAIR).counters.triangle_tests < 20
