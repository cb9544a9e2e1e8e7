"""Which parameters the parts of a model file may have, and their allowed values.

Parameters used only in training may be any number, since only a later `fit` reads them, and it checks them itself.
Those used in scoring must be valid, and those that cost time or memory have limits far above any practical value.
"""

from __future__ import annotations

from typing import Any

from arcrank.errors import ParameterError
from arcrank.io.string_arrays import StoredNames
from arcrank.modelfile.array_forms import AnyArray
from arcrank.modelfile.forms import (
    MOST_FEATURES,
    Either,
    Flag,
    Form,
    Measure,
    Number,
    NumberList,
    OneOf,
    Registered,
    Size,
    Sizes,
    Some,
    Whole,
    Words,
    bound,
)
from arcrank.modelfile.text_forms import MOST_WORDS, Columns, Dtype, Encoding, Fraction, Kinds, Range, TokenPattern
from arcrank.rankers.set_offsets import check_set_measure

__all__ = ["EARLIER", "LANGUAGE", "PARAMETERS", "RETIRED"]


_NOTHING = OneOf(None)
_SEED = Either(_NOTHING, Whole(-(2**63), 2**64))
_ANY_OF_TRAINING = Either(Measure(), Flag())
_ARRAY_OF_TRAINING = Either(NumberList(), AnyArray())
_DECOMPOSITION = Registered("arcrank.decompositions:DECOMPOSITIONS", "identity")
_COUNT_OR_NOTHING = Either(_NOTHING, Whole())
_NORM = OneOf("l2", "l1", None)


class SetMeasure(Form):
    """What label sets are chosen by."""

    says = "a measure of label sets"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        """Whether the rankers take it."""
        try:
            check_set_measure(value)
        except ParameterError:
            return False
        return True


class Records(Form):
    """A list of records, which the part itself checks."""

    says = "a list of at most 100 records"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        """Whether it is a short list of dicts."""
        return isinstance(value, list) and len(value) <= 100 and all(isinstance(one, dict) for one in value)


class PositiveNumbers(Form):
    """A list of numbers above 0."""

    says = "a list of numbers above 0"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether it is one."""
        return isinstance(value, list) and all(Number(1e-100).fits(one, sizes) for one in value)


class LabelList(Form):
    """A list of labels."""

    says = "a list of two or more labels"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        """Whether it is one."""
        return isinstance(value, list) and len(value) > 1 and all(type(one) in (str, int, float, bool) for one in value)


class LabelVectors(Form):
    """A dict of labels and vectors of numbers, all of the length that the symbol says."""

    says = "a dict of labels and lists of numbers of one length"

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether it is one."""
        return isinstance(value, dict) and all(
            type(label) in (str, int, float, bool) and self._is_vector(vector, sizes) for label, vector in value.items()
        )

    def _is_vector(self, value: Any, sizes: Sizes) -> bool:
        numbers = isinstance(value, list) and all(Number().fits(one, sizes) for one in value)
        return numbers and bound(self.symbol, len(value), sizes)


def _training(names: str) -> dict[str, Form]:
    return dict.fromkeys(names.split(), _ANY_OF_TRAINING)


