"""`evaluate`: a model measured on a corpus, a stream, or X and y, block by block."""

from __future__ import annotations

from typing import Any

from arcrank._wording import count, display_path, format_counts, some_names
from arcrank.errors import FormatError, InputError
from arcrank.evaluation.caveats import has_learnt_from
from arcrank.evaluation.results import Evaluation
from arcrank.evaluation.rows import Data, blocks_of
from arcrank.evaluation.scoring import BlockScorer
from arcrank.evaluation.totals import Totals

__all__ = ["check_measurable", "evaluate"]


def evaluate(
    model: Any, data: Data, y: Any = None, *, name: str | None = None, data_name: str | None = None
) -> Evaluation:
    """Measure a model on documents whose labels, or other preferences, are known.

    The documents are scored in blocks, and only the scores of one block are in memory at a time.

    Parameters
    ----------
    model : label ranker, pipeline that ends in one, or what `arcrank.load` returns
        A fitted model.
    data : Corpus, iterable of Corpus, or X
        A corpus; blocks of one, as `arcrank.datasets.iter_corpus` reads them from a file of any size; or the instances
        as the model takes them: texts or features.
    y : graphs, label sets, classes, indicator matrix, ranks, ..., optional
        The supervision of X, in the form that the model was fitted with, or as graphs; None where `data` is a corpus.
    name, data_name : str, optional
        What reports call the model and the data; by default the class of the ranker and the source of the corpus.

    Returns
    -------
    Evaluation
        Labels that the model does not know, and documents that say nothing about those that it knows, are left out of
        every measure; `caveats` says how many.

    Raises
    ------
    InputError
        If no document can be measured, or the model cannot take the data. If the data come from a file it is a
        FormatError, which is an InputError too.

    Examples
    --------
    >>> from arcrank import RocchioRanker
    >>> ranker = RocchioRanker().fit([[1, 0, 0], [0, 1, 0], [0, 0, 1]], ["tea", "milk", "water"])
    >>> found = evaluate(ranker, [[3, 1, 0], [1, 2, 0]], ["tea", "milk"])
    >>> found.measures["average precision"]
    1.0
    >>> found.caveats
    ['...2 documents...']

    A corpus, or a file that is read in blocks:

    >>> from sklearn.pipeline import make_pipeline
    >>> from arcrank.datasets import Corpus
    >>> from arcrank.text import TextFeatures
    >>> drinks = Corpus(labels=["milk", "tea"], texts=["green tea", "cow milk"], label_sets=[["tea"], ["milk"]])
    >>> model = make_pipeline(TextFeatures(min_df=1), RocchioRanker()).fit(drinks.texts, drinks.label_sets)
    >>> evaluate(model, drinks)
    Evaluation(2 documents, 2 labels; average precision 1, one-error 0, ranking loss 0, coverage 0)
    """
    scorer = BlockScorer(model)
    totals, source = Totals(scorer.labels), ""
    for block in blocks_of(data, y, scorer.ranker):
        totals.add(scorer(block))
        source = block.source or source
    found = totals.evaluation(
        scorer.calibration,
        model=type(scorer.ranker).__name__ if name is None else name,
        data=(source or "X") if data_name is None else data_name,
        learnt=has_learnt_from(scorer.card, source, totals.n_documents),
    )
    check_measurable(found, source)
    return found


def check_measurable(found: Evaluation, source: str) -> None:
    """Raise an error if no document can be measured: measures of nothing would look perfect."""
    if found.n_documents and found.n_measured:
        return
    place = f"{display_path(source)}: " if source else ""
    raise (FormatError if source else InputError)(f"{place}{_why_not(found)}")


def _why_not(found: Evaluation) -> str:
    if not found.n_documents:
        reasons = format_counts(found.skipped)
        return f"no row could be read: {reasons}.\nCorrect the file." if reasons else "there are no documents."
    if not found.unknown_labels:
        return "no document has a label to measure by.\nGive every document its labels."
    return (
        "no document has a label that the model knows.\n"
        f"The data have {count(len(found.unknown_labels), 'unknown label')} ({some_names(found.unknown_labels)}); "
        f"the model knows {count(len(found.labels), 'label')} ({some_names(found.labels)}).\n"
        "Give documents with the model's labels, or train a model on labels like these."
    )
