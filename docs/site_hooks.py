"""What the site has beyond the pages of docs/: examples, READMEs of methods, notebooks, the changelog, and links that work there.

Pages are written for a forge, where each is a file of the repository. A link to a file that is a page of the site leads
to that page; a link to any other file of the repository becomes plain text, and a link to nothing stays, so that the
strict build refuses it. MkDocs loads this file by its path (`hooks:` in mkdocs.yml); `make docs` builds.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^\n`]*)\n(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
LINK_END = re.compile(r"\]\(([^()\s]+)((?:\s+\"[^\"]*\")?)\)")
ITEM = re.compile(r"( *)([-*+]|\d+\.)( +)(?=\S)")
HOME = "index.md"
# Which pages come first among the results of a search: those that tell what to do, then names, then all others.
SEARCH_BOOSTS = (
    (("start/", "tasks/", "choosing/", "faq.md"), 3.0),
    (("reference/", "coming_from/", "conventions.md", "glossary.md"), 2.0),
    (("changelog.md", "figures.md", "methods/", "dependencies.md", "contributing.md"), 0.3),
)

Page = tuple[str, str]  # the file of the repository that a page comes from, and its Markdown


# ---------------------------------------------------------------------- pages from elsewhere


def generated_pages() -> dict[str, Page]:
    """Return the pages that are not files of docs/, by their path in the site."""
    pages = {f"{name.lower()}.md": (f"{name}.md", read(f"{name}.md")) for name in ("CHANGELOG", "CONTRIBUTING")}
    examples = sorted(ROOT.glob("examples/*.py"))
    for path in examples:
        pages[f"examples/{path.stem}.md"] = (f"examples/{path.name}", example_page(path))
    pages["examples/index.md"] = ("examples/index.md", index_of_examples(examples))
    methods = sorted(ROOT.glob("src/jostle/methods/*/README.md"))
    for path in methods:
        pages[f"methods/{path.parent.name}.md"] = (path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    pages["methods/index.md"] = ("src/jostle/methods/README.md", index_of_methods(methods))
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        pages[f"notebooks/{path.stem}.md"] = (f"notebooks/{path.name}", notebook_page(path))
    return pages


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text("utf-8")


def words_of(stem: str) -> str:
    """Return the name of an example as a title: "Two files" for "01_two_files"."""
    words = stem.partition("_")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def example_page(path: Path) -> str:
    """Return the page of an example: what it shows, and all of it."""
    text = path.read_text("utf-8")
    shown = ast.get_docstring(ast.parse(text)) or ""
    code = text.split('"""', 2)[2].strip()
    run = f"Run it: `python examples/{path.name}`. The tests run it, too."
    return f"# {words_of(path.stem)}\n\n{shown}\n\n```python\n{code}\n```\n\n{run}\n"


def index_of_examples(paths: list[Path]) -> str:
    """Return the page that leads to the examples."""
    rows = [f"| [{words_of(path.stem)}]({path.stem}.md) | {docstring_line(path)} |" for path in paths]
    head = "# Examples\n\nEach example is one page of Python and needs no files of its own. The tests run all of them.\n\n"
    return head + "| example | what it shows |\n|---|---|\n" + "\n".join(rows) + "\n"


def docstring_line(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n")[0]


def index_of_methods(readmes: list[Path]) -> str:
    """Return the page that leads to the READMEs of the methods."""
    head = (
        "# Methods and their papers\n\n"
        "Each method has a page that maps its paper, claim by claim, to the code, and says where the code deviates and why.\n"
        "Where a method has no paper, its page maps what it does to files. A paper's key is that of `docs/references.bib`.\n\n"
        "[Which method when](../../../docs/choosing/which_method.md) helps to choose.\n\n"
    )
    rows = []
    for path in readmes:
        name = path.parent.name
        paper = re.search(r"^\s*paper=\"(\w+)\"", path.with_name("method.py").read_text("utf-8"), re.MULTILINE)
        rows.append(f"| [`{name}`]({name}.md) | {docstring_line(path.with_name('__init__.py'))} | {paper[1] if paper else '-'} |")
    answers = "\n\n## What each method answers\n\n" + read("src/jostle/cli/methods.md")
    return head + "| method | what it is | paper |\n|---|---|---|\n" + "\n".join(rows) + answers


def notebook_page(path: Path) -> str:
    """Return a notebook as a page: its Markdown, its code, and its stored output as text and pictures."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(f"```python\n{source}\n```")
            parts += filter(None, map(output_part, cell.get("outputs", [])))
    return "\n\n".join([*parts, f"This page is the notebook `notebooks/{path.name}`.", ""])


def output_part(output: dict[str, Any]) -> str:
    """Return one output of a cell as Markdown; pictures are within the page."""
    data = output.get("data", {})
    if "image/png" in data:
        png = "".join("".join(data["image/png"]).split())
        return f'<img alt="output of the cell above" src="data:image/png;base64,{png}">'
    if "text/html" in data:
        return f'<div class="notebook-output">{"".join(data["text/html"])}</div>'
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{text}\n```" if text else ""


# ---------------------------------------------------------------------- links, fences and lists


class Links:
    """Where the files of the repository are in the site."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.sources = {page: source for page, (source, _) in pages.items()}
        self.pages = {source: page for page, source in self.sources.items()} | {"examples": "examples/index.md"}

    def source_of(self, page: str) -> str:
        """Return the file of the repository that a page of the site comes from."""
        return self.sources.get(page, f"docs/{page}")

    def target(self, page: str, link: str) -> str | None:
        """Return a link of a page as it is in the site; None for a file of the repository that is not there."""
        path, mark, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return link
        where = posixpath.normpath(posixpath.join(posixpath.dirname(self.source_of(page)), path))
        if where == "README.md":  # the site's home has other headings
            found, mark, anchor = "methods/index.md" if anchor == "methods" else HOME, "", ""
        elif where in self.pages:
            found = self.pages[where]
        elif where.startswith("docs/") and not where.endswith((".py", ".bib")):
            found = where.removeprefix("docs/")
        elif (ROOT / where).exists():
            return None
        else:
            return link
        return posixpath.relpath(found, posixpath.dirname(page) or ".") + mark + anchor

    def rewritten(self, text: str, page: str) -> str:
        """Return Markdown without code, with its links as they are in the site."""
        at = 0
        while found := LINK_END.search(text, at):
            link = self.target(page, found[1])
            if link is not None:
                new = f"]({link}{found[2]})"
                text, at = text[: found.start()] + new + text[found.end() :], found.start() + len(new)
                continue
            begin = opening_bracket(text, found.start())
            text, at = text[:begin] + text[begin + 1 : found.start()] + text[found.end() :], found.start() - 1
        return text


def opening_bracket(text: str, end: int) -> int:
    """Return where the bracket opens that closes at `end`."""
    depth = 0
    for k in range(end, -1, -1):
        depth += {"]": 1, "[": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return 0


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text with a change made everywhere but in fenced blocks and code spans."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    changed = change(CODE.sub(keep, FENCE.sub(keep, text)))
    while "\x00" in changed:
        changed = re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], changed)
    return changed


