"""Modules of JavaScript as one script, since a page without a server cannot import files.

Each module becomes a function that returns its exports. It understands what the modules of the page use: named imports
from files of the same folder, and exports at declarations.
"""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["bundle"]

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z_]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|let|class) ([\w$]+)", re.MULTILINE)


def bundle(start: str) -> str:
    """Return the script of a module and all that it imports; modules of this package replace those of the server."""
    written: dict[str, str] = {}
    _add(start, written)
    return "\n".join(written.values()) + f"{start}_module();\n"


def _add(name: str, written: dict[str, str]) -> None:
    if name in written:
        return
    source = _source(name)
    for _, other in _IMPORT.findall(source):
        _add(other, written)
    written[name] = _wrapped(name, source)


def _source(name: str) -> str:
    places = (files(package).joinpath("static", f"{name}.js") for package in ("arcrank.export", "arcrank.server"))
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def _wrapped(name: str, source: str) -> str:
    """A function that runs a module once and returns its exports."""
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[2]}_module();\n", source)
    exports = ", ".join(found[1] for found in _EXPORT.findall(body))
    body = _EXPORT.sub(r"\1 \2", body)
    return (
        f"let {name}_exports;\nfunction {name}_module() {{\nif ({name}_exports) return {name}_exports;\n"
        f"{body}{name}_exports = {{ {exports} }};\nreturn {name}_exports;\n}}\n"
    )
