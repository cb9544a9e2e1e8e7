"""Features as the online rankers need them: finite, and in canonical CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank.errors import InputError

__all__ = ["canonical_csr", "check_finite"]


def canonical_csr(X: Any) -> Any:
    """X as CSR with sorted indices and no duplicates; the caller's matrix is left as it is."""
    if not (sp.issparse(X) and X.format == "csr"):  # a new wrapper would forget that the format was checked
        X = sp.csr_matrix(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_finite(X: Any) -> None:
    """Raise an InputError that names the row of the first NaN or infinity."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if np.isfinite(total) or np.isfinite(values).all():  # the sum of finite numbers may overflow
        return
    bad = np.flatnonzero(~np.isfinite(values.ravel()))[0]
    row = int(np.searchsorted(X.indptr, bad, side="right")) - 1 if sp.issparse(X) else int(bad // X.shape[1])
    value = values.ravel()[bad]
    raise InputError(
        f"Row {row} of X holds {'NaN' if np.isnan(value) else 'inf'}; features must be finite numbers. "
        "Drop that row, or put a number in its place."
    )
