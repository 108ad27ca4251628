"""`jostle shot`: red when and only when bodies touch, overlays, animations, refusals."""

import sys

import numpy as np
import pytest
from PIL import Image

from jostle import InputError, JostleError, World, scenes
from jostle.cli.app import app
from jostle.geometry.pose import translation
from tests.cli.test_cli import write_obj
from tests.tiny import box

SMALL = ("--size", "96x72")


@pytest.fixture
def shot(capsys, tmp_path):
    """The command in this process: most of its time would go into loading compiled code."""

    def run(*arguments, name="a.png"):
        out = tmp_path / name
        app(["shot", *(str(word) for word in arguments), "--out", str(out)], standalone_mode=False)
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
        with Image.open(out) as image:
            frames = []
            for number in range(getattr(image, "n_frames", 1)):
                image.seek(number)
                frames.append(np.array(image.convert("RGB")))
        return (frames if name.endswith(".gif") else frames[0]), capsys.readouterr().out

    return run


@pytest.fixture
def block(tmp_path):
    return write_obj(tmp_path / "block.obj", box())


def is_red(pixels):
    wide = pixels.astype(int)
    return (wide[..., 0] > 2 * wide[..., 1]) & (wide[..., 0] > 2 * wide[..., 2])


def is_amber(pixels):
    wide = pixels.astype(int)
    return (wide[..., 0] > 1.2 * wide[..., 1]) & (wide[..., 1] > 1.5 * wide[..., 2])


def test_red_when_and_only_when_files_touch_and_amber_when_they_are_near(shot, block):
    for x, red in ((0.999, True), (1.0, True), (1.001, False), (1.5, False)):
        pixels, text = shot(block, block, "--translate", x, 0, 0, *SMALL)
        assert pixels.shape == (72, 96, 3)
        assert is_red(pixels).any() == red, x
        assert ("1 pair touches" in text) == red
    pixels, text = shot(block, block, "--translate", 1.5, 0, 0, "--clearance", 0.6, *SMALL)
    assert is_amber(pixels).any()
    assert not is_red(pixels).any()
    assert "no pair touches, 1 near" in text


def test_methods_that_tell_points_or_bodies_only(shot, block):
    for method, how_much in (("voxmap(across=16)", 1), ("separating_plane", 400)):
        touching, _ = shot(block, block, "--translate", 0.8, 0, 0, "--method", method, "--size", "192x144")
        assert is_red(touching).sum() >= how_much or (touching[..., 0].astype(int) - touching[..., 1] > 60).sum() >= how_much
        free, _ = shot(block, block, "--translate", 1.8, 0, 0, "--method", method, "--size", "192x144")
        assert (free[..., 0].astype(int) - free[..., 1] < 30).all()


def test_a_scene_is_shown_where_bodies_first_touch(shot):
    scene = "two_spheres(faces=168, cycles=10)"
    pixels, text = shot(scene, *SMALL)
    assert "frame 9 of 10" in text
    assert is_red(pixels).any()
    before, text = shot(scene, "--frame", -2, *SMALL)
    assert "frame 8 of 9" in text or "frame 8 of 10" in text
    assert not is_red(before).any()
    turned, _ = shot(scene, "--from", 1, 0, 0, *SMALL)
    assert not np.array_equal(turned, pixels)
    assert np.array_equal(shot(scene, *SMALL)[0], pixels)  # byte by byte


@pytest.mark.parametrize(
    ("method", "what"),
    [("face_octree", "regions"), ("wide_tree", "1"), ("bounding_tree", "level 1"), ("bounding_tree(volume=sphere)", "default"),
     ("octree_update", "nodes"), ("voxmap(across=16)", "shell"), ("edge_face", "edges"), ("brute_force", "default")],
)  # fmt: skip
def test_the_overlay_of_a_method_is_drawn_and_named(shot, block, method, what):
    place = (block, block, "--translate", 0.5, 0.25, 0.125, "--method", method, "--see-through", "bodies", *SMALL)
    camera = ("--at", 0.5, 0.5, 0.5, "--zoom", 0.5)
    without, _ = shot(*place, *camera)
    pixels, text = shot(*place, *camera, "--overlay", what)
    assert "shown: " in text
    assert (without != pixels).any(axis=2).sum() > 40


def test_images_of_a_method_are_set_beside(shot, block):
    pixels, text = shot(
        block, block, "--translate", 0.5, 0.25, 0.1, "--method", "image_space", "--overlay", "depth", "--size", "200x160"
    )
    assert "shown: depths of 1 pairs" in text
    assert pixels.shape[0] == 160
    assert pixels.shape[1] > 260
    assert len(np.unique(pixels[:, 200:].reshape(-1, 3), axis=0)) > 4


def test_captions_contacts_and_the_ground(shot, block):
    place = (block, block, "--translate", 0.5, 0.25, 0.125, "--size", "240x180")
    plain, _ = shot(*place)
    captioned, _ = shot(*place, "--caption", "auto")
    rows = np.flatnonzero((captioned != plain).any(axis=(1, 2)))
    assert rows.min() > 150
    marked, _ = shot(*place, "--contacts")
    assert (marked != plain).any()
    dry, _ = shot(*place, "--no-ground")
    assert (dry.astype(int).sum(axis=2) >= plain.astype(int).sum(axis=2)).all()
    assert (dry != plain).any()


