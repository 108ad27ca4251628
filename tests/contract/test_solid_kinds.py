"""Kinds of solids: interiors meet if and only if those of two convex pieces do, for every exact method."""

import os

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import EXACT, Answer, Serve
from jostle.registry import METHODS
from jostle.report.containment import PairRows, edge_pieces, rational, solid_rows, solids
from jostle.shapes import build, topology
from tests.oracle import pieces, placements, wound_cells
from tests.tiny import box

COUNT = int(os.environ.get("JOSTLE_PLACEMENTS", "0"))
EXACT_SOLIDS = [
    name for name, made in METHODS.items()
    if made().traits.answers.get(Answer.FACES) == EXACT and Serve.SOLID in made().traits.serves
]  # fmt: skip
TOUCHING, CROSSING, OVERLAPPING = jostle.Kind.TOUCHING, jostle.Kind.CROSSING, jostle.Kind.OVERLAPPING


def kinds(a, b, pose=None, method=None, **options):
    report = jostle.collide(a, b, pose_b=pose, method=method, solid=True, **options)
    return [jostle.Kind(int(kind)) for kind in report.pairs.kind]


def joined(*meshes):
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    return jostle.Mesh(np.vstack([mesh.vertices for mesh in meshes]), np.vstack(faces))


def test_placements_of_solids_are_what_their_convex_pieces_say():
    counts = placements.run(COUNT or 1500, seed=11)
    assert min(counts["TOUCHING"], counts["CROSSING"], counts["OVERLAPPING"], counts["FREE"]) > 100
    assert min(counts["A_IN_B"], counts["B_IN_A"]) > 10