_CUT = {
    "cut_label": Flag(),
    "cut_level": _COUNT_OR_NOTHING,
    "set_measure": Either(_NOTHING, SetMeasure()),
    "calibration_folds": Whole(0),
}
_LINEAR_CUT = {**_CUT, "label_correlations": Flag()}
_REGULARISED = {
    "C": Either(OneOf("scale"), _ANY_OF_TRAINING),
    "intercept": OneOf("scaled", "regularised"),
    "fit_intercept": _ANY_OF_TRAINING,
}
_LOG_LINEAR = {
    **_LINEAR_CUT,
    "decomposition": _DECOMPOSITION,
    "solver": OneOf("auto", "dual", "lbfgs", "boosting"),
    "loss": _NOTHING,
    "callback": _NOTHING,
    "random_state": _SEED,
    **_REGULARISED,
    "arc_weights": OneOf("margin", "count"),
    "label_features": Either(_NOTHING, LabelVectors("p")),
    **_training("normalize smoothing virtual tol max_iter warm_start n_jobs verbose"),
}
_MACHINE = {
    **_LINEAR_CUT,
    "prediction": OneOf("auto", "plm"),
    "decomposition": _DECOMPOSITION,
    "loss": Registered("arcrank.losses.margin:MARGIN_LOSSES"),
    "kernel": Registered("arcrank.rankers.kernels:KERNELS"),
    "codes": Either(_NOTHING, OneOf("one-vs-one", "error-correcting", "learn"), _ARRAY_OF_TRAINING),
    "code_length": Whole(1),
    "aggregate": OneOf("max", "sum"),
    "beta": Number(1e-100),
    "normalize": Flag(),
    "gamma": Either(OneOf("scale", "auto"), Number()),
    "landmarks": Either(_NOTHING, Whole(1)),
    "callback": _NOTHING,
    "random_state": _SEED,
    **_REGULARISED,
    **_training("degree coef0 tol max_iter shrinking cache_mb warm_start n_jobs verbose"),
}
_SHORTLIST = {
    **{name: form for name, form in _CUT.items() if name != "calibration_folds"},
    "decomposition": _DECOMPOSITION,
    "loss": OneOf("log-linear", "squared-hinge", "hinge"),
    "pattern": OneOf("documents", "full"),
    "neighbours": Whole(0, 10_000),
    "neighbours_weight": Number(0.0),
    "callback": _NOTHING,
    "random_state": _SEED,
    **dict.fromkeys(("C", "prior", "working_set"), Either(_NOTHING, Measure())),
    **_training("max_df fit_intercept prune tol max_iter warm_start n_jobs verbose"),
}
_PERCEPTRON = {**_CUT, "average": Flag(), "random_state": _SEED, "epochs": Whole(1), **_training("shuffle verbose")}
_MMP = {
    **_PERCEPTRON,
    "loss": OneOf("indicator", "size", "normalized", "average_precision"),
    "kernel": OneOf(None, "rbf", "poly"),
    "gamma": Either(_NOTHING, Number(1e-100)),
    "degree": Number(),
    "coef0": Number(),
}
_ONLINE_MACHINE = {
    **_MMP,
    "decomposition": _DECOMPOSITION,
    "loss": OneOf("hinge", "squared-hinge"),
    "margin": Number(1e-100),
    "C": Either(OneOf("scale"), Number(1e-100)),
    "budget": _COUNT_OR_NOTHING,
}
_TREES = {
    **_CUT,
    "arc_weights": OneOf("margin", "count"),
    "steps": OneOf("newton", "gradient"),
    "decomposition": _DECOMPOSITION,
    "callback": _NOTHING,
    "random_state": _SEED,
    **_training("n_rounds learning_rate n_runs max_leaf_nodes min_samples_leaf l2_regularization random_thresholds"),
    **_training("shared_trees max_features subsample normalize n_jobs verbose"),
}
_GRADES = {"grades": Either(_NOTHING, LabelList())}
_ORDINAL = {
    **_GRADES,
    "decomposition": Registered("arcrank.losses.grades:GRADE_DECOMPOSITIONS"),
    "loss": Registered("arcrank.losses.grades:GRADE_LOSSES"),
    **_training("C tol max_iter"),
}
_PRANK = {**_GRADES, "epochs": Whole(1), "average": Flag(), "random_state": _SEED, **_training("shuffle")}
_MEMBERS = {"rankers": Records(), "weights": Either(_NOTHING, PositiveNumbers())}
_AVERAGE = {**_LINEAR_CUT, **_MEMBERS}
_RANKBOOST = {
    "thresholds": Either(OneOf("all"), Whole(1)),
    "random_state": _SEED,
    **_training("n_rounds early_stopping validation_fraction patience"),
}
_SEMI_SUPERVISED = {
    **_RANKBOOST,
    "discount": Either(_ANY_OF_TRAINING, _ARRAY_OF_TRAINING),
    "labeller": OneOf("auto", "neighbours", "confident"),
    "features": OneOf("stumps", "latent"),
    **_training("n_neighbors mixed n_components n_confident"),
}
_TRANSDUCTIVE = {
    "relevant_fraction": Either(_NOTHING, Measure()),
    "random_state": _SEED,
    **_training("C C_unlabelled max_switches tol max_iter"),
}

_TOKENS = {
    "lowercase": Flag(),
    "digits": OneOf("token", "keep", "drop"),
    "stop_words": Either(
        OneOf(None), Registered("arcrank.text.stopwords:STOP_WORDS"), Words(list, tuple, set, StoredNames)
    ),
    "stem": Either(Flag(), Registered("Stemmer:algorithms")),
    "min_length": Whole(1),
}
LANGUAGE = Either(_NOTHING, Registered("arcrank.text.stopwords:STOP_WORDS"))
_OF_LANGUAGE = {**_TOKENS, "language": LANGUAGE, "stop_words": Either(Flag(), _TOKENS["stop_words"])}
_TERMS = {"ngrams": Whole(1, MOST_WORDS), "min_df": Fraction(), "max_df": Fraction()}
_WEIGHTS = {"sublinear": Flag(), "norm": _NORM}
_HASHED = {"n_features": Size("d", 1, MOST_FEATURES)}


