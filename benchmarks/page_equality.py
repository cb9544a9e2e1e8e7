"""Whether an exported page reads and ranks documents as Python does, in a real browser.

Reuters-21578 (English, Porter's stems) and the titles and abstracts of `subjects` (German stems): words, columns and
values, first labels and scores of every document are compared.

    python -m benchmarks.page_equality [--documents 5000]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import arcrank
from arcrank import RocchioRanker, make_ranking_pipeline
from arcrank.datasets import load_reuters21578, load_subjects
from arcrank.export import contents_of, fit_weights, html_page
from arcrank.server.served_model import ServedModel
from arcrank.text import TextFeatures

_BATCH = 250
_SCRIPT = """async texts => {
  const model = await (window.loaded ??= model_module().loadModel());
  return texts.map(text => {
    const row = model.rowOf({ text });
    const scores = model.scores(row);
    return { tokens: model.reader.tokens(text), row, first: model.order(scores)[0], scores: Array.from(scores) };
  });
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000, help="of each corpus")
    n = parser.parse_args().documents
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, texts, language in (
            ("Reuters-21578", load_reuters21578().texts, "english"),
            ("subjects", load_subjects(language="de").texts, "german"),
        ):
            compare(browser, name, list(texts[:n]), language)
        browser.close()


def compare(browser: Any, name: str, texts: list[str], language: str) -> None:
    """Print how many documents differ, and by how much scores do."""
    labels = [[f"label {at % 20}"] for at in range(len(texts))]  # what is learnt does not matter here
    model = make_ranking_pipeline(TextFeatures(language=language, min_df=3), RocchioRanker()).fit(texts, labels)
    with tempfile.TemporaryDirectory() as folder:
        arcrank.save(model, Path(folder) / "m.arcrank")
        served = ServedModel.read(Path(folder) / "m.arcrank", "m", estimators=True)
        contents = contents_of(served)
        stored, page = fit_weights(contents.weights, lambda one: html_page("m", contents.to_bytes(one)), 200_000_000)
        (Path(folder) / "page.html").write_bytes(page)
        tab = browser.new_page()
        tab.goto((Path(folder) / "page.html").as_uri())
        found = [
            one
            for start in range(0, len(texts), _BATCH)
            for one in tab.evaluate(_SCRIPT, texts[start : start + _BATCH])
        ]
    X = served.predictor.features(served.corpus(texts))
    scores = served.predictor.scores(X)
    tokenizer = served.predictor.transformers[0].make_tokenizer()
    words = sum(one["tokens"] != tokenizer(text) for one, text in zip(found, texts, strict=True))
    rows = sum([column for column, _ in one["row"]] != x.indices.tolist() for one, x in zip(found, X, strict=True))
    gaps = [
        np.abs(np.subtract([v for _, v in one["row"]], x.data)).max(initial=0) for one, x in zip(found, X, strict=True)
    ]
    first = sum(one["first"] != int(row.argmax()) for one, row in zip(found, scores, strict=True))
    change = max(np.abs(np.subtract(one["scores"], row)).max() for one, row in zip(found, scores, strict=True))
    print(f"{name}, {len(texts):,} documents, {stored.description}, {len(page) / 1e6:.1f} MB: words of {words} differ, "
          f"columns of {rows}, values by {max(gaps):.1e}, scores by {change:.1e}, first labels of {first}")  # fmt: skip


if __name__ == "__main__":
    main()
