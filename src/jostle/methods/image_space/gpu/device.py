"""Finds a device that can be trusted, once per process.

Only Vulkan, Metal and DX12 are used: OpenGL silently reads every stencil as 0. Real graphics processors come before
emulated ones. A device must offer a stencil beside a 32-bit depth, and must decide the known cases of `check.py`
correctly, through each of its pipelines; otherwise it is refused. The device and its pipelines are shared by all
renderers of the process, under one lock.

A process that is forked after a device was found has none: the driver's threads are missing, so that each use, and even
releasing what was inherited, would wait forever. What was inherited is kept until the process ends, and using it is
refused.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from jostle.errors import InputError
from jostle.methods.image_space.gpu.pipelines import Pipelines

BACKENDS = ("Vulkan", "Metal", "D3D12")
FEATURES = ("depth32float-stencil8",)
CLIP_DISTANCES = "clip-distances"  # used where available
PREFERENCE = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")
LEAST = {"max-texture-dimension-2d": 4096, "max-storage-buffers-per-shader-stage": 7, "max-storage-buffer-binding-size": 1 << 27}
MOST_BOUND = 1 << 30  # bytes of one buffer, even if the adapter allows more
CURE = "use renderer='software', which needs no device"
NO_WGPU = f"renderer='wgpu' needs the package wgpu: pip install 'jostle[gpu]', or {CURE}"
NO_ADAPTER = (
    "no graphics device was found: renderer='wgpu' needs a driver for Vulkan, Metal or DX12 "
    f"(on Debian without a graphics card: apt-get install mesa-vulkan-drivers), or {CURE}"
)
FORKED = (
    "a graphics device was started before this process was forked, and works only there: start processes by "
    f"multiprocessing.get_context('spawn'), or {CURE}"
)


class SharedDevice:
    """A device, its pipelines and the lock under which they are used."""

    def __init__(self, adapter: Any) -> None:
        bound = int(min(adapter.limits["max-storage-buffer-binding-size"], adapter.limits["max-buffer-size"], MOST_BOUND))
        limits = LEAST | {"max-storage-buffer-binding-size": bound, "max-buffer-size": bound}
        self.process = os.getpid()
        self.name = str(adapter.info["device"])
        self.is_real = adapter.info["adapter_type"] != "CPU"
        self.most_bytes = bound & ~255
        clip_distances = CLIP_DISTANCES in adapter.features
        features = [*FEATURES, CLIP_DISTANCES] if clip_distances else list(FEATURES)
        self.device = adapter.request_device_sync(required_features=features, required_limits=limits)
        self.pipelines = Pipelines(self.device, clip_distances)
        self.lock = threading.RLock()
        self.lost = False
        holds_of_device.add(self)


class Found(NamedTuple):
    """The result of the search of a process."""

    device: SharedDevice | None
    reason: str  # why there is none, or none that is real


holds_of_device: weakref.WeakSet[Any] = weakref.WeakSet()  # objects that hold something of wgpu
_found: dict[int, Found] = {}
_searching = threading.Lock()


def _after_fork() -> None:
    """In a forked process: keep what was inherited forever, and refuse to use it."""
    global _searching
    _searching = threading.Lock()
    for holder in list(holds_of_device):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(holder))
    if any(found.device is not None for found in _found.values()):
        _found[os.getpid()] = Found(None, FORKED)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def shared_device(only_real: bool) -> SharedDevice:
    """Return the device of this process; it is searched for once, and after a loss."""
    with _searching:
        found = _found.get(os.getpid())
        if found is None or (found.device is not None and found.device.lost):
            found = _found[os.getpid()] = _search()
    if found.device is None or (only_real and not found.device.is_real):
        raise InputError(found.reason)
    return found.device


def _search() -> Found:
    from jostle.methods.image_space.gpu.check import failed_case

    try:
        adapters = _adapters()
    except ImportError:
        return Found(None, NO_WGPU)
    except Exception as error:  # the wgpu library may fail in any way
        return Found(None, f"{NO_ADAPTER} (wgpu says: {_first_line(error)})")
    refused: list[str] = []
    for adapter in adapters:
        name = f"{adapter.info['device']} ({adapter.info['backend_type']})"
        reason = _lacks(adapter)
        if reason == "":
            try:
                device = SharedDevice(adapter)
                reason = failed_case(device)
            except Exception as error:
                reason = f"it refused the pipelines: {_first_line(error)}"
            else:
                if reason == "":
                    why_not_real = "; ".join([*refused, f"{name} is emulated on the CPU, not a graphics processor"])
                    return Found(device, f"no graphics processor passed: {why_not_real}; {CURE}")
        refused.append(f"{name} cannot be used: {reason}")
    return Found(None, f"{'; '.join(refused)}; update its driver, or {CURE}" if refused else NO_ADAPTER)


def _adapters() -> list[Any]:
    """Return the adapters of the accepted backends, real ones first."""
    with _quiet_search():
        import wgpu

        adapters = [adapter for adapter in wgpu.gpu.enumerate_adapters_sync() if adapter.info["backend_type"] in BACKENDS]
    kinds = {kind: place for place, kind in enumerate(PREFERENCE)}
    return sorted(adapters, key=lambda adapter: kinds.get(adapter.info["adapter_type"], len(kinds)))


@contextmanager
def _quiet_search() -> Iterator[None]:
    """Set XDG_RUNTIME_DIR meanwhile: without a desktop Mesa complains on stderr."""
    if "XDG_RUNTIME_DIR" in os.environ or os.name != "posix":
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    try:
        yield
    finally:
        os.environ.pop("XDG_RUNTIME_DIR", None)


def _lacks(adapter: Any) -> str:
    """Return what an adapter lacks; empty if nothing."""
    missing = [name for name in FEATURES if name not in adapter.features]
    missing += [f"{name} of {least}" for name, least in LEAST.items() if adapter.limits.get(name, 0) < least]
    return f"it lacks {', '.join(missing)}" if missing else ""


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300] or type(error).__name__
