"""Each mesh is prepared once for all tests that ask for the same voxels: most of the time of a test is spent there."""

import functools

from jostle.methods.voxmap import method as voxmap_method
from jostle.methods.voxmap.shape import prepare

SETTINGS = ("accuracy", "across", "axis", "surface_only", "memory", "depth")


@functools.cache
def _prepared(mesh, settings):
    return prepare(mesh.mesh, settings)


class _ByContent:
    """A mesh that is equal to every mesh with the same digest."""

    def __init__(self, mesh):
        self.mesh = mesh

    def __hash__(self):
        return hash(self.mesh.digest)

    def __eq__(self, other):
        return self.mesh.digest == other.mesh.digest


def prepare_each_mesh_once(monkeypatch):
    """Let the method take shapes that were made before, whatever its settings that do not matter for them."""

    def once(mesh, settings, progress=None):
        own = voxmap_method.Voxmap(**{name: getattr(settings, name) for name in SETTINGS})
        return _prepared(_ByContent(mesh), own)

    monkeypatch.setattr(voxmap_method, "prepare", once)
