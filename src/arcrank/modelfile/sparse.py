"""A CSR matrix as its three arrays, before they have been checked."""

from __future__ import annotations

from typing import Any

__all__ = ["StoredCsr"]


class StoredCsr:
    """A CSR matrix that is still arrays, so that its shape can be checked first."""

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: Any) -> None:
        whole = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and n >= 0 for n in shape)
        if not whole:
            raise ValueError("a CSR matrix whose shape is not two whole numbers")
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, tuple(shape)
        from arcrank._features import check_csr  # imports scikit-learn, which most models do without

        check_csr(data, indices, indptr, self.shape)

    def matrix(self) -> Any:
        """Return the matrix of these arrays."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)

    def expand(self) -> Any:
        """Return the matrix, in canonical form: norms and row products assume that every index occurs once."""
        from arcrank._features import canonical_csr

        return canonical_csr(self.matrix())
