"""Support for kernels: compiler settings, cache, structs, buffers, threads, SIMD."""
