"""A self-contained HTML page of all experiments: plots, tables, verdicts.

The page fetches nothing: images are embedded, the style (`page.css`) is inline, there is no script, and its security policy
forbids connections. It follows the reader's light or dark mode and fits a phone. All text is escaped, and the markup is
well-formed XML. Equal results and figures give a byte-equal page.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape as escape_markup
from importlib import resources
from pathlib import Path
from typing import Any

from jostle.atomic_file import write_text
from jostle.bench.table import milliseconds
from jostle.lab.appearance import OWN_PICTURES, PICTURES, PLOTS, showable
from jostle.lab.results import ExperimentResult, MethodRun, Point, Verdict, quality_of, unserved

PAGE = "index.html"
NOTHING = "–"
_MARKS = {"reproduced": "good", "partly": "half", "refuted": "bad", "not judged": "none"}
_COLUMNS = (
    ("median", "ms"), ("95 %", "ms"), ("max", "ms"), ("std. dev.", "ms"), ("prepare", "ms"), ("memory", "MB"),
    ("contacts", ""), ("missed", ""), ("extra", ""), ("answer", ""),
)  # fmt: skip


def write_page(results: Sequence[ExperimentResult], folder: Path) -> Path:
    """Write FOLDER/index.html with every experiment and return its path.

    Parameters
    ----------
    results : sequence of ExperimentResult
        In the order of the page.
    folder : Path
        Holds a folder of figures for each experiment, such as FOLDER/spheres; missing plots are drawn there if matplotlib is
        installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    body = [_head(results), _contents(results), _claims(results)]
    names = _anchors(results)
    body += [_experiment(result, name, folder / result.name) for result, name in zip(results, names, strict=True)]
    body.append(_HOW_TO_READ)
    target = folder / PAGE
    style = resources.files("jostle.lab").joinpath("page.css").read_text(encoding="utf-8")
    write_text(target, _TEMPLATE.format(style=style, body="\n".join(part for part in body if part)))
    return target


def _anchors(results: Sequence[ExperimentResult]) -> list[str]:
    """Return a unique fragment for each experiment."""
    return [f"e{number}-{re.sub(r'[^A-Za-z0-9_-]+', '-', result.name)}" for number, result in enumerate(results, 1)]


# ---------------------------------------------------------------------- the top


def _head(results: Sequence[ExperimentResult]) -> str:
    days = sorted({result.started[:10] for result in results if result.started})
    when = "" if not days else f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"
    count = f"{len(results)} experiment{'' if len(results) == 1 else 's'}"
    words = "The same scene, the same motion, every method."
    return f"<header><h1>jostle laboratory</h1><p>{words}</p><p class='quiet'>{escape(count + when)}</p></header>"


def _contents(results: Sequence[ExperimentResult]) -> str:
    if not results:
        return "<p>No results yet: <code>jostle lab run NAME</code> runs an experiment.</p>"
    items = []
    for result, name in zip(results, _anchors(results), strict=True):
        marks = " ".join(_badge(verdict.verdict) for verdict in result.verdicts)
        items.append(f"<li><a href='#{name}'>{escape(_heading(result))}</a> {marks}{_state(result)}</li>")
    return f"<nav aria-label='Contents'><h2>Contents</h2><ol>{''.join(items)}</ol></nav>"


def _heading(result: ExperimentResult) -> str:
    """Return the title, after the number of the figure if it has one."""
    title = result.title or result.name
    return f"{result.figure[:1].upper()}{result.figure[1:]}: {title}" if result.figure else title


def _state(result: ExperimentResult) -> str:
    """Return badges for an incomplete run."""
    words = [word for word, holds in (("quick run", result.quick), ("interrupted", result.interrupted)) if holds]
    return "".join(f" <span class='badge warn'>{word}</span>" for word in words)


def _claims(results: Sequence[ExperimentResult]) -> str:
    """Return all claims of all papers in one table."""
    rows = []
    for result, name in zip(results, _anchors(results), strict=True):
        for verdict in result.verdicts:
            place = f"{escape(verdict.paper)}<br /><span class='quiet'>{escape(verdict.place)}</span>"
            claim = f"<td class='words'>{escape(verdict.claim)}</td><td>{_badge(verdict.verdict)}</td>"
            rows.append(f"<tr><td>{place}</td>{claim}<td><a href='#{name}'>{escape(result.name)}</a></td></tr>")
    if not rows:
        return ""
    heads = "".join(f"<th scope='col'>{word}</th>" for word in ("paper", "claim", "verdict", "experiment"))
    table = f"<table class='claims'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<section><h2>Claims of the papers</h2><div class='wide'>{table}</div></section>"


