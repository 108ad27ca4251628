"""Figures of experiments: the right ones, well-formed, the same every time, and no method left out in silence."""

import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from jostle.geometry.pose import translation
from jostle.lab import plots
from jostle.lab.appearance import LINE_STYLES, PLOTS, styles_of
from jostle.lab.plots import draw_experiment
from jostle.lab.results import ExperimentResult, MethodRun, Point
from jostle.motion.record import Motion
from tests.tiny import box


def run_of(method, seconds=1e-3, frames=6, **fields):
    times = [seconds * (1 + 0.1 * k) for k in range(frames)]
    work = [{"body_pairs": 3, "box_tests": 100 + k, "triangle_tests": 10, "pixels": 0} for k in range(frames)]
    given = {"contacts": list(range(frames)), "pairs": [1] * frames, "counters": work, "missed": 0, "extra": 0, "compared": "faces"}
    return MethodRun(method, frame_seconds=times, update_seconds=[t / 10 for t in times], **{**given, **fields})


def stopped(method="monte_carlo", status="failed", why="It fell over."):
    return MethodRun(method, status, why)


def sweep(values=(10, 100, 1000), power=2.0, **fields):
    points = []
    for value in values:
        number = value if isinstance(value, int | float) else 10
        runs = [run_of("wide_tree", 1e-5 * number), run_of("brute_force", 1e-7 * number**power), stopped()]
        points.append(Point(value, 2, 20, 6, runs))
    return ExperimentResult("toy", "A toy", "faces of a sphere", points, **fields)


def single(*runs, **fields):
    return ExperimentResult("toy", "A toy", None, [Point(None, 2, 20, 6, list(runs))], **fields)


def figures_of(result):
    with plots._own_settings():
        return dict(plots._figures(result))


def words_of(figure: Figure):
    """All text of a figure, as a reader sees it, without line breaks."""
    figure.canvas.draw()
    found = [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_visible()]
    return re.sub(r"\s+", " ", " ".join(found))


def test_every_plot_is_written_as_svg_and_png_and_the_svg_is_well_formed(tmp_path):
    written = draw_experiment(sweep(), tmp_path)
    assert [path.name for path in written] == [
        f"{name}.{ending}" for name in ("time_against_parameter", "time_per_frame", "counters") for ending in ("svg", "png")
    ]
    for path in written:
        if path.suffix == ".svg":
            root = ElementTree.parse(path).getroot()
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert 8.0 < float(root.get("width").removesuffix("pt")) / 72 * 2.54 < 9.5  # cm: one column of a paper
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


def test_equal_results_give_byte_equal_files_whatever_the_user_has_set(tmp_path):
    first = draw_experiment(sweep(), tmp_path / "a")
    with mpl.rc_context({"font.size": 20.0, "svg.hashsalt": "other", "axes.facecolor": "red", "axes.labelpad": 20.0}):
        second = draw_experiment(sweep(), tmp_path / "b")
        assert mpl.rcParams["font.size"] == 20.0  # and the user's settings are left alone
    assert len(first) == len(second) > 0
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes(), a.name
    assert b"<dc:date>" not in first[0].read_bytes()


def test_figures_of_an_earlier_run_do_not_stay(tmp_path):
    draw_experiment(sweep(), tmp_path)
    draw_experiment(single(run_of("wide_tree")), tmp_path)
    assert not (tmp_path / "time_against_parameter.svg").exists()
    assert (tmp_path / "times.png").exists()


def test_which_figures_there_are_follows_from_the_result():
    assert list(figures_of(sweep(draw=["time against parameter", "log-log"]))) == ["time_against_parameter", "counters"]
    assert list(figures_of(single(run_of("wide_tree")))) == ["time_per_frame", "times", "counters"]
    assert figures_of(single(stopped())) == {}
    assert list(figures_of(sweep(draw=["time per frame"]))) == ["time_per_frame", "times", "counters"]
    assert figures_of(ExperimentResult("empty", "Nothing")) == {}
    bare = single(run_of("wide_tree", frames=1, counters=[]))
    assert list(figures_of(bare)) == ["times"]
    assert set(figures_of(sweep())) <= set(PLOTS)


def test_a_few_points_that_are_not_drawn_against_a_parameter_have_panels_of_their_own():
    for name, figure in figures_of(sweep(("spheres", "hands"), draw=["time per frame"])).items():
        assert len(figure.axes) == (4 if name == "time_per_frame" else 2)
        words = words_of(figure)
        assert "faces of a sphere: spheres" in words
        assert "faces of a sphere: hands" in words
    many = figures_of(sweep((1, 2, 3, 4), draw=["time per frame"]))
    assert [len(figure.axes) for figure in many.values()] == [2, 1, 1]


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_slope_in_the_legend_is_the_exponent(power):
    figure = figures_of(sweep(power=power))["time_against_parameter"]
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    words = words_of(figure)
    assert f"brute_force, slope {power:.2f}" in words
    assert "wide_tree, slope 1.00" in words
    assert "faces of a sphere" in words
    assert "(ms)" in words


