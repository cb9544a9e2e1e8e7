"""Re-rank the candidates of a query: from a `qid` file to nDCG."""

# --8<-- [start:file]
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

from arcrank import CandidateSets, LogLinearRanker, MMPRanker, PreferenceMachine
from arcrank.datasets import read_corpus
from arcrank.metrics import domination_error, ndcg_at

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
ranker = LogLinearRanker(C=1).fit(queries, train.grades)
print("weights of match, clicks, age:", ranker.coef_[0, 1:].round(1))
# --8<-- [end:fit]

# --8<-- [start:measure]
new_queries = CandidateSets(test.X, test.ptr)
graphs = new_queries.graphs(test.grades)


def measured(name, scores):
    """One score for each candidate, in the order of the file."""
    ndcg = ndcg_at(test.grades, scores, r=4, ptr=test.ptr)
    print(f"{name:18}  {ndcg:.2f}  {domination_error(graphs, scores):.2f}")


print("\non new queries:    nDCG at 4, domination error")
pointwise = LinearRegression().fit(train.X, train.grades)
measured("as they came", -np.arange(len(test.grades)))
measured("by word match", test.X[:, 1].toarray().ravel())
measured("LinearRegression", pointwise.predict(test.X))
measured("LogLinearRanker", ranker.score_labels(new_queries))
for other in (PreferenceMachine("domination", C=0.1), MMPRanker(average=True)):
    other.fit(queries, train.grades)
    measured(type(other).__name__, other.score_labels(new_queries))

best_first = ranker.rank(new_queries[[0]])[0]
print("\nthe first query's candidates, best first:", *best_first)
print("their grades:", *test.grades[best_first].astype(int))
why = ranker.explain(new_queries[[0]], above=best_first[0], below=best_first[1])
print("why the first is above the second:")
for column, part in why.parts:
    print(f"  {['', 'match', 'clicks', 'age'][column]:7}{part:+.2f}")
# --8<-- [end:measure]

# --8<-- [start:outer]
# Instances x and labels with features z: a score is x' B z. No label has weights,
# so labels can be ranked that were never seen.
X, Z = random.normal(size=(200, 3)), random.normal(size=(12, 2))
B = np.array([[2.0, 0.0], [0.0, -2.0], [0.0, 0.0]])
seen = CandidateSets.from_outer(X, Z[:8])  # x (x) z is never stored
grades = (X @ B @ Z[:8].T).round().ravel()
model = LogLinearRanker().fit(seen, grades)
print("\nB as it was learnt, up to a factor:")
print((2 * model.coef_[0] / abs(model.coef_[0]).max()).reshape(3, 2).round(1) + 0.0)
unseen = CandidateSets.from_outer(X, Z[8:])
error = domination_error(
    unseen.graphs((X @ B @ Z[8:].T).ravel()), model.score_labels(unseen)
)
print(f"domination error on labels never seen: {error:.2f}")
# --8<-- [end:outer]
