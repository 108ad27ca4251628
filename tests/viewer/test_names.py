"""Names come from anywhere: on the page they are text, in file names they are numbers, in commands they are quoted.

The sources of the viewer are read as well: markup is a literal template of `fill`, and goes to the page by two functions.
"""

import ast
import re
import shlex
import unicodedata
from pathlib import Path

import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.shapes import build

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

from jostle.viewer.fit_panel import save_paths
from jostle.viewer.html import Html, distinct, escaped, fill, joined, plain
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of_world
from tests.viewer.raw_client import served, until

HOSTILE = (
    "<img src=x onerror=alert(1)>", '"><script>alert(1)</script>', "' onmouseover='alert(1)", "[a](javascript:alert(1))",
    "![x](//evil/x)", "{0.__class__}", "{name}", "&lt;b&gt;", "a\u202egnp.exe", "a\x00\x1b[31m\x07b", "\ud800",
    "line\nbreak\u2028end", 5000 * "x", "$(reboot)", "`id`", "; rm -rf ~", "-x", "../../etc/passwd", "C:\\x|y*?", "nothing",
    "", " ", "\u200b",
)  # fmt: skip
SOURCES = Path(__file__).parents[2] / "src" / "jostle"
MARKUP = re.compile(r"<(?!i2$)\s*/?[a-zA-Z!]|</?$")  # "<i2" is a type of numbers


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_in_markup_and_attributes(name):
    filled = fill('<b title="{name}">{name}</b>', name=name)
    assert re.fullmatch(r'<b title="[^<>"\']*">[^<>"\']*</b>', filled)
    shown = plain(name)
    assert len(shown) <= 80
    assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in shown)


def test_markup_is_kept_and_text_is_not_taken_for_it():
    inner = fill("<i>{word}</i>", word="a & b")
    assert fill("<p>{inner}</p>", inner=inner) == "<p><i>a &amp; b</i></p>"
    assert joined([inner, inner], fill("<br>")) == "<i>a &amp; b</i><br><i>a &amp; b</i>"
    assert escaped(inner + "") == "&lt;i&gt;a &amp;amp; b&lt;/i&gt;"  # a string that was put together is text again
    assert isinstance(inner, Html)
    assert plain("\u0928\u200d\u092e") == "\u0928\u200d\u092e"  # joiners are letters' own


def test_bodies_to_choose_from_all_differ():
    names = ["a", "a\x00", "a\x01", 300 * "b", 300 * "b" + "c", "b", "", "\n", "a\ufffd (2)"]
    shown = distinct(names)
    assert len(set(shown)) == len(names)
    assert shown[0] == "a"


def fit_session(*names):
    world = jostle.World("bounding_tree")
    for number, name in enumerate(names):
        world.add(build.box((1.0, 1.0, 1.0)), translation((2.0 * number, 0.0, 0.0)), name)
    return Session(subject_of_world(world, "parts $(x).glb"), Settings(method="bounding_tree"), fit=0.01)


def test_files_are_named_by_numbers_and_commands_are_quoted(tmp_path):
    names = [name for name in HOSTILE if name.strip()]
    session = fit_session(*names)
    for number in range(len(names)):
        session.move(number, translation((2.0 * number, 0.0, 5.0)), "me")
    session.round()
    saved = save_paths(session, tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(f"body_{number}_way.csv" for number in range(len(names)))
    for (file, command), name in zip(saved, names, strict=True):
        if command.startswith("jostle fit"):
            assert shlex.split(command)[:4] == ["jostle", "fit", "parts $(x).glb", f"--move={name}"]
            assert shlex.split(command)[4] == f"--path={file.name}"
        else:
            assert "cannot be shown" in command
            assert plain(name, 600) != name or len(name) > 500


def test_a_node_with_markup_for_a_name_is_text_for_every_browser():
    name = "<img src=x onerror=alert(1)>"
    with served(fit_session(name, "'\"><script>")) as page:
        client = page.client()
        page.session.move(0, translation((3.0, 0.0, 0.0)), "me")
        words = client.hears(lambda each: "is stopped by" in str(each.get("updates", {}).get("content")))["updates"]["content"]
        assert "<b>&lt;img src=x onerror=alert(1)&gt;</b> is stopped by <b>&#x27;&quot;&gt;&lt;script&gt;</b>" in words
        page.session.change(method="no (such\x00method")
        until(lambda: client.told("no"))
        assert all("<img" not in str(each) for each in client.heard if each["type"] == "GuiHtmlMessage")


def trees():
    for file in sorted((SOURCES / "viewer").glob("*.py")):
        yield file.name, ast.parse(file.read_text(encoding="utf-8"))


def has_markup(node):
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and MARKUP.search(each.value) for each in ast.walk(node)
    )


