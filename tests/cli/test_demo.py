from __future__ import annotations

import io

from rich.console import Console

from arcrank.cli.demo import main


def test_the_demo_shows_measures_rankings_and_an_explanation():
    out = io.StringIO()
    main(Console(file=out, width=140))
    shown = out.getvalue()
    for part in ("average precision", "one-vs-rest LinearSVC", "given by people", "part of the margin", "README.md"):
        assert part in shown