def _badge(verdict: str) -> str:
    return f"<span class='badge {_MARKS.get(verdict, 'none')}'>{escape(verdict)}</span>"


# ---------------------------------------------------------------------- an experiment


def _experiment(result: ExperimentResult, name: str, folder: Path) -> str:
    parts = [
        f"<section id='{name}'><h2>{escape(_heading(result))}{_state(result)}</h2>",
        f"<p class='quiet'>{escape(f'{result.paper}, {result.figure}: {result.caption}')}</p>" if result.figure else "",
        f"<p>{escape(result.about)}</p>" if result.about else "",
        f"<p class='advice'>{escape(result.advice)}</p>" if result.advice else "",
        _pictures(result, folder),
        _plots(result, folder),
        _verdicts(result.verdicts),
        _table(result),
        _circumstances(result),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _pictures(result: ExperimentResult, folder: Path) -> str:
    found = [(folder / f"{name}.png", words) for name, words in PICTURES.items()]
    figures = [
        _figure(path, f"{words}; touching faces in red.", f"{words} of the scene of {result.name}")
        for path, words in found
        if path.is_file()
    ]
    for path in sorted(folder.glob(OWN_PICTURES)):
        words = path.stem.removeprefix("picture_").lstrip("0123456789_").replace("_", " ")
        figures.append(_figure(path, f"{words[:1].upper()}{words[1:]}.", f"{words}, in {result.name}"))
    return f"<div class='figures pictures'>{''.join(figures)}</div>" if figures else ""


def _plots(result: ExperimentResult, folder: Path) -> str:
    if not any((folder / f"{name}.svg").is_file() for name in PLOTS):
        with suppress(ImportError):  # matplotlib is optional
            from jostle.lab.plots import draw_experiment

            draw_experiment(result, folder)
    figures = []
    for name, words in PLOTS.items():
        path = folder / f"{name}.svg"
        if path.is_file():
            caption = words.format(parameter=result.parameter or "the parameter")
            figures.append(_figure(path, caption, f"{caption} {_in_words(result)}"))
    return f"<div class='figures plots'>{''.join(figures)}</div>" if figures else ""


def _figure(path: Path, caption: str, alternative: str) -> str:
    kind = "image/svg+xml" if path.suffix == ".svg" else "image/png"
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    image = f"<img src='data:{kind};base64,{data}' alt='{escape(alternative)}' />"
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _in_words(result: ExperimentResult) -> str:
    """Return the text alternative of a plot: the medians of the last point."""
    if not result.points:
        return ""
    last = result.points[-1]
    words = [f"{run.method} {milliseconds(run.median)} ms" if run.median else f"{run.method} {run.status}" for run in last.runs]
    where = "" if last.value is None else f" at {last.label}"
    return f"Medians{where}: {', '.join(words)}."


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    cards = []
    for verdict in verdicts:
        values = "".join(
            f"<div><dt>{head}</dt><dd>{escape(words) or NOTHING}</dd></div>"
            for head, words in (("printed in the paper", verdict.printed), ("measured here", verdict.ours))
        )
        beside = f"<dl class='beside'>{values}</dl>" if verdict.printed or verdict.ours else ""
        claim = f"<p>{_badge(verdict.verdict)} {escape(verdict.claim)}</p>"
        source = f"<p class='quiet'>{escape(verdict.paper)}, {escape(verdict.place)}</p>"
        cards.append(
            f"<article class='verdict {_MARKS.get(verdict.verdict, 'none')}'>{claim}{source}"
            f"{beside}<p>{escape(verdict.why)}</p></article>"
        )
    return f"<h3>Verdicts</h3>{''.join(cards)}"


def _table(result: ExperimentResult) -> str:
    """Return the table of every method on every point."""
    swept = result.parameter is not None
    first = [(result.parameter or "", "")] if swept else []
    heads = "".join(
        f"<th scope='col'>{escape(word)}{f' <span>{unit}</span>' if unit else ''}</th>"
        for word, unit in [*first, ("method", ""), ("status", ""), *_COLUMNS]
    )
    rows = []
    for point in result.points:
        for number, run in enumerate(point.runs):
            head = number == 0 and swept
            value = f"<th scope='rowgroup' rowspan='{len(point.runs)}' class='number'>{escape(point.label)}</th>" if head else ""
            numbers = "".join(f"<td class='number'>{escape(cell)}</td>" for cell in _cells(run))
            numbers += f"<td>{escape(NOTHING if run.agrees is None else quality_of(run))}</td>"
            status = f"<td><span class='badge {'good' if run.status == 'ok' else 'warn'}'>{escape(run.status)}</span></td>"
            start = "<tr class='new'>" if number == 0 else "<tr>"
            rows.append(f"{start}{value}<th scope='row'><code>{escape(run.method)}</code></th>{status}{numbers}</tr>")
    size = _sizes(result.points)
    table = f"<table class='measured'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<h3>Measured</h3><p class='quiet'>{escape(size)}</p><div class='wide' tabindex='0'>{table}</div>{_reasons(result)}"


def _cells(run: MethodRun) -> list[str]:
    times = [milliseconds(seconds) for seconds in (run.median, run.p95, run.maximum, run.deviation, run.prepare_seconds)]
    memory = NOTHING if run.memory_bytes is None else f"{run.memory_bytes / 1e6:,.1f}"
    found = NOTHING if not run.contacts else f"{sum(run.contacts):,}"
    unit = " pairs" if run.compared == "body pairs" else ""
    wrong = [NOTHING if count is None else f"{count:,}{unit}" for count in (run.missed, run.extra)]
    return [*times, memory, found, *wrong]


def _reasons(result: ExperimentResult) -> str:
    """Return why methods did not finish, each reason once."""
    items = []
    for (method, status, words), places in unserved(result.points).items():
        where = f" at {', '.join(places)}" if result.parameter is not None else ""
        items.append(f"<li><code>{escape(method)}</code> {escape(status + where)}{escape(f': {words}' if words else '')}</li>")
    return f"<ul class='reasons'>{''.join(items)}</ul>" if items else ""


def _sizes(points: Sequence[Point]) -> str:
    if not points:
        return "Nothing was measured."

    def span(numbers: Iterable[int], what: str) -> str:
        found = sorted(set(numbers))
        return f"{found[0]:,} {what}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,} {what}"

    parts = [span((getattr(point, what) for point in points), what) for what in ("bodies", "faces", "frames")]
    return ", ".join(parts) + (
        ". Median, 95th percentile, maximum and standard deviation of the time per frame; contacts, missed and extra are sums."
    )


def _circumstances(result: ExperimentResult) -> str:
    rows = [("machine", _machine_words(result.machine)), ("started", result.started), ("command", result.command)]
    items = []
    for head, words in rows:
        if words:
            value = f"<code>{escape(words)}</code>" if head == "command" else escape(words)
            items.append(f"<div><dt>{head}</dt><dd>{value}</dd></div>")
    return f"<dl class='circumstances'>{''.join(items)}</dl>" if items else ""


def _machine_words(machine: dict[str, Any]) -> str:
    """Return the machine in one line; unknown fields appear by name."""
    known = dict(machine)
    words = [str(known.pop("cpu"))] if known.get("cpu") else []
    cores, usable = known.pop("cores", None), known.pop("usable_cores", None)
    if cores is not None:
        words.append(f"{usable if usable is not None else cores} of {cores} cores")
    load = known.pop("load_average", None)
    words += [str(known.pop("system"))] if known.get("system") else []
    words += [f"{name.replace('_', ' ')} {value}" for name, value in known.items() if value is not None]
    if isinstance(load, list | tuple) and load and isinstance(load[0], int | float):
        words.append(f"load {load[0]:.1f} at the start")
    return ", ".join(words)


def escape(text: str) -> str:
    """Escape markup and quotes and replace unprintable characters."""
    return escape_markup(showable(text))


_HOW_TO_READ = """<footer>
<h2>How to read this</h2>
<p>Every method replayed the same recorded frames in its own process. Methods take turns, so a busy machine slows all alike.
The time of a frame is the median over the rounds, after a warm-up; it includes setting poses and vertices.
<em>Missed</em> and <em>extra</em> compare a method with the exact engine of the same semantics, by face pairs, or by body pairs if
it names no faces; a dash means that nothing was compared. <em>In its band</em> is an approximate answer whose differences its
guarantee allows: reported bodies are no farther apart than it states, and missed ones no longer meet when each is eroded by as
much. <em>Memory</em> is the growth of its process through prepared shapes and detector. Absolute times depend on the machine;
compare ratios within one run.</p>
</footer>"""

_TEMPLATE = """<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'" />
<title>jostle laboratory</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
