"""The checks of what a user passes: real numbers, whole numbers, seeds and callables.

Without numpy, so that modules which start-up imports can use them: numpy's numbers are registered with `numbers`.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from arcrank.errors import ArcrankError, ParameterError

__all__ = ["check_callable", "check_int", "check_real", "check_seed"]


def check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    also: str = "",
    why: str = "",
    error: type[ArcrankError] = ParameterError,
) -> float:
    """Return a finite real number within the bounds as a float; raise `error` for anything else.

    Booleans are not numbers here. `also` names other allowed values that the caller has checked for, and `why` explains
    the bounds; both are part of the message.

    Examples
    --------
    >>> check_real("C", 10, above=0)
    10.0
    >>> check_real("fraction", 1, above=0, below=1, also="None")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: fraction must be a number strictly between 0 and 1, or None, got 1.
    """
    number = _as_float(value)
    if not math.isfinite(number) or not _is_within(number, above, at_least, below, at_most):
        bounds = _bounds(above, at_least, below, at_most)
        raise error(_message(name, "a number" if bounds else "a finite number", bounds, also, why, value))
    return number


def check_int(
    name: str,
    value: Any,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    also: str = "",
    why: str = "",
    error: type[ArcrankError] = ParameterError,
) -> int:
    """Return a whole number within the bounds as an int; raise `error` for anything else, also for 2.0 and True.

    Examples
    --------
    >>> import numpy as np
    >>> check_int("epochs", np.int32(3), at_least=1)
    3
    >>> check_int("r", 5, at_least=1, at_most=4, why="there are 4 labels")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: r must be a whole number from 1 to 4 (there are 4 labels), got 5.
    """
    if not _is_number(value, Integral) or not _is_within(value, None, at_least, None, at_most):
        bounds = _bounds(None, at_least, None, at_most)
        raise error(_message(name, "a whole number", bounds, also, why, value))
    return int(value)


def check_seed(name: str, value: Any) -> None:
    """Refuse what cannot seed NumPy's RandomState and is not one.

    Examples
    --------
    >>> check_seed("random_state", 0)
    >>> check_seed("random_state", -1)
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: random_state must be a whole number from 0 to 4,294,967,295, or None, or a
    RandomState, got -1.
    """
    if value is not None and not hasattr(value, "random_sample"):
        check_int(name, value, at_least=0, at_most=2**32 - 1, also="None, or a RandomState")


def check_callable(name: str, value: Any) -> None:
    """Refuse what is neither None nor callable.

    Examples
    --------
    >>> check_callable("callback", print)
    """
    if value is not None and not callable(value):
        raise ParameterError(f"{name} must be None or a callable, got {value!r}.")


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _as_float(value: Any) -> float:
    """NaN for what is not a real number, infinity for an integer that no float can hold."""
    try:
        return float(value) if _is_number(value, Real) else math.nan
    except OverflowError:
        return math.inf


def _is_within(
    value: Any, above: float | None, at_least: float | None, below: float | None, at_most: float | None
) -> bool:
    return (
        (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (below is None or value < below)
        and (at_most is None or value <= at_most)
    )


def _bounds(above: float | None, at_least: float | None, below: float | None, at_most: float | None) -> str:
    if above is not None and below is not None:
        return f" strictly between {above:,} and {below:,}"
    if at_least is not None and at_most is not None:
        return f" from {at_least:,} to {at_most:,}"
    words = {"greater than": above, "of at least": at_least, "less than": below, "of at most": at_most}
    return " and".join(f" {phrase} {bound:,}" for phrase, bound in words.items() if bound is not None)


def _message(name: str, kind: str, bounds: str, also: str, why: str, value: Any) -> str:
    reason = f" ({why})" if why else ""
    return f"{name} must be {kind}{bounds}{reason}{f', or {also}' if also else ''}, got {value!r}."
