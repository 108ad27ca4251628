"""The page: shows a session in browsers, and passes people's actions to it.

Snapshots are drawn in the session's thread: sending to a browser never waits. Numbers and the curve change at most ten and five
times a second: nobody reads faster, and a browser has to draw them.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import numpy as np
import viser

from jostle.viewer import colours, sound
from jostle.viewer.bodies_on_page import BodiesOnPage
from jostle.viewer.fit_panel import FitPanel
from jostle.viewer.gizmos import Gizmo
from jostle.viewer.guarded import UploaderOnPage
from jostle.viewer.html import LONGEST_SENTENCE, add_html, distinct, fill, plain, show_html
from jostle.viewer.listener import Listener
from jostle.viewer.overlay_on_page import OverlayOnPage
from jostle.viewer.page_scale import PageScale
from jostle.viewer.panel import Panel
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.snapshot import Snapshot
from jostle.viewer.subject import Subject
from jostle.viewer.upload import USUAL_LIMIT, Uploads

NUMBERS_EVERY, CURVE_EVERY = 0.1, 0.2  # seconds
KNOCK_EVERY = 0.08
NOTHING = "nothing"  # no gizmo, in the list of bodies


class Person:
    """One browser: its name, its gizmo, and whether it plays sounds."""

    def __init__(self, client: viser.ClientHandle, name: str, page: Page) -> None:
        self.client, self.name, self._session = client, name, page.session
        self.gizmo = Gizmo(client, name, page.session, page.bodies, page.scale, self.notify)
        with page.panel.bodies_folder:
            self._picked: Any = client.gui.add_dropdown("gizmo on", (NOTHING,), initial_value=NOTHING)
            if page.uploads is not None:
                page.uploads.add_button(client.gui)
        self.uploader = UploaderOnPage(client, self.notify)
        self.offer(page.session.subject.start.names)
        with client.gui.add_folder("You"):
            add_html(
                client.gui, fill('<div style="padding:0 14px 6px;font-size:.85em;opacity:.65">you are {name}</div>', name=name)
            )
            if page.session.subject.hands and page.session.fit is None:
                grasp = client.gui.add_checkbox("grasp", False, hint="Your hand carries what it touches until it opens.")
                grasp.on_update(self._grasp)
            self.hears = client.gui.add_checkbox("sound when bodies begin to touch", True)
            self._knock = add_html(client.gui, fill(""))
        self._knocks = itertools.count(1)

        @self._picked.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                self.gizmo.pick(self._numbers.get(event.target.value))

    def offer(self, names: tuple[str, ...]) -> None:
        """List these bodies for the gizmo."""
        _, *shown = distinct((NOTHING, *names))
        self._numbers = {body: number for number, body in enumerate(shown)}
        self._picked.options = (NOTHING, *shown)

    def pick(self, number: int) -> None:
        """Put the gizmo on a body."""
        self.gizmo.pick(number)
        self._picked.value = next(name for name, each in self._numbers.items() if each == number)

    async def _grasp(self, event: Any) -> None:
        self._session.grasp(self.name, bool(event.target.value))

    def play_sound(self) -> None:
        """Play the sound, unless it is muted."""
        if self.hears.value:
            show_html(self._knock, sound.as_html(next(self._knocks)))

    def notify(self, text: str) -> None:
        """Show a sentence for a while."""
        self.client.add_notification("jostle", plain(text, LONGEST_SENTENCE), auto_close_seconds=8.0, color="red")


class Page(Listener):
    """A session in browsers."""

    def __init__(
        self, server: viser.ViserServer, session: Session, shadows: bool = True, upload_limit: float = USUAL_LIMIT
    ) -> None:
        self.server, self.session = server, session
        start = session.subject.start
        self.scale = PageScale.of(start, session.subject.cube)
        self._furnish(shadows)
        self.bodies = BodiesOnPage(server, start, self.scale)
        self.panel = Panel(server, session)
        self._overlay = OverlayOnPage(server, self.bodies, self.scale, self.panel.gallery)
        self.uploads = Uploads(session, upload_limit) if upload_limit > 0.0 else None
        self._fit = None if session.fit is None else FitPanel(server, session)
        self.people: dict[int, Person] = {}
        self._names = itertools.count()
        self._snapshot: Snapshot | None = None
        self._note = ""
        self._held: dict[int, Any] = {}
        self._last_sent: dict[str, float] = {"numbers": 0.0, "curve": 0.0, "knock": 0.0}
        self._closed = threading.Event()
        if self.uploads is not None:
            server.guard.transfers, server.guard.uploader = self.uploads.transfers, self._uploader
        server.scene.on_click()(self._click)  # type: ignore[arg-type]
        server.on_client_connect(self._connected)
        server.on_client_disconnect(self._disconnected)
        session.listen(self)
        threading.Thread(target=self._keep_numbers, name="jostle viewer numbers", daemon=True).start()

    def close(self) -> None:
        """Stop updating."""
        self._closed.set()
        if self.uploads is not None:
            self.uploads.close()

    def _furnish(self, shadows: bool) -> None:
        """Set theme, light, floor and the first view, from the front right and above."""
        server, extent = self.server, self.scale.extent
        server.gui.configure_theme(brand_color=colours.BRAND, show_logo=False, show_share_button=False)
        server.gui.main_panel.dock_right()
        server.scene.set_up_direction("+z")
        server.scene.configure_default_lights(True, cast_shadow=shadows)
        server.scene.add_grid(
            "/floor", 40.0, 40.0, position=(0.0, 0.0, self.scale.lowest - 0.02), cell_size=0.5, section_size=2.0,
            cell_color=(226, 230, 236), section_color=(204, 210, 218), fade_distance=26.0, shadow_opacity=0.16 if shadows else 0.0,
            plane_color=(247, 248, 250), plane_opacity=1.0,
        )  # fmt: skip
        away = float(np.linalg.norm(extent)) + 0.4
        server.initial_camera.position = (0.72 * away, -0.86 * away, 0.62 * away)
        server.initial_camera.look_at = (0.0, 0.0, 0.0)
        server.initial_camera.fov = 0.75

    # ------------------------------------------------------------------ people

    async def _connected(self, client: viser.ClientHandle) -> None:
        number = next(self._names)
        round_number = number // len(colours.PEOPLE)
        name = colours.PEOPLE[number % len(colours.PEOPLE)] + (f" {round_number + 1}" if round_number else "")
        person = self.people[client.client_id] = Person(client, name, self)
        static = self.session.subject.start.static
        free = [body for body, fixed in enumerate(static) if not fixed and body not in self.session.holding.held()]
        if free:
            person.pick(self._fit.first if self._fit is not None else free[min(number, len(free) - 1)])

    async def _disconnected(self, client: viser.ClientHandle) -> None:
        person = self.people.pop(client.client_id, None)
        if person is not None:
            self.session.leave(person.name)

    async def _click(self, event: Any) -> None:
        person = self.people.get(event.client_id)
        if person is None or person.gizmo.dragging:
            return
        number = self.bodies.hit_by(np.array(event.ray_origin), np.array(event.ray_direction))
        if number is not None:
            person.pick(number)

    # ------------------------------------------------------------------ callbacks of the session

    def show(self, snapshot: Snapshot) -> None:
        """Show the result of a detection."""
        held = self.session.holding.held()
        self.bodies.show(snapshot, held, self.session.grasping.dragged() if self.session.follows_hand else ())
        self._mark_held(held)
        self._note = self._overlay.show(snapshot.overlay, snapshot.found, self.session.settings.contacts or self._fit is not None)
        people = list(self.people.values())
        for person in people:
            person.gizmo.follow()
        self._snapshot = snapshot
        self.panel.show_frame(snapshot.frame)
        if self._due("numbers", NUMBERS_EVERY):
            self.panel.show_numbers(snapshot, self._note)
        if self._due("curve", CURVE_EVERY):
            self.panel.show_curve()
        if snapshot.began and self._due("knock", KNOCK_EVERY):
            for person in people:
                person.play_sound()
        if self._fit is not None:
            self._fit.show()

    def settings_changed(self, settings: Settings) -> None:
        """Show settings in all panels."""
        self.panel.show_settings(settings)

    def bodies_added(self, subject: Subject) -> None:
        """Show added bodies."""
        self.bodies.add(subject.start)
        for person in list(self.people.values()):
            person.offer(subject.start.names)

    def _uploader(self, client: int) -> UploaderOnPage | None:
        person = self.people.get(client)
        return None if person is None else person.uploader

    def problem(self, text: str) -> None:
        """Notify all browsers."""
        for person in list(self.people.values()):
            person.notify(text)

    def _mark_held(self, held: dict[int, Any]) -> None:
        for number in held.keys() | self._held.keys():
            if held.get(number) != self._held.get(number):
                self.bodies.mark_held(number, held.get(number))
        self._held = held

    def _due(self, what: str, every: float) -> bool:
        now = time.perf_counter()
        if now - self._last_sent[what] < every:
            return False
        self._last_sent[what] = now
        return True

    def _keep_numbers(self) -> None:
        """Update numbers between snapshots, such as the time of a slow detection."""
        while not self._closed.wait(0.25):
            self.panel.show_numbers(self._snapshot, self._note)
            self.panel.show_curve()
