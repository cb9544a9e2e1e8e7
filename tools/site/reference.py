"""The pages of the reference that are generated from the program: `python -m tools.site.reference`, or `make pages`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.site import cli_page, schema_page

__all__ = ["PAGES", "REFERENCE", "write"]

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def _cli() -> str:
    from arcrank.cli.app import app

    return cli_page.page(app)


PAGES: dict[str, Callable[[], str]] = {"cli.md": _cli, "json.md": schema_page.page}
"""The pages by their names, and what makes them."""


def write() -> list[Path]:
    """Write every page; returns those that have changed."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, make in PAGES.items():
        path, text = REFERENCE / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    for page in write():
        print(f"wrote {page}")
