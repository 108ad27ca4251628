"""What one process has proved the others read, and other arguments are other proofs."""

import pytest

from tests.oracle.kept_proofs import FOLDER, kept


def counted():
    calls = []

    def prove(*arguments):
        calls.append(arguments)
        return sum(arguments)

    return calls, prove


@pytest.mark.small
def test_a_proof_is_made_once_for_all_processes(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    calls, prove = counted()
    one, other = kept(prove), kept(prove)  # as two processes have them
    assert [one(1, 2), other(1, 2), one(1, 2), other(1, 3), one(1, 3)] == [3, 3, 3, 4, 4]
    assert calls == [(1, 2), (1, 3)]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.small
def test_without_a_folder_each_process_proves_for_itself(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    calls, prove = counted()
    assert [kept(prove)(1, 2), kept(prove)(1, 2)] == [3, 3]
    assert calls == [(1, 2), (1, 2)]
