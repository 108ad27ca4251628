"""Pairs of convex bodies for the contract of methods that answer for solids: feature on feature, at gaps around a resolution."""

import itertools
from dataclasses import dataclass

import numpy as np

from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.shapes.hull import hull
from tests.tiny import box, random_pose, tetrahedron


@dataclass(frozen=True, eq=False)
class Case:
    """Two bodies; `gap` is their distance where it is known, negative where they overlap along one direction by so much."""

    name: str
    mesh_a: Mesh
    pose_a: np.ndarray
    mesh_b: Mesh
    pose_b: np.ndarray
    gap: float | None = None


def feature(mesh, kind, rng):
    """A random vertex, edge or face of a convex mesh: a point in it, and a direction along which nothing is farther out."""
    face = int(rng.integers(len(mesh.faces)))
    corners = mesh.faces[face]
    if kind == "vertex":
        corners = corners[:1]
    elif kind == "edge":
        corners = corners[:2]
    around = [f for f in range(len(mesh.faces)) if set(corners.tolist()) <= set(mesh.faces[f].tolist())]
    direction = mesh.face_normals[around].sum(axis=0)
    return mesh.vertices[corners].mean(axis=0), direction / np.linalg.norm(direction)


def turn(source, target):
    """The rotation (4,4) of one unit vector onto another."""
    axis = np.cross(source, target)
    if np.linalg.norm(axis) < 1e-9:
        axis = np.cross(source, np.eye(3)[int(np.argmin(np.abs(source)))])
    return rotation_about(axis, float(np.arctan2(np.linalg.norm(np.cross(source, target)), source @ target)))


def facing(mesh_a, kind_a, mesh_b, kind_b, gap, rng):
    """The pose of B that puts its feature opposite to one of A, at a distance of `gap` along their common direction."""
    point_a, up = feature(mesh_a, kind_a, rng)
    point_b, down = feature(mesh_b, kind_b, rng)
    rotation = rotation_about(up, rng.uniform(0, 2 * np.pi)) @ turn(down, -up)
    return translation(point_a + gap * up) @ rotation @ translation(-point_b)


def features_at_gaps(r, size, offset=0.0, seed=0, gaps=None):
    """Every kind of feature against every kind, at multiples of the resolution and of the size."""
    rng = np.random.default_rng(seed)
    solids = [box(name="box"), tetrahedron(), build.icosahedron(0.5), box((0, 0, 0), (1, 0.3, 0.02), name="slab")]
    meshes = [mesh.scaled(size) for mesh in solids]
    if gaps is None:
        gaps = [-0.3 * size, -0.05 * size, -10 * r, -2 * r, -0.5 * r, 0.0, 0.3 * r, 0.9 * r, 1.01 * r, 2 * r, 10 * r, 0.1 * size]
    for kinds, gap in itertools.product(itertools.product(("vertex", "edge", "face"), repeat=2), gaps):
        mesh_a, mesh_b = meshes[int(rng.integers(4))], meshes[int(rng.integers(4))]
        world = random_pose(rng, size)
        world[:3, 3] += offset * np.array([1.0, -0.7, 0.4])
        pose_b = world @ facing(mesh_a, kinds[0], mesh_b, kinds[1], gap, rng)
        yield Case(f"{mesh_a.name} {kinds[0]} on {mesh_b.name} {kinds[1]}, gap {gap:.3g}", mesh_a, world, mesh_b, pose_b, gap)


def random_polytopes(r, size, seed=0):
    """Irregular polytopes anywhere, from deep overlap to far apart."""
    rng = np.random.default_rng(seed)
    for k in range(12):
        mesh_a, mesh_b = build.polytope36(k, size), build.polytope36(k + 20, size * rng.choice([0.05, 0.5, 1.0]))
        yield Case(f"polytopes {k}", mesh_a, random_pose(rng, 0.6 * size), mesh_b, random_pose(rng, 0.6 * size))


def boxes_on_a_grid(r, size, seed=0):
    """Axis-aligned boxes side by side: faces, edges and corners that coincide or miss by whole multiples of the resolution."""
    for steps in ((1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 0), (0.5, 0, 0), (0.25, 0.5, 0)):
        for gap in (-4 * r, 0.0, 2 * r, 0.25 * size):
            place = np.array(steps) * size + gap * (np.array(steps) == 1)
            case = box(upper=(size, size, size))
            known = gap * np.sqrt(sum(step == 1 for step in steps)) if 1 in steps and gap >= 0 else None
            yield Case(f"boxes {steps}, gap {gap:.3g}", case, np.eye(4), case, translation(place), known)


