"""The one compiler setting (being written)."""
import numba


def kernel(function=None, **options):
    if function is None:
        return lambda f: kernel(f, **options)
    return numba.njit(nogil=True, error_model="numpy", **options)(function)
