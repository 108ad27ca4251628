"""GIF files are decoded by Pillow, which shares nothing with the writer."""

import io

import numpy as np
import pytest
from PIL import Image

from jostle.errors import InputError
from jostle.render.gif import encode_gif, write_gif
from jostle.render.palette import palette_of


def decode(data):
    with Image.open(io.BytesIO(data)) as image:
        frames, durations = [], []
        for number in range(image.n_frames):
            image.seek(number)
            durations.append(image.info["duration"])
            frames.append(np.array(image.convert("RGB")))
        return frames, durations, image.info.get("loop")


def noise(rng, colours, height, width, count):
    table = rng.integers(0, 256, (colours, 3)).astype(np.uint8)
    return [table[rng.integers(0, colours, (height, width))] for _ in range(count)]


@pytest.mark.small
@pytest.mark.parametrize("colours", [1, 2, 3, 4, 7, 8, 100, 255])
def test_frames_of_few_colours_come_back_exactly(colours):
    # Noise fills the table of codes in every way: widths grow, and in the larger frames it is cleared.
    frames = noise(np.random.default_rng(colours), colours, 23, 31, 3)
    decoded, durations, loop = decode(encode_gif(frames, 0.07))
    assert len(decoded) == 3
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))
    assert durations == [70, 70, 70]
    assert loop == 0


@pytest.mark.parametrize("size", [(1, 1), (1, 4097), (64, 64), (200, 300)])
def test_any_size_and_a_table_that_is_cleared_often(size):
    frames = noise(np.random.default_rng(5), 255, *size, 2)
    decoded, *_ = decode(encode_gif(frames))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))


@pytest.mark.parametrize("length", [*range(1, 40), *range(3820, 3860), 8000])
def test_a_code_that_ends_at_any_place_of_the_table(length):
    frame = noise(np.random.default_rng(length), 255, 1, length, 1)
    assert np.array_equal(decode(encode_gif(frame))[0][0], frame[0])


@pytest.mark.small
def test_many_colours_become_the_palette_and_stay_near():
    row = np.linspace(0, 255, 40).astype(np.uint8)
    ramp = np.stack([*np.meshgrid(row, row), np.full((40, 40), 90, np.uint8)], axis=2)
    frames = [ramp, ramp[::-1].copy(), ramp]
    palette, index_of = palette_of(frames, 255)
    decoded, *_ = decode(encode_gif(frames))
    for frame, seen in zip(frames, decoded, strict=True):
        assert np.array_equal(seen, palette[index_of(frame)])
        # 1,600 colours on a plane share 255 entries: about 16 steps apart.
        assert np.abs(seen.astype(int) - frame).mean() < 8
    assert len(palette) == 255


@pytest.mark.small
def test_a_rare_colour_keeps_an_entry():
    # A grey ramp of 60,000 pixels and nine red ones: the red ones are what the picture is about.
    ramp = np.repeat(np.linspace(0, 255, 300 * 4).reshape(1, -1, 1), 3, axis=2)
    frame = np.tile(ramp, (50, 1, 1)).astype(np.uint8)
    frame[..., 2] ^= np.arange(50, dtype=np.uint8)[:, None]
    frame[10:13, 10:13] = (214, 38, 54)
    seen = decode(encode_gif([frame]))[0][0]
    assert np.abs(seen[10:13, 10:13].astype(int) - (214, 38, 54)).max() <= 3


@pytest.mark.small
def test_what_stands_still_costs_next_to_nothing():
    rng = np.random.default_rng(1)
    first = noise(rng, 200, 60, 80, 1)[0]
    second = first.copy()
    second[5:8, 70:74] = first[0, 0]
    once, thrice = encode_gif([first]), encode_gif([first, first, second])
    assert len(thrice) - len(once) < 120
    decoded, *_ = decode(thrice)
    assert np.array_equal(decoded[-1], second)


@pytest.mark.small
def test_equal_frames_give_equal_bytes_and_progress_is_told():
    frames = noise(np.random.default_rng(2), 9, 8, 9, 4)
    told = []
    assert encode_gif(frames, progress=told.append) == encode_gif(frames)
    assert told == [1, 2, 3, 4]
    assert decode(encode_gif(frames, loop=False))[2] is None


@pytest.mark.small
@pytest.mark.parametrize(
    ("frames", "seconds", "words"),
    [
        ([], 0.1, "frames is empty"),
        ([np.zeros((2, 2, 3))], 0.1, r"frames\[0\] has shape \(2, 2, 3\) and dtype float64"),
        ([np.zeros((2, 2, 4), np.uint8)], 0.1, r"pass \(h, w, 3\) uint8"),
        ([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8)], 0.1, r"frames\[1\] .* all must have one size"),
        ([np.zeros((2, 2, 3), np.uint8)], 0.001, "seconds is 0.001"),
        ([np.zeros((2, 2, 3), np.uint8)], float("nan"), "seconds"),
    ],
)
def test_what_is_refused(frames, seconds, words):
    with pytest.raises(InputError, match=words):
        encode_gif(frames, seconds)


@pytest.mark.small
def test_a_file_is_whole_or_not_there(tmp_path):
    frames = noise(np.random.default_rng(3), 5, 4, 4, 2)
    write_gif(tmp_path / "a.gif", frames)
    assert (tmp_path / "a.gif").read_bytes() == encode_gif(frames)

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gif(tmp_path / "b.gif", frames, progress=interrupt)
    with pytest.raises(InputError, match="no directory"):
        write_gif(tmp_path / "no" / "a.gif", frames)
    with pytest.raises(InputError, match="is a directory"):
        write_gif(tmp_path, frames)
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]