def test_a_sweep_over_less_than_a_decade_is_linear_unless_asked_for():
    narrow = figures_of(sweep((10, 20, 40)))["time_against_parameter"]
    assert narrow.axes[0].get_xscale() == "linear"
    assert "slope" not in words_of(narrow)
    asked = figures_of(sweep((10, 20, 40), draw=["log-log"]))["time_against_parameter"]
    assert asked.axes[0].get_xscale() == "log"


def test_the_line_is_the_median_and_the_band_ends_at_the_95th_percentile():
    result = sweep()
    axes = figures_of(result)["time_against_parameter"].axes[0]
    line = next(line for line in axes.get_lines() if line.get_color() == LINE_STYLES["wide_tree"].colour)
    runs = [point.runs[0] for point in result.points]
    assert np.allclose(line.get_xdata(), [10, 100, 1000])
    assert np.allclose(line.get_ydata(), [1e3 * np.median(run.frame_seconds) for run in runs])
    band = axes.collections[0].get_paths()[0].vertices
    for place, run in zip((10, 100, 1000), runs, strict=True):
        heights = band[np.isclose(band[:, 0], place), 1]
        assert np.isclose(heights.max(), 1e3 * np.percentile(run.frame_seconds, 95.0))
        assert np.isclose(heights.min(), 1e3 * np.median(run.frame_seconds))


def test_values_that_are_words_stand_in_their_order():
    figure = figures_of(sweep(("sphere", "torus", "shuttle")))["time_against_parameter"]
    figure.canvas.draw()
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["sphere", "torus", "shuttle"]
    assert list(figure.axes[0].get_lines()[0].get_xdata()) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("status", ["unsupported", "failed", "too slow", "interrupted"])
def test_methods_that_did_not_finish_are_named_in_every_figure(status):
    for result in (sweep(), single(run_of("wide_tree"))):
        for point in result.points:
            point.runs = [run_of("wide_tree"), stopped("monte_carlo", status, "It could not be.")]
        for name, figure in figures_of(result).items():
            words = words_of(figure)
            assert "monte_carlo" in words, name
            assert status in words, name
            assert "It could not be." in words, name
            assert "wide_tree" in words, name


def test_where_a_method_did_not_finish_is_told():
    result = sweep()
    result.points[2].runs[1] = MethodRun("brute_force", "too slow", "The limit was reached.")
    words = words_of(figures_of(result)["time_against_parameter"])
    assert "brute_force: too slow at 1,000: The limit was reached." in words
    assert "monte_carlo: failed at every value" in words


