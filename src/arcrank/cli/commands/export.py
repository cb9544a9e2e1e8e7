"""`arcrank export`: a model as a page that needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import number
from arcrank.cli.blocks import blocks_of
from arcrank.cli.console import say
from arcrank.cli.files import check_input, check_model_path, check_writable, is_html_file
from arcrank.cli.reading import Reading

if TYPE_CHECKING:
    from arcrank.export.weights import StoredWeights

_BATCH = 2048
_PRINTED = ("precision at 1", "precision at 5", "average precision", "coverage", "micro F1")


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `arcrank train` wrote.")],
    html: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")],
    max_size: Annotated[float, typer.Option(metavar="MB", min=0.1, max=500, help="Largest size of the page.")] = 20.0,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labelled documents to measure what coarser weights change."),
    ] = None,
) -> None:
    """Write a page with the model inside, which ranks and explains in a browser without a server.

    It is the page of `arcrank serve` in one file that loads nothing. Linear models of texts or features can be
    exported. Weights are rounded as far as the size of the page demands.
    """
    check_model_path(model)
    check_writable(html, "--html", inputs=(model, data), may_replace=is_html_file)
    if data is not None:
        check_input(data)
    from arcrank.export import contents_of, fit_weights, html_page
    from arcrank.io.atomic import write_atomically
    from arcrank.server.served_model import ServedModel

    served = ServedModel.read(model, model.name.removesuffix(model.suffix), estimators=True)
    contents = contents_of(served)
    stored, page = fit_weights(
        contents.weights, lambda weights: html_page(served.name, contents.to_bytes(weights)), int(max_size * 1e6)
    )
    if data is not None:
        _measure(served.model, stored, data)
    write_atomically(html, [page])
    say(f"Wrote {html}: {len(page) / 1e6:.1f} MB, {stored.description}.")
    if data is None:
        say("Give --data FILE with labelled documents to see what the rounding of weights changes.")


def _measure(model: Any, stored: StoredWeights, data: str) -> None:
    """Print the measures of the model and of the page."""
    from arcrank import evaluation
    from arcrank.export import with_weights

    with blocks_of(data, Reading(), "evaluating", batch_rows=_BATCH, on_error="raise") as blocks:
        found = evaluation.compare(model, with_weights(model, stored), blocks, names=("model", "page"), data_name=data)
    for one in found.measures.values():
        if one.name in _PRINTED and one.a is not None and one.b is not None:
            say(f"{one.name}: {number(one.a)} in the model, {number(one.b)} in the page ({one.b - one.a:+.6f})")
