"""How good the label sets of `predict` are on seven corpora, next to one-vs-rest classifiers with the same features.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.label_sets [corpus ...] [--learners NAME ...]

Micro-F1 and macro-F1 of the test documents, and how well the labels are ranked. Every learner chooses its C by 3-fold
cross-validation on the training documents: by micro-F1 for the table of micro-F1, by macro-F1 for that of macro-F1, by
average precision for those of rankings; the grid grows while the best C is at its edge. Features are fitted on all
training documents. A first run takes hours, so it is not part of `make bench`; finished cells are stored in the cache
folder, and an interrupted run continues; runs with different `--learners` can share the machine. LibMultiLabel is
measured where it is installed (`pip install libmultilabel`, without its extra nn).
"""
