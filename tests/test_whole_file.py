"""Files that are whole or not there."""

import pytest

from jostle.whole_file import written_whole

pytestmark = pytest.mark.small


def test_a_file_appears_at_the_end_only(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with written_whole(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_was_begun_and_not_ended_leaves_nothing(tmp_path, error):
    target = tmp_path / "table.csv"
    target.write_text("old")

    def write_half():
        with written_whole(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
