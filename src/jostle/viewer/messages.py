"""The messages a page may send: eight of viser's kinds, with typed fields.

A page sends nothing else: a message that does not decode as one of them closes the connection. `allowed` then decides whether the
sender may make that change now: the control exists, is enabled and accepts the value. A page that lags behind may ask for something
no longer possible; such messages are dropped, and the connection stays open.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import viser
from msgspec import Meta

from jostle.errors import InputError

GIZMO = "/gizmo"  # the only node that a browser may move
FARTHEST = 1e9  # page units
LONGEST_TEXT = 2000  # characters of a text field

Name: TypeAlias = Annotated[str, Meta(max_length=200)]
Number: TypeAlias = Annotated[float, Meta(ge=-FARTHEST, le=FARTHEST)]  # excludes NaN as well
Pixels: TypeAlias = Annotated[float, Meta(ge=0, le=1e6)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**48)]
Vector: TypeAlias = tuple[Number, Number, Number]
Quaternion: TypeAlias = tuple[Number, Number, Number, Number]


class _Message(msgspec.Struct, tag=True, tag_field="type", forbid_unknown_fields=True, frozen=True):
    """A message; its class has viser's name for the kind."""


class ViewerCameraMessage(_Message, frozen=True):
    """The pose of a browser's camera; the first one introduces the browser."""

    wxyz: Quaternion
    position: Vector
    fov: Number
    near: Number
    far: Number
    image_height: Pixels
    image_width: Pixels
    look_at: Vector
    up_direction: Vector


class ScenePointerMessage(_Message, frozen=True):
    """A click."""

    event_type: Literal["click"]
    ray_origin: Vector
    ray_direction: Vector
    screen_pos: Annotated[list[tuple[Number, Number]], Meta(min_length=1, max_length=2)]
    modifier: Name | None


class _GizmoMessage(_Message, frozen=True, kw_only=True):
    """A message about a gizmo."""

    name: Name
    owner: Name = ""


class TransformControlsDragStartMessage(_GizmoMessage, frozen=True):
    """A drag of a gizmo begins."""


class TransformControlsUpdateMessage(_GizmoMessage, frozen=True):
    """A gizmo moves."""

    wxyz: Quaternion
    position: Vector


class TransformControlsDragEndMessage(_GizmoMessage, frozen=True):
    """A drag of a gizmo ends."""


class NewValue(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The only property of a control that a browser may change."""

    value: bool | int | float | str


class GuiUpdateMessage(_Message, frozen=True):
    """A control was set, or a button pressed."""

    uuid: Name
    updates: NewValue


class FileTransferStartUpload(_Message, frozen=True):
    """An upload begins."""

    source_component_uuid: Name
    transfer_uuid: Name
    filename: Annotated[str, Meta(max_length=1000)]
    mime_type: Name
    part_count: Count
    size_bytes: Count


class FileTransferPart(_Message, frozen=True):
    """A part of a file."""

    source_component_uuid: Name
    transfer_uuid: Name
    part_index: Count
    content: bytes


Message: TypeAlias = (
    ViewerCameraMessage
    | ScenePointerMessage
    | TransformControlsDragStartMessage
    | TransformControlsUpdateMessage
    | TransformControlsDragEndMessage
    | GuiUpdateMessage
    | FileTransferStartUpload
    | FileTransferPart
)
KINDS: tuple[type[_Message], ...] = Message.__args__
_decoder = msgspec.msgpack.Decoder(Message)


def decoded(raw: bytes | str) -> Message:
    """Return the message in received bytes, or raise `InputError`."""
    if not isinstance(raw, bytes):
        raise InputError("a message must be binary")
    try:
        message: Message = _decoder.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError) as error:
        raise InputError(f"a message that no page sends ({error})") from None
    if isinstance(message, TransformControlsUpdateMessage) and abs(math.hypot(*message.wxyz) - 1.0) > 1e-2:
        raise InputError("a gizmo's wxyz must be a unit quaternion")
    if isinstance(message, ScenePointerMessage) and not 1e-6 < math.hypot(*message.ray_direction) < 1e6:
        raise InputError("a click's ray must have a direction")
    return message


def encoded(message: Message) -> bytes:
    """Return the bytes for viser, encoded anew so that nothing unchecked passes."""
    return msgspec.msgpack.encode(message)


def allowed(message: Message, element: Any) -> bool:
    """Return whether the sender may do this to a control (None for other messages)."""
    if isinstance(message, GuiUpdateMessage):
        return element is not None and element.visible and not element.disabled and _fits(element, message.updates.value)
    return not isinstance(message, _GizmoMessage) or message.name == GIZMO


def _fits(element: Any, value: bool | float | str) -> bool:
    """Return whether a control accepts a value."""
    if isinstance(element, viser.GuiCheckboxHandle):
        return isinstance(value, bool)
    if isinstance(element, viser.GuiButtonHandle):
        return value is True
    if isinstance(element, viser.GuiDropdownHandle | viser.GuiButtonGroupHandle):
        return isinstance(value, str) and value in element.options
    if isinstance(element, viser.GuiTextHandle):
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    if isinstance(element, viser.GuiSliderHandle | viser.GuiNumberHandle):
        if isinstance(value, bool | str) or not math.isfinite(value):
            return False
        return (element.min is None or value >= element.min) and (element.max is None or value <= element.max)
    return False
