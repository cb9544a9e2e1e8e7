"""What requests and answers contain. The page /openapi.json is made from these classes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

__all__ = [
    "Acknowledgement",
    "ExplainRequest",
    "Explanation",
    "FeedbackRequest",
    "Health",
    "LabelEntry",
    "LabelList",
    "LearnAnswer",
    "ModelDetails",
    "ModelEntry",
    "ModelList",
    "Neighbour",
    "Part",
    "RankAnswer",
    "RankRequest",
    "RankedText",
    "UndoRequest",
    "Vote",
]

Value = Annotated[float, Meta(ge=-1e100, le=1e100)]
Features = dict[str, Value | str | bool | None]
"""Numbers; of a model that was trained on a table also words, truth values and null for what is missing."""
Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Id = Annotated[str, Meta(min_length=1, max_length=200, description="Chosen by the client; a repeated id is ignored.")]


class RankRequest(Struct, forbid_unknown_fields=True):
    """Documents to rank: one of "text", "texts" and "features"."""

    text: str | None = None
    texts: list[str] | None = None
    features: Features | list[Features] | None = None
    top: Annotated[int, Meta(ge=1, description="How many labels; null for all.")] | None = 10
    threshold: Annotated[float, Meta(ge=0, le=1, description="Predict labels of at least this probability.")] | None = (
        None
    )
    recall: (
        Annotated[float, Meta(ge=0.01, le=0.99, description="Predict as many labels as find this share.")] | None
    ) = None


class RankedText(Struct, omit_defaults=True):
    """The ranking of one document."""

    ranking: list[str]
    scores: list[float]
    known_features: int
    probability: list[float] | None = None
    predicted: list[str] | None = None


class RankAnswer(Struct):
    """Rankings, and the model that made them."""

    model: str
    checksum: str
    learnt: Annotated[int, Meta(description="Preferences that the model has learnt since its file was read.")]
    documents: list[RankedText]


class ExplainRequest(Struct, forbid_unknown_fields=True):
    """A document and two labels; "cut" compares the label "above" with the cut: why it is predicted, or is not."""

    text: str | None = None
    features: Features | None = None
    above: Name | None = None
    below: Name | None = None
    cut: bool = False
    top: Annotated[int, Meta(ge=0, le=100_000, description="How many parts; 0 for all.")] = 20


class Part(Struct):
    """One feature's part of a margin; `spans` are [start, end) in characters of the text."""

    feature: str
    weight: float
    words: list[str]
    spans: list[tuple[int, int]]


class Neighbour(Struct):
    """A training document that is similar, and what its labels add to a margin."""

    document: Annotated[int, Meta(description="Its number in the training data, from 0.")]
    similarity: float
    weight: float


class Explanation(Struct, omit_defaults=True):
    """A margin and its parts: intercept, parts and rest, added in this order, are exactly the margin."""

    model: str
    checksum: str
    learnt: int
    above: str
    below: Annotated[str, Meta(description='The lower label, or "CUT".')]
    margin: float
    intercept: float
    parts: list[Part]
    rest: float
    rest_count: int
    neighbours: Annotated[
        list[Neighbour], Meta(description="Similar training documents, whose votes are in the rest.")
    ] = []


class Vote(Struct, forbid_unknown_fields=True):
    """Which of two labels fits the document better."""

    a: Name
    b: Name
    outcome: Literal["a", "b", "tie", "neither"]


class FeedbackRequest(Struct, forbid_unknown_fields=True):
    """A preference: one of "arcs", "relevant" with "irrelevant", and "vote", about a text or features."""

    id: Id
    text: str | None = None
    features: Features | None = None
    arcs: list[tuple[Name, Name]] | None = None
    relevant: list[Name] | None = None
    irrelevant: list[Name] | None = None
    vote: Vote | None = None
    shown: Annotated[list[str], Meta(description="The ranking that the person saw.")] | None = None
    by: Annotated[str, Meta(max_length=200, description="Who gave the preference.")] | None = None
    new_labels: Annotated[bool, Meta(description="Accept labels that the model does not know.")] = False


class UndoRequest(Struct, forbid_unknown_fields=True):
    """Take back the preference with this id."""

    id: Id
    by: Annotated[str, Meta(max_length=200)] | None = None


class LearnRequest(Struct, forbid_unknown_fields=True):
    """Nothing has to be said: everything pending is learnt."""


class Acknowledgement(Struct):
    """The preference is on disk. `state` says what became of it."""

    id: str
    state: Annotated[
        Literal["learnt", "recorded", "repeated", "retracted"],
        Meta(description="recorded: on disk, but not in the model yet; repeated: known already, nothing was done."),
    ]
    detail: str
    learnt: int
    pending: Annotated[int, Meta(description="Preferences on disk that the model has not learnt.")]


class LearnAnswer(Struct):
    """What `learn` did."""

    model: str
    checksum: str
    learnt: int
    saved: bool
    detail: str


class ModelEntry(Struct):
    """A model that this server has."""

    name: str
    checksum: str
    learner: str
    labels: int
    takes: Literal["text", "features", "table"]


class ModelList(Struct):
    """All models of this server."""

    models: list[ModelEntry]


class ModelDetails(ModelEntry):
    """A model and what it can do."""

    features: int
    calibrated: bool
    cut: Annotated[bool, Meta(description="Whether the model decides which labels to predict.")]
    explains: bool
    learning: Annotated[
        Literal["off", "live", "recorded"],
        Meta(description="live: learns at once; recorded: its feedback is for `arcrank train --feedback`."),
    ]
    learnt: int
    pending: int
    loaded: Annotated[str, Meta(description="When the file was read, in UTC.")]
    hierarchy: dict[str, str | None] | None


class LabelEntry(Struct):
    """A label, and its parent if there is a hierarchy."""

    label: str
    parent: str | None = None


class LabelList(Struct):
    """Labels that begin with or contain what was asked for."""

    labels: list[LabelEntry]
    total: Annotated[int, Meta(description="How many labels the model has.")]


class Health(Struct):
    """Whether the server is alive or ready."""

    status: Literal["ok", "stopping"]
