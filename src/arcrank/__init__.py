"""arcrank learns to rank labels from preferences."""

from __future__ import annotations

__version__ = "0.1.0"