@pytest.mark.parametrize("method", EXACT_SOLIDS)
def test_every_exact_method_tells_the_same_kinds(method):
    assert len(EXACT_SOLIDS) >= 6
    counts = placements.run(COUNT // 10 or 60, seed=12, method=method, at_once=10)
    assert counts["OVERLAPPING"] > 3


def test_whole_numbers_decide_the_same():
    rng = np.random.default_rng(13)
    decided = []
    while len(decided) < max(40, COUNT // 50):
        one, other = placements.placement(rng)
        meshes = [jostle.Mesh(solid.vertices.astype(float), solid.faces) for solid in (one, other)]
        contacts = jostle.collide(*meshes).contacts
        if len(contacts) and (contacts.kind == TOUCHING).all():
            decided.append(pieces.interiors_meet(one, other))
            # Where nothing but a part without contacts is inside, the surfaces that touch say nothing of it.
            surfaces = [rational.Surface(mesh.vertices, mesh.faces) for mesh in meshes]
            found = rational.interiors_meet(*surfaces, contacts.face_a, contacts.face_b)
            inside = any(kind in (jostle.Kind.A_IN_B, jostle.Kind.B_IN_A) for kind in kinds(*meshes))
            assert found == decided[-1] or (decided[-1] and inside), (one.name, other.name)
    assert 5 < sum(decided) < len(decided) - 5


@pytest.mark.parametrize("method", EXACT_SOLIDS)
def test_duplicates_pushed_boxes_and_flush_pins_overlap(method):
    rng = np.random.default_rng(0)
    ring = pieces.shape("ring", rng)
    block, pin = jostle.Mesh(ring.vertices.astype(float), ring.faces), box((2, 2, 0), (4, 4, 2))
    assert kinds(box(), box(), method=method) == [OVERLAPPING]
    assert kinds(box(), box(), translation((0.5, 0, 0)), method) == [OVERLAPPING]
    assert kinds(box(), box(), translation((1, 0, 0)), method) == [TOUCHING]
    assert kinds(block, pin, method=method) == [TOUCHING]  # it fills the hole
    assert kinds(block, pin, translation((1, 0, 0)), method) == [OVERLAPPING]
    assert kinds(box((0, 0, 0), (6, 6, 2)), pin, method=method) == [OVERLAPPING]  # in the full block
    assert kinds(box((0, 0, 0), (6, 6, 2)), box((2, 2, 1), (4, 4, 5)), method=method) == [CROSSING]
    ball = build.icosphere(2)
    assert kinds(ball, ball, method=method) == [OVERLAPPING]
    assert kinds(ball, jostle.Mesh(ball.vertices, ball.faces[1:]), method=method) == [TOUCHING]  # an open one has no interior


@pytest.mark.parametrize("method", EXACT_SOLIDS)
def test_all_variants_of_rows_tell_the_same_kinds(method):
    world = jostle.World(method)
    world.add(box())
    world.add(box(), translation((0.5, 0, 0)))
    world.add(box(), translation((1.5, 0, 0)))  # flush with the second, apart from the first
    whole = world.detect(solid=True)
    assert whole.pairs.kind.tolist() == [OVERLAPPING, TOUCHING]
    assert set(whole.contacts.kind.tolist()) == {TOUCHING}
    assert whole.touching
    pairs, first = world.detect(solid=True, rows="pairs"), world.detect(solid=True, rows="first")
    assert pairs.pairs.kind.tolist() == first.pairs.kind.tolist() == [OVERLAPPING, TOUCHING]
    assert len(pairs.contacts) == 0
    assert first.contacts.kind.tolist() == [TOUCHING, TOUCHING]
    assert world.detect(solid=True, rows="any").pairs.kind.tolist() in ([OVERLAPPING], [TOUCHING])
    assert world.detect().pairs.kind.tolist() == [TOUCHING, TOUCHING]
    if Serve.SELF in world.method.traits.serves:
        assert world.detect(solid=True, itself=True).pairs.kind.tolist() == [OVERLAPPING, TOUCHING]
    if Serve.CLEARANCE in world.method.traits.serves:
        near = world.detect(solid=True, clearance=0.75)
        assert near.pairs.kind.tolist() == [OVERLAPPING, jostle.Kind.NEAR, TOUCHING]
    assert "1 OVERLAPPING" in repr(whole)


def test_faces_without_area_and_edges_of_four_faces_are_decided_in_whole_numbers(monkeypatch):
    asked = []

    def watched(*given):
        asked.append(given)
        return rational.interiors_meet(*given)

    monkeypatch.setattr("jostle.report.containment.solids.interiors_meet", watched)
    # A box whose top edge has a corner on one side only, sewn by a face without area.
    corners = [*box().vertices.tolist(), [0.5, 1.0, 1.0]]
    faces = [face for face in box().faces.tolist() if sorted(face) != [2, 3, 6] and sorted(face) != [3, 6, 7]]
    sewn = jostle.Mesh(corners, [*faces, [2, 6, 3], [3, 6, 8], [3, 8, 7], [6, 7, 8]])
    assert sewn.is_closed
    assert kinds(sewn, box(), translation((0, 0.5, 0))) == [OVERLAPPING]
    assert kinds(sewn, box(), translation((0, 1, 0))) == [TOUCHING]
    assert kinds(sewn, box(), translation((0, 0, 1))) == [TOUCHING]
    assert kinds(sewn, sewn, translation((0, 1, 1))) == [TOUCHING]
    assert asked
    asked.clear()
    two = joined(box(), box((1, 1, 0), (2, 2, 1)))
    assert kinds(two, box((1, 0, 0), (2, 1, 1))) == [TOUCHING]  # in the notch
    assert kinds(two, box((0.5, 0, 0), (1.5, 1, 1))) == [OVERLAPPING]
    assert asked
    flat = jostle.Mesh([[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5]], [[0, 1, 2], [0, 2, 1]])
    assert kinds(box(), flat) == [TOUCHING]  # it is closed, but has no interior


def test_a_shell_within_a_shell_bounds_nothing():
    double = joined(box((0, 0, 0), (10, 10, 10)), box((4, 4, 4), (6, 6, 6)))
    assert kinds(double, box((2, 4, 4), (4, 6, 6))) == [OVERLAPPING]  # inside, flush with the inner shell
    assert kinds(double, box((2, 4.5, 4.5), (4, 5, 5))) == [OVERLAPPING]
    assert kinds(double, box((10, 4, 4), (12, 6, 6))) == [TOUCHING]


def test_a_body_that_touches_itself_is_where_it_winds():
    """Pockets that a second, inverted shell cuts out of a block: its lid lies in the block's top."""
    block, hole = box((0, 0, 0), (4, 4, 4)), box((1, 1, 2), (3, 3, 4))
    pocket = joined(block, jostle.Mesh(hole.vertices, hole.faces[:, ::-1]))
    beside, inverted = box((0, 1, 2.5), (2, 3, 4.5)), jostle.Mesh(pocket.vertices, pocket.faces[:, ::-1])
    edge = joined(block, jostle.Mesh(beside.vertices, beside.faces[:, ::-1]))  # open at the side, and cuts the top
    assert pocket.touches_itself
    assert edge.touches_itself
    assert not block.touches_itself
    assert not joined(block, box((4, 4, 0), (5, 5, 4))).touches_itself  # it shares a welded edge
    union = joined(box((0, 0, 0), (4, 4, 3)), box((1, 1, 0), (2, 3, 4)))
    assert union.touches_itself
    assert kinds(union, box((2, 1, 1), (3, 2, 2))) == [OVERLAPPING]  # beside the second, but inside the first
    assert kinds(union, box((2, 1, 3), (3, 2, 4))) == [TOUCHING]
    touching = joined(block, box((4, 1, 1), (5, 2, 2)))
    assert touching.touches_itself
    assert kinds(touching, box((4, 2, 1), (5, 3, 2))) == [TOUCHING]
    assert kinds(touching, box((3, 1, 1), (4, 2, 2))) == [OVERLAPPING]
    for each in (pocket, inverted):
        assert kinds(each, hole) == [TOUCHING]  # it fills the pocket
        assert kinds(each, box((1, 1, 4), (3, 3, 5))) == [TOUCHING]  # it stands on the lid
        assert kinds(each, box((1.5, 1.5, 3), (2, 2, 4))) == [TOUCHING]  # below the lid
        assert kinds(each, box((0.5, 1.5, 3), (1, 2, 4))) == [OVERLAPPING]  # in the wall
        assert kinds(each, block) == [OVERLAPPING]
    assert kinds(edge, box((0, 1, 2.5), (2, 3, 4))) == [TOUCHING]
    world = jostle.World()
    body = world.add(pocket, deformable=True)
    world.add(hole)
    assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]
    body.vertices = pocket.vertices + np.array([0.5, 0, 0])
    assert world.detect(solid=True).pairs.kind.tolist() == [OVERLAPPING]
    # A bow tie: one sheet that passes through itself and has its inside behind the faces of one half, before those of the other.
    outline = np.array([(0, 0, 0), (4, 4, 0), (4, 0, 0), (0, 4, 0)], float)
    sides = [face for k in range(4) for face in ((k, (k + 1) % 4, (k + 1) % 4 + 4), (k, (k + 1) % 4 + 4, k + 4))]
    tie = jostle.Mesh(np.vstack([outline, outline + np.array([0, 0, 1])]), [*sides, (0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7)])
    assert tie.is_closed
    for x in (0, 3.5):
        assert kinds(tie, box((x, 1.75, 0), (x + 0.5, 2.25, 1))) == [OVERLAPPING]
    assert kinds(tie, box((1.75, 0, 0), (2.25, 0.5, 1))) == [TOUCHING]  # between the halves, where the caps cancel out


def test_one_face_without_area_does_not_send_all_rows_to_whole_numbers(monkeypatch):
    looked_at = []

    def watched(*given):
        looked_at.append(int(given[-1].sum()))
        return rational.interiors_meet(*given)

    monkeypatch.setattr("jostle.report.containment.solids.interiors_meet", watched)
    tiles = joined(*(box((x, y, 0), (x + 1, y + 1, 1)) for x in (0, 2, 4, 6, 8) for y in (0, 2, 4, 6, 8)))
    p, q = np.flatnonzero(tiles.vertices[:, 2] == 1.0)[:2]
    needle = jostle.Mesh(tiles.vertices, [*tiles.faces.tolist(), [p, q, p]])
    report = jostle.collide(needle, box((0, 0, 1), (9, 9, 2)), solid=True)
    assert report.pairs.kind.tolist() == [TOUCHING]
    report = jostle.collide(needle, tiles, pose_b=translation((0, 0, 1)), solid=True)
    assert report.pairs.kind.tolist() == [TOUCHING]
    assert 0 < looked_at[-1] < len(report.contacts) / 5


def test_inverted_cavities_and_deformed_bodies():
    outer, cavity = box((0, 0, 0), (6, 6, 6)), box((2, 2, 2), (4, 4, 4))
    hollow = joined(outer, jostle.Mesh(cavity.vertices, cavity.faces[:, ::-1]))
    assert kinds(hollow, cavity) == [TOUCHING]  # it fills the cavity
    assert kinds(hollow, box((2, 2, 2), (3, 3, 3))) == [TOUCHING]  # in a corner of it
    assert kinds(hollow, box((1, 2, 2), (2, 3, 3))) == [OVERLAPPING]  # in the wall
    assert kinds(hollow, outer) == [OVERLAPPING]
    inverted = jostle.Mesh(hollow.vertices, hollow.faces[:, ::-1])
    assert kinds(inverted, cavity) == [TOUCHING]
    assert kinds(inverted, outer) == [OVERLAPPING]
    world = jostle.World()
    body = world.add(box(), deformable=True)
    world.add(box((1, 0, 0), (2, 1, 1)))
    assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]
    body.vertices = body.vertices * (1.5, 1, 1)
    assert world.detect(solid=True).pairs.kind.tolist() == [OVERLAPPING]
    body.vertices = box().vertices * (-1, 1, 1) + (1, 0, 0)  # turned inside out, in the place of the first
    assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]
    body.vertices = box().vertices * (-1.5, 1, 1) + (1.5, 0, 0)
    assert world.detect(solid=True).pairs.kind.tolist() == [OVERLAPPING]
    # Two bodies of one mesh, of which the first is inside out.
    world, mesh = jostle.World(), box()
    body = world.add(mesh, deformable=True)
    world.add(mesh, translation((1, 0, 0)))
    body.vertices = mesh.vertices * (-1, 1, 1) + (1, 0, 0)
    assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]


