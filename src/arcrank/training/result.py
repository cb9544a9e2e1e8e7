"""What training returns: the model, and what there is to report and to store about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcrank.datasets.hierarchy_file import Parents
from arcrank.inference.feature_map import FeatureMap
from arcrank.inference.model_parts import split_model
from arcrank.inference.predictor import ranks_candidates
from arcrank.modelfile import save
from arcrank.training.plan import BIPARTITE, Plan
from arcrank.training.selection import Choice

if TYPE_CHECKING:
    from arcrank.datasets.order import LabelOrder

__all__ = ["TrainingResult"]


@dataclass
class TrainingResult:
    """A trained model with its plan and its measures."""

    model: Any
    plan: Plan
    columns: FeatureMap
    documents: int
    skipped: dict[str, int]
    validation: dict[str, Any] | None = None
    choice: Choice | None = None
    hierarchy: Parents | None = None
    seconds: float = 0.0
    order: LabelOrder | None = None
    """The order of the documents in the file, if it was read as a stream."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def ranker(self) -> Any:
        """The last step of the model."""
        return split_model(self.model)[1]

    @property
    def learner(self) -> str:
        """The name of the learner, "average" for an average of several."""
        return "average" if self._is_average() else str(self.plan.learner)

    def _is_average(self) -> bool:
        return self.choice is not None and len(self.choice.members) > 1

    def _parameters(self) -> dict[str, Any]:
        return {"weights": self.ranker.weights} if self._is_average() else self.plan.parameters

    def report(self) -> dict[str, Any]:
        """Return what the command prints, as JSON types."""
        return {
            "learner": self.learner,
            "parameters": {**self._parameters(), **self.plan.text},
            "documents": self.documents,
            "labels": 0 if self._has_no_labels() else len(self.ranker.labels_),
            "features": int(self.ranker.n_features_in_),
            "skipped": self.skipped,
            "duality_gap": getattr(self.ranker, "duality_gap_", None),
            "calibration": self._calibration(),
            "seconds": round(self.seconds, 3),
            "chosen": None if self.choice is None else self.choice.report(),
            "validation": self.validation,
            **self.extra,
        }

    def _has_no_labels(self) -> bool:
        """Whether documents or candidates are ranked."""
        return self.plan.learner in BIPARTITE or ranks_candidates(self.model)

    def _calibration(self) -> dict[str, Any] | None:
        """How probabilities were calibrated, where they are."""
        return self.ranker.calibration_.describe() if hasattr(self.ranker, "calibration_") else None

    def card(self, data: str) -> dict[str, Any]:
        """Return what the model file stores about it; `data` names what it learnt from."""
        return {
            "trained": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": data,
            **self.report(),
            "columns": self.columns.to_card(),
            "hierarchy": self.hierarchy,
        }

    def save(self, path: Path, data: str, **more: Any) -> dict[str, Any]:
        """Write the model file, atomically, and return the report with the file's name and size."""
        save(self.model, path, card={**self.card(data), **more})
        return {"model": str(path), "bytes": path.stat().st_size, **self.report()}
