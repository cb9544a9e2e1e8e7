"""The exceptions of arcrank. Every message says what was got, what is allowed and what to do.

ArcrankError
├── InputError          user data that cannot be what it claims (also a ValueError)
│   ├── GraphError      a preference graph that contradicts its own rules
│   └── FormatError     a file that cannot be read as its format says
├── ParameterError      a parameter outside its allowed values (also a ValueError)
├── MissingDataError    a corpus that is not on this machine (also a FileNotFoundError)
└── ModelFileError      a model that cannot be saved, or a file that is no whole model (also a ValueError)
"""

from __future__ import annotations

__all__ = [
    "ArcrankError",
    "FormatError",
    "GraphError",
    "InputError",
    "MissingDataError",
    "ModelFileError",
    "ParameterError",
]


class ArcrankError(Exception):
    """The root: `except ArcrankError` catches everything that arcrank raises on purpose."""


class InputError(ArcrankError, ValueError):
    """User data that cannot be what it claims to be: wrong shape, NaN, an unknown label."""


class GraphError(InputError):
    """A preference graph that breaks its rules: a self-loop, an arc given twice, a cyclic hierarchy."""


class FormatError(InputError):
    """A file that cannot be read as its format says; the message names the file and the line."""


class ParameterError(ArcrankError, ValueError):
    """A parameter outside its allowed values."""


class MissingDataError(ArcrankError, FileNotFoundError):
    """A corpus that is not on this machine; the message says what to put where."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ModelFileError(ArcrankError, ValueError):
    """A model that cannot be saved, or a file that is damaged, of a newer format, or no model at all."""
