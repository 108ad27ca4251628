"""The ground that kernels stand on: compiler setting and cache, buffers, random numbers, threads, slices, SIMD."""
