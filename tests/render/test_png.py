"""PNG files: pixels come back, bad input and failed writes leave the old file alone, and Pillow may be missing."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from jostle.errors import InputError
from jostle.render.png import encode_png, write_png


def decode(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "PNG"
        return np.array(image)


@pytest.mark.small
@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 5, 3), (5, 7, 4), (1, 9, 4), (9, 1, 3)])
def test_a_picture_comes_back_unchanged(tmp_path, shape):
    pixels = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    write_png(tmp_path / "a.png", pixels)
    assert np.array_equal(decode((tmp_path / "a.png").read_bytes()), pixels)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert encode_png(pixels) == encode_png(pixels.copy())


@pytest.mark.small
def test_views_with_strides_and_read_only_arrays_are_written_as_they_look():
    pixels = np.random.default_rng(8).integers(0, 256, (8, 9, 4), dtype=np.uint8)
    mirrored = pixels[::-1, ::2, :3]
    mirrored.flags.writeable = False
    assert np.array_equal(decode(encode_png(mirrored)), mirrored)


@pytest.mark.small
def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no directory .*nowhere"):
        write_png(tmp_path / "nowhere" / "a.png", np.zeros((2, 2, 3), dtype=np.uint8))
    with pytest.raises(InputError, match="is a directory"):
        write_png(tmp_path, np.zeros((2, 2, 3), dtype=np.uint8))


@pytest.mark.small
@pytest.mark.parametrize(
    "pixels", [np.zeros((2, 2)), np.zeros((2, 2, 3)), np.zeros((0, 2, 3), np.uint8), np.zeros((2, 2, 2), np.uint8)]
)
def test_what_is_no_picture_is_refused_and_leaves_the_old_file_alone(tmp_path, pixels):
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    with pytest.raises(InputError, match="uint8"):
        write_png(target, pixels)
    assert target.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.small
def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(InputError, match=r"a\.png: it cannot be written \(disk full\)"):
        write_png(tmp_path / "a.png", np.zeros((2, 2, 3), dtype=np.uint8))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.small
def test_without_pillow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"pictures need Pillow; pip install 'jostle\[pictures\]' brings it"):
        write_png(tmp_path / "a.png", np.zeros((2, 2, 3), dtype=np.uint8))
    assert list(tmp_path.iterdir()) == []
