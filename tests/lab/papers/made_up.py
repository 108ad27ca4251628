"""Results that were never measured, to judge figures by: what verdicts follow from which times."""

from jostle.lab.results import VERDICTS, ExperimentResult, MethodRun, Point


def made_up_run(method, times, contacts, pairs, counters, compared="faces", **fields):
    """A run with the given milliseconds per frame, and with these contacts, pairs and counters of each frame."""
    made = {
        "frame_seconds": [1e-3 * time for time in times],
        "update_seconds": [1e-6] * len(times),
        "contacts": contacts,
        "pairs": pairs,
        "counters": counters,
        "missed": 0,
        "extra": 0,
        "compared": compared,
        "rounds": 5,
    }
    return MethodRun(method, **{**made, **fields})


def made_up_result(figure, runs, values=None, bodies=2, faces=100, **fields):
    """A result of a figure; `runs(value)` makes the runs of a point."""
    points = [Point(value, bodies, faces, 4, runs(value)) for value in (figure.values if values is None else values)]
    return ExperimentResult(figure.name, figure.title, figure.parameter, points, **fields)


def assert_none_is_judged(figure, results):
    """Whatever is missing from a result, a figure says why it does not judge, in words without holes."""
    for result in (ExperimentResult(figure.name, "", "", []), *results):
        for verdict in figure.verdicts(result):
            assert verdict.verdict == "not judged"
            assert verdict.why
            assert "nan" not in verdict.ours + verdict.why


def assert_only_whole_runs_are_judged(figure, runs):
    """A whole run has verdicts, one that was quick or interrupted has none; `runs(value)` makes the runs of a point."""
    verdicts = figure.verdicts(made_up_result(figure, runs))
    assert {each.verdict for each in verdicts} <= set(VERDICTS) - {"not judged"}
    for state in ("quick", "interrupted"):
        verdicts = figure.verdicts(made_up_result(figure, runs, **{state: True}))
        assert {each.verdict for each in verdicts} == {"not judged"}
