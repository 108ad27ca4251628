"""The kinds of contact, as the small integers that kernels write into reports.

Ordered by severity: the kind of a body pair is the largest of its rows, or OVERLAPPING. 0 is no contact.
"""

NEAR = 1  # apart, but within the requested clearance
TOUCHING = 2  # a common point, but an arbitrarily small motion can separate them
B_IN_A = 3  # no common point of the surfaces; b lies inside the solid a
A_IN_B = 4  # no common point of the surfaces; a lies inside the solid b
CROSSING = 5  # the two pass through each other; no small motion separates them
OVERLAPPING = 6  # of two closed bodies, never of faces: no faces cross, the surfaces share a point, and the interiors meet
