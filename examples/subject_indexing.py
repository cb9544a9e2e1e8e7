"""Suggest subjects for new documents, with the words and documents behind them."""

# --8<-- [start:train]
import tempfile
from pathlib import Path

import arcrank
from arcrank import ShortlistRanker, make_ranking_pipeline
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import as_graphs
from arcrank.metrics import top_k
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
model = make_ranking_pipeline(TextFeatures(min_df=2), ShortlistRanker(random_state=0))
# all labels by name, so that their numbers are the columns of every indicator
model.fit(train.texts, as_graphs(train.label_sets, labels=corpus.labels))
# --8<-- [end:train]

# --8<-- [start:rank]
print("suggested:", ", ".join(model.rank(test.texts[:1], top=4)[0]))
features, ranker = model[0], model[-1]
numbers, scores = ranker.rank_numbers(features.transform(test.texts), top=5)
Y, propensity = test.indicator(), top_k.propensities(train.indicator())
print(f"precision at 1: {100 * top_k.precision_at(Y, numbers, 1):.0f} %")
print(f"NDCG at 5: {100 * top_k.ndcg_at(Y, numbers, 5):.0f} %")
print(f"PSP at 5: {100 * top_k.psp_at(Y, numbers, 5, propensity):.0f} %")
# --8<-- [end:rank]

# --8<-- [start:explain]
first, last = ranker.labels_[numbers[0, 0]], ranker.labels_[numbers[0, 4]]
why = ranker.explain(features.transform(test.texts[:1]), first, last)
words = [features.terms_[column] for column, _ in why.parts[:3]]
print(f"{first} above {last}: {', '.join(words)}")
similar = [str(train.ids[part.document]) for part in why.neighbours[:5]]
print("similar training documents:", ", ".join(similar))
# --8<-- [end:explain]

# --8<-- [start:save]
path = Path(tempfile.mkdtemp()) / "subjects.arcrank"
arcrank.save(model, path)
same = (
    arcrank.load(path).rank(test.texts, top=5) == model.rank(test.texts, top=5)
).all()
print("the saved model ranks the same:", bool(same))
# --8<-- [end:save]
