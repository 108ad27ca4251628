"""The site builds without a warning, loads nothing from elsewhere, and its search knows every page."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
# Links that a reader may follow; everything else is loaded with the page.
FOLLOWED = {("a", "href"), ("link", "href", "next"), ("link", "href", "prev"), ("link", "href", "canonical")}
LOADING = ("src", "srcset", "href", "poster", "data", "action")


def has_tools() -> bool:
    return all(importlib.util.find_spec(name) for name in ("mkdocs", "material", "mkdocstrings"))


needs_tools = pytest.mark.skipif(
    not has_tools() and os.environ.get("JOSTLE_REQUIRE_DOCS") != "1", reason="make docs has not installed mkdocs here"
)


class Loads(HTMLParser):
    """What a page loads when it is viewed, and the classes of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.classes.update((values.get("class") or "").split())
        for name, value in attrs:
            kind = (tag, name, values["rel"]) if tag == "link" and "rel" in values else (tag, name)
            if name in LOADING and value and kind not in FOLLOWED:
                self.found.append(value)
            if name == "style":
                self.found += re.findall(r"url\(\s*['\"]?([^'\")]+)", value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


@needs_tools
def test_pages_load_nothing_from_other_hosts(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        loads = Loads(page.read_text("utf-8"))
        assert "mermaid" not in loads.classes, f"{page.name}: the theme loads its diagrams from another host"
        for target in loads.found:
            parts = urlsplit(target)
            assert parts.scheme in ("", "data"), f"{page.name} loads {target}"
            assert not parts.netloc, f"{page.name} loads {target}"
            if parts.scheme == "" and parts.path and page.name != "404.html":
                assert (page.parent / unquote(parts.path)).exists(), f"{page.name} loads {target}, which is not there"


@needs_tools
def test_styles_load_nothing_from_other_hosts(site):
    styles = sorted(site.rglob("*.css"))
    assert styles
    for style in styles:
        text = style.read_text("utf-8")
        assert not re.findall(r"@import|url\(\s*['\"]?(?:https?:)?//", text), style.name


@needs_tools
def test_search_knows_every_page_and_works_without_a_server(site):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    known = {entry["location"].partition("#")[0] for entry in index["docs"]}
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")} - {"404.html"}
    assert pages <= known
    assert (site / "search" / "search_index.js").read_text("utf-8").startswith("var __index = ")
    assert 'src="site/iframe-worker.js"' in (site / "index.html").read_text("utf-8")


@needs_tools
def test_every_public_name_has_its_anchor(site):
    import jostle

    text = "".join(page.read_text("utf-8") for page in (site / "reference").glob("*.html"))
    anchors = set(re.findall(r'id="(jostle\.[\w.]+)"', text))
    assert {f"jostle.{name}" for name in dir(jostle)} <= anchors
    words = re.sub(r"<[^>]+>", "", text)
    assert "is_closed: bool" in words
    assert "is_closed()" not in words, "a property is shown as a method"
    assert "default(" not in words, "a signature shows how a default is made"


# ---------------------------------------------------------------------- the hooks


@pytest.fixture(scope="module")
def hooks():
    if not has_tools():
        pytest.skip("make docs has not installed mkdocs here")
    import runpy

    return runpy.run_path(str(ROOT / "docs" / "site_hooks.py"))


@pytest.mark.parametrize(
    ("page", "link", "there"),
    [
        ("haptics.md", "conventions.md#rows", "conventions.md#rows"),
        ("haptics.md", "../examples/01_two_files.py", "examples/01_two_files.md"),
        ("start/install.md", "../../CHANGELOG.md#unreleased", "../changelog.md#unreleased"),
        ("tasks/cad.md", "../../src/jostle/methods/voxmap/README.md", "../methods/voxmap.md"),
        ("methods/voxmap.md", "../../../../docs/haptics.md", "../haptics.md"),
        ("methods/voxmap.md", "method.py", None),
        ("haptics.md", "../README.md", "index.md"),
        ("faq.md", "../README.md#methods", "methods/index.md"),
        ("haptics.md", "../Makefile", None),
        ("haptics.md", "../nothing.md", "../nothing.md"),
        ("haptics.md", "#how-good-it-is", "#how-good-it-is"),
        ("haptics.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_a_link_leads_to_the_page_of_its_file(hooks, page, link, there):
    assert hooks["Links"](hooks["generated_pages"]()).target(page, link) == there


def test_a_link_to_a_source_becomes_its_text(hooks):
    links = hooks["Links"](hooks["generated_pages"]())
    text = "See [the `Makefile`](../Makefile), [files](files.md) and ![a picture](pictures/knee.png)."
    assert links.rewritten(text, "haptics.md") == "See the `Makefile`, [files](files.md) and ![a picture](pictures/knee.png)."
    assert hooks["outside_code"]("`[a](b)` [a](b)\n\n```\n[a](b)\n```\n", str.upper) == "`[a](b)` [A](B)\n\n```\n[a](b)\n```\n"


def test_lists_of_forges_become_lists_of_the_site(hooks):
    forge = "text\n- one\n  goes on\n  - inner\n\n    its paragraph\n10. ten\n    ```\n      code\n    ```\n\ntext\n"
    site = "text\n\n- one\n    goes on\n    - inner\n\n        its paragraph\n10. ten\n    ```\n      code\n    ```\n\ntext\n"
    assert hooks["indented_lists"](forge) == site


def test_a_number_that_begins_a_line_is_no_list(hooks):
    text = "From 22 to\n82. Below it stays.\n"
    assert hooks["indented_lists"](text) == text


def test_a_page_has_one_title(hooks):
    assert hooks["one_title"]("# A\n\n## a\n") == "# A\n\n## a\n"
    assert hooks["one_title"]("# A\n\n# B\n\n## b\n") == "# A\n\n## B\n\n### b\n"
    assert hooks["one_title"]("no title\n") == "no title\n"


def test_a_fence_keeps_only_its_language(hooks):
    assert hooks["plain_fences"]("```python no-run\nx\n```\n") == "```python\nx\n```\n"
    assert hooks["plain_fences"]("```\nx\n```\n") == "```\nx\n```\n"
