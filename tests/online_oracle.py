"""Crammer & Singer 2002, Fig. 2, in pure Python over explicit arcs."""

from __future__ import annotations


def scores_of(W, x):
    """Inner products of a sparse row [(column, value), ...] with the prototypes W[column][label], term by term."""
    scores = [0.0] * len(W[0])
    for column, value in x:
        scores = [s + value * w for s, w in zip(scores, W[column], strict=True)]
    return scores


def mmp(rows, arcs_of_rows, d, k, loss):
    """Prototypes after every round, the losses of every round and the documents skipped."""
    W, history, losses, skipped = [[0.0] * k for _ in range(d)], [], [], 0
    for x, arcs in zip(rows, arcs_of_rows, strict=True):
        if not arcs:
            skipped += 1
            continue
        score = scores_of(W, x)
        wrong = [(r, s) for r, s in arcs if score[r] <= score[s]]
        for label, step in enumerate(step_of(wrong, arcs, score, k, loss)) if wrong else ():
            for column, value in x:
                W[column][label] += value * step
        history.append([list(row) for row in W])
        losses.append([float(bool(wrong)), float(len(wrong)), len(wrong) / len(arcs)])
    return history, losses, skipped


def ties(rows, arcs_of_rows, history):
    """Whether two labels with weights had nearly equal scores in a round."""
    rounds = [x for x, arcs in zip(rows, arcs_of_rows, strict=True) if arcs]
    for x, W in zip(rounds[1:], history, strict=False):
        scored = [score for label, score in enumerate(scores_of(W, x)) if any(row[label] for row in W)]
        if any(abs(a - b) < 1e-9 for i, a in enumerate(scored) for b in scored[:i]):
            return True
    return False


def step_of(wrong, arcs, score, k, loss):
    """The step of every label: its wrong arcs as a head less those as a tail, each counted by its weight."""
    if loss == "average_precision":
        heads, losing = {r for r, _ in arcs}, [r for r, _ in wrong]
        rank = {h: losing.count(h) + sum(score[other] >= score[h] for other in heads) for h in heads}
        weight = {h: 1.0 / (len(heads) * rank[h]) for h in heads}
        out = [losing.count(label) * weight.get(label, 0.0) for label in range(k)]
        return [out[label] - sum(weight[r] for r, s in wrong if s == label) for label in range(k)]
    c = {"indicator": len(wrong), "size": 1, "normalized": len(arcs)}[loss]
    return [(sum(r == label for r, _ in wrong) - sum(s == label for _, s in wrong)) / c for label in range(k)]


def perceptron(rows, label_sets, d, k):
    """The last prototypes of one binary perceptron per label, and those after every document with some labels."""
    W, history = [[0.0] * k for _ in range(d)], []
    for x, relevant in zip(rows, label_sets, strict=True):
        score = scores_of(W, x)
        for label in range(k):
            sign = 1 if label in relevant else -1
            if sign * score[label] <= 0:
                for column, value in x:
                    W[column][label] += sign * value
        if 0 < len(relevant) < k:
            history.append([list(row) for row in W])
    return W, history
