"""What `arcrank check` concludes from its counts: findings with a severity, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arcrank import memory
from arcrank._wording import count, format_counts, is_are, truncate
from arcrank.datacheck.similar_labels import one_letter_apart, written_alike
from arcrank.datacheck.stats import CorpusStats
from arcrank.memory import columns_that_fit, gigabytes
from arcrank.training.advice import memory_advice

if TYPE_CHECKING:
    from arcrank.training.estimate import ResourceEstimate

__all__ = ["Finding", "between", "beyond_memory", "some_labels", "within"]

RARE, _NAMED = 2, 4


class Finding(NamedTuple):
    """One thing worth knowing: "serious" stops a careful user, "warning" costs quality, "note" is for information."""

    severity: str
    kind: str
    file: str
    message: str
    remedy: str
    number: int


def within(found: CorpusStats, first_error: str = "", *, training: bool = True) -> list[Finding]:
    """The findings of one file; rare labels matter where they are to be learnt."""
    made = [
        *_unreadable(found, first_error),
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


def _unreadable(found: CorpusStats, first_error: str) -> Made:
    n = sum(found.skipped.values())
    if n:
        reasons = format_counts(found.skipped)
        place = f"; the first: {truncate(first_error.partition(chr(10))[0], 240)}" if first_error else ""
        message = f"{count(n, 'row')} cannot be read: {reasons}{place}"
        yield "serious", "unreadable rows", message, _mending(found, first_error.partition(chr(10))[2]), n


def _misread(found: CorpusStats) -> Made:
    """What the reader warned of: the file may mean something else than what was read."""
    for warning in found.warnings:
        message, _, remedy = str(warning).removeprefix(f"{found.path}: ").rstrip(".").partition("; ")
        message, remedy = getattr(warning, "found", message), getattr(warning, "remedy", remedy)
        yield "warning", "probably misread", message, remedy, getattr(warning, "n_rows", 1)


def _runs(found: CorpusStats) -> Made:
    if found.order.in_runs:
        remedy = "`train` shuffles it; shuffle it yourself before `update`, partial_fit, or a split by position"
        yield "warning", "grouped by label", f"the file is {found.order.describe()}", remedy, found.order.n


def _mending(found: CorpusStats, told: str) -> str:
    """What to do; `told` is what the error of the first row says about that."""
    if "invalid UTF-8" in found.skipped:
        return "save the file as UTF-8, as in: iconv -f latin1 -t utf8 IN > OUT (utf16 for UTF-16)"
    if told:
        return told
    return "mend them, or train with --on-error skip" if found.n_rows else "mend them: not one row is left"


def _empty_rows(found: CorpusStats, *, training: bool) -> Made:
    n = len(found.without_labels)
    if n:
        one, many = ("it teaches", "they teach") if training else ("it judges", "they judge")
        remedy = f"{one if n == 1 else many} nothing; are labels missing?"
        yield _share(n, found), "rows without labels", f"{_rows(found.without_labels)} no preference", remedy, n
    n = len(found.without_content)
    if n:
        what = "text" if found.is_text else "features"
        message = f"{_rows(found.without_content)} no {what}"
        them = "it" if n == 1 else "them"
        why = f"nothing can be learnt of {them}" if training else f"a model can only guess at {them}"
        yield _share(n, found), f"rows without {what}", message, f"leave {them} out: {why}", n


def _share(n: int, found: CorpusStats) -> str:
    return "serious" if n > found.n_rows / 2 else "warning"


def _rows(numbers: Sequence[int]) -> str:
    """`3 rows have (1, 5, 9)`, the first few by number."""
    some = ", ".join(f"{n:,}" for n in numbers[:_NAMED]) + (", ..." if len(numbers) > _NAMED else "")
    return f"{count(len(numbers), 'row')} ({some}) {'has' if len(numbers) == 1 else 'have'}"


def _number_of_labels(found: CorpusStats) -> Made:
    named = [label for label, n in found.labels.items() if n]
    if not named:
        yield "serious", "no labels", "no row names a label", "give labels, layers, ranking or arcs in every row", 0
    elif len(named) == 1:
        message = f"there is only one label, {truncate(named[0], 40)!r}"
        yield "serious", "one label", message, "ranking needs two labels or more", 1
    blank = [label for label in named if not label.strip()]
    if blank:
        n = sum(found.labels[label] for label in blank)
        yield "warning", "empty label", f"{count(n, 'row')} with a label whose name is blank", "name it or drop it", n
    everywhere = [label for label, n in found.labels.items() if n == found.n_rows > 1]
    if everywhere and len(named) > 1 and found.kinds["labels"] == found.n_rows:
        names = some_labels(everywhere)
        yield (
            "note",
            "label in every row",
            f"{names}: right for every row",
            "it will always rank first",
            len(everywhere),
        )


def some_labels(labels: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
    return ", ".join(truncate(label, 32) for label in labels[:_NAMED]) + more


def _rare(found: CorpusStats) -> Made:
    rare = sorted((n, label) for label, n in found.labels.items() if n <= RARE)
    if rare and len(found.labels) > 1:
        message = f"{is_are(len(rare), 'label')} in {RARE} rows or fewer: {some_labels([label for _, label in rare])}"
        severity = "warning" if len(rare) > len(found.labels) / 4 else "note"
        yield severity, "rare labels", message, "give more examples, or merge them", len(rare)


def _alike(found: CorpusStats) -> Made:
    groups = written_alike(found.labels)
    if groups:
        shown = "; ".join(" = ".join(repr(truncate(name, 24)) for name in group[:3]) for group in groups[:3])
        message = f"{count(len(groups), 'group')} of labels that differ in case or spaces only: {shown}"
        yield "warning", "labels written in two ways", message, "write each label in one way", len(groups)
    near = one_letter_apart(found.labels)
    if near:
        shown = "; ".join(f"{truncate(a, 24)!r} ~ {truncate(b, 24)!r}" for a, b in near[:3])
        message = f"{count(len(near), 'couple')} of labels one letter apart: {shown}"
        yield "note", "labels one letter apart", message, "a misprint? then correct it", len(near)


def _twice(found: CorpusStats) -> Made:
    if found.duplicates:
        message = f"{count(found.duplicates, 'document')} that an earlier row holds already"
        yield "note", "duplicate documents", message, "drop them, lest they end up in train and test", found.duplicates
    differ = found.duplicates_that_differ
    if differ:
        a, b = differ[0]
        message = (
            f"{count(len(differ), 'repeated document')} with other labels than before, such as rows {a:,} and {b:,}"
        )
        yield "warning", "duplicates that disagree", message, "decide for one of them", len(differ)


def _contradictions(found: CorpusStats) -> Made:
    n = len(found.contradicting_rows)
    if n:
        message = f"{_rows(found.contradicting_rows)} an arc together with its reverse"
        yield "warning", "contradicting arcs", message, "allowed, but such arcs cancel each other", n
    both = sum((tail, head) in found.arcs for head, tail in found.arcs) // 2
    if both:
        couples = len({frozenset(arc) for arc in found.arcs})
        message = f"{both:,} of {count(couples, 'couple')} of labels: arcs go both ways in the file"
        yield "note", "preferred both ways", message, "normal where preferences depend on the document", both


def beyond_memory(path: str, need: ResourceEstimate) -> list[Finding]:
    """What `train` would refuse on this machine."""
    needed, available = 1e6 * need.megabytes, memory.available_memory()
    if available is None or needed <= available:
        return []
    message = f"one fit needs about {gigabytes(needed)} of memory, and {gigabytes(available)} are available"
    remedy = memory_advice("log-linear", columns_that_fit(need.labels)).replace("\n", " ")
    return [Finding("serious", "more than the memory", path, message, remedy, need.rows)]


def between(first: CorpusStats, second: CorpusStats) -> list[Finding]:
    """The findings of two files: documents in both, and labels that only the second one knows."""
    where = f"{first.path}, {second.path}"
    made = []
    shared = first.documents.keys() & second.documents.keys()
    if shared:
        one = min(shared, key=lambda key: second.documents[key][0])
        rows = f"row {first.documents[one][0]:,} and row {second.documents[one][0]:,}"
        share = len(shared) / max(1, len(second.documents))
        message = f"{is_are(len(shared), 'document')} in both files ({share:.1%} of the second), such as {rows}"
        remedy = "take them out of one: measures on them would flatter"
        made.append(Finding("serious", "overlap", where, message, remedy, len(shared)))
    new = sorted(set(second.labels) - set(first.labels))
    if new and first.labels:
        message = f"{is_are(len(new), 'label')} in the second file only: {some_labels(new)}"
        remedy = "a model of the first cannot rank them"
        made.append(Finding("warning", "labels of one file only", where, message, remedy, len(new)))
    return made
