"""Re-rank the candidates of a query: from a `qid` file to nDCG."""

# --8<-- [start:file]
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

from arcrank import CandidateSets, LogLinearRanker
from arcrank.datasets import read_corpus
from arcrank.metrics import ndcg_at

random = np.random.default_rng(0)


def write_queries(path, n_queries):
    """Candidates with a grade of 0 to 2; features: word match, clicks, age."""
    lines = []
    for query in range(n_queries):
        ease = random.normal(scale=3)  # an easy query's words match everywhere
        for _ in range(random.integers(4, 12)):
            grade = random.choice(3, p=[0.6, 0.3, 0.1])
            match = ease + 0.8 * grade + random.normal()
            clicks = max(0.0, 0.3 * grade + random.normal(scale=0.5))
            age = random.exponential(3 - grade)
            values = f"1:{match:.3f} 2:{clicks:.3f} 3:{age:.3f}"
            lines.append(f"{grade} qid:{query} {values}")
    path.write_text("\n".join(lines) + "\n")
    return lines


folder = Path(tempfile.mkdtemp())
print(*write_queries(folder / "train.svm", 150)[:3], sep="\n")
write_queries(folder / "test.svm", 300)
# --8<-- [end:file]

# --8<-- [start:fit]
train = read_corpus(folder / "train.svm", n_features=4)
test = read_corpus(folder / "test.svm", n_features=4)
print(f"\n{len(train)} queries, {len(train.grades)} candidates")

queries = CandidateSets(train.X, train.ptr)
# A higher grade is preferred, within its query. With three features C hardly matters.
ranker = LogLinearRanker(C=1).fit(queries, train.graphs())
print("weights of match, clicks, age:", ranker.coef_[0, 1:].round(1))
# --8<-- [end:fit]

# --8<-- [start:measure]
new_queries = CandidateSets(test.X, test.ptr)


def by_query(values, filler):
    """One row per query, padded after its last candidate."""
    table = np.full((len(test), len(test.labels)), filler)
    for query, start in enumerate(test.ptr[:-1]):
        own = values[start : test.ptr[query + 1]]
        table[query, : len(own)] = own
    return table


grades = by_query(test.grades, np.nan)  # NaN = not judged


def ndcg(values):
    return ndcg_at(grades, by_query(values, -np.inf), r=4)


pointwise = LinearRegression().fit(train.X, train.grades)
print("\nnDCG at 4 on new queries")
print(f"as they came        {ndcg(-np.arange(len(test.grades))):.2f}")
print(f"by word match       {ndcg(test.X[:, 1].toarray().ravel()):.2f}")
print(f"LinearRegression    {ndcg(pointwise.predict(test.X)):.2f}")
found = ndcg_at(grades, ranker.score_labels(new_queries), r=4)
print(f"LogLinearRanker     {found:.2f}")

best_first = ranker.rank(new_queries[[0]])[0]
print("\nthe first query's candidates, best first:", *best_first)
print("their grades:", *grades[0, best_first].astype(int))
# --8<-- [end:measure]