def plain_fences(text: str) -> str:
    """Return a text whose fences name a language and nothing else (```python no-run is for the tests)."""
    return FENCE.sub(lambda found: found[0].replace(found[2] + found[3], found[2] + "".join(found[3].split()[:1]), 1), text)


def indented_lists(text: str) -> str:
    """Return a text with lists as Python-Markdown wants them: four columns for each level, and an empty line before the first item.

    Forges take the column of an item's text as the indentation of what belongs to it.
    """
    lines: list[str] = []
    columns: list[int] = []  # where the text of each open item begins
    fence, above = "", ""
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        item = None if fence else ITEM.match(line)
        if item and not columns and above.strip() and item[2] not in ("-", "*", "+", "1."):
            item = None  # a number at the beginning of a line: on forges, too, it does not end a paragraph
        continues = bool(fence or not line.strip() or (above.strip() and not item and not starts_block(line)))
        if not continues:
            columns = [column for column in columns if column <= indent]
        if item and not columns and above.strip() and not ITEM.match(above) and not above.startswith(" "):
            lines.append("")
        rest = line.lstrip(" ") if item else line[min(indent, columns[-1] if columns else 0) :]
        lines.append(" " * 4 * len(columns) + rest if line.strip() else line)
        if item:
            columns.append(item.end())
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opened := re.match(r" *(`{3,}|~{3,})", line):
            fence = opened[1]
        above = line
    return "\n".join(lines)


def one_title(text: str) -> str:
    """Return a text with one heading of the first level; of several, those after the first go a level down, with what follows.

    A page with several titles has no table of contents.
    """
    above, *parts = re.split(r"^(?=# )", text, flags=re.MULTILINE)
    return above + "".join(parts[:1]) + re.sub(r"^(?=#{1,5} )", "#", "".join(parts[1:]), flags=re.MULTILINE)


def starts_block(line: str) -> bool:
    """Return whether a line cannot continue a paragraph: a heading, a table, a fence or a quote."""
    return line.lstrip().startswith(("#", "|", "```", "~~~", ">", "<", "!["))


# ---------------------------------------------------------------------- what MkDocs calls

_links = Links({})


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and put those of each folder where mkdocs.yml names the folder."""
    global _links
    pages = generated_pages()
    _links = Links(pages)
    for path, (_, text) in pages.items():
        files.append(File.generated(config, path, content=text))
    config["nav"] = with_folders(config["nav"], pages)
    return files


def with_folders(nav: Any, pages: dict[str, Page]) -> Any:
    """Return a navigation with the pages of a folder where its name and a slash stand ("examples/")."""
    if isinstance(nav, list):
        return [with_folders(each, pages) for each in nav]
    if isinstance(nav, dict):
        return {title: with_folders(value, pages) for title, value in nav.items()}
    if nav.endswith("/"):
        found = sorted((page for page in pages if page.startswith(nav)), key=lambda page: (not page.endswith("/index.md"), page))
        return [{posixpath.basename(page)[:-3]: page} if nav == "methods/" and "/index." not in page else page for page in found]
    return nav


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's Markdown as the site needs it."""
    path = page.file.src_uri
    boost = next((boost for start, boost in SEARCH_BOOSTS if path.startswith(start)), 1.0)
    page.meta.setdefault("search", {"boost": boost})
    return indented_lists(outside_code(plain_fences(markdown), lambda text: one_title(_links.rewritten(text, path))))
