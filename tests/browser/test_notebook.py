"""A notebook's page shows the viewer in a frame, and can drag in it; pages of other places cannot."""

import contextlib
import http.server
import sys
import threading
from types import SimpleNamespace

import pytest

import jostle
from jostle.shapes import build
from tests.browser.conftest import PATIENCE


@contextlib.contextmanager
def served(html):
    """Serve a page on a port of its own, as a notebook's server does; yield the port."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("in_notebook", [True, False])
def test_only_a_viewer_that_a_notebook_opened_is_shown_in_a_frame(browser, monkeypatch, in_notebook):
    if in_notebook:
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))
    world = jostle.World("brute_force")
    world.add(build.box((1.0, 1.0, 1.0)))
    world.add(build.box((1.0, 1.0, 1.0)), jostle.translation((0.5, 0.25, 0.125)))
    with jostle.view(world, block=False, shadows=False) as viewer:
        cell = viewer._repr_html_() if in_notebook else f'<iframe src="{viewer.address}"></iframe>'
        with served(f"<!doctype html>{cell}") as port:
            page = browser.new_context(viewport={"width": 900, "height": 640}).new_page()
            said = []
            page.on("console", lambda message: said.append(message.text))
            page.goto(f"http://localhost:{port}")
            inside = page.frame_locator("iframe").locator(".jostle-state")
            if in_notebook:
                inside.wait_for(timeout=1e3 * PATIENCE)
                assert inside.inner_text() == "touching"
            else:
                page.wait_for_timeout(1000)
                assert inside.count() == 0
                assert any("frame-ancestors" in text for text in said)
            page.context.close()
