"""numba kernels: arrays in, arrays out. The only package that imports numba.

Conventions: every kernel is a plain function under `@kernel`, calls only functions of its own file (numba's
cache does not see edits elsewhere), takes C-ordered arrays of one fixed dtype, and releases the GIL.
Callers bring their arrays to that dtype first, so that each kernel compiles once.
"""
