"""A scene file becomes a world."""

import base64
import json
import struct

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.viewer.subject import subject_of
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


def test_a_number_makes_a_name_unique(tmp_path):
    corners = base64.b64encode(struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)).decode()
    names = ["pin 3", "pin", "pin", "pin", "pin"]
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [*range(len(names))]}],
        "nodes": [{"name": name, "mesh": 0} for name in names],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64," + corners}],
    }
    file = tmp_path / "pins.gltf"
    file.write_text(json.dumps(scene))
    unique = ("pin 3", "pin", "pin 2", "pin 4", "pin 5")
    world = jostle.World.from_scene(file)
    assert tuple(body.name for body in world) == unique
    assert subject_of([str(file)]).start.names == unique
    mesh = jostle.Mesh(box().vertices, box().faces, name="box")
    assert [world.add(mesh, name=name).name for name in ("box 7", None, None)] == ["box 7", "box", "box 8"]
