"""A script without a main guard is told what to do, in one sentence, before a process is started."""

import runpy

import pytest

from jostle import JostleError

CALL = "from jostle.bench.main_guard import check_main_guard\n"


def run(tmp_path, text, name="__main__"):
    """Run a script as Python runs its main one."""
    script = tmp_path / "mine.py"
    script.write_text(CALL + text)
    runpy.run_path(str(script), run_name=name)


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("check_main_guard()\n", 2),
        ("def main():\n    check_main_guard()\n\n\nmain()\n", 6),
        ("if True:\n    for _ in range(1):\n        check_main_guard()\n", 2),
    ],
)
def test_a_script_that_would_run_again_in_every_process_is_refused(tmp_path, text, line):
    with pytest.raises(JostleError) as raised:
        run(tmp_path, text)
    assert str(raised.value) == (
        f"mine.py, line {line}: put what the script does under if __name__ == '__main__': "
        "(jostle starts processes there, and each of them imports the script)"
    )


@pytest.mark.small
def test_a_script_with_a_guard_and_a_module_that_it_imports_are_fine(tmp_path):
    run(tmp_path, "if __name__ == '__main__':\n    check_main_guard()\n")
    run(tmp_path, "check_main_guard()\n", name="mine")
