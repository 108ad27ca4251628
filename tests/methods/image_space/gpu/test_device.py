"""A device is found once, checked before it is trusted, refused with the cure, and started anew after it was lost."""

import os
import subprocess
import sys

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.methods.image_space import gpu
from jostle.methods.image_space.gpu import check, pipelines
from jostle.methods.image_space.gpu import device as finding
from jostle.shapes import build
from tests.methods.image_space.gpu.pixel_truth import views_along_z
from tests.methods.image_space.gpu.test_decisions import shapes_of


@pytest.fixture
def forgotten(monkeypatch):
    """No search was made yet."""
    monkeypatch.setattr(finding, "_found", {})


def two_boxes(renderer):
    box = build.box()
    renderer.change(shapes_of([box, box]))
    return views_along_z([box, box], [np.eye(4)] * 2, [(0, 1)], [8])


@pytest.mark.small
def test_without_wgpu_the_message_names_the_extra(forgotten, monkeypatch):
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(InputError, match=r"pip install 'jostle\[gpu\]'"):
        gpu.start()


@pytest.mark.small
def test_without_an_adapter_the_message_names_the_driver(forgotten, monkeypatch):
    monkeypatch.setattr(finding, "_adapters", list)
    for only_real in (True, False):
        with pytest.raises(InputError, match=r"Vulkan, Metal or DX12.*mesa-vulkan-drivers.*renderer='software'"):
            gpu.start(only_real)


class Adapter:
    """An adapter that lacks what is needed."""

    def __init__(self, **changes):
        self.info = {"device": "toy", "backend_type": "Vulkan", "adapter_type": "DiscreteGPU", **changes.pop("info", {})}
        self.features = changes.pop("features", set(finding.FEATURES))
        self.limits = dict.fromkeys([*finding.LEAST, "max-buffer-size"], 1 << 30) | changes.pop("limits", {})

    def request_device_sync(self, **given):
        raise RuntimeError("the driver\nis in no mood")


@pytest.mark.small
@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (Adapter(features={"float32-filterable"}), "toy .Vulkan. cannot be used: it lacks depth32float-stencil8; .*'software'"),
        (Adapter(limits={"max-texture-dimension-2d": 2048}), "it lacks max-texture-dimension-2d of 4096"),
        (Adapter(), "it refused the pipelines: the driver is in no mood"),
    ],
)
def test_an_adapter_that_cannot_do_it_is_refused_with_the_reason(forgotten, monkeypatch, adapter, message):
    monkeypatch.setattr(finding, "_adapters", lambda: [adapter])
    with pytest.raises(InputError, match=message):
        gpu.start()


def test_only_vulkan_metal_and_dx12_are_taken_and_real_processors_come_first(device, monkeypatch):
    import wgpu

    kinds = [
        ("OpenGL", "DiscreteGPU"),
        ("Vulkan", "CPU"),
        ("Vulkan", "IntegratedGPU"),
        ("Metal", "DiscreteGPU"),
        ("OpenGLES", "CPU"),
    ]
    adapters = [Adapter(info={"backend_type": backend, "adapter_type": kind}) for backend, kind in kinds]
    monkeypatch.setattr(type(wgpu.gpu), "enumerate_adapters_sync", lambda _: adapters)
    found = [(adapter.info["backend_type"], adapter.info["adapter_type"]) for adapter in finding._adapters()]
    assert found == [("Metal", "DiscreteGPU"), ("Vulkan", "IntegratedGPU"), ("Vulkan", "CPU")]


def test_the_device_is_shared_and_a_program_on_the_processor_is_no_real_one(device, monkeypatch):
    assert finding.shared_device(False) is device
    monkeypatch.setattr(device, "is_real", False)
    with pytest.raises(InputError, match="is emulated on the CPU, not a graphics processor; use renderer='software'"):
        gpu.start(only_real=True)
    monkeypatch.setattr(device, "is_real", True)
    assert gpu.start(only_real=True).name == f"wgpu on {device.name}"


BROKEN = [
    ("interval", "max(textureLoad(near_depth", "min(textureLoad(near_depth", "interval"),
    ("stencil", "of_b == 0u || of_a == 0u", "of_b == 0u && of_a == 0u", "stencil"),
    ("stencil", "textureLoad(faces_before, at + both.xy, 0).x", "0u", "stencil"),  # what OpenGL does
    ("layers", "winding != 0 &&", "", "layers"),
    ("draw", "-place.y", "place.y", "interval"),
    ("clip_by_distance", "size.y - at.y", "size.y - at.y + 4.0", "interval"),
    ("draw", "role ^ other_picture", "role", "stencil"),
    ("decide", "first = max(first", "first = min(first", "interval"),
    ("keep_layers", "slot < layers.y", "slot < 2u", "layers"),
]


@pytest.mark.parametrize(("name", "old", "new", "kind"), BROKEN, ids=lambda value: value if len(value) < 12 else "")
def test_a_device_that_decides_wrongly_is_refused(device, monkeypatch, name, old, new, kind):
    right = pipelines.shader

    def wrong(*names):
        text = right(*names)
        if name in names:
            assert old in text
            return text.replace(old, new)
        return text

    monkeypatch.setattr(pipelines, "shader", wrong)
    monkeypatch.setattr(device, "pipelines", pipelines.Pipelines(device.device, clip_distances=True))
    assert f"failed its start-up check ({kind}, " in check.failed_case(device)


def test_a_lost_device_is_one_clear_error_and_then_there_is_another(device, renderer):
    views = two_boxes(renderer)
    assert renderer.decide(views, "interval", 1).pixels[0] == 64
    device.device.destroy()
    with pytest.raises(InputError, match=r"was lost or refused a frame .*renderer='software'"):
        renderer.decide(views, "interval", 1)
    assert renderer.decide(views, "interval", 1).pixels[0] == 64
    assert finding.shared_device(False) is not device


FORKED = """
import gc, os, signal
from jostle.errors import InputError
from jostle.methods.image_space import gpu

parent = gpu.start()
child = os.fork()
if child == 0:
    for use in (lambda: gpu.check.failed_case(parent._shared), gpu.start, lambda: gpu.start(only_real=True)):
        try:
            use()
        except InputError as error:
            print(error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
child = os.fork()
if child == 0:
    signal.alarm(20)
    del parent
    gpu.device._found.clear()
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0, "what was inherited is given back to a driver that is not there"
assert gpu.check.failed_case(parent._shared) == ""
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_refused_the_device_and_does_not_hang(device):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED]  # Python warns of forks beside threads
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert ended.stdout.splitlines() == [finding.FORKED] * 3
    assert "spawn" in finding.FORKED


def test_the_search_prints_nothing_and_leaves_the_environment_alone(device):
    code = (
        "import os; from jostle.methods.image_space import gpu; before = dict(os.environ); gpu.device._adapters(); "
        "assert dict(os.environ) == before"
    )
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout + ended.stderr == ""
