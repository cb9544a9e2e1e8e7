"""An AverageRanker in a model file: its rankers by name and parameters, and what they learnt if they are kept."""

from __future__ import annotations

from typing import Any

from arcrank.modelfile.forms import MisfitError, Sizes
from arcrank.modelfile.parts import Part

__all__ = ["AveragePart"]

_MOST = 100


class AveragePart(Part):
    """A part that holds other parts; averages of averages are not stored."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters, with the rankers as records."""
        given = super().parameters(estimator)
        return {**given, "weights": None if given["weights"] is None else [float(one) for one in given["weights"]]} | {
            "rankers": [
                {"name": name, "part": self._part_of(one).name, "parameters": self._part_of(one).parameters(one)}
                for name, one in estimator.rankers
            ]
        }

    def learnt(self, estimator: Any) -> dict[str, Any]:
        """Return the weights of a linear average, or what each ranker learnt."""
        found = super().learnt(estimator)
        members = found.pop("members", [])
        return found | {"members": [self._part_of(one).learnt(one) for one in members]}

    def check(self, parameters: Any, learnt: Any) -> Sizes:
        """Check the average and each of its rankers; they must agree in features and labels."""
        sizes = super().check(parameters, learnt)
        specs, members = parameters["rankers"], learnt["members"]
        if not specs or (members and len(members) != len(specs)):
            raise MisfitError(f"there are {len(members)} fitted rankers, where {len(specs)} are expected")
        weights = parameters.get("weights")
        if weights is not None and len(weights) != len(specs):
            raise MisfitError(f"there are {len(weights)} weights of {len(specs)} rankers")
        for number, spec in enumerate(specs):
            part = self._checked_part(spec)
            if not members:
                part.check_parameters(spec["parameters"], Sizes())
                continue
            found = part.check(spec["parameters"], members[number])
            if any(found.get(symbol) != sizes.get(symbol) for symbol in ("d", "k")):
                raise MisfitError("a ranker of the average has other features or labels than the average")
        return sizes

    def check_closely(self, parameters: Any, learnt: Any) -> None:
        """Check names of the average and of its rankers."""
        super().check_closely(parameters, learnt)
        for spec, member in zip(parameters["rankers"], learnt["members"], strict=False):
            self._checked_part(spec).check_closely(spec["parameters"], member)

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        """Return the fitted average."""
        specs, members = parameters.pop("rankers"), learnt.pop("members")
        rankers = [(spec["name"], self._checked_part(spec).build(spec["parameters"], {})) for spec in specs]
        estimator = super().build({"rankers": rankers, **parameters}, learnt)
        estimator.members_ = [
            self._checked_part(spec).build(dict(spec["parameters"]), member)
            for spec, member in zip(specs, members, strict=False)
        ]
        return estimator

    @staticmethod
    def _part_of(estimator: Any) -> Part:
        from arcrank.modelfile.registry import part_of  # which imports this module

        return part_of(estimator)

    def _checked_part(self, spec: Any) -> Part:
        from arcrank.modelfile.registry import part_named

        entries = {"name": str, "part": str, "parameters": dict}
        if not isinstance(spec, dict) or any(not isinstance(spec.get(name), kind) for name, kind in entries.items()):
            raise MisfitError("a ranker of the average has no name, part or parameters")
        part = part_named(spec["part"])
        if not part.ranks or part.name == self.name:
            raise MisfitError(f"{part.name} cannot be a ranker of an average")
        return part
