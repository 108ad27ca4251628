"""The page of the laboratory: everything that was run is on it, nothing is fetched, nothing is left unescaped."""

import base64
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from jostle.lab.page import PAGE, write_page
from jostle.lab.plots import draw_experiment
from jostle.lab.results import ExperimentResult, MethodRun, Point, Verdict

X = "{http://www.w3.org/1999/xhtml}"
VOID = {"meta", "img", "br"}


def run_of(method, seconds=1e-3, **fields):
    given = {
        "prepare_seconds": 0.0125, "memory_bytes": 3 * 2**20, "contacts": [1000, 234, 0], "pairs": [1, 1, 0], "missed": 7,
        "extra": 8, "compared": "faces", "counters": [{"box_tests": 5}] * 3,
    }  # fmt: skip
    return MethodRun(method, frame_seconds=[seconds, 2 * seconds, 6 * seconds], **{**given, **fields})


VOXMAP = run_of("voxmap", compared="body pairs", guarantee="within 0.1", missed_beyond=0, extra_beyond=0)


def spheres():
    points = []
    for value in (8, 3968):
        runs = [run_of("wide_tree"), VOXMAP, MethodRun("brute_force", "too slow", "It took ages.")]
        points.append(Point(value, 15, 15 * value, 3, runs))
    verdicts = [
        Verdict("kitamura1998", "§5.1, Fig. 6", "It grows with the square.", "reproduced", "Slope 1.97.", "slope 2", "slope 1.97"),
        Verdict("baciu1998", "§6", "It does not grow.", "refuted", "It does."),
        Verdict("lock2000", "§7", "Half of it holds.", "partly", "The other half does not.", "42 ms", ""),
        Verdict("guy2004", "§4", "Nobody knows.", "not judged", "It did not take part."),
    ]
    machine = {
        "cpu": "A processor",
        "cores": 4,
        "usable_cores": 2,
        "system": "An OS",
        "numba": "0.68",
        "load_average": [0.25, 0, 0],
    }
    return ExperimentResult(
        "spheres", "Spheres in a cube", "faces of a sphere", points, verdicts, machine,
        started="2026-11-16T04:00:00+00:00", command="jostle lab run spheres", about="Fifteen spheres fly about.",
    )  # fmt: skip


def own():
    stopped = [("monte_carlo", "unsupported", "No."), ("voxmap", "failed", "Fell."), ("edge_face", "interrupted", "")]
    runs = [run_of("wide_tree"), *(MethodRun(*words) for words in stopped)]
    return ExperimentResult(
        "scene",
        "A scene of mine",
        None,
        [Point(None, 2, 24, 3, runs)],
        advice="wide_tree serves it best.",
        quick=True,
        interrupted=True,
    )


@pytest.fixture
def without_plots(monkeypatch):
    """Plots take most of the time of a page, and have tests of their own."""
    monkeypatch.setattr("jostle.lab.plots.draw_experiment", lambda result, folder: [])


def root_of(path):
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))


def text_of(element):
    return re.sub(r"\s+", " ", "".join(element.itertext()))