def test_a_motion_becomes_a_gif_that_is_red_in_the_frames_that_touch(shot, tmp_path):
    motion = scenes.make_scene("two_spheres", faces=168, cycles=6).record()
    motion.save(tmp_path / "m.npz")
    frames, text = shot(tmp_path / "m.npz", "--gif", "--fps", 10, *SMALL, name="m.gif")
    assert "6 frames, pairs in 1 of them" in text
    assert [is_red(frame).any() for frame in frames] == [False] * 5 + [True]
    some, _ = shot(tmp_path / "m.npz", "--every", 2, "--frame", 1, *SMALL, name="some.gif")
    assert len(some) == 3
    assert is_red(some[-1]).any()
    with Image.open(tmp_path / "m.gif") as image:
        assert image.info["duration"] == 100


def test_a_deforming_body_is_drawn_as_it_is(shot):
    scene = "deforming_spheres(count=1, faces=168, speed=0, turn=0, swell=0.5)"
    first, _ = shot(scene, "--frame", 0, *SMALL)
    later, _ = shot(scene, "--frame", 5, *SMALL)
    assert (first != later).any(axis=2).sum() > 100


def test_a_saved_world_and_a_scene_file(shot, tmp_path):
    import trimesh

    world = World()
    world.add(box(), name="a")
    world.add(box(), translation((1.0, 0.0, 0.0)), "b")
    world.save(tmp_path / "world.npz")
    pixels, text = shot(tmp_path / "world.npz", *SMALL)
    assert "2 bodies, 1 pair touches" in text
    assert is_red(pixels).any()
    trimesh.Scene([trimesh.creation.box()]).export(tmp_path / "one.glb")
    assert "1 body, no pair touches" in shot(tmp_path / "one.glb", *SMALL)[1]
    assert len(shot(tmp_path / "one.glb", "--frames", 3, *SMALL, name="one.gif")[0]) == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing_like_it",), "there is no scene and no file 'nothing_like_it'"),
        (("spheres", "--size", "12"), "--size 12: write WIDTHxHEIGHT"),
        (("spheres", "--from", 0, 0, 0), "--from 0 0 0: this is no direction"),
        (("spheres", "--frame", 1000, "--method", "wide"), "there is no method 'wide'"),
        (("two_spheres(cycles=5)", "--frame", 7), "--frame 7: there are frames 0 … 4"),
        (("two_spheres(cycles=5)", "--overlay", "cells", "--method", "face_octree(level=99)"), "level"),
        (("two_spheres(cycles=5)", "--overlay", "nodes", "--method", "face_octree"), "what is 'nodes'"),
        (("two_spheres(cycles=5)", "--overlay", "nodes"), "what is 'nodes'"),
        (("spheres", "--translate", 1, 0, 0), "--translate and --rotate move the last of mesh files"),
        (("spheres", "--zoom", 0), "zoom is 0.0"),
        (("spheres", "--at", "inf", 0, 0), "picture: middle[0, 0] is inf"),
        (("spheres", "--fill", 2), "fill is 2.0"),
        (("spheres", "--edges", "all"), "edges is 'all'"),
        (("spheres", "--gif"), "with --gif the name must end in .gif"),
        (("spheres", "--method", "bounding_tree(motion=True)"), "leave out motion"),
        (("hands", "--method", "voxmap"), "rigid"),
    ],
)
def test_what_is_refused_before_anything_is_written(shot, tmp_path, words, sentence):
    with pytest.raises(JostleError) as caught:
        shot(*words, *(() if "--size" in words else SMALL))
    assert sentence in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [["--frames", 10**20], ["--every", 10**20], ["--frame", 10**20]], ids=str)
def test_motions_without_end_are_refused(shot, option):
    ending = "png" if option[0] == "--frame" else "gif"
    with pytest.raises(InputError, match=r"frames of spheres; the limit is 100,000, so lower --frame, --frames or --every"):
        shot("spheres", *option, *SMALL, name=f"long.{ending}")


def test_names_that_cannot_be_written(shot, tmp_path):
    for name, words in (("a.jpg", "must end in .png"), ("no/a.png", "there is no folder")):
        with pytest.raises(InputError, match=words):
            shot("spheres", name=name)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        shot("spheres", name="folder.png")


@pytest.mark.parametrize(
    "words",
    [
        ["shot", "spheres", "--out", "a.png"],
        ["shot", "spheres", "--out", "a.gif"],
        ["check", "a.obj", "b.obj", "--picture", "a.png"],
        ["fit", "headlight", "--move", "cover_1", "--picture", "a.png"],
    ],
    ids=" ".join,
)
def test_without_pillow_the_extra_is_named_before_any_work(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"pictures need Pillow; pip install 'jostle\[pictures\]' brings it"):
        app(words, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_no_file(tmp_path, monkeypatch):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("jostle.pictures.picture_of", interrupt)
    words = ["shot", "two_spheres(cycles=5, faces=168)", *SMALL, "--out", str(tmp_path / "a.gif")]
    assert app(words, standalone_mode=False) == 130
    assert list(tmp_path.iterdir()) == []
