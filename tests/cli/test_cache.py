"""`jostle cache`: where, how many, clearing."""

from __future__ import annotations

import pytest

from jostle.kernels import cache_folder

DIRECTORY = "jostle-kernels-" + "0a" * 12


@pytest.fixture
def filled(tmp_path, monkeypatch):
    monkeypatch.setenv("JOSTLE_CACHE_DIR", str(tmp_path))
    directory = tmp_path / DIRECTORY
    directory.mkdir()
    for name in ("a", "b"):
        (directory / f"{name}.kernel").write_bytes(b"x" * 650_000)
    cache_folder.note_versions(directory, "numba 0.68.1, numpy 2.4.6")
    return tmp_path


@pytest.mark.parametrize("options", [(), ("--info",)])
def test_info_says_where_how_many_and_for_which_versions(filled, jostle, options):
    result = jostle("cache", *options)
    assert (result.returncode, result.stderr) == (0, "")
    first, second, third = result.stdout.splitlines()
    assert first == f"{filled}: 2 kernels, 1.3 MB"
    assert second.startswith(f"  {DIRECTORY}: 2 kernels, 1.3 MB, last used 20")
    assert third == "    numba 0.68.1, numpy 2.4.6"


def test_clear_says_what_it_removed(filled, jostle):
    result = jostle("cache", "--clear")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"removed 2 kernels from {filled}\n", "")
    assert jostle("cache").stdout == f"{filled}: 0 kernels, 0.0 MB\n"


def test_kernels_that_cannot_be_removed_are_an_error(filled, jostle, monkeypatch):
    monkeypatch.setattr(cache_folder, "clear_cache", lambda: (1, 1))
    result = jostle("cache", "--clear")
    assert (result.returncode, result.stdout) == (2, f"removed 1 kernel from {filled}\n")
    assert f"{filled}: 1 kernel could not be removed; close the programs" in result.stderr


def test_two_commands_at_once_are_refused(filled, jostle):
    result = jostle("cache", "--info", "--clear")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--info and --clear are two commands; give one of them" in result.stderr
    assert len(list((filled / DIRECTORY).glob("*.kernel"))) == 2


def test_without_a_home_the_cure_is_named(jostle, monkeypatch):
    for name in ("JOSTLE_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    result = jostle("cache")
    assert result.returncode == 2
    assert "JOSTLE_CACHE_DIR names one" in result.stderr
