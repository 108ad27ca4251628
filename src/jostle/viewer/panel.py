"""The panel: numbers, detection times, the method and its options, and the motion.

All browsers share it. Elements that Python sets make no requests: such events have no client.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import viser
import viser.uplot

from jostle.registry import METHODS
from jostle.settings_text import split_name
from jostle.viewer.html import Html, add_html, show_html
from jostle.viewer.numbers import as_html
from jostle.viewer.session import Session
from jostle.viewer.settings import RESPONSES, Settings, overlay_names
from jostle.viewer.snapshot import Snapshot

RESPONSE_LABELS = {"show": "only show", "push": "are pushed away", "bounce": "bounce", "deform": "deform"}


class Panel:
    """The shared part of the panel of every browser."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        gui = server.gui
        self._numbers = add_html(gui, self._numbers_html(None, ""))
        self._curve = gui.add_uplot(
            data=(np.zeros(2), np.zeros(2)),
            series=(
                viser.uplot.Series(label="detection"),
                viser.uplot.Series(label="ms", stroke="rgb(196,46,60)", width=1.5, fill="rgba(196,46,60,0.10)"),
            ),
            axes=(viser.uplot.Axis(show=False), viser.uplot.Axis(size=44)),
            scales={"x": viser.uplot.Scale(time=False)},
            legend=viser.uplot.Legend(show=False),
            cursor=viser.uplot.Cursor(show=False),
            aspect=2.4,
            padding=(10, 8, 8, 0),
            visible=False,  # until there is a curve
        )
        self._add_motion(gui)
        self._add_detection(gui, session.settings)
        self._add_bodies(gui, session.settings)
        with gui.add_folder("Images of the method", visible=False) as self.gallery:
            pass

    # ------------------------------------------------------------------ elements

    def _add_motion(self, gui: viser.GuiApi) -> None:
        playback = self._session.playback
        if playback is None:
            return
        with gui.add_folder("Motion"):
            self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
            steps = gui.add_button_group("step", ("◀ back", "forward ▶"))
            last = max(playback.frames.count - 1, 1)
            self._slider: Any = gui.add_slider("frame", min=0, max=last, step=1, initial_value=0)
        _when_set(self._slider, lambda value: self._session.seek(int(value)))

        @self._play.on_click
        async def _(_event: Any) -> None:
            assert self._session.playback is not None
            (self._session.pause if self._session.playback.playing else self._session.play)()
            self._show_playing(not self._session.playback.playing)

        @steps.on_click
        async def _(event: Any) -> None:
            self._session.step(1 if event.target.value.startswith("forward") else -1)
            self._show_playing(False)

    def _add_detection(self, gui: viser.GuiApi, settings: Settings) -> None:
        name, rest = split_name(settings.method, "method")
        with gui.add_folder("Detection"):
            self._method = gui.add_dropdown("method", _offered(name), initial_value=name)
            self._rest = gui.add_text("settings", rest, hint="As on the command line: accuracy=0.02, … ; empty for the defaults.")
            self._options: dict[str, Any] = {
                "clearance": gui.add_number("clearance", settings.clearance, min=0.0, step=1e-4, hint="Near faces are amber."),
                "budget": gui.add_number("budget, ms", settings.budget, min=0.0, step=0.1, hint="0: none"),
                "solid": gui.add_checkbox("solid", settings.solid, hint="Also find a body inside another, or overlapping it."),
                "self_collision": gui.add_checkbox(
                    "self-collision", settings.self_collision, hint="Also test each body against itself."
                ),
                "overlay": gui.add_dropdown(
                    "overlay", tuple(overlay_names(settings.made_method())), initial_value=settings.overlay
                ),
                "contacts": gui.add_checkbox("points and normals", settings.contacts),
            }
        if self._session.fit is not None:  # the guided body needs one method and one query
            for element in (self._method, self._rest, *(each for name, each in self._options.items() if name != "contacts")):
                element.disabled = True
        change = self._session.change
        _when_set(self._method, lambda value: change(method=value))
        _when_set(self._rest, lambda value: change(method=_with_settings(self._method.value, value)))
        for option, element in self._options.items():
            _when_set(element, partial(self._set_option, option))

    def _set_option(self, option: str, value: Any) -> None:
        self._session.change(**{option: value})

    def _add_bodies(self, gui: viser.GuiApi, settings: Settings) -> None:
        with gui.add_folder("Bodies") as self.bodies_folder:
            if self._session.fit is None:
                labels = tuple(RESPONSE_LABELS[each] for each in RESPONSES)
                self._respond = gui.add_dropdown("when touched", labels, initial_value=RESPONSE_LABELS[settings.respond])
                _when_set(self._respond, lambda value: self._session.change(respond=RESPONSES[labels.index(value)]))
            back = gui.add_button("Put all back", icon=viser.Icon.ARROW_BACK_UP)

        @back.on_click
        async def _(_event: Any) -> None:
            self._session.put_back()

    # ------------------------------------------------------------------ updates

    def show_numbers(self, snapshot: Snapshot | None, note: str) -> None:
        """Update the numbers."""
        show_html(self._numbers, self._numbers_html(snapshot, note))

    def show_curve(self) -> None:
        """Update the curve of detection times."""
        curve = 1e3 * self._session.timings.curve()
        if len(curve) > 1:
            self._curve.data = np.arange(len(curve), dtype=np.float64), curve
            if not self._curve.visible:
                self._curve.visible = True

    def show_frame(self, number: int) -> None:
        """Show the frame number, and whether the motion plays."""
        playback = self._session.playback
        if playback is None:
            return
        last = max(playback.frames.count - 1, 1)
        if self._slider.max != last:
            self._slider.max = last
        if self._slider.value != number:
            self._slider.value = number
        self._show_playing(playback.playing)

    def _show_playing(self, playing: bool) -> None:
        label, icon = ("Pause", viser.Icon.PLAYER_PAUSE) if playing else ("Play", viser.Icon.PLAYER_PLAY)
        if self._play.label != label:
            self._play.label, self._play.icon = label, icon

    def show_settings(self, settings: Settings) -> None:
        """Show accepted settings, or the previous ones if new ones were refused."""
        name, rest = split_name(settings.method, "method")
        names, overlay = tuple(overlay_names(settings.made_method())), self._options["overlay"]
        if tuple(overlay.options) != names:
            overlay.options = names
        shown: list[tuple[Any, Any]] = [(self._method, name), (self._rest, rest)]
        shown += [(element, getattr(settings, option)) for option, element in self._options.items()]
        if self._session.fit is None:
            shown.append((self._respond, RESPONSE_LABELS[settings.respond]))
        for element, value in shown:
            if element.value != value:
                element.value = value

    def _numbers_html(self, snapshot: Snapshot | None, note: str) -> Html:
        meshes = self._session.subject.start.meshes
        faces = sum(len(mesh.faces) for mesh in meshes)
        since = self._session.stage.busy_since
        busy = 0.0 if since is None else time.perf_counter() - since
        return as_html(snapshot, self._session.timings, len(meshes), faces, note, busy)


def _when_set(element: Any, apply: Callable[[Any], object]) -> None:
    """Call with the new value when a person, not Python, sets it."""

    async def was_set(event: Any) -> None:
        if event.client is not None:
            apply(event.target.value)

    element.on_update(was_set)


def _offered(name: str) -> tuple[str, ...]:
    """Return the methods that a page may choose.

    An external one only if the viewer was started with it.
    """
    return tuple(METHODS) if name in METHODS else (*METHODS, name)


def _with_settings(name: str, rest: str) -> str:
    return f"{name}({rest})" if rest.strip() else name
