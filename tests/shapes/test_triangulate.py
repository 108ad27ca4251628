"""Polygons of files: triangles cover them once, and convex ones become a fan."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.shapes.formats import ears
from jostle.shapes.formats.polygons import Polygons
from jostle.shapes.formats.source import Budget, UnreadableError
from jostle.shapes.formats.triangulate import triangles
from jostle.shapes.limits import Limits
from jostle.shapes.load import load

pytestmark = pytest.mark.small

Outline = list[tuple[int, int]]


def cut(points: list) -> list[list[int]]:
    """Triangles of one polygon with these corners."""
    corners = np.arange(len(points))
    array = np.array([[*map(float, p), 0.0][:3] for p in points])
    faces, source = triangles(Polygons(array, corners, np.array([len(points)])), Budget(Limits(seconds=30.0)))
    assert len(faces) == len(points) - 2
    assert not source.any()
    return faces.tolist()


def doubled_area(points: list) -> Fraction:
    """Exactly, of corners in the plane."""
    exact = [(Fraction(p[0]), Fraction(p[1])) for p in points]
    return sum((a[0] * b[1] - a[1] * b[0] for a, b in pairwise([*exact, exact[0]])), Fraction(0))


def assert_covered_once(points: list, faces: list[list[int]]) -> None:
    """Triangles that all turn the polygon's way and sum to its area, with its edges as border, cover a simple polygon once."""
    turn = 1 if doubled_area(points) > 0 else -1
    areas = [turn * doubled_area([points[k] for k in face]) for face in faces]
    assert min(areas) >= 0
    assert sum(areas) == abs(doubled_area(points))
    n = len(points)
    border = [(face[k - 1], face[k]) for face in faces for k in range(3)]
    inner = sorted(edge for edge in border if (edge[0] + 1) % n != edge[1])
    assert sorted((k, (k + 1) % n) for k in range(n)) == sorted(edge for edge in border if (edge[0] + 1) % n == edge[1])
    assert inner == sorted((b, a) for a, b in inner)


def star(rng: random.Random, n: int) -> Outline:
    """Star-shaped about the middle."""
    angles = sorted(rng.uniform(0.0, 2.0 * math.pi) for _ in range(n))
    if max((b - a) % (2.0 * math.pi) for a, b in pairwise([*angles, angles[0]])) > 3.0:
        return star(rng, n)
    radii = [rng.uniform(50.0, 1000.0) for _ in range(n)]
    return [(round(r * math.cos(a)), round(r * math.sin(a))) for a, r in zip(angles, radii, strict=True)]


def comb(rng: random.Random, n: int) -> Outline:
    top: Outline = []
    for k in range(n):
        top += [(4 * k + 1, rng.randint(2, 9)), (4 * k + rng.randint(1, 2), 50), (4 * k + 3, 50), (4 * k + 3, rng.randint(2, 9))]
    return [(0, 0), (4 * n, 0), *reversed(top)]


def spiral(rng: random.Random, n: int) -> Outline:
    inner = [(10 + 6 * k, 0.35 * k) for k in range(n)]
    outer = [(10 + 6 * k + rng.randint(20, 60), 0.35 * k) for k in range(n)]
    return [(round(r * math.cos(a)), round(r * math.sin(a))) for r, a in [*outer, *reversed(inner)]]


