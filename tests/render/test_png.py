"""PNG files are decoded by a reader written from the specification, which shares nothing with the writer."""

import struct
import zlib

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.render.png import encode_png, write_png


def decode(data: bytes) -> np.ndarray:
    assert data[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
    place, chunks = 8, []
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        (check,) = struct.unpack_from(">I", data, place + 8 + length)
        assert check == zlib.crc32(kind + body)
        chunks.append((kind, body))
        place += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, bits, colour_type, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (bits, compression, filtering, interlace) == (8, 0, 0, 0)
    channels = {2: 3, 6: 4}[colour_type]
    raw = zlib.decompress(chunks[1][1])
    stride = width * channels
    assert len(raw) == height * (stride + 1)
    before, rows = bytes(stride), []
    for y in range(height):
        line = raw[y * (stride + 1) : (y + 1) * (stride + 1)]
        row = bytearray()
        for x, value in enumerate(line[1:]):
            left = row[x - channels] if x >= channels else 0
            row.append((value + {0: 0, 1: left, 2: before[x], 3: (left + before[x]) // 2}[line[0]]) % 256)
        before = bytes(row)
        rows.append(before)
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(height, width, channels)


@pytest.mark.small
@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 5, 3), (5, 7, 4), (1, 9, 4), (9, 1, 3)])
def test_a_picture_comes_back_unchanged(tmp_path, shape):
    pixels = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    write_png(tmp_path / "a.png", pixels)
    assert np.array_equal(decode((tmp_path / "a.png").read_bytes()), pixels)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


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
