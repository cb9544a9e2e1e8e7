"""`as_graphs`: one door for every kind of supervision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._validation import check_real
from arcrank.errors import InputError, ParameterError
from arcrank.graphs.align import align_labels
from arcrank.graphs.arcs import ArcGraphs, Conflicts
from arcrank.graphs.base import PreferenceGraphs, check_labels, check_names, label_array, shorten
from arcrank.graphs.cut import CUT
from arcrank.graphs.kinds import MATRIX_KINDS, check_entries, column_names, detect_kind, is_nested, unwrap
from arcrank.graphs.layers import LayeredGraphs

_NO_LABELS = frozenset((tuple, list, dict, set, frozenset, np.ndarray))


def as_graphs(
    y: Any,
    kind: str | None = None,
    labels: Any = None,
    *,
    conflicts: Conflicts = "error",
    cut_level: float | None = None,
) -> PreferenceGraphs:
    """Preference graphs from whatever the supervision is.

    | kind        | y                                                                                   |
    |-------------|-------------------------------------------------------------------------------------|
    | "single"    | 1-D: the right label of each instance, numbers or names                             |
    | "indicator" | 2-D of {0, 1} or booleans, dense or sparse: relevant labels rank above the others   |
    | "sets"      | lists of labels: the same, by name                                                  |
    | "ranks"     | 2-D of rank positions, 1 = best, ties allowed, NaN = not judged                     |
    | "grades"    | 2-D of grades, higher = better, any real numbers, NaN = not judged                  |
    | "levels"    | 2-D of layer numbers, 0 = top, -1 = not judged                                      |
    | "distances" | 2-D of distances of each label from correct, NaN = not judged                       |
    | "layers"    | lists of lists of labels, best layer first; labels left out are not judged          |
    | "ranking"   | lists of labels, best first, ties as nested lists; labels left out are not judged   |
    | "arcs"      | lists of (head, tail), bare preferences; or one (head, tail) for each instance      |

    Without `kind` it is inferred from y where certain; else the error says what to pass. A matrix of numbers other
    than 0 and 1 is taken as ranks only if its rows are rankings; lists are label sets, unless all have two names: then
    they may be arcs, and Python sets or `kind` tell them apart. A list of tuples (head, tail) is a list of arcs, and
    "ranking" is never guessed. Graphs pass through.

    Parameters
    ----------
    y : matrix, list or graphs
        The supervision, as in the table.
    kind : str, optional
        A name of the table.
    labels : sequence of names, optional
        Names of the columns of a matrix, or the vocabulary of names in the order wanted; without it a data frame's
        columns keep their names, another matrix has numbered labels, and names are sorted. The labels of graphs
        are matched by name: what they lack is irrelevant in label sets and not judged elsewhere, and a judged label
        that is not among these is an error.
    conflicts : "error" or "keep"
        For arcs, see `ArcGraphs.from_arcs`.
    cut_level : float, optional
        Of a matrix of grades, ranks, levels or distances: its last value that is above the cut, so that `arcrank.CUT`
        ranks below grades of at least `cut_level`, or below ranks, levels and distances of at most `cut_level`, and
        above the others. Layers and arcs mention CUT themselves.

    Examples
    --------
    >>> as_graphs(["tea", "coffee", "tea"]).labels.tolist()
    ['coffee', 'tea']
    >>> as_graphs([[("a", "b"), ("b", "c")], []])
    ArcGraphs(2 instances, 3 labels, 2 arcs)
    >>> as_graphs([[["a"], ["b", "c"]]])
    LayeredGraphs(1 instances, 3 labels, 2 layers, 2 arcs)
    >>> as_graphs([[5, 3, 1]], kind="grades").levels().tolist()
    [[0, 1, 2]]
    >>> as_graphs([["b", "a", "c"]], kind="ranking").levels().tolist()
    [[1, 0, 2]]
    >>> graphs = as_graphs([[5, 3, 1], [1, 2, 1]], kind="grades", labels=["a", "b", "c"], cut_level=3)
    >>> graphs.labels.tolist(), graphs.levels().tolist()
    (['a', 'b', 'c', CUT], [[0, 1, 3, 2], [2, 1, 2, 0]])
    """
    if isinstance(y, PreferenceGraphs):
        return y if labels is None else _over(y, labels)
    values = unwrap(y)
    check_entries(values)
    kind = detect_kind(values) if kind is None else kind
    if kind not in _BUILDERS:
        raise ParameterError(f"kind must be one of {', '.join(map(repr, _BUILDERS))}, got {kind!r}.")
    if labels is None and kind in MATRIX_KINDS:
        labels = column_names(y)
    if labels is not None and kind in ("single", "sets", "indicator"):
        _refuse_listed_cut(labels)
    if cut_level is not None:
        return _from_cut_matrix(values, kind, labels, check_real("cut_level", cut_level, also="None"))
    if kind == "arcs":
        return _from_arcs(values, labels, conflicts)
    return _BUILDERS[kind](values, labels)


def _from_cut_matrix(values: Any, kind: str, labels: Any, cut_level: float) -> LayeredGraphs:
    """Layers of a matrix with one more column, CUT, just below the last label of each row that is above it."""
    if kind not in ("grades", "ranks", "levels", "distances"):
        raise ParameterError(
            f"cut_level is for matrices of grades, ranks, levels or distances, and y is of kind {kind!r}. Label sets "
            "and single labels have their cut below the relevant labels; arcs and layers mention arcrank.CUT."
        )
    graphs = _BUILDERS[kind](values, labels)  # checks the matrix
    assert isinstance(graphs, LayeredGraphs)
    numbers, levels = np.asarray(values, dtype=np.float64), graphs.levels().astype(np.float64)
    above = numbers >= cut_level if kind == "grades" else numbers <= cut_level
    cut = np.where(above, levels, -1.0).max(axis=1, keepdims=True) + 0.5
    levels[levels < 0] = np.nan
    names = range(graphs.n_labels) if graphs.labels is None else graphs.labels.tolist()
    return LayeredGraphs.from_order(np.hstack([levels, cut]), labels=[*names, CUT])


def _over(graphs: PreferenceGraphs, labels: Any) -> PreferenceGraphs:
    if graphs.labels is None:
        return graphs.with_labels(labels)
    names = label_array(labels)
    return align_labels(graphs, check_labels(names, len(names)))


class Vocabulary:
    """Label names and their numbers."""

    def __init__(self, labels: Any, used: Iterable[Any]) -> None:
        if labels is None:
            labels = _sorted_names(used)
        elif CUT not in list(labels) and any(name is CUT for name in used):
            labels = [*labels, CUT]  # a virtual label, which nobody lists
        self.names = check_labels(labels, len(list(labels)))
        assert self.names is not None
        self._number = {name: j for j, name in enumerate(self.names.tolist())}
        if not self._number:
            raise InputError("There are no labels: every instance is empty. Name them: as_graphs(y, labels=[...]).")

    def __len__(self) -> int:
        return len(self._number)

    def __contains__(self, name: Any) -> bool:
        return name in self._number

    def number(self, name: Any, row: int) -> int:
        """Return the column of a label, or raise an InputError that names instance and label."""
        try:
            return self._number[name]
        except (KeyError, TypeError):
            raise InputError(
                f"Instance {row} has the label {name!r}, which is not among the {len(self)} labels "
                f"({shorten(self._number)}); drop it, or name it in as_graphs(y, labels=[...])."
            ) from None


def _sorted_names(used: Iterable[Any]) -> NDArray[Any]:
    try:
        names = set(used)
    except TypeError as error:
        raise InputError(f"A label is a name or a number, and y holds something else: {error}.") from None
    cut = [CUT] if CUT in names else []
    try:
        return label_array(sorted(names.difference(cut)) + cut)
    except TypeError:
        kinds = sorted({type(name).__name__ for name in names})
        raise InputError(
            f"Label names of different types cannot be sorted ({', '.join(kinds)}); use one type, or name them in the "
            "order wanted: as_graphs(y, labels=[...])."
        ) from None


def _plain(one: Any, row: int, what: str = "a list of labels") -> list[Any]:
    """Labels as Python objects, so that np.str_ and str, np.int64 and int are one label."""
    names = [x.item() if isinstance(x, np.generic) else x for x in _parts(one, row, what)]
    if not _NO_LABELS.isdisjoint(map(type, names)):
        name = next(x for x in names if type(x) in _NO_LABELS)
        raise InputError(
            f"Instance {row} has {name!r} instead of a label; a label is a name or a number. For preferences "
            "between labels pass as_graphs(y, kind='arcs') or kind='layers', for grades a matrix and kind='grades'."
        )
    return names


def _parts(one: Any, row: int, what: str) -> list[Any]:
    """The members of a list; a string is not one, though Python would take it apart."""
    if type(one) is list:
        return one
    if isinstance(one, str | bytes | Mapping) or not isinstance(one, Iterable):
        hint = f"; write [{one!r}]" if isinstance(one, str) else ""
        raise InputError(f"Instance {row} has {one!r}, where {what} belongs{hint}.")
    return list(one)


def _from_single(y: Any, labels: Any) -> LayeredGraphs:
    if isinstance(y, list | tuple):
        check_names(name for name in y if isinstance(name, str))  # before NumPy drops trailing NUL characters
    values = np.asarray(y)
    if values.ndim != 1:
        raise InputError(f"kind='single' needs a 1-D y with one label for each instance, got shape {values.shape}.")
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.floor(values))).all():
        raise InputError("Single labels must be whole numbers or names; y holds fractions, NaN or infinities.")
    if values.dtype == object:
        y = [name for row, one in enumerate(values) for name in _plain([one], row)]
        _refuse_missing(y)
    elif labels is None:
        names, codes = np.unique(values, return_inverse=True)
        return LayeredGraphs.from_single_labels(codes, len(Vocabulary(names, ())), labels=names)
    else:
        y = values.tolist()
    vocabulary = Vocabulary(labels, y)
    _refuse_cut([[name] for name in y], vocabulary)
    numbers = np.array([vocabulary.number(name, row) for row, name in enumerate(y)], dtype=np.int64)
    return LayeredGraphs.from_single_labels(numbers, len(vocabulary), labels=vocabulary.names)


def _refuse_missing(y: list[Any]) -> None:
    for row, name in enumerate(y):
        if name is None or name != name:  # noqa: PLR0124 - NaN is the one value that differs from itself
            raise InputError(f"Instance {row} has no label (got {name!r}); drop it, or give label sets instead.")


def _from_sets(y: Any, labels: Any) -> LayeredGraphs:
    from scipy.sparse import csr_matrix  # ranking a document does without

    sets = [_plain(one, row) for row, one in enumerate(y)]
    vocabulary = Vocabulary(labels, (name for one in sets for name in one))
    _refuse_cut(sets, vocabulary)
    ptr = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in sets], out=ptr[1:])
    columns = [vocabulary.number(name, row) for row, one in enumerate(sets) for name in one]
    data = np.ones(len(columns), dtype=np.int32)
    indicator = csr_matrix((data, columns, ptr), shape=(len(sets), len(vocabulary)))
    indicator.sum_duplicates()
    if indicator.data.max(initial=0) > 1:
        _name_repeated(sets, "a matrix, pass a NumPy array, or kind='indicator', 'grades' or 'ranks'")
    return LayeredGraphs.from_label_sets(indicator, labels=vocabulary.names)


def _name_repeated(sets: list[list[Any]], otherwise: str) -> None:
    for row, one in enumerate(sets):
        repeated = [name for name in one if one.count(name) > 1]
        if repeated:
            raise InputError(
                f"Instance {row} has the label {repeated[0]!r} twice; give each label once. If this is {otherwise}."
            )


def _refuse_cut(sets: list[list[Any]], vocabulary: Vocabulary) -> None:
    if CUT in vocabulary:
        row = next(row for row, one in enumerate(sets) if CUT in one)
        raise InputError(
            f"Instance {row} has CUT in a label set; the cut is below the labels of a set and above all others "
            "without being mentioned. Leave it out, or give layers such as [['a'], [CUT], ['b']]."
        )


def _refuse_listed_cut(labels: Any) -> None:
    if any(name is CUT for name in labels):
        raise InputError(
            "labels= lists CUT; the cut is below the labels of a set and above all others without being listed, so "
            "leave it out."
        )


def _from_layers(y: Any, labels: Any) -> LayeredGraphs:
    rows = [
        [_plain(layer, row, "a layer (a list of labels)") for layer in _parts(one, row, "a list of layers")]
        for row, one in enumerate(y)
    ]
    vocabulary = Vocabulary(labels, (name for one in rows for layer in one for name in layer))
    ptr = np.zeros(len(rows) + 1, dtype=np.int64)
    numbers: list[int] = []
    levels: list[int] = []
    for row, one in enumerate(rows):
        pairs = sorted((vocabulary.number(name, row), b) for b, layer in enumerate(one) for name in layer)
        if len({number for number, _ in pairs}) < len(pairs):
            names = [name for layer in one for name in layer]
            _name_repeated(
                [[]] * row + [names], "a list of arcs, write tuples (a, b) or pass as_graphs(y, kind='arcs')"
            )
        numbers.extend(number for number, _ in pairs)
        levels.extend(b for _, b in pairs)
        ptr[row + 1] = len(numbers)
    rest = np.full(len(rows), -1)
    return LayeredGraphs(ptr, np.array(numbers), np.array(levels), rest, len(vocabulary), vocabulary.names)


def _from_rankings(y: Any, labels: Any) -> LayeredGraphs:
    return _from_layers([ranking_layers(_ordered(one, row, "a list of labels")) for row, one in enumerate(y)], labels)


def ranking_layers(ranking: Iterable[Any]) -> list[Any]:
    """Layers of a ranking, best first: a list within it holds labels that tie.

    >>> ranking_layers(["tea", ["milk", "water"]])
    [['tea'], ['milk', 'water']]
    """
    return [tied if is_nested(tied) else [tied] for tied in ranking]


def _from_arcs(y: Any, labels: Any, conflicts: Conflicts) -> ArcGraphs:
    arcs = [
        [tuple(_plain(_ordered(arc, row, "an arc (head, tail)"), row)) for arc in _arcs_of(one, row)]
        for row, one in enumerate(y)
    ]
    vocabulary = Vocabulary(labels, (name for one in arcs for arc in one for name in arc))
    numbered = [[tuple(vocabulary.number(x, row) for x in arc) for arc in one] for row, one in enumerate(arcs)]
    return ArcGraphs.from_arcs(
        numbered,  # type: ignore[arg-type]
        len(vocabulary),
        labels=vocabulary.names,
        conflicts=conflicts,
    )


def _arcs_of(one: Any, row: int) -> list[Any]:
    """The arcs of an instance, which may be given as a bare pair of names."""
    parts = _parts(one, row, "a list of arcs")
    is_pair = len(parts) == 2 and not any(is_nested(part) for part in parts)
    return [_ordered(one, row, "an arc (head, tail)")] if is_pair else parts


def _ordered(one: Any, row: int, what: str) -> list[Any]:
    """The members of a list; a set is not one, because it has no order."""
    if isinstance(one, set | frozenset):
        raise InputError(f"Instance {row} has the set {one!r}, which has no order, where {what} belongs.")
    return _parts(one, row, what)


_BUILDERS: dict[str, Callable[[Any, Any], PreferenceGraphs]] = {
    "single": _from_single,
    "indicator": lambda y, labels: LayeredGraphs.from_label_sets(y, labels=labels),
    "sets": _from_sets,
    "ranks": lambda y, labels: LayeredGraphs.from_rankings(y, labels=labels),
    "grades": lambda y, labels: LayeredGraphs.from_grades(y, labels=labels),
    "levels": lambda y, labels: LayeredGraphs.from_levels(y, labels=labels),
    "distances": lambda y, labels: LayeredGraphs.from_distances(y, labels=labels),
    "layers": _from_layers,
    "ranking": _from_rankings,
    "arcs": lambda y, labels: _from_arcs(y, labels, "error"),
}
