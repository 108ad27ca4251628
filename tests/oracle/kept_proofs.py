"""Proofs that all processes of one test run share: what one of them has proved, the others read.

A proof in fractions takes up to seconds, and methods are asked about the same bodies in several processes. Proofs are kept in a
folder of the run (`tests/conftest.py` makes and removes it), by a digest of what they are about; never from run to run.
"""

import functools
import hashlib
import os
import pickle
from pathlib import Path

FOLDER = "JOSTLE_PROOFS"  # the variable that leads to it; without one each process proves for itself


def kept(prove):
    """Keep the results of a function of arguments whose `repr` says all about them."""

    @functools.cache
    def proof(*arguments):
        folder = os.environ.get(FOLDER)
        if folder is None:
            return prove(*arguments)
        digest = hashlib.sha256(repr((prove.__module__, prove.__qualname__, arguments)).encode()).hexdigest()
        file = Path(folder) / digest
        try:
            return pickle.loads(file.read_bytes())
        except FileNotFoundError:
            found = prove(*arguments)
        whole = file.with_suffix(f".{os.getpid()}")
        whole.write_bytes(pickle.dumps(found))
        whole.replace(file)  # at once: nobody reads half of it
        return found

    return proof
