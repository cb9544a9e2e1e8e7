"""Why is one label above another? The words, and their parts of the margin."""

# --8<-- [start:explain]
import re

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.text import TextFeatures, Tokenizer

corpus = load_debtags_sample()
train = corpus.split("train")
words = TextFeatures()
ranker = LogLinearRanker(C=100, fit_intercept=False, tol=1e-2, random_state=0)
ranker.fit(words.fit_transform(train.texts), train.label_sets)

text = (
    "A pinball game with sound and three tables. "
    "Its physics engine is a library that other programs use."
)
x = words.transform([text])
print("ranking:", *ranker.rank(x, top=4)[0])
first, second = "use::gameplaying", "role::shared-lib"
why = ranker.explain(x, above=first, below=second)

terms = words.get_feature_names_out()
print(f"\n{first} against {second}: a margin of {why.margin:+.3f}")
for column, part in why.parts[:6]:
    print(f"{part:+8.3f}  {terms[column]}")
rest = sum(part for _, part in why.parts[6:])
print(f"{rest:+8.3f}  {len(why.parts) - 6} more")
# --8<-- [end:explain]

# --8<-- [start:sum]
total = why.intercept + sum(part for _, part in why.parts)
scores = dict(zip(ranker.labels_, ranker.score_labels(x)[0], strict=True))
print("\nthe parts sum to the margin to the last bit:", total == why.margin)
rounding = abs(why.margin - (scores[first] - scores[second]))
print("and the margin is the difference of scores:  ", rounding < 1e-12)
# --8<-- [end:sum]

# --8<-- [start:mark]
parts = {terms[column]: part for column, part in why.parts}
stem = Tokenizer()  # with the same options as TextFeatures()


def marked(match):
    """A word with its part; a pair of words counts for the first of them."""
    own = stem(match[0])  # one stem, or none for a stop word
    part = sum(parts[term] for term in parts if term.split()[:1] == own)
    return f"[{match[0]} {part:+.2f}]" if abs(part) >= 0.05 else match[0]


print("\n" + re.sub(r"\w+", marked, text).replace(". ", ".\n"))
# --8<-- [end:mark]
