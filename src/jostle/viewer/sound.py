"""A short sound when two bodies begin to touch (Kitamura et al. 1998, §4.4).

An audio element plays it automatically; browsers allow that after a first click on the page.
"""

from __future__ import annotations

import base64
import functools
import io
import wave

import numpy as np

from jostle.viewer.html import Html, fill

RATE = 22_050  # samples a second
SECONDS = 0.12


@functools.cache
def knock() -> bytes:
    """Return the sound as a WAV file: a wooden knock, two tones that fade."""
    time = np.arange(int(RATE * SECONDS)) / RATE
    tone = np.sin(2.0 * np.pi * 520.0 * time) + 0.5 * np.sin(2.0 * np.pi * 1320.0 * time)
    samples = 0.35 * tone * np.exp(-time / 0.022) * np.minimum(1.0, time / 0.002)
    file = io.BytesIO()
    with wave.open(file, "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(RATE)
        stream.writeframes(np.clip(32767.0 * samples, -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()


def as_html(number: int) -> Html:
    """Return an element that plays the sound once; a new number makes it play again."""
    data = Html(base64.b64encode(knock()).decode())
    return fill(
        '<audio autoplay class="jostle-knock" data-knock="{number}" src="data:audio/wav;base64,{data}"></audio>',
        number=number, data=data,
    )  # fmt: skip
