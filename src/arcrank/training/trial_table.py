"""What an AutoRanker compared, as records, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from arcrank._wording import count, number
from arcrank.training.plan import metric_title

__all__ = ["TrialTable", "summary_html", "summary_text", "trial_cells", "trial_titles"]

_COLUMNS = ("", "learner", "settings", "C", "value", "documents", "seconds")
_HIDDEN = ("C", "cut_label", "n_jobs")
# Colours are those of the page, so that the table fits light and dark ones.
_STYLE = (
    "<style>.arcrank-trials{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".arcrank-trials th,.arcrank-trials td{padding:.2em .8em;text-align:left;background:transparent;color:inherit;"
    "border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}"
    ".arcrank-trials td.n,.arcrank-trials th.n{text-align:right}"
    ".arcrank-trials tr.selected td{font-weight:600;"
    "background:color-mix(in srgb,#2a7de1 18%,transparent)}</style>"
)


class TrialTable(list[dict[str, Any]]):
    """A list of records, one for each candidate."""

    def to_pandas(self) -> Any:
        """Return a DataFrame with a column for each parameter; needs pandas."""
        import pandas as pd  # type: ignore[import-untyped]

        rows = [{**{k: v for k, v in one.items() if k != "parameters"}, **one["parameters"]} for one in self]
        return pd.DataFrame(rows)


def trial_cells(trials: Iterable[dict[str, Any]]) -> list[list[str]]:
    """The records as the cells of a table."""
    return [
        [
            "*" if one["selected"] else "",
            one["learner"],
            ", ".join(_setting(name, value) for name, value in one["parameters"].items() if name not in _HIDDEN),
            number(one["parameters"]["C"]) if "C" in one["parameters"] else "",
            f"{one['value']:.4f}",
            f"{one['documents']:,}",
            f"{one['seconds']:.1f}",
        ]
        for one in trials
    ]


def _setting(name: str, value: Any) -> str:
    if name in ("decomposition", "loss", "kernel"):
        return str(value)
    return f"{name}={number(value) if isinstance(value, float) else value}"


def _headline(auto: Any) -> str:
    return f"AutoRanker selected {auto.selected_}."


def trial_titles(measure: str) -> list[str]:
    """The titles of the columns."""
    return [metric_title(measure) if name == "value" else name for name in _COLUMNS]


def _measures(auto: Any) -> str:
    if not auto.validation_:
        return ""
    found = ", ".join(f"{metric_title(name)} {number(value)}" for name, value in auto.validation_["measures"].items())
    return f"Cross-validated on {count(auto.validation_['documents'], 'document')}: {found}."


def summary_text(auto: Any) -> str:
    """The table with aligned columns, what was selected, and its measures."""
    lines = [_headline(auto)]
    if auto.trials_:
        rows = [trial_titles(auto.measure_), *trial_cells(auto.trials_)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = (True, True, True, False, False, False, False)
        for row in rows:
            cells = (
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(row, widths, left, strict=True)
            )
            lines.append("  ".join(cells).rstrip())
        lines.append(_measures(auto))
    return "\n".join(lines)


def summary_html(auto: Any) -> str:
    """The same as HTML that takes its colours from the page."""
    head = "".join(
        f"<th{' class=n' if i > 2 else ''}>{escape(title)}</th>" for i, title in enumerate(trial_titles(auto.measure_))
    )
    body = "".join(
        f"<tr{' class=selected' if cells[0] else ''}>"
        + "".join(f"<td{' class=n' if i > 2 else ''}>{escape(cell)}</td>" for i, cell in enumerate(cells))
        + "</tr>"
        for cells in trial_cells(auto.trials_)
    )
    table = f'<table class="arcrank-trials"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f"{_STYLE}<p>{escape(_headline(auto))}</p>{table if auto.trials_ else ''}<p>{escape(_measures(auto))}</p>"