class Balance(HTMLParser):
    """A reader of HTML that insists on matching tags."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_fetches_nothing(tmp_path):
    page = write_page([spheres(), own()], tmp_path)
    assert page == tmp_path / PAGE
    assert [path.name for path in tmp_path.glob("*.*")] == [PAGE]
    reader = Balance()
    reader.feed(page.read_text(encoding="utf-8"))
    assert reader.open == []
    for tag, attributes in reader.seen:
        assert tag not in ("script", "link", "iframe", "object")
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("data:image/", "#"))
        assert not any(name.startswith("on") for name in attributes)
        if tag == "img":
            assert attributes["alt"]
    style = root_of(page).find(f".//{X}style").text
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert any(attributes.get("name") == "viewport" for tag, attributes in reader.seen if tag == "meta")


def test_the_contents_lead_to_every_experiment(tmp_path, without_plots):
    root = root_of(write_page([spheres(), own(), spheres()], tmp_path))
    links = [link.get("href").removeprefix("#") for link in root.find(f".//{X}nav").iter(f"{X}a")]
    ids = [section.get("id") for section in root.iter(f"{X}section") if section.get("id")]
    assert links == ids
    assert len(set(ids)) == 3


def test_methods_statuses_and_numbers_are_in_the_table(tmp_path, without_plots):
    root = root_of(write_page([spheres(), own()], tmp_path))
    first, second = (table for table in root.iter(f"{X}table") if table.get("class") == "measured")
    heads = [text_of(cell) for cell in first.find(f"{X}thead").iter(f"{X}th")]
    assert heads == [
        "faces of a sphere", "method", "status", "median ms", "95 % ms", "max ms", "std. dev. ms", "prepare ms", "memory MB",
        "contacts", "missed", "extra", "answer",
    ]  # fmt: skip
    rows = [[text_of(cell) for cell in row] for row in first.find(f"{X}tbody")]
    # Frames of 1, 2 and 6 ms: the 95th percentile lies nine tenths of the way from 2 to 6.
    assert rows[0] == ["8", "wide_tree", "ok", "2.000", "5.600", "6.000", "2.160", "12.5", "3.1", "1,234", "7", "8", "wrong"]
    assert rows[1] == ["voxmap", *rows[0][2:10], "7 pairs", "8 pairs", "in its band (within 0.1)"]
    assert rows[2] == ["brute_force", "too slow", *["–"] * 10]
    assert rows[3][0] == "3,968"
    assert [[text_of(cell) for cell in row][:2] for row in second.find(f"{X}tbody")] == [
        ["wide_tree", "ok"], ["monte_carlo", "unsupported"], ["voxmap", "failed"], ["edge_face", "interrupted"]
    ]  # fmt: skip
    text = text_of(root)
    assert "brute_force too slow at 8, 3,968: It took ages." in text
    assert "edge_face interrupted" in text
    assert text.count("quick run") == 2  # in the contents and over the experiment


def test_verdicts_stand_with_paper_place_and_printed_values_beside_ours(tmp_path, without_plots):
    root = root_of(write_page([spheres()], tmp_path))
    cards = list(root.iter(f"{X}article"))
    assert [text_of(card.find(f".//{X}span")) for card in cards] == ["reproduced", "refuted", "partly", "not judged"]
    words = text_of(cards[0])
    for expected in ("It grows with the square.", "kitamura1998, §5.1, Fig. 6", "Slope 1.97."):
        assert expected in words
    assert [text_of(value) for value in cards[0].iter(f"{X}dd")] == ["slope 2", "slope 1.97"]
    assert [text_of(value) for value in cards[2].iter(f"{X}dd")] == ["42 ms", "–"]
    assert list(cards[1].iter(f"{X}dd")) == []
    claims = next(table for table in root.iter(f"{X}table") if table.get("class") == "claims")
    assert len(claims.find(f"{X}tbody")) == 4


def test_a_figure_of_a_paper_has_its_number_and_caption(tmp_path):
    result = spheres()
    result.name, result.paper, result.figure, result.caption = "face_octree/fig_13", "kitamura1998", "fig. 13", "What it <shows>."
    root = root_of(write_page([result], tmp_path))
    section = next(each for each in root.iter(f"{X}section") if each.get("id"))
    assert text_of(section.find(f"{X}h2")) == "Fig. 13: Spheres in a cube"
    assert "kitamura1998, fig. 13: What it <shows>." in text_of(section)
    assert "Fig. 13: Spheres in a cube" in text_of(root.find(f".//{X}nav"))
    assert (tmp_path / "face_octree" / "fig_13" / "counters.svg").is_file()  # drawn where its results are


def test_the_circumstances_are_told(tmp_path, without_plots):
    words = text_of(root_of(write_page([spheres(), own()], tmp_path)))
    for expected in (
        "A processor, 2 of 4 cores, An OS, numba 0.68, load 0.2 at the start",
        "2026-11-16T04:00:00+00:00", "jostle lab run spheres",
        "Fifteen spheres fly about.", "wide_tree serves it best.", "2 experiments, 2026-11-16",
    ):  # fmt: skip
        assert expected in words


def images_of(page):
    sources = [image.get("src") for image in root_of(page).iter(f"{X}img")]
    return [(source.partition(";")[0], base64.b64decode(source.partition(",")[2])) for source in sources]


def test_figures_that_are_there_are_embedded_and_missing_ones_drawn(tmp_path):
    result = spheres()
    drawn = [path for path in draw_experiment(result, tmp_path / result.name) if path.suffix == ".svg"]
    (tmp_path / result.name / "scene_last.png").write_bytes(b"\x89PNG picture")
    images = images_of(write_page([result, own()], tmp_path))
    assert images[0] == ("data:image/png", b"\x89PNG picture")
    assert [data for _, data in images[1 : 1 + len(drawn)]] == [path.read_bytes() for path in drawn]
    others = images[1 + len(drawn) :]
    assert len(others) == 3
    assert all(kind == "data:image/svg+xml" and ElementTree.fromstring(data) is not None for kind, data in others)
    assert (tmp_path / "scene" / "times.svg").is_file()


def test_without_matplotlib_there_is_a_page_without_plots(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jostle.lab.plots", None)
    page = write_page([own()], tmp_path)
    assert images_of(page) == []
    assert "wide_tree serves it best." in text_of(root_of(page))


def test_equal_results_give_a_byte_equal_page(tmp_path):
    first, second = (write_page([own()], tmp_path / name).read_bytes() for name in "ab")
    assert first == second


HOSTILE = "</td></section><script>alert(1)</script><img src=x onerror='x'>\"&amp;{style}\x00\x1b[31m\ud800 ]]>"


def test_hostile_words_stay_words(tmp_path):
    result = spheres()
    for field in ("title", "parameter", "about", "command", "started", "advice"):
        setattr(result, field, HOSTILE)
    result.machine = {"cpu": HOSTILE, HOSTILE: HOSTILE}
    result.verdicts = [Verdict(*[HOSTILE] * 7)]
    result.points[0].value = HOSTILE
    for run in result.points[0].runs:
        run.method = run.status = run.why = run.compared = HOSTILE
    page = write_page([result], tmp_path)
    root = root_of(page)  # still well-formed
    assert list(root.iter(f"{X}script")) == []
    assert all(image.get("src").startswith("data:") for image in root.iter(f"{X}img"))
    shown = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\ud800", "\ufffd")
    assert text_of(root).count(shown) >= 20  # every field, many of them several times
    assert "<script>" not in page.read_text(encoding="utf-8")


def test_a_name_that_is_no_fragment_still_leads_there(tmp_path, without_plots):
    result = own()
    result.name = "my scene's <1>"
    root = root_of(write_page([result], tmp_path))
    (section,) = (section for section in root.iter(f"{X}section") if section.get("id"))
    assert re.fullmatch(r"[A-Za-z][\w-]*", section.get("id"))


@pytest.mark.parametrize("results", [[], [ExperimentResult("empty", "Nothing was measured")]])
def test_a_page_of_nothing_is_a_page(results, tmp_path):
    words = text_of(root_of(write_page(results, tmp_path)))
    assert "Nothing was measured" in words if results else "jostle lab run NAME" in words
