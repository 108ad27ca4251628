"""Files that are whole or not there."""

import os

import pytest

from jostle.atomic_file import atomic_write
from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.save import save

pytestmark = pytest.mark.small


def test_a_file_appears_at_the_end_only(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with atomic_write(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_was_begun_and_not_ended_leaves_nothing(tmp_path, error):
    target = tmp_path / "table.csv"
    target.write_text("old")

    def write_half():
        with atomic_write(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(InputError if error is OSError else error):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_and_leads_to_the_new_file(tmp_path):
    target, link = tmp_path / "table.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    with atomic_write(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(InputError, match="it is not a regular file"), atomic_write(target):
            pass
    assert pipe.is_fifo()


def test_a_mesh_is_saved_whole(tmp_path, monkeypatch):
    file = save(build.icosphere(0), tmp_path / "ball.obj")
    old = file.read_bytes()

    def write_half(path, content):
        with path.open("wb") as stream:
            stream.write(content[:50])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", write_half)
    with pytest.raises(InputError, match="No space left"):
        save(build.icosphere(1), file)
    assert file.read_bytes() == old
    assert list(tmp_path.iterdir()) == [file]