def cells(rng: random.Random, n: int) -> Outline:
    """The outline of squares of a grid that hang together: right angles, straight corners, and corners that touch."""
    inside = {(0, 0)}
    while len(inside) < n:
        x, y = rng.choice(sorted(inside))
        inside.add(rng.choice([(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]))
    edges: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for x, y in inside:
        around = [((x, y), (x + 1, y)), ((x + 1, y), (x + 1, y + 1)), ((x + 1, y + 1), (x, y + 1)), ((x, y + 1), (x, y))]
        beyond = [(x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)]
        for (a, b), other in zip(around, beyond, strict=True):
            if other not in inside:
                edges.setdefault(a, []).append(b)
    start = min(edges)
    at, outline = start, [start]
    heading = (0, -1)
    while True:
        # Where two outlines meet, the sharpest left turn stays on this one.
        options = edges[at]
        headings = [(b[0] - at[0], b[1] - at[1]) for b in options]
        chosen = max(range(len(options)), key=lambda k: heading[0] * headings[k][1] - heading[1] * headings[k][0])
        heading, at = headings[chosen], options.pop(chosen)
        if at == start and not edges[at]:
            break
        outline.append(at)
    return outline if not any(edges.values()) else cells(rng, n)  # holes: their outlines are left over


SHAPES = {"star": (star, 5, 40), "comb": (comb, 1, 12), "spiral": (spiral, 8, 50), "cells": (cells, 2, 40)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(40))
def test_simple_polygons_are_covered_once(shape, seed):
    rng = random.Random(seed)
    make, low, high = SHAPES[shape]
    outline = make(rng, rng.randint(low, high))
    k = rng.randrange(len(outline))
    outline = outline[k:] + outline[:k]
    if rng.random() < 0.5:
        outline.reverse()
    assert_covered_once(outline, cut(outline))


@pytest.mark.parametrize("seed", range(40))
def test_polygons_in_any_plane(seed):
    rng = random.Random(seed)
    make, low, high = SHAPES[rng.choice(sorted(SHAPES))]
    outline = make(rng, rng.randint(low, high))
    u, v, shift = ([rng.randint(-99, 99) for _ in range(3)] for _ in range(3))
    normal = [u[k - 2] * v[k - 1] - u[k - 1] * v[k - 2] for k in range(3)]
    if not any(normal):
        return
    scale = 2.0 ** rng.randint(-60, 60)
    points = [[(shift[k] + a * u[k] + b * v[k]) * scale for k in range(3)] for a, b in outline]
    assert_covered_once(outline, cut(points))


@pytest.mark.parametrize("seed", range(60))
def test_what_touches_or_repeats_itself(seed):
    """Corners repeated, put on edges, and spikes there and back, into polygons that are simple without them."""
    rng = random.Random(seed)
    make, low, high = SHAPES[rng.choice(sorted(SHAPES))]
    outline = [(8 * x, 8 * y) for x, y in make(rng, rng.randint(low, min(high, 12)))]
    for _ in range(rng.randint(1, 5)):
        k = rng.randrange(len(outline))
        a, b = outline[k - 1], outline[k]
        middle = ((a[0] + b[0]) // 2, (a[1] + b[1]) // 2)
        new = {"again": [a], "between": [middle], "spike": [middle, a]}[rng.choice(["again", "between", "spike"])]
        outline[k:k] = new if (b[0] - a[0]) % 2 == 0 == (b[1] - a[1]) % 2 else [a]
    assert_covered_once(outline, cut(outline))


def square_with_holes(rng: random.Random, columns: int, rows: int) -> tuple[Outline, list[tuple[Fraction, Fraction]]]:
    """Rows of rectangular holes, each joined to the one before it or to the side by an edge there and back; and points in them."""
    middles = []

    def hole(column: int, y: int) -> Outline:
        x, width, height = 4 * column + 4, rng.randint(1, 3), rng.randint(1, 3)
        middles.append((x + Fraction(width, 2), y + Fraction(height, 2)))
        corner = (x + width, y)
        further = [*hole(column + 1, y), corner] if column + 1 < columns else []
        return [(x, y), (x, y + height), (x + width, y + height), corner, *further, (x, y)]

    outline = [(0, 0), (4 * columns + 4, 0), (4 * columns + 4, 4 * rows + 4), (0, 4 * rows + 4)]
    for row in reversed(range(rows)):
        side = (0, 4 * row + 4)
        outline += [side, *hole(0, side[1]), side]
    return outline, middles


@pytest.mark.parametrize("seed", range(20))
def test_holes_that_are_joined_by_edges_are_cut_out(seed):
    rng = random.Random(seed)
    outline, middles = square_with_holes(rng, rng.randint(1, 3), rng.randint(1, 3))
    if seed % 2:
        outline.reverse()
    faces = cut(outline)
    assert_covered_once(outline, faces)
    for face in faces:
        corners = [outline[corner] for corner in face]
        if doubled_area(corners) == 0:
            continue
        turn = 1 if doubled_area(corners) > 0 else -1
        for middle in middles:
            assert min(turn * doubled_area([corners[k - 1], corners[k], middle]) for k in range(3)) < 0


def test_a_dart_has_its_area_and_its_notch_is_free(tmp_path):
    # Fanned about its first corner this dart of area 1 had an area of 3.
    (tmp_path / "dart.obj").write_text("v 2 0 0\nv 0 1 0\nv 1 0 0\nv 0 -1 0\nf 2 3 4 1\n")
    mesh = load(tmp_path / "dart.obj")
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() == 1.0
    assert mesh.source_face.tolist() == [0, 0]


def test_convex_polygons_are_the_fan_with_or_without_straight_and_repeated_corners():
    square = [(0, 0), (2, 0), (2, 2), (0, 2)]
    straight = [(0, 0), (1, 0), (2, 0), (2, 2), (0, 2)]
    again = [(0, 0), (2, 0), (2, 0), (2, 2), (0, 2), (0, 0)]
    circle = [(round(1e6 * math.cos(0.1 * k)), round(1e6 * math.sin(0.1 * k))) for k in range(62)]
    nearly = [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (1.0, 0.2), (0.4, 1.0)]  # in line only to the last bits
    for outline in (square, straight, again, circle):
        for points in (outline, outline[::-1]):
            assert cut(points) == [[0, k, k + 1] for k in range(1, len(points) - 1)]
    assert_covered_once(nearly, cut(nearly))


def test_fans_of_many_polygons_stay_in_place():
    points = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 0.5, 0]], dtype=float)
    corners = [[0, 1, 2], [0, 1, 2, 3], [0, 1, 4, 3], [3, 2, 1, 0], [0, 4, 1, 2, 3]]
    polygons = Polygons(points, np.concatenate(corners), np.array([len(c) for c in corners]))
    faces, source = triangles(polygons, Budget(Limits()))
    assert source.tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
    assert faces[:3].tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3]]
    assert faces[5:7].tolist() == [[3, 2, 1], [3, 1, 0]]
    for polygon in (2, 4):
        local = [[corners[polygon].index(c) for c in face] for face in faces[source == polygon].tolist()]
        assert_covered_once([tuple(points[c][:2]) for c in corners[polygon]], local)


