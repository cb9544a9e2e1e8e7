"""What each route does."""

from __future__ import annotations

import hmac
import logging
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from arcrank._wording import count
from arcrank.errors import InputError
from arcrank.server import schemas
from arcrank.server.bodies import decode, read_body
from arcrank.server.forwarding import Forwarder
from arcrank.server.metrics import Metrics
from arcrank.server.openapi import openapi_document
from arcrank.server.operations import OPERATIONS
from arcrank.server.problems import ProblemError
from arcrank.server.served_model import Document, ServedModel
from arcrank.server.settings import Settings
from arcrank.server.spans import Spans
from arcrank.server.store import ModelStore, Slot

__all__ = ["Routes"]

_log = logging.getLogger("arcrank.server")
_LARGE = 20_000  # characters from which an explanation is computed in a thread
_DECODERS: dict[str, Any] = {
    one.name: msgspec.json.Decoder(one.request) for one in OPERATIONS if one.request is not None
}


class Routes:
    """Methods named as the operations."""

    def __init__(
        self, store: ModelStore, settings: Settings, metrics: Metrics, forwarder: Forwarder | None = None
    ) -> None:
        self._store = store
        self._settings = settings
        self._limits = settings.limits
        self._metrics = metrics
        self._forwarder = forwarder
        self._openapi = msgspec.json.encode(openapi_document())
        self.is_stopping = False

    async def _body(self, request: Request, name: str) -> Any:
        return decode(await read_body(request, self._limits), _DECODERS[name])

    def _slot(self, request: Request) -> Slot:
        return self._store[request.path_params["model"]]

    async def models(self, _: Request) -> Response:
        """List the models."""
        found = [_entry(slot.model) for slot in self._store.slots.values()]
        return _json(schemas.ModelList([schemas.ModelEntry(**one) for one in found]))

    async def details(self, request: Request) -> Response:
        """Describe a model."""
        slot = self._slot(request)
        model, learning = slot.model, slot.learning
        state = "off" if not self._settings.allow_learning else "recorded"
        if learning is not None and learning.is_live:
            state = "live"
        return _json(
            schemas.ModelDetails(
                **_entry(model),
                features=int(model.facts["features"]),
                calibrated=model.is_calibrated,
                cut=model.has_cut,
                explains=model.explains,
                learning=state,  # type: ignore[arg-type]
                learnt=model.learnt,
                pending=0 if learning is None else learning.pending,
                loaded=model.loaded,
                hierarchy=model.hierarchy,
            )
        )

    async def rank(self, request: Request) -> Response:
        """Rank documents."""
        slot = self._slot(request)
        asked: schemas.RankRequest = await self._body(request, "rank")
        documents = self._documents(asked)
        top = min(asked.top or len(slot.model.predictor.labels), len(slot.model.predictor.labels))
        if top * len(documents) > self._limits.cells:
            raise InputError(
                f"The rankings of {count(len(documents), 'document')} would have {top * len(documents):,} labels, and "
                f"{self._limits.cells:,} are allowed. Send fewer documents, or a smaller top."
            )
        if self._settings.log_texts:
            _log.info("rank %s: %s", slot.name, documents)
        alone = len(request.scope.get("state", {}).get("requests", ())) == 1
        answer = await slot.queue.rank(documents, top, asked.threshold, asked.recall, alone=alone)
        return Response(answer.encode(), media_type="application/json")

    def _documents(self, asked: schemas.RankRequest) -> list[Document]:
        given = [name for name in ("text", "texts", "features") if getattr(asked, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise InputError(f'Give one of "text", "texts" and "features"; got {found}.')
        value = getattr(asked, given[0])
        documents: list[Document] = value if isinstance(value, list) else [value]
        if not 1 <= len(documents) <= self._limits.texts:
            raise InputError(f"A request has 1 to {self._limits.texts:,} documents; got {len(documents):,}.")
        for document in documents:
            self._check_length(document)
        return documents

    def _check_length(self, document: Document) -> None:
        if len(document) > self._limits.characters:
            raise InputError(
                f"A document has {len(document):,} characters or features, and {self._limits.characters:,} are "
                "allowed. Shorten it, or split it into several documents."
            )

    def _one_document(self, asked: schemas.ExplainRequest | schemas.FeedbackRequest) -> Document:
        if (asked.text is None) == (asked.features is None):
            found = "none of them" if asked.text is None else "both"
            raise InputError(f'Give one of "text" and "features"; got {found}.')
        document: Document = asked.text if asked.text is not None else asked.features or {}
        self._check_length(document)
        return document

    async def explain(self, request: Request) -> Response:
        """Explain a margin."""
        slot = self._slot(request)
        asked: schemas.ExplainRequest = await self._body(request, "explain")
        document = self._one_document(asked)
        large = len(document) > _LARGE or len(slot.model.predictor.labels) > _LARGE
        return _json(await slot.queue.use(lambda model: _explanation(model, document, asked), large=large))

    async def labels(self, request: Request) -> Response:
        """Find labels by their letters."""
        slot = self._slot(request)
        prefix, limit = request.query_params.get("prefix", ""), request.query_params.get("limit", "20")
        if not (limit.isascii() and limit.isdigit() and len(limit) < 5 and 1 <= int(limit) <= 1000):
            raise InputError("limit must be a whole number from 1 to 1000.")
        if len(prefix) > 200:
            raise InputError("prefix must have at most 200 characters.")
        model = slot.model
        parents = model.hierarchy or {}
        found = [schemas.LabelEntry(name, parents.get(name)) for name in model.index.find(prefix, int(limit))]
        return _json(schemas.LabelList(found, len(model.index)))

    def _check_writing(self, request: Request) -> None:
        """Refuse who may not write; the comparison takes the same time wherever the tokens differ."""
        if not self._settings.allow_learning or self._settings.token is None:
            raise ProblemError(
                403, "This server does not learn. Start it with --allow-learning.", {"Connection": "close"}
            )
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self._settings.token.encode())
        if scheme.lower() != "bearer" or not right:
            raise ProblemError(
                401,
                "Writing needs the server's token, as the header Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": "Bearer", "Connection": "close"},
            )

    async def _write(self, request: Request, name: str) -> Response:
        """Check a request that writes, and handle it here or in the process that learns."""
        self._check_writing(request)
        slot = self._slot(request)
        asked = await self._body(request, name)
        if name == "feedback":
            from arcrank.server.preferences import check_feedback  # imports scikit-learn

            self._one_document(asked)
            check_feedback(asked, slot.model)
        if self._forwarder is not None:
            return await self._forwarder.send(name, slot.name, asked)
        return _json(await self.handle(name, slot.name, asked))

    async def handle(self, name: str, model: str, asked: Any) -> Any:
        """Do what a checked request asks for; also called for requests that other processes forward."""
        slot = self._store[model]
        learning = slot.learning
        assert learning is not None
        if name == "feedback":
            learning.model.predictor.features(learning.model.corpus([self._one_document(asked)]))
            answer: Any = await learning.feedback(asked)
        else:
            answer = await (learning.undo(asked) if name == "undo" else learning.learn())
        self._metrics.feedback[model, getattr(answer, "state", "saved")] += 1
        return answer

    async def feedback(self, request: Request) -> Response:
        """Record a preference."""
        return await self._write(request, "feedback")

    async def undo(self, request: Request) -> Response:
        """Take back a preference."""
        return await self._write(request, "undo")

    async def learn(self, request: Request) -> Response:
        """Learn what is pending, and save the model."""
        return await self._write(request, "learn")

    async def livez(self, _: Request) -> Response:
        """Whether the process answers."""
        return _json(schemas.Health("ok"))

    async def readyz(self, _: Request) -> Response:
        """Whether the server takes requests."""
        if self.is_stopping:
            raise ProblemError(503, "The server is stopping.", {"Retry-After": "5"})
        return _json(schemas.Health("ok"))

    async def metrics(self, _: Request) -> Response:
        """Metrics for Prometheus."""
        return Response(self._metrics.text(self._store), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, _: Request) -> Response:
        """The description of the routes."""
        return Response(self._openapi, media_type="application/json")


