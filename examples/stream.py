"""Learn from a stream of documents in which new labels turn up midway."""

# --8<-- [start:files]
import json
import tempfile
from pathlib import Path

import numpy as np

from arcrank import MMPRanker
from arcrank.datasets import learn_stream, load_debtags_sample
from arcrank.metrics import average_precision
from arcrank.text import HashedTextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
order = np.random.default_rng(0).permutation(len(train))  # not alphabetical
NEW = ("use::", "works-with::")  # facets whose tags appear midway


def write(path, rows, unknown=()):
    with path.open("w") as file:
        for row in rows:
            tags = [tag for tag in train.label_sets[row] if not tag.startswith(unknown)]
            file.write(json.dumps({"text": train.texts[row], "labels": tags}) + "\n")


folder = Path(tempfile.mkdtemp())
half = len(order) // 2
write(folder / "monday.jsonl", order[:half], unknown=NEW)
write(folder / "tuesday.jsonl", order[half:])
# --8<-- [end:files]

# --8<-- [start:learn]
words = HashedTextFeatures(n_features=2**16)  # no vocabulary, so new words need no care
X_test = words.transform(test.texts)
ranker = MMPRanker()


def precision_of(tags):
    """Average precision of some tags among themselves."""
    columns = [ranker.labels_.tolist().index(tag) for tag in tags]
    Y = test.indicator()[:, [test.labels.index(tag) for tag in tags]]
    return average_precision(Y, ranker.score_labels(X_test)[:, columns])


for day in ("monday", "tuesday"):
    file = folder / f"{day}.jsonl"
    report = learn_stream(ranker, file, features=words, batch_rows=200)
    print(f"{day}: {report.documents:,} documents, {len(ranker.labels_)} tags known")
    old = [tag for tag in ranker.labels_ if not tag.startswith(NEW)]
    new = [tag for tag in ranker.labels_ if tag.startswith(NEW)]
    print(f"   {len(old):3} old tags: average precision {precision_of(old):.2f}")
    if new:
        print(f"   {len(new):3} new tags: average precision {precision_of(new):.2f}")
        print(f"   all together: average precision {precision_of(old + new):.2f}")
# --8<-- [end:learn]

# --8<-- [start:one]
# One more document, with a tag that nobody has used before.
pond = ["a calm game about keeping koi fish in a pond"]
ranker.partial_fit(words.transform(pond), [["hobby::fish", "role::program"]])
print("\nlast tag learnt:", ranker.labels_[-1])
aquarium = words.transform(["an aquarium of koi fish"])
print("an aquarium of koi:", *ranker.rank(aquarium, top=3)[0])
# --8<-- [end:one]
