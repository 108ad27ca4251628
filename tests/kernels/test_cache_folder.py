"""The cache on disk is listed and cleared, also beside processes that use it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from jostle.kernels import cache_folder
from jostle.kernels.cache_folder import VERSIONS, cache_directories, clear_cache, note_versions

OURS, OTHERS = "jostle-kernels-" + "0a" * 12, "mine-kernels-" + "1b" * 12
pytestmark = pytest.mark.small


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JOSTLE_CACHE_DIR", str(tmp_path / "cache"))
    for number, name in enumerate((OURS, OTHERS)):
        directory = tmp_path / "cache" / name
        directory.mkdir(parents=True)
        for kernel in ("a", "b", "c")[number:]:
            (directory / f"{kernel}.kernel").write_bytes(b"x" * 1000)
        os.utime(directory, (1000.0 - number, 1000.0 - number))
    return tmp_path / "cache"


def test_an_empty_cache_has_no_directories(tmp_path, monkeypatch):
    monkeypatch.setenv("JOSTLE_CACHE_DIR", str(tmp_path / "nowhere"))
    assert cache_directories() == []
    assert clear_cache() == (0, 0)
    assert not (tmp_path / "nowhere").exists()


def test_directories_are_listed_by_use(folder):
    note_versions(folder / OTHERS, "numba 1, numpy 2")
    note_versions(folder / OTHERS, "not written again")
    os.utime(folder / OTHERS, (5.0, 5.0))
    (folder / "other").mkdir()
    (folder / OURS / "d.tmp").write_bytes(b"not whole")
    os.utime(folder / OURS, (6.0, 6.0))
    assert cache_directories() == [
        (folder / OURS, "jostle", "", 3, 3000, 6.0),
        (folder / OTHERS, "mine", "numba 1, numpy 2", 2, 2000, 5.0),
    ]


def test_clearing_removes_kernels_and_nothing_else(folder):
    kept = [folder / "notes.txt", folder / "jostle-kernels-short" / "a.kernel", folder / OURS / "somebody's.txt"]
    kept[1].parent.mkdir()
    for file in kept:
        file.write_text("x")
    note_versions(folder / OTHERS, "numba 1")
    assert clear_cache() == (5, 0)
    assert sorted(file for file in folder.rglob("*") if file.is_file()) == sorted(kept)
    assert not (folder / OTHERS).exists()
    assert clear_cache() == (0, 0)


def test_a_file_that_is_being_written_stays_and_an_abandoned_one_goes(folder):
    writing, abandoned = folder / OURS / "new.tmp", folder / OURS / "old.tmp"
    writing.write_text("x")
    abandoned.write_text("x")
    old = time.time() - 2 * cache_folder.WRITE_SECONDS
    os.utime(abandoned, (old, old))
    assert clear_cache() == (5, 0)
    assert list((folder / OURS).iterdir()) == [writing]


def test_a_link_to_a_directory_is_left_alone(folder, tmp_path):
    target = tmp_path / "elsewhere"
    (folder / OURS).rename(target)
    try:
        (folder / OURS).symlink_to(target, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert [one.package for one in cache_directories()] == ["mine"]
    assert clear_cache() == (2, 0)
    assert len(list(target.iterdir())) == 3


def test_what_cannot_be_removed_is_counted(folder, monkeypatch):
    def refused(path, missing_ok=False):
        raise PermissionError(str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    assert clear_cache() == (0, 5)


def test_files_that_vanish_meanwhile_are_no_error(folder, monkeypatch):
    listed = cache_folder._files

    def vanishing(path):
        entries = list(listed(path))
        for entry in entries:
            Path(entry.path).unlink()
        return entries

    monkeypatch.setattr(cache_folder, "_files", vanishing)
    assert clear_cache()[1] == 0
    assert cache_directories() == []


def test_versions_are_for_people_only(tmp_path):
    note_versions(tmp_path / "nowhere", "numba 1")
    assert not (tmp_path / "nowhere" / VERSIONS).exists()