def offences(tree, may_sink=False):
    """Return where markup is made without `fill`, or reaches the page without `add_html` and `show_html`."""
    found, templates = [], set()
    documents = {
        node.body[0].value for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body
        and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fill" and isinstance(node.args[0], ast.Constant):
            templates.add(node.args[0])
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if MARKUP.search(node.value) and node not in templates and node not in documents:
                found.append(f"line {node.lineno}: markup that is no template of fill")
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "fill" and not (node.args and isinstance(node.args[0], ast.Constant)):
                found.append(f"line {node.lineno}: a template that is no literal")
            if name == "Html" and node.args and not may_sink and not allowed_html(node):
                found.append(f"line {node.lineno}: text taken for markup")
            if name in ("add_markdown", "add_plotly", "run_javascript") or (
                name == "add_html" and isinstance(node.func, ast.Attribute) and not may_sink
            ):
                found.append(f"line {node.lineno}: {name}")
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and not may_sink:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Attribute) and each.attr == "content" for each in targets):
                found.append(f"line {node.lineno}: content is set past show_html")
    return found


def allowed_html(call):
    return "b64encode" in ast.unparse(call)  # letters and digits alone


def test_markup_is_put_together_by_fill_alone():
    for name, tree in trees():
        assert offences(tree, may_sink=name == "html.py") == [], name


@pytest.mark.parametrize(
    "line",
    [
        'gui.add_html(f"<b>{name}</b>")', 'add_html(gui, f"<b>{name}</b>")', 'words = "<b>" + name', 'words = "<b>%s</b>" % name',
        'words = "<b>{}</b>".format(name)', "element.content = words", "gui.add_markdown(name)", "fill(template, name=name)",
        "Html(name)", 'fill(f"<b>{name}</b>")', 'gui.add_html("")', "element.content += words", 'x = f"</{name}>"',
    ],
)  # fmt: skip
def test_the_reading_of_sources_finds_what_it_is_for(line):
    assert offences(ast.parse(line))


def test_the_laboratory_escapes_what_it_puts_into_its_page():
    """Every value in markup is escaped, or is one of those that were looked at: markup of its own, or words of the code."""
    tree = ast.parse((SOURCES / "lab" / "page.py").read_text(encoding="utf-8"))
    inner = {id(each) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) for each in ast.walk(node.value)}
    values = {
        ast.unparse(value.value)
        for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and has_markup(node) and id(node) not in inner
        for value in node.values if isinstance(value, ast.FormattedValue)
    }  # fmt: skip
    not_escaped = {value for value in values if not value.startswith("escape(")}
    own = re.compile(r"^(_state\(result\)|_badge\(verdict\.verdict\)|''\.join\((items|rows|figures|cards)\)|_reasons\(result\))$")
    looked_at = {
        "words", "name", "marks", "word", "rows", "heads", "table", "place", "claim", "image", "kind", "data", "head", "beside",
        "source", "values", "value", "start", "status", "numbers", "len(point.runs)", "_MARKS.get(verdict, 'none')",
        "_MARKS.get(verdict.verdict, 'none')",
        "'good' if run.status == 'ok' else 'warn'", "f' <span>{unit}</span>' if unit else ''",
    }  # fmt: skip
    assert {value for value in not_escaped if not own.match(value)} <= looked_at
