"""The exceptions of arcrank. Every message says what was received, what is allowed and what to do.

ArcrankError
├── InputError          user data that cannot be what it claims (also a ValueError)
│   ├── GraphError      a preference graph that contradicts its own rules
│   ├── FormatError     a file that cannot be read as its format says
│   └── NotCalibratedError  a ranker without probabilities (also an AttributeError)
├── ParameterError      a parameter outside its allowed values (also a ValueError)
├── MissingDataError    a corpus that is not on this machine (also a FileNotFoundError)
├── ResourceError       work that this machine does not have enough memory for (also a MemoryError)
├── ClusterError        a Dask cluster that is lost or does not go on (also a RuntimeError)
└── ModelFileError      a model that cannot be saved, or a file that is not a whole model (also a ValueError)
"""

from __future__ import annotations

__all__ = [
    "ArcrankError",
    "ClusterError",
    "FormatError",
    "GraphError",
    "InputError",
    "MissingDataError",
    "ModelFileError",
    "NotCalibratedError",
    "ParameterError",
    "ResourceError",
]


class ArcrankError(Exception):
    """The root: `except ArcrankError` catches everything that arcrank raises on purpose.

    Examples
    --------
    >>> from arcrank.graphs import as_graphs
    >>> try:
    ...     as_graphs([[("tea", "tea")]])
    ... except ArcrankError as error:
    ...     print(type(error).__name__)
    GraphError
    """


class InputError(ArcrankError, ValueError):
    """User data that cannot be what it claims to be: wrong shape, NaN, an unknown label.

    Examples
    --------
    >>> from arcrank.metrics import auc
    >>> auc([1, 0, 1], [0.5, 0.2])
    Traceback (most recent call last):
    ...
    arcrank.errors.InputError: ...
    """


class GraphError(InputError):
    """A preference graph that breaks its rules: a self-loop, an arc given twice, a cyclic hierarchy.

    Examples
    --------
    >>> from arcrank.graphs import Hierarchy
    >>> Hierarchy({"tea": "drinks", "drinks": "tea"})
    Traceback (most recent call last):
    ...
    arcrank.errors.GraphError: ...
    """


class FormatError(InputError):
    """A file that cannot be read as its format says; the message names the file and the line.

    Examples
    --------
    >>> import io
    >>> from arcrank.datasets import read_corpus
    >>> read_corpus(io.BytesIO(b'{"text": "oil", "labels": [true]}'), "jsonl")
    Traceback (most recent call last):
    ...
    arcrank.errors.FormatError: stream:1: invalid labels: a label is a string or a whole number, not true
    """


class NotCalibratedError(InputError, AttributeError):
    """A ranker that has not been calibrated has no probabilities; `hasattr(ranker, "predict_proba")` is False.

    Examples
    --------
    >>> from arcrank import LogLinearRanker
    >>> LogLinearRanker().fit([[1], [0]], ["tea", "milk"]).predict_proba([[1]])
    Traceback (most recent call last):
    ...
    arcrank.errors.NotCalibratedError: This LogLinearRanker has no probabilities. ...
    """


class ParameterError(ArcrankError, ValueError):
    """A parameter outside its allowed values.

    Examples
    --------
    >>> from arcrank import RocchioRanker
    >>> RocchioRanker(beta=-1).fit([[1, 0], [0, 1]], ["tea", "milk"])
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: ...
    """


class MissingDataError(ArcrankError, FileNotFoundError):
    """A corpus that is not on this machine; the message says what to put where.

    Examples
    --------
    >>> from arcrank.datasets.locate import find
    >>> find("no-such-corpus", what="a corpus that nobody has")
    Traceback (most recent call last):
    ...
    arcrank.errors.MissingDataError: Not on this machine: a corpus that nobody has; ...
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ResourceError(ArcrankError, MemoryError):
    """Work that needs more memory than there is; it is raised before the memory is taken.

    `n_features` is how many hashed features an online ranker of the same labels could have, 0 where that is not known.

    Examples
    --------
    >>> from scipy.sparse import eye
    >>> from arcrank import MMPRanker
    >>> MMPRanker().fit(eye(2, 2**50, format="csr"), ["tea", "milk"])
    Traceback (most recent call last):
    ...
    arcrank.errors.ResourceError: MMPRanker needs about 18,014,399 GB of memory for ... features and 2 labels, and ...
    """

    def __init__(self, message: str = "", n_features: int = 0) -> None:
        super().__init__(message)
        self.n_features = n_features


class ClusterError(ArcrankError, RuntimeError):
    """A Dask cluster that is lost, has no workers, or finishes no task within the time limit.

    Examples
    --------
    >>> raise ClusterError("The Dask scheduler at tcp://10.0.0.1:8786 has not answered for 30 seconds.")
    Traceback (most recent call last):
    ...
    arcrank.errors.ClusterError: The Dask scheduler at tcp://10.0.0.1:8786 has not answered for 30 seconds.
    """


class ModelFileError(ArcrankError, ValueError):
    """A model that cannot be saved, or a file that is damaged, of a newer format, or not a model at all.

    Examples
    --------
    >>> import arcrank
    >>> arcrank.save(arcrank.MMPRanker(), "drinks.arcrank")
    Traceback (most recent call last):
    ...
    arcrank.errors.ModelFileError: MMPRanker cannot be saved before it is fitted; call fit first.
    """
