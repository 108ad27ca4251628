"""Listener: who is told what happens in a session; called from the session's thread."""

from __future__ import annotations

from jostle.viewer.settings import Settings
from jostle.viewer.snapshot import Snapshot
from jostle.viewer.subject import Subject


class Listener:
    """Somebody who wants to know; what is not of interest may be left as it is here."""

    def show(self, snapshot: Snapshot) -> None:
        """Draw what was found."""

    def settings_changed(self, settings: Settings) -> None:
        """Show other settings; also the old ones again where new ones were refused."""

    def bodies_added(self, subject: Subject) -> None:
        """Show that there are more bodies now, after those that were there."""

    def problem(self, text: str) -> None:
        """Tell people a sentence."""