def _json(answer: Any) -> Response:
    return Response(msgspec.json.encode(answer), media_type="application/json")


def _entry(model: ServedModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "checksum": model.checksum,
        "learner": str(model.facts["learner"]),
        "labels": len(model.predictor.labels),
        "takes": model.predictor.takes,
    }


def _explanation(model: ServedModel, document: Document, asked: schemas.ExplainRequest) -> schemas.Explanation:
    """Why a label is above another one, or above the cut."""
    predictor = model.predictor
    text = document if isinstance(document, str) else None
    x = predictor.features(model.corpus([document]))
    above, below = _columns(model, x, asked)
    report = predictor.explain(x, above, below, text, asked.top or None)
    spans = Spans(text or "")
    parts = [schemas.Part(**part, spans=spans.of(part["words"])) for part in report.pop("parts")]
    return schemas.Explanation(model=model.name, checksum=model.checksum, learnt=model.learnt, parts=parts, **report)


def _columns(model: ServedModel, x: Any, asked: schemas.ExplainRequest) -> tuple[int, int | None]:
    """The columns of the two labels: by default the first of the ranking and the best of the others."""
    if asked.cut and asked.below is not None:
        raise InputError('"cut" compares a label with the cut, and "below" with another one. Give one of them.')
    given = [None if name is None else model.predictor.column_of(name) for name in (asked.above, asked.below)]
    ranking = (column for column in model.predictor.places(x)[0].tolist() if column not in given)
    above = next(ranking) if given[0] is None else given[0]
    if asked.cut:
        return above, None
    below = next(ranking, above) if given[1] is None else given[1]
    if above == below:
        raise InputError('"above" and "below" are the same label. Give two different labels.')
    return above, below