_DOCUMENTS = {
    "input": OneOf("content"),
    "encoding": Encoding(),
    "decode_error": OneOf("strict", "ignore", "replace"),
    "strip_accents": OneOf(None, "ascii", "unicode"),
    "lowercase": Flag(),
    "preprocessor": _NOTHING,
    "tokenizer": _NOTHING,
    "analyzer": OneOf("word", "char", "char_wb"),
    "stop_words": Either(OneOf(None, "english"), Words(list)),
    "token_pattern": Either(_NOTHING, TokenPattern()),
    "ngram_range": Range(),
    "binary": Flag(),
    "dtype": Dtype(),
}
_COUNTED = {
    "min_df": Fraction(),
    "max_df": Fraction(),
    "max_features": _COUNT_OR_NOTHING,
    "vocabulary": Either(_NOTHING, Columns(), Words(list, tuple, set, StoredNames)),
}

PARAMETERS: dict[str, dict[str, Form]] = {
    "log-linear": _LOG_LINEAR,
    "preference-machine": _MACHINE,
    "shortlist": _SHORTLIST,
    "mmp": _MMP,
    "online-preference-machine": _ONLINE_MACHINE,
    "perceptron": _PERCEPTRON,
    "ordinal": _ORDINAL,
    "prank": _PRANK,
    "rocchio": _training("beta gamma"),
    "average": _AVERAGE,
    "semi-supervised": {
        **_CUT,
        **_MEMBERS,
        **_training("latent_weight n_components tentative_weight"),
        "random_state": _SEED,
    },
    "dense-scaler": {"copy": Flag(), "with_mean": Flag(), "with_std": Flag()},
    "standard-scaler": {"copy": Flag(), "with_mean": Flag(), "with_std": Flag()},
    "trees": _TREES,
    "rankboost": _RANKBOOST,
    "semi-supervised-rankboost": _SEMI_SUPERVISED,
    "transductive-svm": _TRANSDUCTIVE,
    "semi-supervised-logistic": _training("C unlabelled_weight max_iter tol"),
    "text-features": {
        **_OF_LANGUAGE,
        **_TERMS,
        **_WEIGHTS,
        "idf": Flag(),
        "language": Either(OneOf("auto"), LANGUAGE),
    },
    "hashed-text-features": {**_OF_LANGUAGE, **_HASHED, **_WEIGHTS, "ngrams": Whole(1, MOST_WORDS)},
    "embedding-features": {"model": OneOf("wordllama"), "dimensions": Size("d", 1, 256)},
    "text-and-embeddings": {"words": _NOTHING, "embeddings": _NOTHING, "weight": Number(0.0)},
    "table-features": {
        "kinds": Either(_NOTHING, Kinds()),
        "min_frequency": Fraction(),
        "max_categories": Whole(1, MOST_FEATURES),
    },
    "term-counts": {
        **_TERMS,
        "tokenizer": Either(_NOTHING, Some(_TOKENS, "the parameters of a Tokenizer")),
        "vocabulary": Either(_NOTHING, Columns(), Words(list, tuple, set, StoredNames)),
    },
    "log-counts": {},
    "tf-idf": {**_WEIGHTS, "smooth": Flag()},
    "signed-tf-idf": {**_WEIGHTS, "smooth": Flag()},
    "pivoted-length": {"slope": Number(0.0, 1.0)},
    "rocchio-selector": _training("n_terms fraction beta gamma"),
    "informative-selector": {"decomposition": _DECOMPOSITION, **_training("n_terms")},
    "count-vectorizer": {**_DOCUMENTS, **_COUNTED},
    "tfidf-vectorizer": {
        **_DOCUMENTS,
        **_COUNTED,
        **dict.fromkeys(("use_idf", "smooth_idf", "sublinear_tf"), Flag()),
        "norm": _NORM,
    },
    "hashing-vectorizer": {**_DOCUMENTS, **_HASHED, "norm": _NORM, "alternate_sign": Flag()},
}
"""By the name of the part in files."""

RETIRED: dict[str, dict[str, Form]] = {"semi-supervised-logistic": {"labels": OneOf("soft", "hard")}}
"""By the same name: parameters in files of earlier versions that the estimator no longer has."""

EARLIER: dict[str, dict[str, Any]] = {
    "log-linear": {"intercept": "regularised", "label_correlations": False},
    "preference-machine": {"intercept": "regularised", "code_length": 50, "label_correlations": False},
    "average": {"label_correlations": False},
    "shortlist": {"warm_start": False},
}
"""By the same name: what a file means that lacks the parameter, so that its estimator need not be asked for a default;
above all where this is not the present one."""
