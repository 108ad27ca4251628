"""The seed of a search for the closest faces: two faces that were closest the last time.

Under the new poses their distance is an upper bound, and the direction between their closest points the first arrow: a body that
moves a little has nearly the same closest faces. They are no answer. The search begins as if unknown faces a little farther apart
were known, so it meets these two again, and all that tie with them.

The answer is that of a search without a seed, to the byte. Where faces touch, or tie so often that faces are given up, it depends
on the order of the search: then the search begins again without a seed, and the next one has none.
"""

from __future__ import annotations

from jostle.geometry.contact_kind import NEAR
from jostle.geometry.triangle import Triangle, triangle_in_lane
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import divided, length, minus, write_point_from
from jostle.kernels.jit import kernel
from jostle.methods.wide_tree.leaf_cache import gather_faces, move
from jostle.methods.wide_tree.nearest_bounds import MOST_TIES
from jostle.methods.wide_tree.nearest_work import NONE, NearestWork, NearLeaf
from jostle.methods.wide_tree.tree import PlacedTree
from jostle.report.packing import FACE_BITS

# After a jump, the seed is as far as any faces and costs the search up to 16 % more. Within this factor of its last distance it
# seldom is: 0 ± 2 % on random poses.
MOST_CHANGE = 1.5
MARGIN = 2.0  # bands: the seed is certainly nearer than the limit less a band, so it is kept when it is met


@kernel
def begin_at_seed(work: NearestWork, x: PlacedTree, y: PlacedTree) -> None:
    """Take limit and arrow from the seed, if there is one and it seems near."""
    seed, best, band = work.seed, work.best, work.placement.band
    seed.is_used = 0
    if seed.places == NONE:
        return
    place_x, place_y = seed.places >> FACE_BITS, seed.places & ((1 << FACE_BITS) - 1)
    if work.counts.swapped != 0:
        place_x, place_y = place_y, place_x
    face_x, face_y = _face_in_world(work.leaves_x[0], x, place_x), _face_in_world(work.leaves_y[0], y, place_y)
    distance, on_x, on_y = closest_points_of_triangles(face_x, face_y)
    if not (band < distance < MOST_CHANGE * seed.distance and seed.distance < MOST_CHANGE * distance):
        return
    seed.is_used = 1
    arrow = minus(on_y, on_x)
    arrow = divided(arrow, length(arrow))
    write_point_from(best.arrow, 0, arrow)
    write_point_from(work.leaves.last_arrow, 0, arrow)
    best.seen, best.distance = distance, distance + MARGIN * band


@kernel
def keep_seed(work: NearestWork) -> bool:
    """Keep the closest faces as the next seed, if they are certain; return whether the answer stands."""
    seed, best = work.seed, work.best
    if best.kind == NEAR and best.distance > 0.0 and work.counts.ties <= MOST_TIES:
        seed.places, seed.distance = best.places, best.distance
        return True
    seed.places = NONE
    return seed.is_used == 0


@kernel(forceinline=True)
def _face_in_world(leaf: NearLeaf, tree: PlacedTree, place: int) -> Triangle:
    """Return the face at a place in the tree's order; a slot that holds no leaf yet serves as scratch."""
    gather_faces(leaf.corners, tree.arrays, place, 1)
    move(leaf.corners, tree.pose)
    return triangle_in_lane(leaf.corners, 0)
