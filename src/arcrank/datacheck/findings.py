"""Findings from the counts of a corpus: each with a severity, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arcrank import memory
from arcrank._wording import count, format_counts, has_have, is_are, truncate
from arcrank.datacheck.similar_labels import one_letter_apart, written_alike
from arcrank.datacheck.stats import CorpusStats
from arcrank.memory import columns_that_fit, gigabytes
from arcrank.training.advice import memory_advice
from arcrank.training.plan import MOST_LABELS

if TYPE_CHECKING:
    from arcrank.training.estimate import ResourceEstimate

__all__ = ["SEVERITIES", "Finding", "beyond_memory", "check_one", "check_pair", "some_labels"]

RARE, _NAMED = 2, 4
SEVERITIES = ("serious", "warning", "note")


class Finding(NamedTuple):
    """One thing worth knowing about data.

    Attributes
    ----------
    severity : {"serious", "warning", "note"}
        Serious: training or its measures would be wrong. Warning: it costs quality. Note: for information.
    kind : str
        What sort of thing it is, such as "overlap" or "rare labels".
    file : str
        The source of the data; two of them with a comma for findings about a pair.
    message, remedy : str
        What was found, and what to do about it.
    number : int
        How many rows or labels it concerns.

    Examples
    --------
    >>> from arcrank.datacheck import check
    >>> from arcrank.datasets import Corpus
    >>> found = check(Corpus(labels=["tea"], texts=["a", "b"], label_sets=[["tea"], ["tea"]]))
    >>> found[0].severity, found[0].message
    ('serious', "there is only one label, 'tea'")
    """

    severity: str
    kind: str
    file: str
    message: str
    remedy: str
    number: int


def check_one(found: CorpusStats, *, training: bool = True) -> list[Finding]:
    """The findings of one corpus; rare labels and the order of rows matter only in training data."""
    made = [
        *_unreadable(found),
        *_misread(found),
        *_empty_rows(found, training=training),
        *_number_of_labels(found),
        *(_rare(found) if training else ()),
        *(_runs(found) if training else ()),
        *_alike(found),
        *_twice(found),
        *_contradictions(found),
    ]
    return [Finding(severity, kind, found.path, message, remedy, n) for severity, kind, message, remedy, n in made]


Made = Iterator[tuple[str, str, str, str, int]]


def _unreadable(found: CorpusStats) -> Made:
    n = sum(found.skipped.values())
    if n:
        reasons = format_counts(found.skipped)
        where, _, fix = found.first_error.partition("\n")
        place = f"; the first: {truncate(where, 240)}" if where else ""
        message = f"{count(n, 'row')} cannot be read: {reasons}{place}"
        yield "serious", "unreadable rows", message, _row_fix(found, fix), n


def _misread(found: CorpusStats) -> Made:
    """What the reader warned of: the file may mean something other than what was read."""
    for warning in found.warnings:
        message, _, remedy = str(warning).removeprefix(f"{found.path}: ").rstrip(".").partition("; ")
        message, remedy = getattr(warning, "found", message), getattr(warning, "remedy", remedy)
        yield "warning", "probably misread", message, remedy, getattr(warning, "n_rows", 1)


def _runs(found: CorpusStats) -> Made:
    if found.order.in_runs:
        remedy = "`arcrank train` shuffles it; shuffle it yourself before `update`, partial_fit or a split by position"
        yield "warning", "grouped by label", f"the file is {found.order.describe()}", remedy, found.order.n


def _row_fix(found: CorpusStats, advice: str) -> str:
    """What to do; `advice` is what the error of the first row says about that."""
    if "invalid UTF-8" in found.skipped:
        return "save the file as UTF-8, as in: iconv -f latin1 -t utf8 IN > OUT (utf16 for UTF-16)"
    if advice:
        return advice
    return 'fix these rows, or skip them with on_error="skip"' if found.n_rows else "fix the file: no row can be read"


def _empty_rows(found: CorpusStats, *, training: bool) -> Made:
    n = len(found.without_labels)
    if n and found.labels.keys() <= {"relevant", "irrelevant"}:
        message = f"{_rows(found.without_labels)} no relevance"
        yield "note", "unlabelled documents", message, "learners of few labels use them; the others ignore them", n
    elif n:
        it = "it" if n == 1 else "they"
        remedy = f"{it} cannot be used for {'training' if training else 'measuring'}; check for missing labels"
        yield _share(n, found), "rows without labels", f"{_rows(found.without_labels)} no preference", remedy, n
    n = len(found.without_content)
    if n:
        what = "text" if found.is_text else "features"
        message = f"{_rows(found.without_content)} no {what}"
        them = "it" if n == 1 else "them"
        why = f"nothing can be learnt from {them}" if training else f"a model can only guess the labels of {them}"
        yield _share(n, found), f"rows without {what}", message, f"remove {them}: {why}", n


def _share(n: int, found: CorpusStats) -> str:
    return "serious" if n > found.n_rows / 2 else "warning"


def _rows(numbers: Sequence[int]) -> str:
    """`3 rows have (1, 5, 9)`, the first few by number."""
    some = ", ".join(f"{n:,}" for n in numbers[:_NAMED]) + (", ..." if len(numbers) > _NAMED else "")
    return f"{count(len(numbers), 'row')} ({some}) {'has' if len(numbers) == 1 else 'have'}"


def _number_of_labels(found: CorpusStats) -> Made:
    named = [label for label, n in found.labels.items() if n]
    if not named and (found.n_rows or not found.skipped):  # rows that cannot be read are a finding of their own
        remedy = "give every row labels, layers, a ranking, arcs or a vote"
        yield "serious", "no labels", "no row names a label", remedy, 0
    elif len(named) == 1:
        message = f"there is only one label, {truncate(named[0], 40)!r}"
        yield "serious", "one label", message, "ranking needs at least two labels", 1
    blank = [label for label in named if not label.strip()]
    if blank:
        n = sum(found.labels[label] for label in blank)
        yield "warning", "empty label", f"{count(n, 'row')} with a blank label name", "name the label, or remove it", n
    everywhere = [label for label, n in found.labels.items() if n == found.n_rows > 1]
    if everywhere and len(named) > 1 and found.kinds["labels"] == found.n_rows:
        names = some_labels(everywhere)
        yield (
            "note",
            "label in every row",
            f"{names}: right for every row",
            "a label that is always right teaches nothing; leave it out",
            len(everywhere),
        )


def some_labels(labels: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
    return ", ".join(truncate(label, 32) for label in labels[:_NAMED]) + more


def _rare(found: CorpusStats) -> Made:
    rare = sorted((n, label) for label, n in found.labels.items() if n <= RARE)
    if rare and len(found.labels) > 1:
        message = f"{is_are(len(rare), 'label')} in {RARE} rows or fewer: {some_labels([label for _, label in rare])}"
        severity = "warning" if len(rare) > len(found.labels) / 4 else "note"
        yield severity, "rare labels", message, "add examples, or merge rare labels", len(rare)


def _alike(found: CorpusStats) -> Made:
    groups = written_alike(found.labels)
    if groups:
        shown = "; ".join(" = ".join(repr(truncate(name, 24)) for name in group[:3]) for group in groups[:3])
        message = f"{count(len(groups), 'group')} of labels that differ only in case or spaces: {shown}"
        yield "warning", "labels written in two ways", message, "spell each label in one way", len(groups)
    near = one_letter_apart(found.labels)
    if near:
        shown = "; ".join(f"{truncate(a, 24)!r} ~ {truncate(b, 24)!r}" for a, b in near[:3])
        pairs = "1 pair of label names differs" if len(near) == 1 else f"{len(near):,} pairs of label names differ"
        message = f"{pairs} by one letter: {shown}"
        yield "note", "labels one letter apart", message, "possible typos; correct them", len(near)


def _twice(found: CorpusStats) -> Made:
    if found.duplicates:
        verb = "repeats" if found.duplicates == 1 else "repeat"
        message = f"{count(found.duplicates, 'document')} {verb} an earlier row"
        remedy = "remove repeated documents, so that none is in both train and test"
        yield "note", "duplicate documents", message, remedy, found.duplicates
    differ = found.duplicates_that_differ
    if differ:
        a, b = differ[0]
        repeated = has_have(len(differ), "repeated document")
        message = f"{repeated} labels that differ from before, such as rows {a:,} and {b:,}"
        yield "warning", "duplicates that disagree", message, "decide which labels are right", len(differ)


def _contradictions(found: CorpusStats) -> Made:
    n = len(found.contradicting_rows)
    if n:
        message = f"{_rows(found.contradicting_rows)} both an arc and its reverse"
        yield "warning", "contradicting arcs", message, "this is allowed, but such arcs cancel each other", n
    both = sum((tail, head) in found.arcs for head, tail in found.arcs) // 2
    if both:
        pairs = len({frozenset(arc) for arc in found.arcs})
        message = f"{both:,} of {count(pairs, 'pair')} of labels have arcs in both directions"
        yield "note", "preferred both ways", message, "this is normal where preferences depend on the document", both


def beyond_memory(path: str, need: ResourceEstimate) -> list[Finding]:
    """What training would refuse on this machine."""
    needed, available = 1e6 * need.megabytes, memory.available_memory()
    if available is None or needed <= available:
        return []
    if need.labels > MOST_LABELS:
        message = f"{need.labels:,} labels: a weight for each feature and label would take {gigabytes(needed)}"
        remedy = "`train` uses ShortlistRanker, which needs little memory and ranks by sparse weights."
        return [Finding("note", "very many labels", path, message, remedy, need.rows)]
    message = f"one fit needs about {gigabytes(needed)} of memory, but only {gigabytes(available)} are available"
    remedy = memory_advice("log-linear", columns_that_fit(need.labels)).replace("\n", " ")
    return [Finding("serious", "more than the memory", path, message, remedy, need.rows)]


def check_pair(first: CorpusStats, second: CorpusStats) -> list[Finding]:
    """The findings of two corpora: documents in both, and labels that only the second one has."""
    where = f"{first.path}, {second.path}"
    made = []
    shared = first.documents.keys() & second.documents.keys()
    if shared:
        one = min(shared, key=lambda key: second.documents[key][0])
        rows = f"row {first.documents[one][0]:,} and row {second.documents[one][0]:,}"
        share = len(shared) / max(1, len(second.documents))
        message = f"{is_are(len(shared), 'document')} in both ({share:.1%} of the second), such as {rows}"
        remedy = "remove them from one: measures on documents that a model has seen are too optimistic"
        made.append(Finding("serious", "overlap", where, message, remedy, len(shared)))
    new = sorted(set(second.labels) - set(first.labels))
    if new and first.labels:
        message = f"{is_are(len(new), 'label')} only in the second: {some_labels(new)}"
        remedy = "a model that is trained on the first cannot rank them"
        made.append(Finding("warning", "labels of one file only", where, message, remedy, len(new)))
    return made
