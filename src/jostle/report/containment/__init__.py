"""Solids: which closed bodies share interior points, and which parts lie inside.

The interior of a closed body is the set of points around which its surface winds (`geometry/winding.py`): inverted meshes and
overlapping shells have one, a cavity with its own reversed shell is not part of it. Two interiors meet if and only if

1. a face passes through another one: the pair has a row of kind CROSSING; or
2. at an edge of one that lies in a face or along an edge of the other, the two have a common sector around that edge
   (`sectors.py`; faces in a common plane end in such edges, so they need no test of their own); or
3. a sheet of one lies inside the other and has at most single points in common with its surface: one winding number decides.

Proof: let x be inside both, and C the region around it that neither surface enters. Some piece of a face bounds C. If it belongs
to both surfaces, their faces overlap in a common plane, with x's side as the inner side of both, and 2 holds at the edges of that
overlap. If it belongs to A alone, it lies inside B, and so does all of A's surface that can be reached from it without meeting B's.
That piece of A's surface ends on B's surface: either along segments, where 1 or 2 holds, or in single points alone, and then it
consists of whole sheets (3).

Cases 2 and 3 assume that a surface neither touches nor passes through itself except at welded vertices and edges: around an edge
its fan describes the body, and a sheet has its inside on one side. Otherwise winding numbers at every contact decide the pair
(`edge_pieces.py`). Solids of one body that touch or pass through each other are such a case: what touches one of them from outside
may lie inside another.

It is enough that this holds for the faces with contacts (`is_regular_at` in `shapes/topology.py`), far fewer in a large mesh.
Let a face of A bound the common interior and lie inside B, where A winds on one side. Follow A's surface from there until it meets
B's along a segment. The face that ends there lies inside B too, and as it touches no other face of A, A winds on one of its sides:
2 holds. If there is no segment, whole sheets lie inside B (3). Faces in a common plane all have contacts.

| file | holds |
|---|---|
| `solids.py` | the answer for a list of pairs |
| `solid_bodies.py`, `contact_work.py` | data of its kernels: bodies by address; pairs, rows, marks and questions |
| `face_contacts.py` | the kernel: for each body pair, its contacts along edges, and the points left to the winding number |
| `edge_contacts.py` | contacts along edges: an edge in a face, or along an edge |
| `sectors.py` | the sectors of two bodies around a line |
| `edge_place.py` | where an edge lies in the plane of a face |
| `edge_pieces.py` | the answer around faces without area, edges of three and more faces and inner shells, and for bodies that touch
  themselves |
| `edge_work.py`, `edge_cuts.py`, `piece_windings.py` | its kernels: their data, cuts of an edge, and winding numbers around its
  pieces |
| `rational.py` | the same in integers, for few rows and where floats are uncertain |
"""

from jostle.report.containment.contact_work import PairRows
from jostle.report.containment.solids import SolidRows, any_boxes_meet, solid_rows

__all__ = ["PairRows", "SolidRows", "any_boxes_meet", "solid_rows"]
