"""Solvers: what minimises the losses of the rankers, without knowing about estimators."""
