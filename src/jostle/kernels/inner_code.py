"""The code of inner forms: bitcode for the linker, no machine code. Needs Numba.

Only other kernels call inner forms. Numba links the bitcode of a callee into every caller, and optimizes and translates all of it
there, so machine code of the callee itself would never run.
"""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler

from jostle.kernels.compiling import KernelCompiler

Library: Any = codegen.JITCodeLibrary
CompileResult: Any = compiler.CompileResult

BITCODE = "bitcode"
# Numba before 0.62 has LLVM's older managers of passes, one for each module.
MANAGER_OF_MODULE = "llvm_module" in inspect.signature(codegen.CPUCodegen._function_pass_manager).parameters


class InnerLibrary(Library):  # type: ignore[misc]
    """The code of one inner form."""

    # Numba stores the environment of a function beside its machine code. That of an inner form is stored with the entry that it is
    # linked into: `set_environments`.
    codegen = SimpleNamespace(set_env=lambda _name, _environment: None)

    def _optimize_functions(self, module: Any) -> None:
        """Run cheap passes, so that the code is small; the entry form gets them all."""
        if MANAGER_OF_MODULE:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(opt=1)
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Do nothing: it is done where the code is linked into an entry form."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # as Numba has it in a copy for the linker
        self._shared_module = self._final_module
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return the content for the cache."""
        self._ensure_finalized()
        return self.name, BITCODE, self._final_module.as_bitcode()

    @classmethod
    def loaded(cls, context: Any, stored: tuple[str, str, bytes]) -> Any:
        """Return a library from stored content."""
        name, _, bitcode = stored
        library = cls(context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class InnerCompiler(KernelCompiler):
    """The compiler of inner forms."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = InnerLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def set_environments(result: Any) -> None:
    """Store the environments of all functions in a newly compiled entry form.

    Numba does so itself for one that was loaded.
    """
    for one in result._find_referenced_environments():
        result.codegen.set_env(one.env_name, one)


def rebuilt(context: Any, stored: tuple[str, str, Any], descriptor: Any, environment: Any, signature: Any, *rest: Any) -> Any:
    """Return a compile result from what `CompileResult._reduce` gave to the cache."""
    if stored[1] != BITCODE:
        return CompileResult._rebuild(context, stored, descriptor, environment, signature, *rest)
    objectmode, lifted, annotation, reload_init, environments = rest
    for function in reload_init:
        function()
    library = InnerLibrary.loaded(context, stored)
    return CompileResult(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=environment,
        entry_point=context.get_executable(library, descriptor, environment),
        fndesc=descriptor,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )
