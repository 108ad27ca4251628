"""Meshes of the kinds that people have: CAD parts, sheets, links, terrain, compounds.

Sizes are about 2, because distances are compared with an absolute tolerance (`compare.SAME_DISTANCE`), and centres are near the
origin. Equal arguments give byte-equal meshes. Shapes of `jostle.shapes.build` (cone, capsule, cloth, blob, box) are taken from
there. Meshes are closed, manifold and face outward unless a docstring says otherwise; none has a face without area.
"""
