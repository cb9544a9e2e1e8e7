"""Text -> features in one step: the default for new users."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from arcrank._csr import Csr
from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.text.counted import CountedTexts, TermReader
from arcrank.text.counts import TermCounts, TextTransformer, frequent_terms
from arcrank.text.encoder import TermEncoder, word_options
from arcrank.text.language import AUTO, check_language, detect_language
from arcrank.text.ngrams import known_counts
from arcrank.text.tokens import Tokenizer, checked_texts
from arcrank.text.weights import check_norm, document_frequency, smooth_idf, weighed

__all__ = ["SwitchedFeatures", "TextFeatures"]


class SwitchedFeatures(TextTransformer):
    """What `TextFeatures` and `HashedTextFeatures` share: the switches of the tokenizer, log counts and the norm."""

    lowercase: bool
    digits: str
    language: str | None
    stop_words: bool | str | Collection[str] | None
    stem: bool | str
    min_length: int
    ngrams: int
    sublinear: bool
    norm: str | None

    def make_tokenizer(self) -> Tokenizer:
        """Return the tokenizer that texts are cut by."""
        return self._tokenizer(self.language)

    def _tokenizer(self, language: str | None) -> Tokenizer:
        return Tokenizer(**word_options(self.get_params(deep=False), language))


class TextFeatures(SwitchedFeatures):
    """Texts -> features that a linear ranker does well on, without a choice to make: (n, d) CSR float64.

    Parameters
    ----------
    lowercase : bool
        Lower the case of the text first.
    digits : "token", "keep" or "drop"
        Each run of digits becomes one token `#`, stays, or goes.
    language : "auto", None or str
        The language of `stop_words=True` and `stem=True`: found in the texts given to fit, by the shares of function
        words (English where there is no evidence), none, or the name of one of PyStemmer's languages.
    stop_words : bool, str, None or collection of str
        Words to leave out, compared before stemming: True is the list of the language; the name of a language is its
        list; None or False leaves out nothing.
    stem : bool or str
        The stems of the language (Porter's for English), none, or the name of one of PyStemmer's algorithms.
    min_length : int
        Shorter words are left out; `#` always stays.
    ngrams : int
        Terms are runs of up to this many words (after the stop list), joined by a space.
    min_df : int or float
        Leave out terms in fewer of the texts given to fit; an integer counts texts, a float is a fraction of them.
    max_df : int or float
        Leave out terms in more of the texts given to fit; an integer counts texts, a float is a fraction of them.
    sublinear : bool
        Weigh a count by `log(tf) + 1`.
    idf : bool
        Multiply by `log((1 + n)/(1 + u)) + 1`, where u of the n texts given to fit hold the term.
    norm : "l2", "l1" or None
        Bring every row to this unit length.

    Attributes
    ----------
    terms_ : list of str
        The term of each column, sorted.
    idf_ : (d,) array
        Ones where `idf=False`.
    language_ : str or None
        The language of stems and stop words.

    Notes
    -----
    The defaults were chosen by three-fold cross-validation within the training parts of Reuters-21578 (7,636
    documents, 44 labels) and debtags (7,983 packages, 177 labels) with a one-vs-rest LinearSVC, one switch at a time:
    average precision (AP, higher is better) and coverage error (lower is better).

    | changed from the default | AP, Reuters | coverage | AP, debtags | coverage | features |
    | --- | --: | --: | --: | --: | --: |
    | nothing | 0.9722 | 1.406 | 0.7985 | 20.62 | 50,029 |
    | case kept | 0.9678 | 1.451 | 0.7933 | 21.22 | 55,740 |
    | no stems | 0.9712 | 1.417 | 0.7990 | 20.70 | 50,837 |
    | Snowball's English stems | 0.9724 | 1.406 | 0.7980 | 20.71 | 50,106 |
    | no stop list | 0.9691 | 1.421 | 0.7927 | 19.90 | 65,205 |
    | digits kept | 0.9716 | 1.411 | 0.7986 | 20.66 | 59,588 |
    | digits dropped | 0.9723 | 1.404 | 0.7986 | 20.64 | 50,692 |
    | words of 2 letters or more | 0.9727 | 1.403 | 0.7964 | 20.76 | 49,471 |
    | single words | 0.9725 | 1.437 | 0.7734 | 24.59 | 7,662 |
    | runs of up to 3 words | 0.9698 | 1.416 | 0.7979 | 20.42 | 82,553 |
    | min_df=1 | 0.9700 | 1.410 | 0.8006 | 18.10 | 197,240 |
    | min_df=3 | 0.9727 | 1.412 | 0.7946 | 21.80 | 25,069 |
    | max_df=0.5 | 0.9721 | 1.407 | 0.7978 | 20.62 | 50,025 |
    | raw counts (no log) | 0.9714 | 1.420 | 0.7893 | 21.59 | 50,029 |
    | no idf | 0.9708 | 1.447 | 0.7966 | 20.98 | 50,029 |
    | pivoted length, l2 | 0.9716 | 1.403 | 0.7926 | 20.29 | 50,029 |
    | scikit-learn's default | 0.9703 | 1.452 | 0.7769 | 22.64 | 21,924 |

    Features are those of Reuters. Fold by fold, lower case wins on both corpora and both measures, the stop list on
    average precision (it costs coverage on debtags), pairs of words and the log on debtags, idf on Reuters. Stems
    and digits change sign between folds: they are there for fewer features. `min_df` is a trade: 1 is worse in
    average precision on Reuters and better in coverage on debtags in every fold, at four times the memory; take it
    where that is affordable, and on a corpus of a few texts. `benchmarks/text_defaults.py` repeats the table.

    Examples
    --------
    >>> from arcrank.text import TextFeatures
    >>> features = TextFeatures(min_df=1)
    >>> X = features.fit_transform(["crude oil", "oil price"])
    >>> features.terms_
    ['crude', 'crude oil', 'oil', 'oil price', 'price']
    >>> X.toarray().round(2)
    array([[0.63, 0.63, 0.45, 0.  , 0.  ],
           [0.  , 0.  , 0.45, 0.63, 0.63]])
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        *,
        lowercase: bool = True,
        digits: str = "token",
        language: str | None = "auto",
        stop_words: bool | str | Collection[str] | None = True,
        stem: bool | str = True,
        min_length: int = 1,
        ngrams: int = 2,
        min_df: float = 2,
        max_df: float = 1.0,
        sublinear: bool = True,
        idf: bool = True,
        norm: str | None = "l2",
    ) -> None:
        self.lowercase = lowercase
        self.digits = digits
        self.language = language
        self.stop_words = stop_words
        self.stem = stem
        self.min_length = min_length
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.sublinear = sublinear
        self.idf = idf
        self.norm = norm

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any texts."""
        check_norm(self.norm)
        check_language(self.language, auto=True)
        tokenizer = self._tokenizer("english" if self.language == AUTO else self.language)
        TermCounts(tokenizer=tokenizer, ngrams=self.ngrams, min_df=self.min_df, max_df=self.max_df).check_parameters()

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms and their idf."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:
        """Learn the terms and their idf, and return the features."""
        return self.fit_transform_counts(self.count(texts), y)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the features of the known terms."""
        check_is_fitted(self, "terms_")
        reader = self._reader
        encoder = TermEncoder(reader.tokenizer, reader.ngrams, self.sublinear, self.norm, self._columns, self.idf_)
        return encoder.transform(texts).matrix()

    def count(self, texts: Iterable[str]) -> CountedTexts:
        """Count all terms of the texts once, to compute the features of any of them from the counts.

        `fit_counts` and `transform_counts` on `counts[rows]` give what `fit` and `transform` on these texts give, to
        the last bit, in a fraction of the time. With `language="auto"`, the language is that of all the texts counted.

        Examples
        --------
        >>> from arcrank.text import TextFeatures
        >>> texts = ["crude oil", "oil price", "the price of wheat", "wheat price"]
        >>> counts = TextFeatures().count(texts)
        >>> features = TextFeatures(min_df=1).fit_counts(counts[:2])
        >>> (features.transform_counts(counts[2:]) != features.transform(texts[2:])).nnz
        0
        """
        check_language(self.language, auto=True)
        if self.language != AUTO:
            return self._new_reader(self.language).count(texts)
        listed = list(checked_texts(texts))
        return self._new_reader(detect_language(listed).language).count(listed)

    def fit_counts(self, counts: CountedTexts, y: object = None) -> Self:
        """Learn the terms and their idf from counted texts."""
        self.fit_transform_counts(counts, y)
        return self

    def fit_transform_counts(self, counts: CountedTexts, y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn the terms and their idf from counted texts, and return the features."""
        check_norm(self.norm)
        counts.reader.check_same(self._new_reader(counts.reader.language))
        terms, matrix = frequent_terms(counts.terms, counts.matrix, self.min_df, self.max_df)
        n, d = matrix.shape
        idf = smooth_idf(document_frequency(matrix), n) if self.idf else np.ones(d)
        self._set_fitted(terms, idf, counts.reader.language)
        return self._weighed(matrix)

    def transform_counts(self, counts: CountedTexts) -> sparse.csr_matrix:
        """Return the features of counted texts."""
        check_is_fitted(self, "terms_")
        counts.reader.check_same(self._reader)
        return self._weighed(known_counts(counts.terms, counts.matrix, self._columns))

    def _weighed(self, counts: Csr) -> sparse.csr_matrix:
        return weighed(counts, self.idf_, sublinear=self.sublinear, norm=self.norm).matrix()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the terms, in the order of the columns."""
        check_is_fitted(self, "terms_")
        return np.array(self.terms_, dtype=object)

    def get_state(self) -> dict[str, Any]:
        """Return all that a model file must hold: JSON-able "parameters", "terms" (a list), "idf", "language"."""
        check_is_fitted(self, "terms_")
        parameters = self.get_params()
        if not (self.stop_words is None or isinstance(self.stop_words, bool | str)):
            parameters["stop_words"] = sorted(set(self.stop_words))
        state = {"parameters": parameters, "terms": list(self.terms_), "idf": self.idf_.copy()}
        return state | {"language": self.language_}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the fitted transformer that `get_state` described."""
        features = cls(**state["parameters"])
        terms, idf = list(state["terms"]), np.asarray(state["idf"], dtype=np.float64)
        if idf.shape != (len(terms),) or not np.isfinite(idf).all():
            raise InputError(f"the state holds {len(terms)} terms, but an idf of shape {idf.shape} or not finite")
        # States of earlier versions have no language: True meant English.
        features._set_fitted(terms, idf, state.get("language", "english"))
        return features

    def make_tokenizer(self) -> Tokenizer:
        """Return the tokenizer that texts are cut by, once fitted."""
        check_is_fitted(self, "terms_")
        return self._reader.tokenizer

    def _new_reader(self, language: str | None) -> TermReader:
        return TermReader(self._tokenizer(language), self.ngrams, language)

    def _set_fitted(self, terms: list[str], idf: Array, language: str | None) -> None:
        self.terms_, self.idf_, self.language_ = terms, idf, language
        # As it was in fit: parameters that are changed later must not apply to half of the work.
        self._reader = self._new_reader(language)
        self._columns = {term: column for column, term in enumerate(terms)}
