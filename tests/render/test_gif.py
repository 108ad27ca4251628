"""GIF files: colours, frames, durations and loops come back; rare colours keep an entry of the shared palette."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from jostle.errors import InputError
from jostle.render.gif import encode_gif, write_gif


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
@pytest.mark.parametrize("colours", [1, 2, 3, 4, 8, 100, 254, 255])
def test_frames_of_few_colours_come_back_exactly(colours):
    frames = noise(np.random.default_rng(colours), colours, 23, 31, 3)
    decoded, durations, loop = decode(encode_gif(frames, 0.07))
    assert len(decoded) == 3
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))
    assert durations == [70, 70, 70]
    assert loop == 0


@pytest.mark.small
def test_colours_a_step_apart_are_kept_apart():
    greys = np.arange(255, dtype=np.uint8)[:, np.newaxis].repeat(3, axis=1)
    frames = [greys.reshape(15, 17, 3), greys[::-1].reshape(15, 17, 3)]
    decoded, *_ = decode(encode_gif(frames))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))


@pytest.mark.small
@pytest.mark.parametrize("size", [(1, 1), (1, 4097), (64, 64)])
def test_any_size(size):
    frames = noise(np.random.default_rng(5), 255, *size, 2)
    decoded, *_ = decode(encode_gif(frames))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))


@pytest.mark.small
@pytest.mark.parametrize("side", [40, 300])
def test_many_colours_share_a_palette_and_stay_near(side):
    # The larger side has 90,000 colours, more than a palette is chosen from.
    row = np.linspace(0, 255, side)
    red, green = np.meshgrid(row, row)
    ramp = np.stack([red, green, 4.0 * (np.arange(side * side).reshape(side, side) % 8)], axis=2).astype(np.uint8)
    ramp[..., 2] += 90
    frames = [ramp, ramp[::-1].copy(), ramp]
    decoded, *_ = decode(encode_gif(frames))
    for frame, seen in zip(frames, decoded, strict=True):
        # The colours lie near a plane, where 255 entries are about 16 steps apart.
        assert np.abs(seen.astype(int) - frame).mean() < 8
    assert np.array_equal(decoded[0], decoded[2])
    assert len(np.unique(np.concatenate(decoded).reshape(-1, 3), axis=0)) > 200


@pytest.mark.small
def test_rare_colours_keep_their_entries():
    # Twelve bodies of 600 shades each, and nine pixels of red: these are what the picture is about.
    hues = np.random.default_rng(1).uniform(90, 200, (12, 1, 3))
    frame = np.clip(hues * np.linspace(0.2, 1.2, 600)[:, np.newaxis], 0, 255).astype(np.uint8).repeat(30, axis=0)
    reds = (np.linspace(0.4, 1.0, 9)[:, np.newaxis] * (214, 38, 54)).astype(np.uint8).reshape(3, 3, 3)
    frame[10:13, 10:13] = reds
    seen = decode(encode_gif([frame]))[0][0]
    assert np.abs(seen[10:13, 10:13].astype(int) - reds).max() <= 8


@pytest.mark.small
def test_a_background_of_many_near_shades_has_no_bands():
    # Forty pale shades in broad stripes, and a square of 2,500 other colours.
    frame = np.repeat(np.arange(210, 250, dtype=np.uint8), 5)[:, np.newaxis, np.newaxis].repeat(200, axis=1).repeat(3, axis=2)
    frame[:50, :50] = np.random.default_rng(6).integers(0, 256, (50, 50, 3))
    seen = decode(encode_gif([frame]))[0][0]
    assert np.abs(seen[50:].astype(int) - frame[50:]).max() <= 3


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
def test_equal_frames_stay_frames_of_their_own_duration():
    first, second = noise(np.random.default_rng(4), 9, 6, 7, 2)
    frames = [first, first, first, second, second, first]
    decoded, durations, _ = decode(encode_gif(frames, 600))
    assert durations == [600_000] * 6
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(frames, decoded, strict=True))


@pytest.mark.small
def test_equal_frames_give_equal_bytes_and_report_progress():
    frames = noise(np.random.default_rng(2), 9, 8, 9, 4)
    counts = []
    assert encode_gif(frames, progress=counts.append) == encode_gif(frames)
    assert counts == [1, 2, 3, 4]
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


@pytest.mark.small
def test_without_pillow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"pip install 'jostle\[pictures\]' brings it"):
        write_gif(tmp_path / "a.gif", [np.zeros((2, 2, 3), np.uint8)])
    assert list(tmp_path.iterdir()) == []