@pytest.mark.parametrize("method", [name for name in EXACT_SOLIDS if name != "brute_force"])  # the oracle looks into all
def test_bodies_whose_boxes_are_apart_are_not_looked_into(method, monkeypatch):
    looked_into = []

    def watched(*given):
        looked_into.append(given)
        return solid_rows(*given)

    monkeypatch.setattr("jostle.report.assemble.solid_rows", watched)
    for count in (1, 2, 10):
        world = jostle.World(method)
        bodies = [world.add(box(), translation((3 * k, 0, 0))) for k in range(count)]
        assert not world.detect(solid=True)
        assert not looked_into
        if count > 1:
            world.remove(bodies[1])
            world.add(box((0.25, 0.25, 0.25), (0.75, 0.75, 0.75)))  # inside of the first
            assert world.detect(solid=True).pairs.kind.tolist() == [jostle.Kind.B_IN_A]
            assert len(looked_into) == 1
            looked_into.clear()
    turned = rotation_about((0, 0, 1), np.pi / 4)
    within = translation((0.5, 0.5, 0.5)) @ turned @ translation((-0.5, -0.5, -0.5))
    assert kinds(box((-1, -1, -1), (2, 2, 2)), box(), within, method) == [jostle.Kind.B_IN_A]


def test_a_body_that_moves_within_its_vertices_is_still_found_inside():
    world = jostle.World()
    body = world.add(box(), translation((10, 0, 0)), deformable=True)
    world.add(box((-1, -1, -1), (2, 2, 2)))
    assert not world.detect(solid=True)
    body.vertices = body.vertices - (10, 0, 0)
    assert world.detect(solid=True).pairs.kind.tolist() == [jostle.Kind.A_IN_B]


