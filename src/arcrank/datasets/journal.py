"""Feedback that `arcrank serve` has recorded: a file of preferences and retractions, one JSON object per line.

A line is a preference, {"seq": 1, "id": "...", "text": "..." or "features": {...}, and one of "arcs", "relevant" with
"irrelevant", and "vote"}, or a retraction, {"seq": 2, "retract": the id of a preference}. `seq` counts lines from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcrank.errors import FormatError
from arcrank.graphs.cut import CUT

if TYPE_CHECKING:
    from arcrank.graphs import ArcGraphs

__all__ = ["Entry", "JournalContent", "arcs_of", "feedback_graphs", "label_names", "read_journal"]

Arc = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A preference: a text or features, and arcs (head, tail); CUT is one of the ends where the preference says so."""

    seq: int
    id: str
    content: str | dict[str, float]
    arcs: tuple[Arc, ...]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Entry:
        """Make an entry of a line of the journal."""
        content = fields["features"] if fields.get("text") is None else fields["text"]
        return cls(fields["seq"], fields["id"], content, tuple(arcs_of(fields)))


def arcs_of(fields: dict[str, Any]) -> list[Arc]:
    """The arcs of a preference. Relevant labels are above the cut and irrelevant ones below it.

    A vote for "neither" puts both labels below the cut; a tie says nothing about their order.

    Examples
    --------
    >>> arcs_of({"relevant": ["oil"], "irrelevant": ["tea"]})
    [('oil', 'tea'), ('oil', CUT), (CUT, 'tea')]
    >>> arcs_of({"vote": {"a": "oil", "b": "gas", "outcome": "b"}})
    [('gas', 'oil')]
    """
    if fields.get("arcs") is not None:
        return list(dict.fromkeys((head, tail) for head, tail in fields["arcs"]))
    if fields.get("vote") is not None:
        return _vote_arcs(**fields["vote"])
    above, below = (list(dict.fromkeys(fields.get(name) or [])) for name in ("relevant", "irrelevant"))
    between = [(head, tail) for head in above for tail in below]
    return [*between, *((head, CUT) for head in above), *((CUT, tail) for tail in below)]


def _vote_arcs(a: str, b: str, outcome: str) -> list[Arc]:
    outcomes: dict[str, list[Arc]] = {"a": [(a, b)], "b": [(b, a)], "tie": [], "neither": [(CUT, a), (CUT, b)]}
    return outcomes[outcome]


def label_names(arcs: Sequence[Arc]) -> list[str]:
    """The labels that arcs name, without CUT, each once.

    >>> label_names([("oil", "tea"), ("oil", CUT)])
    ['oil', 'tea']
    """
    return list(dict.fromkeys(end for arc in arcs for end in arc if end is not CUT))


@dataclass
class JournalContent:
    """All lines of a journal.

    Attributes
    ----------
    entries : dict of Entry
        Preferences by id, retracted ones too.
    retracted : dict of int
        The `seq` of the retraction, by the id of what it takes back.
    last : int
        The `seq` of the last line.
    size : int
        Bytes of whole lines; a line that a crash has cut off was never acknowledged, and is left out.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    retracted: dict[str, int] = field(default_factory=dict)
    last: int = 0
    size: int = 0

    def add(self, fields: dict[str, Any]) -> None:
        """Take up one more line."""
        self.last = fields["seq"]
        if "retract" in fields:
            self.retracted.setdefault(fields["retract"], fields["seq"])
        else:
            self.entries.setdefault(fields["id"], Entry.of(fields))

    def live(self, after: int = 0) -> list[Entry]:
        """Preferences that have not been taken back, in order, only those after line `after`."""
        return [one for one in self.entries.values() if one.seq > after and one.id not in self.retracted]

    def holds(self, applied: int) -> bool:
        """Whether a model that learnt the first `applied` lines is still right: nothing of it was taken back later."""
        undone = (self.entries[id].seq for id, seq in self.retracted.items() if seq > applied and id in self.entries)
        return all(seq > applied for seq in undone)


def read_journal(path: Path) -> JournalContent:
    """Read a journal; a file that does not exist is empty. An error names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "news.feedback.jsonl"
    >>> _ = path.write_text('{"seq": 1, "id": "x", "text": "opec", "arcs": [["oil", "tea"]]}' + chr(10))
    >>> [entry.arcs for entry in read_journal(path).live()]
    [(('oil', 'tea'),)]
    """
    content = JournalContent()
    if not path.exists():
        return content
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            content.add(_fields(path, number, line, content.last))
            content.size += len(line)
    return content


def _fields(path: Path, number: int, line: bytes, last: int) -> dict[str, Any]:
    try:
        fields = json.loads(line)
        if fields["seq"] != last + 1:
            raise ValueError(f"seq is {fields['seq']}, not {last + 1}")
        if "retract" not in fields:
            Entry.of(fields)
    except (ValueError, LookupError, TypeError) as error:
        raise FormatError(
            f"{path}:{number}: not a line of a feedback journal ({error}).\n"
            "Give the file that `arcrank serve --allow-learning` wrote, or restore it from a backup."
        ) from None
    return fields


def feedback_graphs(entries: Sequence[Entry], labels: Sequence[Any], *, cut: bool) -> tuple[list[Entry], ArcGraphs]:
    """Return the entries that say something to a model, and their graphs over its labels.

    Labels that the model does not know are added at the end. A model without a cut learns no arcs of CUT.

    Examples
    --------
    >>> entry = Entry(1, "x", "opec", (("oil", "tea"), ("oil", CUT)))
    >>> feedback_graphs([entry], ["oil", "tea"], cut=False)[1]
    ArcGraphs(1 instances, 2 labels, 1 arcs)
    """
    from arcrank.graphs import as_graphs

    told = [(entry, list(_kept_arcs(entry.arcs, cut))) for entry in entries]
    told = [(entry, arcs) for entry, arcs in told if arcs]
    known = set(labels)
    new = [name for name in label_names([arc for _, arcs in told for arc in arcs]) if name not in known]
    names = [*([CUT] if cut else []), *labels, *new]
    graphs: Any = as_graphs([arcs for _, arcs in told], kind="arcs", labels=names, conflicts="keep")
    return [entry for entry, _ in told], graphs


def _kept_arcs(arcs: Sequence[Arc], cut: bool) -> Iterator[Arc]:
    return (arc for arc in arcs if cut or CUT not in arc)
