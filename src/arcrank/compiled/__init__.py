"""numba kernels: arrays in, arrays out. The only package that imports numba.

Conventions: every kernel is a plain function under `@kernel`, calls only functions of this package (the cache's stamp
covers all its sources), takes C-ordered arrays of one fixed dtype, and releases the GIL. Callers convert their arrays
to that dtype first, so that each kernel compiles once. A kernel takes no functions as arguments, since numba would
compile it again for each of them; kernels that differ only in what an inner loop does therefore repeat the loop.
"""
