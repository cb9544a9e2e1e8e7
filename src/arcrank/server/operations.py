"""The routes of the server, each with what it takes and returns: routes and their description are made of this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arcrank.server import schemas

__all__ = ["OPERATIONS", "Operation", "Query"]

ALWAYS = (400, 405, 408, 421, 431, 500, 503)
"""Answers that any request may get."""


@dataclass(frozen=True)
class Query:
    """A parameter after the question mark."""

    name: str
    schema: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    path: str
    summary: str
    answer: type | None
    request: type | None = None
    queries: tuple[Query, ...] = ()
    problems: tuple[int, ...] = ()
    writes: bool = False

    @property
    def statuses(self) -> list[int]:
        """All answers but 200."""
        more = [404] if "{model}" in self.path else []
        more += [413, 415, 422] if self.request is not None else []
        more += [422] if self.queries else []
        more += [401, 403] if self.writes else []
        return sorted({*ALWAYS, *more, *self.problems})


_MODEL = "/v1/models/{model}"
_PREFIX = Query(
    "prefix", {"type": "string", "maxLength": 200, "default": ""}, "Letters that labels begin with or contain."
)
_LIMIT = Query("limit", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}, "How many labels.")

OPERATIONS = (
    Operation("models", "GET", "/v1/models", "List the models", schemas.ModelList),
    Operation("details", "GET", _MODEL, "Describe a model", schemas.ModelDetails),
    Operation(
        "rank", "POST", f"{_MODEL}/rank", "Rank the labels of documents", schemas.RankAnswer, schemas.RankRequest
    ),
    Operation(
        "explain",
        "POST",
        f"{_MODEL}/explain",
        "Explain why a label is above another one, or above the cut",
        schemas.Explanation,
        schemas.ExplainRequest,
    ),
    Operation(
        "labels",
        "GET",
        f"{_MODEL}/labels",
        "Find labels by their letters",
        schemas.LabelList,
        queries=(_PREFIX, _LIMIT),
    ),
    Operation(
        "feedback",
        "POST",
        f"{_MODEL}/feedback",
        "Record a preference, and learn it",
        schemas.Acknowledgement,
        schemas.FeedbackRequest,
        problems=(507,),
        writes=True,
    ),
    Operation(
        "undo",
        "POST",
        f"{_MODEL}/undo",
        "Take back a preference",
        schemas.Acknowledgement,
        schemas.UndoRequest,
        problems=(507,),
        writes=True,
    ),
    Operation(
        "learn",
        "POST",
        f"{_MODEL}/learn",
        "Learn what is pending, and save the model",
        schemas.LearnAnswer,
        schemas.LearnRequest,
        problems=(409, 507),
        writes=True,
    ),
    Operation("livez", "GET", "/livez", "Whether the process answers", schemas.Health),
    Operation("readyz", "GET", "/readyz", "Whether the server takes requests", schemas.Health),
    Operation("metrics", "GET", "/metrics", "Metrics for Prometheus", None),
    Operation("openapi", "GET", "/openapi.json", "This description", None),
)
