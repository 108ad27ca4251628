"""The decorator: names, registration, options, and NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from jostle.kernels.jit import JIT_DISABLED, KERNELS, kernel


def adding(amount):
    @kernel
    def add(x):
        return x + amount

    return add


@pytest.mark.small
def test_kernels_that_share_a_qualname_are_registered_apart():
    before = set(KERNELS)
    made = [adding(2), adding(3), adding(2), adding([4])]
    names = [name for name in KERNELS if name not in before]
    assert len(names) == 4
    assert [KERNELS[name] for name in names] == made
    assert all(name.startswith(f"{__name__}.adding.<locals>.add_") for name in names)


@pytest.mark.small
def test_both_forms_compile_or_leave_alone():
    def plain(x):
        return x

    bare = kernel(plain)
    with_options = kernel(forceinline=True, fastmath={"contract"})(plain)
    if JIT_DISABLED:
        assert bare is plain
        assert with_options is plain
    else:
        assert bare.py_func is plain
        forms = [bare.entry, bare.inner, with_options.entry, with_options.inner]
        assert [one.targetoptions["forceinline"] for one in forms] == [False, False, True, True]
        assert all(one.targetoptions["nogil"] and one.targetoptions["error_model"] == "numpy" for one in forms)
    assert plain in [getattr(one, "py_func", one) for one in KERNELS.values()]


@pytest.mark.small
@pytest.mark.parametrize("option", [{"cache": True}, {"parallel": True}, {"nogil": False}, {"error_model": "python"}])
def test_what_is_fixed_cannot_be_asked_for(option):
    with pytest.raises(TypeError, match=next(iter(option))):
        kernel(**option)


@kernel
def quotient(a, b):
    return a / b


def test_division_by_zero_is_an_infinity():
    with np.errstate(divide="ignore"):
        assert quotient(np.float64(1.0), np.float64(0.0)) == np.inf


def test_a_kernel_is_itself_when_it_is_pickled_or_copied():
    assert pickle.loads(pickle.dumps(quotient)) is quotient
    assert copy.copy(quotient) is copy.deepcopy(quotient) is quotient


@kernel
def scaled(x, factor):
    return x * factor


@kernel
def scaled_again_and_again(x, short):
    return scaled(scaled(scaled(scaled(x, 2), factor=3), np.int64(x)), np.int32(short))


@pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")
def test_literals_and_short_integers_travel_as_int64():
    assert scaled_again_and_again(5, -7) == -1050
    scaled_again_and_again.entry.recompile()  # from the cache, it would not look at what it calls
    assert len(scaled.inner.overloads) == 1


@kernel
def refusing(x):
    if x > 2:
        raise ValueError("too much", x)  # needs the environment of the kernel, to make a Python object of x
    return x


@kernel
def passing(x):
    return refusing(x) + 1


@pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")
def test_inner_forms_have_no_machine_code_and_work_in_their_callers(monkeypatch):
    from numba.core.codegen import JitEngine

    translated = []
    finalize = JitEngine.finalize_object
    monkeypatch.setattr(JitEngine, "finalize_object", lambda engine: translated.append(finalize(engine)))
    monkeypatch.setattr(refusing.inner._cache, "_enabled", False)
    monkeypatch.setattr(passing.entry._cache, "_enabled", False)
    assert passing(2) == 3
    assert len(refusing.inner.overloads) == 1
    assert len(translated) == 1
    with pytest.raises(ValueError, match="too much") as refused:
        passing(3)
    assert refused.value.args == ("too much", 3)
