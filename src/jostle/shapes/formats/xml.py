"""XML by expat, within a budget; documents with entities are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from xml.parsers import expat

from jostle.shapes.formats.source import Budget, UnreadableError

_ELEMENTS_PER_CHECK = 4096

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]


def parse_xml(
    chunks: Iterable[bytes],
    budget: Budget,
    start: Start,
    end: End | None = None,
    namespaces: dict[str, str] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Call `start`, `end` and `text` for the elements and text of a document.

    `start` gets name and attributes, `end` the name, `text` pieces of text. Names are "namespace name". `namespaces` receives the
    declared prefixes.
    """
    depth = entries = 0

    def begins(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, entries
        depth += 1
        entries += 1 + len(attributes)
        if depth > budget.limits.nesting:
            budget.check("nesting", depth, f"its XML nests elements {depth} deep")
        if entries >= _ELEMENTS_PER_CHECK:
            budget.take("entries", entries)
            entries = 0
        start(name, attributes)

    def ends(name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(name)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = begins, ends
    if namespaces is not None:
        parser.StartNamespaceDeclHandler = lambda prefix, uri: namespaces.__setitem__(prefix or "", uri or "")
    if text is not None:
        parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        for chunk in chunks:
            budget.tick()
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UnreadableError(f"its XML does not parse ({error})") from None


def _refuse_doctype(*_: object) -> None:
    raise UnreadableError("its XML has a document type, which could define entities without end; remove <!DOCTYPE …>")