def test_bodies_that_touch_themselves_are_where_their_cells_wind(monkeypatch):
    counts = wound_cells.run(COUNT or 300, seed=21)
    monkeypatch.setattr(solids, "FEW_FACES", 0)  # look at the faces with contacts first, however few faces there are
    monkeypatch.setattr(solids, "TIMES_IN_PART", 10**9)
    monkeypatch.setattr(edge_pieces, "FEW_ROWS", 0)
    assert wound_cells.run(COUNT or 300, seed=21) == counts
    assert min(counts["TOUCHING itself"], counts["OVERLAPPING itself"]) > 5
    test_a_body_that_touches_itself_is_where_it_winds()
    test_a_shell_within_a_shell_bounds_nothing()
    test_inverted_cavities_and_deformed_bodies()


def test_edges_are_decided_in_floats_as_in_whole_numbers(monkeypatch):
    """Edges alone: beside faces, nothing is asked for."""
    monkeypatch.setattr(edge_pieces, "FEW_ROWS", 0)
    monkeypatch.setattr(edge_pieces, "_meet_beside", lambda *_: False)
    rng, decided, count = np.random.default_rng(22), [], COUNT // 10 or 150
    while len(decided) < count:
        if len(decided) % 2:
            meshes = [jostle.Mesh(solid.vertices.astype(float), solid.faces) for solid in placements.placement(rng)]
        else:
            meshes, _ = wound_cells.pair(rng)
        contacts = jostle.collide(*meshes).contacts
        if len(contacts) and (contacts.kind == TOUCHING).all():
            given = [*(rational.Surface(mesh.vertices, mesh.faces) for mesh in meshes), contacts.face_a, contacts.face_b]
            sides = [[(f, k) for f in np.unique(faces).tolist() for k in range(3)] for faces in (contacts.face_a, contacts.face_b)]
            decided.append(rational.interiors_meet(*given, sides=sides))
            assert edge_pieces.interiors_meet(*given) == decided[-1], [mesh.vertices.tolist() for mesh in meshes]
    assert count / 10 < sum(decided) < count - count / 10


