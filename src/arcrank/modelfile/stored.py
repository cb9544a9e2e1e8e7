"""Stored arrays as values: NumPy dtypes, arrays, names, and matrices that are not yet expanded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.io.string_arrays import StoredNames
from arcrank.modelfile.rows import StoredRows
from arcrank.modelfile.sparse import StoredCsr
from arcrank.modelfile.values import DTYPES, decode

__all__ = ["DECODERS"]


def _decode_dtype(value: Any, _: Any) -> type[np.generic]:
    if value["$dtype"] not in DTYPES:
        raise ValueError("unknown dtype")
    return np.dtype(value["$dtype"]).type


def _decode_array(value: Any, arrays: Any) -> NDArray[Any]:
    array = arrays(value["$array"])
    return array.T if value.get("order") == "F" else array


def _decode_names(value: Any, arrays: Any) -> Any:
    return StoredNames({name: arrays(at) for name, at in value["$names"].items()}, value["form"])


def _decode_rows(value: Any, arrays: Any) -> Any:
    return StoredRows({name: arrays(at) for name, at in value["$rows"].items()}, value["length"])


def _decode_csr(value: Any, arrays: Any) -> Any:
    data, indices, indptr = (decode(value["$csr"][name], arrays) for name in ("data", "indices", "indptr"))
    return StoredCsr(data, indices, indptr, value["shape"])


DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "$dtype": _decode_dtype,
    "$array": _decode_array,
    "$names": _decode_names,
    "$csr": _decode_csr,
    "$rows": _decode_rows,
}
"""Decoders by the key of the object in the manifest."""
