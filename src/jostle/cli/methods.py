"""`jostle methods`: the table of methods, from their traits.

The command prints a stored copy, `methods.md`: asking the methods themselves imports all of them, which takes as long as the rest
of the command. A test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.registry import DEFAULT_METHOD, METHODS

if TYPE_CHECKING:
    from jostle.interface.traits import Traits

TABLE_WIDTH = 120  # characters: enough for cells of at most four lines
STORED = Path(__file__).with_suffix(".md")
COLUMNS = ("method", "answers for", "faces", "needs", "serves", "paper")


def rows() -> list[tuple[str, ...]]:
    """Return one row of text per method, from its traits."""
    return [(name + (" (default)" if name == DEFAULT_METHOD else ""), *_row(made().traits)) for name, made in METHODS.items()]


def _row(traits: Traits) -> tuple[str, ...]:
    from jostle.interface.traits import Answer, Need, Serve

    faces = traits.answers.get(Answer.FACES)
    semantics = {"surface": "surfaces", "solid": "solids", "both": "surfaces and solids"}[traits.semantics.value]
    return (
        semantics,
        f"none; {guarantee_words(traits)}" if faces is None else str(faces),
        ", ".join(need.value for need in Need if need in traits.needs) or "any mesh",
        ", ".join(serve.value for serve in Serve if serve in traits.serves) or "-",
        traits.paper or "-",
    )


def guarantee_words(traits: Traits) -> str:
    """Return a method's guarantee in words: for faces, else points, else bodies."""
    from jostle.interface.traits import Answer

    for question, what in ((Answer.FACES, "faces"), (Answer.POINTS, "points"), (Answer.DISTANCE, "bodies")):
        if question in traits.answers:
            return f"{what} {traits.answers[question]}"
    return "-"


def as_markdown() -> str:
    """Return the table as Markdown."""
    lines = [" | ".join(COLUMNS), "|".join("---" for _ in COLUMNS), *(" | ".join(row) for row in rows())]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}|" for line in lines)


def stored_rows() -> list[tuple[str, ...]]:
    """Return the rows of the stored table."""
    lines = STORED.read_text(encoding="utf-8").splitlines()
    return [tuple(line.removeprefix("| ").removesuffix(" |").split(" | ")) for line in lines[2:]]


def methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown, made anew.")] = False,
) -> None:
    """List the methods: what each needs, answers, guarantees and supports."""
    if markdown:
        print(as_markdown())
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table

    console = Console()
    if console.width < TABLE_WIDTH:  # cells would be a word wide: print a paragraph per method instead
        for name, *cells in stored_rows():
            console.print(f"[bold]{name}[/bold]", highlight=False)
            lines = "\n".join(f"{column}: {cell}" for column, cell in zip(COLUMNS[1:], cells, strict=True))
            console.print(Padding(lines, (0, 0, 0, 4), expand=False), highlight=False)
        return
    table = Table(*COLUMNS)
    table.columns[0].no_wrap = True
    for row in stored_rows():
        table.add_row(*row)
    console.print(table)