def test_few_edges_are_left_to_whole_numbers(monkeypatch):
    """A block with 4 × 4 pockets that are cut out by inverted shells, and pins that fill them."""
    left = []
    in_whole_numbers = rational.interiors_meet

    def watched(*given, sides):
        left.append(len(sides[0]) + len(sides[1]))
        return in_whole_numbers(*given, sides=sides)

    monkeypatch.setattr(rational, "interiors_meet", watched)
    for margin in (0.25, 0.3):
        holes = [box((x + margin, y + margin, 1), (x + 1 - margin, y + 1 - margin, 2)) for x in range(4) for y in range(4)]
        block = joined(box((0, 0, 0), (4, 4, 2)), *(jostle.Mesh(hole.vertices, hole.faces[:, ::-1]) for hole in holes))
        assert block.touches_itself
        assert kinds(block, joined(*holes)) == [TOUCHING]
        assert kinds(block, joined(*holes, box((0.1, 0.1, 1), (0.2, 0.2, 2)))) == [OVERLAPPING]  # one more, in the wall
        if margin == 0.25:
            assert not left
    # A diagonal of the block's top passes some of the rounded corners by less than floats can tell.
    assert len(left) == 1
    assert left[0] < 3 * (len(block.faces) + 12 * len(holes)) / 2 / 10


def test_a_large_body_is_looked_at_around_its_contacts_alone(monkeypatch):
    whole, in_part = [], []

    def watched(*given):
        whole.append(given)
        return topology.touches_itself(*given)

    def watched_in_part(*given):
        in_part.append(given)
        return topology.is_regular_at(*given)

    monkeypatch.setattr(solids, "touches_itself", watched)
    monkeypatch.setattr(solids, "is_regular_at", watched_in_part)
    ball = build.icosphere(4)
    highest, lowest = (ball.vertices[find(ball.vertices[:, 2])] for find in (np.argmax, np.argmin))
    world = jostle.World()
    body = world.add(ball, deformable=True)
    world.add(ball, translation(highest - lowest))
    for k in range(solids.TIMES_IN_PART + 2):
        body.vertices = ball.vertices.copy()
        assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]
        # The one that deforms is always looked at in part; the rigid one until its whole mesh is as cheap.
        assert "touches_itself" not in ball.__dict__ or 2 * k + 2 > solids.TIMES_IN_PART
    assert not whole
    assert "touches_itself" in ball.__dict__
    assert max(len(faces) for faces, *_ in in_part) < 20
    # A fold through the contact: the body touches itself there, and all of it is looked at.
    bent = ball.vertices.copy()
    top = np.argmax(bent[:, 2])
    bent[np.argmin(bent[:, 2])] = bent[top]
    body.vertices = bent
    assert world.detect(solid=True).pairs.kind.tolist() == [TOUCHING]
    assert len(whole) == 1


def test_the_work_grows_with_rows_and_parts_not_with_pairs_times_faces():
    """5 × 5 × 40 boxes in a grid, flush; then a thousand small balls in a large one."""
    grid = jostle.World()
    for k in range(1000):
        grid.add(box(), translation((k % 5, k // 5 % 5, k // 25)))
    report = grid.detect(solid=True)
    assert set(report.pairs.kind.tolist()) == {TOUCHING}
    contacts, frame = report.contacts, grid._frame()
    ends = np.cumsum(report.pairs.rows)
    rows = PairRows(
        report.pairs.body_a, report.pairs.body_b, (ends - report.pairs.rows).astype(np.int64), ends.astype(np.int64),
        contacts.face_a, contacts.face_b, contacts.kind,
    )  # fmt: skip
    found = solid_rows(rows, frame)
    assert not found.overlapping.any()
    assert 0 < found.edge_tests < len(contacts)
    assert found.winding_tests < 24 * len(report.pairs)
    world, large, small = jostle.World(), build.icosphere(5, 10.0), build.icosphere(1, 0.1)
    rng = np.random.default_rng(1)
    world.add(large)
    for k in range(1000):
        world.add(small, translation((0.5 * (k % 10), 0.5 * (k // 10 % 10), 0.5 * (k // 100)) - rng.uniform(1, 2, 3)))
    frame = world._frame()
    none, faces = np.zeros(1000, np.int64), np.empty(0, np.int32)
    every = np.arange(1, 1001, dtype=np.int32)
    pairs = PairRows(0 * every, every, none, none, faces, faces, faces.astype(np.uint8))
    found = solid_rows(pairs, frame)
    assert len(found.pair) == 1000
    assert found.winding_tests < 40 * 1000  # of 20,480 faces each