def test_polygons_without_area_are_the_fan():
    for outline in ([(0, 0)] * 5, [(0, 0), (1, 1), (2, 2), (1, 1)], [(0, 0), (4, 0), (2, 0), (3, 0), (1, 0)]):
        assert cut(outline) == [[0, k, k + 1] for k in range(1, len(outline) - 1)]
    assert cut([(0, 0), (1, 1), (1, 0), (0, 1)]) == [[0, 1, 2], [0, 2, 3]]  # a bow tie whose halves cancel


CROSSING = {
    "bow tie": [(0, 0), (4, 4), (4, 0), (0, 3)],
    "pentagram": [(round(99 * math.cos(0.8 * math.pi * k)), round(99 * math.sin(0.8 * math.pi * k))) for k in range(5)],
    "twice round": [(0, 0), (9, 0), (9, 9), (0, 9), (0, 1), (8, 1), (8, 8), (1, 8), (1, -1), (0, -1)],
    "through a corner": [(0, 0), (2, 2), (4, 4), (4, 0), (2, 2), (0, 3)],
}


@pytest.mark.parametrize("name", CROSSING)
def test_polygons_that_cross_themselves_are_refused_by_number(tmp_path, name):
    outline = CROSSING[name]
    text = "v 0 0 1\n" + "".join(f"v {x} {y} 0\n" for x, y in outline) + "f 1 2 3\nf "
    (tmp_path / "cross.obj").write_text(text + " ".join(str(k + 2) for k in range(len(outline))))
    with pytest.raises(InputError, match=r"cross\.obj: face 1 crosses itself"):
        load(tmp_path / "cross.obj")


