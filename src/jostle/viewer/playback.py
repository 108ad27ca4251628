"""Playback of a motion: the frame shown, and when the next is due.

Times are passed in, so that tests need no clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle.viewer.frames import Frames

FRAMES_PER_SECOND = 30.0


@dataclass
class Playback:
    """The place in a motion.

    Parameters
    ----------
    frames : Frames
    number : int
        Of the frame that is shown.
    playing : bool
    rate : float
        Frames per second while it plays.
    """

    frames: Frames
    number: int = 0
    playing: bool = False
    rate: float = FRAMES_PER_SECOND
    _due: float = 0.0  # when the next frame is to be shown

    def play(self, now: float) -> None:
        """Play from here, or from the start if this is the last frame."""
        if self.number >= self.frames.count - 1:
            self.number = -1
        self.playing, self._due = True, now

    def pause(self) -> None:
        """Stay at this frame."""
        self.playing = False

    def seek(self, number: int) -> None:
        """Show a frame; one that does not exist becomes the nearest that does."""
        self.number = min(max(number, 0), self.frames.count - 1)

    def step(self, by: int) -> None:
        """Pause, and show a frame before or after this one."""
        self.pause()
        self.seek(self.number + by)

    def advance(self, now: float) -> bool:
        """Advance to the next frame if it is due; return whether it was. The motion loops.

        Frames are never left out: where detection is slower than the rate, the motion plays slower. A motion that looks at every
        frame misses no contact that a recording has.
        """
        if not self.playing or now < self._due:
            return False
        self.number = self.number + 1 if self.number + 1 < self.frames.count else 0
        # A frame that came late does not make those after it come faster.
        later = self._due + 1.0 / self.rate
        self._due = later if later > now else now + 1.0 / self.rate
        return True

    def seconds_until_due(self, now: float) -> float | None:
        """How long to wait for the next frame; None if none will come."""
        return max(self._due - now, 0.0) if self.playing else None
