"""What to do about a fit that does not fit into memory, in the flags of the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arcrank.errors import ResourceError
from arcrank.training.plan import ONLINE

__all__ = ["memory_advice", "memory_in_flags"]

_FEWEST_COLUMNS = 1 << 10


def memory_advice(learner: str | None, n_features: int) -> str:
    """Say what a user of the command can do about memory; `n_features` hashed features would fit (0: unknown)."""
    fewer = f"--set n_features={n_features} would fit" if n_features >= _FEWEST_COLUMNS else "Leave out rare labels"
    if learner is None:  # the model exists already
        return f"Train a new model: {fewer[0].lower()}{fewer[1:]}."
    if learner in ONLINE:
        return f"{fewer}."
    streaming = f"\n--learner mmp --set n_features={n_features} would fit; it reads the file as a stream."
    return "Use fewer features, for example --set min_df=5 or --set ngrams=1, or leave out rare labels." + (
        streaming if n_features >= _FEWEST_COLUMNS else ""
    )


@contextmanager
def memory_in_flags(learner: str | None) -> Iterator[None]:
    """Replace the advice of the library, which names classes, by advice that names flags."""
    try:
        yield
    except ResourceError as error:
        found = str(error).partition("\n")[0]
        raise ResourceError(f"{found}\n{memory_advice(learner, error.n_features)}", error.n_features) from error
