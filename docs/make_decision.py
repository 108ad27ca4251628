"""Draw docs/choosing/decision.svg again: python docs/make_decision.py. Questions from top to bottom, and the method of each."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

FIGURE = Path(__file__).resolve().parent / "choosing" / "decision.svg"
WIDTH, ROW, GAP, MARGIN = 420, 50, 20, 10
LEFT, RIGHT, BETWEEN = 216, 148, 36  # widths of a question, of a method, and of the arrow from one to the other
QUESTION, METHOD, LINE, TEXT = "#eef3fb", "#e3efe3", "#0072b2", "#1a1a1a"
QUESTIONS = [
    (("An answer by a deadline,", "as much as time allows?"), "monte_carlo", "exact rows, may miss"),
    (("Contact between two instants,", "or a step that stops in time?"), "bounding_tree", "first contact and time"),
    (("Depth and forces,", "closed rigid bodies, 1 kHz?"), "voxmap", "within a length"),
    (("The features that are closest,", "convex bodies only?"), "closest_features", "vertices, edges, faces"),
    (("No compiled code at all?",), "plain", "exact, NumPy alone"),
]
OTHERWISE = ("everything else", "wide_tree", "the default: exact")


def text(x: float, y: float, words: str, more: str = "") -> str:
    """Return a line of text, its middle at x."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="{TEXT}" {more}>{escape(words)}</text>'


def box(x: float, y: float, width: float, fill: str) -> str:
    """Return a box with round corners."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{ROW}" rx="6" fill="{fill}" stroke="{LINE}"/>'


def arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    """Return an arrow."""
    return f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{LINE}" stroke-width="1.5" marker-end="url(#tip)"/>'


def method(y: float, name: str, what: str, fill: str) -> list[str]:
    """Return the box of a method."""
    x = WIDTH - MARGIN - RIGHT
    name_style = 'font-family="monospace" font-size="13" font-weight="bold"'
    return [
        box(x, y, RIGHT, fill),
        text(x + RIGHT / 2, y + 21, name, name_style),
        text(x + RIGHT / 2, y + 39, what, 'font-size="12"'),
    ]


def figure() -> str:
    """Return the picture."""
    height = 2 * MARGIN + (len(QUESTIONS) + 1) * (ROW + GAP) - GAP
    middle, edge = MARGIN + LEFT / 2, MARGIN + LEFT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Which method when: questions from top to bottom; the first yes leads to its method, no yes to wide_tree</title>",
        f'<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    for number, (question, name, what) in enumerate(QUESTIONS):
        y = MARGIN + number * (ROW + GAP)
        lines.append(box(MARGIN, y, LEFT, QUESTION))
        first = y + ROW / 2 + 5 - 9 * (len(question) - 1)
        lines += [text(middle, first + 18 * k, words) for k, words in enumerate(question)]
        lines.append(arrow(edge, y + ROW / 2, edge + BETWEEN, y + ROW / 2))
        lines.append(text(edge + BETWEEN / 2 - 3, y + ROW / 2 - 6, "yes", 'font-size="12"'))
        lines += method(y, name, what, METHOD)
        lines.append(arrow(middle, y + ROW, middle, y + ROW + GAP))
        lines.append(text(middle + 14, y + ROW + 14, "no", 'font-size="12"'))
    y = MARGIN + len(QUESTIONS) * (ROW + GAP)
    lines += [box(MARGIN, y, LEFT, QUESTION), text(middle, y + ROW / 2 + 5, OTHERWISE[0])]
    lines.append(arrow(edge, y + ROW / 2, edge + BETWEEN, y + ROW / 2))
    lines += method(y, *OTHERWISE[1:], "#cfe3f7")
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    FIGURE.write_text(figure(), encoding="utf-8")
