"""The corners of a face as nine numbers, for kernels that take scalars."""

from jostle.kernels.jit import kernel


@kernel
def corners(vertices, faces, i):
    """Return the nine coordinates of the corners of face i; vertices (n,3), faces (m,3)."""
    p, q, r = faces[i, 0], faces[i, 1], faces[i, 2]
    return (
        vertices[p, 0], vertices[p, 1], vertices[p, 2],
        vertices[q, 0], vertices[q, 1], vertices[q, 2],
        vertices[r, 0], vertices[r, 1], vertices[r, 2],
    )  # fmt: skip
