"""Numba's compiler without what kernels do not need. Needs Numba.

Numba compiles whatever Python it is given, reports on itself, and looks for new extensions before each function. A kernel is one of
a hundred small functions of one call, so all that takes a sixth of the time:

| left out | share of a first `collide` |
|---|---|
| passes that find nothing to do (`NEEDED`), and an event, timings and messages for each pass | 9 % |
| a look at all registries before each kernel: once per call is enough (`lean_compiling`) | 5 % |
| an event for each of 50,000 calls of LLVM (`lean_compiling`) | 2 % |
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler, compiler_machinery, errors, registry, rewrites

Compiler: Any = compiler.Compiler
PassManager: Any = compiler_machinery.PassManager
PASSES: Any = compiler_machinery._pass_registry
REWRITES: Any = rewrites.rewrite_registry  # type: ignore[attr-defined]
TARGET: Any = registry.cpu_target.target_context

CLOSURE_NAMES = frozenset({"reduce", "stencil"})


def _has_closures(state: Any) -> bool:
    """Return whether a function has closures, or lists, which may be comprehensions."""
    blocks = state.func_ir.blocks.values()
    made = any(True for block in blocks for op in ("make_function", "build_list") for _ in block.find_exprs(op=op))
    return made or not CLOSURE_NAMES.isdisjoint(state.func_id.code.co_names)


def _has_rewrites(state: Any) -> bool:
    """Return whether any rewrite matches: array expressions, items by name."""
    known = [one(state) for one in REWRITES.rewrites["after-inference"]]
    blocks = list(state.func_ir.blocks.values())
    return any(one.match(state.func_ir, block, state.typemap, state.calltypes) for one in known for block in blocks)


NEEDED: dict[str, Callable[[Any], bool]] = {
    "DumpParforDiagnostics": lambda _state: False,
    "InlineClosureLikes": _has_closures,
    "NopythonRewrites": _has_rewrites,
}
"""Passes by name that are run only if this holds; any other is always run."""


class KernelPasses(PassManager):  # type: ignore[misc]
    """Numba's passes, run without events and timings, and only where needed."""

    def run(self, state: Any) -> None:
        """Run all passes on a function."""
        for one, description in self.passes:
            needed = NEEDED.get(one.__name__)
            if needed is not None and not needed(state):
                continue
            made = PASSES.get(one).pass_inst
            made.analysis = self._analysis
            try:
                made.run_initialization(state)
                made.run_pass(state)
                made.run_finalizer(state)
            except errors.NumbaError as error:
                self._patch_error(f"Failed in {self.pipeline_name} mode pipeline (step: {description})", error)  # in place
                raise


class _Fresh:
    """A context that needs no refresh."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def refresh(self) -> None:
        """Do nothing: `lean_compiling` has done it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with `KernelPasses`, in contexts that are fresh."""

    def __init__(self, typing_context: Any, target_context: Any, *rest: Any) -> None:
        super().__init__(_Fresh(typing_context), _Fresh(target_context), *rest)
        self.state.typingctx = typing_context

    def define_pipelines(self) -> list[Any]:
        """Return the passes, the same for all kernels but for two flags."""
        flags = self.state.flags
        kind = (bool(flags.enable_ssa), bool(flags.no_rewrites))
        if kind not in _passes:
            (numbas,) = super().define_pipelines()
            _passes[kind] = KernelPasses(numbas.pipeline_name)
            _passes[kind].passes = numbas.passes
            _passes[kind].finalize()
        return [_passes[kind]]


_passes: dict[tuple[bool, bool], KernelPasses] = {}
_depth = 0


@contextlib.contextmanager
def lean_compiling() -> Iterator[None]:
    """Load or compile a kernel, its callees within; only under Numba's compiler lock.

    Registries are read for the outermost kernel, and calls of LLVM cause no events.
    """
    global _depth
    callbacks = llvm.ffi.lib._lock._cblist
    removed: list[Any] = []
    if _depth == 0:
        TARGET.refresh()
        removed, callbacks[:] = callbacks[:], []
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        callbacks[:] = removed + callbacks
