"""Texts -> dense vectors of static embeddings, whose weights come with an installed package; nothing is downloaded.

The extra `embeddings` installs wordllama, whose wheel holds the weights and the tokenizer. Its files are read here
directly: its own loader looks for the tokenizer in another folder than the wheel has, and would download it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank._validation import check_int, check_real
from arcrank.errors import ModelFileError, ParameterError
from arcrank.text.counts import TextTransformer
from arcrank.text.features import TextFeatures
from arcrank.text.tokens import checked_texts

__all__ = ["EmbeddingFeatures", "TextAndEmbeddings", "embeddings_installed"]

_MODELS = ("wordllama",)
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WIDTH = 256
_BATCH = 1000


class _Weights(NamedTuple):
    """What the installed package holds."""

    tokenizer: Any
    vectors: NDArray[np.float32]
    """One for each token, (tokens, 256)."""
    digest: str
    """Of the file of weights."""


def embeddings_installed() -> bool:
    """Whether the extra `embeddings` is installed."""
    return find_spec("wordllama") is not None and find_spec("tokenizers") is not None


@cache
def _load() -> _Weights:
    if not embeddings_installed():
        raise ParameterError("Embeddings need wordllama: install arcrank with its extra, arcrank[embeddings].")
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    folder = Path(str(spec.origin)).parent if spec else Path()
    try:
        data = (folder / _WEIGHTS).read_bytes()
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # the tokenizers package raises Exception itself
        raise ParameterError(
            f"The installed wordllama {version('wordllama')} does not hold the files {_WEIGHTS} and {_TOKENIZER} "
            f"({error}); install version 0.3.9 or 0.4."
        ) from error
    vectors = load(data)["embedding.weight"].astype(np.float32)
    return _Weights(tokenizer, vectors, hashlib.sha256(data).hexdigest()[:16])


class EmbeddingFeatures(TextTransformer):
    """Texts -> dense vectors of unit length: the mean of static token embeddings, (n, dimensions) float64.

    The embeddings know from a large corpus which words are similar, which helps where documents are too few to learn
    it. They do not depend on the training texts. The weights are those of an installed package (extra `embeddings`);
    a model file holds only their name and a checksum.

    Parameters
    ----------
    model : "wordllama"
        Where the weights come from.
    dimensions : int
        How many of the 256 dimensions to use; the first ones are the most important.

    Attributes
    ----------
    digest_ : str
        The checksum of the weights.

    Examples
    --------
    >>> from arcrank.text import EmbeddingFeatures
    >>> X = EmbeddingFeatures(dimensions=64).fit_transform(["crude oil", "petroleum", "a wedding"])  # doctest: +SKIP
    >>> bool(X[0] @ X[1] > X[0] @ X[2])  # doctest: +SKIP
    True
    """

    def __init__(self, *, model: str = "wordllama", dimensions: int = _WIDTH) -> None:
        self.model = model
        self.dimensions = dimensions

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any texts."""
        if self.model not in _MODELS:
            raise ParameterError(f"model must be one of {_MODELS}, got {self.model!r}")
        check_int("dimensions", self.dimensions, at_least=1, at_most=_WIDTH)

    def fit(self, texts: object = None, y: object = None) -> Self:  # noqa: ARG002
        """Load the weights; the texts are not read."""
        self.check_parameters()
        self.digest_ = _load().digest
        return self

    def transform(self, texts: Iterable[str]) -> Array:
        """Return the vectors; an empty text is zero."""
        check_is_fitted(self, "digest_")
        # Lone surrogates, which have no bytes in UTF-8, become question marks.
        listed = [text.encode("utf-8", "replace").decode() for text in checked_texts(texts)]
        tokenizer, vectors, _ = _load()
        found = np.zeros((len(listed), self.dimensions))
        for start in range(0, len(listed), _BATCH):
            batch = tokenizer.encode_batch(listed[start : start + _BATCH], add_special_tokens=False)
            found[start : start + _BATCH] = _sums([encoded.ids for encoded in batch], vectors[:, : self.dimensions])
        length = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(length > 0, length, 1.0)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return "embedding 0", "embedding 1", ..."""
        check_is_fitted(self, "digest_")
        return np.array([f"embedding {j}" for j in range(self.dimensions)], dtype=object)

    def check_installed(self, digest: str) -> Self:
        """Become fitted with the weights that a stored model was trained with, or raise a `ModelFileError`."""
        try:
            found = _load().digest
        except ParameterError as error:
            raise ModelFileError(f"The model uses embeddings. {error}") from error
        if found != digest:
            raise ModelFileError(
                f"The model was trained with other weights of {self.model} (checksum {digest}) than version "
                f"{version('wordllama')} holds ({found}); install the version that it was trained with, or train again."
            )
        self.digest_ = found
        return self


def _sums(ids: list[list[int]], vectors: NDArray[np.float32]) -> Array:
    """Sum the vectors of the tokens of each text."""
    indptr = np.concatenate(([0], np.cumsum([len(one) for one in ids])))
    indices = np.array([token for one in ids for token in one], dtype=np.int32)
    ones = np.ones(len(indices), dtype=np.float32)
    sums: Array = sparse.csr_matrix((ones, indices, indptr), shape=(len(ids), len(vectors))) @ vectors
    return sums


class TextAndEmbeddings(TextTransformer):
    """Words and embeddings side by side: the columns of `TextFeatures`, then those of `EmbeddingFeatures`; CSR.

    Parameters
    ----------
    words : TextFeatures or None
        None is `TextFeatures()`.
    embeddings : EmbeddingFeatures or None
        None is `EmbeddingFeatures()`.
    weight : float
        What the embeddings are multiplied by; words have unit length.

    Attributes
    ----------
    words_, embeddings_ : the fitted transformers

    Notes
    -----
    Average precision, in percent, of a one-vs-rest LinearSVC that learns from n random documents and is measured on
    others (means over three to five samples). C is the best of a small grid on the measured documents, for each column
    alike, so that all figures are somewhat optimistic and only their differences matter:

    | | n | words | weight 0.5 | weight 1 | embeddings alone |
    | --- | --: | --: | --: | --: | --: |
    | Reuters-21578 | 100 | 87.5 | 88.5 | 88.5 | 86.0 |
    | | 500 | 91.8 | 91.9 | 91.1 | 87.6 |
    | debtags | 100 | 71.5 | 73.5 | 72.5 | 67.1 |
    | | 500 | 72.2 | 73.0 | 71.2 | 64.7 |
    | library records, 28 domains, English | 100 | 60.7 | 65.4 | 66.9 | 65.6 |
    | | 500 | 69.6 | 74.1 | 74.0 | 71.1 |
    | library records, 28 domains, German | 100 | 48.0 | 50.3 | 52.8 | 49.9 |
    | | 500 | 62.5 | 66.3 | 67.1 | 62.3 |

    The gain shrinks as documents become more; on Reuters it is gone at 500.

    Examples
    --------
    >>> from arcrank.text import EmbeddingFeatures, TextAndEmbeddings
    >>> both = TextAndEmbeddings(embeddings=EmbeddingFeatures(dimensions=64))
    >>> both.fit_transform(["crude oil", "oil price", "oil"]).shape  # doctest: +SKIP
    (3, 65)
    """

    def __init__(
        self,
        *,
        words: TextFeatures | None = None,
        embeddings: EmbeddingFeatures | None = None,
        weight: float = 0.5,
    ) -> None:
        self.words = words
        self.embeddings = embeddings
        self.weight = weight

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any texts."""
        check_real("weight", self.weight, above=0)
        for part in self._new_parts():
            part.check_parameters()

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms and their idf, and load the embeddings."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:
        """Learn the terms and their idf, and return the features."""
        self.check_parameters()
        listed = list(checked_texts(texts))
        self.words_, self.embeddings_ = self._new_parts()
        words = self.words_.fit_transform(listed, y)
        return self.stack(words, self.embeddings_.fit().transform(listed))

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the features."""
        check_is_fitted(self, "words_")
        listed = list(checked_texts(texts))
        return self.stack(self.words_.transform(listed), self.embeddings_.transform(listed))

    def stack(self, words: sparse.csr_matrix, embeddings: Array) -> sparse.csr_matrix:
        """Put features of both kinds side by side, where they are known already."""
        return sparse.hstack([words, sparse.csr_matrix(self.weight * embeddings)], format="csr")

    @classmethod
    def from_fitted(cls, words: TextFeatures, embeddings: EmbeddingFeatures, weight: float) -> Self:
        """Return the fitted transformer of two fitted ones."""
        both = cls(words=clone(words), embeddings=clone(embeddings), weight=weight)
        both.words_, both.embeddings_ = words, embeddings
        return both

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the terms, then "embedding 0", "embedding 1", ..."""
        check_is_fitted(self, "words_")
        return np.concatenate([self.words_.get_feature_names_out(), self.embeddings_.get_feature_names_out()])

    def _new_parts(self) -> tuple[TextFeatures, EmbeddingFeatures]:
        words = TextFeatures() if self.words is None else clone(self.words)
        return words, EmbeddingFeatures() if self.embeddings is None else clone(self.embeddings)