def one_in_the_other(r, size, seed=0):
    rng = np.random.default_rng(seed)
    outer = build.icosahedron(size)
    for share in (0.5, 0.01, 1.0):
        inner = build.icosahedron(size * share) if share != 0.01 else box().scaled(size * share)
        pose = random_pose(rng, size)
        yield Case(f"one of {share} inside", outer, pose, inner, pose @ random_pose(rng, 0.05 * size))
        yield Case(f"one of {share} inside, first", inner, pose, outer, pose)
    yield Case("identical", outer, np.eye(4), outer, np.eye(4))
    yield Case("almost identical", outer, np.eye(4), outer, translation((r, 0, 0)))


def flat_and_tiny(r, size, seed=0):
    """A slab thinner than the resolution, a sheet of five times it, a needle and a speck, on and off a face of a box."""
    rng = np.random.default_rng(seed)
    block = box(upper=(size, size, size))
    slab, sheet = box((0, 0, 0), (size, size, 1e-2 * r)), box((0, 0, 0), (size, size, 5 * r))
    needle = box((0, 0, 0), (size, r, 2 * r))
    speck = tetrahedron().scaled(0.5 * r)
    for thin in (slab, sheet, needle, speck):
        for gap in (-0.3 * size, 0.0, 0.5 * r, 1.1 * r, 5 * r, 0.2 * size):
            for kinds in (("face", "face"), ("vertex", "face"), ("edge", "edge")):
                world = random_pose(rng, size)
                pose = world @ facing(block, kinds[0], thin, kinds[1], gap, rng)
                yield Case(f"thin on a box, {kinds}, gap {gap:.3g}", block, world, thin, pose, gap)


def needle(rng):
    """A hull 1e5 long and some 1e-2 thick, most of it about its middle, and the lump that belongs to it."""
    long = hull(rng.normal(size=(10, 3)) * [1e5, 4e-3, 8e-2], name="needle")
    return long, hull(rng.normal(size=(8, 3)) * 0.02, name="lump")


def needles(r, seed=0, count=12):
    """Bodies whose extents differ by 1e6: a lump in the middle of a needle and off its features, and needles across each other."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        long, lump = needle(rng)
        world = random_pose(rng, 0.1)
        inside = rng.dirichlet(np.ones(len(long.vertices))) @ long.vertices
        yield Case(f"lump in needle {k}", long, world, lump, world @ translation(inside) @ random_pose(rng, 1e-3))
        other, _ = needle(rng)
        across = translation(inside) @ random_pose(rng, 1e-3) @ translation(-other.vertices.mean(axis=0))
        yield Case(f"needles {k} across", long, world, other, world @ across)
        for gap, kinds in ((10 * r, ("face", "vertex")), (1e-3 + 2 * r, ("edge", "edge")), (0.1, ("face", "face"))):
            for thing in (lump, other):
                pose = world @ facing(long, kinds[0], thing, kinds[1], gap, rng)
                yield Case(f"{thing.name} off needle {k}, {kinds}, gap {gap:.3g}", long, world, thing, pose)


FAMILIES = {
    "features at gaps": lambda r: features_at_gaps(r, 1.0),
    "features at gaps, size 1e-3": lambda r: features_at_gaps(r, 1e-3, seed=1, gaps=[-2e-4, 0.0, 1.1 * r, 1e-4]),
    "features at gaps, size 1e4": lambda r: features_at_gaps(r, 1e4, seed=2, gaps=[-2e3, -5 * r, 0.0, 1.2 * r, 10 * r, 1e3]),
    "features at gaps, far from the origin": lambda r: features_at_gaps(r, 1.0, 1e5, 3, [-0.2, -5 * r, 0.0, 1.2 * r, 10 * r, 0.1]),
    "random polytopes": lambda r: random_polytopes(r, 1.0),
    "boxes on a grid": lambda r: boxes_on_a_grid(r, 1.0),
    "one in the other": lambda r: one_in_the_other(r, 1.0),
    "flat and tiny": lambda r: flat_and_tiny(r, 1.0),
    "needles": lambda r: needles(r),
}

# For resolutions of a few hundredths of the size.
COARSE_FAMILIES = {
    "deep in each other": lambda r: features_at_gaps(r, 1.0, seed=4, gaps=[-0.45, -0.35, -0.25, -0.15, 1.05 * r, 1.5 * r, 3 * r]),
}

# The size of the bodies of a family, where it is not 1.
SIZES = {"features at gaps, size 1e-3": 1e-3, "features at gaps, size 1e4": 1e4}
