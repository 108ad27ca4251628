"""`jostle view`: refusals in one sentence with exit status 2; the page is open to this machine only."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from jostle import JostleError
from jostle.cli.app import app

viser = pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no scene and no file 'nothing'; the built-in scenes are spheres"),
        (["no.stl", "none.stl"], "there is no such file"),
        (["two_spheres", "--method", "nothing"], "there is no method 'nothing'"),
        (["two_spheres", "--method", "bounding_tree", "--clearance", "1"], "bounding_tree does not serve clearance"),
        (["deforming_spheres(count=2, faces=80)", "--method", "voxmap"], "needs rigid bodies"),
        (["two_spheres", "--overlay", "cells"], "wide_tree shows nothing, boxes of level 0"),
        (["two_spheres", "--respond", "sing"], "choose one of show, push, bounce"),
        (["two_spheres", "--separation", "1"], "no meaning without --fit"),
        (["two_spheres", "--fit", "--solid"], "no meaning with --fit"),
        (["two_spheres", "--host", "no.such.host.invalid"], "there is no such address"),
        (["two_spheres", "--upload-limit", "nan"], "--upload-limit is nan; it must be from 0 to 2000"),
        (["two_spheres", "--upload-limit", "inf"], "--upload-limit is inf"),
        (["two_spheres", "--upload-limit", "-1"], "--upload-limit is -1"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(JostleError, match=re.escape(message)) as raised:
        app(["view", *arguments, "--port", "0"], standalone_mode=False)
    assert "\n" not in str(raised.value)


def test_a_port_in_use_is_one_sentence_and_exit_status_2(jostle):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = jostle("view", "two_spheres", "--port", port)
    assert done.returncode == 2
    assert done.stderr == f"jostle: --port {port}: the port is in use; choose another, or 0 for any free one\n"


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(JostleError, match=r"pip install 'jostle\[viewer\]' brings it"):
        app(["view", "two_spheres"], standalone_mode=False)


def test_the_page_is_there_until_it_is_interrupted():
    command = [sys.executable, "-c", "from jostle.cli import main; main()", "view", "two_spheres(faces=80)", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        lines = []
        for line in running.stdout:
            lines.append(line)
            if "http" in line:
                break
        address = re.search(r"http://127\.0\.0\.1:\d+", lines[-1])[0]
        with urllib.request.urlopen(address, timeout=30) as page:
            assert page.status == 200
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert "2 bodies, 160 faces" in lines[0]
    assert "listening on" not in out


def test_a_page_for_others_has_a_token():
    asked = ["view", "two_spheres(faces=80)", "--host", "0.0.0.0", "--port", "0"]
    command = [sys.executable, "-c", "from jostle.cli import main; main()", *asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        lines = [running.stdout.readline() for _ in range(3)]
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32,}", lines[1])[0]
        with urllib.request.urlopen(address, timeout=30) as page:
            assert page.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.partition("?")[0], timeout=30)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert "listening on 0.0.0.0: whoever has this address (with this machine's name for 127.0.0.1) can look and drag" in lines[2]
