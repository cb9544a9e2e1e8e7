"""The default AutoRanker beside what people use: rankings and label sets of 22 data sets.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.portfolio [PART ...] [--only NAME ...] [--splits N]

Parts are sets, orders, algorithms and votes.

`sets`: the seven corpora of `benchmarks.label_sets` and the 28 domains of `subjects`, with the same features for all.
One-vs-rest LinearSVC and LogisticRegression and LibMultiLabel choose their C by three folds of the training documents,
by average precision; Omikuji (Parabel, 3 trees) and napkinXC (PLT) have their defaults and are measured where they are
installed. `orders`: the eight label-ranking sets, 10 folds, shuffled, seed 0, with forests and RBF ridge on ranks and
k-NN with Borda counts. `algorithms`: the six ASlib scenarios in their own folds: the share of the gap between the
single best and the virtual best solver that is closed, by PAR10. `votes`: of these, forests of votes and the two usual
baselines, without AutoRanker.

The mean rank over data sets and measures comes first, with the critical difference of Nemenyi's test at 5 % (Demšar
2006). AutoRanker has its defaults everywhere. `--splits 12` measures sets on random thirds of the training documents,
several times, which says more than the few test documents of a small corpus. Finished cells are stored in the cache
folder; a first run takes hours, so it is not part of `make bench`.
"""
