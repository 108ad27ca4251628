"""Gizmos: arrows and rings on the body that a browser clicked last, to move it.

Moves go to the session at once and in order: the callbacks are coroutines that never wait. The body on the page follows the hand
without waiting for a detection, except in fitting, where only the session knows how far it may go.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from jostle.viewer.bodies_on_page import BodiesOnPage
from jostle.viewer.messages import GIZMO
from jostle.viewer.page_scale import PageScale
from jostle.viewer.session import Session

SMALLEST = 0.35  # page units


class Gizmo:
    """The gizmo of one browser."""

    def __init__(
        self, client: viser.ClientHandle, person: str, session: Session, bodies: BodiesOnPage, scale: PageScale,
        refused: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._client, self._person, self._session, self._bodies, self._scale = client, person, session, bodies, scale
        self._refused = refused
        self.body: int | None = None
        self.dragging = False
        self._handle: viser.TransformControlsHandle | None = None

    def pick(self, number: int | None) -> None:
        """Put the gizmo on a body, or remove it."""
        if number == self.body:
            return
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        self.body, self.dragging = number, False
        if number is None:
            return
        body = self._bodies.bodies[number]
        self._handle = self._client.scene.add_transform_controls(
            GIZMO, scale=max(1.3 * body.radius, SMALLEST), line_width=2.5, depth_test=False, opacity=0.9
        )
        self._handle.on_update(self._moved)
        self.follow()

    def follow(self) -> None:
        """Move to the body, unless this browser drags it."""
        if self._handle is None or self.body is None or self.dragging:
            return
        body = self._bodies.bodies[self.body]
        if body.pose is not None:
            wxyz, position = self._scale.place(body.pose, body.centre)
            if not (np.allclose(self._handle.position, position, atol=1e-9) and np.allclose(self._handle.wxyz, wxyz, atol=1e-9)):
                self._handle.wxyz, self._handle.position = wxyz, position

    async def _moved(self, event: viser.TransformControlsEvent) -> None:
        if self.body is None or self._handle is None:
            return
        if event.phase == "start":
            self.dragging = self._session.take(self.body, self._person)
            if not self.dragging:
                self._refused(f"{self._session.holding.holder_of(self.body)} holds this body")
        elif event.phase == "update" and self.dragging:
            pose = self._scale.pose(self._handle.wxyz, self._handle.position, self._bodies.bodies[self.body].centre)
            if self._session.follows_hand:
                for body, place in self._session.grasping.carried({self.body: pose}).items():
                    self._bodies.place(body, place)
            self._session.move(self.body, pose, self._person)
        elif event.phase == "end":
            self.dragging = False
            self._session.release(self.body, self._person)
        if not self.dragging:
            self.follow()
