"""The description of the routes, OpenAPI 3.1, from the classes that requests are decoded by."""

from __future__ import annotations

import http
from typing import Any

import msgspec

from arcrank import __version__
from arcrank.server.operations import OPERATIONS, Operation
from arcrank.server.problems import Problem

__all__ = ["openapi_document"]

_REF = "#/components/schemas/{name}"
_OTHER_ANSWERS = {
    "metrics": {"text/plain": {"schema": {"type": "string"}}},
    "openapi": {"application/json": {"schema": {"type": "object"}}},
}
_EXAMPLES = {
    "rank": {"text": "OPEC cut its oil output.", "top": 5},
    "explain": {"text": "OPEC cut its oil output."},
    "feedback": {"id": "3b1f", "text": "OPEC cut its oil output.", "arcs": [["crude", "ship"]]},
    "undo": {"id": "3b1f"},
    "learn": {},
}


def openapi_document() -> dict[str, Any]:
    """Return the whole description."""
    types = [one for operation in OPERATIONS for one in (operation.request, operation.answer) if one is not None]
    _, schemas = msgspec.json.schema_components([*dict.fromkeys(types), Problem], ref_template=_REF)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "arcrank", "version": __version__, "summary": "Rank labels, ask why, teach by preferences"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation), *_query_parameters(operation)],
        "responses": {"200": _answer(operation), **{str(status): _problem(status) for status in operation.statuses}},
    }
    if operation.request is not None:
        schema = {"$ref": _REF.format(name=operation.request.__name__)}
        content = {"application/json": {"schema": schema, "example": _EXAMPLES[operation.name]}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.writes:
        described["security"] = [{"token": []}]
    return described


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    if "{model}" not in operation.path:
        return []
    return [{"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "in": "query", "schema": one.schema, "description": one.description}
        for one in operation.queries
    ]


def _answer(operation: Operation) -> dict[str, Any]:
    if operation.answer is None:
        content = _OTHER_ANSWERS[operation.name]
    else:
        content = {"application/json": {"schema": {"$ref": _REF.format(name=operation.answer.__name__)}}}
    return {"description": "Done", "content": content}


def _problem(status: int) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=Problem.__name__)}
    answer: dict[str, Any] = {
        "description": http.HTTPStatus(status).phrase,
        "content": {"application/problem+json": {"schema": schema}},
    }
    if status == 503:
        answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return answer
