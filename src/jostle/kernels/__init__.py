"""The ground that kernels stand on: compiler setting and cache, buffers, sorts and sets, random numbers, threads, slices, SIMD."""