def test_slivers_that_cross_themselves_by_rounding_load():
    sliver = [(100.0, 0.0, 0.0), (200.0, 1e-4, 0.0), (150.0, -1e-4, 0.0), (101.0, 1e-4, 0.0)]
    sliver = [sliver[k] for k in (0, 1, 3, 2)]
    assert {corner for face in cut(sliver) for corner in face} == {0, 1, 2, 3}
    with pytest.raises(UnreadableError, match="face 0 crosses itself"):
        cut([(x, 1e4 * y, z) for x, y, z in sliver])


@pytest.mark.parametrize("seed", range(20))
def test_outlines_that_touch_but_for_the_rounding_of_a_file_are_covered(seed):
    """Six digits of coordinates far from the origin: edges there and back are no longer the same, and cross."""
    rng = random.Random(seed)
    outline, _ = square_with_holes(rng, rng.randint(1, 3), rng.randint(1, 3))
    points = [(100.0 + x + rng.uniform(-2e-4, 2e-4), 100.0 + y + rng.uniform(-2e-4, 2e-4)) for x, y in outline]
    faces = cut(points)
    areas = [float(doubled_area([points[k] for k in face])) / 2.0 for face in faces]
    length = sum(math.dist(a, b) for a, b in pairwise([*points, points[0]]))
    assert sum(map(abs, areas)) - float(doubled_area(points)) / 2.0 <= 1.2e-3 * length
    with pytest.raises(UnreadableError, match="face 0 crosses itself"):
        cut([(5.0, 5.0), *[(x - 100.0, y - 100.0) for x, y in points], (10.0, 1.0), (-1.0, 3.0)])


def test_warped_quads_have_two_triangles_on_their_corners():
    rng = random.Random(1)
    for _ in range(200):
        square = [(0, 0), (4, 0), (4, 4), (rng.choice([0, 3]), rng.choice([1, 4]))]
        points = [(x, y, rng.uniform(-1.0, 1.0)) for x, y in square]
        faces = cut(points)
        assert {corner for face in faces for corner in face} == {0, 1, 2, 3}
        assert_covered_once(square, faces)


def even_spiral(n: int) -> Outline:
    """A band of one width, with n corners as far from each other all along."""
    angles = [5.6 * math.sqrt(k + 1) for k in range(n // 2)]
    band = [*((a + 3.0, a) for a in angles), *((a, a) for a in reversed(angles))]
    return [(round(1000.0 * r * math.cos(a)), round(1000.0 * r * math.sin(a))) for r, a in band]


def slanted_comb(n: int) -> Outline:
    """Teeth whose boxes all overlap."""
    return [(3 * x - 120 * y, 4 * x + 90 * y) for x, y in comb(random.Random(1), n // 4)]


@pytest.mark.parametrize("make", [even_spiral, slanted_comb])
def test_work_grows_with_the_corners(make, monkeypatch):
    ticks, turns = [], []
    tick, turn = Budget.tick, ears.turn
    monkeypatch.setattr(Budget, "tick", lambda self: (ticks.append(1), tick(self))[1])  # one for each edge and each test of an ear
    monkeypatch.setattr(ears, "turn", lambda *points: (turns.append(1), turn(*points))[1])
    for n in (500, 2000, 8000):
        ticks.clear(), turns.clear()
        outline = make(n)
        assert_covered_once(outline, cut(outline))
        assert len(ticks) < 5 * n
        assert len(turns) < 20 * n


def test_large_polygons_take_no_more_than_their_time():
    rng = random.Random(3)
    outline = comb(rng, 20_000)
    with pytest.raises(UnreadableError, match=r"longer than 0\.2 s.*Limits\(seconds"):
        triangles(
            Polygons(np.array([[*p, 0.0] for p in outline]), np.arange(len(outline)), np.array([len(outline)])),
            Budget(Limits(seconds=0.2)),
        )
