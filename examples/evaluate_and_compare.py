"""Check data, measure a model, and ask whether another one is better."""

# --8<-- [start:check]
from sklearn.pipeline import make_pipeline

from arcrank import LogLinearRanker, RocchioRanker
from arcrank.datacheck import check
from arcrank.datasets import load_debtags_sample, write_corpus
from arcrank.evaluation import compare, evaluate
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
for finding in check(train, test):
    print(f"{finding.severity}: {finding.message}\n  {finding.remedy}")
# --8<-- [end:check]

# --8<-- [start:evaluate]
ranker = LogLinearRanker(C=10, tol=1e-2, random_state=0)
model = make_pipeline(TextFeatures(), ranker).fit(train.texts, train.label_sets)
found = evaluate(model, test)
print(f"\n{found}")
print(f"worst: {found.worst[0].name}, where {found.worst[0].wrong:.0%} are wrong")
found.to_html("report.html")
# --8<-- [end:evaluate]

# --8<-- [start:compare]
rocchio = make_pipeline(TextFeatures(), RocchioRanker())
rocchio.fit(train.texts, train.label_sets)
duel = compare(model, rocchio, test, names=("log-linear", "Rocchio"))
for name in ("average precision", "ranking loss", "precision at 5"):
    one = duel.measures[name]
    print(f"{name}: {one.a:.3f} and {one.b:.3f}, adjusted p = {one.p_adjusted:.2g}")
print(f"\n{duel.verdict}")
# --8<-- [end:compare]

# --8<-- [start:write]
write_corpus(test, "test.jsonl.gz")  # for `arcrank evaluate MODEL test.jsonl.gz`
# --8<-- [end:write]
