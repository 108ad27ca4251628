"""A scene file becomes a world."""

import numpy as np
import pytest

import jostle
from jostle.motion.pose import translation
from tests.tiny import box


def test_a_gltf_scene_becomes_a_world(tmp_path):
    import trimesh

    mesh = trimesh.Trimesh(box().vertices, box().faces, process=False)
    scene = trimesh.Scene()
    for k in range(3):
        scene.add_geometry(mesh, node_name=f"part {k}", geom_name="box", transform=translation((0.75 * k, 0.25 * k, 0.125 * k)))
    scene.export(tmp_path / "parts.glb")
    world = jostle.World.from_scene(tmp_path / "parts.glb")
    assert sorted(body.name for body in world) == ["part 0", "part 1", "part 2"]
    assert world.units == "m"
    assert len({body.mesh.digest for body in world}) == 1
    touching = {frozenset((world[a].name, world[b].name)) for a, b in world.detect().pairs}
    assert touching == {frozenset(("part 0", "part 1")), frozenset(("part 1", "part 2"))}
    assert np.allclose(world["part 2"].pose, translation((1.5, 0.5, 0.25)))
    with pytest.raises(jostle.InputError, match=r"parts\.glb: .*Limits\(nodes="):
        jostle.World.from_scene(tmp_path / "parts.glb", limits=jostle.Limits(nodes=2))
