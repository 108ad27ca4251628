"""What compiled code stands on: the compiler's settings and cache, structs, buffers, sorts, threads, SIMD."""
