"""Playback of a motion: the current frame, and when the next is due.

Times are passed in, so that tests need no clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle.viewer.frames import Frames

FRAMES_PER_SECOND = 30.0


@dataclass
class Playback:
    """The position in a motion.

    Parameters
    ----------
    frames : Frames
    number : int
        Of the current frame.
    playing : bool
    rate : float
        Frames per second.
    """

    frames: Frames
    number: int = 0
    playing: bool = False
    rate: float = FRAMES_PER_SECOND
    _due: float = 0.0  # when to show the next frame

    def play(self, now: float) -> None:
        """Play from here, or from the start if this is the last frame."""
        if self.number >= self.frames.count - 1:
            self.number = -1
        self.playing, self._due = True, now

    def pause(self) -> None:
        """Stay at this frame."""
        self.playing = False

    def seek(self, number: int) -> None:
        """Show a frame; numbers out of range give the first or last one."""
        self.number = min(max(number, 0), self.frames.count - 1)

    def step(self, by: int) -> None:
        """Pause, and show a frame before or after this one."""
        self.pause()
        self.seek(self.number + by)

    def advance(self, now: float) -> bool:
        """Advance to the next frame if it is due; return whether it was. The motion loops.

        Frames are never skipped, so that no recorded contact is missed: if detection is slower than the rate, so is the motion.
        """
        if not self.playing or now < self._due:
            return False
        self.number = self.number + 1 if self.number + 1 < self.frames.count else 0
        # A late frame does not make the next ones faster.
        later = self._due + 1.0 / self.rate
        self._due = later if later > now else now + 1.0 / self.rate
        return True

    def seconds_until_due(self, now: float) -> float | None:
        """Return the seconds until the next frame, None if not playing."""
        return max(self._due - now, 0.0) if self.playing else None