def test_a_run_that_was_stopped_is_drawn_hollow_as_far_as_it_came_and_does_not_count_for_the_slope():
    result = sweep()
    result.points[2].runs[1] = run_of("brute_force", 9.0, frames=2, status="too slow", why="Slow.")
    figure = figures_of(result)["time_against_parameter"]
    hollow = [line for line in figure.axes[0].get_lines() if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 1
    assert list(hollow[0].get_xdata()) == [1000]
    words = words_of(figure)
    assert "Hollow" in words
    assert "brute_force, slope 2.00" in words
    frames = figures_of(result)["time_per_frame"].axes[0].get_lines()
    assert sorted(len(line.get_xdata()) for line in frames) == [2, 6]


def test_frames_are_on_a_logarithmic_axis_only_when_methods_differ_tenfold():
    near = figures_of(single(run_of("wide_tree"), run_of("brute_force", 5e-3)))["time_per_frame"]
    far = figures_of(single(run_of("wide_tree"), run_of("brute_force", 5e-2)))["time_per_frame"]
    assert near.axes[0].get_yscale() == "linear"
    assert near.axes[0].get_ylim()[0] == 0.0
    assert far.axes[0].get_yscale() == "log"


def test_contacts_stand_below_once_where_methods_agree_and_for_each_where_not():
    agree = figures_of(single(run_of("wide_tree"), run_of("brute_force")))["time_per_frame"]
    assert [line.get_ydata().tolist() for line in agree.axes[1].get_lines()] == [[0, 1, 2, 3, 4, 5]]
    differ = figures_of(single(run_of("wide_tree"), run_of("voxmap", contacts=[9] * 6)))["time_per_frame"]
    colours = {line.get_color(): line.get_ydata().tolist() for line in differ.axes[1].get_lines()}
    assert colours == {LINE_STYLES["wide_tree"].colour: [0, 1, 2, 3, 4, 5], LINE_STYLES["voxmap"].colour: [9] * 6}


def test_who_names_no_faces_has_no_line_among_the_contacts():
    pairs_only = run_of("closest_features", contacts=[0] * 6, compared="body pairs")
    axes = figures_of(single(run_of("wide_tree"), pairs_only))["time_per_frame"].axes[1]
    assert [line.get_ydata().tolist() for line in axes.get_lines()] == [[0, 1, 2, 3, 4, 5]]
    alone = figures_of(single(pairs_only))["time_per_frame"].axes[1]
    assert alone.get_ylabel() == "body pairs"


def test_the_last_frame_is_drawn_with_what_the_paper_prints():
    result = sweep(draw=["last frame", "log-log"], printed={"brute_force": [[10, 5.0], [100, 50.0], [7, 1.0]]})
    figures = figures_of(result)
    assert set(figures) == {"last_frame", "counters"}
    axes = figures["last_frame"].axes[0]
    lines = {line.get_color(): line for line in axes.get_lines()}
    last = [1e3 * point.runs[0].frame_seconds[-1] for point in result.points]
    assert lines[LINE_STYLES["wide_tree"].colour].get_ydata() == pytest.approx(last)
    printed = next(line for line in axes.get_lines() if line.get_markerfacecolor() == "white")
    assert (list(printed.get_xdata()), list(printed.get_ydata())) == ([10, 100], [5.0, 50.0])  # of values that were run
    words = words_of(figures["last_frame"])
    assert "brute_force, printed" in words
    assert "wide_tree, slope 1.00" in words


def test_all_values_stand_in_one_panel_with_their_value_at_the_end_of_the_line():
    figure = figures_of(sweep((10, 20, 40), draw=["frames together"]))["frames_together"]
    lines = figure.axes[0].get_lines()
    assert len(lines) == 6
    dashes = {line.get_color(): line.get_linestyle() for line in lines}
    assert dashes[LINE_STYLES["wide_tree"].colour] == "-"
    assert dashes[LINE_STYLES["brute_force"].colour] != "-"
    ends = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(ends) == ["10", "10", "20", "20", "40", "40"]
    assert "monte_carlo: failed at every value" in words_of(figure)
    result = sweep((10, 20, 40), draw=["frames together"])
    for point in result.points:
        point.runs.append(run_of("voxmap"))
    figure = figures_of(result)["frames_together"]
    assert len(figure.axes[0].get_lines()) == 6  # three methods, of which one has no times
    assert "Not drawn here: voxmap." in words_of(figure)


def test_averages_are_over_all_frames_and_over_those_with_collisions():
    result = sweep((10, 20, 40), draw=["averages"])
    for point in result.points:
        point.runs[0].pairs = [0, 0, 0, 0, 1, 2]
        point.runs[1].pairs = [0] * 6
    axes = figures_of(result)["averages"].axes[0]
    drawn = {(line.get_color(), line.get_linestyle()): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    colour, times = LINE_STYLES["wide_tree"].colour, np.array([point.runs[0].frame_seconds for point in result.points])
    assert drawn[colour, ":"] == pytest.approx(1e3 * times.mean(axis=1))
    assert drawn[colour, "-"] == pytest.approx(1e3 * times[:, 4:].mean(axis=1))
    assert (LINE_STYLES["brute_force"].colour, "-") not in drawn  # it found no collision
    assert len(drawn) == 3


def test_the_slowest_frame_is_drawn_with_the_mean_over_all_frames_methods_side_by_side():
    result = sweep(("boxes", "spheres"), draw=["slowest frame"])
    for point in result.points:
        point.runs = [*(run_of(f"wide_tree(build={k})", 1e-3 * (1 + k)) for k in range(3)), run_of("voxmap")]
    figure = figures_of(result)["slowest_frame"]
    axes = figure.axes[0]
    figure.canvas.draw()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["build=0", "build=1", "build=2", "voxmap"]
    joined = {line.get_linestyle(): 1e-3 * np.asarray(line.get_ydata()) for line in axes.get_lines() if len(line.get_xdata()) == 3}
    times = np.array([run.frame_seconds for run in result.points[-1].runs[:3]])
    assert joined[":"] == pytest.approx(times.mean(axis=1))
    assert joined["-"] == pytest.approx(times.max(axis=1))
    assert [line.get_linestyle() for line in axes.get_lines() if len(line.get_xdata()) == 1] == ["None"] * 4
    for words in ("boxes", "spheres", "slowest frame", "mean of all frames"):
        assert words in words_of(figure)


def test_ten_settings_of_one_method_look_different():
    labels = [f"bounding_tree(degree={k})" for k in range(10)]
    styles = styles_of([*labels, "bounding_tree", "wide_tree"])
    assert len(set(styles.values())) == 12
    assert styles["bounding_tree"] == LINE_STYLES["bounding_tree"]
    assert [label for label in labels if styles[label].colour == LINE_STYLES["wide_tree"].colour] == []
    few = styles_of(labels[:2])
    assert len({few[label] for label in labels[:2]}) == 2
    assert all(style.colour not in {each.colour for each in LINE_STYLES.values()} for style in few.values())


def test_values_with_a_panel_of_their_own_are_those_that_are_named():
    result = sweep((10, 20, 40, 80), draw=["averages", "time per frame"], panels=[20, 80])
    figure = figures_of(result)["time_per_frame"]
    assert len(figure.axes) == 4
    assert "faces of a sphere: 20" in words_of(figure)
    assert "faces of a sphere: 80" in words_of(figure)
    assert "faces of a sphere: 40" not in words_of(figure)


def test_the_part_of_updates_is_drawn_when_asked_for():
    plain = figures_of(single(run_of("wide_tree"), draw=["time per frame"]))["time_per_frame"]
    asked = figures_of(single(run_of("wide_tree"), draw=["time per frame", "update time"]))["time_per_frame"]
    assert len(plain.axes[0].get_lines()) == 1
    assert len(asked.axes[0].get_lines()) == 2
    assert "Dotted" in words_of(asked)


def test_counters_are_means_over_the_frames_and_zero_is_shown():
    result = single(run_of("wide_tree"), run_of("brute_force", counters=[{"box_tests": 0, "triangle_tests": 50}] * 6))
    figure = figures_of(result)["counters"]
    lines = figure.axes[0].get_lines()
    assert lines[0].get_xdata() == pytest.approx([3.0, 102.5, 10.0])
    assert lines[1].get_xdata() == pytest.approx([0.0, 0.0, 50.0])
    assert figure.axes[0].get_xlim()[0] < 0.0
    words = words_of(figure)
    assert "box tests" in words
    assert "pixels" not in words  # nobody counted any


def test_a_method_looks_the_same_in_every_experiment_and_unlike_all_others():
    methods = [*LINE_STYLES, "wide_tree(build='sah')", "wide_tree(leaf=4)", "brute_force(workers=2)", "my_method", "another"]
    together = styles_of(methods)
    assert len(set(together.values())) == len(methods)
    for method in methods:
        assert styles_of([method])[method] == together[method]
    # Of names that nobody knows some would get the same look by their letters; in one figure they must not.
    strangers = [f"stranger_{k}" for k in range(12)]
    alone = {styles_of([name])[name] for name in strangers}
    assert len(alone) < len(strangers) == len(set(styles_of(strangers).values()))
    colours = [style.colour for style in LINE_STYLES.values()]
    assert len(set(colours)) == len({style.marker for style in LINE_STYLES.values()}) == len(LINE_STYLES)
    # Grey levels of neighbouring methods may be alike, so nothing rests on colour alone; but no colour vanishes on white.
    for colour in colours:
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75


@pytest.mark.parametrize(
    "hostile", ["a $x^{$ b", "_hidden", "<b>&\"'", "\\frac{", "名前", "a\x00b\x1b", "half \ud800", "x" * 300, "%s{0}{parameter}"]
)
def test_hostile_words_are_drawn_as_they_are(hostile, tmp_path):
    result = sweep((10, hostile))
    result.parameter = hostile
    for point in result.points:
        point.runs[1] = run_of(hostile)
        point.runs[2] = stopped(why=hostile)
    written = draw_experiment(result, tmp_path)
    for path in written:
        if path.suffix == ".svg":
            ElementTree.parse(path)


def motion_of_two_boxes(deforming=False):
    # Undeformed, the boxes are a quarter apart at the end; deformed, they cross.
    last = 1.25 if deforming else 0.5
    poses = np.array([[np.eye(4), translation((last + 2 - k, 0.25, 0.125))] for k in range(3)])
    mesh = box()
    vertices = {0: np.stack([mesh.vertices * (1 + 0.25 * k) for k in range(3)])} if deforming else {}
    return Motion(("a", "b"), (mesh, mesh), poses, vertices)


def red_pixels(path):
    from PIL import Image

    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    return int(((pixels[..., 0] > 150) & (pixels[..., 1] < 90) & (pixels[..., 2] < 100)).sum())


@pytest.mark.parametrize("deforming", [False, True])
def test_the_scene_is_drawn_at_its_first_and_last_frame_with_touching_faces_in_red(tmp_path, deforming):
    written = draw_experiment(single(stopped()), tmp_path, motion_of_two_boxes(deforming))
    assert [path.name for path in written] == ["scene_first.png", "scene_last.png"]
    assert red_pixels(written[0]) == 0
    assert red_pixels(written[1]) > 100
    assert written[0].read_bytes() != written[1].read_bytes()
    before = [path.read_bytes() for path in written]
    draw_experiment(single(run_of("wide_tree")), tmp_path)  # without a motion the pictures stay
    assert [path.read_bytes() for path in written] == before
