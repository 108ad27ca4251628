"""Listener: callbacks of a session, called from its thread."""

from __future__ import annotations

from jostle.viewer.settings import Settings
from jostle.viewer.snapshot import Snapshot
from jostle.viewer.subject import Subject


class Listener:
    """Callbacks of a session; subclasses override what they need."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the result of a detection."""

    def settings_changed(self, settings: Settings) -> None:
        """Show the settings: changed, or still the old ones after a refusal."""

    def bodies_added(self, subject: Subject) -> None:
        """Show the bodies of a subject that were not there before."""

    def problem(self, text: str) -> None:
        """Show a message."""
