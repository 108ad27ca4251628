"""`jostle.view(world)`: a page beside a prompt, and what is refused."""

import builtins
import contextlib
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import jostle
from jostle.shapes import build
from jostle.viewer import background
from jostle.viewer.open_session import open_session

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")


@pytest.fixture(scope="module")
def world():
    made = jostle.World("wide_tree")
    made.add(build.box((1.0, 1.0, 1.0)), name="<b>left</b>")
    made.add(build.box((1.0, 1.0, 1.0)), jostle.translation((0.5, 0.25, 0.125)), "right")
    return made


def status_of(address):
    with urllib.request.urlopen(address, timeout=60) as page:
        return page.status


def test_the_page_answers_until_it_is_closed(world, capsys):
    before = world.poses.copy(), world.time
    with jostle.view(world, clearance=0.1, block=False) as viewer:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/?", viewer.address)
        assert capsys.readouterr().out == f"open {viewer.address} in a browser\n"
        assert status_of(viewer.address) == 200
        assert repr(viewer) == f"Viewer({viewer.address})"
        assert f'href="{viewer.address}"' in viewer._repr_html_()
    assert repr(viewer) == "Viewer(closed)"
    viewer.close()
    with pytest.raises(urllib.error.URLError):
        status_of(viewer.address)
    assert (world.poses == before[0]).all()
    assert world.time == before[1]


def test_a_script_waits_and_a_prompt_does_not(world, monkeypatch):
    waited = []
    monkeypatch.setattr(background.Viewer, "wait", lambda viewer: (waited.append(viewer.address), viewer.close()))
    jostle.view(world)
    assert len(waited) == 1
    for place, name in ((sys, "ps1"), (builtins, "__IPYTHON__")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, True, raising=False)
            jostle.view(world).close()
    assert len(waited) == 1


def test_a_notebook_shows_the_page_below_the_cell(world, monkeypatch, capsys):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    viewer = jostle.view(world)  # does not wait
    assert capsys.readouterr().out == f"open {viewer.address} in a browser\n"
    shown = viewer._repr_html_()
    assert shown.startswith(f'<iframe src="{viewer.address}" ')
    assert f'href="{viewer.address}"' in shown
    with urllib.request.urlopen(viewer.address, timeout=60) as page:
        sent = page.headers
    assert "frame-ancestors http://localhost:* http://127.0.0.1:* https://localhost:* " in sent["Content-Security-Policy"]
    assert sent["X-Frame-Options"] is None
    viewer.close()
    assert viewer._repr_html_() == "Viewer(closed)"
    with pytest.raises(urllib.error.URLError):
        status_of(viewer.address)


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_no_page_may_frame_a_viewer_that_no_notebook_opened(world, monkeypatch, shell):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with jostle.view(world, block=False) as viewer, urllib.request.urlopen(viewer.address, timeout=60) as page:
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
        assert page.headers["X-Frame-Options"] == "DENY"
        assert "iframe" not in viewer._repr_html_()


def test_waiting_ends_by_an_interrupt_and_closes_the_page(world, monkeypatch):
    def interrupted(seconds):
        raise KeyboardInterrupt

    viewer = jostle.view(world, block=False)
    monkeypatch.setattr(background.time, "sleep", interrupted)
    viewer.wait()
    assert repr(viewer) == "Viewer(closed)"


def test_a_page_that_is_left_open_does_not_keep_the_process():
    code = (
        "import jostle; world = jostle.World(); world.add(([(0,0,0),(1,0,0),(0,1,0)], [(0,1,2)])); "
        "print(jostle.view(world, block=False))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "Viewer(http://127.0.0.1:" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clearance": -1.0}, "clearance is -1"),
        ({"respond": "sing"}, "choose one of show, push"),
        ({"port": 70000}, "port"),
        ({"block": "yes"}, "block is 'yes'; pass True or False"),
        ({"solid": 1}, "solid is 1"),
    ],
)
def test_what_is_refused(world, options, message):
    with pytest.raises(jostle.InputError, match=message):
        jostle.view(world, **options)


def test_what_is_no_world_or_has_no_bodies_is_refused():
    with pytest.raises(jostle.InputError, match=r"pass a jostle\.World"):
        jostle.view("room")
    with pytest.raises(jostle.InputError, match="no bodies to show"):
        jostle.view(jostle.World(), block=False)


def test_a_port_in_use_is_named_as_the_argument(world):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(jostle.InputError, match=rf"^port {port}: the port is in use; choose another, or 0 for any free one$"):
            jostle.view(world, port=port, block=False)


def test_without_the_extra_it_says_how_to_get_it(world, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(jostle.InputError, match=r"pip install 'jostle\[viewer\]' brings it"):
        jostle.view(world, block=False)


def test_settings_of_the_method_are_kept():
    world = jostle.World(jostle.WideTree("sah"))
    world.add(build.box((1.0, 1.0, 1.0)))
    assert background.named(world.method).label == "wide_tree(build='sah')"
    with jostle.view(world, block=False) as viewer:
        assert status_of(viewer.address) == 200


@dataclass(frozen=True)
class Outside(jostle.BruteForce):
    """A method that no registry knows."""


def test_a_world_with_a_method_from_outside_is_shown_with_it(monkeypatch):
    session = []
    monkeypatch.setattr(background, "open_session", lambda shown, *_, **__: session.append(shown) or contextlib.nullcontext("here"))
    world = jostle.World(Outside())
    world.add(build.box((1.0, 1.0, 1.0)))
    with jostle.view(world, block=False):
        assert session[0].world.method == Outside()


def test_a_method_that_nothing_can_import_is_refused_with_the_cure():
    @dataclass(frozen=True)
    class Hidden(jostle.BruteForce):
        """Defined in a function."""

    with pytest.raises(
        jostle.InputError, match=r"Hidden has no name that can be imported; jostle\.register\('hidden', Hidden\) gives it one"
    ):
        jostle.view(jostle.World(Hidden()), block=False)


def test_the_old_place_of_open_session_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"jostle\.viewer\.open_session\.open_session now"):
        from jostle.viewer.shown import shown
    assert shown is open_session
